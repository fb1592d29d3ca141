"""Measure translators: lengths, seeds, languages, with and without attention.

    python experiments/translation.py                  everything that is not yet there
    python experiments/translation.py --seeds 0        one seed only
    python experiments/translation.py --only short     one group only
    python experiments/translation.py --again          every run, also those there

Each run is written to attncourse/recorded/translation.json when it has ended, and runs
that the file holds are not made again: a killed command goes on where it stopped. All
runs together take some 20 minutes on two cores.
"""

import argparse
import statistics
import time

import numpy as np
import torch

from attncourse import AttentionSeq2Seq, RecurrentSeq2Seq, TranslationTransformer, train
from attncourse.data import Vocabulary, splits
from attncourse.models.seq2seq import sequence_loss
from attncourse.recorded import load
from attncourse.recorded.writing import provenance, save
from attncourse.training.metrics import alignment_error_rate, bleu
from attncourse.training.translation import (
    cross_attention_of,
    translate,
    translation_batches,
)

NAME = "translation"
CLASSES = {
    c.__name__: c for c in (AttentionSeq2Seq, RecurrentSeq2Seq, TranslationTransformer)
}
LSTM = {"model": "AttentionSeq2Seq", "arguments": {"d_model": 96, "num_heads": 4}}
GRU = {"model": "RecurrentSeq2Seq"}
TRANSFORMER = {
    "model": "TranslationTransformer",
    "arguments": {
        "d_model": 96,
        "dim_feedforward": 192,
        "num_decoder_layers": 1,
        "positions": "rotary",
    },
}
FEWER_SEEDS = {  # how many of the seeds; the last two are shipped, see checkpoints.py
    "long/patient": 1,
    "words/german": 0,
    "words/japanese": 0,
}
SHORT, MIDDLE, LONG = (4, 12), (4, 16), (4, 40)


def runs():
    """Return every run by its name without the seed."""
    found = {}
    for group, lengths, steps in (("short", SHORT, 2400), ("long", LONG, 1800)):
        for kind, attention in (("with", "additive"), ("without", None)):
            found[f"{group}/{kind}"] = GRU | {
                "arguments": {"hidden_dim": 128, "attention": attention},
                "lengths": lengths,
                "steps": steps,
            }
    found["long/patient"] = found["long/without"] | {"steps": 5400}
    found["long/lstm"] = LSTM | {"lengths": LONG, "steps": 2600}
    found["long/transformer"] = TRANSFORMER | {"lengths": LONG, "steps": 2000}
    for name in found:
        if name != "long/transformer":
            found[name] = found[name] | {"learning_rate": 4e-3}
    for language in ("french", "german", "japanese"):
        found[f"words/{language}"] = TRANSFORMER | {
            "lengths": MIDDLE,
            "steps": 2400,
            "language": language,
        }
    defaults = {"language": "french", "batch_size": 32, "learning_rate": 3e-3}
    return {name: defaults | run for name, run in found.items()}


def data_of(run):
    """Return the splits and both vocabularies of a run."""
    low, high = run["lengths"]
    data = splits(run["language"], min_len=low, max_len=high)
    source = Vocabulary.build(pair.source for pair in data.train)
    target = Vocabulary.build(pair.target for pair in data.train)
    return data, source, target


def train_translator(run, seed, data, source, target, *, progress=True):
    """Return a trained model, its losses and the seconds that it took."""
    torch.manual_seed(seed)
    model = CLASSES[run["model"]](len(source), len(target), **run["arguments"])
    start = time.perf_counter()
    losses = train(
        model,
        translation_batches(
            data.train, source, target, size=run["batch_size"], seed=seed
        ),
        lambda model, s, t: sequence_loss(model(s, t), t),
        steps=run["steps"],
        learning_rate=[
            {
                "params": model.parameters(),
                "lr": run["learning_rate"],
                "betas": (0.9, 0.98),
            }
        ],
        device="cpu",
        progress=progress,
    )
    return model, losses, time.perf_counter() - start


def measures_of(model, data, source, target, *, limit=None):
    """Return BLEU, exact sentences and alignment error on the held-out pairs."""
    measured = {}
    for name in ("test", "compositional"):
        pairs = getattr(data, name)[:limit]
        written = translate(model, [p.source for p in pairs], source, target)
        measured[name] = quality(pairs, written)
        if name == "test":
            measured["buckets"] = buckets(pairs, written)
    if getattr(model, "attention", True) is not None:
        pairs = data.test[:limit]
        maps = cross_attention_of(model, pairs, source, target)
        gold = [pair.alignment for pair in pairs]
        measured["alignment_error"] = [
            [
                round(alignment_error_rate([m[layer, head] for m in maps], gold), 4)
                for head in range(maps[0].shape[1])
            ]
            for layer in range(maps[0].shape[0])
        ]
    return measured


def quality(pairs, written):
    """Return BLEU and the share of translations that equal the reference."""
    references = [list(pair.target) for pair in pairs]
    score, signature = bleu(written, references)
    same = [ours == theirs for ours, theirs in zip(written, references, strict=True)]
    return {
        "bleu": round(score, 2),
        "exact": round(float(np.mean(same)), 4),
        "sentences": len(pairs),
        "signature": signature,
    }


def buckets(pairs, written, width=4):
    """Return the quality for each range of source lengths."""
    groups = {}
    for pair, ours in zip(pairs, written, strict=True):
        low = len(pair.source) // width * width
        groups.setdefault(low, []).append((pair, ours))
    found = []
    for low, group in sorted(groups.items()):
        if len(group) >= 20:
            measured = quality(*zip(*group, strict=True))
            del measured["signature"]
            found.append({"lengths": [low, low + width - 1], **measured})
    return found


def main():
    """Make the runs that are missing."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument(
        "--only", nargs="+", default=[""], help="the beginnings of names of runs"
    )
    parser.add_argument("--threads", type=int, default=2, help="of PyTorch")
    parser.add_argument("--again", action="store_true", help="runs that exist too")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    there = set() if options.again else {(r["name"], r["seed"]) for r in _recorded()}
    due = [
        (name, seed, run)
        for seed in options.seeds
        for name, run in runs().items()
        if name.startswith(tuple(options.only))
        and seed < FEWER_SEEDS.get(name, seed + 1)
        and (name, seed) not in there
    ]
    for number, (name, seed, run) in enumerate(due, start=1):
        print(f"{number} of {len(due)}: {name}, seed {seed}", flush=True)
        data, source, target = data_of(run)
        model, losses, seconds = train_translator(run, seed, data, source, target)
        result = {
            "name": name,
            "seed": seed,
            **run,
            "parameters": sum(p.numel() for p in model.parameters()),
            "seconds": round(seconds, 1),
            "threads": options.threads,
            "loss": round(statistics.fmean(losses[-20:]), 4),
            **measures_of(model, data, source, target),
        }
        print("  BLEU", result["test"]["bleu"], "in", round(seconds), "s")
        others = [  # read again: another command may have added a run
            r for r in _recorded() if (r["name"], r["seed"]) != (name, seed)
        ]
        _write([*others, result])


def _recorded():
    try:
        return load(NAME)["runs"]
    except FileNotFoundError:
        return []


def _write(done):
    done.sort(key=lambda result: (result["name"], result["seed"]))
    made = provenance(
        sorted({result["seed"] for result in done}),
        seconds=round(sum(result["seconds"] for result in done)),
    )
    made["command"] = "python experiments/translation.py"
    save(NAME, {"made": made, "runs": done})


if __name__ == "__main__":
    main()
