"""Exercise 4, third part: a bias that is added to the scores."""

from __future__ import annotations

from attncourse.exercises.relative.bias_on_scores import (
    ON_SCORES,
    attention,
    draw_vectors,
    read_values,
    scaled_scores,
)
from attncourse.exercises.relative.distances import T5
from attncourse.exercises.seen import near
from attncourse.exercises.task import Check, Mistake, Task
from attncourse.layers.relative import relative_positions

MULTIPLIED = "chapters/05_masking#case-2-the-keys-that-were-multiplied-away"
HIGH = 1e5  # what a bias may be on a hidden key, and no score that hides it stands
UNDER_HIGH = "a hidden key is seen if its bias is high enough"
MASK = "chapters/05_masking#what-does-a-mask-do"
WRONG_HALF = "chapters/05_masking#case-1-the-mask-that-hid-the-wrong-half"


def _vectors_and_mask(generator):
    inputs = draw_vectors(generator)
    mask = relative_positions(*inputs["bias"].shape[1:], query_offset=1) <= 0
    mask[:, 0] = False  # hidden from all
    return {**inputs, "mask": mask}


def _some_hidden_weight(seen, inputs):
    rows = (part.values.reshape(part.shape) for part in seen.values() if part.shape)
    hidden = [table[..., ~inputs["mask"].numpy()].max() for table in rows]
    sums = [
        part.values.reshape(part.shape).sum(-1) for part in seen.values() if part.shape
    ]
    return (
        max(hidden) < 0.2
        and max(hidden) > 0
        and all(near(s, 1, digits=1) for s in sums)
    )


def _ask_masked(answer, query, key, value, bias, mask):
    both = answer(query, key, value, bias, mask)[1]
    alone = answer(query, key, value, None, mask)[1]
    high = answer(query, key, value, bias + HIGH * ~mask, mask)[1]
    return {
        "weights": both,
        "weights without a bias": alone,
        UNDER_HIGH: bool(both[..., ~mask].max() < 0.004 < high[..., ~mask].max()),
    }


def _masked(query, key, value, bias, mask):
    return _two_weights(
        attention(query, key, value, bias, mask),
        attention(query, key, value, 0, mask),
    )


def _two_weights(both, alone):
    return {
        "weights": both["weights"],
        "weights without a bias": alone["weights"],
        UNDER_HIGH: False,
    }


def _multiplied_mask(query, key, value, bias, mask):
    return _two_weights(
        read_values((scaled_scores(query, key) + bias) * mask, value),
        read_values(scaled_scores(query, key) * mask, value),
    )


def _mask_after(query, key, value, bias, mask):
    one, two = (attention(query, key, value, b) for b in (bias, 0))
    return _two_weights(*({"weights": w["weights"] * mask} for w in (one, two)))


def _weights_of(seen):
    return {k: p.values.reshape(p.shape) for k, p in seen.items() if p.shape}


def _weights_show(test):
    """Return a `when`: in every wrong part ``test(weights, right, hidden)`` is true."""

    def when(seen, expected, inputs):
        hidden = ~inputs["mask"].numpy()
        ours, right = _weights_of(seen), _weights_of(expected)
        wrong = [k for k in right if not near(ours[k], right[k])]
        return bool(wrong) and all(test(ours[k], right[k], hidden) for k in wrong)

    return when


MASKED_OTHERWISE = (
    (
        "rows of zeros, or no numbers",
        "Some rows of the weights have no numbers, or only zeros. A row that is hidden "
        "as a whole has nothing to share out: is the mask the right way round?",
        lambda w, right, hidden: not (w.sum(-1) > 0.01).all(),
    ),
    (
        "rows that do not sum to 1",
        "The rows of the weights do not sum to 1. What is hidden has to be hidden "
        "*before* the softmax, which then shares out all of the weight.",
        lambda w, right, hidden: abs(w.sum(-1) - 1).max() > 0.03,
    ),
    (
        "hidden keys are seen",
        "Keys that the mask hides get a weight. Their scores have to be -inf before "
        "the softmax: 0, or a product with 0, is an ordinary score.",
        lambda w, right, hidden: w[..., hidden].max() > 0.004,
    ),
    (
        "visible keys are hidden",
        "Keys that the mask shows get no weight. Each query has its own row of the "
        "mask, and True means: may attend.",
        lambda w, right, hidden: (
            w[..., ~hidden].min() < 0.004 <= right[..., ~hidden].min()
        ),
    ),
    (
        "right keys, other scores",
        "The right keys are hidden, and the weights of the others are wrong. With a "
        "mask, bias and scale should be as without one.",
        lambda w, right, hidden: True,
    ),
)


