"""Drawings of whole models; each is a function of whether the screen is narrow."""

from canvas import Canvas, flow, n, tones
from trained import block_reads

SOURCE = ["the", "cat", "sees", "the", "milk"]
TARGET = ["le", "chat", "voit", "le", "lait"]
ALIGNMENT = (0.04, 0.1, 0.7, 0.06, 0.1)  # an illustration, not a measurement


def transformer_block(narrow):
    """Draw a pre-norm block over four positions, read from bottom to top."""
    c = Canvas(352 if narrow else 708, 646 if narrow else 452)
    first, step, branch, span = (26, 84, 38, 26) if narrow else (200, 134, 56, 40)
    edge, low = (0, 304) if narrow else (168, 320)  # the sides and foot of attention
    norms, inner, sums = Canvas(0, 0), Canvas(0, 0), Canvas(0, 0)
    words, weights, following = block_reads()
    columns = [first + step * i for i in range(len(words))]
    half = 27 if narrow else 36

    def ribbons(query, opacity):
        end = columns[query] + branch - span / 2
        for key, weight in enumerate(weights[query][: query + 1]):
            width = span * weight / 100
            start, end = columns[key] + branch, end + width / 2
            path = f"M{start} {low}C{start} {low - 44} {n(end)} 284 {n(end)} 244"
            c.ribbon(path, width, opacity)
            end += width / 2

    with c.part("Attention"):
        c.box(edge, 244, c.width - edge, low - 244, style="a")
        c.badge("a", edge + 1, 245)
    for query in range(len(words)):
        ribbons(query, 0.2)
    for x in columns:
        right = x + branch
        c.path(f"M{x} {low + 104}V36", "stream way")
        c.path(f"M{x} 26l6 10h-12z", "tip")
        for leave, enter, top, back in ((low + 62, low, 244, 218), (198, 140, 102, 64)):
            c.dot(x, leave, 3.5)
            c.way((x, leave), (right, leave), (right, enter + 40))
            norms.box(right - 24, enter + 20, 48, 20, "norm", letters="small")
            c.way((right, enter + 20), (right, enter))
            c.way((right, top), (right, back), (x + 10, back))
            sums.plus(x, back)
        inner.box(right - half, 102, 2 * half, 38, "feed-\nforward", "", "small")
    parts = {"Norm": norms, "Feed-forward network": inner, "Residual sum": sums}
    for name, drawn in parts.items():
        with c.part(name):
            c.parts += drawn.parts
    earlier = f"M{edge} {low + 73}H{c.width}v20H{edge}z"
    c.path(earlier, "box", stroke_dasharray="5 4")
    c.text((edge + c.width) / 2, low + 87, "earlier layers", "small mid")
    streams = "".join(f"M{x} {low}V244" for x in columns)
    for query, (x, word) in enumerate(zip(columns, words, strict=True)):
        row, (next_word, share) = weights[query][: query + 1], following[query]
        most = words[row.index(max(row))]
        says = f"“{word}” reads most from “{most}” ({max(row) / 100:.2f}). "
        says += f"Next word: “{next_word}” ({share}%)"
        place = (x - 26, low + 104, 52, 26)
        with c.choice(says, x - step / 2, low + 94, step, 38, query == len(words) - 1):
            c.rect("box off", *place)
            c.text(x, low + 122, word, "word mid off")
            with c.group(class_="on"):
                ribbons(query, 1)
                c.path(streams, "stream way")
                around = f"M{x} {low + 104}v-11m0-20V228m0-20V74m0-20V36"
                c.path(around, "stream strong way")
                c.path(f"M{x} 26l6 10h-12z", "strong tip")
                c.rect("strong frame", x + branch - half, 102, 2 * half, 38, 5)
                c.rect("strong box followed", *place)
                c.text(x, low + 122, word, "word bold mid")
                for key, weight in enumerate(row):
                    right = columns[key] + branch + 21
                    c.text(right, low + 15, f"{weight / 100:.2f}", "a number")
                says = f"next word: “{next_word}” ({share}%)"
                c.text(min(max(x, 64), c.width - 58), 14, says, "small mid")
    reads = "each position reads\nitself and earlier ones;\nribbons: the weights"
    for y, below, name, part, note in (
        (
            44,
            484,
            "Residual stream",
            "Residual sum",
            "runs past every part;\neach adds to it",
        ),
        (
            116,
            526,
            "Feed-forward",
            "Feed-forward network",
            "in each position\nby itself",
        ),
        (262, 568, "Attention", "Attention", reads),
        (352, 627, "Norm", "Norm", "rescales what\na part reads"),
    ):
        if narrow:
            y, note = below, note.replace("\n", " ", 1)
        with c.part(part):
            c.text(0, y, name, "step")
        c.lines(0, y + 18, note, "note")
    c.text(0, low + (150 if narrow else 122), "Choose a word", "note")
    return c


