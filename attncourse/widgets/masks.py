"""Masks: patterns put together, who sees whom, and what it costs."""

import numpy as np
import traitlets

from attncourse.widgets._base import CourseWidget, module_text, style_text
from attncourse.widgets._drawing import NAMES, heat_map, picture

TOKENS = 12


def pattern(tokens, *, causal, padding, side, window, global_tokens, stride):
    """Return a mask put together from parts.

    Window, global tokens and stride widen what is seen; where all three are off,
    everything is. Causality and padding then take away.

    Parameters
    ----------
    tokens : int
        Length of the sequence.
    causal : bool
        If True, no query sees a later key.
    padding : int
        Number of places that hold no token.
    side : str
        "right" or "left": where these places are.
    window : int or None
        The farthest distance that is seen.
    global_tokens : int
        So many first tokens see all and are seen by all.
    stride : int or None
        Distances that are multiples of it are seen.

    Returns
    -------
    numpy.ndarray of bool
        ``(queries, keys)``; True = may attend.
    """
    place = np.arange(tokens)
    distance = place[:, None] - place
    mask = np.full((tokens, tokens), window is None and stride is None)
    mask &= global_tokens == 0
    if window is not None:
        mask |= abs(distance) <= window
    if stride is not None:
        mask |= distance % stride == 0
    mask |= (place[:, None] < global_tokens) | (place < global_tokens)
    if causal:
        mask &= distance >= 0
    real = place < tokens - padding if side == "right" else place >= padding
    return mask & real


def pair_count(tokens, *, causal, window, global_tokens, stride):
    """Count the pairs that a pattern without padding allows, in time O(tokens).

    Parameters
    ----------
    tokens : int
        Length of the sequence.
    causal, window, global_tokens, stride
        As for `pattern`.

    Returns
    -------
    int
    """
    everything = window is None and stride is None and global_tokens == 0
    total = 0
    for i in range(tokens):
        last = i if causal else tokens - 1
        if everything or i < global_tokens:
            total += last + 1
            continue
        first_local = last_local = None
        top = min(global_tokens - 1, last)  # global keys are 0 … top
        count = top + 1
        if window is not None:
            first_local, last_local = max(0, i - window), min(last, i + window)
            count += max(0, last_local - max(first_local, top + 1) + 1)
        if stride is not None:
            count += _multiples(i, stride, top + 1, last)
            if window is not None:
                count -= _multiples(i, stride, max(first_local, top + 1), last_local)
        total += count
    return total


def _multiples(i, stride, first, last):
    """Count the j from `first` to `last` for which i − j is a multiple of `stride`."""
    if last < first:
        return 0
    return (last - i) // stride - (first - 1 - i) // stride


def layers_needed(mask):
    """Return through how many layers each key reaches each query.

    Parameters
    ----------
    mask : numpy.ndarray of bool
        ``(queries, keys)``.

    Returns
    -------
    numpy.ndarray of int
        ``(queries, keys)``; 0 where a key never does.
    """
    needed = np.where(mask, 1, 0)
    reached = mask.copy()
    for layer in range(2, len(mask) + 1):
        farther = (reached.astype(int) @ mask.astype(int)) > 0
        needed[farther & ~reached & (needed == 0)] = layer
        reached |= farther
    return needed


class Masks(CourseWidget):
    """Put a mask together, see who sees whom, and count what it costs.

    Parameters
    ----------
    causal : bool, default True
        If True, no token sees a later one.
    padding : int, default 0
        How many of the 12 places hold no token.
    side : str, default "right"
        "right" or "left": where these places are.
    window : int or None
        The farthest distance that is seen; None leaves this part out.
    global_tokens : int, default 0
        So many first tokens see all and are seen by all.
    stride : int or None
        Distances that are multiples of it are seen; None leaves this part out.
    query, key : int
        The cell that is explained.
    """

    _esm = module_text("masks")
    _css = style_text()

    causal = traitlets.Bool(True).tag(sync=True)
    padding = traitlets.Int(0, min=0, max=TOKENS - 1).tag(sync=True)
    side = traitlets.Enum(["right", "left"], "right").tag(sync=True)
    window = traitlets.Int(None, allow_none=True, min=0, max=TOKENS).tag(sync=True)
    global_tokens = traitlets.Int(0, min=0, max=TOKENS).tag(sync=True)
    stride = traitlets.Int(None, allow_none=True, min=1, max=TOKENS).tag(sync=True)
    query = traitlets.Int(5, min=0, max=TOKENS - 1).tag(sync=True)
    key = traitlets.Int(2, min=0, max=TOKENS - 1).tag(sync=True)

    def _parts(self):
        names = ("causal", "window", "global_tokens", "stride")
        return {name: getattr(self, name) for name in names}

    def mask(self):
        """Return the mask that the widget shows.

        Returns
        -------
        numpy.ndarray of bool
            ``(12, 12)``; True = may attend.
        """
        return pattern(TOKENS, padding=self.padding, side=self.side, **self._parts())

    def pairs(self, tokens):
        """Count the pairs of the pattern in a sequence of another length, not padded.

        Parameters
        ----------
        tokens : int
            Length of the sequence.

        Returns
        -------
        int
        """
        return pair_count(tokens, **self._parts())

    def still(self):
        """Return a picture of the mask."""
        mask = self.mask()
        names = [str(place) for place in range(TOKENS)]
        parts, width, height = heat_map(
            mask, names, names, cell=24, write="", full=NAMES[2]
        )
        title = (
            f"A mask of {TOKENS} queries (rows) and keys (columns). Filled cells may "
            f"be seen: {mask.sum()} of {mask.size}."
        )
        return picture(width, height + 4, parts, title)
