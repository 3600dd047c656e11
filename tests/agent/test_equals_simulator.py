"""The agent on the simulator's streams is the simulator."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bootleader as bl
from bootleader.simulation._block_runs import Block, Runs
from bootleader.simulation._python_loop import LibraryRewards
from tests.oracle.cases import POLICY_CASES

ROUNDS = 600
BANDIT = bl.GaussianBandit(bl.Uniform(0, 1, arms=3), sd=0.8)


def rewards_of(bandit: Any, seed: int, rounds: int) -> Any:
    """The rewards that a simulation's first run pays: call with an arm's number and the pulls so far."""
    block = Block(None, bandit, seed, 0, 1, rounds, np.array([rounds]))
    return LibraryRewards(bandit, block, Runs.of(block), 0).pay


def played(policy: Any, bandit: Any, seed: int, rounds: int, late: bool = False) -> list[int]:
    agent = bl.Agent(policy, [str(k) for k in range(bandit.arms)], seed=seed)
    pays = rewards_of(bandit, seed, rounds)
    choices = []
    for pulls in range(rounds):
        if late:
            decision = agent.decide(probability=False)
            choices.append(int(decision.arm))
            agent.reward(decision.id, pays(choices[-1], pulls))
        else:
            choices.append(int(agent.pull()))
            agent.update(str(choices[-1]), pays(choices[-1], pulls))
    return choices


def regret_curve(choices: list[int], bandit: Any, seed: int) -> Any:
    block = Block(None, bandit, seed, 0, 1, len(choices), np.array([len(choices)]))
    return np.cumsum(Runs.of(block).gap[choices, 0])


@pytest.mark.parametrize("late", [False, True], ids=["pull", "decide"])
@pytest.mark.parametrize("case", POLICY_CASES, ids=lambda case: case.id)
def test_an_agent_makes_the_choices_of_the_simulation_that_has_its_seed(case: Any, late: bool) -> None:
    simulation = bl.simulate(case.policy, BANDIT, rounds=ROUNDS, runs=1, seed=11, checkpoints=ROUNDS)
    choices = played(case.policy, BANDIT, 11, ROUNDS, late)
    # Gaps differ between arms, so the regret after every round tells every choice.
    np.testing.assert_array_equal(regret_curve(choices, BANDIT, 11), simulation.mean_regret[0])
    np.testing.assert_array_equal(np.bincount(choices, minlength=3), simulation.pulls[0])


@pytest.mark.parametrize("late", [False, True], ids=["pull", "decide"])
def test_laws_that_change_in_every_round(late: bool) -> None:
    bandit = bl.BernoulliBandit([0.3, 0.5, 0.45])
    simulation = bl.simulate(bl.KLUCB(), bandit, rounds=300, runs=1, seed=11, checkpoints=300)
    choices = played(bl.KLUCB(), bandit, 11, 300, late)
    np.testing.assert_array_equal(regret_curve(choices, bandit, 11), simulation.mean_regret[0])


MANY = bl.GaussianBandit(bl.Uniform(0, 1, arms=600), sd=0.8)


@pytest.mark.parametrize(
    "policy",
    [bl.AdaptiveReBoot(), bl.ReBoot(sigma_a=1.2), bl.StudentThompson(), bl.ThompsonSampling(), bl.FollowTheLeader()],
    ids=str,
)
def test_the_same_holds_where_there_are_very_many_arms(policy: Any) -> None:
    rounds = 2500
    simulation = bl.simulate(policy, MANY, rounds=rounds, runs=1, seed=3, checkpoints=rounds)
    choices = played(policy, MANY, 3, rounds)
    np.testing.assert_array_equal(regret_curve(choices, MANY, 3), simulation.mean_regret[0])
