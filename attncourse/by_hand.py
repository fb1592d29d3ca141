"""Attention in NumPy: every step is one line that can be checked with a pencil."""

import numpy as np
from numpy.typing import ArrayLike

from attncourse import _checks


def softmax(x: ArrayLike, axis: int = -1) -> np.ndarray:
    r"""Return the softmax of `x` along `axis`.

    .. math:: \operatorname{softmax}(x)_i = \frac{e^{x_i}}{\sum_j e^{x_j}}

    The largest entry is subtracted first. That changes nothing in exact arithmetic
    and keeps the exponentials from overflowing.

    Parameters
    ----------
    x : array_like
        Real numbers, any shape. Integers become float64. An entry of −inf gets the
        weight 0.
    axis : int, default -1
        The axis along which the weights sum to 1.

    Returns
    -------
    numpy.ndarray
        The same shape as `x`. A slice that holds nothing but −inf becomes zeros.

    Raises
    ------
    ValueError
        If the axis does not exist or has no entries.
    """
    x = _as_float("x", x)
    if not -x.ndim <= axis < x.ndim:
        raise ValueError(
            f"axis must be one of the {x.ndim} axes of x, but got {axis} for shape "
            f"{x.shape}."
        )
    if x.shape[axis] == 0:
        raise ValueError(
            f"x must have at least one entry along axis {axis}, but its shape is "
            f"{x.shape}: a softmax over nothing does not exist."
        )
    largest = x.max(axis=axis, keepdims=True)
    largest = np.where(np.isneginf(largest), 0, largest)  # −inf − −inf would be NaN
    exponentials = np.exp(x - largest)
    total = exponentials.sum(axis=axis, keepdims=True)
    return exponentials / np.where(total == 0, 1, total)


def self_attention(
    X: ArrayLike,
    W_Q: ArrayLike,
    W_K: ArrayLike,
    W_V: ArrayLike,
    mask: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    r"""Attend from every token of a sequence to every token of the same sequence.

    .. math::

        Q = X W_Q, \quad K = X W_K, \quad V = X W_V, \quad
        A = \operatorname{softmax}\left(\frac{Q K^\top}{\sqrt{d_k}}\right), \quad
        Y = A V

    Parameters
    ----------
    X : array_like
        Token vectors, ``(..., tokens, d_model)``.
    W_Q, W_K : array_like
        Query and key maps, ``(d_model, d_k)``.
    W_V : array_like
        Value map, ``(d_model, d_v)``.
    mask : array_like of bool, optional
        Broadcastable to ``(..., tokens, tokens)``; True = may attend.

    Returns
    -------
    output : numpy.ndarray
        ``(..., tokens, d_v)``: the width is that of the values, not of the model.
    weights : numpy.ndarray
        ``(..., tokens, tokens)``; each row sums to 1, or is zero if its mask hides
        every token.

    Raises
    ------
    ValueError, TypeError
        If shapes do not fit together or the mask is not boolean.

    References
    ----------
    Vaswani et al. (2017), "Attention is all you need", equation 1.
    """
    X = _as_float("X", X)
    W_Q, W_K, W_V = (
        _as_map(name, W, X.shape[-1] if X.ndim else 0)
        for name, W in (("W_Q", W_Q), ("W_K", W_K), ("W_V", W_V))
    )
    _checks.min_rank("X", X, 2, layout="(tokens, d_model)")
    if W_Q.shape != W_K.shape:
        raise ValueError(
            "W_Q and W_K must have the same shape (d_model, d_k), because queries are "
            f"compared with keys, but got {W_Q.shape} and {W_K.shape}."
        )
    return _attend(X @ W_Q, X @ W_K, X @ W_V, mask)


def multi_head_attention(
    X: ArrayLike,
    W_Q: ArrayLike,
    W_K: ArrayLike,
    W_V: ArrayLike,
    W_O: ArrayLike,
    n_heads: int,
    mask: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    r"""Attend with several heads at once, and mix what they found.

    The *projections* are split between the heads, not the input: every head reads the
    whole of `X` through its own columns of the three maps.

    .. math::

        Y = [\,\mathrm{head}_1; \dots; \mathrm{head}_h\,]\, W_O

    Parameters
    ----------
    X : array_like
        Token vectors, ``(..., tokens, d_model)``.
    W_Q, W_K, W_V : array_like
        ``(d_model, d_model)``; head `i` owns the `i`-th block of columns.
    W_O : array_like
        Output map, ``(d_model, d_model)``.
    n_heads : int
        Number of heads; has to divide d_model.
    mask : array_like of bool, optional
        Broadcastable to ``(..., n_heads, tokens, tokens)``; True = may attend.

    Returns
    -------
    output : numpy.ndarray
        ``(..., tokens, d_model)``.
    weights : numpy.ndarray
        ``(..., n_heads, tokens, tokens)``.

    Raises
    ------
    ValueError, TypeError
        If shapes do not fit together, `n_heads` does not divide d_model, or the mask
        is not boolean.

    References
    ----------
    Vaswani et al. (2017), "Attention is all you need", section 3.2.2.
    """
    X = _as_float("X", X)
    _checks.min_rank("X", X, 2, layout="(tokens, d_model)")
    d_model = X.shape[-1]
    n_heads = _checks.positive_int("n_heads", n_heads)
    d_head = _checks.divisible_heads(d_model, n_heads, heads="n_heads")
    maps = {"W_Q": W_Q, "W_K": W_K, "W_V": W_V, "W_O": W_O}
    for name, W in maps.items():
        maps[name] = W = _as_map(name, W, d_model)
        _checks.last_size(name, W, d_model, meaning="d_model")

    def split(projected):  # (..., tokens, d_model) -> (..., heads, tokens, d_head)
        heads = projected.reshape(*projected.shape[:-1], n_heads, d_head)
        return np.swapaxes(heads, -3, -2)

    query, key, value = (split(X @ maps[name]) for name in ("W_Q", "W_K", "W_V"))
    heads, weights = _attend(query, key, value, mask)
    joined = np.swapaxes(heads, -3, -2).reshape(X.shape)
    return joined @ maps["W_O"], weights


def _attend(query, key, value, mask):
    scores = query @ np.swapaxes(key, -2, -1) / np.sqrt(query.shape[-1])
    if mask is not None:
        mask = np.asarray(mask)
        if mask.dtype != bool:
            raise TypeError(
                f"mask must be boolean, True = may attend, but its dtype is "
                f"{mask.dtype}. Convert it, for example with mask == 1."
            )
        _checks.broadcasts_to("mask", mask, scores.shape, layout="(..., queries, keys)")
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores, axis=-1)
    return weights @ value, weights


def _as_float(name: str, array: ArrayLike) -> np.ndarray:
    array = np.asarray(array)
    if array.dtype.kind in "biu":
        return array.astype(np.float64)
    if array.dtype.kind != "f":
        raise TypeError(
            f"{name} must hold real numbers, but its dtype is {array.dtype}."
        )
    return array


def _as_map(name: str, array: ArrayLike, d_model: int) -> np.ndarray:
    array = _as_float(name, array)
    _checks.exact_rank(name, array, 2, layout="(d_model, width)")
    if array.shape[0] != d_model or array.shape[1] == 0:
        raise ValueError(
            f"{name} must have {d_model} rows, one for each feature of X, and at "
            f"least one column, but its shape is {array.shape}."
        )
    return array
