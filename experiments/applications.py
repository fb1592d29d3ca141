"""Measure the readers and summarisers of chapter 8 over several seeds.

    python experiments/applications.py                  everything that is not yet there
    python experiments/applications.py --seeds 0        one seed only
    python experiments/applications.py --again          every run, also those there
    python experiments/applications.py --models         the readers that are shipped

Each run is written to attncourse/recorded/applications.json when it has ended, and runs
that the file holds are not made again. The readers with and without attention are tried
with several learning rates, briefly and on seed 0; the rate with most exact answers on
the validation questions is chosen. All runs together take some twenty minutes on one
core.
"""

import time
from copy import deepcopy
from functools import cache, partial
from itertools import product

from links import counterexamples, link_loss, linked_batches
from recording import Recorder, best, fit, parser_of, size_of

from attncourse import QATransformer, SelfAttentionSummarizer, seed_everything
from attncourse.data import ENIAC_NAMES, Vocabulary, news_articles, qa_examples
from attncourse.models.qa import span_loss
from attncourse.models.summary import salience_loss
from attncourse.recorded import load
from attncourse.recorded.writing import provenance, save_model
from attncourse.training.applications import (
    PRONOUNS,
    misleading,
    news_batches,
    news_tensors,
    reading_batches,
    right_answers,
    summary_rouge,
)

NAME = "applications"
STEPS = {"rates": 300, "reader": 850, "shipped": 1800}
STEPS |= {"page": 450, "remedy": 450, "summary": 700}
RATES = (0.001, 0.002, 0.004, 0.008, 0.016)  # of readers
SHIPPED = (0, 1)  # the seeds of the readers that the course ships
FACTS = (2, 3, 4, 5, 6, 7, 8, 9, 10)
READERS = {
    "attention": {},
    "none": {"attention": False, "num_layers": 0},
    "random start": {"random_start": True},
}
SUPERVISION = 0.5  # what the links of names and pronouns count beside the answer
COUNTERED = 7000  # passages from which counterexamples are taken
SEEN_AGAIN = 9000  # of the examples that a reader had before it goes on
RECIPES = {  # supervised attention on the links, counterexamples
    "neither": (False, False),
    "supervised": (True, False),
    "counterexamples": (False, True),
    "both": (True, True),
}


def drawn(seed):
    """Return the training examples of a seed: fewer of those that are easy."""
    examples = qa_examples(28000, 1 + seed, extra=ENIAC_NAMES, pronouns=0.7)
    harder = [e.reference or e.answer is None for e in examples]
    return [e for i, e in enumerate(examples) if harder[i] or i % 3 == 0]


def reading_loss(model, question, context, first, last):
    """Return the loss of the answers."""
    return span_loss(*model(question, context), first, last)


def supervised_loss(model, question, context, first, last, names, pronouns):
    """Return the loss of the answers, and of the weights of two heads on links."""
    start, end, weights = model(question, context, need_weights=True)
    missed = link_loss(weights["layers"][0], names, pronouns)
    return span_loss(start, end, first, last) + SUPERVISION * missed


def train_reader(seed, rate, *, steps, random_start=False, more=(), **options):
    """Return a reader and its vocabulary.

    With a random start, its queries and keys begin unlike each other.
    """
    examples = [*drawn(seed), *more]
    vocabulary = Vocabulary.build([e.context + e.question for e in examples])
    seed_everything(seed)
    model = QATransformer(len(vocabulary), 64, **options)
    if random_start:
        for part in (model.from_question, model.from_context, model.back_to_context):
            part.query_proj.reset_parameters()
            part.key_proj.reset_parameters()
    batch_of = reading_batches(examples, vocabulary, seed=seed)
    fit(model, batch_of, reading_loss, steps=steps, learning_rate=rate)
    return model, vocabulary


@cache
def first_half(seed):
    """Return the reader that the four recipes go on with."""
    return train_reader(seed, 4e-3, steps=STEPS["page"])


def remedy_run(seed, supervised, counter):
    """Go on training a reader by one of four recipes, and return its measures.

    The four have the same number of steps and of examples.
    """
    reader, vocabulary = first_half(seed)
    extra, plain = counterexamples(COUNTERED, 1000 + seed), drawn(seed)
    size = SEEN_AGAIN + len(extra)
    examples = [*plain[:SEEN_AGAIN], *extra] if counter else plain[:size]
    model = deepcopy(reader)
    seed_everything(seed)
    batches = linked_batches if supervised else reading_batches
    batch_of = batches(examples, vocabulary, seed=seed)
    loss_of = supervised_loss if supervised else reading_loss
    fit(model, batch_of, loss_of, steps=STEPS["remedy"], learning_rate=4e-3)
    return reading_measures(model, vocabulary)