def norm_placement(narrow):
    """Draw one position, with the norm before each part and after each sum."""
    panels = []
    forms = {"Pre-norm": "x + part(norm(x))", "Post-norm": "norm(x + part(x))"}
    for name, note in forms.items():
        c, pre = Canvas(166, 372, name), name == "Pre-norm"
        c.text(0, 38, note, "shape")
        x, right = 34, 104
        c.way((x, 368), (x, 56), style="stream strong")
        for bottom, part in ((360, "attention"), (206, "feed-\nforward")):
            height = 38 if "\n" in part else 28
            low = bottom - (52 if pre else 24)
            c.dot(x, bottom, 3.5)
            c.way((x, bottom), (right, bottom), (right, low + (32 if pre else 0)))
            if pre:
                c.box(right - 24, low + 12, 48, 20, "norm", letters="small")
                c.way((right, low + 12), (right, low))
            top, style = low - height, "" if "\n" in part else "a"
            c.box(right - 40, top, 80, height, part, style, "small")
            back = top - 20
            c.way((right, top), (right, back), (x + 10, back))
            c.plus(x, back)
            if not pre:
                c.box(x - 25, back - 42, 50, 20, "norm", letters="small")
        panels.append(c)
    return flow(narrow, panels, 20 if narrow else 90)


def encoder_decoder(narrow):
    c = Canvas(352, 560)
    for x, source, part in (
        (10, "source", "Encoder"),
        (176, "target so far", "Decoder"),
    ):
        c.text(x, 532, source, "word")
        c.text(x, 552, f"{part} × N", "small bold")
        with c.part("Positional encoding"):
            c.box(x - 2, 466, 148, 42, "embedding +\nposition", letters="small")
    c.path("M20 466V176Q20 160 36 160H172", "way strong")
    c.path("M186 466V54", "way strong")
    c.way((186, 466), (186, 46), style="strong")
    with c.part("Linear map and softmax"):
        c.box(176, 8, 148, 36, "linear, softmax", letters="small bold")
    c.text(168, 30, "next word", "word end")
    for x, y, name, note, part, number in (
        (44, 390, "Self-attention", "all see all", "Self-attention", 1),
        (44, 274, "Feed-forward", "each alone", "Feed-forward network", 2),
        (210, 390, "Self-attention", "causal mask", "Causal mask", 3),
        (210, 210, "Cross-attention", "reads the source", "Cross-attention", 4),
        (210, 86, "Feed-forward", "each alone", "Feed-forward network", 5),
    ):
        stream, style = x - 24, "" if note == "each alone" else "a"
        with c.part(part):
            c.box(x, y, 128 if x < 200 else 141, 48, style=style)
            c.text(x + 28, y + 20, name, "small bold")
            c.text(x + 28, y + 38, note, "small")
            c.badge("o", x + 5, y + 6, str(number))
        if number != 4:
            c.way((stream, y + 38), (x, y + 38))
        c.way((x, y + 12), (stream + 2, y + 12))
    c.way((172, 160), (262, 160), (262, 208), style="strong")
    c.path("M186 176V144", "halo", stroke_width=11)
    c.path("M186 200V130", "way strong")
    c.badge("k", 84, 150)
    c.badge("v", 108, 150)
    c.way((186, 300), (262, 300), (262, 258), style="q")
    c.badge("q", 216, 290)
    return with_notes(
        narrow,
        c,
        "Every source word attends to\nevery source word.",
        "One network, applied to each\nposition separately.",
        "A target word attends to itself and\nto earlier ones: the rest is masked.",
        "Queries from the target; keys and\nvalues from the encoder's output.",
        "As in the encoder. Around each part:\na residual sum and a layer norm.",
    )


