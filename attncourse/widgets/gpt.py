"""The trained GPT in the page: how it reads a text, and how it writes on."""

import traitlets

from attncourse import recorded
from attncourse.widgets._base import style_text
from attncourse.widgets._drawing import FULL, picture, text, weights_picture
from attncourse.widgets._models import ModelWidget, engine_text

EXAMPLES = [
    "It is a truth universally acknowledged, that",
    "Mr. Knightley was not at home, and",
    '"I cannot imagine," said Elizabeth,',
    "The carriage was",
]


class _OfGPT(ModelWidget):
    """What both widgets know of the model, which is loaded when they are seen."""

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


class LanguageModel(_OfGPT):
    """Let the trained `GPT` write: its next token, its temperature, its heads.

    Parameters
    ----------
    text : str, optional
        What it has to continue.
    **traits
        `temperature`, from 0 to 2; `off`, the heads that write nothing, such as
        "blocks.0.2" (block, head); `head`, the one that is shown; `first`, known
        before the model is loaded: "next" (tokens, probabilities) and "more" (text).
    """

    _esm = engine_text("tiles", "loading", "gpt_model", "gpt")
    _css = style_text("tiles", "heads")

    text = traitlets.Unicode(EXAMPLES[0]).tag(sync=True)
    temperature = traitlets.Float(0.8, min=0.0, max=2.0).tag(sync=True)
    off = traitlets.List(traitlets.Unicode()).tag(sync=True)
    head = traitlets.Unicode("blocks.3.0").tag(sync=True)
    examples = traitlets.List(EXAMPLES).tag(sync=True)
    first = traitlets.Dict().tag(sync=True)

    def still(self) -> str:
        """Return the first tokens of `first`, as bars."""
        parts, y = [text(0, 14, f"{self.text} …"), '<g data-tall=""/>'], 14
        for i, (name, share) in enumerate(self.first.get("next", [])):
            y, size = 40 + 22 * i, f'width="{220 * share:.0f}" height="12"'
            parts.append(text(58, y, name, anchor="end"))
            parts.append(text(112, y, f"{share:.1%}", anchor="end"))
            parts.append(f'<rect x="120" y="{y - 10}" {size} style="fill:{FULL}"/>')
        title = f"The likeliest tokens after “{self.text}”."
        return picture(340, y + 10, parts, title)


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
    """

    _esm = engine_text("tiles", "loading", "gpt_model", "forward_pass")
    _css = style_text("tiles", "heads", "gpt")

    text = traitlets.Unicode("She gave him her").tag(sync=True)
    stage = traitlets.Int(0, min=0).tag(sync=True)
    token = traitlets.Int(99, min=0).tag(sync=True)
    head = traitlets.Unicode("all").tag(sync=True)

    def still(self) -> str:
        """Return the mean weights of the heads of the layer that is shown."""
        import torch

        from attncourse.data.bpe import BPETokenizer

        with torch.random.fork_rng(devices=[]):  # to show a widget draws nothing
            model, record = recorded.load_model("gpt")
        tokenizer = BPETokenizer(record["merges"])
        ids = tokenizer.encode(self.text)
        with torch.no_grad():
            _, weights = model(torch.tensor([ids]), need_weights=True)
        names = [tokenizer.decode([i]) for i in ids]
        layer = max(0, (self.stage - 1) // 2)
        rows = weights[layer][0].mean(0).tolist()
        title = f"Where layer {layer} looks in “{self.text}”, the mean of its heads."
        return weights_picture(rows, names, names, title)
