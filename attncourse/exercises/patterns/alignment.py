"""Task 2.6: heads that align."""

from __future__ import annotations

import torch

from attncourse.exercises.patterns.models import draw
from attncourse.exercises.task import Check, Mistake, Task

ALIGN = "chapters/06_seq2seq#which-heads-align"
LOOK = "chapters/06_seq2seq#where-does-the-translator-look"


def _maps(generator, batch, heads, target, source):
    scores = 2 * torch.randn(batch, heads, target, source, generator=generator)
    return scores.softmax(-1)


def _one_link_each(generator):
    heads, target = draw(generator, 2, 3), draw(generator, 3, 4)
    source = target + draw(generator, 1, 2)
    weights = _maps(generator, 2, heads, target, source)
    links = [
        [
            (s, t)
            for t, s in enumerate(torch.randperm(source, generator=generator)[:target])
        ]
        for _ in range(2)
    ]
    links = [[(int(s), t) for s, t in pairs] for pairs in links]
    return _helped({"weights": weights, "links": links}, generator)


def _helped(inputs, generator):
    """Put the largest weight of some rows on a link, so that heads differ."""
    weights, links = inputs["weights"], inputs["links"]
    for b, pairs in enumerate(links):
        for s, t in pairs:
            for h in range(weights.shape[1]):
                if draw(generator, 0, 2) == 0:
                    weights[b, h, t, s] += 1.0
                    weights[b, h, t] /= weights[b, h, t].sum()
    return inputs


def _several_links(generator):
    heads = draw(generator, 2, 3)
    weights = _maps(generator, 2, heads, 6, 7)
    weights[1, :, 4:] = 0  # padding of the second sentence
    links = [
        [(1, 0), (2, 0), (3, 0), (0, 2), (5, 3), (4, 5), (6, 5)],
        [(2, 0), (0, 1), (1, 1), (3, 3)],
    ]
    shift = draw(generator, 0, 1)
    links = [[((s + shift) % 7, t) for s, t in pairs] for pairs in links]
    return _helped({"weights": weights, "links": links}, generator)


def _rows(links):
    """Return {target: set of sources} of one sentence."""
    rows = {}
    for s, t in links:
        rows.setdefault(t, set()).add(s)
    return rows


def hits(weights, links):
    """Return for each head the share of linked target tokens that it aligns rightly."""
    found = [
        [float(int(one[h, t].argmax()) in sources) for h in range(one.shape[0])]
        for one, pairs in zip(weights, links, strict=True)
        for t, sources in _rows(pairs).items()
    ]
    return torch.tensor(found).mean(dim=0)


def _links_hit(weights, links):
    found = [
        [float(int(one[h, t].argmax()) == s) for h in range(one.shape[0])]
        for one, pairs in zip(weights, links, strict=True)
        for s, t in pairs
    ]
    return torch.tensor(found).mean(dim=0)


def _one_link_kept(which):
    """Keep the first or the last link of each target token."""

    def wrong(weights, links):
        by_target = [
            {t: [p for p in pairs if p[1] == t] for _, t in pairs} for pairs in links
        ]
        kept = [[found[which] for found in rows.values()] for rows in by_target]
        return hits(weights, kept)

    return wrong


def _all_rows(weights, links):
    found = [
        [float(int(one[h, t].argmax()) in rows.get(t, ())) for h in range(len(one))]
        for one, rows in zip(weights, map(_rows, links), strict=True)
        for t in range(one.shape[1])
    ]
    return torch.tensor(found).mean(dim=0)


def _real_rows(weights, links):
    found = [
        [float(int(one[h, t].argmax()) in rows.get(t, ())) for h in range(len(one))]
        for one, rows in zip(weights, map(_rows, links), strict=True)
        for t in range(one.shape[1])
        if one[:, t].sum() > 0
    ]
    return torch.tensor(found).mean(dim=0)


def _weight_on_links(weights, links):
    found = [
        one[:, t, sorted(sources)].sum(dim=1)
        for one, pairs in zip(weights, links, strict=True)
        for t, sources in _rows(pairs).items()
    ]
    return torch.stack(found).mean(dim=0)


def _by_columns(weights, links):
    found = [
        [float(int(one[h, :, s].argmax()) == t) for h in range(one.shape[0])]
        for one, pairs in zip(weights, links, strict=True)
        for s, t in pairs
    ]
    return torch.tensor(found).mean(dim=0)


def _smallest(weights, links):
    return hits(-weights, links)


def _first_sentence(weights, links):
    return hits(weights[:1], links[:1])


def _over_half(weights, links):
    found = [
        (one[:, t, sorted(sources)].sum(dim=1) > 0.5).float()
        for one, pairs in zip(weights, links, strict=True)
        for t, sources in _rows(pairs).items()
    ]
    return torch.stack(found).mean(dim=0)


