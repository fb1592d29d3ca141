"""Exercise 1: attention from scratch, without any attention function of PyTorch."""

from attncourse.exercises.from_scratch.copying import COPYING
from attncourse.exercises.from_scratch.forward import ATTENTION
from attncourse.exercises.from_scratch.gradients import GRADIENT
from attncourse.exercises.from_scratch.masked import MASKED
from attncourse.exercises.from_scratch.masks import MASKS
from attncourse.exercises.from_scratch.scores import SCORES
from attncourse.exercises.from_scratch.weights import WEIGHTS
from attncourse.exercises.task import Exercise

FORBIDDEN = {
    name: (
        f"The answer uses `{name}`. In this exercise attention is written by hand: "
        "use matrix products, exponentials or a softmax, and masks only."
    )
    for name in (
        # of PyTorch
        "scaled_dot_product_attention",
        "multi_head_attention_forward",
        "MultiheadAttention",
        "flex_attention",
        "Transformer",
        "TransformerEncoder",
        "TransformerEncoderLayer",
        "TransformerDecoder",
        "TransformerDecoderLayer",
        # of the course
        "attncourse",
        "self_attention",
        "multi_head_attention",
        "masked_softmax",
        "fused_attention",
        "local_attention",
        "SelfAttention",
        "MultiHeadAttention",
        "CausalSelfAttention",
        "create_causal_mask",
        "create_padding_mask",
        "attncourse.layers",
        "attncourse.layers.core",
        "attncourse.layers.heads",
        "attncourse.layers.masks",
        "attncourse.layers.multihead",
    )
} | {
    name: (
        f"The answer uses `{name}`. Here the gradient is written down in closed form: "
        "matrix products and sums, and no automatic differentiation."
    )
    for name in ("autograd", "backward", "grad", "jacobian", "jacrev", "vjp")
}

EXERCISE = Exercise(
    "1_attention_from_scratch",
    "Attention from scratch",
    (SCORES, WEIGHTS, ATTENTION, MASKS, MASKED, GRADIENT, COPYING),
    FORBIDDEN,
)
check, probe, report = EXERCISE.check, EXERCISE.probe, EXERCISE.report
