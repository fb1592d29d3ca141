"""What the checks of memory in exercise 5 count, and what they follow."""

from functools import partial

import pytest
import torch

from attncourse.exercises.efficient.memory import _beside, _count
from attncourse.training.memory import count_elements

TOKENS = 7


def inputs():
    return {name: torch.randn(TOKENS, 5) for name in ("query", "key", "value")}


def full(query, key, value):
    return (query @ key.mT).softmax(-1) @ value


def in_place(query, key, value):
    output = torch.empty_like(value)
    for i in range(TOKENS):
        output[i] = (query[i] @ key.mT).softmax(-1) @ value
    return output


def by_numpy(query, key, value):
    parts = (torch.from_numpy(x.numpy()) for x in (query, key, value))
    return full(*parts)


def sparse(query, key, value):
    scores = (query @ key.mT).to_sparse()
    return torch.sparse.mm(torch.sparse.softmax(scores, 1), value)


@pytest.mark.parametrize("job", [full, in_place, by_numpy])
def test_the_counts_are_those_of_the_package(job):
    job = partial(job, **inputs())
    made, largest, _ = _count(job)
    expected = count_elements(job)
    assert (made, largest) == (expected.made, expected.largest)


@pytest.mark.parametrize("job", [full, in_place, by_numpy, sparse])
def test_the_inputs_are_followed_to_the_output(job):
    assert _count(partial(job, **inputs()))[2]


@pytest.mark.parametrize(
    "job",
    [
        lambda query, key, value: full(query, query, value),
        lambda query, key, value: full(query, torch.zeros_like(key), value),
        lambda query, key, value: torch.tensor(full(query, key, value).tolist()),
        lambda query, key, value: torch.from_numpy(full(query, key, value).numpy() + 0),
    ],
)
def test_an_output_that_leaves_an_input_out_or_tensors_is_found(job):
    assert not _count(partial(job, **inputs()))[2]


def test_memory_that_grows_under_a_tensor_counts():
    def into(query, key, value, to):
        return torch.matmul(query, key.mT, out=to()) @ value

    for to in (torch.empty(0).clone, lambda: torch.empty(0).resize_(TOKENS, TOKENS)):
        made, largest, _ = _count(partial(into, **inputs(), to=to))
        assert (made, largest) == (TOKENS**2 + TOKENS * 5, TOKENS**2)


def test_a_sparse_matrix_counts_what_it_holds():
    made, largest, _ = _count(partial(torch.eye(TOKENS).to_sparse))
    assert largest >= 2 * TOKENS  # the places
    assert made >= 3 * TOKENS


def test_arrays_and_lists_are_found_beside_the_tensors():
    n = 300
    held = [
        lambda: torch.ones(n, n).numpy().copy(),
        lambda: [[0.0] * n for _ in range(n)],
        lambda: bytearray(2 * n**2),
    ]
    assert all(_beside(job) >= 2 * n**2 for job in held)
    assert _beside(lambda: torch.ones(n, n)) < 4 * n
