"""Alignment: where trained translators look, beside the gold links."""

from functools import cache
from typing import Any

import traitlets

from attncourse import recorded
from attncourse.data.translation import parallel_corpus
from attncourse.widgets._base import CourseWidget, module_text, style_text
from attncourse.widgets._drawing import weights_picture
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
    **traits
        `head`; `side` ("target" or "source") and `word`, the chosen word.

    Notes
    -----
    The decoder reads the reference translation, as in `cross_attention_of`.
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
        self, translator: str = "french", sentence: int = 0, **traits: object
    ) -> None:
        models = known_models()
        by_name = {model["name"]: model for model in models}
        if translator in by_name:
            traits = {"head": by_name[translator]["best"], **traits}
        super().__init__(
            translator=translator, sentence=sentence, models=models, **traits
        )

    def still(self) -> str:
        """Return the weights of the chosen head as a heat map."""
        model = next(m for m in self.models if m["name"] == self.translator)
        pair = model["pairs"][self.sentence]
        rows = [[x / 1000 for x in row] for row in pair["weights"][self.head]]
        title = (
            f"Where head {self.head} of the translator ({model['label']}) looks: each "
            f"row is a word of “{' '.join(pair['target'])}”."
        )
        return weights_picture(rows, pair["target"], pair["source"], title)


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
    return [_one_model(name, drawn) for name in MODELS]


def _one_model(name, drawn):
    from attncourse.training.translation import cross_attention_of

    stored, language, label = MODELS[name]
    model, record = recorded.load_model(stored)
    words = record["vocabularies"].values()
    pairs = [drawn[language][i] for i in CHOSEN]
    maps = cross_attention_of(model, pairs, *words)
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
