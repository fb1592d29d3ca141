"""Which keys each query sees, and what is wrong with that: for tasks 5.1 and 5.2."""

import numpy as np
import torch

from attncourse.exercises.efficient.oracle import BLOCKS, FAULTS, WINDOW, window_mask
from attncourse.exercises.task import Mistake

ALIKE = "weights where all scores are alike"


def weights_of(answer, query, key, value, *rest, **options):
    """Return the weights of an answer, all scores alike, as its outputs show them.

    With queries of zeros every key that is seen weighs as much as the next, and with
    values of one 1 each the output is the weights.

    Parameters
    ----------
    answer : callable
        ``answer(query, key, value, *rest, **options)`` returns the output.
    query, key, value : torch.Tensor
        ``(..., tokens, d)``; of the last only the shape is used.

    Returns
    -------
    torch.Tensor
        ``(..., tokens, tokens)``, or what the answer returns if that is no output.
    """
    tokens, width = value.shape[-2:]
    columns = []
    for first in range(0, tokens, width):
        ones = torch.eye(tokens + width)[:tokens, first : first + width]
        found = answer(0 * query, key, ones.expand_as(value).clone(), *rest, **options)
        if not torch.is_tensor(found) or found.shape != value.shape:
            return found
        columns.append(found)
    return torch.cat(columns, dim=-1)[..., :tokens]


def shown(answer):
    """Return what is looked at of an answer: its output, and the weights it shows.

    Parameters
    ----------
    answer : callable
        ``answer(query, key, value, window)`` returns the output.
    """

    def ask(query, key, value, window):
        return {
            "output": answer(query, key, value, window),
            ALIKE: weights_of(answer, query, key, value, window),
        }

    return ask


def _as_seen(part):
    shares = part.values.reshape(part.shape)
    shares = np.nan_to_num(shares.reshape(-1, *shares.shape[-2:])[0])
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
    if not view.any() or shares.min() < -0.01:
        return "no weights" if not view.any() else None
    if not (extra.any() or lost.any()):
        return _share_fault(shares, right)
    if (shares.sum(-1) > 1.02).any():
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


def _share_fault(shares, right):
    """Say what is wrong with the weights of a query that sees the right keys."""
    totals = shares.sum(-1)
    if (totals < 0.98).any():
        return "weight lost"
    if (totals > 1.02).any():
        return "weight won"
    even = right / right.sum(-1, keepdims=True)
    return None if np.abs(shares - even).max() < 0.02 else "uneven"


def _band_fault(back, ahead, right_back, right_ahead):
    if (back, ahead) == (right_back, right_ahead):
        return None
    if ahead > right_ahead:
        return "far ahead" if back == right_back else "both ways"
    if ahead < right_ahead:
        return "short ahead" if back == right_back else "short both ways"
    return "far back" if back > right_back else "short back"


