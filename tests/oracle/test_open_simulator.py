"""The general kernel against the plain loop, bit for bit: rules that choose, changing rewards, late rewards."""

from __future__ import annotations

import numpy as np
import pytest

import bootleader as bl
from bootleader.simulation._block_runs import Block
from bootleader.simulation._delay import delay_from
from bootleader.simulation._simulate import checkpoint_rounds
from tests.oracle.cases import BANDITS_BY_ID, OTHER_POLICY_CASES
from tests.oracle.test_oracle_exact import assert_same_bits
from tests.oracle.test_oracle_statistical import regret_p_value

GAUSSIAN = bl.GaussianBandit([0.5, 0.0, 0.2])
CLICKS = bl.BernoulliBandit([0.5, 0.6, 0.4])
CHANGING = {
    "piecewise": bl.Piecewise(
        [
            (GAUSSIAN, 60),
            (bl.EmpiricalBandit([[1.0, 2.0], [3.0, 4.0, 5.0], [0.0]]), 40),
            (bl.RevenueBandit(bl.Uniform(1, 2, arms=3)), 30),
            (bl.ExponentialBandit([1.0, 2.0, 3.0]), 10),
        ]
    ),
    "piecewise-two-groups": bl.Piecewise(
        [
            (bl.PoissonBandit([3.0, 2.0, 1.0]), 60),
            (bl.MixtureBandit([(0.6, GAUSSIAN), (0.4, bl.BetaBandit([0.1, 0.5, 0.9], 3.0))]), 40),
            (GAUSSIAN, 30),
        ]
    ),
    "drifting": bl.Drifting(GAUSSIAN, sd=0.1),
    "drifting-clicks": bl.Drifting(CLICKS, sd=0.05),
    "seasonal": bl.Seasonal(CLICKS, amplitude=0.3, period=77.0),
}
ONE_PHASE = bl.Piecewise([(GAUSSIAN, 1_000)])  # changing rewards, of which none changes
DELAYS = {"none": None, "zero": 0, "seven": 7, "geometric": bl.GeometricDelay(mean=20), "observed": [1, 5, 100]}
EVERY_KIND = [
    bl.ReBoot(sigma_a=1.5),
    bl.AdaptiveReBoot(),
    bl.ThompsonSampling(),
    bl.PHE(),
    bl.UCB1(),
    bl.EpsilonGreedy(),
    bl.Giro(),
    bl.ReBoot(sigma_a=1.0, weights="mammen"),
    bl.RBSDA(),
    bl.Discounted(bl.AdaptiveReBoot(), half_life=40.0),
    bl.Discounted(bl.UCB1(), half_life=30.0),
    bl.Discounted(bl.MOSS(), half_life=30.0),
]


def block(policy, bandit, delay=None, rounds=180):
    return Block(policy, bandit, 7, 0, 3, rounds, checkpoint_rounds(rounds, 12), delay=delay_from(delay))


def has_kernels_for_each(policy):
    """Whether changing rewards and late rewards are also played apart in the fast tier, each in a kernel of its own.

    Every kind of rule is compiled once for both. What changes and what is late does not depend on the kind, so the
    kernels for one of them are compared for plain index rules here, and for all kinds in the slow tier.
    """
    return isinstance(policy.rule, bl.IndexRule) and policy.rule.half_life == np.inf


# A world whose draws are in no one group has kernels of its own for each kind of rule: one kind is enough.
SHARED_DRAWS = [name for name in CHANGING if name != "piecewise-two-groups"]
APART = [
    pytest.param(policy, id=str(policy), marks=[] if has_kernels_for_each(policy) else [pytest.mark.slow])
    for policy in EVERY_KIND
]
LATE = [name for name in DELAYS if name != "none"]


@pytest.mark.parametrize("world", SHARED_DRAWS)
@pytest.mark.parametrize("policy", APART)
def test_changing_rewards(policy, world):
    assert_same_bits(block(policy, CHANGING[world]))


def test_changing_rewards_of_two_groups_of_draws():
    assert_same_bits(block(EVERY_KIND[0], CHANGING["piecewise-two-groups"]))


@pytest.mark.parametrize("delay", LATE)
@pytest.mark.parametrize("policy", APART)
def test_late_rewards(policy, delay):
    assert_same_bits(block(policy, GAUSSIAN, DELAYS[delay]))


