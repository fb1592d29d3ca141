"""Task alignment: attention compared with gold word alignments."""

from __future__ import annotations

from functools import partial

from attncourse.exercises.task import Check, Mistake, Task
from attncourse.exercises.variants.maps import padded_maps, plain_maps
from attncourse.training.metrics import alignment_error_rate

ALIGN = "chapters/06_seq2seq#where-does-the-translator-look"


def _own_links(weights, lengths, *, row=None, column=None, shift=0, by_source=False):
    """Return each sentence's links, or what an answer with a mistake takes for them."""
    found = []
    for matrix, (targets, sources) in zip(weights, lengths, strict=True):
        rows = targets if row is None else targets + row
        columns = sources if column is None else sources + column
        matrix = matrix[: max(rows, 0), :columns]
        if by_source:
            best = matrix.argmax(dim=0).tolist()
            found.append({(s, t) for s, t in enumerate(best)})
        else:
            best = matrix.argmax(dim=1).tolist()
            found.append({(s, t + shift) for t, s in enumerate(best)})
    return found


def _error(weights, lengths, gold, *, kind="aer", turned=False, **options):
    ours = _own_links(weights, lengths, **options)
    theirs = [{(t, s) if turned else (s, t) for s, t in links} for links in gold]
    both = [len(a & b) for a, b in zip(ours, theirs, strict=True)]
    found, wanted = [len(a) for a in ours], [len(b) for b in theirs]
    if kind == "precision":
        return 1 - sum(both) / sum(found)
    if kind == "recall":
        return 1 - sum(both) / sum(wanted)
    if kind == "mean":
        each = zip(both, found, wanted, strict=True)
        return sum(1 - 2 * b / (f + w) for b, f, w in each) / len(both)
    if kind == "union":
        return 1 - sum(both) / (sum(found) + sum(wanted) - sum(both))
    if kind in ("first", "last"):
        one = 0 if kind == "first" else -1
        return 1 - 2 * both[one] / (found[one] + wanted[one])
    if kind == "one more":
        found = [links + 1 for links in found]
    if kind == "words":
        wanted = [len({t for _, t in links}) for links in gold]
    if kind == "no brackets":
        return 1 - 2 * sum(both) / sum(found) + sum(wanted)
    if kind == "larger":
        return 1 - sum(both) / max(sum(found), sum(wanted))
    if kind == "smaller":
        return 1 - sum(both) / min(sum(found), sum(wanted))
    twice = 1 if kind == "once" else 2
    return 1 - twice * sum(both) / (sum(found) + sum(wanted))


def _aer(weights, lengths, gold):
    maps = [m[:t, :s].numpy() for m, (t, s) in zip(weights, lengths, strict=True)]
    return alignment_error_rate(maps, gold)


def _of_linked_words(weights, lengths, gold):
    ours = _own_links(weights, lengths)
    ours = [
        {(s, t) for s, t in own if t in {target for _, target in links}}
        for own, links in zip(ours, gold, strict=True)
    ]
    both = sum(len(own & set(g)) for own, g in zip(ours, gold, strict=True))
    return 1 - 2 * both / (sum(map(len, ours)) + sum(map(len, gold)))


def _above(weights, lengths, gold, *, least):
    """Link every pair of words with more than a least weight."""
    own = [
        {(s, t) for t, s in (m[:t, :s] > least(s)).nonzero().tolist()}
        for m, (t, s) in zip(weights, lengths, strict=True)
    ]
    both = sum(len(a & set(g)) for a, g in zip(own, gold, strict=True))
    return 1 - 2 * both / (sum(map(len, own)) + sum(map(len, gold)))


def _misread(name, says, **options):
    return Mistake(
        name, says, wrong=lambda **given: _error(**given, **options), read=ALIGN
    )


