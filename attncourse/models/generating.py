"""Writing with a language model: how the next token is drawn, and the loop."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from attncourse import _checks
from attncourse.models.gpt import GPT


def next_token_probabilities(
    logits: Tensor,
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    repetition_penalty: float = 1.0,
    seen: Tensor | None = None,
) -> Tensor:
    r"""Return the distribution that the next token is drawn from.

    The options are applied in this order: the penalty, the temperature, top-k, top-p.

    Parameters
    ----------
    logits : torch.Tensor
        Floating point, ``(batch, vocab_size)``.
    temperature : float, default 1.0
        Divides the logits; 0 leaves only the likeliest token (greedy).
    top_k : int, optional
        Keep the k likeliest tokens.
    top_p : float, optional
        Keep the fewest tokens that together have at least this probability: the
        nucleus.
    repetition_penalty : float, default 1.0
        Positive logits of tokens in `seen` are divided by it, negative ones multiplied.
    seen : torch.Tensor, optional
        Token ids so far, ``(batch, tokens)``; only the penalty needs them.

    Returns
    -------
    torch.Tensor
        ``(batch, vocab_size)``; rows sum to 1.

    References
    ----------
    Holtzman et al. (2020), "The curious case of neural text degeneration", section 3.1,
    for the nucleus; Keskar et al. (2019), "CTRL: a conditional Transformer language
    model for controllable generation", section 4.1, for the penalty.
    """
    if not temperature >= 0:
        raise ValueError(f"temperature must be 0 or more, but got {temperature}.")
    if top_p is not None and not 0 < top_p <= 1:
        raise ValueError(f"top_p must be above 0 and at most 1, but got {top_p}.")
    if not repetition_penalty >= 1:
        raise ValueError(
            f"repetition_penalty must be 1 or more, but got {repetition_penalty}."
        )
    if repetition_penalty > 1:
        old = logits.gather(1, seen)
        new = torch.where(old > 0, old / repetition_penalty, old * repetition_penalty)
        logits = logits.scatter(1, seen, new)
    if temperature == 0:
        return torch.zeros_like(logits).scatter(1, logits.argmax(1, keepdim=True), 1.0)
    ranked, order = torch.softmax(logits / temperature, dim=-1).sort(
        dim=-1, descending=True, stable=True
    )
    if top_k is not None:
        ranked[:, _checks.positive_int("top_k", top_k) :] = 0
        ranked = ranked / ranked.sum(dim=-1, keepdim=True)
    if top_p is not None:  # a token goes if those before it suffice
        ranked = ranked.masked_fill(ranked.cumsum(dim=-1) - ranked >= top_p, 0)
    kept = ranked / ranked.sum(dim=-1, keepdim=True)
    return torch.zeros_like(kept).scatter(1, order, kept)


@torch.no_grad()
def generate(
    model: GPT,
    prompts: Sequence[Sequence[int]],
    new_tokens: int,
    *,
    seed: int = 0,
    use_cache: bool = True,
    **options: Any,
) -> list[list[int]]:
    """Continue prompts by a number of tokens each.

    Shorter prompts are padded on the left, so that all end at the same column; the
    padding is hidden from attention.

    Parameters
    ----------
    model : GPT
        Left in evaluation mode.
    prompts : list of list of int
        Token ids, at least one in each.
    new_tokens : int
        How many are written.
    seed : int, default 0
        The draws do not depend on `use_cache` or the device.
    use_cache : bool, default True
        Keep keys and values. Without, each step reads the whole text again.
    **options
        As for `next_token_probabilities`.

    Returns
    -------
    list of list of int
        The new tokens of each prompt. A prompt that is empty, or too long for the
        model's context, raises a ValueError.
    """
    longest = max(map(len, prompts), default=0)
    if min(map(len, prompts), default=0) == 0:
        raise ValueError("prompts must hold at least one token each, but one is empty.")
    if longest + new_tokens > model.context:
        raise ValueError(
            f"a prompt of {longest} tokens and {new_tokens} new ones exceed the "
            f"context, {model.context} tokens. Keep the end of the prompt, or ask for "
            "fewer."
        )
    device = next(model.parameters()).device
    model.eval()
    # The padding repeats a token of the prompt, so that no penalty falls on another.
    rows = [[p[0]] * (longest - len(p)) + list(p) for p in prompts]
    tokens = torch.tensor(rows, device=device)
    lengths = torch.tensor([[len(p)] for p in prompts], device=device)
    present = torch.arange(longest, device=device) >= longest - lengths
    rng = torch.Generator().manual_seed(seed)
    cache = [] if use_cache else None
    unread = tokens
    for _ in range(new_tokens):
        logits = model(unread, cache, present=present)[:, -1]
        chances = next_token_probabilities(logits, seen=tokens, **options).cpu()
        drawn = torch.multinomial(chances, 1, generator=rng).to(device)
        tokens = torch.cat([tokens, drawn], dim=1)
        present = torch.nn.functional.pad(present, (0, 1), value=True)
        unread = drawn if use_cache else tokens
    return tokens[:, longest:].tolist()
