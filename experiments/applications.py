"""Measure the readers and summarisers of chapter 8 over several seeds.

    python experiments/applications.py                  everything that is not yet there
    python experiments/applications.py --seeds 0        one seed only
    python experiments/applications.py --only reader    one group only
    python experiments/applications.py --again          every run, also those there
    python experiments/applications.py --models         the readers that are shipped

Each run is written to attncourse/recorded/applications.json when it has ended, and runs
that the file holds are not made again. The reader without attention is tried with
several learning rates, each on seed 0, and its best one is taken to the other seeds.
All runs together take some twenty minutes on one core.
"""

import argparse
import time
from copy import deepcopy
from functools import cache

import numpy as np
import torch
from links import counterexamples, link_loss, linked_batches

from attncourse import QATransformer, SelfAttentionSummarizer, seed_everything
from attncourse.data import (
    ENIAC_NAMES,
    Vocabulary,
    news_articles,
    qa_examples,
)
from attncourse.data.facts import MONTHS
from attncourse.models.qa import span_loss
from attncourse.models.summary import salience_loss
from attncourse.recorded import load, load_model
from attncourse.recorded.writing import provenance, save, save_model
from attncourse.training import train
from attncourse.training.applications import (
    PRONOUNS,
    misleading,
    news_batches,
    news_tensors,
    reading_batches,
    reading_tensors,
    right_answers,
    summary_rouge,
)
from attncourse.training.probing import cut, marks, weight_share

NAME = "applications"
STEPS = {"reader": 850, "shipped": 1800, "page": 450, "mending": 450, "summary": 700}
RATES = (0.001, 0.002, 0.004, 0.008)  # for the reader without attention, on seed 0
SHIPPED = (0, 1)  # the seeds of the readers that the course ships
FACTS = (2, 3, 4, 5, 6, 7, 8, 9, 10)
PLAIN = {"attention": False, "num_layers": 0}
RANDOM = {"random_start": True}  # queries and keys start unlike each other
TOLD = 0.5  # what the links of names and pronouns count beside the answer
COUNTERED = 7000  # passages from which counterexamples are taken
SEEN_AGAIN = 9000  # of the examples that a reader had before it goes on
RECIPES = {  # told which links there are, shown counterexamples
    "neither": (False, False),
    "told": (True, False),
    "counterexamples": (False, True),
    "both": (True, True),
}


def drawn(seed):
    """Return the training examples of a seed: fewer of those that are easy."""
    examples = qa_examples(28000, 1 + seed, extra=ENIAC_NAMES, pronouns=0.7)
    return [
        e
        for i, e in enumerate(examples)
        if e.reference or e.answer is None or i % 3 == 0
    ]


def reading_loss(model, question, context, first, last):
    """Return the loss of the answers."""
    return span_loss(*model(question, context), first, last)


def told_loss(model, question, context, first, last, names, pronouns):
    """Return the loss of the answers, and of the links that two heads are told."""
    start, end, weights = model(question, context, need_weights=True)
    missed = link_loss(weights["layers"][0], names, pronouns)
    return span_loss(start, end, first, last) + TOLD * missed


def train_reader(
    seed,
    rate,
    *,
    random_start=False,
    more=(),
    steps=STEPS["reader"],
    progress=False,
    **options,
):
    """Return a reader, its vocabulary and the CPU seconds of its training."""
    examples = [*drawn(seed), *more]
    vocabulary = Vocabulary.build([e.context + e.question for e in examples])
    seed_everything(seed)
    model = QATransformer(len(vocabulary), 64, **options)
    for part in (
        ("from_question", "from_context", "back_to_context") if random_start else ()
    ):
        for linear in (getattr(model, part).query_proj, getattr(model, part).key_proj):
            linear.reset_parameters()
    start = time.process_time()
    train(
        model,
        reading_batches(examples, vocabulary, seed=seed),
        reading_loss,
        steps=steps,
        learning_rate=rate,
        device="cpu",
        progress=progress,
    )
    return model, vocabulary, time.process_time() - start


@cache
def first_half(seed):
    """Return the reader that the four recipes go on with."""
    return train_reader(seed, 4e-3, steps=STEPS["page"])


