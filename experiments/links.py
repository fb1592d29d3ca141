"""Questions that need a pronoun, and supervised attention on its link to the name."""

import torch

from attncourse.data.batching import length_batches
from attncourse.data.passages import ENIAC_NAMES, QAExample, reading_passages
from attncourse.training.applications import PRONOUNS, named_last, reading_tensors


def counterexamples(n, seed=0):
    """Draw passages and keep the questions that "the person named last" gets wrong.

    They are "who" and "what" questions whose answer needs a pronoun that does not mean
    the person named last before it. After each "what", the same is asked about that
    other person, if the passage does not say.
    """
    passages = reading_passages(n, seed, extra=ENIAC_NAMES, pronouns=0.7, min_facts=3)
    found = []
    for passage in passages:
        said = {q.tokens for q in passage.questions if q.answer}
        for q in passage.questions:
            example = QAExample(passage.tokens, q.tokens, q.kind, q.answer, q.reference)
            other = named_last(example)
            if q.kind not in ("who", "what") or other is None:
                continue
            found.append(example)
            asked = ("what", "did", *other, *q.tokens[-2:])
            if q.kind == "what" and asked not in said:
                found.append(QAExample(passage.tokens, asked, "what", None, None))
    return found


def linked_batches(examples, vocabulary, *, size=32, seed=0):
    """Return ``batch_of(step)`` as `reading_batches` does, with the links to supervise.

    Its batches have two more tensors, int64, ``(batch,)``: where in the context the
    name begins, and where the "he" or "she" stands that means it; both −1 where the
    answer needs none.
    """
    links = []
    for example in examples:
        pronoun, name = example.reference or (-1, -1)
        needed = pronoun >= 0 and example.context[pronoun] in PRONOUNS
        links.append((name, pronoun) if needed else (-1, -1))
    batches = length_batches([len(e.context) for e in examples], size, seed)

    def batch_of(step):
        chosen = batches[step % len(batches)]
        names, pronouns = torch.tensor([links[i] for i in chosen]).unbind(1)
        tensors = reading_tensors([examples[i] for i in chosen], vocabulary)
        return *tensors, names, pronouns

    return batch_of


def link_loss(weights, names, pronouns):
    """Return how far two heads are from linking the names and the pronouns.

    Head 0 is to look from a name to the pronoun that means it, head 1 back from there.
    The weights are ``(batch, heads, tokens, tokens)``; the loss is minus the logarithm
    of both, summed and divided by the number of examples in the batch.
    """
    rows = torch.nonzero(names >= 0)[:, 0]
    name, pronoun = names[rows], pronouns[rows]
    there, back = weights[rows, 0, name, pronoun], weights[rows, 1, pronoun, name]
    return -(torch.log(there + 1e-6) + torch.log(back + 1e-6)).sum() / len(names)
