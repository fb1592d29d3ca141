"""A report says what was measured, in a form that can be read back."""

import numpy as np
import pytest
import torch

from attncourse.training.reporting import cases, read_report, report, wilson


def printed(capsys, *args, **options):
    report(*args, **options)
    return read_report(capsys.readouterr().out)


def test_over_seeds_the_interval_runs_from_the_lowest_to_the_highest(capsys):
    rows, holds = printed(
        capsys, {"with": [0.9, 0.7, 0.8]}, form="{:.0%}", holds=np.bool_(True)
    )
    assert rows == [("with", "80%", "70% to 90%", "3 seeds")]
    assert holds


def test_over_cases_a_share_has_wilsons_interval(capsys):
    right = torch.tensor([True] * 9 + [False])
    rows, holds = printed(capsys, {"a": right}, over="cases", holds=False)
    low, high = wilson(9, 10)
    assert rows == [("a", "0.90", f"{low:.2f} to {high:.2f}", "1 seed, 10 cases")]
    assert not holds


def test_over_cases_other_means_have_a_normal_interval(capsys):
    values = [1.0, 2.0, 3.0, 4.0]
    rows, _ = printed(
        capsys, {"a": values}, over="cases", form="{:.3f} nats", holds=True
    )
    reach = 1.959964 * np.std(values, ddof=1) / 2
    interval = f"{2.5 - reach:.3f} to {2.5 + reach:.3f} nats"
    assert rows[0][1:3] == ("2.500 nats", interval)


def test_wilson_agrees_with_published_values():
    # Newcombe (1998), table I, method 3: 81/263 and 0/20.
    assert wilson(81, 263) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert wilson(0, 20) == pytest.approx((0.0, 0.1611), abs=5e-5)


def test_cases_have_the_share_that_was_measured():
    assert cases(0.875, 8).sum() == 7
    assert cases(1 / 3, 300).mean() == pytest.approx(1 / 3)
    with pytest.raises(ValueError, match="cannot come from 7 cases"):
        cases(0.5, 7)


def test_repeats_are_not_called_seeds(capsys):
    rows, _ = printed(capsys, {"a": [2.0, 4.0]}, over="repeats", holds=True)
    assert rows == [("a", "3.00", "2.00 to 4.00", "2 repeats")]


def test_a_number_without_chance_is_called_exact(capsys):
    rows, _ = printed(capsys, {"n": 7}, over="nothing", form="{:,}", holds=True)
    assert rows == [("n", "7", "exact", "no seed")]


def test_names_of_unequal_length_leave_four_columns(capsys):
    rows, _ = printed(
        capsys, {"a": [1, 2], "a longer name, 17–19": [10.5, 200]}, holds=True
    )
    assert [row[0] for row in rows] == ["a", "a longer name, 17–19"]


@pytest.mark.parametrize(
    "measures, over, message",
    [
        ({"a": 0.5}, "seeds", "needs two or more"),
        ({"a": [0.5, 0.6]}, "nothing", "has 2 value"),
        ({"a": [[1, 2], [3, 4]]}, "seeds", r"shape is \(2, 2\)"),
        ({"a  b": [1, 2]}, "seeds", "two spaces"),
        ({"a": [1, 2]}, "days", "over must be one of"),
    ],
)
def test_what_cannot_be_reported_is_refused(measures, over, message):
    with pytest.raises(ValueError, match=message):
        report(measures, over=over, holds=True)


@pytest.mark.parametrize(
    "text", ["", "BLEU 99", "a   1   2\nthe claim holds: True", "the claim holds: True"]
)
def test_other_text_is_no_report(text):
    with pytest.raises(ValueError):
        read_report(text)
