"""What the drawings are made of: text, boxes, arrows, badges, grids, ribbons.

Colours are CSS classes of ``attncourse/viz/drawings/drawings.css``: q, k, v for query,
key and value, a for weights, o for output, x for everything else.
"""

import re
from collections import defaultdict
from contextlib import contextmanager
from html import escape

import numpy as np

BADGES = {  # on a square of 20 by 20
    "q": "M0 0h13l7 10l-7 10h-13z",
    "k": "M0 0h20v20h-20l7-10z",
    "v": "M0 10a10 10 0 1 0 20 0a10 10 0 1 0-20 0z",
    "a": "M0 0h20v20h-20z",
    "o": "M5 0h10l5 10l-5 10h-10l-5-10z",
    "x": "M0 0h20v20h-20z",
}
MARKS = {
    "q": "M{0:g} {1:g}m-3 0h6",
    "k": "M{0:g} {1:g}m0-3v6",
    "v": "M{0:g} {1:g}h.1",
    "o": "M{0:g} {1:g}m-2-2l4 4m0-4l-4 4",
}
CHOICE = """<style>.ask{--on:0;cursor:pointer;outline:0}
.ask:hover,.ask:focus,svg:not(:has(.ask:hover,.ask:focus))>.ask.first{--on:1}
svg:has(.ask:hover)>.ask:focus:not(:hover){--on:0}
.ask .hit{fill:none;pointer-events:all}.ask .off{opacity:calc(1 - var(--on))}
.ask .on{opacity:var(--on);pointer-events:none;transition:opacity .2s}
.ask .box.off{stroke:var(--line)}.ask .read{fill:var(--a)}
.ask:focus-visible .followed{stroke:var(--ink);stroke-width:2;stroke-dasharray:none}
@media (prefers-reduced-motion:reduce){.ask .on{transition:none}}</style>"""
LEVELS = 6
WORDS = ["the", "cat", "drank", "its", "milk"]


def n(number):
    """Return a coordinate as short as it can be."""
    return f"{round(number, 1):g}"


