"""Exact sums against fractions: every order gives the same bits, an amendment leaves no trace."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bootleader.inference._moments import ExactSums as SumsOfInference
from bootleader.store._exact_sums import ExactMoments, ExactSums, FadingSums

REWARDS = st.floats(-1e65, 1e65, allow_nan=False).map(lambda value: value + 0.0)


def naive_moments(values, weights=None) -> ExactMoments:
    """The definition, in fractions."""
    exact = [Fraction(value) for value in values]
    weights = [Fraction(1)] * len(exact) if weights is None else weights
    total = sum(weights)
    mean = sum(w * y for w, y in zip(weights, exact, strict=True)) / total
    central = [sum(w * (y - mean) ** k for w, y in zip(weights, exact, strict=True)) for k in (2, 3, 4)]
    return ExactMoments(float(total), float(mean), *map(float, central))


@given(st.lists(REWARDS, min_size=1, max_size=8), st.randoms(use_true_random=False))
def test_moments_are_correctly_rounded_in_any_order(values, rng):
    one_by_one, at_once = ExactSums(), ExactSums()
    for value in values:
        one_by_one.add(value)
    shuffled = rng.sample(values, len(values))
    at_once.add_many(shuffled[:3])
    at_once.add_many(shuffled[3:])
    assert one_by_one.moments() == at_once.moments() == naive_moments(values)
    assert one_by_one.powers[0] == one_by_one.number == len(values)


@given(st.lists(REWARDS, min_size=1, max_size=5), st.lists(REWARDS, max_size=3))
def test_what_is_taken_back_leaves_no_trace(values, withdrawn):
    sums = ExactSums()
    sums.add_many([*withdrawn, *values])
    for value in withdrawn:
        sums.add(value, -1)
    assert sums.moments() == naive_moments(values)


def test_agrees_with_the_sums_of_the_answers():
    rng = random.Random(1)
    values = [rng.lognormvariate(3.0, 1.0) for _ in range(500)]
    ours, theirs = ExactSums(), SumsOfInference()
    ours.add_many(values)
    for value in values:
        theirs.add(value)
    count, mean, rss, _, fourth = ours.moments()
    assert (count, mean, rss, fourth) == theirs.moments()


def test_merge_is_addition_and_survives_a_round_trip():
    rng = random.Random(2)
    values = [rng.gauss(1e9, 1.0) for _ in range(60)]
    parts = [ExactSums() for _ in range(3)]
    for place, value in enumerate(values):
        parts[place % 3].add(value)
    total = ExactSums()
    for part in parts:
        total.merge(ExactSums.from_plain(part.to_plain()))
    assert total.moments() == naive_moments(values)


@given(REWARDS, st.floats(0.0, 1e100), st.floats(-1e30, 1e30), st.integers(1, 10**6))
def test_a_summary_comes_back_as_it_was_given(mean, rss, third, count):
    fourth = rss * rss / count
    sums = ExactSums()
    sums.add_moments(count, ExactMoments(float(count), mean, rss, third, fourth))
    assert sums.moments() == ExactMoments(float(count), mean, rss, third, fourth)


def test_fading_weights_depend_on_the_round_alone():
    half_life = 50.0
    rng = random.Random(3)
    rewards = [(rng.gauss(5.0, 1.0), rng.randrange(20_000)) for _ in range(400)]
    first, second = FadingSums(half_life), FadingSums(half_life)
    for value, round_ in rewards:
        first.add(value, round_)
    for value, round_ in reversed(rewards):
        second.add(value, round_)
    second.add(7.5, 19_000)
    second.add(7.5, 19_000, -1)
    assert first.moments(20_000) == second.moments(20_000)
    steps = [int(round_ * 32 // half_life) for _, round_ in rewards]
    now = int(20_000 * 32 // half_life)
    weights = [Fraction(2.0 ** ((step - now) / 32)) for step in steps]
    assert first.moments(20_000) == pytest.approx(naive_moments([value for value, _ in rewards], weights), rel=1e-9)


def test_a_faded_count_stays_at_the_initial_pulls():
    sums = FadingSums(10.0)
    for value in (1.0, 2.0, 4.0):
        sums.add(value, 0)
    for now in (100, 10**5):
        count, mean, rss, *_ = sums.moments(now, least=2)
        assert (count, mean) == (2.0, 7.0 / 3.0)
        assert rss == pytest.approx(naive_moments([1.0, 2.0, 4.0]).rss * 2.0 / 3.0)