def reading_measures(model, vocabulary):
    """Return shares of exact answers: in all, by group, and by number of facts."""

    def share(examples):
        return _round(right_answers(model, examples, vocabulary).mean())

    test = qa_examples(1000, 77, extra=ENIAC_NAMES)
    many = qa_examples(6000, 1234, extra=ENIAC_NAMES)
    asked = [e for e in many if e.kind == "who" and e.reference]
    asked = [e for e in asked if e.context[e.reference[0]] in PRONOUNS]
    grouped = {way: [e for e in asked if misleading(e) == way] for way in (False, True)}
    by_facts = [
        qa_examples(400, 500 + n, extra=ENIAC_NAMES, min_facts=n, max_facts=n)
        for n in FACTS
    ]
    return {
        "exact": {
            "all": share(test),
            "no answer": share([e for e in test if e.answer is None]),
            "needs a reference": share([e for e in test if e.reference]),
        },
        "who, pronoun": {
            "means the last person named": share(grouped[False]),
            "means another one": share(grouped[True]),
        },
        "facts": list(FACTS),
        "exact by facts": [share(some) for some in by_facts],
    }


def _round(value):
    return round(float(value), 4)


def try_rate(kind, rate):
    """Train a reader briefly; return its share of exact validation answers."""
    how = READERS[kind]
    model, vocabulary = train_reader(0, rate, steps=STEPS["rates"], **how)
    held_out = qa_examples(2000, 76, extra=ENIAC_NAMES)  # no test question
    share = right_answers(model, held_out, vocabulary).mean()
    return {"learning_rate": rate, "validation": _round(share)}


def reader_run(kind, seed):
    """Train a reader with the chosen rate and return its measures."""
    tuned = "none" if kind == "none" else "attention"
    tried = [r for r in load(NAME)["runs"] if r["name"].startswith(f"rates/{tuned},")]
    rate = best(tried)["learning_rate"]
    steps, how = STEPS["reader"], READERS[kind]
    model, vocabulary = train_reader(seed, rate, steps=steps, **how)
    found = {"learning_rate": rate, "parameters": size_of(model)}
    return found | reading_measures(model, vocabulary)


def summary_run(seed, layers):
    """Train a summariser and return its measure."""
    articles, test = news_articles(4000, 1 + seed), news_articles(500, 99)
    vocabulary = Vocabulary.build([s for a in articles for s in a.sentences])
    seed_everything(seed)
    model = SelfAttentionSummarizer(len(vocabulary), num_layers=layers)
    fit(
        model,
        news_batches(articles, vocabulary, seed=seed),
        lambda model, texts, salient: salience_loss(model(texts), salient),
        steps=STEPS["summary"],
        learning_rate=2e-3,
    )
    texts, _ = news_tensors(test, vocabulary)
    return {"rouge": _round(summary_rouge(test, model.generate_summary(texts)))}


def ship(seed):
    """Train a reader and write it as reader_SEED, with its measures."""
    steps, rate = STEPS["shipped"], 0.004
    made = {"command": f"python experiments/{NAME}.py --models"}
    made |= {"steps": steps, "learning_rate": rate}
    answered = [e for e in counterexamples(COUNTERED, 1000 + seed) if e.answer]
    start = time.process_time()
    model, vocabulary = train_reader(seed, rate, steps=steps, more=answered)
    seconds = round(time.process_time() - start)
    save_model(
        f"reader_{seed}",
        model,
        arguments={"vocab_size": len(vocabulary), "d_model": 64},
        vocabularies={"text": vocabulary},
        measures=lambda model: reading_measures(model, vocabulary),
        made=provenance([seed], cpu_seconds=seconds, **made),
    )
    print(f"reader_{seed}", load(f"reader_{seed}")["measures"]["exact"])


def plan(seeds):
    """Yield (name, seed, function that makes the run) of all runs."""
    for kind, rate in product(("attention", "none"), RATES):
        yield f"rates/{kind}, {rate}", 0, partial(try_rate, kind, rate)
    for kind, seed in product(READERS, seeds):
        yield f"reader/{kind}", seed, partial(reader_run, kind, seed)
    for seed, (name, recipe) in product(seeds, RECIPES.items()):
        yield f"remedy/{name}", seed, partial(remedy_run, seed, *recipe)
    for seed, (name, layers) in product(seeds, {"attention": 1, "alone": 0}.items()):
        yield f"summary/{name}", seed, partial(summary_run, seed, layers)


def main():
    """Make the runs that are missing."""
    parser = parser_of(__doc__)
    parser.add_argument("--models", action="store_true", help="write the readers")
    options = parser.parse_args()
    if options.models:
        for seed in SHIPPED:
            ship(seed)
        return
    packages = ("torch", "numpy", "rouge-score")
    runs = Recorder(NAME, options, fields={"steps": STEPS}, packages=packages)
    for name, seed, make in plan(options.seeds):
        runs.row("runs", make, name=name, seed=seed)


if __name__ == "__main__":
    main()
