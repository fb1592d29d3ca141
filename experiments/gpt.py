"""Train the language models of chapter 10, and measure what they are compared with.

    python experiments/gpt.py baselines         counting and compressing; needs pyppmd
    python experiments/gpt.py live              the chapter's model, seeds 0 to 2
    python experiments/gpt.py sinks             the same with a sink in every head
    python experiments/gpt.py scaling           six sizes at equal data, and at equal
                                                compute, seeds 0 to 2
    python experiments/gpt.py long --seeds 0 --ship --again    the course's own model

Runs that are there already are kept, unless --again is given. Everything runs on one
thread, and seconds are CPU seconds without evaluation. Settings were chosen on the
validation text; the test text is read once, at the end. The results are written to
attncourse/recorded/gpt_*.json.
"""

import lzma
import time
from functools import cache, partial

import numpy as np
import torch
import torch.nn.functional as F
from counting import kneser_ney
from recording import Recorder, fit, parser_of, size_of
from torch import nn

from attncourse.data.bpe import BPETokenizer
from attncourse.data.novels import load_novels, split_texts
from attncourse.layers.multihead import MultiHeadAttention
from attncourse.models.gpt import GPT
from attncourse.recorded.writing import provenance, save, save_model
from attncourse.training import decay_groups
from attncourse.training.language import bits_per_byte, next_token_loss, text_windows

MERGES = 1792
LIVE = {"d_model": 128, "num_heads": 4, "num_layers": 4, "context": 128}
LONG = {"d_model": 160, "num_heads": 4, "num_layers": 4, "context": 256}
STEPS, LONG_STEPS = 2250, 12_000  # of the chapter's model, and of the course's own
SCALING_STEPS = 1080  # of the size in the middle, and of all at equal data
SIZES, MIDDLE = (16, 24, 32, 48, 64, 96), 48
LOOK = 16_000  # characters of the validation text that a curve is measured on


@cache
def prepare():
    """Return the split text, the tokenizer and the training ids."""
    text = split_texts(load_novels())
    tokenizer = BPETokenizer.train(text.train, MERGES)
    return text, tokenizer, torch.tensor(tokenizer.encode(text.train))


def trained(arguments, *, seed, steps, every, change=None):
    """Train one model; return it and its measures, among them its curve.

    The curve has step, seconds and bits per byte.
    """
    text, tokenizer, ids = prepare()
    torch.manual_seed(seed)
    model = GPT(len(tokenizer), **arguments)
    if change:
        change(model)
    curve, begin, aside = [], time.process_time(), 0.0

    def validate(model):
        nonlocal aside
        now = time.process_time()
        score = bits_per_byte(model, tokenizer, text.validation[:LOOK])
        seconds = round(now - begin - aside, 1)
        curve.append([every * (len(curve) + 1), seconds, round(score, 4)])
        print(seed, arguments["d_model"], *curve[-1], flush=True)
        aside += time.process_time() - now
        return -score

    losses = fit(
        model,
        text_windows(ids, 4, arguments["context"], seed),
        next_token_loss,
        steps=steps,
        learning_rate=decay_groups(model, 3e-3, 0.01),
        validate=validate,
        validate_every=every,
    )
    run = {"steps": steps, "curve": curve}
    run["train_loss"] = round(float(np.mean(losses[-100:])), 4)
    return model, run | held_out(model)


def live(options, runs):
    """Train the chapter's model with every seed."""
    how = {"steps": STEPS, "every": 150}
    runs.rows(
        "runs", lambda seed: trained(LIVE, seed=seed, **how)[1], seed=options.seeds
    )


class SinkAttention(MultiHeadAttention):
    """Attention in which each head may also attend to a sink.

    The sink is a key that is the same for all queries, with the score `sink`,
    ``(heads, 1, 1)``, and the value 0. With the score 0 it adds 1 to the denominator of
    the softmax.
    """

    def attend(self, query, projected, mask=None, **options):
        """Return output and weights; the last column of the weights is the sink's."""
        projected = [F.pad(x, (0, 0, 0, 1)) for x in projected]
        rows, keys = mask.shape[-2:]
        bias = F.pad(self.sink.expand(-1, rows, 1), (keys, 0))[None]
        mask = F.pad(mask, (0, 1), value=True)
        return super().attend(query, projected, mask, bias=bias, **options)


def with_sinks(model, learned):
    """Give every head a sink with the score 0, which may be learned."""
    for block in model.blocks:
        block.attention.__class__ = SinkAttention
        scores = torch.zeros(model.num_heads, 1, 1)
        block.attention.sink = nn.Parameter(scores, requires_grad=learned)


def sinks(options, runs):
    """Train the chapter's model with sinks; measure how much attention they get."""
    text, tokenizer, _ = prepare()
    held = torch.tensor(tokenizer.encode(text.validation))
    windows = text_windows(held, 64, LIVE["context"] - 1)(0)[0]

    def measure(seed, learned):
        change = partial(with_sinks, learned=learned)
        how = {"steps": STEPS, "every": STEPS, "change": change}
        model, run = trained(LIVE, seed=seed, **how)
        with torch.no_grad():
            _, weights = model(windows, need_weights=True)
        weights = torch.stack(weights)  # (layers, windows, heads, queries, keys)
        for name, column in (("sink", -1), ("first", 0)):
            shares = weights[..., 1:, column].mean((1, 3))  # (layers, heads)
            run[name] = [[round(x, 4) for x in row] for row in shares.tolist()]
        return run

    runs.rows("runs", measure, seed=options.seeds, learned=(False, True))


