"""Names and layouts of Hugging Face checkpoints, and those of this course."""

import re

LAYER = "layers.{}."
# Of each architecture: the prefix of its names, and its names as patterns with ours.
# A name of None is not needed.
NAMES = {
    "gpt2": (
        "transformer.",
        {
            r"wte": "embedding",
            r"wpe.weight": "positions.encoding",
            r"h.(\d+).ln_1": LAYER + "attention_norm",
            r"h.(\d+).attn.c_proj": LAYER + "attention.output_proj",
            r"h.(\d+).attn.c_attn": LAYER + "attention.{}_proj",
            r"h.(\d+).ln_2": LAYER + "feedforward_norm",
            r"h.(\d+).mlp.c_fc": LAYER + "feedforward.0",
            r"h.(\d+).mlp.c_proj": LAYER + "feedforward.3",
            r"ln_f": "final_norm",
            r"lm_head": "output",
            r"h.\d+.attn.(?:masked_)?bias": None,  # a causal mask
        },
    ),
    "bert": (
        "bert.",
        {
            r"embeddings.word_embeddings": "embedding",
            r"embeddings.position_embeddings.weight": "positions.encoding",
            r"embeddings.token_type_embeddings.weight": "segments",
            r"embeddings.LayerNorm": "embedding_norm",
            r"encoder.layer.(\d+).attention.self.(query|key|value)": (
                LAYER + "attention.{}_proj"
            ),
            r"encoder.layer.(\d+).attention.output.dense": (
                LAYER + "attention.output_proj"
            ),
            r"encoder.layer.(\d+).attention.output.LayerNorm": LAYER + "attention_norm",
            r"encoder.layer.(\d+).intermediate.dense": LAYER + "feedforward.0",
            r"encoder.layer.(\d+).output.dense": LAYER + "feedforward.3",
            r"encoder.layer.(\d+).output.LayerNorm": LAYER + "feedforward_norm",
            r"cls.predictions.transform.dense": "head.0",
            r"cls.predictions.transform.LayerNorm": "head.2",
            r"cls.predictions.bias": "output.bias",
            r"cls.predictions.decoder": "output",
            r"embeddings.position_ids|pooler.*|cls.seq_relationship.*": None,
        },
    ),
    "llama": (
        "model.",
        {
            r"embed_tokens": "embedding",
            r"layers.(\d+).self_attn.q_proj": LAYER + "attention.query_proj",
            r"layers.(\d+).self_attn.k_proj": LAYER + "attention.key_proj",
            r"layers.(\d+).self_attn.v_proj": LAYER + "attention.value_proj",
            r"layers.(\d+).self_attn.o_proj": LAYER + "attention.output_proj",
            r"layers.(\d+).input_layernorm": LAYER + "attention_norm",
            r"layers.(\d+).post_attention_layernorm": LAYER + "feedforward_norm",
            r"layers.(\d+).mlp.(gate|up|down)_proj": LAYER + "feedforward.{}_proj",
            r"norm": "final_norm",
            r"lm_head": "output",
            r".*rotary_emb.inv_freq": None,
        },
    ),
}


def in_our_names(stored, kind, d_head):
    """Translate the tensors of a checkpoint, by name, into those of our layers.

    `kind` is a key of `NAMES` and `d_head` the width of a head. The result has the
    names of `PretrainedTransformer`; what is not known keeps its own.
    """
    prefix, names = NAMES[kind]
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
        if ours is None:
            continue
        *parts, ending = found.groups()
        if "c_" in name and ending == ".weight":
            x = x.T  # GPT-2 stores (in, out)
        if "c_attn" in name:  # and query, key and value as one
            thirds = zip(("query", "key", "value"), x.chunk(3), strict=True)
            weights |= {ours.format(*parts, n) + ending: w for n, w in thirds}
            continue
        if kind == "llama" and re.search("[qk]_proj", name):
            x = _neighbours(x, d_head)
        weights[ours.format(*parts) + (ending or "")] = x
    return weights


def _neighbours(x, d_head):
    """Put features i and i + d/2 of each head side by side, as `apply_rotary` does."""
    return x.unflatten(0, (-1, 2, d_head // 2)).transpose(1, 2).flatten(0, 2)
