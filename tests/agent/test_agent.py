"""What an agent promises its program."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import bootleader as bl
from bootleader.policies import POLICIES
from tests.agent.rewards import fed
from tests.helpers import COLOURS, agent_of


def test_two_calls_find_the_best_arm() -> None:
    agent = agent_of()
    choices = fed(agent, 1000)
    assert choices[-500:].count("red") > 400
    assert set(choices[:6]) == set(COLOURS)
    assert sorted(choices[:6]) == sorted(COLOURS * 2)


PLAYED = [policy for policy in POLICIES if not (getattr(policy.rule, "history", False) or policy.reads_horizon)]


@pytest.mark.parametrize("policy", PLAYED, ids=str)
def test_every_other_policy_of_the_library_plays(policy: Any) -> None:
    agent, rng = agent_of(policy), np.random.default_rng(0)
    for _ in range(60):
        agent.update(agent.pull(), float(rng.random() < 0.5))
    assert agent.summary()["pulls"].sum() == 60


def test_a_seed_fixes_the_choices_and_no_seed_gives_a_fresh_one() -> None:
    assert fed(agent_of(), 100) == fed(agent_of(), 100)
    assert fed(agent_of(), 100) != fed(agent_of(seed=8), 100)
    assert agent_of(seed=None).seed != agent_of(seed=None).seed


def test_costs_are_minimised_and_reported_as_they_came() -> None:
    agent = agent_of(maximize=False)
    choices = fed(agent, 1000, offset=100.0)
    assert choices[-500:].count("blue") > 400
    assert agent.summary().loc["blue", "mean"] == pytest.approx(100.0, abs=0.2)


def test_a_prior_is_of_the_costs_themselves() -> None:
    """Two agents whose rewards and prior are each other's mirror image choose alike."""
    gain = agent_of(bl.ThompsonSampling(prior_mean=-100.0, prior_sd=5.0))
    cost = agent_of(bl.ThompsonSampling(prior_mean=100.0, prior_sd=5.0), maximize=False)
    for k in range(300):
        assert gain.pull() == cost.pull()
        reward = np.cos(k) - 98.0
        gain.update(COLOURS[k % 3], reward)
        cost.update(COLOURS[k % 3], -reward)


@pytest.mark.parametrize("scale", [2.0**40, 2.0**-30])
def test_adaptive_reboot_has_no_unit(scale: float) -> None:
    assert fed(agent_of(), 2000, scale=scale) == fed(agent_of(), 2000)


@pytest.mark.parametrize(("scale", "offset"), [(3.7, 0.0), (1.0, 50.0), (0.01, -7.0), (1234.5, 1e6)])
def test_adaptive_reboot_has_no_zero(scale: float, offset: float) -> None:
    assert fed(agent_of(), 2000, scale=scale, offset=offset) == fed(agent_of(), 2000)


def test_batches_share_out_the_initial_pulls() -> None:
    agent = agent_of()
    batch = agent.pull_many(6)
    assert sorted(batch) == sorted(COLOURS * 2)
    agent.update_many(batch, np.arange(6.0))
    assert agent.summary()["pulls"].tolist() == [2, 2, 2]
    assert len(agent.pull_many(50)) == 50
    assert agent.pull_many(0) == []


def test_a_batch_of_one_is_a_pull() -> None:
    agent, other = agent_of(), agent_of()
    rng = np.random.default_rng(5)
    for _ in range(200):
        (arm,) = agent.pull_many(1)
        assert arm == other.pull()
        reward = rng.normal()
        agent.update_many([arm], [reward])
        other.update(arm, reward)
    assert agent.to_json() == other.to_json()


def test_arms_come_and_go() -> None:
    agent = agent_of()
    fed(agent, 50)
    agent.add_arm("gold", {"price": 3})
    assert agent.arms["gold"] == {"price": 3}
    for _ in range(2):  # explored as AdaptiveReBoot explores a new arm: twice, at once
        assert agent.pull() == "gold"
        agent.update("gold", 50.0)
    agent.pause_arm("gold")
    assert agent.paused == ["gold"]
    assert "gold" not in agent.pull_many(200)
    assert agent.probabilities()["gold"] == 0.0
    agent.update("gold", 51.0)
    agent.resume_arm("gold")
    assert agent.summary().loc["gold", "pulls"] == 3
    assert "gold" in agent.pull_many(50)
    agent.remove_arm("gold")
    assert "gold" not in agent.arms
    with pytest.raises(LookupError, match="'gold' was removed"):
        agent.update("gold", 1.0)
    with pytest.raises(ValueError, match="again=True"):
        agent.add_arm("gold")
    agent.add_arm("gold", again=True)
    assert agent.pull() == "gold"
    assert agent.summary().loc["gold", "pulls"] == 0