def mend_run(seed, *, told, counter):
    """Go on training a reader by one of four recipes, and return its measures.

    The four have the same number of steps and of examples.
    """
    reader, vocabulary, seconds = first_half(seed)
    extra, plain = counterexamples(COUNTERED, 1000 + seed), drawn(seed)
    size = SEEN_AGAIN + len(extra)
    examples = [*plain[:SEEN_AGAIN], *extra] if counter else plain[:size]
    model = deepcopy(reader)
    seed_everything(seed)
    batches = linked_batches if told else reading_batches
    start = time.process_time()
    train(
        model,
        batches(examples, vocabulary, seed=seed),
        told_loss if told else reading_loss,
        steps=STEPS["mending"],
        learning_rate=4e-3,
        device="cpu",
        progress=False,
    )
    seconds += time.process_time() - start
    return reading_measures(model, vocabulary), seconds


def reading_measures(model, vocabulary):
    """Return shares of exact answers: in all, by group, and by number of facts."""
    test = qa_examples(1000, 77, extra=ENIAC_NAMES)
    right = right_answers(model, test, vocabulary)
    groups = {
        "all": [True for e in test],
        "no answer": [e.answer is None for e in test],
        "needs a reference": [e.reference is not None for e in test],
    }
    many = qa_examples(6000, 1234, extra=ENIAC_NAMES)
    asked = [e for e in many if e.kind == "who" and e.reference]
    asked = [e for e in asked if e.context[e.reference[0]] in PRONOUNS]
    last_named = {
        name: _round(right_answers(model, some, vocabulary).mean())
        for name, some in (
            ("means the last person named", [e for e in asked if not misleading(e)]),
            ("means another one", [e for e in asked if misleading(e)]),
        )
    }
    by_facts = []
    for facts in FACTS:
        bounds = {"min_facts": facts, "max_facts": facts}
        some = qa_examples(400, 500 + facts, extra=ENIAC_NAMES, **bounds)
        by_facts.append(_round(right_answers(model, some, vocabulary).mean()))
    return {
        "exact": {name: _round(right[which].mean()) for name, which in groups.items()},
        "who, pronoun": last_named,
        "facts": list(FACTS),
        "exact by facts": by_facts,
    }


def probes(model, vocabulary):
    """Return where words look, per head, and what happens if they may not."""
    test = qa_examples(1500, 99, extra=ENIAC_NAMES)
    when = [e for e in test if e.kind == "when" and e.answer]
    question, context, *_ = reading_tensors(when, vocabulary)
    with torch.no_grad():
        start, _, weights = model(question, context, need_weights=True)
    width = context.shape[1]
    dates = marks([[*_dates(e)] for e in when], width)
    others = marks([range(len(e.context)) for e in when], width) & ~dates
    asked = question != 0
    word = marks([[0]] * len(when), question.shape[1])
    second = marks([[1]] * len(when), question.shape[1])
    pointer = start.softmax(-1)[:, None, None, 1:]
    found = {
        "dates among words": (dates.sum() / (dates | others).sum()).item(),
        "question to dates": weight_share(weights["from_context"], asked, dates),
        "when to dates": weight_share(weights["from_context"], word, dates),
        "dates to when": weight_share(weights["from_question"], dates, word),
        "others to when": weight_share(weights["from_question"], others, word),
        "pointer to dates": weight_share(pointer, word[:, :1], dates).item(),
    }
    found["exact"] = _exact(model, when, vocabulary)
    with cut(model.from_context, dates):
        found["exact, dates hidden from question"] = _exact(model, when, vocabulary)
    for name, hidden in (("when", word), ("the next word", second)):
        with cut(model.from_question, hidden), cut(model.back_to_context, hidden):
            found[f"exact, {name} hidden"] = _exact(model, when, vocabulary)
    return {"when": _listed(found), "who": _listed(_who(model, test, vocabulary))}


