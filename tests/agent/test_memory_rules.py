"""Agents of all policies that look at all arms at once, also of those that have a memory of their own."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy import stats

import bootleader as bl
from bootleader.policies import POLICIES
from tests.agent.test_equals_simulator import played, regret_curve

CLICKS = bl.BernoulliBandit([0.35, 0.5, 0.45])
PLAYED: list[Any] = [
    bl.IMED(),
    bl.BetaThompson(),
    bl.MaillardSampling(sd=0.5),
    bl.KLMaillardSampling(),
    bl.BayesUCB(),
    bl.BayesUCB("gaussian", sd=0.5),
    bl.MultiplierBootstrap(replicates=8),
    bl.EnsembleSampling(models=5),
    bl.BootstrappedUCB(sd=0.5, replicates=20),
    bl.Exp3(rate=0.1),
    bl.TsallisINF(),
    bl.TsallisINF(reduced_variance=True),
    bl.SlidingWindowUCB(window=40),
    bl.TopTwoThompson(noise_sd=0.5),
    bl.SuccessiveRejects(horizon=150),
]


def used(policy: Any, rounds: int = 60, seed: int = 3) -> Any:
    rng = np.random.default_rng(seed)
    agent = bl.Agent(policy, ["a", "b", "c"], seed=seed)
    for _ in range(rounds):
        arm = agent.pull()
        agent.update(arm, float(rng.random() < {"a": 0.35, "b": 0.5, "c": 0.45, "d": 0.4}[arm]))
    return agent


@pytest.mark.parametrize("policy", PLAYED, ids=str)
def test_an_agent_makes_the_choices_of_the_simulation(policy: Any) -> None:
    simulation = bl.simulate(policy, CLICKS, rounds=150, runs=1, seed=11, checkpoints=150, compiled=False)
    for late in (False, True):
        choices = played(policy, CLICKS, 11, 150, late)
        np.testing.assert_array_equal(regret_curve(choices, CLICKS, 11), simulation.mean_regret[0])


@pytest.mark.parametrize("policy", PLAYED, ids=str)
def test_an_agent_survives_a_restart_and_changes_of_its_arms(policy: Any) -> None:
    agent = used(policy)
    agent.add_arm("d")
    agent.pause_arm("a")
    for _ in range(10):
        arm = agent.pull()
        assert arm != "a"
        agent.update(arm, 1.0)
    agent.update("a", 1.0)  # a late reward of a paused arm
    if isinstance(policy, bl.SlidingWindowUCB):
        with pytest.raises(ValueError, match="pause the arm instead"):
            agent.remove_arm("b")
    else:
        agent.remove_arm("b")
    agent.resume_arm("a")
    restored = bl.Agent.from_json(agent.to_json())
    assert restored.to_json() == agent.to_json()
    assert [restored.pull() for _ in range(8)] == [agent.pull() for _ in range(8)]
    assert dict(restored.probabilities()) == dict(agent.probabilities())


@pytest.mark.parametrize("policy", PLAYED, ids=str)
def test_probabilities_are_those_of_the_choices(policy: Any) -> None:
    """Chi-square at a joint level of 1e-3: choices of restored copies, each from a stream of its own."""
    agent = used(policy, rounds=25)
    probabilities = agent.probabilities()
    assert probabilities.method == "exact"
    assert sum(probabilities.values()) == pytest.approx(1.0, abs=1e-9)
    draws, learner = 600, agent._learner
    counts = np.zeros(3)
    for state in range(draws):
        streams = learner.streams.copy()
        streams.spare.states[0] = state * 0x9E3779B97F4A7C15 % 2**64
        counts[learner.leader(learner.fresh_laws(learner.arms, learner.rounds), streams)] += 1
    chances = np.array([probabilities[arm] for arm in "abc"])
    possible = chances * draws > 1e-6
    assert counts[~possible].sum() == 0
    if possible.sum() > 1:
        expected = chances[possible] / chances[possible].sum() * draws
        assert stats.chisquare(counts[possible], expected).pvalue > 1e-3 / len(PLAYED)


HISTORY = [policy for policy in POLICIES if isinstance(policy.rule, bl.ChoiceRule) and policy.rule.history]


@pytest.mark.parametrize("policy", [bl.Exp3(rate=0.1), bl.TsallisINF(), bl.TsallisINF(reduced_variance=True)], ids=str)
def test_the_first_reward_of_an_arm_that_is_new_since_the_choice(policy: Any) -> None:
    """Its probability is that of now: it had none when the choice was made."""
    agent = used(policy)
    agent.pull()
    agent.add_arm("new")
    agent.update("new", 0.5)
    assert 0.0 < agent.probabilities()["new"] < 1.0


@pytest.mark.parametrize("policy", HISTORY, ids=str)
def test_a_policy_that_needs_the_history_is_for_simulations(policy: Any) -> None:
    with pytest.raises(TypeError, match=r"an index of that arm alone, .* compares every reward of all arms .*simul"):
        bl.Agent(policy, ["a", "b"])
    body = json.loads(bl.Agent(bl.ReBoot(1.0), ["a"], seed=1).to_json())
    assert "memory" not in body


@dataclass(frozen=True, repr=False)
class Diary(bl.Policy):
    """Remembers every round."""

    @property
    def rule(self) -> bl.ChoiceRule:
        return bl.ChoiceRule(lambda params, arms, memory, shared, stream: 0, memory=lambda arms, rounds: rounds)


def test_a_memory_that_grows_is_for_simulations() -> None:
    with pytest.raises(TypeError, match=r"Diary\(\) has a memory that grows with the rounds: simulate it instead"):
        bl.Agent(Diary(), ["a", "b"])


def test_every_policy_of_the_library_plays_or_says_why_not() -> None:
    kinds = {type(policy) for policy in POLICIES if isinstance(policy.rule, bl.ChoiceRule)}
    assert kinds == {type(policy) for policy in [*PLAYED, *HISTORY]}


@pytest.mark.parametrize(
    ("policy", "parameter"),
    [(bl.Exp3(), "rate"), (bl.SuccessiveRejects(), "horizon"), (bl.MOSS(horizon="simulation"), "horizon")],
    ids=str,
)
def test_a_policy_that_reads_the_number_of_rounds_needs_it(policy: Any, parameter: str) -> None:
    assert parameter in policy.parameters
    with pytest.raises(ValueError, match=f"does not have a number of rounds, .* reads: give it {parameter}=$"):
        bl.Agent(policy, ["a", "b"])


def test_what_does_not_go_with_a_memory() -> None:
    agent, other = used(bl.BetaThompson()), used(bl.BetaThompson(), seed=4)
    with pytest.raises(ValueError, match="cannot be added up"):
        agent.merge(other)
    before = agent.to_json()
    with pytest.raises(ValueError, match=r"reward must be from 0 to 1"):
        agent.update("a", -0.5)
    assert agent.to_json() == before
    with pytest.raises(ValueError, match="maximize=False does not go with"):
        bl.Agent(bl.BetaThompson(), ["a"], maximize=False)


@pytest.mark.parametrize("memory", [[], [0.0] * 7, None])
def test_a_document_whose_memory_has_another_size_is_refused(memory: Any) -> None:
    from bootleader.agent._document import checksum

    body = json.loads(used(bl.Exp3(rate=0.1)).to_json())
    body.pop("checksum")
    body["memory"] = memory
    if memory is None:
        del body["memory"]
    with pytest.raises(ValueError, match="its memory has"):
        bl.Agent.from_json(json.dumps({**body, "checksum": checksum(body)}))