def long(options, runs):
    """Train a model that is somewhat wider, reads further, and takes more steps."""

    def measure(seed, steps):
        arguments = LONG | {"dropout": 0.1}
        model, run = trained(arguments, seed=seed, steps=steps, every=250)
        if options.ship:
            ship(model, run, seed)
        return run

    runs.rows("runs", measure, seed=options.seeds, steps=[LONG_STEPS])


def scaling(options, runs):
    """Train six sizes with every seed: on the same data, and for the same compute.

    Compute is parameters times tokens, so at equal compute a small model takes more
    steps. Both studies share the size in the middle.
    """
    words, most = len(prepare()[1]), SCALING_STEPS
    sizes = {d: size_of(GPT(words, **LIVE | {"d_model": d})) for d in SIZES}

    def measure(seed, d_model, steps):
        arguments = LIVE | {"d_model": d_model}
        _, run = trained(arguments, seed=seed, steps=steps, every=steps)
        run["seconds"] = run.pop("curve")[-1][1]
        return run

    for width, size in sizes.items():
        steps = dict.fromkeys((most, round(most * sizes[MIDDLE] / size)))
        keys = {"seed": options.seeds, "d_model": [width], "steps": steps}
        runs.rows("runs", measure, **keys)


def held_out(model):
    """Return the size of a model and its scores on the text that is held out."""
    text, tokenizer, _ = prepare()
    return {
        "d_model": model.embedding.embedding_dim,
        "parameters": size_of(model),
        "validation": round(bits_per_byte(model, tokenizer, text.validation), 4),
        "test": round(bits_per_byte(model, tokenizer, text.test), 4),
    }


def ship(model, run, seed):
    """Write the model that the course ships; its scores are those of 8-bit weights."""
    tokenizer = prepare()[1]
    save_model(
        "gpt",
        model,
        arguments={"vocab_size": len(tokenizer), **LONG},
        vocabularies={},
        merges=tokenizer.merges,
        measures=held_out,
        steps=run["steps"],
        test_float32=run["test"],
        made=provenance([seed]),
        int8=True,
    )


def baselines(options, _):
    """Count and compress; "look" is the text that the curves are measured on."""
    import pyppmd

    text, tokenizer, ids = prepare()
    look = text.validation[:LOOK]
    held = {"look": look, "validation": text.validation, "test": text.test}
    train_bytes = text.train.encode()

    def xz(data):
        return len(lzma.compress(data, preset=9 | lzma.PRESET_EXTREME))

    def ppmd(data, order):
        encoder = pyppmd.Ppmd7Encoder(order, 1 << 28)
        return len(encoder.encode(data)) + len(encoder.flush())

    def added(size):
        """Return what each text adds to the compressed training text."""
        alone, parts = size(train_bytes), {k: v.encode() for k, v in held.items()}
        return {
            name: round(8 * (size(train_bytes + part) - alone) / len(part), 4)
            for name, part in parts.items()
        }

    orders = [{"order": k, **added(partial(ppmd, order=k))} for k in (8, 12)]
    best = min(orders, key=lambda row: row["validation"])
    found = {"xz": added(xz), "PPMd": best}
    for kind, first, encode, vocab, longest in (
        ("tokens", ids.tolist(), tokenizer.encode, len(tokenizer), 6),
        ("bytes", list(train_bytes), lambda part: list(part.encode()), 256, 8),
    ):
        rows = [{"order": k} for k in range(longest + 1)]
        parts = {name: encode(part) for name, part in held.items()}
        asked = [i for part in parts.values() for i in part]
        scores = kneser_ney(first, asked, longest, vocab)
        ends = np.cumsum([len(part) for part in parts.values()])[:-1]
        for row, score in zip(rows, scores, strict=True):
            for name, piece in zip(held, np.split(score, ends), strict=True):
                row[name] = round(float(-piece.sum()) / len(held[name].encode()), 4)
        found[f"Kneser-Ney, {kind}"] = {"orders": rows[2:]}
    made = provenance(packages=("numpy", "pyppmd"))
    save("gpt_baselines", {"made": made, "methods": found})


def main():
    """Run what is asked for."""
    parser = parser_of(__doc__)
    commands = {f.__name__: f for f in (baselines, live, sinks, scaling, long)}
    parser.add_argument("command", choices=commands)
    parser.add_argument("--ship", action="store_true", help="write the model itself")
    options = parser.parse_args()
    name = options.command
    made = {"command": f"python experiments/gpt.py {name}"}
    prepare()  # its seconds are not those of a run
    commands[name](options, Recorder(f"gpt_{name}", options, **made))


if __name__ == "__main__":
    main()
