"""Names and layouts of Hugging Face checkpoints, and those of this course."""

import re

from attncourse.data._files import read_table

ARCHITECTURES = read_table("checkpoints", "attncourse.models")


def in_our_names(stored, kind):
    """Translate the tensors of a checkpoint, by name, into those of our layers.

    `kind` is a key of `ARCHITECTURES`. The result has the names of
    `PretrainedTransformer`; what is not known keeps its own.
    """
    prefix, names = ARCHITECTURES[kind]["prefix"], ARCHITECTURES[kind]["names"]
    weights = {}
    for full, x in stored.items():
        name = full.removeprefix(prefix)
        name = re.sub("gamma$", "weight", re.sub("beta$", "bias", name))
        matches = (
            (re.fullmatch(rf"(?:{pattern})(\.weight|\.bias)?", name), ours)
            for pattern, ours in names.items()
        )
        found, ours = next((pair for pair in matches if pair[0]), (None, None))
        if found is None:
            weights[full] = x
        if not ours:
            continue
        *parts, ending = found.groups()
        if "c_" in name and ending == ".weight":
            x = x.T  # GPT-2 stores (in, out)
        if "c_attn" in name:  # and query, key and value as one
            thirds = zip(("query", "key", "value"), x.chunk(3), strict=True)
            weights |= {ours.format(*parts, n) + ending: w for n, w in thirds}
            continue
        weights[ours.format(*parts) + (ending or "")] = x
    return weights
