"""The encoder–decoder Transformer, with cached decoding."""

from typing import Any

import torch
from torch import Tensor, nn

from attncourse import _checks
from attncourse.data.text import BOS, EOS, PAD
from attncourse.layers.masks import create_causal_mask, create_padding_mask
from attncourse.layers.multihead import MultiHeadAttention
from attncourse.layers.positions import SinusoidalPositionalEncoding
from attncourse.models.feedforward import FeedForward
from attncourse.models.ids import check_ids, check_source, shift_right
from attncourse.models.transformer import TransformerLayer, run_layers

POSITIONS = ("sinusoidal", "rotary")
SCALE = 0.3  # of embeddings and position vectors at the start


class DecoderLayer(nn.Module):
    """Causal self-attention, cross-attention and a feed-forward network (pre-norm).

    Parameters
    ----------
    d_model, nhead, dim_feedforward, dropout
        As for `TranslationTransformer`.
    rotary : bool, default False
        Rotate queries and keys of the self-attention by their positions.

    References
    ----------
    Vaswani et al. (2017), "Attention is all you need", section 3.1.
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int,
        dropout: float = 0.0,
        *,
        rotary: bool = False,
    ) -> None:
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, nhead, dropout, rotary=rotary)
        self.cross_attention = MultiHeadAttention(d_model, nhead, dropout)
        self.feedforward = FeedForward(d_model, dim_feedforward, dropout)
        self.norms = nn.ModuleList(nn.LayerNorm(d_model) for _ in range(3))
        self.dropout = nn.Dropout(dropout)

    def forward(
        self,
        x: Tensor,
        memory: Tensor,
        memory_mask: Tensor,
        past: tuple[Tensor, Tensor] | None = None,
        *,
        mask: Tensor | None = None,
        need_weights: bool = False,
    ) -> tuple[Tensor, tuple[Tensor, Tensor], tuple[Tensor | None, Tensor | None]]:
        """Return the layer's output, its keys and values, and on request its weights.

        `x` is ``(batch, target, d_model)``. `memory` and `past` are keys and values as
        `project` of the attentions makes them: of the source, and of the target
        positions before `x`. `memory_mask`, ``(batch, 1, 1, source)``, and `mask`,
        ``(target, past + target)``, are boolean, True = may attend. The weights are
        those of self- and cross-attention, ``(batch, heads, target, keys)``, or None.
        """
        normed = self.norms[0](x)
        start = 0 if past is None else past[0].shape[2]
        present = self.self_attention.project(normed, normed, start=start)
        if past is not None:
            present = tuple(
                torch.cat(pair, dim=2) for pair in zip(past, present, strict=True)
            )
        read, own = self.self_attention.attend(
            normed, present, mask, start=start, need_weights=need_weights
        )
        x = x + self.dropout(read)
        read, cross = self.cross_attention.attend(
            self.norms[1](x), memory, memory_mask, need_weights=need_weights
        )
        x = x + self.dropout(read)
        x = x + self.dropout(self.feedforward(self.norms[2](x)))
        return x, present, (own, cross)


class TranslationTransformer(nn.Module):
    """Translate with an encoder that sees the whole source and a causal decoder.

    Parameters
    ----------
    src_vocab_size, tgt_vocab_size : int
        Numbers of source and of target ids.
    d_model : int, default 128
        Width of the token vectors.
    nhead : int, default 4
        Number of heads; has to divide `d_model`.
    num_encoder_layers, num_decoder_layers : int, default 2
        Layers on each side.
    dim_feedforward : int, default 256
        Width between the two maps of a feed-forward network.
    dropout : float, default 0.0
        Dropout, in training.
    positions : {"sinusoidal", "rotary"}, default "sinusoidal"
        How the model knows the order of words: vectors added to the embeddings, or
        rotations in each self-attention (cross-attention has none of its own).
    max_len : int, default 512
        The longest source or target that is accepted, in tokens.

    Raises
    ------
    TypeError, ValueError
        If a size is not a whole number from 1, the heads do not divide the width, or
        `positions` is unknown.

    Notes
    -----
    Embeddings start with a standard deviation of 0.3, and position vectors have 0.3
    times their usual length, so that what the layers add counts from the start.

    References
    ----------
    Vaswani et al. (2017), "Attention is all you need"; the norms stand before each part
    (pre-norm), as in Xiong et al. (2020). Su et al. (2024), "RoFormer", for rotary
    positions.
    """

    pad_idx, bos_idx, eos_idx = PAD, BOS, EOS

    def __init__(
        self,
        src_vocab_size: int,
        tgt_vocab_size: int,
        d_model: int = 128,
        nhead: int = 4,
        num_encoder_layers: int = 2,
        num_decoder_layers: int = 2,
        dim_feedforward: int = 256,
        *,
        dropout: float = 0.0,
        positions: str = "sinusoidal",
        max_len: int = 512,
    ) -> None:
        super().__init__()
        self.src_vocab_size = _checks.positive_int("src_vocab_size", src_vocab_size)
        self.tgt_vocab_size = _checks.positive_int("tgt_vocab_size", tgt_vocab_size)
        _checks.positive_int("num_encoder_layers", num_encoder_layers)
        _checks.positive_int("num_decoder_layers", num_decoder_layers)
        _checks.positive_int("dim_feedforward", dim_feedforward)
        rotary = _checks.one_of("positions", positions, POSITIONS) == "rotary"
        self.max_len = _checks.positive_int("max_len", max_len)
        self.source_embedding = nn.Embedding(src_vocab_size, d_model, PAD)
        self.target_embedding = nn.Embedding(tgt_vocab_size, d_model, PAD)
        self.positions = None
        if not rotary:
            self.positions = SinusoidalPositionalEncoding(d_model, max_len)
            self.positions.encoding.mul_(SCALE)
        self.dropout = nn.Dropout(dropout)
        options = {"dropout": dropout, "rotary": rotary}
        self.encoder = nn.ModuleList(
            TransformerLayer(d_model, nhead, feedforward_dim=dim_feedforward, **options)
            for _ in range(num_encoder_layers)
        )
        self.encoder_norm = nn.LayerNorm(d_model)
        self.decoder = nn.ModuleList(
            DecoderLayer(d_model, nhead, dim_feedforward, **options)
            for _ in range(num_decoder_layers)
        )
        self.decoder_norm = nn.LayerNorm(d_model)
        self.output = nn.Linear(d_model, tgt_vocab_size)
        for table in (self.source_embedding, self.target_embedding):
            table.weight.data.mul_(SCALE)

    def encode(
        self, source: Tensor, *, need_weights: bool = False
    ) -> tuple[Tensor, Tensor, list[Tensor] | None]:
        """Read the sources; return memory, mask and weights.

        They are as from `AttentionSeq2Seq.encode`, which has a state too; there are
        weights ``(batch, heads, source, source)`` for each layer.
        """
        device = self.output.weight.device
        check_source(source, self.src_vocab_size, self.pad_idx, device)
        mask = create_padding_mask(source, self.pad_idx)
        x = self._embed(self.source_embedding, source)
        x, weights = run_layers(self.encoder, x, mask, need_weights=need_weights)
        return self.encoder_norm(x), mask, weights if need_weights else None

    def forward(
        self, source: Tensor, target: Tensor, *, need_weights: bool = False
    ) -> Tensor | tuple[Tensor, dict[str, list[Tensor]]]:
        """Score each target id, given the source and the target ids before it.

        Arguments, logits and errors are those of `AttentionSeq2Seq.forward`; no
        sequence may be longer than max_len. The weights are a dict of lists, "encoder",
        "decoder" and "cross", with ``(batch, heads, queries, keys)`` for each layer.
        """
        check_ids("target", target, self.tgt_vocab_size, self.output.weight.device)
        memory, memory_mask, encoder = self.encode(source, need_weights=need_weights)
        inputs = shift_right(target, source, self.bos_idx)
        x = self._embed(self.target_embedding, inputs)
        # Padding in the target comes after all words, so the causal mask hides it.
        mask = create_causal_mask(x.shape[1], device=x.device)
        weights = {"encoder": encoder, "decoder": [], "cross": []}
        for layer in self.decoder:
            projected = layer.cross_attention.project(memory, memory)
            x, _, (own, cross) = layer(
                x, projected, memory_mask, mask=mask, need_weights=need_weights
            )
            weights["decoder"].append(own)
            weights["cross"].append(cross)
        logits = self.output(self.decoder_norm(x))
        return (logits, weights) if need_weights else logits

    def start(self, source: Tensor) -> dict[str, Any]:
        """Return what decoding needs before its first step; batch axes come first."""
        memory, mask, _ = self.encode(source)
        projected = [
            layer.cross_attention.project(memory, memory) for layer in self.decoder
        ]
        past = [tuple(part[:, :, :0] for part in pair) for pair in projected]
        return {"mask": mask, "memory": projected, "past": past}

    def step(
        self, tokens: Tensor, state: dict[str, Any]
    ) -> tuple[Tensor, dict[str, Any]]:
        """Return logits ``(batch, tgt_vocab_size)`` after `tokens` ``(batch,)``.

        The second result is the `state` for the next step. Keys and values of earlier
        positions are kept in it, so that a step costs one position, not all of them.
        """
        place = state["past"][0][0].shape[2]
        x = self._embed(self.target_embedding, tokens[:, None], start=place)
        presents = []
        for layer, memory, past in zip(
            self.decoder, state["memory"], state["past"], strict=True
        ):
            x, present, _ = layer(x, memory, state["mask"], past)
            presents.append(present)
        logits = self.output(self.decoder_norm(x))[:, -1]
        return logits, {**state, "past": presents}

    def _embed(self, table, ids, start=0):
        x = table(ids)
        if self.positions is not None:
            x = self.positions(x, start=start)
        elif start + ids.shape[1] > self.max_len:
            raise ValueError(
                f"the sequence has {start + ids.shape[1]} tokens, but this model was "
                f"made for at most {self.max_len}. Cut the sequence, or make the model "
                "with a larger max_len."
            )
        return self.dropout(x)
