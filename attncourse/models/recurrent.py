"""A recurrent encoder-decoder, with or without attention."""

import torch
from torch import Tensor, nn

from attncourse import _checks
from attncourse.data.text import EOS, PAD
from attncourse.layers.scores import AdditiveAttention, MultiplicativeAttention
from attncourse.models.ids import check_ids, check_source, shift_right

ATTENTION = (None, "additive", "dot", "general", "concat")


class RecurrentSeq2Seq(nn.Module):
    r"""Read a sequence of ids with one GRU, and write another with a second GRU.

    With encoder states :math:`e_1 \dots e_n` and decoder states :math:`d_i`,

    .. math::

        d_0 = e_n, \qquad d_i = \mathrm{GRU}(y_{i-1}, d_{i-1}), \qquad
        p(y_i) = \operatorname{softmax}(W_o \tanh(W_c [c_i; d_i]))

    The two kinds of model differ in the context :math:`c_i` and in nothing else:

    .. math::

        c_i = e_n \text{ without attention}, \qquad
        c_i = \sum_j w_{ij}\, e_j \text{ with attention}

    Parameters
    ----------
    src_vocab_size, tgt_vocab_size : int
        Numbers of source and of target ids.
    hidden_dim : int
        Width of the embeddings and of the states of both GRUs.
    attention : {None, "additive", "dot", "general", "concat"}, default None
        How a decoder state is compared with the encoder states. "additive" is
        `AdditiveAttention` with a hidden layer of width `hidden_dim`, the others are
        the methods of `MultiplicativeAttention`.

    Raises
    ------
    TypeError, ValueError
        If a size is not a whole number from 1, or `attention` is unknown.

    Notes
    -----
    Id 0 (`pad_idx`) fills up short sources, on the right. The start symbol has an
    embedding of its own, which is no target id: the model cannot write it, and no id
    has to be kept free for it.

    References
    ----------
    Sutskever, Vinyals and Le (2014), "Sequence to sequence learning with neural
    networks": the decoder starts from the encoder's last state.
    Cho et al. (2014), "Learning phrase representations using RNN encoder-decoder for
    statistical machine translation", section 2.2: that state is read at each step.
    Luong, Pham and Manning (2015), "Effective approaches to attention-based neural
    machine translation", equation 5: the context meets the decoder state after the
    GRU, without input feeding.
    """

    pad_idx, eos_idx = PAD, EOS

    def __init__(
        self,
        src_vocab_size: int,
        tgt_vocab_size: int,
        hidden_dim: int,
        *,
        attention: str | None = None,
    ) -> None:
        super().__init__()
        _checks.one_of("attention", attention, ATTENTION)
        self.src_vocab_size = _checks.positive_int("src_vocab_size", src_vocab_size)
        self.tgt_vocab_size = _checks.positive_int("tgt_vocab_size", tgt_vocab_size)
        hidden_dim = _checks.positive_int("hidden_dim", hidden_dim)
        self.source_embedding = nn.Embedding(src_vocab_size, hidden_dim)
        self.target_embedding = nn.Embedding(tgt_vocab_size + 1, hidden_dim)
        self.bos_idx = tgt_vocab_size
        self.encoder = nn.GRU(hidden_dim, hidden_dim, batch_first=True)
        self.decoder = nn.GRU(hidden_dim, hidden_dim, batch_first=True)
        self.combine = nn.Linear(2 * hidden_dim, hidden_dim)
        self.output = nn.Linear(hidden_dim, tgt_vocab_size)
        # Last, so that models with and without it start from the same weights.
        self.attention = None
        if attention == "additive":
            self.attention = AdditiveAttention(hidden_dim, hidden_dim, hidden_dim)
        elif attention is not None:
            self.attention = MultiplicativeAttention(hidden_dim, hidden_dim, attention)

    def encode(self, source: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Read the sources.

        Parameters
        ----------
        source : torch.Tensor
            Integer ids, ``(batch, source)``, padded on the right.

        Returns
        -------
        outputs : torch.Tensor
            The state after each id, ``(batch, source, hidden_dim)``; what stands in
            the padding is never read.
        last : torch.Tensor
            The state after the last id that is not padding, ``(batch, hidden_dim)``.
        mask : torch.Tensor of bool
            True where there is an id, ``(batch, source)``.

        Raises
        ------
        TypeError, ValueError
            If `source` does not hold ids of the vocabulary on two axes, a row is empty,
            or has padding before an id.
        """
        device = self.output.weight.device
        lengths = check_source(source, self.src_vocab_size, self.pad_idx, device)
        outputs, _ = self.encoder(self.source_embedding(source))
        # A GRU that reads from the left cannot be changed by padding on the right: it
        # is enough to take each state where its own sequence ends.
        rows = torch.arange(len(source), device=source.device)
        return outputs, outputs[rows, lengths - 1], source != self.pad_idx

    def forward(
        self, source: Tensor, target: Tensor, *, need_weights: bool = False
    ) -> Tensor | tuple[Tensor, Tensor]:
        """Score each target id, given the source and the target ids before it.

        This is teacher forcing: the decoder reads the target shifted to the right by
        one place, with the start symbol in front.

        Parameters
        ----------
        source : torch.Tensor
            Integer ids, ``(batch, source)``, padded on the right.
        target : torch.Tensor
            Integer ids, ``(batch, target)``. Leave its padding out of the loss, with
            ``ignore_index``.
        need_weights : bool, default False
            Whether to return the attention weights too.

        Returns
        -------
        logits : torch.Tensor
            ``(batch, target, tgt_vocab_size)``; ``logits[:, i]`` belongs to
            ``target[:, i]`` and depends on ``target[:, :i]``.
        weights : torch.Tensor
            Only if `need_weights`: ``(batch, target, source)``; rows sum to 1, padding
            has weight 0.

        Raises
        ------
        TypeError, ValueError
            If ids or shapes do not fit, or a model without attention is asked for
            weights.
        """
        if need_weights and self.attention is None:
            raise ValueError(
                "a model without attention has no weights to return. Make it with "
                'attention="general", for example, or leave out need_weights.'
            )
        check_ids("target", target, self.tgt_vocab_size, self.output.weight.device)
        outputs, last, mask = self.encode(source)
        shifted = shift_right(target, source, self.bos_idx)
        logits, weights, _ = self._decode(shifted, last[None], outputs, last, mask)
        return (logits, weights) if need_weights else logits

    @torch.no_grad()
    def greedy_decode(
        self, source: Tensor, max_len: int, *, need_weights: bool = False
    ) -> Tensor | tuple[Tensor, Tensor]:
        """Write the likeliest next id, `max_len` times, for a whole batch at once.

        Parameters
        ----------
        max_len : int
            Number of ids to write.
        source, need_weights
            As for the model itself, and so are the errors.

        Returns
        -------
        ids : torch.Tensor
            int64, ``(batch, max_len)``.
        weights : torch.Tensor
            Only if `need_weights`: ``(batch, max_len, source)``.
        """
        state, written = self.start(source), []
        token = source.new_full((len(source),), self.bos_idx, dtype=torch.int64)
        for _ in range(_checks.positive_int("max_len", max_len)):
            logits, state = self.step(token, state)
            token = logits.argmax(dim=-1)
            written.append(token)
        ids = torch.stack(written, dim=1)
        return (ids, self(source, ids, need_weights=True)[1]) if need_weights else ids

    def start(self, source: Tensor) -> tuple[Tensor, ...]:
        """Return what decoding needs before its first step; batch axes come first."""
        outputs, last, mask = self.encode(source)
        return last, outputs, last, mask

    def step(
        self, tokens: Tensor, state: tuple[Tensor, ...]
    ) -> tuple[Tensor, tuple[Tensor, ...]]:
        """Return logits ``(batch, tgt_vocab_size)`` after `tokens`, and a new state."""
        last, *source = state
        logits, _, last = self._decode(tokens[:, None], last[None], *source)
        return logits[:, 0], (last[0], *source)

    def _decode(self, inputs, state, outputs, last, mask):
        """Run the decoder over input ids (batch, steps), from state (1, batch, h)."""
        states, state = self.decoder(self.target_embedding(inputs), state)
        if self.attention is None:
            context, weights = last[:, None, :].expand_as(states), None
        else:
            context, weights = self.attention(outputs, states, mask)
        combined = torch.tanh(self.combine(torch.cat([context, states], dim=-1)))
        return self.output(combined), weights, state
