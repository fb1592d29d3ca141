"""A language model as they are built today: RoPE, RMSNorm, SwiGLU, tied embeddings."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attncourse import _checks
from attncourse.layers.masks import create_causal_mask
from attncourse.layers.multihead import MultiHeadAttention
from attncourse.models.feedforward import SwiGLU
from attncourse.models.ids import check_ids

INIT = 0.08  # standard deviation of the first weights; 0.02 learns far more slowly here


class GPTBlock(nn.Module):
    """Causal self-attention, then a gated feed-forward network, both pre-norm."""

    def __init__(
        self, d_model: int, num_heads: int, num_kv_heads: int | None, dropout: float
    ) -> None:
        super().__init__()
        self.attention_norm = nn.RMSNorm(d_model, eps=1e-6)
        options = {"bias": False, "rotary": True, "num_kv_heads": num_kv_heads}
        self.attention = MultiHeadAttention(d_model, num_heads, dropout, **options)
        self.feedforward_norm = nn.RMSNorm(d_model, eps=1e-6)
        self.feedforward = SwiGLU(d_model, round(8 * d_model / 3))
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask, past=None, need_weights=False):
        """Return the output, all keys and values so far, and the weights.

        `x` holds the new tokens, ``(batch, tokens, d_model)``, and `past` the keys and
        values of those before, each ``(batch, num_kv_heads, past, d_head)``.
        """
        start = 0 if past is None else past[0].shape[2]
        normed = self.attention_norm(x)
        memory = self.attention.project(normed, normed, start=start)
        if past is not None:
            memory = tuple(
                torch.cat(pair, 2) for pair in zip(past, memory, strict=True)
            )
        read, weights = self.attention.attend(
            normed, memory, mask, start=start, need_weights=need_weights
        )
        x = x + self.dropout(read)
        x = x + self.dropout(self.feedforward(self.feedforward_norm(x)))
        return x, memory, weights


class GPT(nn.Module):
    """Predict each next token from those before it.

    Parameters
    ----------
    vocab_size : int
        Tokens are 0 … `vocab_size` − 1.
    d_model : int
        Width of the token vectors.
    num_heads : int
        Heads in each block; has to divide `d_model`.
    num_layers : int
        Number of blocks.
    context : int, default 128
        The longest sequence that is accepted, in tokens.
    num_kv_heads : int, optional
        Heads of keys and values; fewer than `num_heads` is grouped-query attention.
    dropout : float, default 0.0

    References
    ----------
    Touvron et al. (2023), "LLaMA: open and efficient foundation language models",
    section 2.2, for the parts; Press and Wolf (2017) for the tied embedding.
    """

    def __init__(
        self, vocab_size: int, d_model: int, num_heads: int, num_layers: int, *,
        context: int = 128, num_kv_heads: int | None = None, dropout: float = 0.0,
    ) -> None:  # fmt: skip
        super().__init__()
        self.vocab_size = _checks.positive_int("vocab_size", vocab_size)
        self.num_layers = _checks.positive_int("num_layers", num_layers)
        self.num_heads = _checks.positive_int("num_heads", num_heads)
        self.context = _checks.positive_int("context", context)
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.dropout = nn.Dropout(_checks.probability("dropout", dropout))
        self.blocks = nn.ModuleList(
            GPTBlock(d_model, num_heads, num_kv_heads, dropout)
            for _ in range(num_layers)
        )
        self.final_norm = nn.RMSNorm(d_model, eps=1e-6)
        for name, weight in self.named_parameters():
            if "norm" not in name:
                nn.init.normal_(weight, std=INIT)
            if "output_proj" in name or "down_proj" in name:
                nn.init.zeros_(weight)  # each block begins by adding nothing

    def forward(
        self,
        tokens: Tensor,
        cache: list[tuple[Tensor, Tensor]] | None = None,
        *,
        present: Tensor | None = None,
        active_heads: Tensor | None = None,
        need_weights: bool = False,
    ) -> Tensor | tuple[Tensor, list[Tensor]]:
        """Return the logits of every next token, and on request all attention weights.

        Parameters
        ----------
        tokens : torch.Tensor
            Integers, ``(batch, tokens)``; with a cache, only those that are new.
        cache : list, optional
            Begin with ``[]``; each block's keys and values are put in it.
        present : torch.Tensor of bool, optional
            ``(batch, keys)``, False at padding. As RoPE knows distances only, padding
            on the left needs nothing else.
        active_heads : torch.Tensor of bool, optional
            ``(num_layers, num_heads)``; heads that are False write nothing.
        need_weights : bool, default False

        Returns
        -------
        logits : torch.Tensor
            ``(batch, tokens, vocab_size)``.
        weights : list of torch.Tensor
            Only with ``need_weights=True``; ``(batch, heads, tokens, keys)`` each.

        Raises
        ------
        TypeError, ValueError
            If `tokens` is not a matrix of ids from the vocabulary, or the sequence is
            longer than the context.
        """
        check_ids("tokens", tokens, self.vocab_size, self.embedding.weight.device)
        past = list(cache) if cache else [None] * self.num_layers
        keys = tokens.shape[1] + (past[0][0].shape[2] if cache else 0)
        if keys > self.context:
            raise ValueError(
                f"the sequence has {keys} tokens, but this model's context is "
                f"{self.context}. Cut the prompt, or ask for fewer new tokens."
            )
        mask = create_causal_mask(keys, device=tokens.device)[-tokens.shape[1] :]
        if present is not None:
            mask = mask & present[:, None, None, :]
        x = self.dropout(self.embedding(tokens))
        all_weights = []
        for index, block in enumerate(self.blocks):
            seen = mask
            if active_heads is not None:  # a head that may attend to nothing writes 0
                seen = mask & active_heads[index, :, None, None]
            x, past[index], found = block(x, seen, past[index], need_weights)
            all_weights.append(found)
        if cache is not None:
            cache[:] = past
        logits = F.linear(self.final_norm(x), self.embedding.weight)  # tied
        return (logits, all_weights) if need_weights else logits