def with_notes(narrow, canvas, *texts):
    """Set numbered notes beside a drawing, or below it."""
    top = 4 if narrow else 60
    notes = Canvas(340 if narrow else 318, top + 56 * len(texts))
    for number, words in enumerate(texts, 1):
        y = top + 56 * (number - 1)
        notes.badge("o", 0, y, str(number))
        notes.lines(30, y + 15, words)
    return flow(narrow, [canvas, notes])


def translator(width, attention, keys=True):
    """Draw an encoder below, a decoder above, and what passes between them."""
    c = Canvas(width, 330 if attention and keys else 310)
    step = (width - 48 if width < 400 else 600) / 4
    xs = [24 + step * i for i in range(5)]
    over, under = (17, 17) if keys else (-10, 68)  # names of rows
    sides = (SOURCE, 238, 66, over, "encoder"), (TARGET, 34, -10, under, "decoder")
    for words, y, below, beside, part in sides:
        c.text((xs[0] + xs[1]) / 2, y + beside, part, "small mid")
        for i, (x, word) in enumerate(zip(xs, words, strict=True)):
            c.grid(x - 8, y, tones(3, 1, i + y), "x", 16)
            strong = " bold" if attention and word == "voit" else ""
            c.text(x, y + below, word, f"word mid{strong}")
            if i:
                c.way((xs[i - 1] + 10, y + 24), (x - 10, y + 24))
    if not attention:
        x = xs[-1]
        c.way((x, 236), (x, 190), style="strong")
        c.grid(x - 8, 136, tones(3, 1, 7), "o", 16, marks=False)
        c.way((x - 10, 160), (xs[0], 160), (xs[0], 85), style="strong")
        c.text(x - 26, 148, "one vector", "bold end")
        c.text(x - 26, 182, "five words or fifty: always this size", "note end")
        return c
    x, y, end = xs[2], 118, xs[2] - 12
    reach = 11 if keys else 0
    for left, weight in zip(xs, ALIGNMENT, strict=True):
        width = 24 * weight
        bend = f"C{left + reach:g} 178 {end + width / 2:g} 198 {end + width / 2:g} 168"
        c.ribbon(f"M{left + reach:g} {208 if keys else 234}{bend}", width)
        end += width
        if keys:
            c.badge("k", left - 21, 208)
            c.badge("v", left + 1, 208)
            c.text(left, 324, f"{weight:.2f}", "a number")
    c.grid(x - 8, y, tones(3, 1, 9), "o", 16, marks=False)
    c.way((x, y - 2), (x, 85), style="o")
    if not keys:
        c.lines(x + 18, y + 17, "a new vector\nfor each word", "note")
        return c
    c.named("o", x + 18, y, "context")
    c.text(x + 18, y + 38, "Σ weight · value", "note")
    c.badge("q", xs[1] - 10, 90)
    c.lines(xs[1] - 16, 97, "matched\nwith every\nkey", "note end")
    return c


def seq2seq_attention(narrow):
    """Draw attention from the decoder to the encoder, step by step."""
    return translator(352 if narrow else 708, attention=True)


def two_translators(narrow):
    """Draw a translator without attention beside one with attention."""
    panels = []
    for attention, heading in (False, "Without attention"), (True, "With attention"):
        panels.append(Canvas(340, 350))
        panels[-1].text(16, 16, heading, "step")
        panels[-1].put(translator(340, attention, keys=False), 0, 34)
    return flow(narrow, panels)


