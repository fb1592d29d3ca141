"""The last check of task 5.6: from which length on the one is faster."""

from attncourse.exercises.efficient.oracle import CHAPTER, size
from attncourse.exercises.task import Check, Mistake

PAYS = f"{CHAPTER}#from-which-length-does-it-pay"
LENGTHS = [128, 256, 512, 1024, 2048]


def _races(generator):
    """Draw times of one rival, and of ours in several races against it."""
    theirs = [float(size(generator, 3, 5) * 2**i) for i in range(5)]
    ahead_from = size(generator, 2, 4)
    lucky = size(generator, 0, ahead_from - 2)

    def race(from_place, luck=None):
        ours = [t * (0.5 if i >= from_place else 1.5) for i, t in enumerate(theirs)]
        if luck is not None:
            ours[luck] = theirs[luck] * 0.75
            ours[from_place - 1] = theirs[from_place - 1]  # just as fast is not faster
        return ours

    return {
        "lengths": LENGTHS,
        "theirs": theirs,
        "ours": {
            "ahead at last": race(ahead_from, lucky),
            "ahead now and then": race(5, lucky + 1),
            "ahead from the first": race(0),
            "never ahead": race(5),
        },
    }


def _run(crossover):
    """Return what a function says of all races."""

    def ask(lengths, theirs, ours):
        return {name: crossover(lengths, times, theirs) for name, times in ours.items()}

    return ask


def first_ahead_for_good(lengths, ours, theirs):
    """Return the length from which on ours is faster, or None."""
    return _reading(lambda a, b, i: _wins(a[i:], b[i:]))(lengths, ours, theirs)


def _wins(ours, theirs):
    return all(a < b for a, b in zip(ours, theirs, strict=True))


def _reading(rule, *, last=False):
    """Return an answer: the first or last length that ``rule(ours, theirs, place)``."""

    def answer(lengths, ours, theirs):
        found = [n for i, n in enumerate(lengths) if rule(ours, theirs, i)]
        return found[-last] if found else None

    return answer


def _sums_so_far(lengths, ours, theirs):
    found = None
    for place, length in enumerate(lengths, 1):
        ahead = sum(ours[:place]) < sum(theirs[:place])
        found = (found or length) if ahead else None
    return found


def _longest_run(lengths, ours, theirs):
    runs, start = {}, None
    for n, our, their in zip(lengths, ours, theirs, strict=True):
        start = (start or n) if our < their else None
        if start:
            runs[start] = runs.get(start, 0) + 1
    return max(runs, key=runs.get) if runs else None


def _exchanged(answer):
    return lambda lengths, ours, theirs: answer(lengths, theirs, ours)


def _place(lengths, ours, theirs):
    found = first_ahead_for_good(lengths, ours, theirs)
    return None if found is None else lengths.index(found)


def _one_early(lengths, ours, theirs):
    found = first_ahead_for_good(lengths, ours, theirs)
    return None if found is None else lengths[lengths.index(found) - 1]


READINGS = (
    (
        "the first time ahead",
        "This is the first length at which ours is faster. At a longer one it is "
        "slower again: the first was luck.",
        _reading(lambda a, b, i: a[i] < b[i]),
    ),
    (
        "the longest run of wins",
        "This is where the longest run of wins begins, whether it lasts to the end or "
        "not. Ours has to be faster at *all* longer lengths.",
        _longest_run,
    ),
    (
        "the place in place of the length",
        "This is the place in the list. The number of tokens is asked for.",
        _place,
    ),
    (
        "ours and theirs exchanged",
        "The smaller time is the faster one.",
        _exchanged(first_ahead_for_good),
    ),
    (
        "the first time ahead",
        "The smaller time is the faster one, and one win is not enough.",
        _exchanged(_reading(lambda a, b, i: a[i] < b[i])),
    ),
    (
        "one length too early",
        "At the length that is returned ours is not the faster one yet.",
        _one_early,
    ),
    (
        "equal counts as faster",
        "Where both take the same time, ours is not the *faster* one.",
        _reading(lambda a, b, i: not _exchanged(_any_win)(LENGTHS, a[i:], b[i:])),
    ),
    (
        "the last win",
        "This is the longest length at which ours is faster. The *smallest* is asked "
        "for from which on it always is.",
        _reading(lambda a, b, i: a[i] < b[i], last=True),
    ),
    (
        "the last loss",
        "This is the longest length at which ours is slower. The crossover comes after "
        "it, and where ours never loses it is the first length.",
        _reading(lambda a, b, i: a[i] > b[i], last=True),
    ),
    (
        "the last loss",
        "This is the longest length at which ours is not faster. The crossover comes "
        "after it, and where ours never loses it is the first length.",
        _reading(lambda a, b, i: a[i] >= b[i], last=True),
    ),
    (
        "sums compared",
        "The times from a length on are added up and compared. A large lead at one "
        "length then hides a loss at another; each length is to be won.",
        _reading(lambda a, b, i: sum(a[i:]) < sum(b[i:])),
    ),
    (
        "sums compared",
        "The times up to a length are added up and compared. Short lengths say nothing "
        "about longer ones; each length from the crossover on is to be won.",
        _sums_so_far,
    ),
    (
        "the next length only",
        "Ours wins at the length that is returned and at the one after it. It has to "
        "win at *all* longer ones.",
        _reading(lambda a, b, i: _wins(a[i : i + 2], b[i : i + 2])),
    ),
    (
        "the best length",
        "This is the length with the largest lead. The smallest is asked for from "
        "which on ours is always ahead.",
        lambda lengths, ours, theirs: max(
            zip(lengths, ours, theirs, strict=True), key=lambda row: row[2] - row[1]
        )[0],
    ),
    (
        "every length to be won",
        "A length comes back only where ours wins at all lengths. The crossover may "
        "lie in between: what counts is what comes after it.",
        _reading(lambda a, b, i: i == 0 and _wins(a, b)),
    ),
)


