"""Read texts longer than those in training, with each scheme of positions.

    python experiments/longer.py              all of it, seeds 0 to 2
    python experiments/longer.py --seeds 0    one seed only

The models are those of the chapter on positions: two layers of width 48, trained on
texts of 32 tokens of the Markov language with recall. Four parts are recorded:

- "schemes": every scheme at one learning rate, tested at 1, 2, 4 and 8 times the
  length, and at 8 times with the far tokens hidden ("window") or cut off ("restarted");
- "rates": every scheme trained at several learning rates with one seed, so that none is
  judged at a rate that suits another;
- "stretched": models with rotary positions whose angles are rescaled for 8 times the
  length, and models with ALiBi; before and after fine-tuning on texts of that length;
- "ramps": the upper bound `fast` of YaRN, before fine-tuning, on texts of their own.

Losses are in nats above the entropy of the language, on the last 31 tokens of each text
("all") and on the answers among them ("answers"). The results are written to
attncourse/recorded/longer.json after each row; rows that are there already are kept,
unless --again is given.
"""

import math
from copy import deepcopy
from functools import cache, partial

import torch
import torch.nn.functional as F
from recording import Recorder, fit, next_loss, parser_of

from attncourse import Transformer, alibi_bias, apply_rotary, seed_everything
from attncourse.data.markov import RECALL, markov_recall_batch, markov_recall_losses
from attncourse.layers import rotary
from attncourse.layers.relative import T5RelativeBias

TRAINED, LENGTHS = 32, (32, 64, 128, 256)
WIDTH, HEADS, LAYERS = 48, 4, 2
D_HEAD = WIDTH // HEADS
STEPS, BATCH, RATE = 300, 32, 5e-3
RATES = (2.5e-3, 5e-3, 1e-2)
SCHEMES = ("none", "sinusoidal", "learned", "rotary", "ALiBi", "T5 bias")
FACTOR, FAST, RAMPS = 8, 4.0, (1.5, 2.0, 4.0, 8.0, 32.0)
TUNING_STEPS, TUNING_BATCH, TUNING_RATE = (0, 10, 30, 100), 8, 1e-3
LANGUAGE = {"num_symbols": 16, "noise": 0.1, "event_rate": 0.25}
draw = partial(markov_recall_batch, **LANGUAGE)


def new_model(scheme):
    """Return an untrained model with one scheme of positions."""
    bias = {
        "ALiBi": partial(alibi_bias, HEADS),
        "T5 bias": T5RelativeBias(HEADS, 16, 20, bidirectional=False, scale=10),
    }.get(scheme)
    positions = scheme if scheme in ("sinusoidal", "learned", "rotary") else None
    sizes = {"feedforward_dim": 96, "max_len": max(LENGTHS)}
    return Transformer(
        19, WIDTH, HEADS, LAYERS, positions=positions, position_bias=bias, **sizes
    )


@cache
def trained(scheme, seed, rate=RATE):
    """Return a model trained on short texts."""
    texts = draw(STEPS * BATCH, TRAINED, seed=100 + seed)[0].split(BATCH)
    seed_everything(seed)
    model = new_model(scheme)
    fit(model, lambda t: (texts[t],), next_loss, steps=STEPS, learning_rate=rate)
    return model


def yarn(fast):
    """Return how YaRN rotates queries and keys for 8 times the length."""
    frequencies = rotary.yarn_frequencies(D_HEAD, FACTOR, TRAINED, fast=fast)
    scale = 0.1 * math.log(FACTOR) + 1
    return partial(apply_rotary, frequencies=frequencies, scale=scale)


FREQUENCIES = {
    "rotary": rotary.rotary_frequencies(D_HEAD),
    "interpolated": rotary.interpolated_frequencies(D_HEAD, FACTOR),
    "NTK-aware": rotary.ntk_frequencies(D_HEAD, FACTOR),
}
ROTATIONS = {k: partial(apply_rotary, frequencies=f) for k, f in FREQUENCIES.items()}
ROTATIONS |= {"YaRN": yarn(FAST), "ALiBi": None}  # for 8 times the length


def excess_at(scheme, rate, seed):
    """Train at one rate and measure."""
    return excess(trained(scheme, seed, rate))


def stretched(scheme, steps, seed):
    """Rescale for 8 times the length, fine-tune on long texts and measure."""
    return excess(adapted(ROTATIONS[scheme], steps, seed))


def ramp(fast, seed):
    """Rescale with another upper bound of YaRN and measure on texts of its own."""
    return excess(adapted(yarn(fast), 0, seed), 8)


def adapted(rotation, steps, seed):
    """Return a model rescaled for 8 times the length and fine-tuned on long texts."""
    model = deepcopy(trained("rotary" if rotation else "ALiBi", seed))
    if rotation:
        for layer in model.layers:
            layer.attention.rotary = rotation
    texts = draw(max(TUNING_STEPS) * TUNING_BATCH, max(LENGTHS), seed=200 + seed)[0]
    optimiser = torch.optim.Adam(model.parameters(), lr=TUNING_RATE)
    for batch in texts.split(TUNING_BATCH)[:steps]:
        optimiser.zero_grad()
        next_loss(model, batch).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
    return model


def tested(scheme, seed):
    """Train with one seed and measure, with far tokens hidden or cut off too."""
    model = trained(scheme, seed)
    tokens, kind = draw(96, max(LENGTHS), seed=7)
    near = torch.ones(max(LENGTHS) - 1, max(LENGTHS) - 1, dtype=torch.bool)
    near[:, :-31] = False
    window = last_losses(model, tokens, kind, near)
    restarted = last_losses(model, tokens[:, -TRAINED:], kind[:, -TRAINED:])
    found = {"window": window, "restarted": restarted}
    return excess(model) | {k: round(v.mean().item(), 4) for k, v in found.items()}


@torch.no_grad()
def last_losses(model, tokens, kind, mask=None):
    """Return the last 31 losses of each text above the entropy, (texts, 31)."""
    logits = model(tokens[:, :-1], mask).transpose(1, 2)
    loss = F.cross_entropy(logits, tokens[:, 1:], reduction="none")
    return (loss - markov_recall_losses(tokens, kind, **LANGUAGE)[:, 1:])[:, -31:]


def excess(model, seed=7):
    """Return the losses above the entropy, for each length: all tokens, answers."""
    found = {"all": [], "answers": []}
    for length in LENGTHS:
        tokens, kind = draw(96, length, seed=seed)
        loss = last_losses(model, tokens, kind)
        found["all"].append(round(loss.mean().item(), 4))
        answers = loss[kind[:, -31:] == RECALL].mean().item()
        found["answers"].append(round(answers, 4))
    return found


def main():
    """Train, stretch, fine-tune and measure what is not recorded yet."""
    options = parser_of(__doc__).parse_args()
    settings = {"steps": STEPS, "batch": BATCH, "learning_rate": RATE}
    settings |= {"fine_tuning_batch": TUNING_BATCH, "fine_tuning_rate": TUNING_RATE}
    settings |= {"factor": FACTOR, "fast": FAST}
    rows = Recorder("longer", options, fields={"lengths": LENGTHS}, **settings)
    seeds = options.seeds
    rows.rows("rates", excess_at, scheme=SCHEMES, rate=RATES, seed=[0])
    rows.rows("schemes", tested, scheme=SCHEMES, seed=seeds)
    keys = {"scheme": ROTATIONS, "steps": TUNING_STEPS, "seed": seeds}
    rows.rows("stretched", stretched, **keys)
    rows.rows("ramps", ramp, fast=RAMPS, seed=seeds)


if __name__ == "__main__":
    main()
