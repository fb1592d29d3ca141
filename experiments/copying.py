"""Choose the learning rates of chapter 1, and copy sequences of up to 60 symbols.

    python experiments/copying.py              everything that is not yet there
    python experiments/copying.py --again      every run, also those there

Models are tried with several learning rates on seed 0; the one with the most symbols
right in sequences drawn for validation is chosen. For long sequences only the model
without attention has a choice. With the chosen rates, models for long sequences and the
wider model for short ones are trained on each seed; those for long sequences of seed 0
become copier_KIND. All runs together take some 10 minutes on one core.
"""

from functools import cache

import numpy as np
from recording import Recorder, best, fit, parser_of
from torch import nn

from attncourse import RecurrentSeq2Seq, seed_everything
from attncourse.data.symbols import copy_batch
from attncourse.recorded import load
from attncourse.recorded.writing import provenance, save_model

NAME = "copying"
KINDS = {
    "with": {"hidden_dim": 64, "attention": "additive"},
    "without": {"hidden_dim": 64},
    "wide": {"hidden_dim": 128},
}
TASKS = {  # sequences of 2 symbols to the longest; the first task is the chapter's own
    "short": {"longest": 19, "batch": 32, "steps": 1000},
    "long": {"longest": 60, "batch": 16, "steps": 800},
}
RATES = (0.001, 0.002, 0.004, 0.008, 0.016, 0.032)
TRIED = {
    "short": {"with": RATES, "without": RATES, "wide": RATES[2:5]},
    "long": {"with": RATES[2:3], "without": RATES[2:5]},
}
LENGTHS = range(5, 61, 5)
BUCKETS = [(2, 4), (5, 7), (8, 10), (11, 13), (14, 16), (17, 19)]


def copying_loss(model, source):
    """Return the loss of writing the source again."""
    return nn.functional.cross_entropy(
        model(source, source).flatten(0, 1), source.flatten()
    )


@cache
def trained(task, kind, seed, learning_rate):
    """Return a trained model; the sequences of one batch have one length."""
    longest, batch, steps = TASKS[task].values()
    generator = np.random.default_rng(seed)

    def batch_of(step):
        length = 2 + int((longest - 1) * generator.random())
        return copy_batch(batch, length, length, num_symbols=10, seed=generator)[:1]

    seed_everything(seed)
    model = RecurrentSeq2Seq(11, 11, **KINDS[kind])
    fit(model, batch_of, copying_loss, steps=steps, learning_rate=learning_rate)
    return model


def share_right(model, shortest, longest, *, seed, count=500):
    """Return the share of symbols that a model copies correctly."""
    source, _ = copy_batch(count, shortest, longest, num_symbols=10, seed=seed)
    right = model.greedy_decode(source, source.shape[1]) == source
    return round(right[source != 0].float().mean().item(), 4)


def try_rate(task, **how):
    """Return what a learning rate gives on the sequences for validation."""
    model, longest = trained(task, **how), TASKS[task]["longest"]
    return {"validation": share_right(model, 2, longest, seed=2000)}


def by_length(model):
    """Return what is right at each length, as pairs, on sequences for the test."""
    lengths = range(2, TASKS["long"]["longest"] + 1)
    right = [[n, share_right(model, n, n, seed=1, count=200)] for n in lengths]
    return {"right": right}


def best_rate(task, kind):
    """Return the learning rate with the most symbols right in validation."""
    tried = [r for r in load(NAME)["rates"] if (r["task"], r["kind"]) == (task, kind)]
    return best(tried)["learning_rate"]


def wide_run(seed):
    """Train the wider model on short sequences; return what is right by length."""
    rate = best_rate("short", "wide")
    model = trained("short", "wide", seed, rate)
    right = [share_right(model, *bucket, seed=1000) for bucket in BUCKETS]
    return {"learning_rate": rate, "lengths": BUCKETS, "right": right}


def long_run(kind, seed):
    """Train with the chosen rate; return what is right at each length."""
    rate = best_rate("long", kind)
    model = trained("long", kind, seed, rate)
    right = [share_right(model, n, n, seed=1000) for n in LENGTHS]
    if seed == 0:
        save_model(
            f"copier_{kind}",
            model,
            arguments={"src_vocab_size": 11, "tgt_vocab_size": 11} | KINDS[kind],
            vocabularies={},
            measures=by_length,
            made=provenance([seed], learning_rate=rate, **TASKS["long"]),
            int8=True,
        )
    return {"learning_rate": rate, "lengths": list(LENGTHS), "right": right}


def main():
    """Make the runs that are missing."""
    options = parser_of(__doc__).parse_args()
    packages = ("torch", "numpy")
    runs = Recorder(NAME, options, fields={"tasks": TASKS}, packages=packages)
    for task, kinds in TRIED.items():
        for kind, rates in kinds.items():
            one = {"task": [task], "kind": [kind], "seed": [0]}
            runs.rows("rates", try_rate, **one, learning_rate=rates)
    runs.rows("lengths", long_run, kind=TRIED["long"], seed=options.seeds)
    runs.rows("wide", wide_run, seed=options.seeds)


if __name__ == "__main__":
    main()
