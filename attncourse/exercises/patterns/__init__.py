"""Exercise 2: what heads look at, in trained models and in any other."""

from attncourse.exercises.patterns.ablation import ABLATION
from attncourse.exercises.patterns.alignment import ALIGNMENT
from attncourse.exercises.patterns.hugging_face import HUGGING_FACE
from attncourse.exercises.patterns.languages import LANGUAGES
from attncourse.exercises.patterns.measures import MEASURES
from attncourse.exercises.patterns.pictures import PICTURES
from attncourse.exercises.patterns.places import PLACE
from attncourse.exercises.patterns.tokens import TOKEN
from attncourse.exercises.patterns.translators import TRANSLATOR
from attncourse.exercises.patterns.which import WHICH
from attncourse.exercises.task import Exercise

FORBIDDEN = {
    name: (
        f"The answer uses `{name}` of the course's package. It does what this task "
        "asks you to write. Write it with tensors and Matplotlib."
    )
    for name in (
        "attncourse.layers.heads",
        "attncourse.training.probing",
        "attncourse.training.metrics",
        "attncourse.viz",
        "attncourse.viz.heatmaps",
    )
}

EXERCISE = Exercise(
    "2_attention_patterns",
    "Attention patterns",
    (
        TRANSLATOR,
        HUGGING_FACE,
        PICTURES,
        PLACE,
        TOKEN,
        ALIGNMENT,
        WHICH,
        ABLATION,
        MEASURES,
        LANGUAGES,
    ),
    FORBIDDEN,
)
check, probe, report = EXERCISE.check, EXERCISE.probe, EXERCISE.report
