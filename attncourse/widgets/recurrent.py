"""Small recurrent models in the page: copying through one vector, reading a passage."""

from collections.abc import Sequence

import traitlets

from attncourse import recorded
from attncourse.data.passages import eniac_passage
from attncourse.data.stories import Passage
from attncourse.widgets._base import style_text
from attncourse.widgets._drawing import FULL, INK, line_chart, picture, text
from attncourse.widgets._models import ModelWidget, engine_text

KINDS = ("with", "without")


class Copying(ModelWidget):
    """Let two trained `RecurrentSeq2Seq` copy a sequence, and see what comes through.

    Parameters
    ----------
    text : str, optional
        The sequence: 2 to 60 letters from A to J.
    """

    _esm = engine_text("tiles", "loading", "recurrent", "copying")
    _css = style_text("tiles")
    _models = tuple(f"copier_{kind}" for kind in KINDS)

    text = traitlets.Unicode("DAFJ").tag(sync=True)
    signs = traitlets.Unicode("ABCDEFGHIJ").tag(sync=True)
    curves = traitlets.Dict().tag(sync=True)

    def __init__(self, **traits: object) -> None:
        records = {kind: recorded.load(f"copier_{kind}") for kind in KINDS}
        curves = {kind: r["measures"]["right"] for kind, r in records.items()}
        super().__init__(curves=curves, **traits)

    def still(self) -> str:
        """Return the share of symbols that are right, against the length."""
        series = {f"{kind} attention": self.curves[kind] for kind in KINDS}
        labels = {"x_label": "length", "y_label": "share of symbols right"}
        parts = line_chart(series, y_range=(0, 1), x_ticks=range(10, 61, 10), **labels)
        title = "Symbols copied right, with and without attention, against the length."
        return picture(330, 190, parts, title)


class Reading(ModelWidget):
    """Ask a trained `QATransformer` about a passage, and see where it looks.

    Parameters
    ----------
    passages : sequence of Passage, optional
        They give the examples; that about ENIAC unless given.
    **traits
        `passage` and `question`, texts of at most 120 words; `reader`, "reader_0" or
        "reader_1", two seeds; `word`, of the question, counted from "0"; `side`, whose
        attention is shown; `head`, "0" to "3"; `first`, known before the model is:
        "words" of the passage, "looks" (weights), "span" and "shares" (of its ends).
    """

    _models = ("reader_0", "reader_1")
    _esm = engine_text("tiles", "loading", "recurrent", "reading")
    _css = style_text("tiles", "heads", "gpt")

    examples = traitlets.List().tag(sync=True)
    passage = traitlets.Unicode().tag(sync=True)
    question = traitlets.Unicode().tag(sync=True)
    reader = traitlets.Enum(_models, "reader_1").tag(sync=True)
    word = traitlets.Unicode("0").tag(sync=True)
    side = traitlets.Enum(("question", "passage"), "passage").tag(sync=True)
    head = traitlets.Unicode("0").tag(sync=True)
    words = traitlets.Dict().tag(sync=True)
    first = traitlets.Dict().tag(sync=True)

    def __init__(
        self, passages: Sequence[Passage] | None = None, **traits: object
    ) -> None:
        records = {name: recorded.load(name) for name in self._models}
        words = {name: r["vocabularies"]["text"] for name, r in records.items()}
        examples = [
            [" ".join(passage.tokens), " ".join(question.tokens)]
            for passage in passages or [eniac_passage()]
            for question in passage.questions
        ]
        first = dict(zip(("passage", "question"), examples[0], strict=True))
        super().__init__(words=words, examples=examples, **first | traits)

    def still(self) -> str:
        """Return the question, and the passage in the colours of `first`."""
        parts, x, y = [text(0, 16, self.question), '<g data-tall=""/>'], 0, 46
        words, looks = (self.first.get(name, []) for name in ("words", "looks"))
        for word, look in zip(words, looks, strict=True):
            wide = 14 + 7 * len(word)
            x, y = (x, y) if x + wide < 344 else (0, y + 26)
            box = f'x="{x}" y="{y - 16}" width="{wide - 4}" height="22" rx="3"'
            parts.append(f'<rect {box} style="fill:{FULL};fill-opacity:{look:.2f}"/>')
            ink = "var(--attn-high-text, #ffffff)" if look > 0.79 else INK
            parts.append(text(x + wide / 2 - 2, y, word, anchor="middle", colour=ink))
            x += wide
        title = f"A passage, and where a model looks for “{self.question}”."
        return picture(340, y + 12, parts, title)
