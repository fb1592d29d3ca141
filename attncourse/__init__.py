"""Attention mechanisms, written to be read: the package behind the course.

Names are loaded when they are first used, so ``import attncourse`` needs neither
PyTorch nor Matplotlib, and the NumPy part works where PyTorch is not installed.
"""

from attncourse._lazy import lazy_names

__version__ = "0.1.0"

_NAMES = {
    "by_hand": ["multi_head_attention", "self_attention", "softmax"],
    "devices": ["best_device", "seed_everything"],
    "layers.core": ["masked_softmax", "scaled_dot_product_attention"],
    "layers.masks": ["create_causal_mask", "create_padding_mask"],
    "layers.scores": ["AdditiveAttention", "MultiplicativeAttention"],
    "layers.multihead": ["CausalSelfAttention", "MultiHeadAttention", "SelfAttention"],
    "layers.positions": [
        "LearnedPositionalEncoding",
        "SinusoidalPositionalEncoding",
        "sinusoidal_encoding",
    ],
    "layers.relative": ["T5RelativeBias", "alibi_bias", "alibi_slopes"],
    "layers.rotary": ["apply_rotary"],
    "layers.shaw": ["ShawAttention"],
    "layers.local": ["local_attention"],
    "layers.sparse": ["block_sparse_attention"],
    "layers.blockwise": ["blockwise_attention"],
    "layers.latent": ["LatentAttention"],
    "layers.linear": ["linear_attention"],
    "models.recurrent": ["RecurrentSeq2Seq"],
    "models.seq2seq": ["AttentionSeq2Seq"],
    "models.transformer": ["Transformer", "TransformerLayer"],
    "models.translation": ["TranslationTransformer"],
    "models.gpt": ["GPT"],
    "models.qa": ["QATransformer"],
    "models.summary": ["SelfAttentionSummarizer"],
    "models.decoding": ["beam_search", "greedy_search"],
    "training.loop": ["train"],
    "training.side_by_side": ["train_side_by_side"],
}
MODULE_OF = {name: module for module, names in _NAMES.items() for name in names}

__getattr__, __dir__, __all__ = lazy_names(__name__, _NAMES)
__all__ += ["__version__"]
