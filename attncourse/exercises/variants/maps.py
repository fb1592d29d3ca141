"""Maps of attention, and gold links that they find in part."""

from __future__ import annotations

import torch


def _links_of(generator, targets, sources):
    """Draw gold links: none, one or two for a target word; none for the second."""
    counts = torch.randint(0, 3, (targets,), generator=generator).tolist()
    counts[0], counts[1], counts[-1] = 1, 0, 2
    links = []
    for target, count in enumerate(counts):
        chosen = torch.randperm(sources, generator=generator)[:count].tolist()
        links += [(source, target) for source in sorted(chosen)]
    return links


def _weights_of(generator, links, targets, sources):
    """Draw weights of which many, not all, agree with the links."""
    scores = torch.randn(targets, sources, generator=generator)
    for source, target in links:
        sure = target == 0 or torch.rand((), generator=generator) < 0.7
        scores[target, source] += 5 * sure
    scores[1, torch.randint(sources, (), generator=generator)] += 5  # sure, and wrong
    scores[2] *= 0.1  # not sure of anything
    return scores.softmax(dim=-1)


def plain_maps(generator):
    """Draw the map of one sentence, words only."""
    targets = sources = torch.randint(6, 8, (), generator=generator).item()
    links = _links_of(generator, targets, sources)
    weights = _weights_of(generator, links, targets, sources)
    return {
        "weights": weights[None],
        "lengths": [(targets, sources)],
        "gold": [links],
    }


def padded_maps(generator):
    """Draw maps of six sentences, with <eos> and padding."""
    sizes = torch.randint(3, 9, (6, 2), generator=generator).tolist()
    rows, columns = (max(s[axis] for s in sizes) + 1 for axis in (0, 1))
    weights = torch.zeros(len(sizes), rows, columns)
    gold = []
    for number, (targets, sources) in enumerate(sizes):
        links = _links_of(generator, targets, sources)
        own = _weights_of(generator, links, targets, sources + 1)
        own[torch.randint(targets, (), generator=generator), sources] += 1.5  # <eos>
        rest = torch.rand(rows - targets, sources + 1, generator=generator)
        both = torch.cat([own, rest])
        weights[number, :, : sources + 1] = both / both.sum(dim=-1, keepdim=True)
        gold.append(links)
    return {"weights": weights, "lengths": [tuple(s) for s in sizes], "gold": gold}
