"""Moments against exact fractions."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache, reduce
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bootleader._core.moments import (
    LARGEST_FOURTH_POWER,
    PowerSums,
    chan,
    effective_number,
    pebay,
    pebay_merge,
    pooled_kurtosis,
    welford,
)
from tests.helpers import exact_moments

# Zero, or so large that squares do not underflow.
VALUES = st.floats(-1e6, 1e6).filter(lambda x: x == 0.0 or abs(x) > 1e-100)
SAMPLES = st.lists(VALUES, min_size=1, max_size=60)
OFFSETS = st.sampled_from([0.0, 1.0, -3e4, 1e8, -1e8, 1e12])


def moments_of(values: list[float]) -> tuple[float, float, float]:
    state = (0.0, 0.0, 0.0, 0.0)
    for value in values:
        state = welford(*state, value)
    count, anchor, drift, rss = state
    return count, anchor + drift, rss


def assert_close(found: tuple[float, float, float], values: list[float]) -> None:
    count, mean, rss = exact_moments(values)
    size = max(abs(v) for v in values)
    assert found[0] == count
    assert abs(Fraction(found[1]) - mean) <= Fraction(size) * Fraction(1e-15) * 4 + Fraction(1e-300)
    # Relative to RSS, plus what rounding the values themselves contributes.
    spread = max(values) - min(values)
    assert abs(Fraction(found[2]) - rss) <= rss * Fraction(1e-12) + Fraction(spread) ** 2 * Fraction(1e-13)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(SAMPLES)
def test_welford_is_exact_to_rounding(values):
    assert_close(moments_of(values), values)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(SAMPLES, OFFSETS)
def test_welford_at_an_offset(values, offset):
    shifted = [offset + value for value in values]
    assert_close(moments_of(shifted), shifted)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(SAMPLES)
def test_rss_is_never_negative(values):
    state = (0.0, 0.0, 0.0, 0.0)
    for value in values:
        before = state[3]
        state = welford(*state, value)
        assert state[3] >= before


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.floats(-1e300, 1e300), st.integers(1, 50))
def test_equal_values_have_no_rss(value, count):
    assert moments_of([value] * count) == (count, value, 0.0)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(SAMPLES, SAMPLES)
def test_merge_gives_the_moments_of_both_samples_together(first, second):
    merged = chan(*moments_of(first), *moments_of(second))
    count, mean, rss = exact_moments(first + second)
    size = max(abs(v) for v in first + second)
    assert merged[0] == count
    assert abs(Fraction(merged[1]) - mean) <= Fraction(size) * Fraction(1e-14)
    assert abs(Fraction(merged[2]) - rss) <= rss * Fraction(1e-11) + Fraction(size) ** 2 * Fraction(1e-14)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(SAMPLES)
def test_merge_with_an_empty_sample_changes_nothing(values):
    moments = moments_of(values)
    assert chan(*moments, 0.0, 0.0, 0.0) == moments
    assert chan(0.0, 0.0, 0.0, *moments)[0] == moments[0]
    assert chan(0.0, 0.0, 0.0, *moments)[1:] == pytest.approx(moments[1:], rel=1e-15)


def textbook_rss(values: np.ndarray) -> float:
    """The paper's formula, which cancels."""
    return float(np.sum(values**2) - len(values) * values.mean() ** 2)


def test_the_textbook_formula_cancels_where_welford_does_not():
    """At an offset of 1e8 the paper's formula is wrong by more than half; Welford's by less than one part in 1e6."""
    values = 1e8 + np.random.default_rng(0).normal(size=200)
    _, _, rss = exact_moments(list(values))
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


# The third and fourth power sums --------------------------------------------------------------------------------------

EMPTY = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
Moments = tuple[float, float, float, float, float, float]


def fourth_moments_of(values: list[float]) -> Moments:
    state = EMPTY
    for value in values:
        state = pebay(*state, value)
    return state


def merged(a: Moments, b: Moments) -> Moments:
    """Two samples taken together, each with its own anchor, as agents merge them."""
    anchor = a[1] if a[0] > 0.0 else b[1]
    count, drift, *sums = pebay_merge(PowerSums(a[0], a[2], *a[3:]), PowerSums(b[0], (b[1] - anchor) + b[2], *b[3:]))
    return (count, anchor, drift, *sums)


@lru_cache(maxsize=1)  # a sample is compared in many orders
def exact_sums(values: tuple[float, ...]) -> tuple[Fraction, Fraction, Fraction]:
    _, mean, rss = exact_moments(values)
    deviations = [Fraction(value) - mean for value in values]
    return rss, sum((d**3 for d in deviations), Fraction(0)), sum((d**4 for d in deviations), Fraction(0))


def assert_sums_are_exact(found: Moments, values: list[float], relative: float = 1e-9) -> None:
    """RSS and the fourth sum relative to themselves; the third, which may be zero, to its bound sqrt(RSS fourth)."""
    rss, third, fourth = exact_sums(tuple(values))
    assert found[0] == len(values)
    assert abs(Fraction(found[3]) - rss) <= rss * Fraction(relative)
    assert abs(Fraction(found[5]) - fourth) <= fourth * Fraction(relative)
    assert abs(found[4] - float(third)) <= relative * math.sqrt(float(rss)) * math.sqrt(float(fourth))


