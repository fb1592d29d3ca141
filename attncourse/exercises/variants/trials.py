"""Task experiment: an experiment that compares what it says it compares."""

from __future__ import annotations

from types import SimpleNamespace

import torch

from attncourse.exercises.task import Check, Mistake, Task
from attncourse.exercises.variants.seeding import (
    differ_within_seeds,
    first_weight,
    moved_by_variant,
    seeded_late,
    seeds_counted,
    unseeded,
)

MEASURE = "chapters/06_seq2seq#fault-1-a-test-on-random-ids"
SEEDS = "chapters/02_attention_types#does-chased-look-at-cat-and-mouse"


class _Model:
    """Takes part in a rehearsal: remembers its first weight and how it was trained."""

    def __init__(self):
        self.start = first_weight()
        self.trained = []


class _Rehearsal:
    """Stands in for the training and for the measures, and writes down the calls."""

    def __init__(self, names, seeds):
        self.data = SimpleNamespace(train=["a", "b", "c"], valid=["d"], test=["e", "f"])
        self.variants = {name: self._maker(name) for name in names}
        self.seeds = list(seeds)
        self.made, self.fits, self.measured = [], [], []

    def _maker(self, name):
        def make():
            model = _Model()
            self.made.append((name, model.start))
            return model

        return make

    def fit(self, model, pairs, seed):
        model.trained.append(list(pairs))
        self.fits.append((model.start, list(pairs), int(seed)))

    def measure(self, model, pairs):
        self.measured.append((model.start, list(pairs), len(model.trained)))
        return 10 * model.start + len(model.trained)


def _drawn(generator):
    """Draw names of variants and seeds."""
    count = torch.randint(2, 4, (), generator=generator).item()
    seeds = torch.randperm(50, generator=generator)[: count + 1].tolist()
    return {"names": ["dot", "general", "concat"][:count], "seeds": seeds}


def _rehearse(experiment, names, seeds):
    stage = _Rehearsal(names, seeds)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(12345)
        results = experiment(
            stage.variants, list(seeds), stage.data, stage.fit, stage.measure
        )
    return stage, results


def _sets(experiment, names, seeds):
    """Count what was trained and measured on what."""
    stage, _ = _rehearse(experiment, names, seeds)
    train, test = stage.data.train, stage.data.test
    fitted = [pairs for _, pairs, _ in stage.fits]
    scored = [pairs for _, pairs, _ in stage.measured]
    return {
        "trainings": len(fitted),
        "trainings on the training pairs alone": fitted.count(train),
        "measures": len(scored),
        "measures on the test pairs alone": scored.count(test),
        "measures after training": sum(n > 0 for _, _, n in stage.measured),
        "measures on pairs kept for validation": scored.count(stage.data.valid),
    }


def _sets_expected(names, seeds):
    runs = len(names) * len(seeds)
    found = dict.fromkeys(
        (
            "trainings",
            "trainings on the training pairs alone",
            "measures",
            "measures on the test pairs alone",
            "measures after training",
        ),
        runs,
    )
    return {**found, "measures on pairs kept for validation": 0}


def _starts(experiment, names, seeds):
    """Return what each model started from, and what came back."""
    stage, results = _rehearse(experiment, names, seeds)
    return {
        "first weights": [[start for n, start in stage.made if n == v] for v in names],
        "seeds of fit": sorted(seed for _, _, seed in stage.fits),
        "results": _lists([results[name] for name in names]),
    }


def _lists(results):
    if not all(isinstance(measures, list | tuple) for measures in results):
        return "no lists"
    return [list(measures) for measures in results]


def _starts_expected(names, seeds):
    with torch.random.fork_rng(devices=[]):
        row = [torch.manual_seed(seed) and first_weight() for seed in seeds]
    return {
        "first weights": [row] * len(names),
        "seeds of fit": sorted(seeds * len(names)),
        "results": [[10 * start + 1 for start in row]] * len(names),
    }


def _count(seen, name):
    return seen[name].values[0]


