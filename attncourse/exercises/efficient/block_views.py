"""The pattern of tasks 5.3 and 5.4, and what is seen of it between blocks."""

import torch

from attncourse.exercises.efficient.oracle import CHAPTER, distance
from attncourse.exercises.efficient.views import weights_of

SPARSE_SECTION = f"{CHAPTER}#can-a-few-long-links-replace-all-of-them"
EDGES_SECTION = f"{CHAPTER}#three-faults-at-the-edges"
BETWEEN = "weights between blocks where all scores are alike"
PAIRS = "share of each pair of blocks that is True"


def pattern(blocks, window, stride, num_global):
    """Return the pattern between blocks as a mask, (blocks, blocks)."""
    apart, block = distance(blocks).abs(), torch.arange(blocks)
    seen = (apart <= window) | (block[:, None] < num_global) | (block < num_global)
    return seen | (apart % stride == 0) if stride else seen


def token_mask(tokens, block_size, window, stride, num_global):
    """Return the pattern between tokens as a mask, (tokens, tokens)."""
    block = torch.arange(tokens) // block_size
    blocks = -(-tokens // block_size)
    return pattern(blocks, window, stride, num_global)[block[:, None], block]


def between_blocks(matrix, block_size, *, mean):
    """Return one number for each pair of blocks of a matrix between tokens.

    Parameters
    ----------
    matrix : torch.Tensor
        ``(tokens, tokens)``.
    block_size : int
        The last block may be shorter.
    mean : bool
        Whether the columns of a block are averaged, or else added up. The rows are
        averaged.
    """
    rows = torch.stack([r.mean(-2) for r in matrix.double().split(block_size, -2)], -2)
    columns = rows.split(block_size, -1)
    joined = [c.mean(-1) if mean else c.sum(-1) for c in columns]
    return torch.stack(joined, dim=-1).float()


def shown(answer):
    """Return what is looked at of an answer: its output, and the weights it shows.

    Parameters
    ----------
    answer : callable
        ``answer(query, key, value, **rule)`` returns the output.
    """

    def ask(query, key, value, **rule):
        found = weights_of(answer, query, key, value, **rule)
        tokens = query.shape[-2]
        if torch.is_tensor(found) and found.shape[-2:] == (tokens, tokens):
            first = found.reshape(-1, tokens, tokens)[0]
            found = between_blocks(first, rule["block_size"], mean=False)
        return {"output": answer(query, key, value, **rule), BETWEEN: found}

    return ask
