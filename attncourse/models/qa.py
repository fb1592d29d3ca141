"""Extractive question answering: point at the answer in a passage, or at nothing."""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attncourse import _checks
from attncourse.data.text import PAD
from attncourse.layers.masks import create_padding_mask
from attncourse.layers.multihead import MultiHeadAttention
from attncourse.models.ids import check_even_width, check_source
from attncourse.models.transformer import TransformerLayer, run_layers


class QATransformer(nn.Module):
    r"""Find the span of a context that answers a question.

    Two recurrent encoders give question and context words their order. Attention then
    runs both ways: every context word reads the question, and every question word reads
    the context, which hands it back to the context words that asked for it. Transformer
    layers let the context words compare what they found, and two heads score *context*
    positions as the first and the last word of the answer. Position 0 of both scores
    stands for "the context does not say".

    Between question and context, queries and keys start from the same map, so that
    before any training a word looks for its like in the other text. Random maps have
    to find that out first, and then seeds differ more.

    Parameters
    ----------
    vocab_size : int
        Number of ids; questions and contexts share them.
    d_model : int, default 96
        Width of all states; even, because half of it reads forwards and half backwards.
    nhead : int, default 4
        Number of heads; has to divide `d_model`.
    num_layers : int, default 1
        Transformer layers over the context; 0 leaves them out.
    attention : bool, default True
        False puts the mean of the question's states where attention between question
        and context would be: the baseline that shows what it is worth.
    dropout : float, default 0.0
        Dropout, in training.

    Raises
    ------
    TypeError, ValueError
        If a size is not a whole number from 1, `d_model` is odd, or the heads do not
        divide it.

    References
    ----------
    Seo et al. (2017), "Bidirectional attention flow for machine comprehension": both
    directions, and how they are joined. Rajpurkar et al. (2018), "Know what you don't
    know": questions without an answer. Devlin et al. (2019), section 4.3: one position
    that stands for "no answer".
    """

    pad_idx = PAD

    def __init__(
        self,
        vocab_size: int,
        d_model: int = 96,
        nhead: int = 4,
        num_layers: int = 1,
        *,
        attention: bool = True,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.vocab_size = _checks.positive_int("vocab_size", vocab_size)
        _checks.positive_int("num_layers", num_layers, minimum=0)
        check_even_width(d_model)
        self.embedding = nn.Embedding(vocab_size, d_model, PAD)
        self.question_encoder = _Reader(d_model)
        self.context_encoder = _Reader(d_model)
        self.attention = attention
        if attention:
            self.from_question = _matching(d_model, nhead)
            self.from_context = _matching(d_model, nhead)
            self.back_to_context = _matching(d_model, nhead)
        self.join = nn.Linear(4 * d_model, d_model)
        self.modelling = _Reader(d_model)
        self.layers = nn.ModuleList(
            TransformerLayer(d_model, nhead, feedforward_dim=2 * d_model)
            for _ in range(num_layers)
        )
        self.norm = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(_checks.probability("dropout", dropout))
        self.start = nn.Linear(d_model, 1)
        self.end = nn.Linear(d_model, 1)
        self.nothing = nn.Linear(2 * d_model, 2)

    def forward(
        self, question: Tensor, context: Tensor, *, need_weights: bool = False
    ) -> tuple[Any, ...]:
        """Score each context position as the first and as the last word of the answer.

        Parameters
        ----------
        question, context : torch.Tensor
            Integer ids, ``(batch, words)``, padded on the right; no empty rows.
        need_weights : bool, default False
            Whether to return the attention weights too.

        Returns
        -------
        start, end : torch.Tensor
            Logits, ``(batch, 1 + context)``. Column 0 stands for "no answer", column
            i + 1 for context word i; padding has −inf.
        weights : dict of torch.Tensor
            Only if `need_weights`; the first three only with `attention`:
            "from_question" and "back_to_context" ``(batch, heads, context, question)``,
            "from_context" ``(batch, heads, question, context)``, and "layers", a list
            of ``(batch, heads, context, context)``.

        Raises
        ------
        TypeError, ValueError
            If ids or shapes do not fit, or a row is empty.
        """
        device = self.start.weight.device
        lengths = [
            check_source(ids, self.vocab_size, self.pad_idx, device)
            for ids in (question, context)
        ]
        if len(question) != len(context):
            raise ValueError(
                "question and context must have the same batch size, but their shapes "
                f"are {_checks.shape_text(question)} and {_checks.shape_text(context)}."
            )
        question_mask = create_padding_mask(question, self.pad_idx)
        context_mask = create_padding_mask(context, self.pad_idx)
        asked, said = (self.dropout(self.embedding(ids)) for ids in (question, context))
        asked = self.question_encoder(asked, lengths[0])
        said = self.context_encoder(said, lengths[1])

        options = {"need_weights": need_weights}
        weights = {}
        if self.attention:
            answered, weights["from_question"] = self.from_question(
                said, asked, asked, question_mask, **options
            )
            found, weights["from_context"] = self.from_context(
                asked, said, said, context_mask, **options
            )
            handed_back, weights["back_to_context"] = self.back_to_context(
                said, asked, found, question_mask, **options
            )
        else:
            answered = _mean(asked, question_mask[:, 0, 0])[:, None].expand_as(said)
            handed_back = answered
        joined = [said, answered, said * answered, said * handed_back]
        x = F.relu(self.join(self.dropout(torch.cat(joined, dim=-1))))
        x = self.modelling(x, lengths[1])
        x, layer_weights = run_layers(self.layers, x, context_mask, **options)
        x = self.dropout(self.norm(x))

        present = context_mask[:, 0, 0]
        largest = x.masked_fill(~present[..., None], -torch.inf).amax(dim=1)
        whole = torch.cat([_mean(asked, question_mask[:, 0, 0]), largest], dim=-1)
        scores = torch.cat([self.start(x), self.end(x)], dim=-1)
        scores = torch.cat([self.nothing(whole)[:, None], scores], dim=1)
        hidden = ~F.pad(present, (1, 0), value=True)[..., None]
        start, end = scores.masked_fill(hidden, -torch.inf).unbind(dim=-1)
        if not need_weights:
            return start, end
        return start, end, {**weights, "layers": layer_weights}

    @torch.no_grad()
    def predict_answer(
        self, question: Tensor, context: Tensor, *, max_answer: int = 10
    ) -> list[tuple[int, int] | None]:
        """Return the best span of each context, found by a joint search.

        Parameters
        ----------
        question, context : torch.Tensor
            As for the model itself, and so are the errors.
        max_answer : int, default 10
            The longest answer, in words.

        Returns
        -------
        list of tuple or None
            For each row the first and the last word of the answer, both included, or
            None where the context does not say.
        """
        max_answer = _checks.positive_int("max_answer", max_answer)
        self.eval()
        start, end = self(question, context)
        spans, scores = best_spans(start[:, 1:], end[:, 1:], max_answer)
        spans[start[:, 0] + end[:, 0] >= scores] = -1  # the context does not say
        return [tuple(span) if span[0] >= 0 else None for span in spans.tolist()]


def best_spans(start: Tensor, end: Tensor, max_answer: int) -> tuple[Tensor, Tensor]:
    """Return the span with the largest start + end score of each row.

    Parameters
    ----------
    start, end : torch.Tensor
        Logits, ``(batch, context)``; −inf where there is padding.
    max_answer : int
        The longest span, in words.

    Returns
    -------
    spans : torch.Tensor
        int64, ``(batch, 2)``: first and last word, both included, first <= last.
    scores : torch.Tensor
        ``(batch,)``.
    """
    length = start.shape[1]
    pairs = start[:, :, None] + end[:, None, :]  # (batch, first, last)
    allowed = torch.ones(length, length, dtype=torch.bool, device=start.device)
    allowed = allowed.triu() & allowed.tril(max_answer - 1)
    scores, best = pairs.masked_fill(~allowed, -torch.inf).flatten(1).max(dim=1)
    return torch.stack([best // length, best % length], dim=1), scores


def span_loss(start: Tensor, end: Tensor, first: Tensor, last: Tensor) -> Tensor:
    """Return the mean cross-entropy of the answers' first and last words, in nats.

    Parameters
    ----------
    start, end : torch.Tensor
        What the model returned, ``(batch, 1 + context)``.
    first, last : torch.Tensor
        int64, ``(batch,)``: indices into the context, or −1 where there is no answer.
    """
    return (F.cross_entropy(start, first + 1) + F.cross_entropy(end, last + 1)) / 2


class _Reader(nn.Module):
    """Add to each word what was read up to it, from the left and from the right.

    LSTMs over padded batches: PyTorch runs these on a CPU twice as fast as packed ones
    and GRUs. The second reads each text backwards from its own last word, so neither
    meets padding before a word.
    """

    def __init__(self, width):
        super().__init__()
        self.forwards = nn.LSTM(width, width // 2, batch_first=True)
        self.backwards = nn.LSTM(width, width // 2, batch_first=True)

    def forward(self, x, lengths):
        place = torch.arange(x.shape[1], device=x.device)
        mirrored = lengths[:, None] - 1 - place
        mirrored = torch.where(mirrored >= 0, mirrored, place)[..., None]

        def turn(states):
            return states.gather(1, mirrored.expand_as(states))

        read = self.forwards(x)[0], turn(self.backwards(turn(x))[0])
        return x + torch.cat(read, dim=-1)


def _matching(d_model, num_heads):
    """Return attention that starts as a search for the same word in the other text."""
    attention = MultiHeadAttention(d_model, num_heads)
    for linear in (attention.query_proj, attention.key_proj):
        nn.init.eye_(linear.weight)
        nn.init.zeros_(linear.bias)
    return attention


def _mean(x, present):
    present = present[..., None]
    return (x * present).sum(dim=1) / present.sum(dim=1)