EXPERIMENT = Task(
    name="experiment",
    title="A fair comparison",
    names=("experiment",),
    difficulty="medium",
    minutes=10,
    checks=(
        Check(
            "every model is trained on the training pairs, then measured on the others",
            1,
            inputs=_drawn,
            tensors=False,
            ask=_sets,
            expected=_sets_expected,
            mistakes=(
                Mistake(
                    "measured on validation data",
                    "The models are measured on `data.valid`, the pairs on which "
                    "choices are made. The test pairs are those of `data.test`.",
                    when=lambda seen, expected, inputs: (
                        _count(seen, "measures on pairs kept for validation")
                        == _count(seen, "measures")
                    ),
                    read=MEASURE,
                ),
                Mistake(
                    "measured on training data",
                    "The models are measured on pairs that they were trained on. A "
                    "model that had learnt these by heart would look perfect.",
                    when=lambda seen, expected, inputs: (
                        _count(seen, "measures on the test pairs alone")
                        < _count(seen, "measures")
                        and _count(seen, "trainings on the training pairs alone")
                        == _count(seen, "trainings")
                    ),
                    read=MEASURE,
                ),
                Mistake(
                    "trained on test data",
                    "The models are trained on other pairs than those of `data.train`. "
                    "If test pairs are among them, the score says how well they "
                    "remember, not how well they translate.",
                    when=lambda seen, expected, inputs: (
                        _count(seen, "trainings on the training pairs alone")
                        < _count(seen, "trainings")
                    ),
                    read=MEASURE,
                ),
                Mistake(
                    "measured before training",
                    "Models are measured that have not been trained yet.",
                    when=lambda seen, expected, inputs: (
                        _count(seen, "measures after training")
                        < _count(seen, "measures")
                    ),
                    read=MEASURE,
                ),
                Mistake(
                    "number of runs",
                    "The number of trainings or of measures is not one for each "
                    "variant and seed.",
                    when=lambda seen, expected, inputs: (
                        _count(seen, "trainings") != _count(expected, "trainings")
                        or _count(seen, "measures") != _count(expected, "measures")
                    ),
                    read=SEEDS,
                ),
            ),
        ),
        Check(
            "each seed starts afresh, from the same weights for all variants",
            1,
            tolerance=1e-9,  # a model that was not trained differs in the last digit
            inputs=_drawn,
            tensors=False,
            ask=_starts,
            expected=_starts_expected,
            mistakes=(
                Mistake(
                    "no list of measures",
                    "Each name should lead to a list: the measures of each seed, in "
                    "the order of the seeds.",
                    when=lambda seen, expected, inputs: seen["results"].kind == "text",
                ),
                Mistake(
                    "one model for all seeds",
                    "The model is made once for all seeds. They start from the same "
                    "weights, or later ones from trained weights: they are no repeats.",
                    when=lambda seen, expected, inputs: (
                        seen["first weights"].shape[-1] < len(inputs["seeds"])
                    ),
                    read=SEEDS,
                ),
                Mistake(
                    "seeded after the model is made",
                    "The initial weights are those that the seed of the run *before* "
                    "gives: the seed is set after the weights have been drawn.",
                    when=lambda seen, expected, inputs: seeded_late(seen, expected),
                    read=SEEDS,
                ),
                Mistake(
                    "seeds counted",
                    "The initial weights are those of the seeds 0, 1, 2, … and not of "
                    "the seeds that are in the list.",
                    when=lambda seen, expected, inputs: seeds_counted(seen, inputs),
                    read=SEEDS,
                ),
                Mistake(
                    "another seed for each variant",
                    "The place of the variant is added to the seed, so that variants "
                    "of one seed start from different weights. What differs between "
                    "them is then not the score alone.",
                    when=lambda seen, expected, inputs: moved_by_variant(seen, inputs),
                    read=SEEDS,
                ),
                Mistake(
                    "never seeded",
                    "The initial weights are not those that the seeds give, for no "
                    "model. When is the seed set, and to which number?",
                    when=lambda seen, expected, inputs: unseeded(seen, expected),
                    read=SEEDS,
                ),
                Mistake(
                    "seeded once",
                    "The seed is set once, and all models draw from one stream. The "
                    "variants of one seed start from different weights, and leaving "
                    "one variant out changes the results of those after it.",
                    when=lambda seen, expected, inputs: differ_within_seeds(seen),
                    read=SEEDS,
                ),
                Mistake(
                    "the same order of pairs",
                    "`fit` gets the same seed each time, so the training pairs come in "
                    "the same order in every run. It needs the seed of the run.",
                    when=lambda seen, expected, inputs: bool(
                        (
                            seen["first weights"].values
                            == expected["first weights"].values
                        ).all()
                        and (
                            seen["seeds of fit"].values
                            != expected["seeds of fit"].values
                        ).any()
                    ),
                    read=SEEDS,
                ),
            ),
        ),
    ),
)