BIAS = Task(
    name="bias",
    title="A bias on the scores",
    names=("biased_attention",),
    difficulty="easy",
    minutes=10,
    checks=(
        ON_SCORES,
        Check(
            "a mask hides its keys, with a bias and without",
            1,
            inputs=_vectors_and_mask,
            ask=_ask_masked,
            expected=_masked,
            pure=True,
            mistakes=(
                Mistake(
                    "mask lost where there is a bias",
                    "Without a bias the mask is obeyed. With one, hidden keys are "
                    "seen: the masked scores are not the ones that the bias is added "
                    "to.",
                    wrong=lambda query, key, value, bias, mask: _two_weights(
                        attention(query, key, value, bias),
                        attention(query, key, value, 0, mask),
                    ),
                    read=MASK,
                ),
                *(
                    Mistake(
                        "one row of the mask for all queries",
                        "All queries see the same keys: those that some query, or "
                        "every query, may see. Each query has its own row of the mask.",
                        wrong=lambda mask, row=row, **inputs: _masked(
                            **inputs, mask=row(mask).expand_as(mask)
                        ),
                        read=MASK,
                    )
                    for row in (
                        lambda mask: mask.any(0),
                        lambda mask: mask.all(0),
                        lambda mask: mask[-1],
                        lambda mask: mask[0],
                    )
                ),
                Mistake(
                    "mask lost where there is no bias",
                    "With a bias the mask is obeyed. Without one, hidden keys are "
                    "seen: does the `if` for the mask stand inside that for the bias?",
                    wrong=lambda query, key, value, bias, mask: _two_weights(
                        attention(query, key, value, bias, mask),
                        attention(query, key, value),
                    ),
                    read=MASK,
                ),
                Mistake(
                    "bias lost where there is a mask",
                    "The weights are those of the mask alone: with a mask, the bias "
                    "does nothing.",
                    wrong=lambda query, key, value, bias, mask: _two_weights(
                        attention(query, key, value, 0, mask),
                        attention(query, key, value, 0, mask),
                    ),
                    read=T5,
                ),
                Mistake(
                    "mask ignored",
                    "Hidden keys get a weight: the mask has no effect.",
                    wrong=lambda query, key, value, bias, mask: _two_weights(
                        attention(query, key, value, bias),
                        attention(query, key, value),
                    ),
                    read=MASK,
                ),
                Mistake(
                    "mask inverted",
                    "The keys that may be seen are hidden, and the others seen. True "
                    "means: may attend.",
                    wrong=lambda query, key, value, bias, mask: _two_weights(
                        attention(query, key, value, bias, ~mask),
                        attention(query, key, value, 0, ~mask),
                    ),
                    read=WRONG_HALF,
                ),
                Mistake(
                    "low, but not hidden",
                    "Hidden keys keep some weight: their scores were lowered by a "
                    "number, and the bias may raise them again. Only -inf hides.",
                    when=lambda seen, expected, inputs: _some_hidden_weight(
                        seen, inputs
                    ),
                    read=MULTIPLIED,
                ),
                Mistake(
                    "low, but not hidden",
                    "Hidden keys have no weight until their bias is high: their "
                    "scores were lowered by a number, and the bias raises them again. "
                    "Only -inf hides.",
                    when=lambda seen, expected, inputs: bool(
                        seen[UNDER_HIGH].values.all()
                    ),
                    read=MULTIPLIED,
                ),
                Mistake(
                    "mask by multiplication",
                    "Hidden scores are multiplied by 0. A score of 0 is an ordinary "
                    "score, and its key gets a weight.",
                    wrong=_multiplied_mask,
                    read=MULTIPLIED,
                ),
                Mistake(
                    "mask after the softmax",
                    "Hidden weights are set to 0 after the softmax, and the rows no "
                    "longer sum to 1.",
                    wrong=_mask_after,
                    read=MASK,
                ),
                Mistake(
                    "boolean mask added as a number",
                    "The mask is added to the scores as 0 and 1. A visible key gains "
                    "a little, a hidden one is not hidden.",
                    wrong=lambda query, key, value, bias, mask: _two_weights(
                        attention(query, key, value, bias + mask.float()),
                        attention(query, key, value, mask.float()),
                    ),
                    read=MASK,
                ),
                Mistake(
                    "a missing bias is an error",
                    "The call without a bias fails. `bias=None` means that nothing is "
                    "added.",
                    when=lambda seen, expected, inputs: (
                        seen["result"].kind == "error"
                        and "NoneType" in seen["result"].text
                    ),
                ),
                *(
                    Mistake(name, says, when=_weights_show(test), read=MASK)
                    for name, says, test in MASKED_OTHERWISE
                ),
            ),
        ),
    ),
)
