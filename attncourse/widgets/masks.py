"""Patterns put together: who sees whom, through how many layers, and what it costs."""

import numpy as np
import traitlets

from attncourse.widgets._base import CourseWidget, module_text, style_text
from attncourse.widgets._drawing import heat_map, picture

TOKENS = 12


def pattern(
    tokens: int,
    *,
    causal: bool,
    padding: int,
    side: str,
    window: int | None,
    global_tokens: int,
    stride: int | None,
    dilation: int = 1,
) -> np.ndarray:
    """Return a mask put together from parts, ``(queries, keys)``, True = may attend.

    `window`, the largest distance that is seen, `global_tokens`, which see all and are
    seen by all, and `stride`, whose multiples are seen, widen what is seen; where all
    three are off, everything is. With a `dilation` of d, the window has every d-th
    distance and is d times as wide. `causal` and `padding` on one `side` take away.
    """
    place = np.arange(tokens)
    distance = place[:, None] - place
    mask = np.full((tokens, tokens), window is None and stride is None)
    mask &= global_tokens == 0
    if window is not None:
        mask |= (abs(distance) <= window * dilation) & (distance % dilation == 0)
    if stride is not None:
        mask |= distance % stride == 0
    mask |= (place[:, None] < global_tokens) | (place < global_tokens)
    if causal:
        mask &= distance >= 0
    real = place < tokens - padding if side == "right" else place >= padding
    return mask & real


class Masks(CourseWidget):
    """Put a mask together, see who sees whom, and count the pairs.

    Parameters
    ----------
    causal : bool, default True
        If True, no token sees a later one.
    padding : int, default 0
        How many of the 12 positions are padding.
    side : str, default "right"
        "right" or "left": where these positions are.
    window : int or None
        The largest distance that is seen; None leaves this part out.
    global_tokens : int, default 0
        So many first tokens see all and are seen by all.
    stride : int or None
        Distances that are multiples of it are seen; None leaves this part out.
    query, key : int
        The cell that is explained.
    """

    _esm = module_text("patterns", "masks")
    _css = style_text()
    _parts = ("causal", "padding", "side", "window", "global_tokens", "stride")
    _size = TOKENS

    causal = traitlets.Bool(True).tag(sync=True)
    padding = traitlets.Int(0, min=0, max=TOKENS - 1).tag(sync=True)
    side = traitlets.Enum(["right", "left"], "right").tag(sync=True)
    window = traitlets.Int(None, allow_none=True, min=0, max=TOKENS).tag(sync=True)
    global_tokens = traitlets.Int(0, min=0, max=TOKENS).tag(sync=True)
    stride = traitlets.Int(None, allow_none=True, min=1, max=TOKENS).tag(sync=True)
    query = traitlets.Int(5, min=0, max=TOKENS - 1).tag(sync=True)
    key = traitlets.Int(2, min=0, max=TOKENS - 1).tag(sync=True)

    def mask(self) -> np.ndarray:
        """Return the mask that the widget shows, a square; True = may attend."""
        parts = {name: getattr(self, name) for name in self._parts}
        return pattern(self._size, **parts)

    def still(self) -> str:
        """Return a picture of the mask."""
        mask = self.mask()
        names = [str(place) for place in range(self._size)]
        cell = 12 + 144 / self._size
        parts, width, height = heat_map(mask, names, names, cell=cell, write="")
        title = (
            f"A mask of {self._size} queries (rows) and keys (columns). Filled cells "
            f"may be seen: {mask.sum()} of {mask.size}."
        )
        return picture(width, height + 4, parts, title)


class SparsePatterns(Masks):
    """Set a sparse pattern: how far it reaches, layer by layer, and what it costs.

    A cell is a block of 64 tokens, as for `block_sparse_attention`. The cost is that of
    one layer of width 512 with 8 heads.

    Parameters
    ----------
    causal, window, global_tokens, stride
        As for `Masks`, in blocks; the pattern has 24 of them.
    dilation : int, default 1
        At d, the window keeps every d-th block and is d times as wide.
    query : int
        The block whose inputs are followed through the layers.
    doublings : int, default 14
        The cost is that of 2 to this power tokens.
    """

    _esm = module_text("patterns", "sparse")
    _css = style_text("tiles")
    _parts = (*Masks._parts, "dilation")
    _size = 24

    dilation = traitlets.Int(1, min=1, max=8).tag(sync=True)
    query = traitlets.Int(23, min=0, max=23).tag(sync=True)
    doublings = traitlets.Int(14, min=9, max=18).tag(sync=True)