def _who(model, test, vocabulary):
    asked = [e for e in test if e.reference and e.context[e.reference[0]] != "the"]
    found = {}
    for kind in ("who", "what", "when", "where"):
        some = [e for e in asked if e.kind == kind]
        question, context, *_ = reading_tensors(some, vocabulary)
        with torch.no_grad():
            weights = model(question, context, need_weights=True)[2]["layers"][0]
        width = context.shape[1]
        names = marks([[e.reference[1]] for e in some], width)
        pronouns = marks([[e.reference[0]] for e in some], width)
        found[f"{kind}: name to pronoun"] = weight_share(weights, names, pronouns)
        found[f"{kind}: pronoun to name"] = weight_share(weights, pronouns, names)
    who = [e for e in asked if e.kind == "who"]
    places = reading_tensors(who, vocabulary)[1].shape[1]
    first, second = (
        marks([_sentence(e, e.reference[side]) for e in who], places) for side in (0, 1)
    )
    name = marks([range(e.answer[0], e.answer[1] + 1) for e in who], places)
    pronoun = marks([[e.reference[0]] for e in who], places)
    rest = marks([range(len(e.context)) for e in who], places) & ~first & ~second
    found["exact"] = _exact(model, who, vocabulary)
    cuts = {
        "link": (name, pronoun),
        "sentences": (first, second),
        "others": (first, rest),
    }
    for label, (one, two) in cuts.items():
        with cut(model.layers[0], _between(one, two)):
            found[f"exact, {label} cut"] = _exact(model, who, vocabulary)
    found["questions"] = len(who)
    return found


def _dates(example):
    return [i for i, w in enumerate(example.context) if w.isdigit() or w in MONTHS]


def _sentence(example, place):
    """Return the places of the sentence that holds `place`."""
    ends = [i for i, word in enumerate(example.context) if word == "."]
    last = min(end for end in ends if end >= place)
    return range(max([end for end in ends if end < place], default=-1) + 1, last + 1)


def _between(one, two):
    pairs = one[:, :, None] & two[:, None, :]
    return pairs | pairs.transpose(1, 2)


def _exact(model, examples, vocabulary):
    # One batch: the tables of hidden places belong to its rows.
    question, context, *_ = reading_tensors(examples, vocabulary)
    spans = model.predict_answer(question, context)
    pairs = zip(spans, examples, strict=True)
    return _round(np.mean([span == example.answer for span, example in pairs]))


def _listed(found):
    return {
        name: [_round(v) for v in value.tolist()]
        if isinstance(value, torch.Tensor)
        else _round(value)
        for name, value in found.items()
    }


def _round(value):
    return round(float(value), 4)


def summary_run(seed, layers):
    """Train a summariser and return its measures."""
    articles, test = news_articles(4000, 1 + seed), news_articles(500, 99)
    vocabulary = Vocabulary.build([s for a in articles for s in a.sentences])
    seed_everything(seed)
    model = SelfAttentionSummarizer(len(vocabulary), num_layers=layers)
    start = time.process_time()
    train(
        model,
        news_batches(articles, vocabulary, seed=seed),
        lambda model, texts, salient: salience_loss(model(texts), salient),
        steps=STEPS["summary"],
        learning_rate=2e-3,
        device="cpu",
        progress=False,
    )
    seconds = time.process_time() - start
    texts, _ = news_tensors(test, vocabulary)
    found = {"rouge": _round(summary_rouge(test, model.generate_summary(texts)))}
    width = texts.shape[1]
    for role in ("background", "aside", "news", "other news") if layers else ():
        hidden = marks(
            [[i for i, r in enumerate(a.roles) if r == role] for a in test], width
        )
        itself = torch.eye(width, dtype=torch.bool)
        with cut(model.layers[0], hidden[:, None, :] & ~itself):
            score = summary_rouge(test, model.generate_summary(texts))
        found[f"rouge, {role} hidden"] = _round(score)
        if role == "background":
            with torch.no_grad():
                weights = model(texts, need_weights=True)[1]["layers"][0]
            news = marks([a.salient for a in test], width)
            share = weight_share(weights, news, hidden)
            found["news to background"] = [_round(v) for v in share]
    return found, seconds


