"""Exercise 3: five scores compared, in one translation model."""

from attncourse.exercises.task import Exercise
from attncourse.exercises.variants.alignment import ALIGNMENT
from attncourse.exercises.variants.conversion import CONVERSION
from attncourse.exercises.variants.intervals import INTERVAL
from attncourse.exercises.variants.networks import NETWORKS
from attncourse.exercises.variants.products import PRODUCTS
from attncourse.exercises.variants.quality import BLEU_TASK
from attncourse.exercises.variants.reading import ATTEND
from attncourse.exercises.variants.speed import SPEED
from attncourse.exercises.variants.translator import Translator, fit, small_corpus
from attncourse.exercises.variants.trials import EXPERIMENT
from attncourse.exercises.variants.verdicts import T975

__all__ = [
    "EXERCISE",
    "T975",
    "Translator",
    "check",
    "fit",
    "probe",
    "report",
    "small_corpus",
]

_BY_HAND = "The answer uses `{}`. Here you write it yourself."
_INSIDE = (
    "The answer looks inside what it is given, by `{}`. Call it: that is all that an "
    "experiment needs."
)
_NAMES = (
    "AdditiveAttention",
    "MultiplicativeAttention",
    "MultiheadAttention",
    "scaled_dot_product_attention",
    "attncourse.layers.core",
    "attncourse.layers.scores",
    "attncourse.training.metrics",
    "attncourse.training.timing",
)
_LOOKS = ("__closure__", "__func__", "__globals__", "__self__", "_getframe", "inspect")

EXERCISE = Exercise(
    "3_attention_variants",
    "Attention variants",
    (
        PRODUCTS,
        NETWORKS,
        CONVERSION,
        ATTEND,
        SPEED,
        BLEU_TASK,
        ALIGNMENT,
        EXPERIMENT,
        INTERVAL,
    ),
    {
        **{name: _BY_HAND.format(name) for name in _NAMES},
        **{name: _INSIDE.format(name) for name in _LOOKS},
    },
)
check, probe, report = EXERCISE.check, EXERCISE.probe, EXERCISE.report
