"""Drawings of parts of models; each is a function of whether the screen is narrow."""

import numpy as np
import torch
from canvas import WORDS, Canvas, flow, n, tones

from attncourse import SelfAttention, seed_everything, sinusoidal_encoding
from attncourse.models.pretrained import load_pretrained


def strength(matrix):
    """Scale a matrix to entries from 0 to 1, for the tone of its cells."""
    return (matrix - matrix.min()) / (matrix.max() - matrix.min())


def attention_example():
    """Compute chapter 2's example; rows of scores, weights and output are queries."""
    table = [[0.321, -1.024, 0.876], [1.234, 0.567, -0.89], [-0.456, 0.789, 1.234]]
    table += [[1.111, -0.333, 0.222], [-0.777, 0.888, -0.999], [0.555, -0.666, 0.777]]
    projections = np.random.default_rng(2).normal(size=(3, 3, 3)).round(1)
    query, key, value = np.array(table) @ projections
    scores = query @ key.T
    weights = torch.tensor(scores / 3**0.5).softmax(-1).numpy()
    return query, key, value, scores, weights, weights @ value


STEPS = {
    "Project": "query, key, value:\nstronger is larger",
    "Compare": "one query with\nevery key",
    "Scale": "÷ √3 = √d_k",
    "Softmax": "weights A, sum 1",
    "Average": "the values,\nby their weights",
}


def scaled_dot_product_attention(narrow):
    words = ["Manchester", "United", "hopes", "to", "perform", "better"]
    query, key, value, scores, weights, output = attention_example()
    room, left, width, cell = (352, 24, 54.6, 15) if narrow else (708, 190, 86, 18)
    xs, half = [left + width * (j + 0.5) for j in range(6)], 1.5 * cell
    ys = (108, 236, 308, 380, 452) if narrow else (60, 158, 220, 272, 324)
    c = Canvas(room, ys[-1] + cell + 88)

    def vectors(y, kind, matrix):
        for j, x in enumerate(xs):
            c.grid(x - half, y, strength(matrix)[j : j + 1], kind, cell, marks=False)
        c.badge(kind, 0 if narrow else 164, y + cell / 2 - 10)

    def numbers(i, kind, row):
        y = ys[i]
        for x, number in zip(xs, row, strict=True):
            level = round(number * 6) if kind == "a" else 0
            c.rect(f"{kind} cells l{level}", x - half, y, 2 * half, 24, 2)
            c.rect(f"{kind} frame", x - half, y, 2 * half, 24, 2)
            with c.group(class_=kind):
                text = f"{number:.2f}".replace("-", "−")
                c.text(x, y + 16.5, text, "small mid bold")

    c.text(0, 13, "untrained: the numbers show steps, not meaning", "note")
    for i, (name, note) in enumerate(STEPS.items()):
        top = ys[i] - (36 if narrow else 2)
        c.badge("o", 0, top, str(i + 1))
        c.text(27, top + 15, name, "step")
        if narrow:
            c.text(352, top + 15, note.replace("\n", " "), "note end")
            c.path(f"M0 {top + 25}H352", "rule")
        else:
            c.lines(27, top + 33, note, "note")
    for i, drawn in enumerate((("q", query), ("k", key), ("v", value))):
        vectors(ys[0] + (cell + 6) * i, *drawn)
    for x in xs:
        for i in (2, 3) if not narrow else ():
            c.way((x, ys[i - 1] + 24), (x, ys[i]))
    c.badge("a", 0 if narrow else 164, ys[3] + 2)
    vectors(ys[4], "v", value)
    for asks, (middle, word) in enumerate(zip(xs, words, strict=True)):
        best = weights[asks].argmax()
        says = f"“{word}” gives its largest weight, {weights[asks, best]:.2f}, to "
        says += "itself" if best == asks else f"“{words[best]}”"
        style = "small mid" if narrow else "word mid"
        y = 40 + 16 * (narrow and asks % 2)  # on a phone every other word is lower
        place = middle - width / 2, y - 17, width, 26
        with c.choice(says, *place, word == "perform"):
            c.text(middle, y, word, f"{style} off")
            with c.group(class_="on"):
                c.text(middle, y, word, f"{style} bold")
                c.rect(
                    "followed", middle - half - 4, ys[0] - 5, 2 * half + 8, cell + 10
                )
                y, turn = ys[0] + cell / 2, ys[1] - (48 if narrow else 16)
                down = min(middle + half + (6.6 if narrow else 18), room - 1)
                at = min(middle + half + 4, down)
                end = (10, ys[1] - (36 if narrow else 2))
                c.way((at, y), (down, y), (down, turn), (10, turn), end, style="q")
                numbers(1, "x", scores[asks])
                numbers(2, "x", scores[asks] / 3**0.5)
                numbers(3, "a", weights[asks])
                low, end = ys[4] + cell, middle - 24
                for x, weight in zip(xs, weights[asks], strict=True):
                    at, end = end + 24 * weight, end + 48 * weight
                    path = f"M{n(x)} {low}C{n(x)} {low + 44} {n(at)} {low + 20} "
                    with c.group(class_="a"):
                        c.ribbon(path + f"{n(at)} {low + 62}", 48 * weight)
                top, shades = low + 64, strength(output)[asks : asks + 1]
                c.grid(middle - half, top, shades, "o", cell, marks=False)
                c.badge("o", middle - half - 28, top + cell / 2 - 10)
                x, side = (
                    (middle + half + 10, "")
                    if asks < 3
                    else (middle - half - 36, " end")
                )
                c.text(x, top + 13, f"output for “{word}”", "small" + side)
    return c