def question_answering(narrow):
    """Draw the reader: where each attention gets queries, keys and values."""
    c = Canvas(352, 552)
    asked, said, rail = 6, 194, 342
    c.lines(0, 532, "who built\nthe theatre ?", "word", 18)
    c.lines(166, 532, "Marco Duval built\na theatre .", "word", 18)
    c.way((asked, 480), (asked, 256), style="strong", tip=False)
    c.way((asked - 1.5, 256), (228, 256), style="k")
    c.way((90, 338), (90, 272), (228, 272), style="v")
    c.way((asked, 430), (228, 430))
    c.way((said, 350), (140, 350))
    c.path(f"M{said} 480V224", "halo", stroke_width=9)
    c.way((said, 480), (said, 216), style="strong")
    c.way((said, 182), (said, 90), style="strong")
    for number, x, y, name in (
        (1, 228, 418, "to question"),
        (2, 40, 338, "to passage"),
        (3, 228, 248, "and back"),
        (4, 228, 116, "to itself"),
    ):
        c.box(x, y, 100, 48, style="a")
        c.badge("o", x + 5, y + 4, str(number))
        c.text(x + 30, y + 19, "Attention", "small bold")
        c.text(x + 7, y + 40, name, "small")
        c.way((x - 34, y + 40), (x, y + 40), style="q" if number < 4 else "")
        if number < 4:
            c.badge("q", x - 30, y + 30)
        if number in (1, 3):
            c.way((x + 100, y + 24), (rail, y + 24), (rail, 216))
    c.way((228, 128), (said + 2, 128))
    for x, y, drop in ((138, 420, 0), (146, 340, 0), (138, 246, 16)):
        c.badge("k", x, y)
        c.badge("v", x + 22, y + drop)
    for x, y, width, name in (
        (0, 480, 140, "recurrent encoder"),
        (166, 480, 186, "recurrent encoder"),
        (166, 182, 186, "join, recurrent encoder"),
    ):
        c.box(x, y, width, 34, name, letters="small")
    left, top = 176, 42
    words = ["not said", "Marco", "Duval", "built", "a", "theatre", "."]
    for j, word in enumerate(words):
        style = "word bold" if j in (1, 2) else "word"
        c.slanted(left + 17 + 24 * j, top - 7, word, style)
    c.rect("followed", left + 23, top - 4, 50, 55)
    scores = (0.1, 1, 0.2, 0, 0, 0.3, 0), (0.1, 0.2, 1, 0, 0, 0.3, 0)
    c.grid(left, top, scores, "x", 24)
    c.lines(left - 8, top + 16, "start\nend", "small end", 24)
    c.badge("o", 110, top + 14, "5")
    return with_notes(
        narrow,
        c,
        "Each word of the passage reads\nwhat is asked.",
        "Each word of the question collects\nwhat the passage says about it.",
        "The passage gets that back: keys from\nthe question, values from 2.",
        "The words of the passage compare\nwhat they found.",
        "Each word gets a start and an end score.\nDashed: the pair with the best sum.",
    )


def points(c, x, y, words, beside):
    """Place words side by side, with a point above or below each; return the points."""
    places = [(x + 45 * i, y) for i in range(len(words))]
    for (x, _), word in zip(places, words, strict=True):
        c.text(x, y + beside, word, "word mid")
    return places


def attend(c, keys, queries, seen, followed):
    """Join each query to the keys below that it sees, the followed one in plum."""
    for i, (x, y) in enumerate(queries):
        for j, (left, low) in enumerate(keys):
            if seen(i, j):
                style, tone = ("a way", 1) if i == followed else ("way", 0.3)
                c.path(f"M{x} {y}L{left} {low}", style, opacity=tone)
    for i, (x, y) in enumerate(keys + queries):
        asks = i == len(keys) + followed
        c.dot(x, y, 7, "a sign" if asks else "box")


def model_families(narrow):
    note = "all see all; the hidden\nword is predicted"
    encoder = Canvas(166, 234, "Encoder: BERT", note)
    keys = points(encoder, 16, 202, ["the", "___", "sees", "milk"], 26)
    queries = points(encoder, 16, 96, ["", "cat", "", ""], -14)
    attend(encoder, keys, queries, lambda i, j: True, 1)
    note = "each sees the past; the\nnext word is predicted"
    decoder = Canvas(166, 234, "Decoder: GPT", note)
    keys = points(decoder, 16, 202, ["the", "cat", "sees", "the"], 26)
    queries = points(decoder, 16, 96, ["cat", "sees", "the", "milk"], -14)
    attend(decoder, keys, queries, lambda i, j: j <= i, 3)
    note = "the target sees its own past\nand the whole source"
    both = Canvas(352 if narrow else 290, 234, "Encoder–decoder: T5", note)
    source = points(both, 16, 202, ["the", "cat", "sees"], 26)
    states = points(both, 16, 160, [""] * 3, 0)
    attend(both, source, states, lambda i, j: True, -9)
    target = points(both, 168, 160, ["start", "le", "chat"], 26)
    queries = points(both, 168, 96, ["le", "chat", "voit"], -14)
    attend(both, states + target, queries, lambda i, j: j <= i + 3, 2)
    return flow(narrow, [encoder, decoder, both], 20 if narrow else 40)
