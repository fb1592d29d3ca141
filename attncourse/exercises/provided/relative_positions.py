"""The language of exercise 4, and a language model whose attention is the student's."""

from __future__ import annotations

from functools import lru_cache

import torch
import torch.nn.functional as F
from torch import nn

from attncourse.data.markov import markov_recall_batch, markov_recall_floor

__all__ = ["ENTROPY", "LanguageModel", "draw"]

VOCABULARY = 19  # padding, 16 letters, and the two marks
LANGUAGE = {"num_symbols": 16, "noise": 0.1, "event_rate": 0.25}
ENTROPY = markov_recall_floor(**LANGUAGE)["per_token"]  # nats per token


def draw(batch, length, seed):
    """Draw texts of a Markov chain with recall: int64, ``(batch, length)``, 1 to 18.

    The seed draws the texts; the rules of the language are always the same.
    """
    return _drawn(batch, length, seed).clone()


@lru_cache(maxsize=1024)  # models that are compared learn from the same texts
def _drawn(batch, length, seed):
    return markov_recall_batch(batch, length, seed=seed, **LANGUAGE)[0]


def sinusoids(tokens, width):
    """Return sines (even columns) and cosines: Vaswani et al. (2017)."""
    rates = 10_000.0 ** (-torch.arange(0, width, 2) / width)
    angles = torch.arange(tokens)[:, None] * rates
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)


class LanguageModel(nn.Module):
    r"""A small decoder-only Transformer around an attention function that it is given.

    Parameters
    ----------
    attend : callable
        ``attend(query, key, value, scheme, learned)`` returns the output of causal
        attention, ``(batch, heads, tokens, d_head)``, the shape of its first three
        arguments.
    scheme : str
        Handed to `attend`. With "sinusoidal", sinusoids are added to the token vectors
        and `attend` gets "none".
    learned : callable, optional
        Handed to `attend`; if it is a module, it is trained with the model.
    """

    d_model, num_heads, num_layers, d_hidden = 48, 4, 2, 96

    def __init__(self, attend, scheme, learned=None):
        super().__init__()
        self.attend, self.scheme, self.learned = attend, scheme, learned
        d_model = self.d_model
        self.embedding = nn.Embedding(VOCABULARY, d_model)
        self.layers = nn.ModuleList(
            nn.ModuleDict(
                {
                    "attention_norm": nn.LayerNorm(d_model),
                    "to_heads": nn.Linear(d_model, 3 * d_model),
                    "from_heads": nn.Linear(d_model, d_model),
                    "feedforward": nn.Sequential(
                        nn.LayerNorm(d_model),
                        nn.Linear(d_model, self.d_hidden),
                        nn.ReLU(),
                        nn.Linear(self.d_hidden, d_model),
                    ),
                }
            )
            for _ in range(self.num_layers)
        )
        self.to_logits = nn.Sequential(
            nn.LayerNorm(d_model), nn.Linear(d_model, VOCABULARY)
        )

    def forward(self, tokens):
        """Return the logits of each next token, ``(batch, tokens, 19)``."""
        x = self.embedding(tokens)
        if self.scheme == "sinusoidal":
            x = x + sinusoids(*x.shape[1:]).to(x)
        for layer in self.layers:
            heads = layer["to_heads"](layer["attention_norm"](x))
            x = x + layer["from_heads"](self._attention(heads))
            x = x + layer["feedforward"](x)
        return self.to_logits(x)

    def _attention(self, heads):
        # (batch, tokens, 3 * d_model) -> (3, batch, heads, tokens, d_head)
        heads = heads.unflatten(-1, (3, self.num_heads, -1)).permute(2, 0, 3, 1, 4)
        scheme = "none" if self.scheme == "sinusoidal" else self.scheme
        output = self.attend(*heads, scheme, self.learned)
        return output.transpose(1, 2).flatten(2)


SYMBOLS, DIGITS = 19, 12  # of the stand-ins for models and texts in the checks


class Bigrams(nn.Module):
    """A model whose logits follow from the token that was read last."""

    def __init__(self, table):
        super().__init__()
        self.table = nn.Parameter(table.clone())

    def forward(self, tokens):
        """Return one row of the table for each token."""
        return self.table[tokens]


class ByPosition(nn.Module):
    """A model whose loss follows from the position, and which notes what it reads.

    Symbol 0, which never occurs, has the logit slope * position + gain * level, all
    others 0. Training lowers the levels, the only parameter, one for each position.
    """

    def __init__(self, slope, gain):
        super().__init__()
        self.slope, self.gain = slope, gain
        self.levels = nn.Parameter(torch.zeros(80))
        self.read = [], []  # in training and in tests: (numbers of texts, tokens)

    def forward(self, tokens):
        """Return the logits, and note which texts were read, and in which mode."""
        ids = (tokens[:, :DIGITS] * SYMBOLS ** torch.arange(DIGITS)).sum(-1)
        self.read[0 if self.training else 1].append((ids.tolist(), tokens.shape[1]))
        positions = torch.arange(tokens.shape[1])
        logit = self.slope * positions + self.gain * self.levels[positions]
        return F.pad(logit[:, None], (0, SYMBOLS - 1)).repeat(len(tokens), 1, 1)


def numbered_texts(batch, length, seed):
    """Return texts that spell a number, their own for each seed and row."""
    ids = seed * 2**20 + torch.arange(batch)
    digits = ids[:, None] // 18 ** torch.arange(DIGITS) % 18
    return 1 + digits[:, torch.arange(length) % DIGITS]
