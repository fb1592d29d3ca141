"""What is the matter with a shape, in words."""

from __future__ import annotations


def about_shapes(ours: tuple[int, ...], right: tuple[int, ...]) -> str:
    """Say in which way one shape differs from another, if it can be said briefly.

    Parameters
    ----------
    ours, right : tuple of int
        The shape that came, and the one that was expected.

    Returns
    -------
    str
        The end of a sentence that names both shapes; empty if nothing is seen.
    """
    if [n for n in ours if n != 1] == [n for n in right if n != 1]:
        few = len(ours) < len(right)
        many = len(ours) != len(right)
        return (
            f": an axis of size 1 is {'missing' if few else 'too many'}"
            if many
            else ": an axis of size 1 stands in another place"
        )
    if sorted(ours) == sorted(right):
        return ": axes have changed places"
    for longer, shorter, words in (
        (right, ours, "is missing: something was summed, or picked, along it"),
        (ours, right, "is too many"),
    ):
        for axis in range(len(longer)):
            if longer[:axis] + longer[axis + 1 :] == shorter:
                return f": axis {axis} {words}"
    unlike = [k for k, (a, b) in enumerate(zip(ours, right, strict=False)) if a != b]
    if len(ours) == len(right) and len(unlike) == 1 and ours[unlike[0]] == 1:
        return (
            f": axis {unlike[0]} has size 1, so something was summed, averaged or "
            "picked along it"
        )
    if len(ours) == len(right) and len(unlike) == 1:
        return f": axis {unlike[0]} has another size"
    return ""
