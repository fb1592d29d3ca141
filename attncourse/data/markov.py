"""A Markov language with recall of a marked symbol, for lengths beyond training."""

import math

import numpy as np
import torch
from torch import Tensor

from attncourse._checks import positive_int
from attncourse.data._random import Seed, as_generator, check_share, uniform_integers

OTHER, LOCAL, MARKED, RECALL = 0, 1, 2, 3  # kinds of token in markov_recall_batch


def markov_successors(num_symbols: int, language_seed: Seed = 0) -> Tensor:
    """Return the likely successor of each symbol in `markov_recall_batch`.

    The symbols stand in a random circle and each is followed by its neighbour, so all
    symbols are equally frequent.

    Parameters
    ----------
    num_symbols : int
    language_seed : int or numpy.random.Generator

    Returns
    -------
    torch.Tensor, int64, (num_symbols + 1,)
        Entry s is the successor of symbol s; entry 0 is 0 and unused.
    """
    positive_int("num_symbols", num_symbols, minimum=2)
    draws = as_generator(language_seed).random(num_symbols)
    circle = 1 + np.argsort(draws, kind="stable").astype(np.int64)
    successor = np.zeros(num_symbols + 1, dtype=np.int64)
    successor[circle] = np.roll(circle, -1)
    return torch.from_numpy(successor)


def markov_recall_batch(
    batch: int,
    length: int,
    num_symbols: int = 16,
    noise: float = 0.1,
    event_rate: float = 0.125,
    seed: Seed = 0,
    language_seed: Seed = 0,
) -> tuple[Tensor, Tensor]:
    """Draw sequences of a Markov language with recall of a marked symbol.

    `markov_recall_floor` gives the least possible losses.

    Ids 1 ... num_symbols are symbols, MARK = num_symbols + 1, ASK = num_symbols + 2:
    the vocabulary has num_symbols + 3 ids. The first token is a uniform symbol. Then

    - after a symbol s, with probability `event_rate`, comes an event token: MARK if no
      mark is waiting to be asked for, else ASK. Otherwise comes the successor of s with
      probability 1 - `noise`, or a uniform symbol with probability `noise`;
    - after MARK comes a uniform symbol: the marked one;
    - after ASK comes the symbol that was last marked.

    The rules look back at the last token and the last mark, never at a position. A
    model that has learned the rules is therefore as good on long sequences as on short
    ones; what it loses there, it loses because of its positions. The tokens between
    mark and question are geometrically distributed, with mean (1 - r) / r.

    Parameters
    ----------
    batch, length : int
        Sequences, and tokens in each; no padding.
    num_symbols : int
        At least 2.
    noise, event_rate : float
        Probabilities of a uniform symbol, and r of MARK or ASK after a symbol.
    seed, language_seed : int or numpy.random.Generator
        Draw the sequences, and the successors: the same in training and test.

    Returns
    -------
    tokens : torch.Tensor, int64, (batch, length)
    kind : torch.Tensor, int64, (batch, length)
        What kind of prediction each token is as a target: 1 (LOCAL) a symbol after a
        symbol, 2 (MARKED) a symbol after MARK, 3 (RECALL) the answer after ASK, 0
        (OTHER) the first token and the tokens MARK and ASK.

    Raises
    ------
    TypeError, ValueError
        If an argument has the wrong type, a size is too small or a probability is
        not between 0 and 1.
    """
    positive_int("batch", batch)
    positive_int("length", length)
    check_share("noise", noise)
    check_share("event_rate", event_rate)
    successor = markov_successors(num_symbols, language_seed).numpy()
    mark, ask = num_symbols + 1, num_symbols + 2
    generator = as_generator(seed)
    event, slip = generator.random((2, batch, length))
    event, slip = event < event_rate, slip < noise
    tokens = uniform_integers(generator, 1, num_symbols, (batch, length))
    kind = np.zeros((batch, length), dtype=np.int64)
    marked = np.zeros(batch, dtype=np.int64)  # 0: no mark waits to be asked for
    for t in range(1, length):
        previous = tokens[:, t - 1]
        after_mark, after_ask = previous == mark, previous == ask
        after_symbol = previous <= num_symbols
        by_rule = after_symbol & ~slip[:, t]
        tokens[by_rule, t] = successor[previous[by_rule]]
        kind[:, t] = LOCAL * after_symbol + MARKED * after_mark + RECALL * after_ask
        tokens[after_ask, t] = marked[after_ask]
        marked[after_ask] = 0
        marked[after_mark] = tokens[after_mark, t]
        now = after_symbol & event[:, t]
        tokens[now, t] = np.where(marked[now] > 0, ask, mark)
        kind[now, t] = OTHER
    return torch.from_numpy(tokens), torch.from_numpy(kind)


def markov_recall_losses(
    tokens: Tensor,
    kind: Tensor,
    num_symbols: int = 16,
    noise: float = 0.1,
    event_rate: float = 0.125,
    language_seed: int = 0,
) -> Tensor:
    """Return the loss of a reader who knows the rules, token by token.

    What a model loses above it is the model's own fault. Such a reader knows whether a
    mark is waiting, and so which event token would come, but not when.

    Parameters
    ----------
    tokens, kind : torch.Tensor, int64, (batch, length)
        As `markov_recall_batch` returns them.
    num_symbols, noise, event_rate, language_seed
        As they were given to `markov_recall_batch`.

    Returns
    -------
    torch.Tensor, float32, (batch, length)
        In nats.
    """
    before = tokens.roll(1, dims=1).clamp(max=num_symbols)
    usual = tokens == markov_successors(num_symbols, language_seed)[before]
    chain = (1 - noise) * usual + noise / num_symbols
    loss = -torch.log((1 - event_rate) * chain)
    loss[kind == OTHER] = -math.log(event_rate)
    loss[kind == MARKED] = math.log(num_symbols)
    loss[kind == RECALL] = 0.0
    loss[:, 0] = math.log(num_symbols)
    return loss


def markov_recall_floor(
    num_symbols: int = 16, noise: float = 0.1, event_rate: float = 0.125
) -> dict[str, float]:
    """Return the least possible losses on `markov_recall_batch`, in nats.

    With V symbols, noise e and event rate r, the likely successor has probability
    p = 1 - e + e / V and each other symbol q = e / V, so that

        chain = -p ln p - (V - 1) q ln q
        local = chain - ln(1 - r)
        per_token = (H(r) + (1 - r) chain + r ln(V) / 2) / (1 + r)

    where H(r) = -r ln r - (1 - r) ln(1 - r).

    Parameters
    ----------
    num_symbols, noise, event_rate
        As in `markov_recall_batch`.

    Returns
    -------
    dict of str to float
        "local": the mean loss on tokens of kind LOCAL, which needs the last token
        only; the term ln(1 - r) pays for not knowing that no event comes.
        "marked": ln V. "recall": 0. "per_token": the mean over all tokens of a long
        sequence, for a model that also knows whether a mark is waiting.
    """
    positive_int("num_symbols", num_symbols, minimum=2)
    check_share("noise", noise)
    check_share("event_rate", event_rate)

    def surprise(p):
        return -p * math.log(p) if p > 0 else 0.0

    other = noise / num_symbols
    chain = surprise(1 - noise + other) + (num_symbols - 1) * surprise(other)
    r = event_rate
    event = surprise(r) + surprise(1 - r)
    marked = math.log(num_symbols)
    return {
        "local": chain - math.log(1 - r) if r < 1 else math.nan,
        "marked": marked,
        "recall": 0.0,
        "per_token": (event + (1 - r) * chain + r * marked / 2) / (1 + r),
    }
