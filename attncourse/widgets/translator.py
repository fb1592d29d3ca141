"""The translator: a trained Transformer that runs in the page."""

from collections import Counter
from typing import Any

import traitlets

from attncourse import recorded
from attncourse.data.text import SPECIALS
from attncourse.data.translation import translation_pairs
from attncourse.widgets._base import style_text
from attncourse.widgets._drawing import weights_picture
from attncourse.widgets._models import LANGUAGES, NAMES, ModelWidget, engine_text
from attncourse.widgets.alignment import shown, translated

EXAMPLES = [
    "The black cat sees the small mouse.",
    "The library is old because it is big.",
    "My mother buys a red dress.",
    "The girl who dances loves the strong horse.",
    "When the king sleeps, the queen reads a letter.",
    "The washing machine is not new, but it is good.",
]
HEADS = [
    f"{place}.{head}"
    for place in ("encoder.0", "encoder.1", "decoder.0", "cross.0")
    for head in range(4)
]


class Translator(ModelWidget):
    """Translate sentences of the grammar in the page, with a switch for every head.

    Parameters
    ----------
    sentence : str, optional
        The English sentence.
    language : {"french", "german", "japanese"}, default "french"
        What it is translated into.
    **traits
        `off`, the heads that write nothing, such as "cross.0.2": the part ("encoder",
        "decoder", "cross"), the layer, the head; `temperature`, by which the scores of
        all heads are divided; `head`, the one that is shown large.

    Notes
    -----
    The reader's settings come back in the same names; `translation` holds what the page
    has written last. In Jupyter the weights are sent when the page asks for them.
    """

    _models = LANGUAGES
    _esm = engine_text("tiles", "sentence", "loading", "translator")
    _css = style_text("tiles")

    sentence = traitlets.Unicode(EXAMPLES[0]).tag(sync=True)
    language = traitlets.Enum(LANGUAGES, "french").tag(sync=True)
    off = traitlets.List(traitlets.Enum(HEADS)).tag(sync=True)
    temperature = traitlets.Float(1.0, min=0.1, max=10.0).tag(sync=True)
    head = traitlets.Unicode("cross.0.0").tag(sync=True)
    translation = traitlets.Unicode("").tag(sync=True)
    best = traitlets.Dict().tag(sync=True)
    languages = traitlets.List().tag(sync=True)
    source_words = traitlets.List().tag(sync=True)
    target_words = traitlets.Dict().tag(sync=True)
    follow = traitlets.Dict().tag(sync=True)
    examples = traitlets.List(EXAMPLES).tag(sync=True)

    def __init__(
        self, sentence: str = EXAMPLES[0], language: str = "french", **traits: object
    ) -> None:
        records = {name: recorded.load(f"translation_{name}") for name in LANGUAGES}
        words = {
            name: [*SPECIALS, *record["vocabularies"]["target"]]
            for name, record in records.items()
        }
        source = records["french"]["vocabularies"]["source"]
        super().__init__(
            sentence=sentence,
            language=language,
            languages=[[name, NAMES[name]] for name in LANGUAGES],
            source_words=[*SPECIALS, *source],
            target_words=words,
            best={name: clearest(record) for name, record in records.items()},
            follow=followers(),
            **traits,
        )

    def still(self) -> str:
        """Return where the clearest head looks while the sentence is translated."""
        model = translated(self.language, [self.sentence])
        return weights_picture(*shown(model, 0, model["best"]))


def clearest(record: dict[str, Any]) -> str:
    """Return the head of the cross-attention that follows the gold links best."""
    errors = record["measures"]["alignment_error"][0]
    return f"cross.0.{errors.index(min(errors))}"


def followers(count: int = 10) -> dict[str, list[str]]:
    """Return, for each English word, the `count` words that come most often after it.

    The word "" stands for the beginning of a sentence.
    """
    found = {}
    for pair in translation_pairs(3000, "french", seed=3, max_len=16):
        for one, other in zip(("", *pair.source), pair.source, strict=False):
            found.setdefault(one, Counter())[other] += 1
    return {one: [w for w, _ in c.most_common(count)] for one, c in found.items()}
