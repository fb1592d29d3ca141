"""A decoder-only Transformer: small, readable, and open to inspection."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from attncourse import _checks
from attncourse.layers.core import check_boolean, check_floating, check_mask
from attncourse.layers.masks import create_causal_mask
from attncourse.layers.multihead import MultiHeadAttention
from attncourse.layers.positions import (
    LearnedPositionalEncoding,
    SinusoidalPositionalEncoding,
)
from attncourse.models.feedforward import FeedForward
from attncourse.models.ids import check_ids

POSITIONS = ("sinusoidal", "learned", "rotary", None)


class TransformerLayer(nn.Module):
    r"""Self-attention, then a feed-forward network, each added to its own input.

    .. math::

        y = x + \operatorname{attention}(\operatorname{norm}(x)), \qquad
        z = y + \operatorname{feedforward}(\operatorname{norm}(y))

    This is the order called pre-norm. With ``norm_first=False`` it is that of the
    first Transformer: :math:`y = \operatorname{norm}(x + \operatorname{attention}(x))`
    and so on.

    Parameters
    ----------
    hidden_dim : int
        Width of the token vectors.
    num_heads : int
        Number of heads; has to divide `hidden_dim`.
    feedforward_dim : int, optional
        Width between the two maps of the feed-forward network; 4 · `hidden_dim`
        unless given. 0 leaves the network out: the layer is then attention only.
    dropout : float, default 0.0
        Probability of dropout on the weights and on what each part adds, in training.
    norm_first : bool, default True
        Normalise what each part reads, not the sum after it.
    norm : callable, default nn.LayerNorm
        ``norm(hidden_dim)`` returns a normalisation: ``nn.RMSNorm``, for example.
    feedforward : callable, default FeedForward
        ``feedforward(hidden_dim, feedforward_dim, dropout)`` returns the feed-forward
        network: `SwiGLU`, or ``partial(FeedForward, activation=nn.GELU)``.
    **attention
        `rotary`, `bias` and `num_kv_heads`, as for `MultiHeadAttention`.

    Raises
    ------
    TypeError, ValueError
        If a size is no whole number or too small, or `num_heads` does not divide
        `hidden_dim`.

    References
    ----------
    Vaswani et al. (2017), "Attention is all you need", section 3.1 and equation 2.
    Xiong et al. (2020), "On layer normalization in the Transformer architecture", for
    the place of the norm.
    """

    def __init__(
        self,
        hidden_dim: int,
        num_heads: int,
        *,
        feedforward_dim: int | None = None,
        dropout: float = 0.0,
        norm_first: bool = True,
        norm: Callable[[int], nn.Module] = nn.LayerNorm,
        feedforward: Callable[..., nn.Module] = FeedForward,
        **attention: Any,
    ) -> None:
        super().__init__()
        if feedforward_dim is None:
            feedforward_dim = 4 * _checks.positive_int("hidden_dim", hidden_dim)
        _checks.positive_int("feedforward_dim", feedforward_dim, minimum=0)
        self.norm_first = norm_first
        self.attention = MultiHeadAttention(hidden_dim, num_heads, dropout, **attention)
        self.attention_norm = norm(hidden_dim)
        self.dropout = nn.Dropout(dropout)
        self.feedforward = None
        if feedforward_dim:
            self.feedforward_norm = norm(hidden_dim)
            self.feedforward = feedforward(hidden_dim, feedforward_dim, dropout)

    def forward(
        self,
        x: Tensor,
        mask: Tensor | None = None,
        *,
        need_weights: bool = False,
        bias: Tensor | None = None,
    ) -> tuple[Tensor, Tensor | None]:
        """Return the layer's output, and on request where each head looked.

        Parameters
        ----------
        x : torch.Tensor
            Floating point, ``(batch, tokens, hidden_dim)``.
        mask, need_weights, bias
            As for `MultiHeadAttention`, and so are the errors.

        Returns
        -------
        output : torch.Tensor
            The shape and dtype of `x`.
        weights : torch.Tensor or None
            ``(batch, heads, tokens, tokens)``, before dropout; None unless asked for.
        """
        check_floating("x", x, self.attention.query_proj.weight)
        _checks.exact_rank("x", x, 3, layout="(batch, tokens, hidden_dim)")
        _checks.last_size("x", x, self.attention.d_model, meaning="hidden_dim")
        normed = self.attention_norm(x) if self.norm_first else x
        read, weights = self.attention(
            normed, normed, normed, mask, need_weights=need_weights, bias=bias
        )
        x = x + self.dropout(read)
        if self.norm_first:
            if self.feedforward is not None:
                x = x + self.dropout(self.feedforward(self.feedforward_norm(x)))
        else:
            x = self.attention_norm(x)
            if self.feedforward is not None:
                x = self.feedforward_norm(x + self.dropout(self.feedforward(x)))
        return x, weights


class Transformer(nn.Module):
    r"""A language model: from a sequence of tokens to scores for each next token.

    Token vectors and positions, a stack of `TransformerLayer`, a map to the vocabulary.
    Position `i` sees tokens 0 to `i` only; its logits are those of token `i` + 1.

    Parameters
    ----------
    vocab_size : int
        Tokens are 0 … `vocab_size` − 1.
    hidden_dim : int
        Width of the token vectors.
    num_heads : int
        Heads in each layer; has to divide `hidden_dim`.
    num_layers : int
        Number of layers.
    max_len : int, default 512
        The longest sequence that is accepted, in tokens.
    positions : {"sinusoidal", "learned", "rotary", None}, default "sinusoidal"
        How the model knows where a token stands; None leaves it to the causal mask
        and to `position_bias`.
    position_bias : callable, optional
        ``position_bias(queries, keys)`` returns what every layer adds to its scaled
        scores, ``(heads, queries, keys)``: a `T5RelativeBias`, which is then trained
        with the model, or ``functools.partial(alibi_bias, num_heads)``.
    causal : bool, default True
        If False, each position sees the whole sequence, its answer included. That is
        of use for tasks in which nothing is predicted from the left.
    **layer
        `feedforward_dim`, `dropout`, `norm_first`, `norm` and `feedforward`, as for
        `TransformerLayer`. With `norm_first`, a last norm precedes the output map.

    Raises
    ------
    TypeError, ValueError
        If a size is out of range, the heads do not divide the width, or `positions` is
        unknown.

    References
    ----------
    Vaswani et al. (2017), "Attention is all you need". Radford et al. (2018),
    "Improving language understanding by generative pre-training", for the stack
    without an encoder. Elhage et al. (2021), "A mathematical framework for Transformer
    circuits", for models of attention only.
    """

    def __init__(
        self,
        vocab_size: int,
        hidden_dim: int,
        num_heads: int,
        num_layers: int,
        *,
        max_len: int = 512,
        positions: str | None = "sinusoidal",
        position_bias: Callable[[int, int], Tensor] | None = None,
        causal: bool = True,
        **layer: Any,
    ) -> None:
        super().__init__()
        self.vocab_size = _checks.positive_int("vocab_size", vocab_size)
        self.hidden_dim = _checks.positive_int("hidden_dim", hidden_dim)
        self.num_layers = _checks.positive_int("num_layers", num_layers)
        self.max_len = _checks.positive_int("max_len", max_len)
        self.num_heads = _checks.positive_int("num_heads", num_heads)
        _checks.one_of("positions", positions, POSITIONS)
        self.causal = causal
        self.embedding = nn.Embedding(vocab_size, hidden_dim)
        self.add_positions = nn.Identity()
        if positions == "sinusoidal":
            self.add_positions = SinusoidalPositionalEncoding(hidden_dim, max_len)
        elif positions == "learned":
            self.add_positions = LearnedPositionalEncoding(hidden_dim, max_len)
        self.position_bias = position_bias
        self.dropout = nn.Dropout(layer.get("dropout", 0.0))
        self.layers = nn.ModuleList(
            TransformerLayer(
                hidden_dim, num_heads, rotary=positions == "rotary", **layer
            )
            for _ in range(num_layers)
        )
        self.final_norm = nn.Identity()
        if layer.get("norm_first", True):
            self.final_norm = layer.get("norm", nn.LayerNorm)(hidden_dim)
        self.output_proj = nn.Linear(hidden_dim, vocab_size)

    def forward(
        self,
        tokens: Tensor,
        mask: Tensor | None = None,
        *,
        need_weights: bool = False,
        active_heads: Tensor | None = None,
    ) -> Tensor | tuple[Tensor, list[Tensor]]:
        """Return the logits of every next token, and on request all attention maps.

        Parameters
        ----------
        tokens : torch.Tensor
            Integers, ``(batch, tokens)``.
        mask : torch.Tensor of bool, optional
            A further mask, True = may attend, such as `create_padding_mask` returns;
            it is combined with the causal one.
        need_weights : bool, default False
            Whether to return the attention weights.
        active_heads : torch.Tensor of bool, optional
            ``(num_layers, num_heads)``; a head that is False is switched off: it may
            attend to nothing, so its weights and its output are zero.

        Returns
        -------
        logits : torch.Tensor
            ``(batch, tokens, vocab_size)``.
        weights : list of torch.Tensor
            Only with ``need_weights=True``: one ``(batch, heads, tokens, tokens)`` for
            each layer.

        Raises
        ------
        TypeError, ValueError
            If `tokens` is not a matrix of integers from the vocabulary, is longer than
            max_len, or a mask or `active_heads` does not fit.
        """
        device = self.embedding.weight.device
        check_ids("tokens", tokens, self.vocab_size, device, max_len=self.max_len)
        mask = full_mask(self, mask, tokens)
        x = self.dropout(self.add_positions(self.embedding(tokens)))
        bias = None
        if self.position_bias is not None:
            bias = self.position_bias(x.shape[1], x.shape[1]).to(x)
        x, all_weights = run_layers(
            self.layers, x, mask, active_heads, need_weights=need_weights, bias=bias
        )
        logits = self.output_proj(self.final_norm(x))
        return (logits, all_weights) if need_weights else logits


def full_mask(model: Any, mask: Tensor | None, tokens: Tensor) -> Tensor | None:
    """Check the mask of `tokens`; combine it with the causal one if `model` has one."""
    batch, length = tokens.shape
    if mask is not None:
        check_mask(mask, (batch, model.num_heads, length, length), tokens.device)
    if not model.causal:
        return mask
    past = create_causal_mask(length, device=tokens.device)
    return past if mask is None else past & mask


def run_layers(
    layers: nn.ModuleList,
    x: Tensor,
    mask: Tensor | None = None,
    active_heads: Tensor | None = None,
    **options: Any,
) -> tuple[Tensor, list[Tensor | None]]:
    """Return the output of a stack of `TransformerLayer`, and all weights.

    `active_heads`, ``(layers, heads)``, is as for `Transformer.forward`.
    """
    masks = [mask] * len(layers)
    if active_heads is not None:
        check_boolean("active_heads", active_heads, x.device)
        shape = (len(layers), layers[0].attention.num_heads)
        if tuple(active_heads.shape) != shape:
            raise ValueError(
                f"active_heads must have one entry for each head, shape {shape}, but "
                f"its shape is {_checks.shape_text(active_heads)}."
            )
        if mask is None:
            mask = torch.ones(1, x.shape[1], dtype=torch.bool, device=x.device)
        masks = [mask & active[None, :, None, None] for active in active_heads]
    all_weights = []
    for layer, own in zip(layers, masks, strict=True):
        x, weights = layer(x, own, **options)
        all_weights.append(weights)
    return x, all_weights
