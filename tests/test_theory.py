"""The theorem's constants and bounds."""

import math

import numpy as np
import pytest

from bootleader import theory


def test_constants_are_the_printed_formulas():
    for r in (1.51, 1.7, 2.0, 5.0):
        assert theory.c1(r) == pytest.approx(8 / (2 * r * r - 1))
        assert theory.c2(r) == pytest.approx(128 * r * r * (3.1 + 2 / math.sqrt(1 - 2.25 / r**2)))


def test_c2_is_infinite_at_the_recommended_ratio_and_rises_beyond_its_minimum():
    assert theory.c2(1.5) == math.inf
    grid = np.linspace(1.5001, 4.0, 20_000)
    values = theory.c2(grid)
    assert grid[np.argmin(values)] == pytest.approx(1.7027, abs=2e-4)
    assert (np.diff(values[grid > 1.7028]) > 0).all()


def test_appendix_constants_differ_from_the_theorems():
    c1, c2 = theory.appendix_constants(1.7)
    assert c2 == pytest.approx(128 * 1.7**2 * (3.2 + 2 / math.sqrt(1 - 2.25 / 1.7**2)))  # 3.2, not 3.1
    assert c1 > 7 * theory.c1(1.7)


def test_bound_by_hand():
    found = theory.bound([1.0, 0.0], sigma_a=1.7, rounds=10_000)
    assert found.upper == pytest.approx(6 + (theory.c1(1.7) + theory.c2(1.7)) * math.log(10_000))
    assert found.lower == pytest.approx(2 * math.log(10_000))
    assert found.worst == 10_000


def test_arms_that_tie_for_the_best_cost_nothing():
    assert theory.bound([1.0, 1.0, 0.0], 1.7, 100) == theory.bound([1.0, 0.0], 1.7, 100)


def test_the_unit_of_the_rewards_is_the_unit_of_the_bound():
    one = theory.bound([1.0, 0.4, 0.0], 1.7, 1_000)
    cents = theory.bound([100.0, 40.0, 0.0], 170.0, 1_000, sd=100.0)
    assert (cents.upper, cents.lower) == pytest.approx((100 * one.upper, 100 * one.lower))


def test_lower_bound_along_many_horizons():
    horizons = np.array([10, 100, 1_000])
    assert theory.lai_robbins([2.0, 1.0, 1.5], horizons) == pytest.approx(6 * np.log(horizons))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1.0, 0.0], 1.5, 100), "above 1.5 times the sd"),
        (([1.0, 0.0], 2.0, 100, 2.0), "above 1.5 times the sd, 3"),
        (([1.0, 0.0], -1.0, 100), "sigma_a must be"),
        (([1.0, 0.0], 1.7, 0), "rounds must be"),
        (([1.0], 1.7, 100), "at least 2 arms"),
        (([1.0, 1.0], 1.7, 100), "must not all be equal"),
        (([1.0, math.nan], 1.7, 100), "means must be"),
    ],
)
def test_bad_input_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        theory.bound(*arguments)