def mask_panel(name, hidden, rows, columns):
    c = Canvas(166, 182, name)
    left = 46
    for i, word in enumerate(rows):
        c.text(left - 6, 89 + 21 * i, word, "word end")
    for j, word in enumerate(columns):
        c.slanted(left + 15 + 21 * j, 67, word)
    c.grid(left, 74, np.where(hidden, 0, 0.5), "a", 21, hidden)
    return c


def which_leaks(narrow):
    """Draw two masks on letters that a model of chapter 5 reads, and its losses."""
    letters, entropy = "pneklga", np.log(16)
    cell, room, start = (18, 180, 0) if narrow else (26, 330, 60)
    c, side = Canvas(352 if narrow else 708, 5 * cell + 172), 6 * cell
    c.text(start + 18, 13, "rows: who reads; columns: what is read", "note")
    for k, loss, says in ((0, entropy, "no better than chance"), (1, 0, "perfect")):
        left = start + k * room + 18
        right, bottom = left + side, 80 + 5 * cell
        c.text(left, 42, f"Mask {'AB'[k]}", "step")
        c.text(right + 32, 70, "next", "note mid")
        hidden = ~np.tri(5, 6, k=k, dtype=bool)
        c.grid(left, 80, np.where(hidden, 0, 0.5), "a", cell, hidden)
        middle = [80 + cell * (i + 0.5) for i in range(5)]
        for i in range(6):
            c.text(left + cell * (i + 0.5), 70, letters[i], "word mid")
        for i, y in enumerate(middle):
            c.text(left - 8, y + 5, letters[i], "word end")
            c.way((right + 4, y), (right + 20, y))
        with c.group(class_="o" * k):  # what the answer lights up
            for i, y in enumerate(middle):
                c.text(right + 32, y + 5, letters[i + 1], "word mid bold")
                if k:
                    x, top = left + cell * (i + 1) + 1.5, y - cell / 2 + 1.5
                    d = f"M{n(x)} {n(top)}h{cell - 3}v{cell - 3}h{3 - cell}z"
                    c.path(d, "a cells l3")
        c.text(left, bottom + 30, "loss on new letters", "note")
        c.text(left, bottom + 50, f"{loss:.2f} nats", "step")
        c.rect("wash", left, bottom + 60, side, 12, 2)
        c.rect("tip strong", left, bottom + 60, max(side * loss / entropy, 2), 12, 2)
        c.text(left, bottom + 91, says)
    return c


