"""The probability that an arm is chosen next, against slow arithmetic in many digits and against choices made."""

from __future__ import annotations

import itertools
import math
import time
from typing import Any

import numpy as np
import pytest
from scipy.special import stdtr

import bootleader as bl
from bootleader.agent._win_probability_lattice import lattice_winning_probabilities
from bootleader.agent._win_probability_student import _whole_student_cdf, winning_probabilities
from bootleader.agent._win_probability_trapezoid import few_winning_probabilities
from tests.agent.winning_oracle import CASES, INF, digits_winning, on_a_fine_grid, random_laws

NOT_BY_TRAPEZOIDS = {"Cauchy a million times narrower"}
TAKES_LONG = {"far from zero", "one much wider", "Students", "fractional degrees", "Cauchy a million times narrower"}


@pytest.mark.parametrize(
    "case", [pytest.param(case, marks=pytest.mark.slow) if case in TAKES_LONG else case for case in CASES]
)
def test_winning_probabilities_are_right_to_nine_digits(case: str) -> None:
    location, scale, df = CASES[case]
    wanted = [digits_winning(k, location, scale, df) for k in range(len(location))]
    assert sum(wanted) == pytest.approx(1.0, abs=1e-12)
    few = few_winning_probabilities(location, scale, df)
    for got in (winning_probabilities(location, scale, df), few):
        if got is not None:
            assert np.abs(np.array(got) - wanted).max() < 1e-9
            assert math.fsum(got) == pytest.approx(1.0, abs=1e-14)
    assert few is not None or case in NOT_BY_TRAPEZOIDS


@pytest.mark.parametrize("student", [False, True], ids=["normal", "student"])
@pytest.mark.parametrize("orders", [0.3, 3.0])
@pytest.mark.parametrize("arms", [10, 20, pytest.param(40, marks=pytest.mark.slow)])
def test_many_arms_agree_with_a_fine_grid(arms: int, orders: float, student: bool) -> None:
    laws = random_laws(arms, arms, orders, student)
    wanted = on_a_fine_grid(*laws, finest=150)
    assert np.abs(winning_probabilities(*laws) - wanted).max() < 1e-9
    few = few_winning_probabilities(*(column.tolist() for column in laws))
    if not student or orders < 1.0:
        assert few is not None
    if few is not None:
        assert np.abs(np.array(few) - wanted).max() < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("student", [False, True], ids=["normal", "student"])
@pytest.mark.parametrize("orders", [0.3, 3.0, 5.0])
def test_a_hundred_arms_agree_with_a_fine_grid(orders: float, student: bool) -> None:
    laws = random_laws(100, 1, orders, student)
    error = np.abs(winning_probabilities(*laws) - on_a_fine_grid(*laws, finest=250)).max()
    print(f"100 arms, scales over {orders} orders, student={student}: largest error {error:.2g}")
    assert error < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("student", [False, True], ids=["normal", "student"])
@pytest.mark.parametrize("orders", [0.3, 3.0])
def test_ten_thousand_arms_are_right_to_six_digits(orders: float, student: bool) -> None:
    laws = random_laws(10_000, 1, orders, student)
    winning_probabilities(*(column[:3] for column in laws))
    start = time.process_time()
    got = winning_probabilities(*laws, tolerance=1e-7)
    seconds = time.process_time() - start
    error = np.abs(got - winning_probabilities(*laws, tolerance=1e-11)).max()
    print(f"10,000 arms, scales over {orders} orders, student={student}: {seconds:.2f} s, error {error:.2g}")
    assert error < 1e-6


def test_equal_arms_share_and_point_masses_tie() -> None:
    np.testing.assert_allclose(winning_probabilities([3.0] * 7, [0.1] * 7, [INF] * 7), 1 / 7, atol=1e-12)
    np.testing.assert_allclose(winning_probabilities([1, 2, 2], [0.0] * 3, [INF] * 3), [0, 0.5, 0.5])
    np.testing.assert_allclose(winning_probabilities([0, 0, 0], [1, 0, 0], [INF] * 3), [0.5, 0.25, 0.25], atol=1e-12)
    np.testing.assert_allclose(winning_probabilities([-50, 0], [1, 0], [INF] * 2), [0, 1], atol=1e-12)


@pytest.mark.parametrize("n", range(1, 61))
def test_the_closed_form_of_a_whole_student_is_the_student(n: int) -> None:
    z = np.linspace(-40.0, 40.0, 801)
    np.testing.assert_allclose(_whole_student_cdf(n, z), stdtr(n, z), atol=3e-15, rtol=0)


def enumerated(location: Any, scale: Any, tosses: Any) -> Any:
    """Every outcome of every coin count, ties shared."""
    from math import comb

    wins = np.zeros(len(location))
    for heads in itertools.product(*(range(int(m) + 1) for m in tosses)):
        chance = np.prod([comb(int(m), h) * 0.5**m for m, h in zip(tosses, heads, strict=True)])
        indices = np.asarray(location) + np.asarray(scale) * np.array(heads, float)
        leads = indices == indices.max()
        wins += chance * leads / leads.sum()
    return wins


