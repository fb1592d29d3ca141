"""Two heads of a trained model on one sentence, whose word the reader chooses."""

from functools import cache
from itertools import product

from canvas import Canvas, n

SENTENCE = "the girl loves the horse because it is strong ."
NOTES = (
    "articles, and “it”,\nfind their noun",
    "an earlier verb or conjunction;\nif there is none, the first word",
)
TOP, ROW = 112, 25  # where the words begin, and their distance
BAND = 19  # the width of a ribbon of weight 1


@cache
def two_weights():
    """Return a sentence and its weights, in hundredths, ``(2, queries, keys)``.

    The heads are 0 and 1 of the second layer of the French translator's encoder.
    """
    import torch

    from attncourse.recorded import load_model

    words = SENTENCE.split()
    model, record = load_model("translation_french")
    ids = torch.tensor([record["vocabularies"]["source"].encode(words)])
    with torch.no_grad():
        weights = model.encode(ids, need_weights=True)[2][1][0, :2]
    return words, (100 * weights).round().int().tolist()


@cache
def block_reads():
    """Return words, and of each its weights and the next word's, all in hundredths.

    The head is the third of the last layer of chapter 10's model.
    """
    import torch

    from attncourse.data.bpe import BPETokenizer
    from attncourse.recorded import load_model

    model, record = load_model("gpt")
    tokenizer = BPETokenizer(record["merges"])
    ids = tokenizer.encode("She gave him her")
    with torch.no_grad():
        logits, weights = model(torch.tensor([ids]), need_weights=True)
    most = logits[0].softmax(-1).max(-1)
    parts = [tokenizer.decode([i]).strip() for i in ids + most.indices.tolist()]
    words, following = parts[: len(ids)], parts[len(ids) :]
    shares = (100 * most.values).round().int().tolist()
    rows = (100 * weights[-1][0, 2]).round().int().tolist()
    return words, rows, list(zip(following, shares, strict=True))


def two_heads(narrow):
    words, weights = two_weights()
    room, edge, half = (352, 68, 40) if narrow else (708, 132, 54)
    middle, bottom = room / 2, TOP + ROW * len(words)
    c = Canvas(room, bottom + (62 if narrow else 46))

    def side(head, x):
        """Return the point x pixels from the middle, on the side of a head."""
        return middle + (x if head else -x)

    def ribbons(query, least):
        for head in (0, 1):
            start, stop = side(head, half), side(head, middle - edge)
            bend, at = n((start + stop) / 2), TOP + ROW * (query + 0.5) - BAND / 2
            for key, weight in enumerate(weights[head][query]):
                width = BAND * weight / 100
                y, end = n(at + width / 2), n(TOP + ROW * (key + 0.5))
                at += width
                if weight >= least:
                    way = f"M{n(start)} {y}C{bend} {y} {bend} {end} {n(stop)} {end}"
                    c.ribbon(way, width)

    def read(head, key, weight):
        """Draw how strongly a head reads a word."""
        at, x = TOP + ROW * key + 1.5, side(head, middle - edge)
        with c.group(opacity=f"{weight / 400:g}"):
            c.rect("read", x - 68 * (1 - head), at, 68, ROW - 3)
        if not narrow:
            x, style = side(head, middle - edge + 76), " end" * (1 - head)
            with c.group(class_="a"):
                c.text(x, at + 15.5, f"{weight / 100:.2f}", "named small" + style)

    for head in (0, 1):
        x, style = side(head, middle), " end" * head
        if not narrow:
            x, style = side(head, (middle - edge + half) / 2), " mid"
        c.text(x, 16, f"Head {head}", "step" + style)
        c.lines(x, 36, NOTES[head], "note" + style)
        c.named("k", side(head, middle - edge + 3) - 63 * (1 - head), TOP - 29, "Keys")
    c.text(middle, TOP - 37, "Choose a word", "note mid")
    c.named("q", middle - 42, TOP - 29, "Queries")
    c.rect("wash", 0, bottom + 12, room, c.height - bottom - 12)
    with c.group(opacity="0.15"):
        for query in range(len(words)):
            ribbons(query, 10)
    for query, word in enumerate(words):
        y, box = TOP + ROW * query + 1.5, (2 * half, ROW - 3)
        said = []
        for head in (0, 1):
            most = max(weights[head][query])
            key = words[weights[head][query].index(most)]
            said.append(f"“{key}” in head {head} ({most / 100:.2f})")
        says = f"“{word}” attends most to"
        place = (middle - half - 12, y - 1.5, 2 * half + 24, ROW)
        with c.choice(f"{says} {' and to '.join(said)}", *place, word == "it"):
            c.rect("box off", middle - half, y, *box)
            c.text(middle, y + 16, word, "word mid off")
            with c.group(class_="on"):
                for head, key in product((0, 1), range(len(words))):
                    if weight := weights[head][query][key]:
                        read(head, key, weight)
                ribbons(query, 1)
                c.rect("followed", middle - half, y, *box)
                c.text(middle, y + 16, word, "word bold mid")
                lines = [f"{says} {said[0]}", f"and to {said[1]}."]
                if narrow:
                    c.lines(middle, bottom + 32, "\n".join(lines), "mid small", 20)
                else:
                    c.text(middle, bottom + 34, " ".join(lines), "mid")
    for (key, word), head in product(enumerate(words), (0, 1)):
        x = side(head, middle - edge + 7)
        c.text(x, TOP + ROW * key + 17.5, word, "word" + " end" * (1 - head))
    return c
