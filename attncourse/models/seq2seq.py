"""A recurrent encoder–decoder with multi-head attention on both sides."""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attncourse import _checks
from attncourse.data.text import BOS, EOS, PAD
from attncourse.layers.masks import create_padding_mask
from attncourse.layers.multihead import MultiHeadAttention
from attncourse.models.ids import check_even_width, check_ids, check_source, shift_right


class AttentionSeq2Seq(nn.Module):
    r"""Translate with LSTMs that look back through attention.

    A bidirectional LSTM reads the source, and multi-head self-attention lets its states
    look at each other. A second LSTM, which starts from the encoder's final states,
    writes the target; at each step its state asks the encoder states through multi-head
    cross-attention.

    Parameters
    ----------
    src_vocab_size, tgt_vocab_size : int
        Numbers of source and of target ids.
    d_model : int, default 128
        Width of embeddings and states; even, because half of it reads forwards and half
        backwards.
    num_heads : int, default 4
        Heads of both attentions; has to divide `d_model`.
    num_layers : int, default 1
        Layers of each LSTM.
    dropout : float, default 0.0
        Dropout on embeddings and before the output layer, in training.

    Raises
    ------
    TypeError, ValueError
        If a size is not a whole number from 1, `d_model` is odd, or the heads do not
        divide it.

    References
    ----------
    Bahdanau, Cho and Bengio (2015): a bidirectional encoder and a decoder that looks
    back. Luong, Pham and Manning (2015), equation 5: the context meets the state after
    the recurrence. Vaswani et al. (2017), section 3.2.2: multi-head attention.
    """

    pad_idx, bos_idx, eos_idx = PAD, BOS, EOS

    def __init__(
        self,
        src_vocab_size: int,
        tgt_vocab_size: int,
        d_model: int = 128,
        num_heads: int = 4,
        num_layers: int = 1,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.src_vocab_size = _checks.positive_int("src_vocab_size", src_vocab_size)
        self.tgt_vocab_size = _checks.positive_int("tgt_vocab_size", tgt_vocab_size)
        self.d_model = check_even_width(d_model)
        num_layers = _checks.positive_int("num_layers", num_layers)
        _checks.probability("dropout", dropout)
        self.source_embedding = nn.Embedding(src_vocab_size, d_model, PAD)
        self.target_embedding = nn.Embedding(tgt_vocab_size, d_model, PAD)
        self.encoder = nn.LSTM(
            d_model, d_model // 2, num_layers, batch_first=True, bidirectional=True
        )
        self.self_attention = MultiHeadAttention(d_model, num_heads)
        self.encoder_norm = nn.LayerNorm(d_model)
        self.bridge = nn.Linear(d_model, d_model)
        self.decoder = nn.LSTM(d_model, d_model, num_layers, batch_first=True)
        self.cross_attention = MultiHeadAttention(d_model, num_heads)
        self.combine = nn.Linear(2 * d_model, d_model)
        self.dropout = nn.Dropout(dropout)
        self.output = nn.Linear(d_model, tgt_vocab_size)

    def encode(
        self, source: Tensor, *, need_weights: bool = False
    ) -> tuple[Tensor, Tensor, tuple[Tensor, Tensor], Tensor | None]:
        """Read the sources.

        Parameters
        ----------
        source : torch.Tensor
            Integer ids, ``(batch, source)``, padded on the right; no row may be empty.
        need_weights : bool, default False
            Whether to make the weights of the self-attention.

        Returns
        -------
        memory : torch.Tensor
            ``(batch, source, d_model)``.
        mask : torch.Tensor of bool
            ``(batch, 1, 1, source)``; True where there is an id.
        state : tuple of torch.Tensor
            The decoder's first hidden and cell state, each
            ``(num_layers, batch, d_model)``.
        weights : torch.Tensor or None
            ``(batch, heads, source, source)``.

        Raises
        ------
        TypeError, ValueError
            If `source` does not hold ids of the vocabulary, or a row is empty.
        """
        device = self.output.weight.device
        lengths = check_source(source, self.src_vocab_size, self.pad_idx, device)
        embedded = self.dropout(self.source_embedding(source))
        packed = nn.utils.rnn.pack_padded_sequence(
            embedded, lengths.cpu(), batch_first=True, enforce_sorted=False
        )
        outputs, (hidden, cell) = self.encoder(packed)
        outputs, _ = nn.utils.rnn.pad_packed_sequence(
            outputs, batch_first=True, total_length=source.shape[1]
        )
        mask = create_padding_mask(source, self.pad_idx)
        attended, weights = self.self_attention(
            outputs, outputs, outputs, mask, need_weights=need_weights
        )
        memory = self.encoder_norm(outputs + attended)
        # (layers * 2, batch, d/2) -> (layers, batch, d): both directions side by side
        joined = (torch.cat([s[0::2], s[1::2]], dim=-1) for s in (hidden, cell))
        state = tuple(torch.tanh(self.bridge(s)) for s in joined)
        return memory, mask, state, weights

    def decode(
        self,
        inputs: Tensor,
        memory: Tensor,
        mask: Tensor,
        state: tuple[Tensor, Tensor],
        *,
        need_weights: bool = False,
    ) -> tuple[Tensor, tuple[Tensor, Tensor], Tensor | None]:
        """Run the decoder over input ids ``(batch, steps)``: a target shifted by one.

        `memory`, `mask` and `state` are what `encode` returned, or the state comes from
        an earlier call; `need_weights` is about those of the cross-attention.

        Returns
        -------
        logits : torch.Tensor
            ``(batch, steps, tgt_vocab_size)``.
        state : tuple of torch.Tensor
            The decoder's state after the last step.
        weights : torch.Tensor or None
            ``(batch, heads, steps, source)``.
        """
        states, state = self.decoder(self.target_embedding(inputs), state)
        context, weights = self.cross_attention(
            states, memory, memory, mask, need_weights=need_weights
        )
        combined = torch.tanh(self.combine(torch.cat([context, states], dim=-1)))
        return self.output(self.dropout(combined)), state, weights

    def forward(
        self, source: Tensor, target: Tensor, *, need_weights: bool = False
    ) -> Tensor | tuple[Tensor, dict[str, Tensor]]:
        """Score each target id, given the source and the target ids before it.

        Arguments, logits and errors are those of `RecurrentSeq2Seq.forward`. The target
        has `eos_idx` at the end of each sentence and no `bos_idx`. The weights are a
        dict: "encoder" ``(batch, heads, source, source)`` and "cross"
        ``(batch, heads, target, source)``.
        """
        check_ids("target", target, self.tgt_vocab_size, self.output.weight.device)
        memory, mask, state, encoder = self.encode(source, need_weights=need_weights)
        inputs = shift_right(target, source, self.bos_idx)
        logits, _, cross = self.decode(
            inputs, memory, mask, state, need_weights=need_weights
        )
        weights = {"encoder": encoder, "cross": cross}
        return (logits, weights) if need_weights else logits

    def start(self, source: Tensor) -> tuple[Any, ...]:
        """Return what decoding needs before its first step; batch axes come first."""
        memory, mask, state, _ = self.encode(source)
        return memory, mask, tuple(s.transpose(0, 1) for s in state)

    def step(
        self, tokens: Tensor, state: tuple[Any, ...]
    ) -> tuple[Tensor, tuple[Any, ...]]:
        """Return logits ``(batch, tgt_vocab_size)`` after `tokens` ``(batch,)``.

        The second result is the `state` for the next step.
        """
        memory, mask, recurrent = state
        recurrent = tuple(s.transpose(0, 1).contiguous() for s in recurrent)
        logits, recurrent, _ = self.decode(tokens[:, None], memory, mask, recurrent)
        state = memory, mask, tuple(s.transpose(0, 1) for s in recurrent)
        return logits[:, -1], state


def sequence_loss(logits: Tensor, target: Tensor) -> Tensor:
    """Return the mean cross-entropy of the target ids but padding, in nats a token.

    Parameters
    ----------
    logits : torch.Tensor
        ``(batch, target, tgt_vocab_size)``.
    target : torch.Tensor
        Integer ids, ``(batch, target)``.
    """
    return F.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=PAD)