@pytest.mark.parametrize("seed", range(8))
def test_coins_agree_with_counting_every_outcome(seed: int) -> None:
    rng = np.random.default_rng(seed)
    count = rng.integers(1, 4, 4).astype(float)
    tosses = np.ceil(2.1 * count)
    total = rng.integers(0, 4, 4) / 2.0  # halves, so that arms tie often
    laws = (total / (count + tosses), 1.0 / (count + tosses), tosses)
    np.testing.assert_allclose(lattice_winning_probabilities(*laws), enumerated(*laws), atol=1e-12)


def test_very_many_coins_are_nearly_normal() -> None:
    location, tosses = np.array([0.0, 1e-4, 2e-4]), np.array([2e5, 1e5, 4e5])
    scale = 1.0 / tosses
    normal = winning_probabilities(location + 0.5, 0.5 / np.sqrt(tosses), [INF] * 3)
    np.testing.assert_allclose(lattice_winning_probabilities(location, scale, tosses), normal, atol=1e-3)


def test_many_equal_kinds_of_coins_share() -> None:
    laws = (np.repeat([0.0, 1 / 4], 500), np.full(1000, 1 / 4), np.full(1000, 3.0))
    chances = lattice_winning_probabilities(*laws)
    assert chances.sum() == pytest.approx(1.0, abs=1e-12)
    assert len(np.unique(chances)) == 2
    # With 500 better arms somebody reaches the top but for a chance of (7/8)^500, and the others never do.
    np.testing.assert_allclose(chances[500:], 1 / 500, rtol=1e-12)


POLICIES = [
    bl.AdaptiveReBoot(), bl.ReBoot(sigma_a=1.5), bl.StudentThompson(), bl.ThompsonSampling(), bl.PHE(),
    bl.EpsilonGreedy(0.3), bl.UCB1(), bl.FollowTheLeader(), bl.Giro(), bl.ReBoot(sigma_a=0.7, weights="rademacher"),
]  # fmt: skip
LEVEL = 1e-4  # of the whole family below, Bonferroni over policies and arms


@pytest.mark.parametrize("policy", POLICIES, ids=str)
def test_arms_are_chosen_as_often_as_said(policy: Any) -> None:
    from scipy.stats import binom

    agent = bl.Agent(policy, ["a", "b", "c"], seed=4)
    agent.update_many(["a", "b", "c"] * 4, [0.0, 0.5, 0.1, 1.0, 0.5, 0.9, 0.3, 0.2, 1.0, 0.2, 0.6, 0.5])
    chances = agent.probabilities()
    draws = 4000
    pulls = [agent.pull() for _ in range(draws)]
    for arm, chance in chances.items():
        seen = pulls.count(arm)
        if chances.standard_error is not None:
            spread = np.hypot(chances.standard_error[arm], np.sqrt(chance * (1 - chance) / draws))
            assert abs(seen / draws - chance) < 4.9 * spread  # two-sided, level 1e-6 each
        else:
            tails = min(binom.cdf(seen, draws, chance), binom.sf(seen - 1, draws, chance))
            assert tails > LEVEL / (2 * 3 * len(POLICIES))


def test_ties_are_shared() -> None:
    for policy in (bl.FollowTheLeader(), bl.UCB1()):
        agent = bl.Agent(policy, ["a", "b", "c"], seed=1)
        agent.update_many(["a", "b", "c"], [1.0, 2.0, 2.0])
        assert dict(agent.probabilities()) == {"a": 0.0, "b": 0.5, "c": 0.5}


def test_random_rounds_are_mixed_in() -> None:
    agent = bl.Agent(bl.EpsilonGreedy(0.3), ["a", "b", "c"], seed=1)
    agent.update_many(["a", "b", "c"], [1.0, 2.0, 0.0])
    assert agent.probabilities()["a"] == pytest.approx(0.1)
    assert agent.probabilities()["b"] == pytest.approx(0.8)


def test_asking_changes_nothing() -> None:
    for policy in POLICIES:
        agent = bl.Agent(policy, ["a", "b", "c"], seed=4)
        agent.update_many(["a", "b"] * 3, [1.0, 2.0] * 3)
        for _ in range(4):
            before = agent.to_json()
            chances = agent.probabilities()
            agent.summary()
            assert agent.to_json() == before
            assert sum(chances.values()) == pytest.approx(1.0, abs=1e-12)
            agent.update(agent.pull(), 0.5)


def test_estimates_are_labelled() -> None:
    agent = bl.Agent(bl.Giro(), ["a", "b"], seed=1)
    agent.update_many(["a", "b"] * 3, [0.0, 0.4] * 3)
    chances = agent.probabilities()
    assert chances.method == "monte carlo"
    assert chances.standard_error is not None
    assert "monte carlo" in repr(chances)
    assert bl.Agent(bl.UCB1(), ["a"]).probabilities().method == "exact"


