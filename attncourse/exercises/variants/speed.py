"""Task speed: time as a ratio, measured side by side."""

from __future__ import annotations

import torch

from attncourse.exercises.task import Check, Task
from attncourse.exercises.variants.machine import Machine, calls_of
from attncourse.exercises.variants.speed_mistakes import MISTAKES, expected


def _costs(generator):
    drawn = (0.5 + 3 * torch.rand(3, generator=generator)).tolist()
    names = ("dot", "additive", "concat")
    costs = {name: round(cost, 2) for name, cost in zip(names, drawn, strict=True)}
    return {
        "costs": costs,
        "rounds": torch.randint(4, 7, (), generator=generator).item(),
    }


def _quiet(generator):
    drawn = _costs(generator)
    return {**drawn, "busy": [1.0] * (drawn["rounds"] + 1)}


def _busy(generator):
    drawn = _costs(generator)
    factors = 1 + 4 * torch.rand(drawn["rounds"], generator=generator)
    factors = [1.0, *sorted(round(f, 2) for f in factors.tolist())]
    return {**drawn, "busy": factors}


def _interrupted(generator):
    drawn = _quiet(generator)
    # An even number, so that whoever measures each second call meets one break only.
    rounds = drawn["rounds"] + drawn["rounds"] % 2
    # The first and the last round have the bounds: none of them can be left out.
    first = torch.randint(2, (), generator=generator).item()
    names = ("concat", "dot") if first else ("dot", "concat")
    return {
        **drawn,
        "rounds": rounds,
        # One of the first function makes ratios smaller, one of another larger.
        "breaks": {(names[0], 1): 20.0, (names[1], rounds): 20.0},
    }


def _ask(compare_speed, costs, rounds, busy, breaks=None):
    machine = Machine(costs, busy, breaks, rounds)
    found = compare_speed(machine.steps(), rounds, machine.clock)
    if not machine.was_read:
        raise ValueError("the clock was not read")
    return {name: list(found[name]) for name in costs} | calls_of(machine, rounds)


SPEED = Task(
    name="speed",
    title="How long does a step take?",
    names=("compare_speed",),
    difficulty="medium",
    minutes=10,
    checks=(
        Check(
            "ratios to the first function, without the first call",
            0.5,
            inputs=_quiet,
            tensors=False,
            ask=_ask,
            expected=expected,
            mistakes=MISTAKES,
            digits=3,
        ),
        Check(
            "a machine that gets slower does not change the ratios",
            1,
            inputs=_busy,
            tensors=False,
            ask=_ask,
            expected=expected,
            mistakes=MISTAKES,
            digits=3,
        ),
        Check(
            "single interruptions do not change the middle",
            0.5,
            inputs=_interrupted,
            tensors=False,
            ask=_ask,
            expected=expected,
            mistakes=MISTAKES,
            digits=3,
        ),
    ),
)