FAMILIES = {
    "normal": lambda rng, size: rng.normal(size=size),
    "exponential": lambda rng, size: rng.exponential(size=size),
    "rare": lambda rng, size: (rng.random(size) < 0.01).astype(float),
    "jackpot": lambda rng, size: rng.normal(size=size) + 50.0 * (rng.random(size) < 0.02),
    "heavy": lambda rng, size: rng.standard_t(2.1, size=size),
    "trend": lambda rng, size: np.linspace(0.0, 100.0, size) + rng.normal(size=size),
    "tiny": lambda rng, size: 1e-70 * rng.normal(size=size),
    "huge": lambda rng, size: 1e64 * rng.normal(size=size),
}


@pytest.mark.parametrize("offset", [0.0, 1e3, -1e9])
@pytest.mark.parametrize("family", FAMILIES)
def test_fourth_moments_are_exact_to_nine_digits(family, offset):
    values = (offset + FAMILIES[family](np.random.default_rng(3), 3_000)).tolist()
    if len(set(values)) > 1:
        assert_sums_are_exact(fourth_moments_of(values), values)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(SAMPLES)
def test_the_first_moments_are_welfords_bit_for_bit(values):
    plain, state = (0.0, 0.0, 0.0, 0.0), EMPTY
    for value in values:
        plain, state = welford(*plain, value), pebay(*state, value)
        assert state[:4] == plain


@pytest.mark.parametrize("offset", [0.0, 1e9])
@pytest.mark.parametrize("family", FAMILIES)
def test_fourth_moments_merge_in_any_order(family, offset):
    """Pieces of very unequal sizes, merged in ten orders and as a balanced tree."""
    rng = np.random.default_rng(4)
    values = (offset + FAMILIES[family](rng, 2_000)).tolist()
    if len(set(values)) == 1:
        return
    cuts = [0, 1, 2, 3, 50, 51, 700, 1_500, 1_503, 2_000]
    pieces = [fourth_moments_of(values[a:b]) for a, b in pairwise(cuts)]
    for _ in range(10):
        rng.shuffle(pieces)
        assert_sums_are_exact(reduce(merged, pieces, EMPTY), values)
    while len(pieces) > 1:
        pieces = [reduce(merged, pieces[k : k + 2]) for k in range(0, len(pieces), 2)]
    assert_sums_are_exact(pieces[0], values)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(SAMPLES, SAMPLES)
def test_the_merge_agrees_with_chans_bit_for_bit(first, second):
    a, b = fourth_moments_of(first), fourth_moments_of(second)
    both = pebay_merge(PowerSums(a[0], a[1] + a[2], *a[3:]), PowerSums(b[0], b[1] + b[2], *b[3:]))
    assert both[:3] == chan(a[0], a[1] + a[2], a[3], b[0], b[1] + b[2], b[3])


def test_fourth_moments_of_the_largest_rewards_are_finite():
    values = [LARGEST_FOURTH_POWER, -LARGEST_FOURTH_POWER] * 1_000
    found = fourth_moments_of(values)
    assert_sums_are_exact(found, values)
    many = tuple(x if place in (1, 2) else x * 2.0**42 for place, x in enumerate(found))  # 2^53 rewards
    assert all(math.isfinite(x) for x in merged(many, many))
    assert math.isfinite(many[3] ** 2)


@pytest.mark.slow
@pytest.mark.parametrize("family", ["normal", "rare", "jackpot"])
def test_fourth_moments_after_ten_million_updates_at_a_billion(family):
    """In integers: differences of floats around 1e9 are multiples of 2^-23, so sums of their powers are exact."""
    values = 1e9 + FAMILIES[family](np.random.default_rng(5), 10_000_000)
    found = fourth_moments_of(values.tolist())
    scaled = np.rint((values - 1e9) * 2**23).astype(np.int64).tolist()
    n = len(scaled)
    s1, s2 = sum(scaled), sum(x * x for x in scaled)
    s3, s4 = sum(x**3 for x in scaled), sum(x**4 for x in scaled)
    mean = Fraction(s1, n)
    rss = (s2 - n * mean**2) / 2**46
    fourth = (s4 - 4 * mean * s3 + 6 * mean**2 * s2 - 3 * n * mean**4) / 2**92
    assert abs(Fraction(found[3]) - rss) <= rss * Fraction(1e-9)
    assert abs(Fraction(found[5]) - fourth) <= fourth * Fraction(1e-9)


def test_the_effective_number_counts_what_makes_up_the_variance():
    """About a third of the count for normal rewards, about the successes for rare ones, none for equal ones."""
    rng = np.random.default_rng(6)
    normal, rare = fourth_moments_of(rng.normal(size=30_000).tolist()), fourth_moments_of([1.0] * 10 + [0.0] * 9_990)
    assert effective_number(normal[3], normal[5]) == pytest.approx(10_000, rel=0.05)
    assert effective_number(rare[3], rare[5]) == pytest.approx(10, rel=0.01)
    assert effective_number(0.0, 0.0) == 0.0


def test_the_pooled_kurtosis_is_weighted_by_rss():
    samples = [[0.0, 1.0], [3.0, 3.0, 3.0], [0.0] * 9 + [1.0]]
    moments = [fourth_moments_of(sample) for sample in samples]
    columns = [[m[place] for m in moments] for place in (0, 3, 5)]
    weight = 0.5 + 0.9
    own = [1.0, 0.0, 10 * (9 * 0.1**4 + 0.9**4) / 0.9**2]
    assert pooled_kurtosis(*columns) == pytest.approx((0.5 * own[0] + 0.9 * own[2]) / weight, rel=1e-12)
    assert pooled_kurtosis([2.0], [0.0], [0.0]) == 1.0
