"""Which keys each query sees, read off the outputs: for tasks 5.2 and 5.4."""

import numpy as np
import torch

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


def share_fault(shares, right):
    """Say what is wrong with weights, all scores alike, of the right keys, or None.

    Parameters
    ----------
    shares, right : numpy.ndarray
        The weights and the right ones; each row is one query.
    """
    totals = shares.sum(-1)
    if (totals < 0.95).any():
        return "weight lost"
    if (totals > 1.05).any():
        return "weight won"
    return None if np.abs(shares - right).max() < 0.02 else "uneven"
