"""``Discounted`` in the simulator is the agent's half-life, choice for choice."""

from __future__ import annotations

import numpy as np
import pytest

import bootleader as bl
from tests.agent.test_equals_simulator import BANDIT, regret_curve, rewards_of


@pytest.mark.parametrize("half_life", [5.0, 80.0])
@pytest.mark.parametrize(
    "policy",
    [
        bl.ReBoot(sigma_a=1.5), bl.UCB1(), bl.EpsilonGreedy(), bl.PHE(), bl.StudentThompson(),
        bl.KLUCB("gaussian", c=3.0), bl.MOSS(), bl.UCBTuned(), bl.UCBV(), bl.CHK(),
    ],
    ids=str,
)  # fmt: skip
def test_a_discounted_policy_plays_as_the_agent_with_that_half_life(policy, half_life) -> None:
    rounds = 400
    simulation = bl.simulate(
        bl.Discounted(policy, half_life), BANDIT, rounds=rounds, runs=1, seed=4, checkpoints=rounds
    )
    agent = bl.Agent(policy, ["0", "1", "2"], seed=4, half_life=half_life)
    pays, choices = rewards_of(BANDIT, 4, rounds), []
    for pulls in range(rounds):
        choices.append(int(agent.pull()))
        agent.update(str(choices[-1]), pays(choices[-1], pulls))
    np.testing.assert_array_equal(regret_curve(choices, BANDIT, 4), simulation.mean_regret[0])


def test_discounting_helps_when_the_best_arm_changes() -> None:
    swap = bl.Piecewise([(bl.GaussianBandit([1.0, 0.0]), 1000), (bl.GaussianBandit([0.0, 1.0]), 1000)])
    plain = bl.StudentThompson()
    sim = bl.simulate([plain, bl.Discounted(plain, half_life=100)], swap, rounds=2000, runs=64, seed=1)
    assert sim.mean_regret[1, -1] < 0.5 * sim.mean_regret[0, -1]


def test_an_agent_takes_the_half_life_of_a_discounted_policy() -> None:
    agent = bl.Agent(bl.Discounted(bl.ReBoot(sigma_a=1.5), half_life=50), ["a", "b"], seed=1)
    assert (agent.policy, agent.half_life) == (bl.ReBoot(sigma_a=1.5), 50.0)
    with pytest.raises(ValueError, match="once"):
        bl.Agent(bl.Discounted(bl.ReBoot(sigma_a=1.5), half_life=50), ["a", "b"], half_life=3)