def test_layers_of_scales_that_no_pair_of_floats_resolves() -> None:
    narrow = winning_probabilities([0.0, 1.0, -0.5], [1.0, 2.0, 1.5], [INF, 3.0, INF])
    for tiny in (1e-40, 1e-100, 1e-150):
        laws = ([0.0, tiny, -0.5 * tiny, 0.0], [tiny, 2.0 * tiny, 1.5 * tiny, 1.0], [INF, 3.0, INF, INF])
        np.testing.assert_allclose(winning_probabilities(*laws), [*(0.5 * narrow), 0.5], atol=1e-9)
        shifted = winning_probabilities([3.0] * 4, *laws[1:])
        np.testing.assert_allclose(shifted[3], 0.5, atol=1e-9)
    assert winning_probabilities([1e73, 0.0], [1e-100, 1.0], [INF, INF]).tolist() == [1.0, 0.0]
    np.testing.assert_allclose(winning_probabilities([0.0, 0.0], [1e-150, 1e120], [1.0, 1.0]), [0.5, 0.5], atol=1e-9)
    np.testing.assert_allclose(winning_probabilities([0.0, 5.0, 5.0], [1e99, 0.0, 0.0], [INF] * 3), [0.5, 0.25, 0.25])


def test_a_floor_far_below_is_no_chance() -> None:
    chances = winning_probabilities([1.0, 2.0, -1e99], [1e-70, 1e-85, 0.0], [2.0, 2.0, INF])
    np.testing.assert_allclose(chances, [0.0, 1.0, 0.0], atol=1e-12)


def test_a_chain_of_scales_is_still_a_distribution() -> None:
    scale = 10.0 ** -np.arange(0.0, 120.0, 8.0)
    for df in (1.0, INF):
        got = winning_probabilities(np.zeros(scale.size), scale, np.full(scale.size, df))
        assert got.sum() == pytest.approx(1.0, abs=1e-12)
        np.testing.assert_allclose(got, [*(0.5 ** np.arange(1.0, scale.size)), 0.5 ** (scale.size - 1)], atol=1e-6)


@pytest.mark.parametrize("rewards", [[1e16, 1e16 + 2], [1e16, -1e16], [1e99, 1e99], [1.0, 1e15]], ids=str)
def test_coins_far_from_zero_are_still_compared(rewards: list[float]) -> None:
    agent = bl.Agent(bl.PHE(), ["a", "b"], seed=1)
    agent.update_many(["a", "b"] * 3, rewards * 3)
    chances = agent.probabilities()
    assert sum(chances.values()) == pytest.approx(1.0, abs=1e-12)
    wanted = {-1: 0.0, 0: 0.5, 1: 1.0}[(rewards[1] > rewards[0]) - (rewards[1] < rewards[0])]
    if abs(rewards[1] - rewards[0]) > 100.0 or rewards[0] == rewards[1]:
        assert chances["b"] == pytest.approx(wanted, abs=1e-9)


def test_more_coins_than_are_looked_at_one_by_one() -> None:
    location, tosses = np.array([0.0, 1e-6]), np.array([4e8, 3e8])
    scale = 1.0 / tosses
    normal = winning_probabilities(location + 0.5, 0.5 / np.sqrt(tosses), [INF] * 2)
    np.testing.assert_allclose(lattice_winning_probabilities(location, scale, tosses), normal, atol=1e-6)


def test_residual_squares_of_any_sizes() -> None:
    agent = bl.Agent(bl.StudentThompson(), ["a", "b", "c"], seed=1)
    agent.update_many(["a", "a", "b", "b", "c", "c"], [0.0, 1e-150, -1e100, 1e100, 1.0, 2.0])
    chances = agent.probabilities()
    assert sum(chances.values()) == pytest.approx(1.0, abs=1e-12)
    assert chances["b"] == pytest.approx(0.5, abs=1e-9)
    for _ in range(28):
        agent.merge(bl.Agent.from_json(agent.to_json()))  # twice as many rewards every time: 2.7e8
    assert sum(agent.probabilities().values()) == pytest.approx(1.0, abs=1e-12)


def test_an_agent_learns_no_more_rewards_than_a_float_can_count() -> None:
    agent = bl.Agent(bl.StudentThompson(), ["a", "b"], seed=1)
    agent.update_many(["a", "b"] * 2, [0.0, 1e100, 1.0, -1e100])
    for _ in range(51):
        agent.merge(bl.Agent.from_json(agent.to_json()))
    before = agent.to_json()
    with pytest.raises(ValueError, match=r"at most 2\*\*53 rewards"):
        agent.merge(bl.Agent.from_json(before))
    for call in (lambda: agent.update("a", 1.0), lambda: agent.update_many(["a"], [1.0])):
        with pytest.raises(ValueError, match=r"at most 2\*\*53 rewards"):
            call()
    assert agent.to_json() == before
    assert sum(agent.probabilities().values()) == pytest.approx(1.0, abs=1e-12)