def masks(narrow):
    words = ["the", "cat", "sat", "on", "it"]
    padded = [*words[:3], "pad", "pad"]
    causal = ~np.tri(5, dtype=bool)
    padding = np.tile([0, 0, 0, 1, 1], (5, 1)).astype(bool)
    panels = [
        mask_panel("Causal", causal, words, words),
        mask_panel("Padding", padding, padded, padded),
        mask_panel("Both", causal | padding, padded, padded),
        mask_panel("Cross", padding, ["le", "chat", "s’est", "assis", "."], padded),
    ]
    return flow(narrow, panels, 14)


def head_split(narrow):
    note = "every head reads all of X, through its own\ncolumns of the projection"
    first = Canvas(348, 330, "Project, then split", note)
    with first.group(style="font:13px Literata,Georgia,serif"):
        for i, word in enumerate(WORDS):
            first.text(32, 110 + 16 * i, word, "end")
    first.grid(38, 98, tones(5, 8, 1), "x", 16)
    first.text(38, 201, "n × d_model", "shape")
    first.way((170, 138), (205, 138), style="q")
    first.text(187, 125, "W_Q", "small mid")
    for head in range(4):
        first.grid(208 + 36 * head, 98, tones(5, 2, 2 + head), "q", 16)
        first.text(224 + 36 * head, 90, str(head), "small mid")
    first.named("q", 208, 187, "Queries", "heads × n × d_k")
    first.text(0, 258, "Keys and values are split in the same way.", "note")
    first.text(0, 275, "A split changes the shape alone:", "note")
    first.text(0, 300, "(n, d_model) → (n, heads, d_k)", "shape")
    first.text(0, 320, "→ (heads, n, d_k)", "shape")
    note = "each head by itself; outputs side by side,\nthen mixed by W_O"
    second = Canvas(332, 330, "Attend, then merge", note)
    for head in range(4):
        y = 66 + 64 * head
        second.text(0, y + 30, str(head), "small")
        for i, kind in enumerate("qkv"):
            cells = tones(5, 2, 3 * head + i)
            second.grid(14 + 26 * i, y, cells, kind, 10, marks=False)
        second.way((91, y + 25), (107, y + 25))
        weights = torch.tensor(6 * tones(5, 5, head + 40)).softmax(-1)
        second.grid(109, y, weights, "a", 10)
        second.way((162, y + 25), (178, y + 25))
        second.grid(180, y, tones(5, 2, head + 50), "o", 10, marks=False)
        second.way((203, y + 25), (218, y + 25), (218, 120), (240, 120), tip=head == 0)
        second.grid(242 + 22 * head, 95, tones(5, 2, head + 50), "o", 10, marks=False)
    second.text(332, 86, "n × heads·d_v", "shape end")
    second.way((284, 148), (284, 204))
    second.text(292, 180, "W_O", "small")
    second.grid(242, 206, tones(5, 8, 90), "o", 10, marks=False)
    second.named("o", 242, 266, "Output", "n × d_model")
    return flow(narrow, [first, second])


