"""Exercise 5: its formulas are counts, its clock keeps time, its limits are fair."""

from functools import partial

import pytest
import torch
import torch.nn.functional as F

from attncourse import local_attention, scaled_dot_product_attention
from attncourse.exercises.efficient.block_views import pattern, token_mask
from attncourse.exercises.efficient.cost_mistakes import largest
from attncourse.exercises.efficient.crossover import first_ahead_for_good
from attncourse.exercises.efficient.local import LOCAL
from attncourse.exercises.efficient.machine import Machine
from attncourse.exercises.efficient.oracle import window_mask
from attncourse.exercises.judge import cases_of, inputs_of
from attncourse.layers.local import local_attention_in_blocks
from attncourse.layers.sparse import (
    expand_blocks,
    global_blocks,
    strided_blocks,
    window_blocks,
)
from attncourse.training.memory import count_elements

SIZES = [(2, 11, 16, 3), (3, 211, 16, 5), (2, 97, 8, 16), (4, 1009, 32, 64)]


@pytest.mark.parametrize(("heads", "tokens", "width", "window"), SIZES)
def test_the_formulas_of_full_attention_are_what_is_counted(
    heads, tokens, width, window
):
    query, key, value = torch.ones(3, 1, heads, tokens, width)
    mask = window_mask(tokens, window, True)
    fused = partial(F.scaled_dot_product_attention, query, key, value)
    counts = {
        "written out": partial(scaled_dot_product_attention, query, key, value, mask),
        "fused, masked": partial(fused, attn_mask=mask),
        "fused, causal": partial(fused, is_causal=True),
    }
    formulas = largest(heads, tokens, width, window)
    for name, way in counts.items():
        assert count_elements(way).largest == formulas[name], name


def _plain(query, key, value, window):
    """Return causal attention in blocks, its scores written out."""
    tokens = query.shape[-2]
    fill = -tokens % window

    def cut(x, before):
        return F.pad(x, (0, 0, before, fill)).unflatten(-2, (-1, window))

    def both(x):
        x = cut(x, window)
        return torch.cat([x[..., :-1, :, :], x[..., 1:, :, :]], dim=-2)

    return scaled_dot_product_attention(cut(query, 0), both(key), both(value))[0]


@pytest.mark.parametrize(("heads", "tokens", "width", "window"), SIZES)
def test_the_formula_of_blocks_is_what_is_counted(heads, tokens, width, window):
    inputs = torch.ones(3, 1, heads, tokens, width)
    count = count_elements(partial(_plain, *inputs, window)).largest
    assert count == largest(heads, tokens, width, window)["in blocks"]


@pytest.mark.parametrize("attention", [local_attention, local_attention_in_blocks])
@pytest.mark.parametrize("place", range(len(LOCAL.checks)))
def test_the_package_keeps_within_the_limits_of_local_attention(attention, place):
    check = LOCAL.checks[place]
    answer = lambda *args, window=None, **options: attention(
        *args[:3], window=args[3] if window is None else window, **options
    )
    for case in cases_of(check, [answer], check.seeds):
        seen, expected = case.seen, case.expected
        assert seen.keys() == expected.keys()
        for name in seen:
            assert seen[name].values == pytest.approx(expected[name].values, abs=1e-4)


@pytest.mark.parametrize("rule", [(1, 0, 0), (0, 3, 0), (0, 0, 2), (2, 3, 1)])
def test_the_pattern_is_the_one_of_the_package(rule):
    window, stride, num_global = rule
    mask = window_blocks(7, window) | global_blocks(7, num_global)
    mask = mask | strided_blocks(7, stride) if stride else mask
    assert torch.equal(pattern(7, *rule), mask)
    assert torch.equal(token_mask(19, 3, *rule), expand_blocks(mask, 3, 19, 19))


def test_the_machine_is_cold_at_first_and_slows_down():
    machine = Machine({"a": 2.0, "b": 3.0}, first=10.0, slow_from=(3, 4))
    taken = []
    for name in "aabba":
        start = machine.clock()
        machine.jobs[name]()
        taken.append(machine.clock() - start)
    assert taken == [12, 2, 13, 15, 50]


def test_the_jitter_of_the_machine_has_one_median():
    from attncourse.exercises.efficient.timing import TIMING

    jitter = inputs_of(TIMING.checks[1], 0)["jitter"]
    assert len(set(jitter)) == len(jitter) >= 4


@pytest.mark.parametrize(
    ("ours", "expected"),
    [([1, 3, 1], 3), ([1, 1, 1], 1), ([1, 1, 2], None), ([3, 1, 1], 2)],
)
def test_the_crossover_is_where_ours_stays_ahead(ours, expected):
    assert first_ahead_for_good([1, 2, 3], ours, [2, 2, 2]) == expected
