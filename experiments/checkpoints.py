"""Train the translators that the course ships, and write them with their measures.

    python experiments/checkpoints.py                        all of them
    python experiments/checkpoints.py translation_german     this one

Each becomes attncourse/recorded/NAME.safetensors (half precision) and NAME.json. One
takes about a minute on one core.
"""

import argparse
import time

import torch
from translation import data_of, measures_of, runs, train_translator

from attncourse.recorded import load_model
from attncourse.recorded.writing import provenance, save_model

SEED = 0
PAIRS = 200  # the first of the test split: what the measures are made on
CHECKPOINTS = {
    "translation_french": "words/french",
    "translation_german": "words/german",
    "translation_japanese": "words/japanese",
    "translation_lstm": "long/lstm",
}
STEPS = {"translation_lstm": 3200}  # those of the recorded runs unless given here


def make(name):
    """Train one model and write it."""
    run = runs()[CHECKPOINTS[name]]
    run = run | {"steps": STEPS.get(name, run["steps"])}
    data, source, target = data_of(run)
    start = time.perf_counter()
    model, _ = train_translator(run, SEED, data, source, target)
    seconds = time.perf_counter() - start
    task = {k: run[k] for k in ("language", "lengths", "steps", "learning_rate")}
    sizes = {"src_vocab_size": len(source), "tgt_vocab_size": len(target)}
    save_model(
        name,
        model,
        arguments=sizes | run["arguments"],
        vocabularies={"source": source, "target": target},
        measures=lambda model: measures_of(model, data, source, target, limit=PAIRS),
        made=provenance(
            [SEED], seconds=round(seconds), pairs=PAIRS, batch=run["batch_size"]
        )
        | {"command": f"python experiments/checkpoints.py {name}"}
        | task,
    )


def main():
    """Make the checkpoints that were named, or all."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("names", nargs="*", default=CHECKPOINTS, help="of checkpoints")
    torch.set_num_threads(1)
    for name in parser.parse_args().names:
        make(name)
        print(name, load_model(name)[1]["measures"]["test"], flush=True)


if __name__ == "__main__":
    main()