# What is said of each fault: its name, a sentence, and where the book explains it.
SAID = {
    "no weights": (
        "no value reaches the output",
        "The output is 0 where all scores are alike, whatever the values are: no value "
        "reaches it.",
        WINDOW,
    ),
    "weight lost": (
        "weight that goes to no key",
        "Each query sees the right keys, but where all scores are alike its weights do "
        "not sum to 1. Something takes part in the softmax that is no key: zeros that "
        "fill up the blocks or lie beside the sequence.",
        FAULTS,
    ),
    "weight won": (
        "weights that sum to more than 1",
        "Each query sees the right keys, but its weights sum to more than 1. Along "
        "which axis does the softmax run, and is it one over all the keys of a query?",
        BLOCKS,
    ),
    "uneven": (
        "keys that count more than once",
        "Where all scores are alike, some keys weigh more than others. Is a key "
        "gathered twice, is a number added to some scores, or does each block have a "
        "softmax of its own?",
        BLOCKS,
    ),
    "inverted": (
        "inverted",
        "A query sees the keys outside of its window, and none inside. True means "
        "'may attend', in this course and in the functions that you call.",
        "chapters/05_masking#case-1-the-mask-that-hid-the-wrong-half",
    ),
    "turned round": (
        "rows and columns exchanged",
        "Each query sees the keys that come after it. Rows are queries and columns "
        "are keys.",
        WINDOW,
    ),
    "queries that see nothing": (
        "queries that see no key",
        "Some queries see no key at all, not even their own. Where do their windows "
        "begin and end?",
        FAULTS,
    ),
    "no mask": (
        "no window",
        "Every query sees every key: this is full attention. Is the mask made and not "
        "used?",
        WINDOW,
    ),
    "own key left out": (
        "own key left out",
        "No query sees its own key. It is the nearest of the window.",
        WINDOW,
    ),
    "far ahead": (
        "window too long ahead",
        "The window reaches too far ahead: queries see later keys than they should. "
        "Causal, they see none; two-sided, those at most `window` away.",
        WINDOW,
    ),
    "both ways": (
        "window too long, or moved",
        "The window is a band, but with another beginning and another end. Causal, it "
        "holds the `window` newest keys; two-sided, those at most `window` away.",
        WINDOW,
    ),
    "short ahead": (
        "window too short ahead",
        "The window reaches back as far as it should, but not as far ahead. Two-sided, "
        "it is as long to each side.",
        WINDOW,
    ),
    "short both ways": (
        "window too short, or moved",
        "The window is a band, but it does not reach as far ahead as it should, and "
        "its far end lies elsewhere too. Two-sided, `window` is the reach to *each* "
        "side.",
        WINDOW,
    ),
    "far back": (
        "window too long",
        "The window reaches too far back. Causal, the own key is one of the `window` "
        "newest; two-sided, the farthest key is `window` away.",
        FAULTS,
    ),
    "short back": (
        "window too short",
        "The window does not reach back far enough. Causal, it holds `window` keys "
        "with the own one; two-sided, the farthest key is `window` away.",
        FAULTS,
    ),
    "whole blocks": (
        "whole blocks in place of a window",
        "All queries of a block see the same keys. The blocks are a way to compute: "
        "each query still has a window of its own, which moves with it.",
        BLOCKS,
    ),
    "last queries": (
        "last queries see other keys",
        "Only the last queries see other keys than they should, those at the end of "
        "the sequence: there a block is not full, or a window goes past the end.",
        FAULTS,
    ),
    "first queries": (
        "first queries see too much",
        "Only the first queries are wrong. Their windows begin before the sequence "
        "does, so they see fewer keys; nothing makes up for that.",
        FAULTS,
    ),
    "neighbour missing": (
        "keys of another block missing",
        "Keys are missing that lie inside the window but in another block than the "
        "query. Which blocks does a window reach into?",
        BLOCKS,
    ),
    "keys missing": (
        "keys of the window missing",
        "Some queries do not see all keys of their window. Every key at an allowed "
        "distance counts, none is left out in between.",
        WINDOW,
    ),
    "too old": (
        "too old keys are seen",
        "Some queries see keys that are older than their window. The rectangle of a "
        "block holds more than the band: a mask has to hide the rest.",
        BLOCKS,
    ),
    "too late": (
        "too late keys are seen",
        "Some queries see keys that come too late for their window. The rectangle of a "
        "block holds more than the band: a mask has to hide the rest.",
        BLOCKS,
    ),
    "too many": (
        "keys outside of the window are seen",
        "Some queries see keys outside of their window, older ones and later ones. The "
        "rectangle of a block holds more than the band: a mask has to hide the rest.",
        BLOCKS,
    ),
    "other keys": (
        "other keys than those of the window",
        "Some queries see keys outside of their window and miss keys inside it. Is the "
        "position of each query and of each key in the *sequence* right, or is it "
        "counted from the beginning of a block?",
        BLOCKS,
    ),
}


def view_mistakes(part, causal):
    """Return the mistakes that show in which keys a query sees.

    Parameters
    ----------
    part : str
        The part of what a check sees that holds the weights, or the mask.
    causal : bool
        Which kind of window is right.
    """

    def when(fault):
        def said(seen, expected, inputs):
            ours, right = seen[part], expected[part]
            if (ours.shape, ours.kind) != (right.shape, right.kind):
                return False
            return _fault(*_as_seen(ours), inputs["window"], causal) == fault

        return said

    return tuple(
        Mistake(name, says, when=when(fault), read=read)
        for fault, (name, says, read) in SAID.items()
    )
