"""Count, mean and RSS against exact fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bootleader._core.moments import chan, welford

# Not so small that a square underflows, which is no concern of a sum of squares.
VALUES = st.floats(-1e6, 1e6).filter(lambda x: x == 0.0 or abs(x) > 1e-100)
SAMPLES = st.lists(VALUES, min_size=1, max_size=60)
OFFSETS = st.sampled_from([0.0, 1.0, -3e4, 1e8, -1e8, 1e12])


def moments_of(values: list[float]) -> tuple[float, float, float]:
    state = (0.0, 0.0, 0.0, 0.0)
    for value in values:
        state = welford(*state, value)
    count, anchor, drift, rss = state
    return count, anchor + drift, rss


def exact(values: list[float]) -> tuple[int, Fraction, Fraction]:
    fractions = [Fraction(value) for value in values]
    mean = sum(fractions, Fraction(0)) / len(fractions)
    return len(fractions), mean, sum(((f - mean) ** 2 for f in fractions), Fraction(0))


def assert_close(found: tuple[float, float, float], values: list[float]) -> None:
    count, mean, rss = exact(values)
    size = max(abs(v) for v in values)
    assert found[0] == count
    assert abs(Fraction(found[1]) - mean) <= Fraction(size) * Fraction(1e-15) * 4 + Fraction(1e-300)
    # Relative to RSS, but for the rounding of the values' own spread.
    spread = max(values) - min(values)
    assert abs(Fraction(found[2]) - rss) <= rss * Fraction(1e-12) + Fraction(spread) ** 2 * Fraction(1e-13)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(SAMPLES)
def test_welford_is_exact_to_rounding(values):
    assert_close(moments_of(values), values)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(SAMPLES, OFFSETS)
def test_welford_at_an_offset(values, offset):
    shifted = [offset + value for value in values]
    assert_close(moments_of(shifted), shifted)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(SAMPLES)
def test_rss_is_never_negative(values):
    state = (0.0, 0.0, 0.0, 0.0)
    for value in values:
        before = state[3]
        state = welford(*state, value)
        assert state[3] >= before


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.floats(-1e300, 1e300), st.integers(1, 50))
def test_equal_values_have_no_rss(value, count):
    assert moments_of([value] * count) == (count, value, 0.0)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(SAMPLES, SAMPLES)
def test_merge_is_the_two_samples_together(first, second):
    merged = chan(*moments_of(first), *moments_of(second))
    count, mean, rss = exact(first + second)
    size = max(abs(v) for v in first + second)
    assert merged[0] == count
    assert abs(Fraction(merged[1]) - mean) <= Fraction(size) * Fraction(1e-14)
    assert abs(Fraction(merged[2]) - rss) <= rss * Fraction(1e-11) + Fraction(size) ** 2 * Fraction(1e-14)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(SAMPLES)
def test_merge_with_nothing_changes_nothing(values):
    moments = moments_of(values)
    assert chan(*moments, 0.0, 0.0, 0.0) == moments
    assert chan(0.0, 0.0, 0.0, *moments)[0] == moments[0]
    assert chan(0.0, 0.0, 0.0, *moments)[1:] == pytest.approx(moments[1:], rel=1e-15)


def textbook_rss(values: np.ndarray) -> float:
    """The paper's formula, which cancels."""
    return float(np.sum(values**2) - len(values) * values.mean() ** 2)


def test_the_textbook_formula_fails_where_ours_does_not():
    """At an offset of 1e8 the paper's formula is off by more than half; ours by a part in 1e6."""
    values = 1e8 + np.random.default_rng(0).normal(size=200)
    _, _, rss = exact(list(values))
    assert abs(textbook_rss(values) / float(rss) - 1) > 0.5
    assert moments_of(list(values))[2] == pytest.approx(float(rss), rel=1e-6)


def test_the_mean_does_not_stagnate_around_a_billion():
    """A million rewards around 1e9: the mean is right to the last bit or two of a float64 at that size."""
    noise = np.random.default_rng(1).normal(size=1_000_000)
    values = 1e9 + noise
    state = (0.0, 0.0, 0.0, 0.0)
    for value in values.tolist():
        state = welford(*state, value)
    count, anchor, drift, rss = state
    centred = values - 1e9  # exact: the values lie within a factor of two
    assert count == 1_000_000
    assert (anchor - 1e9) + drift == pytest.approx(centred.mean(), abs=1e-9)
    assert rss == pytest.approx(float(np.sum((centred - centred.mean()) ** 2)), rel=1e-9)
