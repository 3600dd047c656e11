"""The compiled kernels against the plain loop, bit for bit: they read the same words from the same streams."""

from __future__ import annotations

import numpy as np
import pytest

import bootleader as bl
from bootleader.simulation._block_runs import Block, Runs, group_size, play_block, play_runs
from bootleader.simulation._python_loop import play_python
from bootleader.simulation._simulate import checkpoint_rounds
from bootleader.simulation._work_stealing import WorkStealing
from tests.helpers import kept_quantities
from tests.oracle.cases import BANDIT_CASES, BANDITS_BY_ID, POLICY_CASES

# Only long runs reach the rejection binomial (more than 1,280 tosses), histories that are moved to longer segments, and
# the end of AdaptiveReBoot's transition.
LONG_RUN_POLICIES = [
    bl.Giro(a=5),
    bl.Giro(a=0.05),
    bl.PHE(a=5),
    bl.AdaptiveReBoot(),
    bl.ReBoot(sigma_a=2.0, weights="mammen"),
    bl.ThompsonSampling(prior_sd=float("inf"), noise_sd="oracle"),
]


def assert_same_bits(block: Block) -> None:
    loop, kernel = Runs.of(block), Runs.of(block)
    loop_pulls = play_python(block.policy, block.bandit, block, loop)
    kernel_pulls, _ = play_runs(block, kernel, WorkStealing())
    np.testing.assert_array_equal(kernel_pulls, loop_pulls)
    np.testing.assert_array_equal(loop_pulls.sum(axis=0), block.rounds)
    for name in ("regret", "best_pulls", "simple_regret", "recommended"):
        np.testing.assert_array_equal(getattr(kernel.trajectory, name), getattr(loop.trajectory, name), err_msg=name)
    # Sums of rewards: newer Pythons add floats with compensation.
    np.testing.assert_allclose(kernel.trajectory.reward, loop.trajectory.reward, rtol=1e-12, atol=1e-12)
    assert_reduced(block, kernel, kernel_pulls)


def assert_reduced(block: Block, runs: Runs, pulls: np.ndarray) -> None:
    """What is kept of a block is what its runs give."""
    kept = play_block(block)
    np.testing.assert_array_equal(kept.final, runs.trajectory.regret[-1])
    np.testing.assert_array_equal(kept.pulls, pulls.sum(axis=1))
    quantities = kept_quantities(runs.trajectory, block.checkpoints)
    size = group_size(block)
    for group, first in zip(kept.groups, range(0, block.runs, size), strict=True):
        for place, quantity in enumerate(quantities):
            curves = quantity[:, first : first + size]
            mean = curves.mean(axis=1)
            assert group.runs == curves.shape[1]
            np.testing.assert_array_equal(group.mean[place], mean)
            np.testing.assert_array_equal(group.squares[place], ((curves - mean[:, None]) ** 2).sum(axis=1))


def costs_a_kernel(policy: bl.Policy, bandit: bl.Bandit) -> bool:
    """Whether a pair is left to the slow tier: mixtures have kernels of their own, one for each kind of rule."""
    return isinstance(bandit, bl.MixtureBandit) and not (
        isinstance(policy.rule, bl.IndexRule) and not policy.rule.fourth_moment
    )


# A third of all pairs in the fast tier, all of them in the slow one: laws and draws do not know of each other. Each
# policy meets six bandits, and each bandit policies with laws and with resampling.
PAIRS = [
    pytest.param(
        policy.policy,
        bandit.bandit,
        id=f"{policy.id}-{bandit.id}",
        marks=[pytest.mark.slow] if (row + column) % 3 or costs_a_kernel(policy.policy, bandit.bandit) else [],
    )
    for row, policy in enumerate(POLICY_CASES)
    for column, bandit in enumerate(BANDIT_CASES)
]


@pytest.mark.parametrize(("policy", "bandit"), PAIRS)
def test_kernel_equals_the_loop(policy, bandit):
    assert_same_bits(Block(policy, bandit, 3, 60, 3, 200, checkpoint_rounds(200, 40)))


@pytest.mark.parametrize("bandit", ["gaussian-sd-per-arm", "bernoulli", "revenue"])
@pytest.mark.parametrize("policy", LONG_RUN_POLICIES, ids=str)
def test_kernel_equals_the_loop_in_long_runs(policy, bandit):
    assert_same_bits(Block(policy, BANDITS_BY_ID[bandit].bandit, 2**64 - 1, 0, 1, 1_200, checkpoint_rounds(1_200, 7)))


@pytest.mark.parametrize("arms", [10, 7])  # arms are compared two by two, and an odd last one alone
@pytest.mark.parametrize(
    "policy",
    [bl.ReBoot(sigma_a=1.0), bl.AdaptiveReBoot(), bl.StudentThompson(), bl.PHE(), bl.EpsilonGreedy()],
    ids=str,
)
def test_kernel_equals_the_loop_in_a_full_block(policy, arms):
    bandit = bl.GaussianBandit(bl.Uniform(5, 7, arms=arms))
    assert_same_bits(Block(policy, bandit, 1, 0, 64, 60, checkpoint_rounds(60, 9)))


@pytest.mark.parametrize(
    "policy", [bl.FollowTheLeader(), bl.UCB1(), bl.AdaptiveReBoot(), bl.ThompsonSampling(), bl.Giro()], ids=str
)
def test_kernel_equals_the_loop_when_indices_tie(policy):
    """Rewards that are nearly always equal: ties, a pooled variance of zero, and a true sd of zero."""
    bandit = bl.BernoulliBandit([0.0, 1.0, 0.02, 0.98, 1.0])
    assert_same_bits(Block(policy, bandit, 5, 0, 8, 150, checkpoint_rounds(150, 150)))


@pytest.mark.parametrize("policy", [bl.AdaptiveReBoot(), bl.StudentThompson(), bl.Giro(), bl.ReBoot(1.0)], ids=str)
def test_kernel_equals_the_loop_when_there_are_only_initial_pulls(policy):
    assert_same_bits(Block(policy, bl.GaussianBandit(np.arange(7.0)), 5, 0, 3, 7, checkpoint_rounds(7, 3)))


def test_another_seed_gives_other_results():
    """The comparison above is able to fail."""
    bandit = bl.GaussianBandit(bl.Uniform(0, 1, arms=3))
    block = Block(bl.ReBoot(sigma_a=1.5), bandit, 3, 0, 3, 200, checkpoint_rounds(200, 40))
    other = Block(bl.ReBoot(sigma_a=1.5), bandit, 4, 0, 3, 200, checkpoint_rounds(200, 40))
    runs = Runs.of(block)
    play_python(block.policy, block.bandit, block, runs)
    assert not np.array_equal(play_block(other).final, runs.trajectory.regret[-1])