def word_order(narrow):
    """Draw what the layer of chapter 4 makes of two orders of three words."""
    seed_everything(0)
    vectors = {word: 2 * torch.randn(8).double() for word in ("dog", "bites", "man")}
    layer, cell = SelfAttention(8).double(), 12 if narrow else 20
    positions = sinusoidal_encoding(3, 8).double()
    middles, room = ((52, 176, 300), 352) if narrow else ((118, 354, 590), 708)
    sentences, tops = [list(vectors), list(vectors)[::-1]], (110, 194 + cell)
    rows = [torch.stack([vectors[w] for w in words]) for words in sentences]
    c = Canvas(room, 314 + 2 * cell)
    start, long = tops[0] + cell + 5, tops[1] - tops[0] - cell - 10
    # How far down each line its bends and its number are.
    ways = ((0.9, 0.55), 0.75), ((0.3, 0.7), 0.5), ((0.45, 0.1), 0.25)
    for words, top, below in zip(sentences, tops, (0, 1), strict=True):
        box, leave, enter = (top - 39, top - 15, top - 3)
        if below:
            box, leave, enter = (top + cell + gap for gap in (17, 17, 3))
        c.box(3, box, room - 6, 24, "self-attention", "a", "small mid")
        for word, middle in zip(words, middles, strict=True):
            c.text(middle, box + 41 if below else box - 9, word, "word mid")
            c.way((middle, leave), (middle, enter))
    for given, (says, added) in enumerate(
        (("Without positions", 0), ("With positions", positions))
    ):
        outputs = torch.stack([layer(x + added)[0].detach() for x in rows]).numpy()
        changes = abs(outputs[0] - outputs[1, ::-1]).max(-1)
        low, high = outputs.min((0, 1)), outputs.max((0, 1))
        note = "on each line: the largest change in a word’s eight" + "\n "[not narrow]
        note += f"numbers, which run from {outputs.min():.1f} to {outputs.max():.1f}"
        left = given * 160
        with c.choice(says, left, 0, 160, 34, not given):
            c.box(left + 3, 3, 148, 26, says, "off", "small off")
            with c.group(class_="on"):
                c.box(left + 3, 3, 148, 26, says, "followed", "small bold")
                for top, output in zip(tops, outputs, strict=True):
                    cells = (output - low) / (high - low)
                    for middle, shades in zip(middles, cells, strict=True):
                        c.grid(
                            middle - 4 * cell, top, shades[None], "o", cell, marks=False
                        )
                for i, (change, (turns, t)) in enumerate(
                    zip(changes, ways, strict=True)
                ):
                    x = np.repeat((middles[i], middles[2 - i]), 2)
                    y = start + long * np.array([0, *turns, 1])
                    curve = "M{} {}C{} {} {} {} {} {}"
                    curve = curve.format(*map(n, np.ravel([x, y], "F")))
                    c.path(
                        curve, "way ink", stroke_dasharray="5 4" if given else "none"
                    )
                    u = 1 - t
                    at = np.array([u**3, 3 * u * u * t, 3 * u * t * t, t**3])
                    c.box(
                        at @ x - 21,
                        at @ y - 10,
                        42,
                        20,
                        f"{change:.2f}",
                        "",
                        "number",
                        10,
                    )
                for i, middle in enumerate(middles * given):
                    for word, y in (
                        (sentences[0][i], 62),
                        (sentences[1][i], tops[1] + cell + 58),
                    ):
                        c.text(middle - 10 - 3.6 * len(word), y, str(i), "shape end")
                c.lines(
                    room / 2, tops[1] + cell + 86, note.replace("-", "−"), "note mid"
                )
    return c