def ship(seed):
    """Train a reader and write it as reader_SEED, with its measures."""
    rate = 0.004
    answered = [e for e in counterexamples(COUNTERED, 1000 + seed) if e.answer]
    model, vocabulary, seconds = train_reader(
        seed,
        rate,
        more=answered,
        steps=STEPS["shipped"],
        progress=True,
    )
    save_model(
        f"reader_{seed}",
        model,
        arguments={"vocab_size": len(vocabulary), "d_model": 64},
        vocabularies={"text": vocabulary},
        measures=lambda model: reading_measures(model, vocabulary),
        made=provenance([seed], cpu_seconds=round(seconds))
        | {"command": "python experiments/applications.py --models"}
        | {"steps": STEPS["shipped"], "learning_rate": rate},
    )


def plan(seeds):
    """Yield (name, seed, function that makes the run)."""
    for seed in seeds:
        yield "reader/attention", seed, lambda s=seed: _reader(s, 4e-3, probe=True)
    for rate in RATES:
        yield f"reader/none, rate {rate}", 0, lambda r=rate: _reader(0, r, **PLAIN)
    for seed in seeds:
        if seed:
            yield "reader/none", seed, lambda s=seed: _reader(s, best_rate(), **PLAIN)
    for seed in seeds:
        yield "reader/random start", seed, lambda s=seed: _reader(s, 4e-3, **RANDOM)
    for seed in seeds:
        for name, (told, counter) in RECIPES.items():
            yield (
                f"mending/{name}",
                seed,
                lambda s=seed, t=told, c=counter: mend_run(s, told=t, counter=c),
            )
    for seed in seeds:
        for layers, label in ((1, "attention"), (0, "alone")):
            yield (
                f"summary/{label}",
                seed,
                lambda s=seed, n=layers: summary_run(s, n),
            )


def best_rate():
    """Return the rate with which the reader without attention did best on seed 0."""
    tried = [r for r in _recorded() if r["name"].startswith("reader/none, rate")]
    best = max(tried, key=lambda run: run["exact"]["all"])
    return float(best["name"].split()[-1])


def _reader(seed, rate, *, probe=False, **options):
    model, vocabulary, seconds = train_reader(seed, rate, **options)
    found = {"learning_rate": rate, **reading_measures(model, vocabulary)}
    if probe:
        found["probes"] = probes(model, vocabulary)
    found["parameters"] = sum(p.numel() for p in model.parameters())
    return found, seconds


def main():
    """Make the runs that are missing."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--only", default="", help="the beginning of a run's name")
    parser.add_argument("--again", action="store_true", help="runs that exist too")
    parser.add_argument("--models", action="store_true", help="write the readers")
    options = parser.parse_args()
    torch.set_num_threads(1)
    if options.models:
        for number, seed in enumerate(SHIPPED, start=1):
            print(f"{number} of {len(SHIPPED)}: reader_{seed}", flush=True)
            ship(seed)
            print("  ", load_model(f"reader_{seed}")[1]["measures"]["exact"])
        return
    there = set() if options.again else {(r["name"], r["seed"]) for r in _recorded()}
    due = [
        (name, seed, make)
        for name, seed, make in plan(options.seeds)
        if name.startswith(options.only) and (name, seed) not in there
    ]
    for number, (name, seed, make) in enumerate(due, start=1):
        print(f"{number} of {len(due)}: {name}, seed {seed}", flush=True)
        found, seconds = make()
        result = {"name": name, "seed": seed, "cpu_seconds": round(seconds, 1), **found}
        print("  ", found.get("exact") or found["rouge"], f"in {seconds:.0f} s")
        _write(
            [r for r in _recorded() if (r["name"], r["seed"]) != (name, seed)]
            + [result]
        )


def _recorded():
    try:
        return load(NAME)["runs"]
    except FileNotFoundError:
        return []


def _write(done):
    done.sort(key=lambda run: (run["name"], run["seed"]))
    made = provenance(
        sorted({run["seed"] for run in done}),
        packages=("torch", "numpy", "rouge-score"),
        cpu_seconds=round(sum(run["cpu_seconds"] for run in done)),
    )
    made["command"] = "python experiments/applications.py"
    save(NAME, {"made": made, "steps": STEPS, "runs": done})


if __name__ == "__main__":
    main()
