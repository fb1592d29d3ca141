"""Measure translators: lengths, seeds, languages, with and without attention.

    python experiments/translation.py                  everything that is not yet there
    python experiments/translation.py --seeds 0        one seed only
    python experiments/translation.py --only short     one group only
    python experiments/translation.py --again          every run, also those there

Each run is written to attncourse/recorded/translation.json when it has ended, and runs
that the file holds are not made again: a killed command goes on where it stopped. All
runs together take some 20 minutes.
"""

import statistics
from functools import partial

import numpy as np
import torch
from recording import Recorder, add_only_option, parser_of

from attncourse import AttentionSeq2Seq, RecurrentSeq2Seq, TranslationTransformer, train
from attncourse.data import Vocabulary, splits
from attncourse.models.seq2seq import sequence_loss
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
ONCE = "long/patient"  # with seed 0 only
SHORT, MIDDLE, LONG = (4, 12), (4, 16), (4, 40)


def runs():
    """Return every run by its name without the seed.

    Those whose names begin with "words" are for checkpoints.py, and are not recorded.
    """
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


def train_translator(run, seed, data, source, target):
    """Return a trained model and its losses."""
    torch.manual_seed(seed)
    model = CLASSES[run["model"]](len(source), len(target), **run["arguments"])
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
    )
    return model, losses


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


def measured(run, seed):
    """Train one model and return what was measured, with how it was made."""
    data, source, target = data_of(run)
    model, losses = train_translator(run, seed, data, source, target)
    return {
        **run,
        "parameters": sum(p.numel() for p in model.parameters()),
        "loss": round(statistics.fmean(losses[-20:]), 4),
        **measures_of(model, data, source, target),
    }


def main():
    """Make the runs that are missing."""
    parser = parser_of(__doc__)
    add_only_option(parser)
    options = parser.parse_args()
    torch.set_num_threads(1)
    made = Recorder(NAME, options.again)
    for seed in options.seeds:
        for name, run in runs().items():
            recorded = not name.startswith("words") and (name != ONCE or seed == 0)
            if recorded and name.startswith(options.only):
                made.row("runs", partial(measured, run, seed), name=name, seed=seed)


if __name__ == "__main__":
    main()
