"""Attention from a decoder to an encoder: the additive and multiplicative scores."""

import torch
from torch import Tensor, nn

from attncourse import _checks
from attncourse.layers.core import check_floating, masked_softmax

METHODS = ("dot", "general", "concat")


class AdditiveAttention(nn.Module):
    r"""Score a pair of states with a small network (Bahdanau attention).

    .. math::

        s_{ij} = v^\top \tanh(W_d\, d_i + W_e\, e_j), \qquad
        c_i = \sum_j \operatorname{softmax}_j(s_{ij})\, e_j

    Parameters
    ----------
    encoder_dim : int
        Width of the encoder states e.
    decoder_dim : int
        Width of the decoder states d.
    attention_dim : int
        Width of the hidden layer of the score.

    References
    ----------
    Bahdanau, Cho and Bengio (2015), "Neural machine translation by jointly learning
    to align and translate", section 3.1 and appendix A.1.2.
    """

    def __init__(self, encoder_dim: int, decoder_dim: int, attention_dim: int) -> None:
        super().__init__()
        self.encoder_dim = _checks.positive_int("encoder_dim", encoder_dim)
        self.decoder_dim = _checks.positive_int("decoder_dim", decoder_dim)
        attention_dim = _checks.positive_int("attention_dim", attention_dim)
        self.encoder_proj = nn.Linear(encoder_dim, attention_dim, bias=False)
        self.decoder_proj = nn.Linear(decoder_dim, attention_dim, bias=False)
        self.score = nn.Linear(attention_dim, 1, bias=False)

    def forward(
        self,
        encoder_outputs: Tensor,
        decoder_hidden: Tensor,
        mask: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Return the context for each decoder state, and its weights.

        Parameters
        ----------
        encoder_outputs : torch.Tensor
            Floating point, ``(batch, source, encoder_dim)``.
        decoder_hidden : torch.Tensor
            One state, ``(batch, decoder_dim)``, or one for each step,
            ``(batch, target, decoder_dim)``.
        mask : torch.Tensor of bool, optional
            True = may attend; ``(batch, source)`` for padding, or whatever
            `create_padding_mask` returns, or ``(batch, target, source)``.

        Returns
        -------
        context : torch.Tensor
            ``(batch, encoder_dim)`` or ``(batch, target, encoder_dim)``.
        weights : torch.Tensor
            ``(batch, source)`` or ``(batch, target, source)``; a sequence with no
            allowed position has zero weights and a zero context.

        Raises
        ------
        TypeError, ValueError
            If dtypes, devices or shapes do not fit, or the mask is not boolean.
        """
        _check_states(self, encoder_outputs, decoder_hidden)
        states = self.decoder_proj(_per_step(decoder_hidden))[:, :, None, :]
        keys = self.encoder_proj(encoder_outputs)[:, None, :, :]
        scores = self.score(torch.tanh(states + keys)).squeeze(-1)
        return _read(scores, encoder_outputs, decoder_hidden, mask)


class MultiplicativeAttention(nn.Module):
    r"""Score a pair of states with a product (Luong attention).

    .. math::

        s_{ij} = \begin{cases}
            d_i^\top e_j & \text{dot} \\
            d_i^\top W e_j & \text{general} \\
            v^\top \tanh(W [d_i; e_j]) & \text{concat}
        \end{cases}

    Luong et al. compare the three under one heading; "concat" is additive in form.

    Parameters
    ----------
    encoder_dim, decoder_dim : int
        Widths of the encoder states e and of the decoder states d. "dot" needs them
        to be equal.
    method : {"dot", "general", "concat"}, default "general"
        The score; the hidden layer of "concat" has the width `decoder_dim`.

    Raises
    ------
    ValueError
        If the method is unknown, or "dot" is asked to compare unequal widths.

    References
    ----------
    Luong, Pham and Manning (2015), "Effective approaches to attention-based neural
    machine translation", equation 8 (section 3.1).
    """

    def __init__(
        self, encoder_dim: int, decoder_dim: int, method: str = "general"
    ) -> None:
        super().__init__()
        self.encoder_dim = _checks.positive_int("encoder_dim", encoder_dim)
        self.decoder_dim = _checks.positive_int("decoder_dim", decoder_dim)
        self.method = _checks.one_of("method", method, METHODS)
        if method == "dot" and encoder_dim != decoder_dim:
            raise ValueError(
                "method 'dot' needs encoder_dim == decoder_dim, but got "
                f"{encoder_dim} and {decoder_dim}. Use method 'general', whose matrix "
                "maps one width to the other."
            )
        if method == "general":
            self.weight = nn.Linear(encoder_dim, decoder_dim, bias=False)
        elif method == "concat":
            self.hidden = nn.Linear(decoder_dim + encoder_dim, decoder_dim, bias=False)
            self.score = nn.Linear(decoder_dim, 1, bias=False)

    def forward(
        self,
        encoder_outputs: Tensor,
        decoder_hidden: Tensor,
        mask: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Return the context for each decoder state, and its weights.

        Arguments, results and errors are those of `AdditiveAttention`.
        """
        _check_states(self, encoder_outputs, decoder_hidden)
        states = _per_step(decoder_hidden)
        if self.method == "concat":
            target, source = states.shape[1], encoder_outputs.shape[1]
            pairs = torch.cat(
                [
                    states[:, :, None, :].expand(-1, -1, source, -1),
                    encoder_outputs[:, None, :, :].expand(-1, target, -1, -1),
                ],
                dim=-1,
            )  # (batch, target, source, decoder_dim + encoder_dim)
            scores = self.score(torch.tanh(self.hidden(pairs))).squeeze(-1)
        else:
            general = self.method == "general"
            keys = self.weight(encoder_outputs) if general else encoder_outputs
            scores = states @ keys.transpose(1, 2)
        return _read(scores, encoder_outputs, decoder_hidden, mask)


def _per_step(decoder_hidden):
    """Return the states as (batch, target, decoder_dim)."""
    return decoder_hidden if decoder_hidden.dim() == 3 else decoder_hidden[:, None, :]


def _read(scores, encoder_outputs, decoder_hidden, mask):
    """Turn scores (batch, target, source) into contexts and weights."""
    if mask is not None and mask.dim() != 3:
        batch, _, source = scores.shape
        if mask.dim() == 4 and mask.shape[1:3] == (1, 1):
            mask = mask[:, 0, 0, :]
        if mask.shape != (batch, source):
            raise ValueError(
                f"mask must have shape (batch, source) = {(batch, source)}, or "
                "(batch, target, source), or be the result of create_padding_mask, "
                f"but its shape is {_checks.shape_text(mask)}."
            )
        mask = mask[:, None, :]
    weights = masked_softmax(scores, mask)
    context = weights @ encoder_outputs
    if decoder_hidden.dim() == 2:
        return context.squeeze(1), weights.squeeze(1)
    return context, weights


def _check_states(layer, encoder_outputs, decoder_hidden):
    parameter = next(layer.parameters(), encoder_outputs)
    check_floating("encoder_outputs", encoder_outputs, parameter)
    check_floating("decoder_hidden", decoder_hidden, parameter)
    _checks.exact_rank(
        "encoder_outputs", encoder_outputs, 3, layout="(batch, source, encoder_dim)"
    )
    if decoder_hidden.dim() not in (2, 3):
        raise ValueError(
            "decoder_hidden must be (batch, decoder_dim) or (batch, target, "
            f"decoder_dim), but its shape is {_checks.shape_text(decoder_hidden)}. "
            "An nn.GRU or nn.LSTM returns its state as (layers, batch, hidden): take "
            "the last layer with state[-1]."
        )
    _checks.last_size(
        "encoder_outputs", encoder_outputs, layer.encoder_dim, meaning="encoder_dim"
    )
    _checks.last_size(
        "decoder_hidden", decoder_hidden, layer.decoder_dim, meaning="decoder_dim"
    )
    if encoder_outputs.shape[0] != decoder_hidden.shape[0]:
        raise ValueError(
            "encoder_outputs and decoder_hidden must have the same batch size on "
            "their first axis, but their shapes are "
            f"{_checks.shape_text(encoder_outputs)} and "
            f"{_checks.shape_text(decoder_hidden)}."
        )