class Canvas:
    """A list of SVG elements and the size that they need, with a heading or without."""

    def __init__(self, width, height, heading="", note=""):
        self.width, self.height, self.parts, self.role = width, height, [], "img"
        if heading:
            self.text(0, 16, heading, "step")
            self.lines(0, 36, note, "note")

    def add(self, text):
        self.parts.append(text)

    def element(self, tag, content=None, **attributes):
        """Add an element; of the names of attributes, ``class_`` is ``class``."""
        start = tag
        for key, value in attributes.items():
            value = value if isinstance(value, str) else n(value)
            start += f' {key.rstrip("_").replace("_", "-")}="{value}"'
        self.add(f"<{start}/>" if content is None else f"<{start}>{content}</{tag}>")

    @contextmanager
    def group(self, tag="g", **attributes):
        """Put what is drawn meanwhile into one element; ``data_part`` is for links."""
        before, self.parts = self.parts, []
        yield
        drawn, self.parts = "".join(self.parts), before
        self.element(tag, drawn, **attributes)

    def put(self, other, x, y, **attributes):
        """Add what another canvas has drawn."""
        with self.group(**attributes, transform=f"translate({n(x)} {n(y)})"):
            self.parts += other.parts

    def svg(self, title, description, form):
        size = {"viewBox": f"0 0 {n(self.width)} {n(self.height)}", "width": self.width}
        more = {"role": self.role, "xmlns": "http://www.w3.org/2000/svg"}
        whole = Canvas(0, 0)
        with whole.group("svg", class_=form, **size, **more):
            whole.element("title", escape(title))
            whole.element("desc", escape(description))
            whole.parts += self.parts
        return whole.parts[0] + "\n"

    def part(self, name):
        """Put what is drawn meanwhile into a part that the site links."""
        return self.group("a", data_part=name)

    @contextmanager
    def choice(self, says, x, y, width, height, first=False):
        """Put what is drawn meanwhile into a part that the reader can choose.

        What has the class ``on`` shows while it is chosen, ``off`` while it is not.
        """
        if self.role != "group":
            self.role = "group"
            self.add(CHOICE)
        style = "ask" + " first" * first
        with self.group(class_=style, tabindex="0", role="img"):
            self.element("title", escape(says))
            self.rect("hit", x, y, width, height, 0)
            yield

    def text(self, x, y, words, style=""):
        words = escape(words)
        if "shape" not in style:  # what is not code: d_k has a subscript
            small = r'<tspan dy="4" font-size="12">\1</tspan><tspan dy="-4">\2</tspan>'
            words = re.sub(r"_([a-zA-Z])\b(.*)", small, words)
        self.element("text", words, class_=style, x=x, y=y)

    def lines(self, x, y, words, style="", leading=17):
        for i, line in enumerate(words.split("\n")):
            self.text(x, y + i * leading, line, style)

    def slanted(self, x, y, word, style="word", angle=-50):
        """Write what a column is, above it."""
        turned = f"translate({n(x)} {n(y)}) rotate({angle})"
        self.element("text", escape(word), class_=style, transform=turned)

    def path(self, d, style, /, **attributes):
        self.element("path", class_=style, d=d, **attributes)

    def rect(self, style, x, y, width, height, radius=4):
        sizes = {"width": width, "height": height, "rx": radius}
        self.element("rect", class_=style, x=x, y=y, **sizes)

    def box(self, x, y, width, height, words="", style="", letters="", radius=5):
        self.rect(f"{style} box", x, y, width, height, radius)
        top = y + height / 2 + 5 - 8.5 * words.count("\n")
        self.lines(x + width / 2, top, words, f"mid {letters}")

    def way(self, *points, style="", tip=True):
        """Draw a line with rounded corners from point to point, and its arrow head."""
        d = f"M{n(points[0][0])} {n(points[0][1])}"
        for before, corner, after in zip(points, points[1:], points[2:], strict=False):
            near, far = _toward(corner, before), _toward(corner, after)
            d += f"L{near}Q{n(corner[0])} {n(corner[1])} {far}"
        (px, py), (x, y) = points[-2:]
        length = max(abs(x - px) + abs(y - py), 1e-9)
        ux, uy = (x - px) / length, (y - py) / length
        stop = 6 if tip else 0
        self.path(f"{d}L{n(x - stop * ux)} {n(y - stop * uy)}", f"{style} way")
        if tip:
            corner = f"l{n(-8 * ux - 4 * uy)} {n(-8 * uy + 4 * ux)}"
            d = f"M{n(x)} {n(y)}{corner}l{n(8 * uy)} {n(-8 * ux)}z"
            self.path(d, f"{style} tip")

    def badge(self, kind, x, y, letter=None):
        at = {"q": 8.5, "k": 12.5}.get(kind, 10)
        with self.group(class_=kind, transform=f"translate({n(x)} {n(y)})"):
            self.path(BADGES[kind], "sign")
            self.text(at, 14.5, letter or kind.upper(), "letter")

    def named(self, kind, x, y, name, shape=""):
        """Write a badge with its name, and the shape below it."""
        self.badge(kind, x, y)
        with self.group(class_=kind):
            self.text(x + 26, y + 15, name, "named")
        if shape:
            self.text(x, y + 37, shape, "shape")

    def grid(self, x, y, values, kind, cell=20, hidden=None, marks=True):
        """Draw a matrix, rows downward; entries in 0 to 1 are the strength of a cell.

        ``hidden`` is a matrix of the same shape, true where a cell is hatched.
        """
        paths, side = defaultdict(str), cell - 3
        for i, row in enumerate(values):
            for j, value in enumerate(row):
                left, top = x + j * cell + 1.5, y + i * cell + 1.5
                if hidden is not None and hidden[i][j]:
                    half = side / 2
                    lines = ((0, half, half), (0, side, side), (half, side, half))
                    for a, b, length in lines:
                        d = f"M{n(left + a)} {n(top + b)}l{n(length)} {n(-length)}"
                        paths["hide"] += d
                    continue
                level = round(float(value) * LEVELS)
                square = f"M{n(left)} {n(top)}h{n(side)}v{n(side)}h{n(-side)}z"
                paths[f"cells l{level}"] += square
                if marks and kind in MARKS:
                    mark = MARKS[kind].format(left + side / 2, top + side / 2)
                    paths["mark on" if level > 3 else "mark"] += mark
        width, height = len(values[0]) * cell + 2, len(values) * cell + 2
        with self.group(class_=kind):
            for style, d in sorted(paths.items()):  # cells come before marks
                self.path(d, style)
            self.rect("frame", x - 1, y - 1, width, height, 3)

    def dot(self, x, y, radius=4, style=""):
        self.element("circle", class_=style, cx=x, cy=y, r=radius)

    def plus(self, x, y):
        self.dot(x, y, 10, "box")
        self.path(f"M{n(x - 5)} {n(y)}h10m-5-5v10", "way ink")

    def ribbon(self, d, width, opacity=1.0):
        self.path(d, "ribbon", stroke_width=width, opacity=opacity)


def flow(narrow, panels, gap=28):
    """Set panels side by side where there is room, and below one another."""
    room, rows = 352 if narrow else 708, [[]]
    for panel in panels:
        taken = sum(other.width + gap for other in rows[-1])
        if rows[-1] and taken + panel.width > room:
            rows.append([])
        rows[-1].append(panel)
    canvas, top = Canvas(room, 0), 0
    taken = max(sum(p.width for p in row) + gap * (len(row) - 1) for row in rows)
    for row in rows:
        left = (room - taken) / 2
        for panel in row:
            canvas.put(panel, left, top)
            left += panel.width + gap
        top += max(p.height for p in row) + gap
    canvas.height = top - gap
    return canvas


def _toward(corner, other, radius=8):
    (x, y), (ox, oy) = corner, other
    length = max(((ox - x) ** 2 + (oy - y) ** 2) ** 0.5, 1e-9)
    step = min(radius, length / 2) / length
    return f"{n(x + (ox - x) * step)} {n(y + (oy - y) * step)}"


def tones(rows, columns, seed=0):
    """Return the strengths of the cells of a matrix whose elements do not matter."""
    return np.random.default_rng(seed).uniform(0.1, 0.9, (rows, columns))
