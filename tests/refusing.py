"""Tests of what is refused: calls, the error that each raises, words of its message."""

import pytest
import torch


def refuses(*cases, run=lambda call: call(), over=None):
    """Return a test that runs each case and expects its error.

    A case is (call, message) for a ValueError, else (call, error, message): what `run`
    is given, and a pattern in the message. With `over`, `run` is given these, too.
    """
    values = [()] if over is None else [(value,) for value in over]

    @pytest.mark.parametrize("value", values)
    @pytest.mark.parametrize("case", cases)
    def test(case, value):
        call, *error, message = case
        with pytest.raises(*(error or [ValueError]), match=message):
            run(call, *value)

    return test


def generator():
    """Return a seeded generator, as the fixture `rng` does, for use in `run`."""
    return torch.Generator().manual_seed(20)
