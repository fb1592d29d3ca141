"""Measure translators: lengths, seeds, with and without attention.

    python experiments/translation.py                  everything that is not yet there
    python experiments/translation.py --seeds 0        one seed only
    python experiments/translation.py --again          every run, also those there
    python experiments/translation.py --models         the translators that are shipped

Each run is written to attncourse/recorded/translation.json when it has ended, and runs
that the file holds are not made again: a killed command goes on where it stopped. All
runs together take some 20 minutes.
"""

import statistics
import time
from functools import partial

import numpy as np
import torch
from recording import Recorder, fit, parser_of, size_of

import attncourse
from attncourse.data import Vocabulary, splits
from attncourse.models.seq2seq import sequence_loss
from attncourse.recorded import load
from attncourse.recorded.writing import provenance, save_model
from attncourse.training.metrics import alignment_error_rate, bleu
from attncourse.training.translation import (
    cross_attention_of,
    translate,
    translation_batches,
)


def recipe(model, learning_rate, **arguments):
    """Return what a class of models is trained with."""
    return {"model": model, "arguments": arguments, "learning_rate": learning_rate}


WITH, WITHOUT = (
    recipe("RecurrentSeq2Seq", 4e-3, hidden_dim=128, attention=attention)
    for attention in ("additive", None)
)
LSTM = recipe("AttentionSeq2Seq", 4e-3, d_model=96, num_heads=4)
SIZES = {"d_model": 96, "dim_feedforward": 192, "num_decoder_layers": 1}
TRANSFORMER = recipe("TranslationTransformer", 3e-3, **SIZES, positions="rotary")
ONCE = "long/patient"  # with seed 0 only
SHORT, MIDDLE, LONG = (4, 12), (4, 16), (4, 40)
PLAN = {  # model, lengths of sentences, steps
    "short/with": (WITH, SHORT, 2400),
    "short/without": (WITHOUT, SHORT, 2400),
    "long/with": (WITH, LONG, 1800),
    "long/without": (WITHOUT, LONG, 1800),
    "long/patient": (WITHOUT, LONG, 5400),
    "long/lstm": (LSTM, LONG, 2600),
    "long/transformer": (TRANSFORMER, LONG, 2000),
}


def run_of(model, lengths, steps, language="french"):
    """Return what a run is recorded with."""
    run = {"lengths": lengths, "steps": steps, "language": language, "batch_size": 32}
    return model | run


PAIRS = 200  # the first of the test split: what the measures of these are made on
SHIPPED = {
    f"translation_{language}": run_of(TRANSFORMER, MIDDLE, 2400, language)
    for language in ("french", "german", "japanese")
} | {"translation_lstm": run_of(LSTM, LONG, 3200)}


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
    model_class = getattr(attncourse, run["model"])
    model = model_class(len(source), len(target), **run["arguments"])
    how = {"size": run["batch_size"], "seed": seed}
    group = {"params": model.parameters(), "lr": run["learning_rate"]}
    losses = fit(
        model,
        translation_batches(data.train, source, target, **how),
        lambda model, s, t: sequence_loss(model(s, t), t),
        steps=run["steps"],
        learning_rate=[group | {"betas": (0.9, 0.98)}],
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
        measured["alignment_error"] = alignment_errors(model, pairs, source, target)
    return measured


def alignment_errors(model, pairs, source, target):
    """Return the alignment error rate of each layer and head."""
    maps = cross_attention_of(model, pairs, source, target)
    gold, (layers, heads) = [pair.alignment for pair in pairs], maps[0].shape[:2]
    return [
        [
            round(alignment_error_rate([m[layer, head] for m in maps], gold), 4)
            for head in range(heads)
        ]
        for layer in range(layers)
    ]


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
    data = data_of(run)
    model, losses = train_translator(run, seed, *data)
    loss = round(statistics.fmean(losses[-20:]), 4)
    found = {"parameters": size_of(model), "loss": loss}
    return run | found | measures_of(model, *data)


def ship(name, run):
    """Train a translator on seed 0 and write it, with its measures."""
    data, source, target = data_of(run)
    start = time.perf_counter()
    model, _ = train_translator(run, 0, data, source, target)
    seconds = round(time.perf_counter() - start)
    task = {k: run[k] for k in ("language", "lengths", "steps", "learning_rate")}
    task |= {"command": "python experiments/translation.py --models"}
    sizes = {"src_vocab_size": len(source), "tgt_vocab_size": len(target)}
    batch = run["batch_size"]
    save_model(
        name,
        model,
        arguments=sizes | run["arguments"],
        vocabularies={"source": source, "target": target},
        measures=lambda model: measures_of(model, data, source, target, limit=PAIRS),
        made=provenance([0], seconds=seconds, pairs=PAIRS, batch=batch, **task),
    )
    print(name, load(name)["measures"]["test"], flush=True)


def main():
    """Make the runs that are missing."""
    parser = parser_of(__doc__)
    parser.add_argument("--models", action="store_true", help="write the translators")
    options = parser.parse_args()
    if options.models:
        for name, run in SHIPPED.items():
            ship(name, run)
        return
    made = Recorder("translation", options)
    for seed in options.seeds:
        for name, how in PLAN.items():
            if name != ONCE or seed == 0:
                measure = partial(measured, run_of(*how), seed)
                made.row("runs", measure, name=name, seed=seed)


if __name__ == "__main__":
    main()
