"""The feed-forward part of a Transformer layer, and its gated form."""

from collections.abc import Callable

import torch.nn.functional as F
from torch import Tensor, nn

from attncourse import _checks


class FeedForward(nn.Sequential):
    r"""Two linear maps with an activation between them, at each position alone.

    .. math::

        y = W_2\, f(W_1 x + b_1) + b_2

    Parameters
    ----------
    d_model : int
        Width of the token vectors.
    width : int
        Width between the two maps.
    dropout : float, default 0.0
        Probability of dropout after the activation, in training.
    activation : callable, default nn.ReLU
        Returns the module that is applied between the maps, such as ``nn.GELU``.

    References
    ----------
    Vaswani et al. (2017), "Attention is all you need", equation 2.
    """

    def __init__(
        self,
        d_model: int,
        width: int,
        dropout: float = 0.0,
        *,
        activation: Callable[[], nn.Module] = nn.ReLU,
    ) -> None:
        super().__init__(
            nn.Linear(d_model, _checks.positive_int("width", width)),
            activation(),
            nn.Dropout(dropout),
            nn.Linear(width, d_model),
        )


class SwiGLU(nn.Module):
    r"""A feed-forward network whose inner features are multiplied by a gate.

    .. math::

        y = W_\mathrm{down}\,
            \bigl(\operatorname{silu}(W_\mathrm{gate}\, x) \odot W_\mathrm{up}\, x\bigr)

    There are three matrices and no bias. With two thirds of the width it has about as
    many parameters as `FeedForward`.

    The arguments are as for `FeedForward`, with dropout after the gate.

    References
    ----------
    Shazeer (2020), "GLU variants improve Transformer", equation 6.
    """

    def __init__(self, d_model: int, width: int, dropout: float = 0.0) -> None:
        super().__init__()
        _checks.positive_int("width", width)
        self.gate_proj = nn.Linear(d_model, width, bias=False)
        self.up_proj = nn.Linear(d_model, width, bias=False)
        self.down_proj = nn.Linear(width, d_model, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        """Return the output at each position of `x`, ``(..., d_model)`` like it."""
        return self.down_proj(self.dropout(F.silu(self.gate_proj(x)) * self.up_proj(x)))
