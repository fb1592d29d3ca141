"""How far and how widely heads look, and other numbers that are not quite that."""

from __future__ import annotations

import torch


def weighted(weights, steps):
    """Return the mean of the steps, each with its weight."""
    return (weights * steps).sum(dim=-1)


def entropy(weights, count):
    """Return the entropy of rows of weights, in nats."""
    return torch.special.entr(weights).sum(dim=-1)


def distances(weights, tokens):
    """Return the mean distance of each head, over all queries that are tokens."""
    return mean_steps(weights, tokens, lambda steps: steps.abs())


def mean_steps(weights, tokens, of, *, counted=None, within=weighted):
    """Return the mean of a function of the steps from query to key.

    Parameters
    ----------
    weights, tokens : torch.Tensor
        The weights and the ids of the queries.
    of : callable
        What is made of the steps from a query to all keys.
    counted : str, optional
        "all" if padding counts too.
    within : callable
        ``within(weights, steps)`` makes one number of a row, for each head.
    """
    found = []
    for w, row in zip(weights, tokens, strict=True):
        for i in range(w.shape[1]) if counted == "all" else row.nonzero().flatten():
            steps = of(torch.arange(w.shape[2]) - i)
            found.append(within(w[:, i], steps.float()))
    return torch.stack(found).mean(dim=0)


def to_the_largest(weights, tokens):
    """Return the mean distance to the key with the largest weight."""
    steps = weights.argmax(-1) - torch.arange(weights.shape[2])
    return steps.abs().float().mean(dim=(0, 2))


def each_sentence_alike(weights, tokens):
    """Average the reach of each sentence first, and then the sentences."""
    each = [distances(w[None], t[None]) for w, t in zip(weights, tokens, strict=True)]
    return torch.stack(each).mean(dim=0)


def by_squares(weights, visible):
    """Return 1 minus the sum of the squared weights, averaged."""
    chosen = visible.sum(dim=-1)[:, None] >= 2
    share = (1 - weights.square().sum(dim=-1)) * chosen
    return share.sum(dim=(0, 2)) / chosen.sum()


def entropies(weights, visible, divide=True, smallest=2, by=None, width=entropy):
    """Return the mean share of the largest possible entropy, for each head.

    Parameters
    ----------
    weights : torch.Tensor
        ``(batch, heads, queries, keys)``.
    visible : torch.Tensor of bool
        ``(batch, queries, keys)``.
    divide : bool
        Whether to divide by the largest possible entropy.
    smallest : int
        The least number of visible keys with which a query counts.
    by : int, optional
        The number of keys to reckon with, unless that of the visible ones.
    width : callable
        ``width(weights, count)`` says how wide a row is that sees so many keys.
    """
    found = []
    for w, seen in zip(weights, visible, strict=True):
        for i, count in enumerate(seen.sum(dim=1).tolist()):
            if count >= smallest:
                found_wide = width(w[:, i], count)
                most = torch.tensor(float(by or count)).log()
                found.append(found_wide / most if divide and most > 0 else found_wide)
    return torch.stack(found).mean(dim=0)


def each_input_alike(weights, visible):
    """Average the spread of each sentence first, and then the sentences."""
    each = [entropies(w[None], v[None]) for w, v in zip(weights, visible, strict=True)]
    return torch.stack(each).mean(dim=0)


def ratio_of_sums(weights, visible):
    """Divide the sum of the entropies by the sum of the largest ones."""
    keys = visible.sum(-1)
    counted, largest = keys > 1, keys.clamp(min=2).log()
    found = torch.special.entr(weights).sum(-1).transpose(0, 1)[:, counted]
    return found.sum(-1) / largest[counted].sum()


def by_the_largest(weights, visible):
    """Divide the entropies by the largest of them all."""
    found = torch.special.entr(weights).sum(dim=-1)
    chosen = visible.sum(dim=-1)[:, None] >= 2
    return (found / found.max() * chosen).sum(dim=(0, 2)) / chosen.sum()
