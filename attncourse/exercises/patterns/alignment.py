"""Task 2.6: heads that align."""

from __future__ import annotations

from functools import partial

import torch

from attncourse.exercises.patterns.hits import (
    among_the_two_largest,
    columns_hit,
    divided_by,
    hit_by_any,
    hits,
    links_hit,
    moved_hits,
    on_links,
    one_link_kept,
    rows_hit,
    second_largest,
    sentences_alike,
    swapped_hits,
)
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


def _over_half(shares):
    return shares > 0.5


def _tokens_and_heads(weights, links):
    return sum(len({t for _, t in pairs}) for pairs in links) * weights.shape[1]


OTHER_SHARES = (
    Mistake(
        "a hit of any head",
        "A word counts as soon as *any* head looks at one of its links, and all heads "
        "get the same share. The question is which head aligns.",
        wrong=hit_by_any,
        read=ALIGN,
    ),
    *(
        Mistake(
            f"{what} off by one",
            f"The {what} that are looked up stand one place beside the right ones. "
            "Places are counted from 0, in the links and in the maps.",
            wrong=partial(moved_hits, **{by: step}),
            read=LOOK,
        )
        for what, by in (("target tokens", "rows"), ("source tokens", "columns"))
        for step in (-1, 1)
    ),
    Mistake(
        "the second largest weight",
        "The *second* largest weight of each row has been looked up.",
        wrong=second_largest,
        read=LOOK,
    ),
    Mistake(
        "one of the two largest weights",
        "It counts as a hit if one of the *two* largest weights lies on a link. Asked "
        "for is the largest.",
        wrong=among_the_two_largest,
        read=LOOK,
    ),
    *(
        Mistake(
            "divided by another number",
            f"The hits are right, but their number has been divided by {what}. Asked "
            "for is the share of the linked target tokens.",
            wrong=divided_by(count),
            read=ALIGN,
        )
        for what, count in (
            ("1: it is a count", lambda weights, links: 1),
            ("that of the sentences", lambda weights, links: len(links)),
            ("that of all links", lambda weights, links: sum(map(len, links))),
            ("that of all rows", lambda weights, links: weights[:, 0, :, 0].numel()),
            ("that of the heads too", _tokens_and_heads),
        )
    ),
)

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
                    wrong=swapped_hits,
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
                    wrong=columns_hit,
                    read=LOOK,
                ),
                Mistake(
                    "the smallest weight looked up",
                    "The *smallest* weight of each row has been looked up.",
                    wrong=lambda weights, links: hits(-weights, links),
                    read=LOOK,
                ),
                Mistake(
                    "the first sentence only",
                    "Only the first sentence counts. Asked for is the share over all "
                    "of them.",
                    wrong=lambda weights, links: hits(weights[:1], links[:1]),
                    read=ALIGN,
                ),
                Mistake(
                    "half of the weight for a hit",
                    "A word counts if more than half of its weight lies on the links. "
                    "Asked for is where its *largest* weight lies, however small.",
                    wrong=lambda weights, links: on_links(weights, links, _over_half),
                    read=LOOK,
                ),
                Mistake(
                    "weight instead of hits",
                    "This is the mean *weight* on the links. Asked for is the share of "
                    "target tokens whose *largest* weight lies on a link.",
                    wrong=on_links,
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
                *OTHER_SHARES,
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
                    wrong=links_hit,
                    read=LOOK,
                ),
                Mistake(
                    "one link of each token",
                    "Where a target token has several links, only one of them has "
                    "been kept. Any of them is right. (A dict holds one value for "
                    "each key.)",
                    wrong=one_link_kept(-1),
                    read=LOOK,
                ),
                Mistake(
                    "one link of each token",
                    "Where a target token has several links, only the first of them "
                    "has been asked for. Any of them is right.",
                    wrong=one_link_kept(0),
                    read=LOOK,
                ),
                Mistake(
                    "unlinked tokens and padding counted",
                    "All rows have been counted, also those of padding and of tokens "
                    "without a link. There is nothing that these could have found.",
                    wrong=rows_hit,
                    read=ALIGN,
                ),
                Mistake(
                    "unlinked tokens counted",
                    "Target tokens without a link have been counted as misses. There "
                    "is nothing that they could have found.",
                    wrong=partial(rows_hit, padding=False),
                    read=ALIGN,
                ),
                Mistake(
                    "every sentence weighs the same",
                    "First each sentence has been averaged and then the sentences. "
                    "Asked for is the share over all linked target tokens together.",
                    wrong=sentences_alike,
                    read=ALIGN,
                ),
                *OTHER_SHARES,
            ),
        ),
    ),
)
