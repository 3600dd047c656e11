"""Coverage under continuous peeking, power and off-policy coverage, against the bars that the documents state.

The fast tier has a small version, and wrong versions that must be rejected. Seeds are fixed; each bar is the promised
level plus three standard errors of the share that the runs can show, so that a right version fails one cell in 700.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from bootleader.inference._intervals import LEAST
from bootleader.inference._moments import effective_number, moments_by_arm, own_number
from tests.inference import off_policy_coverage, peeking, power
from tests.inference.cases import NOT_PROMISED, everyday_cases, hard_cases, other_cases, suite_cases
from tests.inference.peeking import ADAPTIVE, ELIMINATION, EVEN, GREEDY, POLICY_NAMES, THOMPSON, measured

RUNS = 2_000
ALPHA = 0.05
BAR_WITHOUT_BOUNDS = 0.055
SUITE_POLICIES = (ADAPTIVE, THOMPSON, EVEN)


def exceeds(share: float, bar: float, runs: int) -> bool:
    return share > bar + 3.0 * math.sqrt(bar * (1.0 - bar) / runs)


def shortened(case, rounds):
    return replace(case, rounds=min(case.rounds, rounds))


def checked(case, policy, runs, bounded):
    out = measured(case, policy, runs, bounded=bounded)
    bar = ALPHA if bounded else BAR_WITHOUT_BOUNDS
    assert not exceeds(out[:, 0].mean(), bar, runs), "an arm's interval excludes the truth too often"
    assert not exceeds(out[:, 1].mean(), bar, runs), "a difference's interval excludes the truth too often"
    assert not exceeds(out[:, 2].mean(), bar, runs), "verdicts are wrong too often"
    return out


@pytest.mark.parametrize("name", ["gauss2, A/A", "bern .02/.03, A/A", "sd mixed5"])
def test_coverage_in_small(name):
    cases = [case for suite in suite_cases(150) for case in (suite, suite.equal())]
    (case,) = [case for case in cases if case.name == name]
    out = checked(shortened(case, 3_000), ADAPTIVE, 150, bounded=bool(case.scale))
    if name == "gauss2, A/A":
        assert out[:, 3].mean() > 0.25  # the same runs, looked at with |z| > 1.96
        assert out[:, 3].mean() > 5 * out[:, 2].mean()


def test_without_the_guard_rare_rewards_are_rejected():
    """The check can fail: the Student mixture alone is wrong in a fifth of all runs here."""
    (case,) = [case for case in other_cases(200) if case.name == "Bernoulli .005, unbounded"]
    wrong = measured(shortened(case, 5_000), EVEN, 200, bounded=False, guard=0.0)
    assert exceeds(wrong[:, 0].mean(), BAR_WITHOUT_BOUNDS, 200)
    checked(shortened(case, 5_000), EVEN, 200, bounded=False)


def test_without_the_pool_a_hidden_jackpot_is_rejected():
    """Arms that have seen no jackpot yet answer too early unless the others' jackpots count."""
    (case,) = [case for case in hard_cases(200) if case.name == "jackpot 0.5 %, 5 arms"]
    wrong = measured(shortened(case, 3_000), EVEN, 200, is_pooled=False)
    assert exceeds(wrong[:, 0].mean(), BAR_WITHOUT_BOUNDS, 200)
    checked(shortened(case, 3_000), EVEN, 200, bounded=False)


def test_without_the_least_number_an_event_that_has_not_come_is_rejected():
    """Calm rewards have 50 effective ones at once; a jackpot of 1 % has then not come in a fifth of all runs."""
    (case,) = [case for case in hard_cases(200) if case.name == "jackpot 1 %, one arm"]
    wrong = measured(shortened(case, 2_000), EVEN, 200, least=0.0)
    assert exceeds(wrong[:, 0].mean(), BAR_WITHOUT_BOUNDS, 200)
    checked(shortened(case, 2_000), EVEN, 200, bounded=False)


def test_with_half_the_least_number_arms_unlike_each_other_are_rejected():
    """A jackpot of 1 % has not come in 200 rewards in 13 % of all runs; the calm arm beside it then seems better."""
    (case,) = [case for case in hard_cases(300) if case.name == "jackpots 1 % beside Gauss"]
    wrong = measured(shortened(case, 2_000), EVEN, 300, least=LEAST / 2)
    assert exceeds(wrong[:, 2].mean(), BAR_WITHOUT_BOUNDS, 300)
    checked(shortened(case, 2_000), EVEN, 300, bounded=False)


