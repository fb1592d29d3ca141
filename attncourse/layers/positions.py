"""Absolute positions: sinusoids and a learned table."""

import math

import torch
from torch import Tensor, nn

from attncourse import _checks
from attncourse.layers.core import check_device, check_floating


def sinusoidal_encoding(seq_len: int, d_model: int) -> Tensor:
    r"""Return the sinusoidal position vectors of Vaswani et al.

    .. math::

        P_{p,\,2i} = \sin\left(p / 10000^{2i/d}\right), \qquad
        P_{p,\,2i+1} = \cos\left(p / 10000^{2i/d}\right)

    Parameters
    ----------
    seq_len : int
        Number of positions, counted from 0.
    d_model : int
        Width; if it is odd, the last sine has no cosine beside it.

    Returns
    -------
    torch.Tensor
        float32, ``(seq_len, d_model)``; computed in float64, so that large positions
        are exact to float32.

    References
    ----------
    Vaswani et al. (2017), "Attention is all you need", section 3.5.
    """
    seq_len = _checks.positive_int("seq_len", seq_len, minimum=0)
    d_model = _checks.positive_int("d_model", d_model)
    positions = torch.arange(seq_len, dtype=torch.float64)[:, None]
    even = torch.arange(0, d_model, 2, dtype=torch.float64)
    angles = positions * torch.exp(-math.log(10000.0) * even / d_model)
    encoding = torch.empty(seq_len, d_model, dtype=torch.float64)
    encoding[:, 0::2] = angles.sin()
    encoding[:, 1::2] = angles.cos()[:, : d_model // 2]
    return encoding.float()


class AddedPositions(nn.Module):
    """Adds the rows of a table `encoding` ``(max_len, d_model)`` to token vectors."""

    encoding: Tensor

    def __init__(self, max_len: int, dropout: float) -> None:
        super().__init__()
        self.max_len = _checks.positive_int("max_len", max_len)
        self.dropout = nn.Dropout(_checks.probability("dropout", dropout))

    def forward(self, x: Tensor, start: int = 0) -> Tensor:
        """Return `x` plus the vectors of its positions.

        Parameters
        ----------
        x : torch.Tensor
            Floating point, ``(batch, tokens, d_model)``.
        start : int, default 0
            The position of the first token, for decoding piece by piece.

        Returns
        -------
        torch.Tensor
            The shape and dtype of `x`.

        Raises
        ------
        TypeError, ValueError
            If `x` is not floating point, has another width or is longer than max_len.
        """
        check_floating("x", x, x)
        check_device("x", x, self.encoding.device)
        _checks.exact_rank("x", x, 3, layout="(batch, tokens, d_model)")
        _checks.last_size("x", x, self.encoding.shape[1], meaning="d_model")
        stop = _checks.positive_int("start", start, minimum=0) + x.shape[1]
        if stop > self.max_len:
            raise ValueError(
                f"x has {x.shape[1]} tokens from position {start} on, but vectors "
                f"exist for {self.max_len} positions at most. Cut the sequence, or "
                "make the layer with a larger max_len."
            )
        return self.dropout(x + self.encoding[start:stop].to(x.dtype))


class SinusoidalPositionalEncoding(AddedPositions):
    """Add sinusoidal position vectors to token vectors.

    Parameters
    ----------
    d_model : int
        Width of the token vectors; odd widths are allowed.
    max_len : int, default 5000
        The longest sequence that is accepted, in tokens.
    dropout : float, default 0.0
        Dropout on the sum, in training.

    References
    ----------
    Vaswani et al. (2017), "Attention is all you need", section 3.5.
    """

    def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.0) -> None:
        super().__init__(max_len, dropout)
        encoding = sinusoidal_encoding(max_len, d_model)
        self.register_buffer("encoding", encoding, persistent=False)


class LearnedPositionalEncoding(AddedPositions):
    """Add a learned vector for each position to token vectors.

    Parameters
    ----------
    d_model : int
        Width of the token vectors.
    max_len : int
        The number of positions in the table; there is nothing beyond it.
    dropout : float, default 0.0
        Dropout on the sum, in training.

    References
    ----------
    Gehring et al. (2017), "Convolutional sequence to sequence learning", section 3.1;
    Vaswani et al. (2017), section 3.5, compare it with sinusoids.
    """

    def __init__(self, d_model: int, max_len: int, dropout: float = 0.0) -> None:
        super().__init__(max_len, dropout)
        d_model = _checks.positive_int("d_model", d_model)
        self.encoding = nn.Parameter(torch.empty(max_len, d_model))
        nn.init.normal_(self.encoding, std=0.02)