def attention_sink(narrow):
    """Draw where head 2.7 of MiniLM attends in chapter 11, and what it receives."""
    model, tokenizer = load_pretrained("all-MiniLM-L6-v2")
    sentence = tokenizer.encode("The doctor gave me some pills.")
    tokens, ids = sentence.tokens, torch.tensor([sentence.ids])
    with torch.no_grad():
        x = model.embedding(ids)
        x = model.embedding_norm(model.positions(x) + model.segments[0])
        x = model.layers[1](model.layers[0](x)[0])[0]
        weights = model.layers[2](x, need_weights=True)[1][0, 7, 1:-1]
        lengths = model.layers[2].attention.project(x, x)[1][0, 7].norm(dim=-1)
    lengths = lengths / lengths[1:-1].mean()
    received = weights * lengths / (weights @ lengths)[:, None]
    c, columns = Canvas(*((352, 734) if narrow else (708, 385))), range(63, 330, 30)
    share = "weights, per cent, rounded;\nthe rows of [CLS] and [SEP] are left out"
    below = "weight × size of the value (its norm),\nper cent of the row, rounded"
    for kind, matrix, name, note, at in (
        ("a", weights, "Where the head attends", share, (0, 33)),
        ("v", received, "What it receives", below, (0, 438) if narrow else (372, 33)),
    ):
        panel = Canvas(336, 352)
        panel.text(0, -17, name, "step")
        panel.lines(0, 3, note, "note")
        panel.rect("q frame", 0, 117, 336, 32)
        panel.rect("frame", 61, 89, 272, 204, 3)
        for i, token in enumerate(tokens[1:-1]):
            panel.text(56, 109 + 29 * i, token, "word end" + " bold" * (i == 1))
        for x, token, shares in zip(columns, tokens, matrix.T, strict=True):
            panel.slanted(x + 14, 82, token)
            for i, share in enumerate(shares):
                d = f"M{x} {91 + 29 * i}h28v26h-28z"
                panel.path(d, "cells", style=f"--l:{0.9 * share:.0%}")
            doctor = shares[1]
            style = "letter" if doctor > 0.6 else "number"
            panel.text(x + 14, 138, f"{100 * doctor:.0f}", style)
        c.put(panel, *at, class_=kind)
    with c.group(class_="v", transform="translate(0 33)"):
        for x, length in zip(columns, lengths, strict=True):
            c.path(f"M{x} 346h28v{-34 * length:.1f}h-28z", "cells l6")
        c.path("M61 347h272", "rule")
        c.lines(50, 329, "size of\nvalue", "small end", 16)
        c.text(73, 340, f"{lengths[0]:.2f}", "number named")
    return c


def position_schemes(narrow):
    added = Canvas(166, 190, "Added to input", "sinusoidal, learned")
    wave = np.sin(np.arange(5)[:, None] / 5.0 ** np.arange(3)) / 2.2 + 0.5
    x = tones(5, 3, 3)
    for left, matrix, sign in ((2, x, "+"), (61, wave, "="), (120, (x + wave) / 2, "")):
        added.grid(left, 70, matrix, "x", 14)
        added.text(left + 51, 110, sign, "step mid")
    added.text(21, 160, "token", "small mid")
    added.text(81, 160, "position", "small mid")
    keys = Canvas(166, 190, "Added to keys", "by distance (Shaw et al.)")
    keys.badge("q", 62, 58)
    keys.text(90, 73, "position 2", "small")
    for i in range(5):
        keys.way((72, 80), (10 + 31 * i, 102), tip=False)
        keys.badge("k", 31 * i, 104)
        keys.text(10 + 31 * i, 142, "+", "small mid")
        label = ("−2", "−1", "0", "+1", "+2")[i]
        keys.box(31 * i - (i and 1), 148, 22, 22, label, "k", "small", 2)
    scores = Canvas(166, 190, "Added to scores", "T5 bias, ALiBi")
    i = np.arange(5)
    scores.grid(0, 66, 1 - abs(i[:, None] - i) / 4, "x", 20)
    scores.lines(106, 96, "a number\nfor each\ndistance\nj − i", "small")
    turned = Canvas(166, 190, "Rotates Q and K", "rotary (RoPE)")
    turned.dot(50, 128, 48, "frame")
    for kind, angle, label in (("q", 25, "i·θ"), ("k", 70, "j·θ")):
        radians = np.radians(angle)
        tip = (50 + 47 * np.cos(radians), 128 - 47 * np.sin(radians))
        turned.path(f"M50 128L{tip[0]:.1f} {tip[1]:.1f}", f"{kind} way")
        turned.badge(kind, tip[0] - 2, tip[1] - 20)
        turned.text(tip[0] + 22, tip[1] - 5, label, "small")
    turned.lines(106, 146, "only j − i\ncounts", "small")
    return flow(narrow, [added, keys, scores, turned], 14)


