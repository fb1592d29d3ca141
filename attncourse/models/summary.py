"""Extractive summaries: choose the sentences that a reader needs."""

import torch
from torch import Tensor, nn

from attncourse import _checks
from attncourse.data.batching import pad_sequences
from attncourse.data.text import PAD, Vocabulary
from attncourse.layers.core import masked_softmax
from attncourse.layers.positions import LearnedPositionalEncoding
from attncourse.models.ids import check_ids
from attncourse.models.transformer import TransformerLayer, run_layers


class SelfAttentionSummarizer(nn.Module):
    r"""Score each sentence of a text, knowing all the others.

    The words of a sentence are weighed by a learned query and summed to one vector.
    Self-attention between these vectors lets a sentence be judged by what the others
    say, and a linear map turns each into the score of belonging to the summary. The
    scores are *trained* on known summaries: how much attention a word gets is not a
    measure of its importance.

    Parameters
    ----------
    vocab_size : int
        Number of ids.
    embed_dim : int, default 64
        Width of word and sentence vectors.
    num_heads : int, default 4
        Heads of the attention between sentences; has to divide `embed_dim`.
    hidden_dim : int, default 128
        Width of the feed-forward network.
    max_length : int, default 64
        The most sentences of a text.
    num_layers : int, default 1
        Layers of attention between sentences; 0 judges each sentence alone.
    dropout : float, default 0.0
        Dropout, in training.

    Raises
    ------
    TypeError, ValueError
        If a size is no whole number or too small, or the heads do not divide the width.

    References
    ----------
    Yang et al. (2016), "Hierarchical attention networks for document classification",
    section 2.2: words weighed by a learned query. Liu and Lapata (2019), "Text
    summarization with pretrained encoders", section 3: self-attention between sentences
    for extractive summaries.
    """

    pad_idx = PAD

    def __init__(
        self,
        vocab_size: int,
        embed_dim: int = 64,
        num_heads: int = 4,
        hidden_dim: int = 128,
        max_length: int = 64,
        *,
        num_layers: int = 1,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.vocab_size = _checks.positive_int("vocab_size", vocab_size)
        _checks.positive_int("num_layers", num_layers, minimum=0)
        self.embedding = nn.Embedding(vocab_size, embed_dim, PAD)
        self.word_hidden = nn.Linear(embed_dim, embed_dim)
        self.word_query = nn.Linear(embed_dim, 1, bias=False)
        self.positions = LearnedPositionalEncoding(embed_dim, max_length, dropout)
        self.layers = nn.ModuleList(
            TransformerLayer(
                embed_dim, num_heads, feedforward_dim=hidden_dim, dropout=dropout
            )
            for _ in range(num_layers)
        )
        self.norm = nn.LayerNorm(embed_dim)
        self.score = nn.Linear(embed_dim, 1)

    def forward(
        self, texts: Tensor, *, need_weights: bool = False
    ) -> Tensor | tuple[Tensor, dict[str, list[Tensor] | Tensor]]:
        """Score the sentences of each text.

        Parameters
        ----------
        texts : torch.Tensor
            Integer ids, ``(batch, sentences, words)``; short sentences are padded on
            the right, short texts with rows of padding.
        need_weights : bool, default False
            Whether to return the attention weights too.

        Returns
        -------
        scores : torch.Tensor
            Logits, ``(batch, sentences)``; −inf for rows of padding.
        weights : dict of torch.Tensor
            Only if `need_weights`: "words" ``(batch, sentences, words)`` and "layers",
            a list of ``(batch, heads, sentences, sentences)``.

        Raises
        ------
        TypeError, ValueError
            If `texts` does not hold ids of the vocabulary in three axes, or has more
            sentences than max_length.
        """
        device, layout = self.score.weight.device, "(batch, sentences, words)"
        check_ids("texts", texts, self.vocab_size, device, layout=layout)
        words = texts != self.pad_idx
        present = words.any(dim=-1)
        embedded = self.embedding(texts)
        relevance = self.word_query(torch.tanh(self.word_hidden(embedded))).squeeze(-1)
        word_weights = masked_softmax(relevance, words)
        sentences = (word_weights[..., None, :] @ embedded).squeeze(-2)
        x = self.positions(sentences)
        mask = present[:, None, None, :]
        x, layer_weights = run_layers(self.layers, x, mask, need_weights=need_weights)
        scores = self.score(self.norm(x)).squeeze(-1)
        scores = scores.masked_fill(~present, -torch.inf)
        if need_weights:
            return scores, {"words": word_weights, "layers": layer_weights}
        return scores

    @torch.no_grad()
    def generate_summary(
        self, texts: Tensor, *, num_sentences: int = 3
    ) -> list[list[int]]:
        """Choose the sentences with the largest scores, in the order of the text.

        Parameters
        ----------
        texts : torch.Tensor
            As for the model itself.
        num_sentences : int, default 3
            The most sentences of a summary; a shorter text is returned whole.

        Returns
        -------
        list of list of int
            For each text, the indices of the chosen sentences.
        """
        num_sentences = _checks.positive_int("num_sentences", num_sentences)
        self.eval()
        scores = self(texts)
        best = scores.topk(min(num_sentences, scores.shape[1]), dim=1).indices
        chosen = torch.zeros_like(scores, dtype=torch.bool).scatter(1, best, True)
        chosen &= scores > -torch.inf
        return [row.nonzero().flatten().tolist() for row in chosen]

    def summarize_text(
        self,
        sentences: list[list[str]],
        vocabulary: Vocabulary,
        *,
        num_sentences: int = 3,
    ) -> list[list[str]]:
        """Summarise one text that is given in words.

        Parameters
        ----------
        sentences : list of list of str
            The words of each sentence.
        vocabulary : attncourse.data.Vocabulary
            Turns words into ids; unknown words become its id for them.
        num_sentences : int, default 3
            As for `generate_summary`.

        Returns
        -------
        list of list of str
            The chosen sentences, in the order of the text. An empty text or sentence
            raises a ValueError.
        """
        ids, _ = pad_sequences([vocabulary.encode(words) for words in sentences])
        texts = ids[None].to(self.score.weight.device)
        (chosen,) = self.generate_summary(texts, num_sentences=num_sentences)
        return [sentences[i] for i in chosen]


def salience_loss(scores: Tensor, salient: Tensor) -> Tensor:
    """Return the mean binary cross-entropy over the sentences that exist, in nats.

    Parameters
    ----------
    scores : torch.Tensor
        What the model returned, ``(batch, sentences)``.
    salient : torch.Tensor of bool
        True where a sentence belongs to the summary, ``(batch, sentences)``.
    """
    exists = scores > -torch.inf
    return nn.functional.binary_cross_entropy_with_logits(
        scores[exists], salient[exists].to(scores.dtype)
    )
