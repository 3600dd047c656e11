"""The growth exponent of regret, and whether it is called linear, on curves of known growth."""

import numpy as np
import pytest

from bootleader.paper import _claims as claims
from bootleader.paper import _growth_exponent as growth
from bootleader.paper._claims import Verdict
from bootleader.paper._growth_exponent import LINEAR_FROM, Growth

RUNS = 400


def regret(shape, noise=0.2, seed=3):
    """Runs whose regret follows shape(T), each with a scale of its own: at T, T/2 and T/4."""
    scale = np.random.default_rng(seed).lognormal(0.0, noise, RUNS)
    return [scale * shape(T) for T in (10_000.0, 5_000.0, 2_500.0)]


@pytest.mark.parametrize(
    ("shape", "exponent"),
    [
        (lambda T: 0.1 * T, 1.0),
        (lambda T: 500.0 + 0.1 * T, 1.0),
        (lambda T: 3.0 * T**0.5, 0.5),
        (lambda T: 700.0 + T**0.25, 0.25),
        (np.log, 0.0),
    ],
)
def test_growth_exponent_is_that_of_the_curve_whatever_its_offset(shape, exponent):
    assert growth.growth(*regret(shape)).value == pytest.approx(exponent, abs=1e-9)


def test_growth_interval_covers_the_exponent_and_shrinks_with_runs():
    rng = np.random.default_rng(5)
    stuck = rng.random(4_000) < 0.1  # a tenth of the runs lose 0.3 a round, the rest are noise
    curves = [np.where(stuck, 0.3 * T, 0.0) + rng.gamma(2.0, 20.0, 4_000) + 5 * np.log(T) for T in (1e4, 5e3, 2.5e3)]
    wide, narrow = growth.growth(*(curve[:200] for curve in curves)), growth.growth(*curves)
    assert narrow.low < narrow.value < narrow.high
    assert narrow.high - narrow.low < wide.high - wide.low
    assert narrow.low > LINEAR_FROM


def test_no_regret_in_the_last_half_is_as_sublinear_as_can_be():
    flat = np.full(RUNS, 7.0)
    found = growth.growth(flat, flat, flat - 1.0)
    assert found.value == -np.inf
    assert (found.low, found.high) == (-np.inf, -np.inf)  # and not the largest number that there is
    assert claims.is_sublinear("flat", found).verdict is Verdict.HOLDS
    assert claims.is_linear("flat", found).verdict is Verdict.FAILS


@pytest.mark.parametrize(
    ("shape", "linear", "sublinear"),
    [
        (lambda T: 9.0 + 0.2 * T, Verdict.HOLDS, Verdict.FAILS),
        (lambda T: 9.0 * np.log(T), Verdict.FAILS, Verdict.HOLDS),
    ],
)
def test_linear_and_sublinear_regret_are_distinguished(shape, linear, sublinear):
    found = growth.growth(*regret(shape))
    assert claims.is_linear("x", found).verdict is linear
    assert claims.is_sublinear("x", found).verdict is sublinear


@pytest.mark.parametrize("shape", [lambda T: 0.2 * T, np.log])
def test_one_of_linear_and_sublinear_has_a_sentence(shape):
    found = growth.growth(*regret(shape))
    straight, bent = claims.is_linear("x", found).instead, claims.is_sublinear("x", found).instead
    assert (straight or bent).startswith(f"Regret of x is {'linear' if bent else 'sublinear'}: its growth exponent is")
    assert not (straight and bent)


def test_no_regret_at_all_has_no_growth_exponent():
    nothing = np.zeros(RUNS)
    found = growth.growth(nothing, nothing, nothing)
    assert np.isnan(found.value)
    assert (found.low, found.high) == (-np.inf, np.inf)
    for judge in (claims.is_linear, claims.is_sublinear):
        finding = judge("x", found)
        assert finding.verdict is Verdict.UNDECIDED
        assert "cannot be computed" in finding.instead


def test_no_regret_before_the_last_half_is_undecided():
    """A division by zero is not linear growth."""
    nothing = np.zeros(RUNS)
    found = growth.growth(nothing + 1.0, nothing, nothing)
    assert found.value == np.inf
    assert claims.is_linear("x", found).verdict is Verdict.UNDECIDED
    assert claims.is_sublinear("x", found).verdict is Verdict.UNDECIDED


def test_resamples_without_an_exponent_widen_the_interval():
    """One run of eight has all the regret: about a third of the resamples have none, and no exponent."""
    one = np.zeros(8)
    one[0] = 1.0
    found = growth.growth(4.0 * one, 2.0 * one, one)
    assert found.value == 1.0
    assert (found.low, found.high) == (-np.inf, np.inf)
    assert claims.is_linear("x", found).verdict is Verdict.UNDECIDED


def test_an_interval_on_both_sides_of_the_line_is_undecided():
    across = Growth(LINEAR_FROM, LINEAR_FROM - 0.1, LINEAR_FROM + 0.1)
    for judge in (claims.is_linear, claims.is_sublinear):
        assert judge("x", across).verdict is Verdict.UNDECIDED
        assert "on both sides of 0.85" in judge("x", across).instead


def test_the_explanation_in_the_report_states_the_line_that_verdicts_use():
    assert f"lies above {LINEAR_FROM}" in growth.HOW
