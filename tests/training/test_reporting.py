"""A report says what was measured, in a form that can be read back."""

from statistics import NormalDist

import numpy as np
import pytest
import torch

from attncourse.training.reporting import (
    bootstrap,
    cases,
    evidence,
    read_evidence,
    wilson,
)
from tests.refusing import refuses


def shown(capsys, measured, claimed=(None, 1e9), **options):
    evidence("a claim", "ours", measured, claimed=claimed, **options)
    return read_evidence(capsys.readouterr().out)


LOW, HIGH = wilson(9, 10)


@pytest.mark.parametrize(
    ("values", "options", "row"),
    [
        ([0.9, 0.7, 0.8], {"form": "{:.0%}"}, ("80%", "70% to 90%", "3 seeds")),
        ([2.0, 4.0], {"over": "repeats"}, ("3.00", "2.00 to 4.00", "2 repeats")),
        (7, {"over": "nothing", "form": "{:,}"}, ("7", None, "exact")),
        (
            torch.tensor([True] * 9 + [False]),  # Wilson's interval
            {"over": "cases"},
            ("0.90", f"{LOW:.2f} to {HIGH:.2f}", "1 seed, 10 cases"),
        ),
    ],
)
def test_the_interval_depends_on_what_the_values_differ_in(
    capsys, values, options, row
):
    assert shown(capsys, {"a": values}, **options).measured == [("a", *row)]


def test_over_cases_other_means_have_a_bootstrap_interval(capsys):
    losses = np.array([0.001] * 99 + [3.2])  # skewed: mean minus 1.96 errors is < 0
    low, high = bootstrap(losses)
    found = shown(capsys, {"a": losses}, over="cases", form="{:.3f} nats")
    assert found.measured[0][2] == f"{low:.3f} to {high:.3f} nats"
    assert losses.min() <= low < losses.mean() < high


@pytest.mark.parametrize("n, student", [(12, 2.201), (40, 2.023), (1000, 1.962)])
def test_on_normal_values_the_bootstrap_agrees_with_student(n, student):
    values = np.array([NormalDist().inv_cdf((i + 0.5) / n) for i in range(n)])
    reach = student * values.std(ddof=1) / np.sqrt(n)
    assert bootstrap(values) == pytest.approx((-reach, reach), rel=0.06)


def test_wilson_agrees_with_published_values():
    # Newcombe (1998), table I, method 3: 81/263 and 0/20.
    assert wilson(81, 263) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert wilson(0, 20) == pytest.approx((0.0, 0.1611), abs=5e-5)


def test_cases_have_the_share_that_was_measured():
    assert cases(0.875, 8).sum() == 7
    assert cases(1 / 3, 300).mean() == pytest.approx(1 / 3)
    with pytest.raises(ValueError, match="cannot come from 7 cases"):
        cases(0.5, 7)


test_what_cannot_be_shown_is_refused = refuses(
    (({"a": 0.5}, "seeds"), "needs two or more"),
    (({"a": [0.5, 0.6]}, "nothing"), "has 2 value"),
    (({"a": [[1, 2], [3, 4]]}, "seeds"), r"shape is \(2, 2\)"),
    (({"a  b": [1, 2]}, "seeds"), "two spaces"),
    (({"a": [1, 2]}, "days"), "over must be one of"),
    run=lambda case: evidence("c", "ours", case[0], claimed=(0, 1), over=case[1]),
)


def test_what_evidence_prints_is_read_back(capsys):
    found = shown(
        capsys,
        {"BLEU, 12–16 words": [95.0, 97.2, 96.1]},
        (90, None),
        baseline={"without attention": [38, 41, 44], "chance": 0.1},
        form="{:.1f}",
    )
    assert found.measured == [("BLEU, 12–16 words", "96.1", "95.0 to 97.2", "3 seeds")]
    assert found.baseline == [
        ("without attention", "41.0", "38.0 to 44.0", "3 seeds"),
        ("chance", "0.1", None, "exact"),
    ]
    assert found[:2] == ("a claim", "ours")
    assert found[-2:] == ("at least 90", "held")


@pytest.mark.parametrize(
    "values, claimed, verdict",
    [
        ({"a": [2, 3]}, (2, 3), "held"),
        ({"a": [2, 3]}, (2.5, None), "not settled"),
        ({"a": [2, 3]}, (None, 1), "did not hold"),
        ({"a": [2, 3], "b": [2, 5]}, (2, 4), "not settled"),
        ({"a": [2, 3], "b": [5, 6]}, (2, 4), "did not hold"),
    ],
)
def test_the_verdict_compares_the_interval_with_the_claimed_range(
    capsys, values, claimed, verdict
):
    assert shown(capsys, values, claimed).verdict == verdict


def test_a_long_claim_is_wrapped_and_read_back_whole(capsys):
    claim = "attention (of any kind) " + "and so on " * 20
    evidence(claim.strip(), "often said", {"a": [1, 2]}, claimed=(0, None))
    printed = capsys.readouterr().out
    assert max(map(len, printed.splitlines())) <= 88
    assert read_evidence(printed)[:2] == (claim.strip(), "often said")


test_a_range_without_values_is_refused = refuses(
    ((3, 2), "lowest, highest"),
    ((None, None), "lowest, highest"),
    ((1,), "argument"),
    run=lambda claimed: evidence("c", "ours", {"a": [1, 2]}, claimed=claimed),
)
test_other_text_is_no_evidence = refuses(
    ("", "not what evidence"),
    ("BLEU 99", "not what evidence"),
    ("claim     c (ours)\nverdict   held", "not what evidence"),
    run=read_evidence,
)
