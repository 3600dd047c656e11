"""Verdicts from intervals and numbers that are made to hold, to fail and to be undecided."""

import numpy as np
import pytest

from bootleader.paper import _claims as claims
from bootleader.paper._bootstrap_intervals import NOT_COMPUTED, Interval
from bootleader.paper._claims import Finding, Verdict


@pytest.mark.parametrize(
    ("interval", "flat", "above_2", "below_2"),
    [
        (Interval(1.0, 0.9, 1.1), Verdict.HOLDS, Verdict.FAILS, Verdict.HOLDS),
        (Interval(9.0, 8.0, 10.0), Verdict.FAILS, Verdict.HOLDS, Verdict.FAILS),
        (Interval(0.1, 0.05, 0.2), Verdict.FAILS, Verdict.FAILS, Verdict.HOLDS),
        (Interval(1.5, 1.0, 2.5), Verdict.UNDECIDED, Verdict.UNDECIDED, Verdict.UNDECIDED),
        (Interval(np.nan, 1.0, 1.1), Verdict.UNDECIDED, Verdict.UNDECIDED, Verdict.UNDECIDED),
        (Interval(np.nan, 0.0, 0.0), Verdict.UNDECIDED, Verdict.UNDECIDED, Verdict.UNDECIDED),
        (Interval(np.inf, 3.0, np.inf), Verdict.UNDECIDED, Verdict.UNDECIDED, Verdict.UNDECIDED),
        (NOT_COMPUTED, Verdict.UNDECIDED, Verdict.UNDECIDED, Verdict.UNDECIDED),
    ],
)
def test_ratios_are_judged_by_their_whole_interval(interval, flat, above_2, below_2):
    assert claims.is_flat("x", interval, within=1.25).verdict is flat
    opposite = {Verdict.HOLDS: Verdict.FAILS, Verdict.FAILS: Verdict.HOLDS, Verdict.UNDECIDED: Verdict.UNDECIDED}
    assert claims.is_not_flat("x", interval, within=1.25).verdict is opposite[flat]
    assert claims.is_above("x", interval, 2.0).verdict is above_2
    assert claims.is_below("x", interval, 2.0).verdict is below_2


@pytest.mark.parametrize(
    ("parts", "whole"),
    [
        ([Verdict.HOLDS, Verdict.HOLDS], Verdict.HOLDS),
        ([Verdict.FAILS, Verdict.FAILS], Verdict.FAILS),
        ([Verdict.HOLDS, Verdict.FAILS], Verdict.IN_PART),
        ([Verdict.HOLDS, Verdict.IN_PART], Verdict.IN_PART),
        ([Verdict.IN_PART, Verdict.IN_PART], Verdict.IN_PART),
        ([Verdict.UNDECIDED], Verdict.UNDECIDED),
        ([Verdict.HOLDS, Verdict.UNDECIDED], Verdict.UNDECIDED),
        ([Verdict.FAILS, Verdict.UNDECIDED], Verdict.UNDECIDED),
        ([Verdict.HOLDS, Verdict.FAILS, Verdict.UNDECIDED], Verdict.IN_PART),
        ([Verdict.IN_PART, Verdict.UNDECIDED], Verdict.IN_PART),
        ([], Verdict.UNDECIDED),
    ],
)
def test_a_claim_of_several_parts(parts, whole):
    assert claims.all_of(Finding(verdict, "m") for verdict in parts).verdict is whole


def test_a_failing_row_says_what_is_seen_instead_and_a_holding_one_does_not():
    kept = claims.explained(Finding(Verdict.FAILS, "m"), "It is 3.")
    assert kept == Finding(Verdict.FAILS, "m", "It is 3.")
    assert claims.explained(kept, "It is 4.").instead == "It is 4."
    assert claims.explained(Finding(Verdict.HOLDS, "m"), "It is 3.").instead == ""
    assert claims.holds_if(True, "m", "It is 3.", numbers=[1.0]).instead == ""
    both = claims.all_of(
        [claims.holds_if(False, "m", "A.", numbers=[]), claims.holds_if(True, "m", "B.", numbers=[]), kept]
    )
    assert both.instead == "A. It is 3."


@pytest.mark.parametrize(
    ("low", "high", "above", "below"),
    [
        (3.0, 4.0, "", "x is 3.5 [3, 4], not below 2."),
        (1.0, 1.8, "x is 1.4 [1, 1.8], not above 2.", ""),
        (1.0, 4.0, "x is 2.5 [1, 4]: whether it is above 2 is undecided.",
         "x is 2.5 [1, 4]: whether it is below 2 is undecided."),
    ],
)  # fmt: skip
def test_the_sentence_follows_the_numbers(low, high, above, below):
    value = Interval((low + high) / 2, low, high)
    assert claims.is_above("x", value, 2.0).instead == above
    assert claims.is_below("x", value, 2.0).instead == below


def test_monotonicity_is_judged_step_by_step():
    at = [1.0, 2.0, 3.0, 4.0]
    assert claims.is_decreasing("f", at, [4.0, 3.0, 2.0, 1.0]).verdict is Verdict.HOLDS
    assert claims.is_decreasing("f", at, [1.0, 2.0, 3.0, 4.0]).verdict is Verdict.FAILS
    one_rise = claims.is_decreasing("f", at, [4.0, 3.0, 9.0, 1.0])
    assert one_rise.verdict is Verdict.IN_PART
    assert "from 3 at 2 to 9 at 3" in one_rise.measured
    assert one_rise.instead == "f falls on 2 of 3 steps: it goes from 4 at 1 to 1 at 4."
    assert "f falls on none of 3 steps" in claims.is_decreasing("f", at, [1.0, 2.0, 3.0, 4.0]).instead


@pytest.mark.parametrize("holds", [True, False])
def test_a_comparison_with_nan_is_undecided(holds):
    finding = claims.holds_if(holds, "m", "It is 3.", numbers=[1.0, np.nan])
    assert finding.verdict is Verdict.UNDECIDED
    assert "cannot be computed" in finding.instead


def test_a_judge_must_name_the_numbers_that_a_comparison_rests_on():
    with pytest.raises(TypeError, match="numbers"):
        claims.holds_if(True, "m")


def test_monotonicity_of_values_that_are_not_numbers_is_undecided():
    finding = claims.is_decreasing("f", [1.0, 2.0, 3.0], [3.0, np.nan, 1.0])
    assert finding.verdict is Verdict.UNDECIDED
