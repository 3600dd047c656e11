"""Random sequences of every call, against a model that keeps every reward in a list."""

from __future__ import annotations

import math
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, multiple, rule

import bootleader as bl

POLICIES = [
    bl.AdaptiveReBoot(), bl.ReBoot(sigma_a=1.5), bl.StudentThompson(), bl.ThompsonSampling(), bl.PHE(), bl.UCB1(),
    bl.FollowTheLeader(), bl.EpsilonGreedy(0.2), bl.Giro(), bl.ReBoot(sigma_a=1.0, weights="mammen"),
    bl.IMED("gaussian"), bl.MaillardSampling(sd=1e3),
]  # fmt: skip
REWARDS = st.floats(-1e6, 1e6).map(lambda x: round(x, 3)) | st.booleans() | st.integers(-5, 5)
NAMES = st.sampled_from(["a", "b", "c", "d", "e", "f"])
LIMIT = 6


class ModelArm:
    def __init__(self) -> None:
        self.rewards: list[float] = []
        self.active = True


class AgentMachine(RuleBasedStateMachine):
    decisions = Bundle("decisions")

    def __init__(self) -> None:
        super().__init__()
        self.fewer_draws = mock.patch(
            "bootleader.agent._probabilities.MOST_DRAWS", 20
        )  # estimates need not be good here
        self.fewer_draws.start()

    def teardown(self) -> None:
        self.fewer_draws.stop()

    @initialize(policy=st.sampled_from(POLICIES), maximize=st.booleans(), seed=st.integers(0, 2**64 - 1))
    def start(self, policy: Any, maximize: bool, seed: int) -> None:
        self.now = 0.0
        self.sign = 1.0 if maximize else -1.0
        self.agent = bl.Agent(
            policy, ["a", "b", "c"], seed=seed, maximize=maximize, max_open=LIMIT, max_age=100.0, clock=lambda: self.now
        )
        self.arms = {name: ModelArm() for name in "abc"}
        self.removed: set[str] = set()
        self.open: dict[str, tuple[str, float, ModelArm]] = {}
        self.rewarded: dict[str, tuple[float, float]] = {}

    def forget(self) -> None:
        """What the agent must have forgotten by now."""
        for table in (self.open, self.rewarded):
            for key in [key for key, entry in table.items() if entry[1] < self.now - 100.0]:
                del table[key]
            while len(table) > LIMIT:
                del table[next(iter(table))]

    @property
    def playable(self) -> set[str]:
        return {name for name, arm in self.arms.items() if arm.active}

    @rule(reward=REWARDS)
    def pull_and_update(self, reward: Any) -> None:
        if not self.playable:
            with pytest.raises(RuntimeError, match="no arm is active"):
                self.agent.pull()
            return
        arm = self.agent.pull()
        assert arm in self.playable
        self.agent.update(arm, reward)
        self.arms[arm].rewards.append(float(reward))

    @rule(n=st.integers(0, 5), reward=REWARDS)
    def pull_and_update_many(self, n: int, reward: Any) -> None:
        if not self.playable:
            return
        arms = self.agent.pull_many(n)
        assert len(arms) == n
        assert set(arms) <= self.playable
        self.agent.update_many(arms, [reward] * n)
        for arm in arms:
            self.arms[arm].rewards.append(float(reward))

    @rule(name=NAMES, reward=REWARDS)
    def update_any(self, name: str, reward: Any) -> None:
        if name in self.arms:
            self.agent.update(name, reward)
            self.arms[name].rewards.append(float(reward))
        else:
            self.refuses(LookupError, self.agent.update, name, reward)

    @rule(target=decisions)
    def decide(self) -> Any:
        if not self.playable:
            return multiple()
        decision = self.agent.decide(probability=False)
        assert decision.arm in self.playable
        assert decision.id not in self.open
        assert decision.id not in self.rewarded
        self.forget()
        self.open[decision.id] = (decision.arm, self.now, self.arms[decision.arm])
        self.forget()
        return decision

    @rule(decision=decisions, reward=REWARDS)
    def reward(self, decision: Any, reward: Any) -> None:
        self.forget()
        if decision.id in self.open:
            name, _, arm = self.open.pop(decision.id)
            receipt = self.agent.reward(decision.id, reward)
            self.rewarded[decision.id] = (float(reward), self.now, receipt)
            self.forget()
            if self.arms.get(name) is arm:
                assert receipt is bl.Receipt.COUNTED
                arm.rewards.append(float(reward))
            else:
                assert receipt is bl.Receipt.ARM_REMOVED
        elif decision.id in self.rewarded:
            if self.rewarded[decision.id][0] == float(reward):
                again = self.agent.reward(decision.id, reward)
                learnt = self.rewarded[decision.id][2] is bl.Receipt.COUNTED
                assert again is (bl.Receipt.REPEATED if learnt else bl.Receipt.ARM_REMOVED)
            else:
                self.refuses(ValueError, self.agent.reward, decision.id, reward)
        else:
            self.refuses(LookupError, self.agent.reward, decision.id, reward)

    @rule(decision=consumes(decisions))
    def lose(self, decision: Any) -> None:
        """Nobody ever reports on this one."""

    @rule(seconds=st.floats(0.0, 60.0))
    def wait(self, seconds: float) -> None:
        self.now += seconds

    @rule(name=NAMES, again=st.booleans())
    def add_arm(self, name: str, again: bool) -> None:
        if name in self.arms or (name in self.removed and not again):
            self.refuses(ValueError, self.agent.add_arm, name, again=again)
            return
        self.agent.add_arm(name, {"fresh": True}, again=again)
        self.removed.discard(name)
        self.arms[name] = ModelArm()

    @rule(name=NAMES)
    def pause_or_resume(self, name: str) -> None:
        if name not in self.arms:
            self.refuses(LookupError, self.agent.pause_arm, name)
            return
        arm = self.arms[name]
        (self.agent.pause_arm if arm.active else self.agent.resume_arm)(name)
        arm.active = not arm.active

    @rule(name=NAMES)
    def remove_arm(self, name: str) -> None:
        if name not in self.arms:
            self.refuses(LookupError, self.agent.remove_arm, name)
            return
        self.agent.remove_arm(name)
        del self.arms[name]
        self.removed.add(name)

    @rule(bad=st.sampled_from([math.nan, math.inf, "1", None]))
    def bad_reward(self, bad: Any) -> None:
        for name in self.arms:
            self.refuses((TypeError, ValueError), self.agent.update, name, bad)

    @rule()
    def restart(self) -> None:
        before = self.agent.to_json()
        copy = bl.Agent.from_json(before, clock=lambda: self.now)
        assert copy.to_json() == before
        if self.playable:
            assert copy.pull_many(3) == self.agent.pull_many(3)
            assert copy.to_json() == self.agent.to_json()
        self.agent = copy

    @rule(rewards=st.dictionaries(NAMES, st.lists(st.floats(-100, 100), max_size=4), max_size=4))
    def merge(self, rewards: dict[str, list[float]]) -> None:
        other = bl.Agent(self.agent.policy, rewards, seed=1, maximize=self.agent.maximize)
        for name, values in rewards.items():
            other.update_many([name] * len(values), values)
            if name not in self.removed:
                self.arms.setdefault(name, ModelArm()).rewards.extend(values)
        self.agent.merge(other)

    def refuses(self, error: Any, call: Any, *args: Any, **kwargs: Any) -> None:
        """The call raises and the agent is what it was, bit for bit."""
        before = self.agent.to_json()
        with pytest.raises(error):
            call(*args, **kwargs)
        assert self.agent.to_json() == before

    @invariant()
    def agrees_with_the_model(self) -> None:
        if not hasattr(self, "agent"):
            return
        table = self.agent.summary()
        assert list(table.index) == list(self.arms)
        assert set(self.agent.paused) == set(self.arms) - self.playable
        for name, arm in self.arms.items():
            row = table.loc[name]
            assert row["pulls"] == len(arm.rewards)
            if arm.rewards:
                size = max(map(abs, arm.rewards))
                assert math.isclose(row["mean"], np.mean(arm.rewards), rel_tol=1e-9, abs_tol=1e-9 * size)
            if len(arm.rewards) > 1:
                expected = np.std(arm.rewards, ddof=1) / math.sqrt(len(arm.rewards))
                assert math.isclose(row["standard_error"], expected, rel_tol=1e-6, abs_tol=1e-9 * (1 + size))
        if self.playable:
            assert table["probability"].sum() == pytest.approx(1.0, abs=1e-9)
            assert (table["probability"][sorted(set(self.arms) - self.playable)] == 0.0).all()


AgentMachine.TestCase.settings = settings(
    max_examples=40, stateful_step_count=30, deadline=None, derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)  # fmt: skip
TestAgentMachine = AgentMachine.TestCase


@pytest.mark.fuzz
class TestAgentMachineAtLength(AgentMachine.TestCase):  # type: ignore[name-defined,misc]
    settings = settings(AgentMachine.TestCase.settings, max_examples=1000, stateful_step_count=60, derandomize=False)