def _any_win(lengths, ours, theirs):
    return any(a < b for a, b in zip(ours, theirs, strict=False))


def _of_wrong(test):
    """Say whether ``test(found, right, lead)`` is true of all that is wrong.

    `found` and `right` are lengths or None, `lead` is by how much ours is ahead there.
    """

    def when(seen, expected, inputs):
        tests = []
        for name, times in inputs["ours"].items():
            found, right = (
                int(part[name].values[0]) if part[name].values.size else None
                for part in (seen, expected)
            )
            if found != right:
                place = LENGTHS.index(found) if found in LENGTHS else None
                lead = None if place is None else inputs["theirs"][place] - times[place]
                tests.append(test(found, right, lead))
        return bool(tests) and all(tests)

    return when


CROSSOVER = Check(
    "the crossover: the length from which on ours is always the faster",
    0.5,
    inputs=_races,
    ask=lambda time_in_turns, crossover, **races: _run(crossover)(**races),
    expected=_run(first_ahead_for_good),
    mistakes=(
        *(
            Mistake(name, says, wrong=_run(wrong), read=PAYS)
            for name, says, wrong in READINGS
        ),
        Mistake(
            "no answer where there is no crossover",
            "Where ours is not the faster one at the end, there is no crossover, and "
            "None should come back.",
            when=_of_wrong(lambda found, right, lead: right is None),
            read=PAYS,
        ),
        Mistake(
            "None where there is a crossover",
            "None comes back where ours is always ahead from some length on. The first "
            "length may be the one, and luck before it does not matter.",
            when=_of_wrong(lambda found, right, lead: found is None),
            read=PAYS,
        ),
        Mistake(
            "one win is enough",
            "At the length that is returned ours is faster, and at a longer one it is "
            "not. One lucky win does not count.",
            when=_of_wrong(
                lambda found, right, lead: (
                    lead is not None and lead > 0 and (right is None or found < right)
                )
            ),
            read=PAYS,
        ),
        Mistake(
            "no length of the race",
            "What is returned is none of the `lengths`. One of them is asked for, or "
            "None.",
            when=_of_wrong(
                lambda found, right, lead: found is not None and lead is None
            ),
            read=PAYS,
        ),
        Mistake(
            "a length at which ours is not faster",
            "At the length that is returned ours is not the faster one.",
            when=_of_wrong(lambda found, right, lead: lead is not None and lead <= 0),
            read=PAYS,
        ),
        Mistake(
            "too late a length",
            "Ours is always the faster one from a shorter length on already. Where it "
            "never loses, that is the first.",
            when=_of_wrong(
                lambda found, right, lead: right is not None and (found or 1e9) > right
            ),
            read=PAYS,
        ),
        Mistake(
            "lengths read in another way",
            "In some races the length is one at which ours loses afterwards, in others "
            "one from which on it has long been ahead. Walk from the longest length "
            "to the shortest, as long as ours is faster.",
            when=_of_wrong(lambda found, right, lead: True),
            read=PAYS,
        ),
    ),
)
