"""Which keys each query sees, and what is wrong with that: for tasks 5.1 and 5.2."""

import numpy as np

from attncourse.exercises.efficient.oracle import window_mask
from attncourse.exercises.efficient.views import share_fault
from attncourse.exercises.efficient.window_says import SAID
from attncourse.exercises.task import Mistake


def _as_seen(part):
    """Return weights and which of them are not 0; of a mask its shares of each row."""
    shares = part.values.reshape(part.shape)
    shares = np.nan_to_num(shares.reshape(-1, *shares.shape[-2:])[0])
    if part.kind == "bool":
        shares = shares / np.maximum(shares.sum(-1, keepdims=True), 1)
    return shares, shares > 0.01


def _behind(tokens):
    place = np.arange(tokens)
    return place[:, None] - place


def _is_band(view):
    """Return how far back and ahead a view goes if it is a band, else None."""
    behind = _behind(len(view))
    if not view.any():
        return None
    back, ahead = behind[view].max(), -behind[view].min()
    band = (behind <= back) & (behind >= -ahead)
    return (back, ahead) if (view == band).all() else None


def _fault(shares, view, window, causal):
    """Return the name of what is wrong with a view, or None."""
    tokens = len(view)
    behind = _behind(tokens)
    right = window_mask(tokens, window, causal).numpy()
    extra, lost = view & ~right, right & ~view
    back, ahead = window - causal, 0 if causal else window
    if shares.min() < -0.01:
        return "no mean"
    if not view.any():
        return "no weights"
    if not (extra.any() or lost.any()):
        return share_fault(shares, right / right.sum(-1, keepdims=True))
    if not _are_weights(shares):
        return None  # something was added, and says nothing about keys
    if (view == ~right).all():
        return "inverted"
    if causal and (view == right.T).all():
        return "turned round"
    if not view.any(-1).all():
        return "queries that see nothing"
    if view.all():
        return "no mask"
    if found := _is_band(view | np.eye(tokens, dtype=bool)):
        if not view.diagonal().any():
            return "own key left out"
        if not view.diagonal().all():
            return None
        return _band_fault(*(min(n, tokens - 1) for n in (*found, back, ahead)))
    wrong = np.flatnonzero((view != right).any(-1))
    block = np.arange(tokens) // window
    if all((view[i] == view[block == block[i]]).all() for i in range(tokens)):
        return "whole blocks"
    if wrong.min() >= min(block[-1] * window, tokens - 1):
        return "last queries"
    if wrong.max() < max(back, ahead) and extra.any():
        return "first queries"
    if not extra.any():
        other = block[:, None] != block
        return "neighbour missing" if other[lost].all() else "keys missing"
    if not lost.any():
        if (behind[extra] > back).all():
            return "too old"
        if (behind[extra] < -ahead).all():
            return "too late"
        return "too many"
    return "other keys"


def _band_fault(back, ahead, right_back, right_ahead):
    if (back, ahead) == (right_back, right_ahead):
        return None
    if ahead > right_ahead:
        return "far ahead" if back == right_back else "both ways"
    if ahead < right_ahead:
        return "short ahead" if back == right_back else "short both ways"
    return "far back" if back > right_back else "short back"


# Where several faults meet, or each input shows another one, this is still true of all.
ALWAYS = {
    "too late": lambda extra, lost, behind, back, ahead: (
        not lost.any() and (behind[extra] < -ahead).all()
    ),
    "too old": lambda extra, lost, behind, back, ahead: (
        not lost.any() and (behind[extra] > back).all()
    ),
    "too many": lambda extra, lost, *rest: not lost.any(),
    "keys missing": lambda extra, lost, *rest: not extra.any(),
    "other keys": lambda *rest: True,
}


def _always(fault, shares, view, window, causal):
    """Say whether that which a fault claims is true of a view, whatever else is."""
    behind = _behind(len(view))
    right = window_mask(len(view), window, causal).numpy()
    extra, lost = view & ~right, right & ~view
    if not (extra.any() or lost.any()) or not _are_weights(shares):
        return False
    return ALWAYS[fault](extra, lost, behind, window - causal, (1 - causal) * window)


def _are_weights(shares):
    return shares.min() > -0.01 and shares.sum(-1).max() < 1.05 and shares.any()


def view_mistakes(part, causal):
    """Return the mistakes that show in which keys a query sees.

    Parameters
    ----------
    part : str
        The part of what a check sees that holds the weights, or the mask.
    causal : bool
        Which kind of window is right.
    """

    def when(holds, fault):
        def said(seen, expected, inputs):
            ours, right = seen[part], expected[part]
            if (ours.shape, ours.kind) != (right.shape, right.kind):
                return False
            return holds(fault, *_as_seen(ours), inputs["window"], causal)

        return said

    return tuple(
        Mistake(name, says, when=when(holds, fault), read=read)
        for holds, faults in ((_shows, SAID), (_always, ALWAYS))
        for fault in faults
        for name, says, read in [SAID[fault]]
    )


def _shows(fault, *view):
    return _fault(*view) == fault