PARTIAL = (
    _misread(
        "brackets forgotten",
        "The number of gold links is added at the end and not below the line: a "
        "division comes before a sum. Put the sum in brackets.",
        kind="no brackets",
    ),
    _misread(
        "precision only",
        "This is the share of the model's links that are not gold. A gold link that "
        "the model does not find costs nothing here; in the error rate it does.",
        kind="precision",
    ),
    _misread(
        "recall only",
        "This is the share of the gold links that are not found. A link of the model "
        "that is not gold costs nothing here; in the error rate it does.",
        kind="recall",
    ),
    Mistake(
        "agreement for error",
        "This is the share that agrees. The error rate is what is missing from 1.",
        wrong=lambda **given: 1 - _aer(**given),
        read=ALIGN,
    ),
    _misread(
        "shared links counted once",
        "Even a model that finds all gold links, and no others, has an error here. "
        "Shared links are in both sets, so they count twice.",
        kind="once",
    ),
    Mistake(
        "a percentage for a share",
        "The error rate is asked for as a number from 0 to 1.",
        wrong=lambda **given: 100 * _aer(**given),
        read=ALIGN,
    ),
    Mistake(
        "only linked words",
        "Target words without a gold link are left out. The model links them all the "
        "same, and each of these links is an error.",
        wrong=_of_linked_words,
        read=ALIGN,
    ),
    Mistake(
        "the smallest weight",
        "Each target word is linked with the source word that has its *smallest* "
        "weight.",
        wrong=lambda weights, lengths, gold: _aer(-weights, lengths, gold),
        read=ALIGN,
    ),
    _misread(
        "links turned round",
        "Source and target of the gold links have changed places. A gold link is "
        "(source index, target index); a row of the weights is a target word.",
        turned=True,
    ),
    _misread(
        "row shifted down by one",
        "Each row is taken for the word after it. Row i of the weights belongs to "
        "target word i: it is where the model looks to write that word.",
        shift=1,
    ),
    _misread(
        "row shifted up by one",
        "Each row is taken for the word before it. Row i of the weights belongs to "
        "target word i: it is where the model looks to write that word.",
        shift=-1,
    ),
    _misread(
        "links of the source words",
        "There is one link for each source word, from the largest weight of a column. "
        "It is the target words that look: one link for each row.",
        by_source=True,
    ),
    *(
        Mistake(
            "links above a threshold",
            f"Pairs are linked whose weight is above {what}, so that a target word has "
            "none or several links. Each has one: the source word with its largest "
            "weight.",
            wrong=partial(_above, least=least),
            read=ALIGN,
        )
        for what, least in (
            ("0.5", lambda sources: 0.5),
            ("0.4", lambda sources: 0.4),
            ("0.3", lambda sources: 0.3),
            ("0.25", lambda sources: 0.25),
            ("0.2", lambda sources: 0.2),
            ("0.1", lambda sources: 0.1),
            ("an even share", lambda sources: 1 / sources),
        )
    ),
    _misread(
        "shared links over all links",
        "Each shared link is counted once, above and below the line: this is the share "
        "of all links, of either set, that only one of them has.",
        kind="union",
    ),
    _misread(
        "gold words counted, not gold links",
        "A target word with two gold links has been counted once. |G| is the number of "
        "*links*.",
        kind="words",
    ),
    _misread(
        "a link too many counted",
        "One link more than there are target words is counted for each sentence. The "
        "row of <eos> is no word, and has no link.",
        kind="one more",
    ),
    *(
        _misread(
            "another denominator",
            f"The shared links are divided by the {kind} of the two sets. Both sets "
            "are below the line.",
            kind=kind,
        )
        for kind in ("larger", "smaller")
    ),
)

ALIGNMENT = Task(
    name="alignment",
    title="Where did it look?",
    names=("alignment_error",),
    difficulty="medium",
    minutes=15,
    checks=(
        Check(
            "the links of one sentence are compared with the gold links, both ways",
            1,
            inputs=plain_maps,
            ask=lambda alignment_error, **given: alignment_error(**given),
            expected=_aer,
            mistakes=PARTIAL,
            digits=3,
        ),
        Check(
            "<eos> and padding take no part, and all sentences are counted together",
            1,
            inputs=padded_maps,
            ask=lambda alignment_error, **given: alignment_error(**given),
            expected=_aer,
            mistakes=(
                Mistake(
                    "lengths turned round",
                    "The lengths have changed places: each is (target words, source "
                    "words), and target words are rows.",
                    wrong=lambda weights, lengths, gold: _error(
                        weights, [length[::-1] for length in lengths], gold
                    ),
                    read=ALIGN,
                ),
                _misread(
                    "padding included",
                    "The rows of <eos> and of padding have made links too. Only the "
                    "first rows belong to target words.",
                    row=99,
                ),
                _misread(
                    "padding and <eos> included",
                    "The rows and the columns of <eos> and of padding take part. Only "
                    "the first rows and columns belong to words.",
                    row=99,
                    column=99,
                ),
                _misread(
                    "<eos> included",
                    "The row and the column of <eos> take part. It is no word, and no "
                    "gold link can reach it.",
                    row=1,
                    column=1,
                ),
                _misread(
                    "row of <eos> included",
                    "The row of <eos> has made a link too. It is no word.",
                    row=1,
                ),
                _misread(
                    "column of <eos> included",
                    "Some words are linked to the column of <eos>. Look for the "
                    "largest weight among the words of the source.",
                    column=1,
                ),
                _misread(
                    "columns of padding included",
                    "Some words are linked to columns behind the last source word. "
                    "Look for the largest weight among the words of the source.",
                    column=99,
                ),
                _misread(
                    "mean of sentences",
                    "This is the mean of the error rates of single sentences. That of "
                    "a test set adds up the links of all sentences first.",
                    kind="mean",
                ),
                *(
                    _misread(
                        f"the {which} sentence only",
                        f"Only the {which} sentence is in the result. The sums go on "
                        "from sentence to sentence, and the division comes after all.",
                        kind=which,
                    )
                    for which in ("first", "last")
                ),
                *PARTIAL,
            ),
            digits=3,
        ),
    ),
)
