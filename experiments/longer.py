"""Read texts longer than those in training, with each scheme of positions.

    python experiments/longer.py              all of it, seeds 0 to 2
    python experiments/longer.py --seeds 0    one seed only

The models are those of the chapter on positions: two layers of width 48, trained on
texts of 32 tokens of the Markov language with recall. Three parts are recorded:

- "rates": every scheme trained at several learning rates with one seed, tested at 1, 2,
  4 and 8 times the length, so that none is judged at a rate that suits another;
- "stretched": models with rotary positions whose angles are rescaled for 8 times the
  length, and models with ALiBi; before and after fine-tuning on texts of that length;
- "ramps": the upper bound `fast` of YaRN, before fine-tuning, on texts of their own.

Losses are in nats above the entropy of the language, on the last 31 tokens of each text
("all") and on the answers among them ("answers"). The results are written to
attncourse/recorded/longer.json after each seed; seeds that are there already are kept,
unless --again is given.
"""

import argparse
import math
import time
from contextlib import suppress
from copy import deepcopy
from functools import partial

import torch
import torch.nn.functional as F

from attncourse import Transformer, alibi_bias, apply_rotary, seed_everything, train
from attncourse.data.markov import RECALL, markov_recall_batch, markov_recall_losses
from attncourse.layers.relative import T5RelativeBias
from attncourse.layers.rotary import (
    interpolated_frequencies,
    ntk_frequencies,
    rotary_frequencies,
    yarn_frequencies,
)
from attncourse.recorded import load
from attncourse.recorded.writing import provenance, save

NAME = "longer"
TRAINED, LENGTHS = 32, (32, 64, 128, 256)
WIDTH, HEADS, LAYERS = 48, 4, 2
STEPS, BATCH, RATE = 300, 32, 5e-3
RATES = (2.5e-3, 5e-3, 1e-2)
SCHEMES = ("none", "sinusoidal", "learned", "rotary", "ALiBi", "T5 bias")
FACTOR, FAST, RAMPS = 8, 4.0, (1.5, 2.0, 4.0, 8.0, 32.0)
TUNING_STEPS, TUNING_BATCH, TUNING_RATE = (10, 30, 100), 8, 1e-3
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


def loss_of(model, tokens):
    """Return the mean cross-entropy of the next tokens."""
    return F.cross_entropy(model(tokens[:, :-1]).transpose(1, 2), tokens[:, 1:])


def trained(scheme, seed, rate=RATE):
    """Return a model trained on short texts."""
    texts = draw(STEPS * BATCH, TRAINED, seed=100 + seed)[0].split(BATCH)
    seed_everything(seed)
    model = new_model(scheme)
    how = {"steps": STEPS, "learning_rate": rate, "device": "cpu", "progress": False}
    train(model, lambda step: (texts[step],), loss_of, **how)
    return model


def rotations():
    """Return, by name, how queries and keys are rotated for 8 times the length."""
    width = WIDTH // HEADS
    scaled = {
        "rotary": rotary_frequencies(width),
        "interpolated": interpolated_frequencies(width, FACTOR),
        "NTK-aware": ntk_frequencies(width, FACTOR),
        "YaRN": yarn_frequencies(width, FACTOR, TRAINED, fast=FAST),
    }
    scale = {"YaRN": 0.1 * math.log(FACTOR) + 1}
    return {
        name: partial(apply_rotary, frequencies=f, scale=scale.get(name, 1.0))
        for name, f in scaled.items()
    }


def rotate_by(model, rotation):
    """Return a copy of a model whose layers rotate in another way."""
    model = deepcopy(model)
    for layer in model.layers:
        layer.attention.rotary = rotation
    return model


@torch.no_grad()
def excess(model, seed=7):
    """Return the losses above the entropy, for each length: all tokens, answers."""
    found = {"all": [], "answers": []}
    for length in LENGTHS:
        tokens, kind = draw(96, length, seed=seed)
        logits = model(tokens[:, :-1]).transpose(1, 2)
        loss = F.cross_entropy(logits, tokens[:, 1:], reduction="none")
        loss = (loss - markov_recall_losses(tokens, kind, **LANGUAGE)[:, 1:])[:, -31:]
        found["all"].append(round(loss.mean().item(), 4))
        answers = loss[kind[:, -31:] == RECALL].mean().item()
        found["answers"].append(round(answers, 4))
    return found


def fine_tuned(model, seed):
    """Train on long texts; yield the steps so far, 0 at first, and the model."""
    texts = draw(max(TUNING_STEPS) * TUNING_BATCH, max(LENGTHS), seed=200 + seed)[0]
    optimiser = torch.optim.Adam(model.parameters(), lr=TUNING_RATE)
    yield 0, model
    for step, batch in enumerate(texts.split(TUNING_BATCH), 1):
        optimiser.zero_grad()
        loss_of(model, batch).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        if step in TUNING_STEPS:
            yield step, model


def measures_of(seed):
    """Train, stretch, fine-tune and measure with one seed; return rows by part."""
    found = {"rates": [], "stretched": [], "ramps": []}

    def keep(part, model, test_seed=7, **row):
        found[part].append({**row, "seed": seed, **excess(model, test_seed)})
        print(part, found[part][-1], flush=True)

    if seed == 0:
        for scheme in SCHEMES:
            for rate in RATES:
                keep("rates", trained(scheme, seed, rate), scheme=scheme, rate=rate)
    models = {scheme: trained(scheme, seed) for scheme in ("rotary", "ALiBi")}
    starts = {n: rotate_by(models["rotary"], r) for n, r in rotations().items()}
    starts |= {"ALiBi": models["ALiBi"]}
    for name, model in starts.items():
        for steps, tuned in fine_tuned(model, seed):
            keep("stretched", tuned, scheme=name, steps=steps)
    for fast in RAMPS:
        f = yarn_frequencies(WIDTH // HEADS, FACTOR, TRAINED, fast=fast)
        scale = 0.1 * math.log(FACTOR) + 1
        rotation = partial(apply_rotary, frequencies=f, scale=scale)
        keep("ramps", rotate_by(models["rotary"], rotation), 8, fast=fast)
    return found


def main():
    """Measure with every seed that is not recorded yet."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--again", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(1)
    record = {"made": {"seeds": [], "cpu_seconds": 0}, "lengths": LENGTHS}
    if not options.again:
        with suppress(FileNotFoundError):
            record = load(NAME)
    for seed in options.seeds:
        if seed in record["made"]["seeds"]:
            continue
        begin = time.process_time()
        for part, rows in measures_of(seed).items():
            record[part] = record.get(part, []) + rows
        spent = time.process_time() - begin
        record["made"] = provenance(
            [*record["made"]["seeds"], seed],
            steps=STEPS,
            batch=BATCH,
            learning_rate=RATE,
            fine_tuning_batch=TUNING_BATCH,
            fine_tuning_rate=TUNING_RATE,
            factor=FACTOR,
            fast=FAST,
            cpu_seconds=round(record["made"]["cpu_seconds"] + spent),
        )
        save(NAME, record)


if __name__ == "__main__":
    main()
