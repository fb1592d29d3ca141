"""Alignment: what trained translators attend to, beside the gold links."""

from collections.abc import Sequence
from functools import cache
from typing import Any

import traitlets

from attncourse import recorded
from attncourse.data.text import tokenise
from attncourse.data.translation import SentencePair, parallel_corpus
from attncourse.widgets._base import CourseWidget, module_text, style_text
from attncourse.widgets._drawing import FULL, picture, text
from attncourse.widgets._models import LANGUAGES, NAMES, as_parts

MODELS = {
    **{name: (f"translation_{name}", name, NAMES[name]) for name in LANGUAGES},
    "recurrent": ("translation_lstm", "french", "French, recurrent"),
}
SEED, CHOSEN = 41, (123, 33, 110, 41, 106)


class Alignment(CourseWidget):
    """Show the cross-attention of the course's translators, word by word.

    Parameters
    ----------
    translator : {"french", "german", "japanese", "recurrent"}, default "french"
        Whose attention is shown: three Transformers, and LSTMs with attention.
    sentence : int, default 0
        Which of the sentences. Each has a combination of words that occurs in no
        training sentence.
    sentences : sequence of str, optional
        Up to five English sentences that differ in one noun. They are shown instead,
        as the translator translates them: one head, and no gold links.
    **traits
        `head`; `side` ("target" or "source") and `word`, the chosen word.

    Notes
    -----
    The decoder reads the reference translation, as in `cross_attention_of`; for
    `sentences`, its own.
    """

    _esm = module_text("alignment")
    _css = style_text("tiles", "alignment")

    translator = traitlets.Enum(tuple(MODELS), "french").tag(sync=True)
    sentence = traitlets.Int(0, min=0, max=len(CHOSEN) - 1).tag(sync=True)
    head = traitlets.Int(0, min=0, max=3).tag(sync=True)
    side = traitlets.Enum(("target", "source"), "target").tag(sync=True)
    word = traitlets.Int(-1, min=-1).tag(sync=True)
    models = traitlets.List().tag(sync=True)

    def __init__(
        self,
        translator: str = "french",
        sentence: int = 0,
        sentences: Sequence[str] = (),
        **traits: object,
    ) -> None:
        own = sentences and translator in MODELS
        models = [translated(translator, sentences)] if own else known_models()
        by_name = {model["name"]: model for model in models}
        if translator in by_name:
            traits = {"head": by_name[translator]["best"], **traits}
        super().__init__(
            translator=translator, sentence=sentence, models=models, **traits
        )

    def still(self) -> str:
        """Return the weights of the chosen head as ribbons between the words."""
        model = next(m for m in self.models if m["name"] == self.translator)
        rows, target, source, title = shown(model, self.sentence, self.head)
        columns = ((target, 225, "start"), (source, 105, "end"))
        parts = [
            f'<path d="M112 {28 * i + 14}C165 {28 * i + 14} 165 {28 * j + 14} 218 '
            f'{28 * j + 14}" style="fill:none;stroke:{FULL};stroke-width:{14 * x:g}"/>'
            for j, row in enumerate(rows)
            for i, x in enumerate(row)
        ] + [
            text(x, 28 * i + 19, word, anchor=anchor, size=15)
            for words, x, anchor in columns
            for i, word in enumerate(words)
        ]
        return picture(330, 28 * max(len(target), len(source)), parts, title)


def shown(model: dict[str, Any], sentence: int, head: int) -> tuple[Any, ...]:
    """Return one head's weights for a sentence, target and source words, a title."""
    pair = model["pairs"][sentence]
    rows = [[x / 1000 for x in row] for row in pair["weights"][head]]
    title = (
        f"What head {head} of the translator ({model['label']}) attends to as it "
        f"writes “{' '.join(pair['target'])}”."
    )
    return rows, pair["target"], pair["source"], title


@cache  # computed once for all widgets
def known_models() -> list[dict[str, Any]]:
    """Return what the widget shows of each translator: a list of dict.

    "name", "label", the "best" head, the recorded "errors" of the heads, and "pairs":
    source, target, gold links (source, target), and weights in thousandths,
    ``(heads, target, source)``.
    """
    drawn = parallel_corpus(
        max(CHOSEN) + 1, LANGUAGES, SEED, 6, 13, combinations="unseen"
    )
    return [
        _one_model(name, [drawn[MODELS[name][1]][i] for i in CHOSEN]) for name in MODELS
    ]


def translated(name: str, sentences: Sequence[str]) -> dict[str, Any]:
    """Return the same of one translator that has translated `sentences` itself."""
    from attncourse.training.translation import translate

    stored, language, _ = MODELS[name]
    model, record = recorded.load_model(stored)
    sources = [tokenise(sentence.rstrip(" .") + ".") for sentence in sentences]
    targets = translate(model, sources, *record["vocabularies"].values())
    pairs = zip(map(tuple, sources), map(tuple, targets), strict=True)
    return _one_model(
        name, [SentencePair(*pair, (), language, (), frozenset()) for pair in pairs]
    )


def _one_model(name, pairs):
    from attncourse.training.translation import cross_attention_of

    stored, _, label = MODELS[name]
    model, record = recorded.load_model(stored)
    maps = cross_attention_of(model, pairs, *record["vocabularies"].values())
    errors = record["measures"]["alignment_error"][0]
    return {
        "name": name,
        "label": label,
        "errors": errors,
        "best": errors.index(min(errors)),
        "pairs": [
            {
                "source": list(pair.source),
                "target": list(pair.target),
                "gold": [list(link) for link in pair.alignment],
                "weights": as_parts(weights[0]),
            }
            for pair, weights in zip(pairs, maps, strict=True)
        ],
    }
