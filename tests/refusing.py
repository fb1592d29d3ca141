"""Tests of what is refused: calls, the error that each raises, words of its message."""

import pytest
import torch


def refuses(*cases, run=lambda call: call()):
    """Return a test that runs each case and expects its error.

    A case is (call, message) for a ValueError, else (call, error, message): what `run`
    is given, and a pattern in the message.
    """

    @pytest.mark.parametrize("case", cases)
    def test(case):
        call, *error, message = case
        with pytest.raises(*(error or [ValueError]), match=message):
            run(call)

    return test


def generator():
    """Return a seeded generator, as the fixture `rng` does, for use in `run`."""
    return torch.Generator().manual_seed(20)
