"""Still pictures of the widgets: small SVG images, written as text.

The colours are variables of ``widgets.css`` with the values of the light page as their
defaults, so that a picture also reads where that style sheet is not loaded.
"""

import math
from html import escape

INK = "var(--attn-ink, #22262b)"
MUTED = "var(--attn-muted, #595f67)"
LINE = "var(--attn-line, #dedad1)"
FULL = "var(--attn-full, #8a3478)"
COLOURS = (  # query, key and value, as in attncourse.viz.colours
    "var(--attn-query, #0072B2)",
    "var(--attn-key, #D55E00)",
    "var(--attn-value, #009E73)",
)
NAMES = (  # the same, dark or light enough for letters
    "var(--attn-query-text, #00639c)",
    "var(--attn-key-text, #a84800)",
    "var(--attn-value-text, #00694c)",
)
DASHES = ("none", "6 3", "2 3")


def picture(width, height, parts, title):
    """Return an SVG image of SVG elements; `title` says in words what it shows.

    Its size is in pixels; it shrinks where there is less room.
    """
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
        f'width="{width:g}" role="img" aria-label="{escape(title)}" '
        f'style="max-width:100%;height:auto;font:12px system-ui,sans-serif">'
        f"<title>{escape(title)}</title>{''.join(parts)}</svg>"
    )


def text(x, y, words, *, anchor="start", colour=INK, size=12, turn=0):
    """Return a line of text whose base line starts, is centred or ends at (x, y).

    `size` is in pixels, and `turn` in degrees, clockwise around (x, y).
    """
    turned = f' transform="rotate({turn:g} {x:g} {y:g})"' if turn else ""
    return (
        f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}"{turned} '
        f'style="fill:{colour};font-size:{size}px">{escape(str(words))}</text>'
    )


def heat_map(weights, row_labels, column_labels, *, cell=34, write="{:.2f}", full=FULL):
    """Return a heat map on the scale from 0 to 1 with its numbers.

    Rows are queries, columns are keys; a cell is `cell` pixels wide, `write` says how a
    number is written (empty for none), `full` is the colour of the weight 1. The
    results are SVG elements, and the width and the height that they take, in pixels.
    """
    margin = 7 * max(map(len, row_labels), default=0) + 8
    head = 5.2 * max(map(len, column_labels), default=0) + 12
    height = cell * 0.82
    parts = []
    for j, label in enumerate(column_labels):
        x, y = margin + (j + 0.4) * cell, head - 5
        parts.append(text(x, y, label, turn=-40, colour=NAMES[1]))
    for i, label in enumerate(row_labels):
        y = head + (i + 0.66) * height
        parts.append(text(margin - 6, y, label, anchor="end", colour=NAMES[0]))
        for j, weight in enumerate(weights[i]):
            share = min(max(float(weight), 0.0), 1.0)
            x, y = margin + j * cell, head + i * height
            parts.append(
                f'<rect x="{x:g}" y="{y:g}" width="{cell - 2:g}" '
                f'height="{height - 2:g}" rx="2" style="stroke:{LINE};fill:{full};'
                f'fill-opacity:{share:.2f}"/>'
            )
            if write:
                band = "low" if share < 0.545 else "mid" if share < 0.79 else "high"
                default = "#ffffff" if band == "high" else "#000000"
                parts.append(
                    text(
                        x + cell / 2 - 1,
                        y + height / 2 + 3,
                        write.format(share),
                        anchor="middle",
                        size=11,
                        colour=f"var(--attn-{band}-text, {default})",
                    )
                )
    width = margin + cell * len(column_labels) + head * 0.7
    return parts, width, head + height * len(row_labels)


def weights_picture(weights, row_labels, column_labels, title):
    """Return a heat map of weights as an SVG image of its own."""
    parts, width, height = heat_map(weights, row_labels, column_labels)
    return picture(width, height, parts, title)


def line_chart(
    series,
    *,
    place=(0, 0),
    size=(320, 190),
    x_label="",
    y_label="",
    y_range=None,
    x_ticks=None,
    log_x=False,
):
    """Return a chart of at most three lines, as SVG elements.

    `series` maps names to points (x, y). `place` is the left upper corner and `size`
    width and height, in pixels. The ends of the vertical axis come from the points
    unless `y_range` is given; the horizontal one has numbers at `x_ticks` or its ends.
    """
    (left, top), (width, height) = place, size
    scale = math.log2 if log_x else float
    xs = sorted({scale(x) for points in series.values() for x, _ in points})
    ys = [y for points in series.values() for _, y in points]
    low, high = y_range or (min(ys), max(ys))
    box = (left + 44, top + 22, left + width - 10, top + height - 50)

    def at(x, y):
        across = (x - xs[0]) / ((xs[-1] - xs[0]) or 1)
        up = (y - low) / ((high - low) or 1)
        return (
            box[0] + across * (box[2] - box[0]),
            box[3] - min(max(up, 0), 1) * (box[3] - box[1]),
        )

    parts = [text(left + 4, top + 12, y_label, colour=MUTED)]
    for share in (0, 0.5, 1):
        y = low + share * (high - low)
        px, py = at(xs[0], y)
        parts.append(
            f'<path d="M{px:.1f} {py:.1f}H{box[2]:g}" style="stroke:{LINE};fill:none"/>'
        )
        parts.append(text(px - 5, py + 4, _short(y), anchor="end", size=11))
    ends = [2**x if log_x else x for x in (xs[0], xs[-1])]
    for x in x_ticks or ends:
        px, py = at(scale(x), low)
        parts.append(text(px, py + 15, _short(x), anchor="middle", size=11))
    centre = (box[0] + box[2]) / 2
    parts.append(text(centre, box[3] + 29, x_label, anchor="middle", colour=MUTED))
    offset = box[0]
    for i, (name, points) in enumerate(series.items()):
        path = "L".join("{:.1f} {:.1f}".format(*at(scale(x), y)) for x, y in points)
        stroke = f"stroke:{COLOURS[i]};stroke-width:2.2;stroke-dasharray:{DASHES[i]}"
        parts.append(f'<path d="M{path}" style="fill:none;{stroke}"/>')
        y = box[3] + 44
        parts.append(f'<path d="M{offset:g} {y - 4:g}h22" style="fill:none;{stroke}"/>')
        parts.append(text(offset + 27, y, name, size=11))
        offset += 40 + 6.2 * len(name)
    return parts


def _short(x):
    return f"{round(x, 3) + 0:g}".replace("-", "−")
