"""Rotary position embeddings: queries and keys are turned before they meet."""

import torch

from attncourse import _checks
from attncourse.layers.core import check_floating


def apply_rotary(x, positions=None, base=10000.0):
    r"""Turn each pair of features by an angle that grows with the position.

    .. math::

        \begin{pmatrix} y_{2i} \\ y_{2i+1} \end{pmatrix} =
        \begin{pmatrix} \cos p\theta_i & -\sin p\theta_i \\
                        \sin p\theta_i & \cos p\theta_i \end{pmatrix}
        \begin{pmatrix} x_{2i} \\ x_{2i+1} \end{pmatrix},
        \qquad \theta_i = \text{base}^{-2i/d}

    Applied to queries and keys, not to values, it makes their dot products depend on
    the distance of the two positions alone.

    Parameters
    ----------
    x : torch.Tensor
        Floating point, ``(..., tokens, d_head)``, the queries or keys of each head. If
        d_head is odd, the last feature has no partner and is left as it is.
    positions : torch.Tensor, optional
        Real numbers, broadcastable to ``(..., tokens)``; 0, 1, 2, … unless given.
    base : float, default 10000.0
        Ratio of the longest wavelength to the shortest, nearly.

    Returns
    -------
    torch.Tensor
        The shape and dtype of `x`; each pair keeps its length.

    Raises
    ------
    TypeError, ValueError
        If `x` is not floating point or has fewer than two axes, positions do not fit,
        or `base` is not positive.

    References
    ----------
    Su et al. (2021), "RoFormer: enhanced Transformer with rotary position embedding",
    equations 14, 15 and 34. Much code pairs feature i with i + d/2 instead: the same up
    to the order of the features, but weights trained with one do not fit the other.
    """
    check_floating("x", x, x)
    _checks.min_rank("x", x, 2, layout="(..., tokens, d_head)")
    if not base > 0:
        raise ValueError(f"base must be positive, but got {base}.")
    if positions is None:
        positions = torch.arange(x.shape[-2], device=x.device)
    positions = torch.as_tensor(positions, device=x.device)
    _checks.broadcasts_to("positions", positions, x.shape[:-1], layout="(..., tokens)")
    # Half precision cannot hold the angles of far positions.
    exact = torch.float64 if x.dtype == torch.float64 else torch.float32
    width = x.shape[-1]
    even = torch.arange(0, width - 1, 2, device=x.device, dtype=exact)
    angles = positions.to(exact)[..., None] * base ** (-even / width)
    # A pair is a complex number, and to turn it is to multiply it by exp(i · angle).
    pairs = x[..., : width // 2 * 2].to(exact).unflatten(-1, (-1, 2)).contiguous()
    turn = torch.polar(torch.ones_like(angles), angles)
    turned = torch.view_as_real(torch.view_as_complex(pairs) * turn).flatten(-2)
    turned = turned.to(x.dtype)
    return torch.cat([turned, x[..., -1:]], dim=-1) if width % 2 else turned
