"""Exercise 4: relative positions, and what they do beyond the trained length."""

from __future__ import annotations

from attncourse.exercises.relative.alibi import ALIBI
from attncourse.exercises.relative.biases import BIAS
from attncourse.exercises.relative.buckets import BUCKETS
from attncourse.exercises.relative.distances import DISTANCES
from attncourse.exercises.relative.evaluation import EVALUATION
from attncourse.exercises.relative.finding import FINDING
from attncourse.exercises.relative.lengths import LENGTHS
from attncourse.exercises.relative.rotary import ROTARY
from attncourse.exercises.relative.schemes import SCHEMES
from attncourse.exercises.relative.tables import TABLE
from attncourse.exercises.task import Exercise

_OWN = (
    "The answer uses a function of the course or of PyTorch that does what this "
    "exercise asks for. Write it yourself; compare the two afterwards."
)
FORBIDDEN = dict.fromkeys(
    (
        "attncourse.layers.core",
        "attncourse.layers.multihead",
        "attncourse.layers.relative",
        "attncourse.layers.rotary",
        "attncourse.layers.shaw",
        "scaled_dot_product_attention",
        "multi_head_attention_forward",
        "MultiheadAttention",
    ),
    _OWN,
)

EXERCISE = Exercise(
    "4_relative_positions",
    "Relative positions",
    (
        DISTANCES,
        BUCKETS,
        BIAS,
        TABLE,
        ALIBI,
        ROTARY,
        SCHEMES,
        EVALUATION,
        LENGTHS,
        FINDING,
    ),
    FORBIDDEN,
)
check, probe, report = EXERCISE.check, EXERCISE.probe, EXERCISE.report
