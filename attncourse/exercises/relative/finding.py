"""Exercise 4, tenth part: what the student's own models do on long texts."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from attncourse.exercises.relative.by_position import LENGTHS_READ
from attncourse.exercises.relative.language import LEAST_LOSS, LanguageModel, draw
from attncourse.exercises.relative.protocol import SIX_MODELS
from attncourse.exercises.task import Check, Mistake, Task

BUCKETS_END = "chapters/04_positional_encoding#why-do-the-buckets-have-to-end-early"
STEPS = 160  # of each training in the check
FAR = 256
SIZES = "two layers, four heads, a width of 48"


def _weights(model):
    return torch.cat([p.detach().flatten().cpu() for p in model.parameters()])


def _ask_models(new_model):
    models = {
        scheme: new_model(scheme, 1)
        for scheme in ("none", "sinusoidal", "rotary", "alibi", "table")
    }
    same, other = new_model("alibi", 1), new_model("alibi", 2)
    first, usual = _weights(models["alibi"]), _sizes(LanguageModel(None, "none"))
    return {
        "each model knows its scheme": all(
            model.scheme == scheme for scheme, model in models.items()
        ),
        "the table is trained with its model": _far(models["table"]) is not None,
        "same seed, same weights": bool((first == _weights(same)).all()),
        "another seed, other weights": bool((first != _weights(other)).any()),
        "all distances beyond 30 share a number": _far(models["table"]) or False,
        "each of the four heads has its numbers": _heads(models["table"]) == 4,
        "each call makes a model of its own": same is not models["alibi"],
        SIZES: all(_sizes(m) == usual and m.num_heads == 4 for m in models.values()),
    }


def _sizes(model):
    """Return the shapes of all that is learned, without a table."""
    named = model.named_parameters()
    return sorted(tuple(p.shape) for name, p in named if "learned" not in name)


def _heads(model):
    return len(model.learned(1, 2, 1)) if isinstance(model.learned, nn.Module) else 0


def _far(model):
    """Say whether distances of 30 and more share a number; None without a table."""
    if not isinstance(model.learned, nn.Module):
        return None
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in model.learned.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator))
        bias = model.learned(1, 300, 299)[:, 0]
    return bool((bias[:, :270] == bias[:, :1]).all())


def _fact(seen, name):
    return seen[name].values[0]


def _is_false(name):
    return lambda seen, expected, inputs: _fact(seen, name) == 0


def _excess(model, length):
    """Return the loss over the last 31 predictions, above the least possible."""
    tokens = draw(64, length, seed=90_000 + length)
    with torch.no_grad():
        logits = model(tokens[:, :-1].to(model.embedding.weight.device)).cpu()
    loss = F.cross_entropy(logits.transpose(1, 2), tokens[:, 1:], reduction="none")
    return loss[:, -31:].mean().item() - LEAST_LOSS


def _next_token_loss(model, tokens):
    return F.cross_entropy(model(tokens[:, :-1]).transpose(1, 2), tokens[:, 1:])


def _ask_finding(new_model):
    from attncourse.training import train

    texts = draw(32 * STEPS, 32, seed=0).split(32)
    found = {}
    for scheme in ("alibi", "sinusoidal"):
        model = new_model(scheme, 0)
        train(
            model,
            lambda step: (texts[step],),
            _next_token_loss,
            steps=STEPS,
            learning_rate=5e-3,
            device="cpu",  # as when it is graded
            progress=False,
        )
        near, far = _excess(model, 32), _excess(model, FAR)
        found[f"{scheme}: has learned at 32 tokens"] = near < 0.3
        found[f"{scheme}: as good at 256 tokens"] = far - near < 0.2
    return found


FINDING = Task(
    name="finding",
    title="The finding",
    names=("new_model",),
    needs=("table", "schemes"),
    difficulty="hard",
    minutes=15,
    checks=(
        Check(
            "a model follows from scheme and seed, and its table ends inside 32 tokens",
            1,
            ask=_ask_models,
            expected=lambda: {
                "each model knows its scheme": True,
                "the table is trained with its model": True,
                "same seed, same weights": True,
                "another seed, other weights": True,
                "all distances beyond 30 share a number": True,
                "each of the four heads has its numbers": True,
                "each call makes a model of its own": True,
                SIZES: True,
            },
            once=True,
            mistakes=(
                Mistake(
                    "scheme not handed on",
                    "The models do not have the scheme that they were asked for: all "
                    "comparisons would be of one scheme with itself.",
                    when=_is_false("each model knows its scheme"),
                    read=SIX_MODELS,
                ),
                Mistake(
                    "no table",
                    'The model with the scheme "table" has no table, or one that is no '
                    "module and would not be trained.",
                    when=_is_false("the table is trained with its model"),
                    read=SIX_MODELS,
                ),
                Mistake(
                    "seed not used",
                    "Two models of the same seed start from different weights: the "
                    "seed is not set, or set after the weights are drawn. No run could "
                    "be repeated.",
                    when=_is_false("same seed, same weights"),
                    read=SIX_MODELS,
                ),
                Mistake(
                    "one seed for all models",
                    "Models of different seeds start from the same weights. Several "
                    "seeds would then show nothing that one does not.",
                    when=_is_false("another seed, other weights"),
                    read=SIX_MODELS,
                ),
                Mistake(
                    "a model of another size",
                    "The models have other sizes than two layers, four heads and a "
                    "width of 48. `LanguageModel` has these by itself; only the scheme "
                    "may differ between the models that are compared.",
                    when=_is_false(SIZES),
                    read=SIX_MODELS,
                ),
                Mistake(
                    "table for another number of heads",
                    "The table has another number of heads than the model: it has "
                    "four, and each has numbers of its own.",
                    when=_is_false("each of the four heads has its numbers"),
                    read=SIX_MODELS,
                ),
                Mistake(
                    "the same model again",
                    "A second call returns the model of the first. It may have been "
                    "trained since; each call makes a model anew.",
                    when=_is_false("each call makes a model of its own"),
                    read=SIX_MODELS,
                ),
                Mistake(
                    "buckets that are never trained",
                    "The table has numbers for distances that do not occur in a text "
                    "of 32 tokens. They stay at zero, and far keys look attractive in "
                    "long texts.",
                    when=_is_false("all distances beyond 30 share a number"),
                    read=BUCKETS_END,
                ),
            ),
        ),
        Check(
            "trained at 32 tokens, ALiBi holds at 256 and sinusoids do not",
            1,
            ask=_ask_finding,
            expected=lambda: {
                "alibi: has learned at 32 tokens": True,
                "alibi: as good at 256 tokens": True,
                "sinusoidal: has learned at 32 tokens": True,
                "sinusoidal: as good at 256 tokens": False,
            },
            once=True,
            mistakes=(
                Mistake(
                    "one scheme for all",
                    "The model that should have sinusoids holds at 256 tokens, as that "
                    "with ALiBi does. Does it get its own scheme?",
                    when=lambda seen, expected, inputs: (
                        _fact(seen, "sinusoidal: as good at 256 tokens") == 1
                        and _fact(seen, "alibi: as good at 256 tokens") == 1
                    ),
                    read=SIX_MODELS,
                ),
                Mistake(
                    "ALiBi does not reach the scores",
                    "The model with ALiBi fails on long texts. If its bias reached the "
                    "scores of each layer, it would not. Is `attend` handed to the "
                    "model, and do all its checks hold?",
                    when=lambda seen, expected, inputs: (
                        _fact(seen, "alibi: as good at 256 tokens") == 0
                    ),
                    read=LENGTHS_READ,
                ),
                Mistake(
                    "nothing learned",
                    "After the training, the model does not predict texts of the "
                    "trained length. Is `attend` handed to the model, and do all its "
                    "checks hold?",
                    when=lambda seen, expected, inputs: (
                        not (
                            _fact(seen, "alibi: has learned at 32 tokens")
                            and _fact(seen, "sinusoidal: has learned at 32 tokens")
                        )
                    ),
                    read=SIX_MODELS,
                ),
            ),
        ),
    ),
)
