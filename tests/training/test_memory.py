"""Memory: the elements that a computation makes, and those that exist at one time."""

import pytest
import torch
import torch.nn.functional as F

from attncourse.layers.blockwise import blockwise_attention
from attncourse.layers.core import scaled_dot_product_attention
from attncourse.layers.local import local_attention, local_attention_in_blocks
from attncourse.training.memory import count_elements


def inputs(tokens, features=7, requires_grad=False):
    generator = torch.Generator().manual_seed(0)
    shape = (2, tokens, features)
    tensors = [torch.randn(shape, generator=generator) for _ in range(3)]
    return [tensor.requires_grad_(requires_grad) for tensor in tensors]


def test_each_new_tensor_counts_with_all_its_elements():
    x = torch.ones(3, 5)
    assert count_elements(lambda: x + 1).made == 15
    assert count_elements(lambda: x @ x.T) == (9, 9, 9)


def test_memory_that_is_freed_counts_as_made_but_not_at_the_peak():
    x = torch.ones(3, 5)

    def chain():
        y = x
        for _ in range(10):
            y = y + 1
        return y

    assert count_elements(chain) == (150, 15, 30)  # the old and the new one together


def test_what_is_kept_adds_up_at_the_peak():
    x = torch.ones(3, 5)
    assert count_elements(lambda: [x + i for i in range(10)]).peak == 150


def test_views_and_results_written_in_place_count_as_nothing():
    x, out = torch.ones(3, 5), torch.empty(3, 5)

    def function():
        x.T, x[1:], x.expand(100, 3, 5), x.unflatten(1, (5, 1))
        x.mul_(2)
        torch.add(x, x, out=out)

    assert count_elements(function) == (0, 0, 0)


def test_a_copy_of_an_expanded_view_counts_in_full():
    x = torch.ones(3, 5)
    assert count_elements(lambda: x.expand(4, 3, 5).contiguous()).largest == 60


def test_elements_are_counted_not_bytes():
    x = torch.ones(3, 5)
    for dtype in (torch.bool, torch.float16, torch.float64):
        assert count_elements(lambda d=dtype: x.to(d)).made == 15


def test_the_inputs_do_not_count_even_if_a_view_of_them_is_returned():
    x = torch.ones(3, 5)
    assert count_elements(lambda: x.detach().view(15)).made == 0


def test_memory_that_is_used_again_is_counted_again():
    made = count_elements(lambda: [torch.ones(11).sum().item() for _ in range(50)]).made
    assert made == 50 * (11 + 1)


def test_counting_twice_gives_the_same():
    q, k, v = inputs(64)

    def function():
        return local_attention(q, k, v, window=5)

    assert count_elements(function) == count_elements(function)


def test_the_backward_pass_is_counted():
    q, k, v = inputs(32, requires_grad=True)
    forward = count_elements(lambda: scaled_dot_product_attention(q, k, v)[0].sum())
    both = count_elements(
        lambda: scaled_dot_product_attention(q, k, v)[0].sum().backward()
    )
    assert both.made > forward.made
    assert both.largest == 2 * 32 * 32


def test_written_out_attention_makes_the_whole_matrix_of_scores():
    q, k, v = inputs(97)
    assert count_elements(lambda: scaled_dot_product_attention(q, k, v)).largest == (
        2 * 97 * 97
    )


def test_fused_attention_with_a_mask_makes_the_matrix_and_without_does_not():
    q, k, v = (x[None] for x in inputs(512))  # with three axes it is never fused
    mask = torch.ones(512, 512, dtype=torch.bool).tril()
    plain = count_elements(lambda: F.scaled_dot_product_attention(q, k, v))
    masked = count_elements(
        lambda: F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    )
    assert plain.largest < 512 * 512 <= masked.largest


@pytest.mark.parametrize(
    "attend",
    [
        lambda *qkv: local_attention(*qkv, window=16, causal=True),
        lambda *qkv: local_attention_in_blocks(*qkv, window=16, causal=True),
        lambda *qkv: blockwise_attention(*qkv, block_size=16),
    ],
)
def test_local_and_blockwise_attention_grow_with_the_length_not_its_square(attend):
    short, long = (
        count_elements(lambda n=n: attend(*inputs(n))).peak for n in (4096, 8192)
    )
    assert long < 2.2 * short


def test_something_that_cannot_be_called_is_refused():
    with pytest.raises(TypeError, match="without arguments"):
        count_elements(torch.ones(3))
