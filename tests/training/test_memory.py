"""Memory: the elements that a computation makes, and those that exist at one time."""

import pytest
import torch
import torch.nn.functional as F

from attncourse.layers.core import scaled_dot_product_attention
from attncourse.training.memory import count_elements


def inputs(tokens, features=7, requires_grad=False):
    generator = torch.Generator().manual_seed(0)
    shape = (2, tokens, features)
    tensors = [torch.randn(shape, generator=generator) for _ in range(3)]
    return [tensor.requires_grad_(requires_grad) for tensor in tensors]


X, OUT = torch.ones(3, 5), torch.empty(3, 5)


def chain(x):
    for _ in range(10):
        x = x + 1


def views_and_results_in_place(x):
    x.T, x[1:], x.expand(100, 3, 5), x.unflatten(1, (5, 1)), x.detach().view(15)
    x.mul_(1)
    torch.add(x, x, out=OUT)


@pytest.mark.parametrize(
    ("function", "counted"),  # made, largest, peak
    [
        (lambda x: x + 1, (15, 15, 15)),
        (lambda x: x @ x.T, (9, 9, 9)),
        (chain, (150, 15, 30)),  # the old one and the new one together
        (lambda x: [x + i for i in range(10)], (150, 15, 150)),
        (views_and_results_in_place, (0, 0, 0)),
        (lambda x: x.expand(4, 3, 5).contiguous(), (60, 60, 60)),
        (lambda x: x.to(torch.bool), (15, 15, 15)),  # elements, not bytes
        (lambda x: x.double(), (15, 15, 15)),
        # memory that is used again is counted again
        (lambda x: [torch.ones(11).sum().item() for _ in range(50)], (600, 11, 12)),
    ],
)
def test_what_is_new_counts_and_what_is_freed_leaves_the_peak(function, counted):
    assert count_elements(lambda: function(X))[:3] == counted


@pytest.mark.parametrize(
    ("function", "computed"),
    [
        (chain, 150),
        (views_and_results_in_place, 30),
        (lambda x: [OUT.mul_(2) for _ in range(10)], 150),
        (lambda x: OUT[0].copy_(x[0]), 5),
        (lambda x: OUT.expand(4, 3, 5), 0),
        (
            lambda x: F.scaled_dot_product_attention(*[x[None, None]] * 3),
            18 + 9,
        ),  # 3 sums
    ],
)
def test_results_in_place_and_scores_of_fused_attention_are_computed(
    function, computed
):
    assert count_elements(lambda: function(X)).computed == computed


def test_of_memory_from_outside_only_inputs_do_not_count():
    assert count_elements(lambda: X + OUT, [X, OUT]).made == 15
    assert count_elements(lambda: X + OUT[1:2], [X]) == (30, 15, 30, 15)
    assert count_elements(lambda: OUT.mul_(X), []).largest == 15


def test_the_backward_pass_is_counted():
    q, k, v = inputs(32, requires_grad=True)
    forward = count_elements(lambda: scaled_dot_product_attention(q, k, v)[0].sum())
    both = count_elements(
        lambda: scaled_dot_product_attention(q, k, v)[0].sum().backward()
    )
    assert both.made > forward.made
    assert both.largest == 2 * 32 * 32


def test_fused_attention_with_a_mask_makes_the_matrix_and_without_does_not():
    q, k, v = (x[None] for x in inputs(512))  # with three axes it is never fused
    mask = torch.ones(512, 512, dtype=torch.bool).tril()
    plain = count_elements(lambda: F.scaled_dot_product_attention(q, k, v))
    masked = count_elements(
        lambda: F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    )
    assert plain.largest < 512 * 512 <= masked.largest


def test_something_that_cannot_be_called_is_refused():
    with pytest.raises(TypeError, match="without arguments"):
        count_elements(torch.ones(3))
