"""Exercise 5: attention for long sequences, in memory and time that grow with n."""

from attncourse.exercises.efficient.costs import COSTS
from attncourse.exercises.efficient.local import LOCAL
from attncourse.exercises.efficient.mask import MASK
from attncourse.exercises.efficient.pattern import PATTERN
from attncourse.exercises.efficient.quality import QUALITY
from attncourse.exercises.efficient.sparse import SPARSE
from attncourse.exercises.efficient.timing import TIMING
from attncourse.exercises.task import Exercise

WRITE_IT = (
    "The answer uses `{}` of the course's package. In this exercise you write it "
    "yourself; compare with the package afterwards."
)
UNCOUNTED = (
    "The answer uses `{}`, which stops what counts its numbers. All that it makes is "
    "counted."
)
OWN = (
    "attncourse",
    "attncourse.layers.local",
    "attncourse.layers.sparse",
    "attncourse.layers.blockwise",
    "attncourse.training.timing",
    "local_attention",
    "local_attention_in_blocks",
    "blockwise_attention",
    "block_sparse_attention",
    "window_blocks",
    "strided_blocks",
    "global_blocks",
    "expand_blocks",
    "time_side_by_side",
)
STOPS_COUNTING = (
    "torch.utils._python_dispatch",
    "_python_dispatch",
    "_disable_current_modes",
    "_pop_mode",
    "_pop_mode_temporarily",
    "_pop_torch_dispatch_stack",
    "_DisableTorchDispatch",
)
FORBIDDEN = {
    **{name: WRITE_IT.format(name) for name in OWN},
    **{name: UNCOUNTED.format(name) for name in STOPS_COUNTING},
    "count_elements": (
        "The answer counts instead of calculating. This exercise asks for formulas; "
        "compare them with the counts afterwards."
    ),
}

EXERCISE = Exercise(
    "5_efficient_attention",
    "Efficient attention",
    (MASK, LOCAL, PATTERN, SPARSE, COSTS, TIMING, QUALITY),
    FORBIDDEN,
)
check, probe, report = EXERCISE.check, EXERCISE.probe, EXERCISE.report
