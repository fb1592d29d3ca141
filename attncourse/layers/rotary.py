"""Rotary position embeddings (RoPE), and how to stretch them to longer sequences."""

import math

import torch
from torch import Tensor

from attncourse import _checks
from attncourse.layers.core import check_floating


def rotary_frequencies(width: int, base: float = 10000.0) -> Tensor:
    r"""Return the angle by which each pair of features is rotated per position.

    .. math::

        \theta_i = \text{base}^{-2i/d}, \qquad i = 0, \dots, \lfloor d/2 \rfloor - 1

    Parameters
    ----------
    width : int
        Features of a query or key d; of an odd number the last has no partner.
    base : float, default 10000.0
        Ratio of the longest wavelength to the shortest, nearly.

    Returns
    -------
    torch.Tensor
        float64, ``(width // 2,)``, in radians per position, from fast to slow.

    Raises
    ------
    TypeError, ValueError
        If `width` is not a whole number of at least 1, or `base` is not positive.

    References
    ----------
    Su et al. (2021), "RoFormer: enhanced Transformer with rotary position embedding",
    equation 15.
    """
    width = _checks.positive_int("width", width)
    if not base > 0:
        raise ValueError(f"base must be positive, but got {base}.")
    even = torch.arange(0, width - 1, 2, dtype=torch.float64)
    return base ** (-even / width)


def interpolated_frequencies(
    width: int, factor: float, base: float = 10000.0
) -> Tensor:
    r"""Return the frequencies of position interpolation: all divided by `factor`.

    Rotating position p by :math:`\theta_i / s` is rotating position :math:`p / s` by
    :math:`\theta_i`: a text s times as long has the angles of the trained length.

    Parameters
    ----------
    width, base
        As for `rotary_frequencies`, and so is the result.
    factor : float
        The length to be read over the length of training s, at least 1.

    References
    ----------
    Chen et al. (2023), "Extending context window of large language models via
    positional interpolation", equation 4.
    """
    return rotary_frequencies(width, base) / _stretch(factor)


def ntk_frequencies(width: int, factor: float, base: float = 10000.0) -> Tensor:
    r"""Return the frequencies of a larger base, "NTK-aware" scaling.

    .. math::

        \text{base}' = \text{base} \cdot s^{d / (d - 2)}

    The slowest pair is then divided by s, as in interpolation, the fastest stays as it
    was, and those between follow a geometric sequence.

    Parameters
    ----------
    width, factor, base
        As for `interpolated_frequencies`, and so is the result; `width` at least 4.

    References
    ----------
    bloc97 (2023), as described by Peng et al. (2024), "YaRN: efficient context window
    extension of large language models", definition 1.
    """
    width = _checks.positive_int("width", width, minimum=4)
    return rotary_frequencies(width, base * _stretch(factor) ** (width / (width - 2)))


def yarn_frequencies(
    width: int,
    factor: float,
    trained_length: int,
    base: float = 10000.0,
    *,
    slow: float = 1.0,
    fast: float = 32.0,
) -> Tensor:
    r"""Return the frequencies of YaRN: slow pairs interpolated, fast ones kept.

    A pair completes :math:`r_i = L \theta_i / 2\pi` rotations in the L tokens of
    training. At most `slow`, and it is interpolated; at least `fast`, and it is left
    alone; between, :math:`\gamma_i` rises linearly from 0 to 1:

    .. math::

        \theta'_i = (1 - \gamma_i)\, \theta_i / s + \gamma_i\, \theta_i

    YaRN also multiplies queries and keys by :math:`0.1 \ln s + 1` each, which sharpens
    the softmax: the `scale` of `apply_rotary`.

    Parameters
    ----------
    width, factor, base
        As for `interpolated_frequencies`, and so is the result.
    trained_length : int
        Length of the sequences in training L, in tokens.
    slow, fast : float, default 1 and 32
        In rotations; the values of the paper for LLaMA models trained on 2,048 or
        4,096 tokens.

    References
    ----------
    Peng et al. (2024), "YaRN: efficient context window extension of large language
    models", definition 2 and equation 22.
    """
    if not slow < fast:
        raise ValueError(f"slow must be below fast, but got {slow} and {fast}.")
    length = _checks.positive_int("trained_length", trained_length)
    kept = rotary_frequencies(width, base)
    rotations = length * kept / (2 * math.pi)
    ramp = ((rotations - slow) / (fast - slow)).clamp(0, 1)
    return (1 - ramp) * kept / _stretch(factor) + ramp * kept


def apply_rotary(
    x: Tensor,
    positions: Tensor | None = None,
    base: float = 10000.0,
    *,
    frequencies: Tensor | None = None,
    scale: float = 1.0,
) -> Tensor:
    r"""Rotate each pair of features by an angle that grows with the position.

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
    frequencies : torch.Tensor, optional
        Other angles per position :math:`\theta_i`, ``(d_head // 2,)``, such as
        `yarn_frequencies` returns; `base` is then not used.
    scale : float, default 1.0
        Multiplies the result.

    Returns
    -------
    torch.Tensor
        The shape and dtype of `x`; each pair keeps its length, times `scale`.

    Raises
    ------
    TypeError, ValueError
        If `x` is not floating point or has fewer than two axes, positions or
        frequencies do not fit, or `base` is not positive.

    References
    ----------
    Su et al. (2021), "RoFormer: enhanced Transformer with rotary position embedding",
    equations 14, 15 and 34. Much code pairs feature i with i + d/2 instead: the same up
    to the order of the features, but weights trained with one do not fit the other.
    """
    check_floating("x", x, x)
    _checks.min_rank("x", x, 2, layout="(..., tokens, d_head)")
    width = x.shape[-1]
    if frequencies is None:
        frequencies = rotary_frequencies(width, base)
    if frequencies.shape != (width // 2,):
        raise ValueError(
            f"frequencies must have one entry for each pair of features, shape "
            f"({width // 2},), but its shape is {_checks.shape_text(frequencies)}."
        )
    if positions is None:
        positions = torch.arange(x.shape[-2], device=x.device)
    positions = torch.as_tensor(positions, device=x.device)
    _checks.broadcasts_to("positions", positions, x.shape[:-1], layout="(..., tokens)")
    # Half precision cannot hold the angles of far positions.
    exact = torch.float64 if x.dtype == torch.float64 else torch.float32
    angles = positions.to(exact)[..., None] * frequencies.to(exact).to(x.device)
    # A pair is a complex number, and to rotate it is to multiply it by exp(i · angle).
    pairs = x[..., : width // 2 * 2].to(exact).unflatten(-1, (-1, 2)).contiguous()
    rotation = torch.polar(torch.full_like(angles, scale), angles)
    rotated = torch.view_as_real(torch.view_as_complex(pairs) * rotation).flatten(-2)
    rotated = rotated.to(x.dtype)
    return torch.cat([rotated, scale * x[..., -1:]], -1) if width % 2 else rotated


def _stretch(factor):
    if not factor >= 1:
        raise ValueError(
            f"factor must be at least 1, the new length over that of training, but "
            f"got {factor}."
        )
    return float(factor)