@pytest.mark.parametrize("world", SHARED_DRAWS)
@pytest.mark.parametrize("policy", EVERY_KIND, ids=str)
def test_changing_and_late_rewards(policy, world):
    assert_same_bits(block(policy, CHANGING[world], DELAYS["geometric"]))


@pytest.mark.parametrize("delay", LATE)
@pytest.mark.parametrize("policy", [policy for policy in EVERY_KIND if not has_kernels_for_each(policy)], ids=str)
def test_late_rewards_of_one_phase(policy, delay):
    assert_same_bits(block(policy, ONE_PHASE, DELAYS[delay]))


@pytest.mark.parametrize("policy", EVERY_KIND, ids=str)
def test_one_phase_and_a_delay_of_zero_change_nothing(policy):
    size = {"rounds": 150, "runs": 4, "seed": 2}
    plain = bl.simulate(policy, GAUSSIAN, **size)
    general = bl.simulate(policy, ONE_PHASE, **size, delay=0)
    np.testing.assert_array_equal(general.final_regret, plain.final_regret)


@pytest.mark.parametrize("policy", APART)
def test_a_delay_of_zero_changes_nothing(policy):
    size = {"rounds": 150, "runs": 4, "seed": 2}
    prompt, late = (bl.simulate(policy, GAUSSIAN, **size, delay=delay) for delay in (None, 0))
    np.testing.assert_array_equal(late.final_regret, prompt.final_regret)


def test_regret_is_against_the_best_arm_of_each_round():
    """Two arms that swap: whoever plays the first arm all the time has regret in the second phase alone."""
    swap = bl.Piecewise([(bl.GaussianBandit([1.0, 0.0], sd=1e-9), 50), (bl.GaussianBandit([0.0, 3.0], sd=1e-9), 50)])

    class First:
        def start(self, arms, rng):
            pass

        def pull(self):
            return 0

        def update(self, arm, reward):
            pass

    sim = bl.simulate(First(), swap, rounds=100, runs=2, checkpoints=[50, 100])
    np.testing.assert_allclose(sim.mean_regret, [[0.0, 150.0]])
    np.testing.assert_allclose(sim.mean_reward, [[50.0, 50.0]], atol=1e-6)


@pytest.mark.slow
def test_a_random_walk_has_the_stated_variance():
    """Means after t rounds have variance t sd^2: chi-square test at level 1e-3."""
    from scipy import stats

    from bootleader._core.changes_and_delays import next_walk
    from bootleader._core.rng import Purpose, Stream, run_stride, stream_state

    changes = bl.Drifting(GAUSSIAN, sd=0.1).changes(GAUSSIAN.parameters_of(0, np.arange(1, dtype=np.uint64)), 0)
    ends = []
    for run in range(400):
        stream = Stream([int(stream_state(0, run, int(Purpose.DRIFT), 0))], 0, int(run_stride(0, run)))
        walk = 0.0
        for _ in range(100):
            walk = next_walk(changes, walk, stream)
        ends.append(walk)
    p = stats.chi2.cdf(np.square(ends).sum() / (100 * 0.1**2), 400)
    assert min(p, 1 - p) > 5e-4


# Regret against the naive twins: Mann-Whitney tests at a joint level of 1e-3.


@pytest.mark.parametrize("case", OTHER_POLICY_CASES, ids=lambda case: case.id)
def test_final_regret_is_that_of_the_naive_twin(case):
    p = regret_p_value(case.policy, case.twin, case.bandit_id, rounds=80)
    assert p > 1e-3 / len(OTHER_POLICY_CASES)


@pytest.mark.parametrize("case", OTHER_POLICY_CASES, ids=lambda case: case.id)
def test_kernel_equals_the_loop(case):
    assert_same_bits(block(case.policy, BANDITS_BY_ID[case.bandit_id].bandit))


def test_delays_have_the_stated_mean():
    """A z-test at level 1e-3 for the geometric delay; observed ones are drawn from the list."""
    from bootleader._core.changes_and_delays import delay_of
    from bootleader._core.rng import Stream

    stream = Stream([3], 0, 0x9E3779B97F4A7C15)
    delays = np.array([delay_of(delay_from(bl.GeometricDelay(mean=20)), stream) for _ in range(20_000)])
    assert abs(delays.mean() - 20.0) / np.sqrt(20.0 * 21.0 / 20_000) < 3.29
    assert delays.min() == 0
    assert {delay_of(delay_from([1, 5, 100]), stream) for _ in range(200)} == {1, 5, 100}
