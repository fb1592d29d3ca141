"""Checks of arguments: what was expected, what came, what to do.

Nothing here imports PyTorch: arrays and tensors are asked only for their shape.
"""

from collections.abc import Collection
from numbers import Integral
from typing import Any, TypeVar

T = TypeVar("T")


def shape_text(array: Any) -> str:
    """Return the shape of an array or tensor as text, such as ``(2, 3)``."""
    return str(tuple(array.shape))


def positive_int(name: str, value: int, *, minimum: int = 1) -> int:
    """Return `value` as an int, or say that it is not a whole number >= `minimum`."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(
            f"{name} must be a whole number, but got {value!r} "
            f"of type {type(value).__name__}."
        )
    if value < minimum:
        raise ValueError(f"{name} must be at least {minimum}, but got {value}.")
    return int(value)


def one_of(name: str, value: T, options: Collection[T]) -> T:
    """Return `value` if it is one of the options."""
    if value not in options:
        listed = ", ".join(map(str, options))
        raise ValueError(f"{name} must be one of {listed}, but got {value!r}.")
    return value


def probability(name: str, value: float) -> float:
    """Return `value` if it lies in [0, 1)."""
    if not 0 <= value < 1:
        raise ValueError(
            f"{name} is a probability and must lie in [0, 1), but got {value}."
        )
    return value


def divisible_heads(
    d_model: int, num_heads: int, *, model: str = "d_model", heads: str = "num_heads"
) -> int:
    """Return the width of one head, or say that the heads do not divide the model."""
    if d_model % num_heads:
        options = [h for h in range(1, d_model + 1) if d_model % h == 0]
        nearest = min(options, key=lambda h: abs(h - num_heads))
        raise ValueError(
            f"{model} must be divisible by {heads}, but {d_model} is not divisible "
            f"by {num_heads}; by {nearest} it is."
        )
    return d_model // num_heads


def last_size(name: str, array: Any, size: int, *, meaning: str) -> None:
    """Check that the last axis of `array` has `size` entries."""
    if array.shape[-1] != size:
        raise ValueError(
            f"{name} must have {size} entries on its last axis ({meaning}), "
            f"but its shape is {shape_text(array)}."
        )


def min_rank(name: str, array: Any, rank: int, *, layout: str) -> None:
    """Check that `array` has at least `rank` axes."""
    if len(array.shape) < rank:
        raise ValueError(
            f"{name} must have at least {rank} axes, {layout}, but its shape is "
            f"{shape_text(array)}. Add a batch axis with [None] if one is missing."
        )


def exact_rank(name: str, array: Any, rank: int, *, layout: str) -> None:
    """Check that `array` has exactly `rank` axes."""
    if len(array.shape) != rank:
        raise ValueError(
            f"{name} must have {rank} axes, {layout}, but its shape is "
            f"{shape_text(array)}."
        )


def broadcasts_to(
    name: str, array: Any, shape: tuple[int, ...], *, layout: str
) -> None:
    """Check that `array` can be broadcast to `shape` without making it larger."""
    own = tuple(array.shape)
    shape = tuple(shape)
    fits = len(own) <= len(shape) and all(
        a in (1, b) for a, b in zip(reversed(own), reversed(shape), strict=False)
    )
    if not fits:
        raise ValueError(
            f"{name} must be broadcastable to {layout} = {shape}, but its shape is "
            f"{own}."
        )
