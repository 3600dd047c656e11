"""The sequence of one mean: exact moments, amendments, bounds, the guard."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bootleader as bl
from bootleader.inference import confidence_sequences, over_time
from bootleader.inference._intervals import GUARD, is_known
from bootleader.inference._moments import ExactSums, Moments, effective_number, moments_by_arm
from tests.inference import naive

REWARDS = st.lists(st.floats(-1e9, 1e9, allow_nan=False), min_size=1, max_size=30)


@settings(max_examples=60, deadline=None)
@given(REWARDS, REWARDS, st.randoms(use_true_random=False))
def test_order_and_amendments_leave_no_trace(kept, withdrawn, random):
    plain, amended = ExactSums(), ExactSums()
    for y in kept:
        plain.add(y)
    events = [(y, True) for y in kept] + [(y, True) for y in withdrawn]
    random.shuffle(events)
    for y, _ in events:
        amended.add(y)
    for y in withdrawn:
        amended.remove(y)
    assert plain.moments() == amended.moments() == naive.exact_moments(kept)


def test_the_moments_of_a_log_are_those_of_fractions_at_a_large_offset():
    rng = np.random.default_rng(3)
    arm, reward = rng.integers(0, 3, 500), 1e9 + rng.normal(0.0, 1.0, 500)
    found = moments_by_arm(arm, reward, 3)
    for a in range(3):
        expected = naive.exact_moments(reward[arm == a])
        assert [float(column[a]) for column in found] == pytest.approx(expected, rel=1e-9)


def test_an_amended_sequence_is_that_of_the_final_rewards():
    rng = np.random.default_rng(0)
    final = rng.normal(3.0, 1.0, 400)
    sequence = bl.confidence_sequence(np.where(np.arange(400) % 7 == 0, 99.0, final))
    for y in final[::7]:
        sequence.amend(99.0, y)
    plain = bl.confidence_sequence(final)
    assert (sequence.low, sequence.high, sequence.mean) == (plain.low, plain.high, plain.mean)
    sequence.update(5.0)
    sequence.withdraw(5.0)
    assert (sequence.low, sequence.high) == (plain.low, plain.high)


def test_one_at_a_time_is_all_at_once():
    clicks = (np.random.default_rng(1).random(300) < 0.1).astype(float)
    online = bl.confidence_sequence(low=0, high=1)
    for y in clicks:
        online.update(y)
    offline = bl.confidence_sequence(clicks, low=0, high=1)
    assert (online.low, online.high) == (offline.low, offline.high)
    looks = over_time(clicks, 0, 1, points=30)
    assert looks["count"].iloc[-1] == 300
    assert looks["high"].iloc[-1] == pytest.approx(offline.high, abs=1e-10)


@pytest.mark.parametrize("bounds", [{}, {"low": 0.0, "high": 30.0}], ids=["without bounds", "with bounds"])
def test_the_sequences_of_many_arms_are_those_of_each(bounds):
    y = np.random.default_rng(5).exponential(1.0, (600, 3)) + np.arange(3.0)
    arms = np.tile(np.arange(3), 600)
    found = confidence_sequences(moments_by_arm(arms, y.ravel(), 4), **bounds)
    for a in range(3):
        alone = bl.confidence_sequence(y[:, a], **bounds)
        assert alone.is_ready
        assert found.loc[a, ["low", "high"]].tolist() == pytest.approx([alone.low, alone.high], rel=1e-9)
    assert found["count"].tolist() == [600, 600, 600, 0]
    assert found.loc[3, ["low", "high"]].tolist() == [bounds.get("low", -math.inf), bounds.get("high", math.inf)]
    with pytest.raises(ValueError, match="rewards must lie between"):
        confidence_sequences(moments_by_arm(arms, y.ravel(), 4), low=0.0, high=2.0)


def test_rewards_of_several_arms_are_refused():
    with pytest.raises(TypeError, match="one arm's rewards"):
        bl.confidence_sequence(np.zeros((4, 2)))


@pytest.mark.parametrize(("scale", "shift"), [(1000.0, -1e6), (1e-3, 5.0), (-1.0, 0.0)])
def test_another_unit_gives_the_same_answer_in_that_unit(scale, shift):
    y = np.random.default_rng(2).exponential(1.0, 900)
    plain, other = bl.confidence_sequence(y), bl.confidence_sequence(scale * y + shift)
    ends = sorted((scale * plain.low + shift, scale * plain.high + shift))
    assert (other.low, other.high) == pytest.approx(ends, rel=1e-9)
    ends = [0.0 * scale + shift, 20.0 * scale + shift]
    bounded, moved = bl.confidence_sequence(y, 0, 20), bl.confidence_sequence(scale * y + shift, min(ends), max(ends))
    expected = sorted((scale * bounded.low + shift, scale * bounded.high + shift))
    assert (moved.low, moved.high) == pytest.approx(expected, rel=1e-9)


def test_the_guard_says_not_yet_and_how_many_more():
    rare = bl.confidence_sequence([0.0] * 980 + [1.0] * 20)
    assert not rare.is_ready
    assert (rare.low, rare.high) == (-math.inf, math.inf)
    assert rare.effective_number == pytest.approx(20.8, abs=0.1)
    assert rare.more == pytest.approx(1000 * (GUARD / rare.effective_number - 1), abs=1)
    assert "not yet: about 1,4" in repr(rare)
    assert bl.confidence_sequence([0.0] * 2400 + [1.0] * 52).is_ready
    assert not bl.confidence_sequence([7.0] * 1000).is_ready  # all equal: nothing is known of the spread
    assert bl.confidence_sequence([7.0] * 1000).more is None


def test_an_arm_that_has_seen_no_jackpot_is_guarded_by_one_that_has():
    calm, lucky = np.random.default_rng(0).normal(0, 1, 600), np.random.default_rng(1).normal(0, 1, 600)
    lucky[::50] += 50.0
    alone = effective_number(Moments.of(*naive.exact_moments(calm)))
    assert alone[0] > 150
    both = np.array([naive.exact_moments(calm), naive.exact_moments(lucky)]).T
    assert (effective_number(Moments.of(*both)) < 20).all()


@pytest.mark.parametrize("seed", range(20))
def test_the_guard_is_that_of_its_twin(seed):
    rng = np.random.default_rng(seed)
    sizes = [0, 1, 399, 400, 401, *rng.integers(300, 900, 5)]
    rewards = [rng.exponential(1.0, n) ** rng.uniform(0.2, 1.4) for n in sizes]
    rewards.append(np.full(600, 7.0))  # all equal
    picked = [rewards[k] for k in rng.choice(len(rewards), 4, replace=False)]
    arm = np.repeat(np.arange(4), [len(values) for values in picked])
    moments = moments_by_arm(arm, np.concatenate(picked), 4)
    assert is_known(moments, effective_number(moments)).tolist() == naive.known_arms(picked)


def test_without_rewards():
    assert (bl.confidence_sequence(low=0, high=1).low, bl.confidence_sequence(low=0, high=1).high) == (0, 1)
    assert not bl.confidence_sequence().is_ready
    assert math.isnan(bl.confidence_sequence().mean)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: bl.confidence_sequence([1.0], low=0), "low and high must be given both or not at all"),
        (lambda: bl.confidence_sequence([1.0], 1, 0), "low must be less than high"),
        (lambda: bl.confidence_sequence([1.5], 0, 1), "between low=0 and high=1, got 1.5"),
        (lambda: bl.confidence_sequence([math.nan]), "reward must be"),
        (lambda: bl.confidence_sequence([1.0, 1e200]), "reward must be"),
        (lambda: bl.confidence_sequence([1.0], alpha=0.0), "alpha must be a number between 0 and 1"),
        (lambda: bl.confidence_sequence([1.0], alpha=1.0), "alpha must be a number between 0 and 1"),
        (lambda: bl.confidence_sequence().withdraw(1.0), "no reward to withdraw"),
        (lambda: bl.confidence_sequence([1.0, 2.0]).withdraw(7.0), "must have been taken in, got 7.0"),
        (lambda: bl.confidence_sequence([1.0]).amend(2.0, 1.0), "must have been taken in, got 2.0"),
    ],
)
def test_bad_input(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_a_refused_batch_changes_nothing():
    sequence = bl.confidence_sequence([0.5], 0, 1)
    with pytest.raises(ValueError, match="got 7"):
        sequence.update_many([0.1, 7.0])
    assert sequence.count == 1
