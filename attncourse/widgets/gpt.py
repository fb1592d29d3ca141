"""The trained GPT in the page: it writes, and its heads can be seen and ablated."""

import traitlets

from attncourse import recorded
from attncourse.widgets import _drawing
from attncourse.widgets._base import CourseWidget, style_text
from attncourse.widgets._models import engine_text, weights_file

EXAMPLES = [
    "It is a truth universally acknowledged, that",
    "Mr. Knightley was not at home, and",
    '"I cannot imagine," said Elizabeth,',
    "The carriage was",
]


class LanguageModel(CourseWidget):
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
    The weights are loaded when the widget comes into sight; in Jupyter the kernel sends
    them.
    """

    _esm = engine_text("tiles", "loading", "gpt")
    _css = style_text("tiles", "heads")

    text = traitlets.Unicode(EXAMPLES[0]).tag(sync=True)
    temperature = traitlets.Float(0.8, min=0.0, max=2.0).tag(sync=True)
    off = traitlets.List(traitlets.Unicode()).tag(sync=True)
    head = traitlets.Unicode("blocks.3.0").tag(sync=True)
    merges = traitlets.List().tag(sync=True)
    examples = traitlets.List(EXAMPLES).tag(sync=True)
    heads = traitlets.Int().tag(sync=True)
    layers = traitlets.Int().tag(sync=True)
    context = traitlets.Int().tag(sync=True)

    def __init__(self, text=EXAMPLES[0], **traits):
        record = recorded.load("gpt")
        sizes = record["arguments"]
        super().__init__(
            text=text,
            merges=record["merges"],
            heads=sizes["num_heads"],
            layers=sizes["num_layers"],
            context=sizes["context"],
            **traits,
        )
        self.on_msg(self._answer)

    def _answer(self, widget, content, buffers):
        if content.get("ask") == "weights" and content.get("language") == "gpt":
            self.send({"weights": "gpt"}, [weights_file("gpt")])

    def still(self):
        """Return the weights of the chosen head over the text, as a heat map.

        Returns
        -------
        str
            An SVG image.
        """
        import torch

        from attncourse.data.bpe import BPETokenizer

        model, record = recorded.load_model("gpt")
        tokenizer = BPETokenizer(record["merges"])
        ids = tokenizer.encode(self.text)
        with torch.no_grad():
            _, weights = model(torch.tensor([ids]), need_weights=True)
        _, layer, head = self.head.split(".")
        rows = weights[int(layer)][0, int(head)].tolist()
        names = [tokenizer.decode([i]) for i in ids]
        parts, width, height = _drawing.heat_map(rows, names, names)
        title = f"Where head {head} of layer {layer} looks in “{self.text}”."
        return _drawing.picture(width, height, parts, title)