def kv_cache(narrow):
    panels = []
    for cached, name, note in (
        (False, "Without a cache", "every step computes all keys and values again"),
        (True, "With a KV cache", "kept from earlier steps; one new pair each"),
    ):
        c = Canvas(340, 236, name, note)
        for i, word in enumerate(WORDS):
            x = 8 + 66 * i
            c.badge("q", x + 12, 50)
            column = [[0.0 if cached and j < i else 1.0] for j in range(i + 1)]
            c.grid(x, 78, column, "k", 18)
            c.grid(x + 24, 78, column, "v", 18)
            c.text(x + 21, 190, word, "word mid")
            c.text(x + 21, 208, f"+{1 if cached else i + 1}", "small mid bold")
        total = "n pairs: 5" if cached else "n(n + 1)/2 pairs: 15"
        c.text(340, 232, total, "bold end")
        panels.append(c)
    return flow(narrow, panels)


def gqa(narrow):
    panels = []
    names = {8: "Multi-head (MHA)", 2: "Grouped-query (GQA)", 1: "Multi-query (MQA)"}
    for groups, name in names.items():
        c = Canvas(216, 190, name, f"{groups} key–value head" + "s" * (groups > 1))
        each = 8 // groups
        for head in range(8):
            x = 27 * head
            middle = 27 * (head // each * each + (each - 1) / 2) + 10
            c.path(f"M{x + 10} 72C{x + 10} 92 {middle} 84 {middle} 104", "way")
            c.badge("q", x, 52)
        for group in range(groups):
            middle = 27 * (group * each + (each - 1) / 2)
            c.badge("k", middle, 104)
            c.badge("v", middle, 126)
        c.path("M.5 160h209v9h-209z", "wash")
        c.path(f"M.5 160h{209 / 8 * groups:g}v9H.5z", "o sign")
        c.text(0, 186, f"cache per token: 2 · {groups} · d_k", "small")
        panels.append(c)
    return flow(narrow, panels, 30)


def attention_cost(narrow):
    """Draw the scores of causal attention and of a window, to scale."""
    window, lengths, side = 64, (128, 256, 512, 1024), 140 if narrow else 270
    top, unit, pitch = 90 if narrow else 76, side / lengths[-1], 92 if narrow else 112
    room = 352 if narrow else 708
    bottom, first = top + side + (98 if narrow else 56), 0 if narrow else 136
    c = Canvas(room, bottom + (36 if narrow else 28))
    lefts = (26, room - side) if narrow else (44, 394)
    near = f"its own key and\nup to {window - 1} before it"
    notes = ("its own key and\nall before it", near)
    names = ("Full attention", f"A window of {window}")

    def scores(full, length):
        width = length if full else min(window, length)
        return width * length - width * (width - 1) // 2

    def computed(full, length, style):
        """Draw the scores that are computed for the first tokens."""
        left, edge = lefts[not full], length * unit
        band = edge if full else window * unit
        d = f"M{left} {top}l{n(edge)} {n(edge)}h-{n(band)}L{left} {n(top + band)}z"
        c.path(d, style)

    for full, left, name, note in zip((True, False), lefts, names, notes, strict=True):
        if not narrow:
            note = f"each query sees {note}".replace("\n", " ")
        c.text(left - 26, 16, name, "step")
        c.lines(left - 26, 36, note, "note")
        c.slanted(left - 10, top + side / 2, "queries", "q named mid", -90)
        c.text(left + side / 2, top - 7, "keys", "k named mid")
        c.rect("box", left, top, side, side, 0)
        computed(full, lengths[-1], "a cells l1")
        for length in lengths[:-1]:
            c.rect("rule", left, top, length * unit, length * unit, 0)
        c.rect("frame", left, top, side, side, 0)
    for i, length in enumerate(lengths):
        x, words = first + pitch * i, f"{length:,}" + " tokens" * (not narrow)
        counts = [scores(full, length) for full in (True, False)]
        says = (
            f"{length:,} tokens: {counts[0]:,} scores, or {counts[1]:,} in the window"
        )
        with c.choice(says, x - 8, bottom - 6, pitch, 40, length == 512):
            c.box(x, bottom, pitch - 10, 26, words, "off", "small off")
            with c.group(class_="on"):
                for full, left, count in zip((True, False), lefts, counts, strict=True):
                    computed(full, length, "a cells l3")
                    edge = length * unit
                    c.rect("a frame", left, top, edge, edge, 0)
                    c.text(left, top + side + 20, f"{count:,} scores", "bold")
                    growth = f"{count / scores(full, length // 2):.1f} times as many"
                    growth += "\n" if narrow else " "
                    growth += f"as for {length // 2:,} tokens"
                    c.lines(left, top + side + 38, growth, "note")
                c.box(x, bottom, pitch - 10, 26, words, "followed", "small bold")
    if narrow:
        c.text(0, bottom - 14, "Choose a length, in tokens", "note")
    else:
        c.text(18, bottom + 17, "Choose a length", "note")
    return c


def sliding_window(narrow):
    note = "each query sees its own key and up to 2 before it"
    c = Canvas(316, 270, "One layer", note)
    i = np.arange(9)
    hidden = (i[None] > i[:, None]) | (i[None] < i[:, None] - 2)
    c.grid(30, 84, np.where(hidden, 0, 0.6), "a", 20, hidden)
    c.badge("q", 2, 164)
    c.badge("k", 110, 56)
    note = "each layer reaches 2 positions further back"
    reach = Canvas(352, 270, "Three layers", note)
    for layer in range(4):
        y = 226 - 54 * layer
        for j in range(9):
            x = 14 + 40 * j
            seen = j >= 8 - 2 * (3 - layer)
            for back in range(3 * (layer > 0)):
                if j >= back:
                    path = f"M{x} {y + 6}L{x - 40 * back} {y + 48}"
                    reach.path(path, "a way" if seen else "rule")
            reach.dot(x, y, 7, "a sign" if seen else "box")
        reach.text(0, y + 24, "input" if layer == 0 else "", "small")
    reach.text(352, 250, "the last output depends on 7 of 9 inputs", "small end")
    return flow(narrow, [c, reach])


def flash_tiles(narrow):
    note = "a block of queries meets a block of\nkeys; pale tiles are done"
    c = Canvas(300, 290, "One tile at a time", note)
    i = np.arange(12)
    tile = (i[:, None] // 4 == 1) & (i // 4 == 1)
    done = (i[:, None] // 4 == 1) & (i // 4 == 0) | (i[:, None] // 4 == 0)
    c.grid(60, 96, np.where(tile, 0.9, np.where(done, 0.35, 0.0)), "a", 15, marks=False)
    for k in (1, 2):
        c.path(f"M{60 + 60 * k} 96v180M60 {96 + 60 * k}h180", "way ink")
    block = np.where(i // 4 == 1, 1.0, 0.2)
    c.grid(30, 96, block[:, None], "q", 15, marks=False)
    c.grid(60, 66, block[None], "k", 15, marks=False)
    c.badge("q", 4, 96)
    c.badge("k", 246, 62)
    memory = Canvas(352, 290, "Two memories", "what is kept where")
    memory.box(0, 54, 352, 72, style="wash")
    memory.text(10, 72, "Slow, large: the GPU's main memory", "small bold")
    places = tuple(zip((12, 92, 172, 252), "qkvo", strict=True))
    for left, kind in places:
        memory.badge(kind, left, 88)
        memory.text(left + 26, 103, "n × d", "shape")
    memory.box(0, 178, 352, 104, style="wash")
    memory.text(12, 228, "Fast, small: on the chip", "small bold")
    for left, kind in places[:3]:
        memory.way((left + 10, 112), (left + 10, 186), style=kind)
        memory.badge(kind, left, 188)
        memory.text(left + 26, 203, "block", "small")
    memory.badge("a", 252, 188)
    memory.text(278, 203, "one tile", "small")
    memory.way((332, 186), (332, 150), (262, 150), (262, 110), style="o")
    note = "running maximum and sum of each row,\nand the output so far, rescaled"
    memory.lines(12, 248, note, "small")
    return flow(narrow, [c, memory])
