"""Given in exercise 3: a translator that sees its source through attention alone."""

from functools import cache
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from attncourse.data import Vocabulary, splits
from attncourse.data.text import EOS, PAD
from attncourse.training.loop import train
from attncourse.training.translation import translation_batches

WIDTH = 64
STEPS = 600

# 97.5 % of Student's t distribution lie below this, by degrees of freedom.
T975 = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306}


class Corpus(NamedTuple):
    """Sentence pairs for training and for testing, and the words of both languages."""

    train: list
    test: list
    source: Vocabulary
    target: Vocabulary


@cache
def small_corpus(*, words=90, max_len=12, test=200):
    """Return English sentences of few different words, with French translations.

    Only the `words` most frequent words occur, in sentences of 4 to `max_len` tokens.
    At most `test` pairs are for testing; none of them is among those for training.
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

    All that the decoder knows of the source is in the context :math:`c_i`, so
    translators with different scores differ in the score alone.

    Parameters
    ----------
    source_size, target_size : int
        Numbers of source and of target ids.
    width : int
        Width of embeddings and states; even.
    make_attention : callable
        Called without arguments, last, so that translators of one seed start from the
        same weights whatever their score. It returns a module to be called as in task
        3.3, ``attention(memory, states, mask)``, for the context and the weights.
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
        """Return a state for each source id, and where there is a word (True)."""
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
        """Return logits for each target id, given the source and the ids before it.

        `source` and `target` are ids, ``(batch, source)`` and ``(batch, target)``,
        padded with 0. With `need_weights` the attention weights come too,
        ``(batch, target, source)``; row i belongs to ``target[:, i]``.
        """
        memory, mask = self.encode(source)
        shifted = F.pad(target[:, :-1], (1, 0), value=self.start_idx)
        logits, weights, _ = self._decode(shifted, None, memory, mask)
        return (logits, weights) if need_weights else logits

    def loss(self, source, target):
        """Return the mean cross-entropy of the target ids that are not padding."""
        logits = self(source, target).flatten(0, 1)
        return F.cross_entropy(logits, target.flatten(), ignore_index=PAD)

    @torch.no_grad()
    def greedy_decode(self, source, max_len, *, end_idx=EOS):
        """Return the ids, ``(batch, written)``, that are the most probable in turn.

        What comes after `end_idx` is 0. At most `max_len` ids are written.
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

    `seed` draws the order of the pairs, 32 a step; `device` is the best one by default.
    """
    group = {"params": model.parameters(), "lr": 1e-2, "betas": (0.9, 0.98)}
    return train(
        model,
        translation_batches(pairs, corpus.source, corpus.target, size=32, seed=seed),
        lambda model, source, target: model.loss(source, target),
        steps=steps,
        learning_rate=[group],
        device=device,
        progress=progress,
    )