def test_without_an_active_arm_there_is_nothing_to_pull() -> None:
    agent = agent_of(arms=["only"])
    agent.pause_arm("only")
    for call in (agent.pull, agent.decide, agent.probabilities):
        with pytest.raises(RuntimeError, match="no arm is active"):
            call()
    assert agent.summary()["probability"].tolist() == [0.0]
    with pytest.raises(RuntimeError, match="no arm is active"):
        bl.Agent(bl.UCB1(), []).pull()


def test_a_noise_sd_per_arm_is_asked_of_new_arms_too() -> None:
    agent = agent_of(bl.ThompsonSampling(prior_sd=float("inf"), noise_sd=(1.0, 2.0, 3.0)))
    with pytest.raises(ValueError, match="noise_sd must be given"):
        agent.add_arm("x")
    agent.add_arm("x", noise_sd=0.5)
    agent = bl.Agent.from_json(agent.to_json())
    agent.update_many([*COLOURS, "x"], [0.0] * 4)
    chances = agent.probabilities()
    assert chances["red"] > chances["green"] > chances["blue"] > chances["x"]


def test_eight_threads_lose_nothing() -> None:
    agent = agent_of()
    every, threads = 2000, 8

    def work(worker: int) -> None:
        for k in range(every):
            agent.update(agent.pull(), float(worker * every + k))
            decision = agent.decide(probability=k % 100 == 0)
            agent.reward(decision.id, 1.0)

    workers = [threading.Thread(target=work, args=(worker,)) for worker in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    table = agent.summary()
    total = every * threads
    assert table["pulls"].sum() == 2 * total
    assert (table["pulls"] * table["mean"]).sum() == pytest.approx(total * (total - 1) / 2 + total, rel=1e-12)
    assert not agent.open_decisions


def test_the_summary_and_the_repr_tell_what_there_is() -> None:
    agent = agent_of()
    agent.update_many(["blue", "blue", "green"], [1.0, 3.0, 5.0])
    agent.decide()
    table = agent.summary()
    assert table.loc["blue", ["pulls", "mean", "standard_error", "share"]].tolist() == [2, 2.0, 1.0, 2 / 3]
    assert table["probability"].sum() == pytest.approx(1.0, abs=1e-12)
    assert np.isnan(table.loc["red", "mean"])
    assert table["open"].sum() == 1
    assert repr(agent).splitlines() == [
        "Agent(AdaptiveReBoot(), 3 arms, 3 rewards, 1 open decision)",
        "  blue   2 pulls, mean 2 +- 1",
        "  green  1 pull, mean 5",
        "  red    0 pulls",
    ]


def test_names_that_could_mislead_a_terminal_are_shown_escaped() -> None:
    agent = agent_of(arms=["\x1b[2Jgone", "a\u202eb", "n\nl", "x" * 10_000, "\ud800"])
    shown = repr(agent)
    assert shown.isascii()
    assert "\x1b" not in shown
    assert "\\x1b[2Jgone" in shown
    assert "a\\u202eb" in shown
    assert max(map(len, shown.splitlines())) < 120
    with pytest.raises(LookupError) as caught:
        agent.update("\x1b[31m", 1.0)
    assert "\x1b" not in str(caught.value)
    assert len(str(caught.value)) < 800
    assert repr(bl.Agent.from_json(agent.to_json())) == shown


def test_every_change_has_a_version_of_its_own() -> None:
    agent = agent_of()
    seen = [agent._learner.version]
    changes = (
        lambda: agent.update("blue", 1.0), lambda: agent.update_many(["red"], [1.0]), lambda: agent.add_arm("gold"),
        lambda: agent.pause_arm("red"), lambda: agent.resume_arm("red"), lambda: agent.remove_arm("blue"),
        lambda: agent.merge(agent_of(arms=["red"])), lambda: agent.reward(agent.decide().id, 1.0),
    )  # fmt: skip
    for change in changes:
        change()
        seen.append(agent._learner.version)
    assert seen == sorted(set(seen))
    for _ in range(3):
        agent.update("gold", 2.0)
        agent.update("red", 1.0)
        agent.update("green", 1.0)
    version, chances = agent._learner.version, agent._chances()
    agent.pull_many(10)
    agent.decide()
    assert agent._learner.version == version  # what is on its way changes no choice any more
    assert agent._chances() is chances
