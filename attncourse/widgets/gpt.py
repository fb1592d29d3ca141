"""The trained GPT in the page: how it reads a text, and how it writes on."""

import traitlets

from attncourse import recorded
from attncourse.widgets._base import style_text
from attncourse.widgets._drawing import weights_picture
from attncourse.widgets._models import ModelWidget, engine_text

EXAMPLES = [
    "It is a truth universally acknowledged, that",
    "Mr. Knightley was not at home, and",
    '"I cannot imagine," said Elizabeth,',
    "The carriage was",
]


class _OfGPT(ModelWidget):
    """What both widgets know of the recorded model."""

    _models = ("gpt",)

    merges = traitlets.List().tag(sync=True)
    heads = traitlets.Int().tag(sync=True)
    layers = traitlets.Int().tag(sync=True)
    context = traitlets.Int().tag(sync=True)

    def __init__(self, text: str | None = None, **traits: object) -> None:
        record = recorded.load("gpt")
        sizes = record["arguments"]
        if text is not None:
            traits["text"] = text
        super().__init__(
            merges=record["merges"],
            heads=sizes["num_heads"],
            layers=sizes["num_layers"],
            context=sizes["context"],
            **traits,
        )

    def _read(self):
        """Return the names of the text's tokens, and the weights of all layers."""
        import torch

        from attncourse.data.bpe import BPETokenizer

        with torch.random.fork_rng(devices=[]):  # to show a widget draws nothing
            model, record = recorded.load_model("gpt")
        tokenizer = BPETokenizer(record["merges"])
        ids = tokenizer.encode(self.text)
        with torch.no_grad():
            _, weights = model(torch.tensor([ids]), need_weights=True)
        return [tokenizer.decode([i]) for i in ids], [w[0] for w in weights]


class LanguageModel(_OfGPT):
    """Let the trained `GPT` write: its next token, its temperature, its heads.

    Parameters
    ----------
    text : str, optional
        What it has to continue.
    **traits
        `temperature`, from 0 to 2; `off`, the heads that write nothing, such as
        "blocks.0.2" (block, head); `head`, the one that is shown.

    Notes
    -----
    The weights are loaded when the reader comes to the widget; in Jupyter the kernel
    sends them.
    """

    _esm = engine_text("tiles", "loading", "gpt_model", "gpt")
    _css = style_text("tiles", "heads")

    text = traitlets.Unicode(EXAMPLES[0]).tag(sync=True)
    temperature = traitlets.Float(0.8, min=0.0, max=2.0).tag(sync=True)
    off = traitlets.List(traitlets.Unicode()).tag(sync=True)
    head = traitlets.Unicode("blocks.3.0").tag(sync=True)
    examples = traitlets.List(EXAMPLES).tag(sync=True)

    def still(self) -> str:
        """Return the weights of the chosen head over the text, as a heat map."""
        names, weights = self._read()
        _, layer, head = self.head.split(".")
        rows = weights[int(layer)][int(head)].tolist()
        title = f"Where head {head} of layer {layer} looks in “{self.text}”."
        return weights_picture(rows, names, names, title)


class ForwardPass(_OfGPT):
    """Follow a text through the trained `GPT`, one sub-layer at a time.

    At each stage: the vector of every token, the weights by which the chosen token
    reads the others, and the token that would be predicted if the model ended there,
    which is read off with the final norm and the output matrix (the "logit lens").

    Parameters
    ----------
    text : str, optional
        At most 16 tokens.
    **traits
        `stage`, 0 for the embedding, then two for each layer: attention, feed-forward
        network; `token`, the one that is chosen, counted from 0; `head`, "0" and so on,
        or "all" for the mean.

    Notes
    -----
    The weights are loaded when the reader comes to the widget; in Jupyter the kernel
    sends them. Where the reader asks for less motion, nothing moves by itself.
    """

    _esm = engine_text("tiles", "loading", "gpt_model", "forward_pass")
    _css = style_text("tiles", "heads", "gpt")

    text = traitlets.Unicode("She was not at all").tag(sync=True)
    stage = traitlets.Int(0, min=0).tag(sync=True)
    token = traitlets.Int(99, min=0).tag(sync=True)
    head = traitlets.Unicode("all").tag(sync=True)

    def still(self) -> str:
        """Return the mean weights of the heads of the layer that is shown."""
        names, weights = self._read()
        layer = max(0, (self.stage - 1) // 2)
        rows = weights[layer].mean(0).tolist()
        title = f"Where layer {layer} looks in “{self.text}”, the mean of its heads."
        return weights_picture(rows, names, names, title)
