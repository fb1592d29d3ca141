"""Which blocks each block sees, and what is wrong with that: for tasks 5.3 and 5.4."""

import numpy as np

from attncourse.exercises.efficient.block_says import SAID
from attncourse.exercises.efficient.block_views import (
    BETWEEN,
    EDGES_SECTION,
    PAIRS,
    SPARSE_SECTION,
    pattern,
)
from attncourse.exercises.efficient.views import share_fault
from attncourse.exercises.task import Mistake


def _fault(view, right, rule):
    """Return the name of what is wrong with the blocks that are seen, or None."""
    blocks = len(view)
    extra, lost = view & ~right, right & ~view
    if not (extra.any() or lost.any()):
        return None
    if (view == ~right).all():
        return "inverted"
    if not view.any(-1).all():
        return "blocks that see nothing"
    if view.all():
        return "everything"
    if (view == np.tril(right)).all():
        return "only earlier"
    for name, changes in OTHER_RULES.items():
        other = {k: f(rule) for k, f in changes.items()}
        if min(other.values()) >= 0 and (view == _view(blocks, rule, other)).all():
            return name
    if (view == right[::-1, ::-1]).all():
        return "hubs at the end"
    block = np.arange(blocks)
    if found := [k for k in block if not right[k].all() and view[k].all()]:
        others = block[:, None] != found[-1]
        if not (extra & others & (block != found[-1])).any():
            return "a hub too many"
    apart = np.abs(block[:, None] - block)
    window, stride, hubs = rule["window"], rule["stride"], rule["num_global"]
    hub = (block < hubs)[:, None] | (block < hubs)
    strides = (apart % stride == 0) if stride else np.zeros_like(hub)
    near = apart <= window
    for name, own, others in (
        ("hubs", hub, near | strides),
        ("strides", strides, near | hub),
        ("window", near, strides | hub),
    ):
        if lost.any() and not extra.any() and not (lost & ~own).any():
            gone = not (view & own & ~others & right).any()
            return f"no {name}" if gone else f"some {name} missing"
    if not extra.any():
        return "several missing"
    if not lost.any():
        if (np.diff(view[hubs:].sum(-1)) == 0).all() and (view == view[-1]).all():
            return "all alike"
        return "too many"
    return "other strides" if stride and not hubs else "other blocks"


# Rules that are right for other numbers, by the name of what is said.
OTHER_RULES = {
    "window longer": {"window": lambda rule: rule["window"] + 1},
    "window doubled": {"window": lambda rule: 2 * rule["window"]},
    "window shorter": {"window": lambda rule: rule["window"] - 1},
    "stride longer": {"stride": lambda rule: rule["stride"] + 1},
    "stride shorter": {"stride": lambda rule: rule["stride"] - 1},
    "more hubs": {"num_global": lambda rule: rule["num_global"] + 1},
    "fewer hubs": {"num_global": lambda rule: rule["num_global"] - 1},
    "exchanged": {
        "window": lambda rule: rule["stride"],
        "stride": lambda rule: rule["window"],
    },
}


def _view(blocks, rule, other):
    sizes = {k: rule[k] for k in ("window", "stride", "num_global")} | other
    return pattern(blocks, **sizes).numpy()


# Where several faults meet, or each input shows another one, this is still true of all.
ALWAYS = {
    "too many": lambda extra, lost: not lost.any(),
    "several missing": lambda extra, lost: not extra.any(),
    "other blocks": lambda extra, lost: True,
}


def _always(fault, ours, right, inputs, part):
    extra, lost = (
        (one > 0.01) & ~(other > 0.01) for one, other in ((ours, right), (right, ours))
    )
    if not (extra.any() or lost.any()) or ours.min() < -0.01:
        return False
    if part == BETWEEN and ours.sum(-1).max() > 1.05:
        return False  # something was added, and says nothing about blocks
    return ALWAYS[fault](extra, lost)


def _shows(fault, *view):
    return _named(*view) == fault


def block_mistakes(part):
    """Return the mistakes that show in which blocks a block sees.

    Parameters
    ----------
    part : str
        The part of what a check sees that has one number for each pair of blocks.
    """

    def when(holds, fault):
        def said(seen, expected, inputs):
            ours, right = seen[part], expected[part]
            if (ours.shape, ours.kind) != (right.shape, right.kind):
                return False
            ours, right = (p.values.reshape(p.shape) for p in (ours, right))
            return holds(fault, np.nan_to_num(ours), right, inputs, part)

        return said

    return tuple(
        Mistake(
            name,
            says,
            when=when(holds, fault),
            read=EDGES_SECTION if "last" in name + says else SPARSE_SECTION,
        )
        for holds, faults in ((_shows, SAID), (_always, ALWAYS))
        for fault in faults
        for name, says in [SAID[fault]]
    )


def _named(ours, right, inputs, part):
    if not ours.any():
        return None
    if ours.min() < -0.01:
        return "no mean"
    if part == PAIRS and ((ours > 0.01) & (ours < 0.99)).any():
        wrong = np.abs(ours - right) > 0.01
        inside = not wrong[:-1, :-1].any()
        return "last block" if inside else "parts of blocks"
    if found := _fault(ours > 0.01, right > 0.01, inputs):
        alone = part != BETWEEN or (ours.sum(-1) < 1.05).all()
        return found if alone else None
    found = share_fault(ours, right) if part == BETWEEN else None
    even = (right > 0.01) / (right > 0.01).sum(-1, keepdims=True)
    if found == "uneven" and np.abs(ours - even).max() < 0.02:
        return "blocks averaged"
    return found
