"""A small translator whose only way from source to target is its attention."""

from functools import cache
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from attncourse.data import Vocabulary, splits
from attncourse.data.text import EOS, PAD
from attncourse.models.seq2seq import sequence_loss
from attncourse.training.loop import train
from attncourse.training.translation import translation_batches

WIDTH = 64
STEPS = 600


class Corpus(NamedTuple):
    """Sentence pairs for training and for testing, and the words of both languages."""

    train: list
    test: list
    source: Vocabulary
    target: Vocabulary


@cache
def small_corpus(*, words=90, max_len=12, test=200):
    """Return English sentences of few different words, with French translations.

    Parameters
    ----------
    words : int, default 90
        The number of English words, the most frequent ones.
    max_len : int, default 12
        The longest English sentence, in tokens; the shortest has 4.
    test : int, default 200
        The most pairs to test on. None of them is among those for training.

    Returns
    -------
    Corpus
    """
    data = splits("french", valid=0, test=2000, compositional=0, max_len=max_len)
    known = Vocabulary.build((p.source for p in data.train), max_size=words + 4)

    def simple(pairs):
        return [p for p in pairs if set(p.source) <= set(known.tokens)]

    pairs = simple(data.train)
    target = Vocabulary.build(p.target for p in pairs)
    return Corpus(pairs, simple(data.test)[:test], known, target)


class Translator(nn.Module):
    r"""Read a sentence with a GRU in both directions, write another with a second GRU.

    .. math::

        e_j = x_j + [\overrightarrow{h}_j; \overleftarrow{h}_j], \qquad
        d_0 = 0, \qquad d_i = \mathrm{GRU}(y_{i-1}, d_{i-1}), \qquad
        p(y_i) = \operatorname{softmax}(W_o \tanh(W_c [c_i; d_i]))

    The decoder starts from zeros and is not told the encoder's last state. What it
    knows of the source comes through the context :math:`c_i`, so translators with
    different scores differ in the score alone.

    Parameters
    ----------
    source_size, target_size : int
        Numbers of source and of target ids.
    width : int
        Width of embeddings and states; even.
    make_attention : callable
        Called without arguments, last, so that translators of one seed start from the
        same weights whatever their score. It returns a module that is called like
        `AdditiveAttention`: ``attention(memory, states, mask)`` with
        ``(batch, source, width)``, ``(batch, target, width)`` and boolean
        ``(batch, source)``, True for words; it returns the context
        ``(batch, target, width)`` and the weights ``(batch, target, source)``.
    """

    def __init__(self, source_size, target_size, width, make_attention):
        super().__init__()
        self.start_idx = target_size  # an embedding of its own, which is no target id
        self.source_embedding = nn.Embedding(source_size, width)
        self.target_embedding = nn.Embedding(target_size + 1, width)
        for embedding in (self.source_embedding, self.target_embedding):
            nn.init.normal_(embedding.weight, std=0.3)  # dot products start small
        half = width // 2
        self.encoder = nn.GRU(width, half, batch_first=True, bidirectional=True)
        self.decoder = nn.GRU(width, width, batch_first=True)
        self.combine = nn.Linear(2 * width, width)
        self.output = nn.Linear(width, target_size)
        self.attention = make_attention()

    def encode(self, source):
        """Return a state for each source id, and where there is one (True)."""
        mask = source != PAD
        embedded = self.source_embedding(source)
        lengths = mask.sum(dim=1).cpu()
        packed = pack_padded_sequence(
            embedded, lengths, batch_first=True, enforce_sorted=False
        )
        states, _ = pad_packed_sequence(
            self.encoder(packed)[0], batch_first=True, total_length=source.shape[1]
        )
        return embedded + states, mask

    def forward(self, source, target, *, need_weights=False):
        """Score each target id, given the source and the target ids before it.

        Parameters
        ----------
        source, target : torch.Tensor
            Ids, ``(batch, source)`` and ``(batch, target)``, padded with 0.
        need_weights : bool, default False
            Whether to return the attention weights too.

        Returns
        -------
        logits : torch.Tensor
            ``(batch, target, target_size)``; ``logits[:, i]`` is for ``target[:, i]``.
        weights : torch.Tensor
            Only if `need_weights`: ``(batch, target, source)``; row i is where the
            model looks to write ``target[:, i]``.
        """
        memory, mask = self.encode(source)
        shifted = F.pad(target[:, :-1], (1, 0), value=self.start_idx)
        logits, weights, _ = self._decode(shifted, None, memory, mask)
        return (logits, weights) if need_weights else logits

    @torch.no_grad()
    def greedy_decode(self, source, max_len, *, end_idx=EOS):
        """Write the likeliest next id until every sentence has ended.

        Parameters
        ----------
        source : torch.Tensor
            Ids, ``(batch, source)``, padded with 0.
        max_len : int
            The most ids to write.
        end_idx : int
            The id that ends a sentence. What comes after it is 0.

        Returns
        -------
        torch.Tensor
            Ids, ``(batch, written)``.
        """
        memory, mask = self.encode(source)
        token = source.new_full((len(source), 1), self.start_idx)
        ended = torch.zeros_like(token, dtype=torch.bool)
        state, written = None, []
        while len(written) < max_len and not ended.all():
            logits, _, state = self._decode(token, state, memory, mask)
            token = logits.argmax(dim=-1).masked_fill(ended, PAD)
            ended = ended | (token == end_idx)
            written.append(token)
        return torch.cat(written, dim=1)

    def _decode(self, inputs, state, memory, mask):
        states, state = self.decoder(self.target_embedding(inputs), state)
        context, weights = self.attention(memory, states, mask)
        combined = torch.tanh(self.combine(torch.cat([context, states], dim=-1)))
        return self.output(combined), weights, state


def fit(model, pairs, corpus, *, seed, steps=STEPS, device=None, progress=True):
    """Train a translator on sentence pairs and return the loss of every step.

    Parameters
    ----------
    model : Translator
    pairs : list of SentencePair
    corpus : Corpus
        Whose words are used.
    seed : int
        Draws the order of the pairs.
    steps : int, default 600
        Updates, with 32 pairs each.
    device : torch.device or str, optional
        The best available one unless given.
    progress : bool, default True
        Whether to show a progress bar.
    """
    group = {"params": model.parameters(), "lr": 1e-2, "betas": (0.9, 0.98)}
    return train(
        model,
        translation_batches(pairs, corpus.source, corpus.target, size=32, seed=seed),
        lambda model, source, target: sequence_loss(model(source, target), target),
        steps=steps,
        learning_rate=[group],
        device=device,
        progress=progress,
    )
