"""Masks: patterns put together, who sees whom, and what it costs."""

import numpy as np
import traitlets

from attncourse.widgets._base import CourseWidget, module_text, style_text
from attncourse.widgets._drawing import NAMES, heat_map, picture

TOKENS = 12


def pattern(tokens, *, causal, padding, side, window, global_tokens, stride):
    """Return a mask put together from parts, ``(queries, keys)``, True = may attend.

    `window`, the farthest distance that is seen, `global_tokens`, which see all and are
    seen by all, and `stride`, whose multiples are seen, widen what is seen; where all
    three are off, everything is. `causal` and `padding` on one `side` then take away.
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

    def mask(self):
        """Return the mask that the widget shows, ``(12, 12)``; True = may attend."""
        names = ("causal", "padding", "side", "window", "global_tokens", "stride")
        return pattern(TOKENS, **{name: getattr(self, name) for name in names})

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