def _swapped(weights, links):
    """Read each pair as (target, source), where that lies inside the map."""
    found = [
        [float(int(one[h, s].argmax()) == t) for h in range(one.shape[0])]
        for one, pairs in zip(weights, links, strict=True)
        for s, t in pairs
        if s < one.shape[1]
    ]
    return torch.tensor(found).mean(dim=0)


def _sentences_alike(weights, links):
    each = [hits(one[None], [pairs]) for one, pairs in zip(weights, links, strict=True)]
    return torch.stack(each).mean(dim=0)


ALIGNMENT = Task(
    name="alignment",
    title="Heads that align",
    names=("alignment_hits",),
    minutes=15,
    checks=(
        Check(
            "one link for each target token: the share of largest weights on a link",
            1,
            inputs=_one_link_each,
            ask=lambda alignment_hits, weights, links: alignment_hits(weights, links),
            expected=hits,
            mistakes=(
                Mistake(
                    "pairs read the wrong way round",
                    "The pairs of the links are (source, target), but they have been "
                    "read as (target, source). Rows of the map are target tokens.",
                    wrong=_swapped,
                    read=LOOK,
                ),
                Mistake(
                    "pairs read the wrong way round",
                    "A place outside the map was asked for. The pairs of the links are "
                    "(source, target); the rows of the map are target tokens.",
                    when=lambda seen, expected, inputs: (
                        "IndexError" in seen["result"].text
                    ),
                    read=LOOK,
                ),
                Mistake(
                    "the largest weight of a column",
                    "For each source token the target token that looks at it most has "
                    "been looked up. Each row is one query: the largest weight is that "
                    "of a row.",
                    wrong=_by_columns,
                    read=LOOK,
                ),
                Mistake(
                    "the smallest weight looked up",
                    "The *smallest* weight of each row has been looked up.",
                    wrong=_smallest,
                    read=LOOK,
                ),
                Mistake(
                    "the first sentence only",
                    "Only the first sentence counts. Asked for is the share over all "
                    "of them.",
                    wrong=_first_sentence,
                    read=ALIGN,
                ),
                Mistake(
                    "half of the weight for a hit",
                    "A word counts if more than half of its weight lies on the links. "
                    "Asked for is where its *largest* weight lies, however small.",
                    wrong=_over_half,
                    read=LOOK,
                ),
                Mistake(
                    "weight instead of hits",
                    "This is the mean *weight* on the links. Asked for is the share of "
                    "target tokens whose *largest* weight lies on a link.",
                    wrong=_weight_on_links,
                    read=LOOK,
                ),
                Mistake(
                    "batch averaged first",
                    "The maps of the batch have been averaged before the largest "
                    "weight was looked up. The words of one sentence have nothing to "
                    "do with those of another.",
                    wrong=lambda weights, links: hits(
                        weights.mean(dim=0).expand_as(weights), links
                    ),
                    read=ALIGN,
                ),
                Mistake(
                    "heads averaged first",
                    "The heads have been averaged before the largest weight was "
                    "looked up: one number for all of them. Some heads align and "
                    "others do not.",
                    when=lambda seen, expected, inputs: (
                        seen["result"].shape in ((), (1,))
                        and expected["result"].shape != seen["result"].shape
                    ),
                    read=ALIGN,
                ),
            ),
        ),
        Check(
            "target tokens with several links, with none, and padding",
            1,
            inputs=_several_links,
            ask=lambda alignment_hits, weights, links: alignment_hits(weights, links),
            expected=hits,
            mistakes=(
                Mistake(
                    "every link counted",
                    "Each link has been counted, so a target token with two links can "
                    "be right for one of them at most: a row has one largest weight. "
                    "Count target tokens.",
                    wrong=_links_hit,
                    read=LOOK,
                ),
                Mistake(
                    "one link of each token",
                    "Where a target token has several links, only one of them has "
                    "been kept. Any of them is right. (A dict holds one value for "
                    "each key.)",
                    wrong=_one_link_kept(-1),
                    read=LOOK,
                ),
                Mistake(
                    "one link of each token",
                    "Where a target token has several links, only the first of them "
                    "has been asked for. Any of them is right.",
                    wrong=_one_link_kept(0),
                    read=LOOK,
                ),
                Mistake(
                    "unlinked tokens and padding counted",
                    "All rows have been counted, also those of padding and of tokens "
                    "without a link. There is nothing that these could have found.",
                    wrong=_all_rows,
                    read=ALIGN,
                ),
                Mistake(
                    "unlinked tokens counted",
                    "Target tokens without a link have been counted as misses. There "
                    "is nothing that they could have found.",
                    wrong=_real_rows,
                    read=ALIGN,
                ),
                Mistake(
                    "every sentence weighs the same",
                    "First each sentence has been averaged and then the sentences. "
                    "Asked for is the share over all linked target tokens together.",
                    wrong=_sentences_alike,
                    read=ALIGN,
                ),
            ),
        ),
    ),
)
