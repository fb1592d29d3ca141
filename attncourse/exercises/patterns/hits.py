"""The share of largest weights that lie on a link, and other shares of links."""

from __future__ import annotations

import torch


def sources_of(links):
    """Return {target: set of sources} of one sentence."""
    rows = {}
    for s, t in links:
        rows.setdefault(t, set()).add(s)
    return rows


def hits(weights, links):
    """Return for each head the share of linked target tokens that it aligns rightly."""
    return moved_hits(weights, links)


def moved_hits(weights, links, rows=0, columns=0):
    """Return the hits, where rows or columns are looked up some places farther on."""
    return _mean(
        [float(_best(one, t + rows) + columns in sources) for one in sentence]
        for sentence, pairs in zip(weights, links, strict=True)
        for t, sources in sources_of(pairs).items()
    )


def _best(heads_map, t):
    return int(heads_map[t % len(heads_map)].argmax())


def _mean(found):
    return torch.tensor(list(found)).mean(dim=0)


def hit_by_any(weights, links):
    """Return the share of words that some head hits, the same for all heads."""
    return _mean(
        [float(any(_best(one, t) in sources for one in sentence))] * len(sentence)
        for sentence, pairs in zip(weights, links, strict=True)
        for t, sources in sources_of(pairs).items()
    )


def links_hit(weights, links):
    """Return the share of links, instead of tokens, that are hit."""
    return _mean(
        [float(_best(one, t) == s) for one in sentence]
        for sentence, pairs in zip(weights, links, strict=True)
        for s, t in pairs
    )


def one_link_kept(which):
    """Keep the first or the last link of each target token."""

    def wrong(weights, links):
        by_target = [
            {t: [p for p in pairs if p[1] == t] for _, t in pairs} for pairs in links
        ]
        kept = [[found[which] for found in rows.values()] for rows in by_target]
        return hits(weights, kept)

    return wrong


def rows_hit(weights, links, padding=True):
    """Return the share of all rows, linked or not, whose largest weight is on a link.

    Parameters
    ----------
    weights, links
        As of `hits`.
    padding : bool
        Whether rows without any weight count.
    """
    return _mean(
        [float(_best(one, t) in rows.get(t, ())) for one in sentence]
        for sentence, rows in zip(weights, map(sources_of, links), strict=True)
        for t in range(sentence.shape[1])
        if padding or sentence[:, t].sum() > 0
    )


def on_links(weights, links, of=lambda shares: shares):
    """Return the mean weight on the links, or of what `of` makes of the weight."""
    found = [
        of(sentence[:, t, sorted(sources)].sum(dim=1)).float()
        for sentence, pairs in zip(weights, links, strict=True)
        for t, sources in sources_of(pairs).items()
    ]
    return torch.stack(found).mean(dim=0)


def columns_hit(weights, links):
    """Look up the largest weight of each column instead of each row."""
    return _mean(
        [float(int(one[:, s].argmax()) == t) for one in sentence]
        for sentence, pairs in zip(weights, links, strict=True)
        for s, t in pairs
    )


def swapped_hits(weights, links):
    """Read each pair as (target, source), where that lies inside the map."""
    return _mean(
        [float(_best(one, s) == t) for one in sentence]
        for sentence, pairs in zip(weights, links, strict=True)
        for s, t in pairs
        if s < sentence.shape[1]
    )


def sentences_alike(weights, links):
    """Average each sentence first, and then the sentences."""
    each = [hits(one[None], [pairs]) for one, pairs in zip(weights, links, strict=True)]
    return torch.stack(each).mean(dim=0)


def divided_by(count):
    """Divide the number of hits by another one than that of linked tokens."""

    def wrong(weights, links):
        tokens = sum(len(sources_of(pairs)) for pairs in links)
        return hits(weights, links) * tokens / count(weights, links)

    return wrong


def second_largest(weights, links):
    """Look up the second largest weight of each row."""
    best = weights.argmax(dim=-1, keepdim=True)
    return hits(weights.scatter(-1, best, -1.0), links)


def among_the_two_largest(weights, links):
    """Call it a hit if one of the two largest weights is on a link."""
    return hits(weights, links) + second_largest(weights, links)
