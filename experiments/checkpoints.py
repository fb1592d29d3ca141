"""Train the translators that the course ships, and write them with their measures.

    python experiments/checkpoints.py                        all of them
    python experiments/checkpoints.py translation_german     this one

Each becomes attncourse/recorded/NAME.safetensors (half precision) and NAME.json. One
takes about a minute on one core.
"""

import argparse
import time

from translation import (
    LONG,
    LSTM,
    MIDDLE,
    TRANSFORMER,
    data_of,
    measures_of,
    run_of,
    train_translator,
)

from attncourse.recorded import load
from attncourse.recorded.writing import provenance, save_model

SEED = 0
PAIRS = 200  # the first of the test split: what the measures are made on
CHECKPOINTS = {
    f"translation_{language}": run_of(TRANSFORMER, MIDDLE, 2400, language)
    for language in ("french", "german", "japanese")
} | {"translation_lstm": run_of(LSTM, LONG, 3200)}


def make(name):
    """Train one model and write it."""
    run = CHECKPOINTS[name]
    data, source, target = data_of(run)
    start = time.perf_counter()
    model, _ = train_translator(run, SEED, data, source, target)
    seconds = round(time.perf_counter() - start)
    task = {k: run[k] for k in ("language", "lengths", "steps", "learning_rate")}
    task |= {"command": f"python experiments/checkpoints.py {name}"}
    sizes = {"src_vocab_size": len(source), "tgt_vocab_size": len(target)}
    batch = run["batch_size"]
    save_model(
        name,
        model,
        arguments=sizes | run["arguments"],
        vocabularies={"source": source, "target": target},
        measures=lambda model: measures_of(model, data, source, target, limit=PAIRS),
        made=provenance([SEED], seconds=seconds, pairs=PAIRS, batch=batch, **task),
    )
    print(name, load(name)["measures"]["test"], flush=True)


def main():
    """Make the checkpoints that were named, or all."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("names", nargs="*", default=CHECKPOINTS, help="of checkpoints")
    for name in parser.parse_args().names:
        make(name)


if __name__ == "__main__":
    main()