def test_the_guard_of_the_measurements_is_the_librarys():
    rng = np.random.default_rng(0)
    arm, reward = rng.integers(0, 4, 900), rng.exponential(size=900) ** 3
    moments = moments_by_arm(arm, np.where(arm == 3, 1.0, reward), 5)  # the fourth is constant, the fifth has none
    found = np.empty(5)
    for is_pooled, expected in ((True, effective_number(moments)), (False, own_number(moments))):
        peeking.guard_values(moments.count, moments.rss, moments.fourth, is_pooled, found)
        assert found == pytest.approx(expected, rel=1e-12)


def test_power_in_small():
    table = power.ratios(power.gaussian(0.25), 60)
    assert np.median(table[:, power.STUDENT]) < 2.0
    assert np.median(table[:, power.APART]) > 1.2 * np.median(table[:, power.STUDENT])
    assert np.median(power.ratios(power.bernoulli(0.6, 0.4), 60)[:, power.BETTING]) < 2.0


def test_off_policy_in_small():
    world, target = off_policy_coverage.WORLDS[0], off_policy_coverage.TARGETS["the best arm"]
    found = off_policy_coverage.measured(world, target, 0.05, 12)
    for table in found.values():
        assert table[:, 1].max() == 0
        assert abs(table[:, 0].mean()) < 4 * table[:, 0].std() / math.sqrt(12)


@pytest.mark.slow
@pytest.mark.parametrize("policy", SUITE_POLICIES, ids=POLICY_NAMES.__getitem__)
@pytest.mark.parametrize("place", range(28))
def test_coverage_on_the_suite(place, policy):
    case = [case for suite in suite_cases(RUNS) for case in (suite, suite.equal())][place]
    for bounded in (True, False) if case.scale else (False,):
        checked(case, policy, RUNS, bounded)


@pytest.mark.slow
@pytest.mark.parametrize("policy", SUITE_POLICIES, ids=POLICY_NAMES.__getitem__)
@pytest.mark.parametrize("place", range(len(other_cases(1))))
def test_coverage_on_other_families(place, policy):
    case = other_cases(RUNS)[place]
    for bounded in (True, False) if case.scale else (False,):
        checked(case, policy, RUNS, bounded)


@pytest.mark.slow
@pytest.mark.parametrize("policy", [EVEN, GREEDY, ELIMINATION], ids=POLICY_NAMES.__getitem__)
@pytest.mark.parametrize("place", range(len(hard_cases(1))))
def test_coverage_on_hard_families(place, policy):
    case = hard_cases(500)[place]
    if case.name in NOT_PROMISED:
        pytest.skip("the guard cannot hold it at its level: docs/coverage.md says why")
    checked(case, policy, 500, bounded=False)


@pytest.mark.slow
@pytest.mark.parametrize("policy", SUITE_POLICIES, ids=POLICY_NAMES.__getitem__)
@pytest.mark.parametrize("place", range(len(everyday_cases(1))))
def test_coverage_on_everyday_families(place, policy):
    checked(everyday_cases(500)[place], policy, 500, bounded=False)


@pytest.mark.slow
@pytest.mark.parametrize("setting", power.SETTINGS, ids=lambda setting: setting.name)
def test_power(setting):
    medians = np.median(power.ratios(setting, 1_000), axis=0)
    if not power.guard_binds(setting):
        assert medians[power.STUDENT] < 2.0
    if setting.is_bounded:
        assert medians[power.BETTING] < 2.0


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.25, 0.5, 1.0])
@pytest.mark.parametrize("setting", [power.gaussian(0.2), power.bernoulli(0.12, 0.1)], ids=lambda setting: setting.name)
def test_the_estimate_of_more(setting, share):
    """The median estimate is right to a factor of two; the quartiles are a factor of two to five apart."""
    table = power.estimate_ratios(setting, 400, share)
    assert 0.5 < np.median(table) < 2.0


@pytest.mark.slow
@pytest.mark.parametrize("floor", [0.05, 0.0])
@pytest.mark.parametrize("target", off_policy_coverage.TARGETS, ids=str)
@pytest.mark.parametrize("world", off_policy_coverage.WORLDS, ids=lambda world: world.name)
def test_off_policy(world, target, floor):
    runs = 400
    found = off_policy_coverage.measured(world, off_policy_coverage.TARGETS[target], floor, runs)
    for name, table in found.items():
        assert not exceeds((table[:, 1] > 0).mean(), BAR_WITHOUT_BOUNDS, runs)
        if floor > 0.0 and name != "SNIPS":
            assert abs(table[:, 0].mean()) < 4 * table[:, 0].std() / math.sqrt(runs)


def test_the_runs_are_the_same_whatever_the_threads():
    (case,) = [case for case in suite_cases(16) if case.name == "gauss2"]
    case = shortened(case, 500)
    assert (measured(case, ADAPTIVE, 16, threads=1) == measured(case, ADAPTIVE, 16, threads=3)).all()
    assert peeking.POLICY_NAMES[ADAPTIVE] == "AdaptiveReBoot"
