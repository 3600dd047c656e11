"""An agent's moments far from zero and over many updates, and those of merged agents."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import bootleader as bl
from tests.helpers import COLOURS, agent_of, exact_moments
from tests.oracle.cases import POLICY_CASES


def test_moments_stay_right_far_from_zero() -> None:
    rng = np.random.default_rng(1)
    rewards = (1e9 + rng.normal(size=20_000)).tolist()
    agent = agent_of(bl.ReBoot(sigma_a=1.5), ["only"])
    agent.update_many(["only"] * len(rewards), rewards)
    _, mean, rss = exact_moments(rewards)
    arm = agent._learner.arms[0]
    assert abs(float(Fraction(arm.anchor) + Fraction(arm.drift) - mean)) < 1e-6
    assert abs(float(Fraction(arm.rss) / rss - 1)) < 1e-6


@pytest.mark.slow
def test_moments_stay_right_over_ten_million_updates() -> None:
    """Exact arithmetic in whole multiples of 2^-22, of which all rewards around 1e9 consist."""
    rng = np.random.default_rng(1)
    agent = agent_of(bl.ReBoot(sigma_a=1.5), ["only"])
    unit, base, count, total, squares = 2**22, 10**9, 0, 0, 0
    for _ in range(100):
        rewards = base + np.round(rng.normal(size=100_000) * unit) / unit
        steps = [int(step) for step in (rewards - base) * unit]
        agent.update_many(["only"] * len(rewards), rewards.tolist())
        count, total, squares = count + len(steps), total + sum(steps), squares + sum(step * step for step in steps)
    mean = Fraction(total, count * unit) + base
    rss = (Fraction(squares) - Fraction(total * total, count)) / unit**2
    arm = agent._learner.arms[0]
    error = abs(float(Fraction(arm.anchor) + Fraction(arm.drift) - mean))
    relative = abs(float(Fraction(arm.rss) / rss - 1))
    print(f"after {count} updates: mean off by {error:.3g} sd, RSS by {relative:.3g}")
    assert count == 10**7
    assert error < 1e-6
    assert relative < 1e-6


@pytest.mark.parametrize("case", POLICY_CASES, ids=lambda case: case.id)
def test_merging_adds_up_in_any_order(case: Any) -> None:
    rng = np.random.default_rng(2)
    parts = []
    for part in range(3):
        agent = agent_of(case.policy, seed=part)
        for k, arm in enumerate(COLOURS):
            rewards = 1e3 + rng.normal(k, 1.0 + k, size=20 + 10 * part)
            agent.update_many([arm] * len(rewards), rewards)
        parts.append(agent.to_json())
    tables = []
    for order in [(0, 1, 2), (2, 1, 0), (1, 2, 0)]:
        agents = [bl.Agent.from_json(parts[k]) for k in order]
        agents[0].merge(agents[1])
        agents[0].merge(agents[2])
        tables.append([agents[0]._learner.state_now(slot) for slot in range(3)])
    for table in tables[1:]:
        for one, other in zip(tables[0], table, strict=True):
            assert one.count == other.count == 90.0
            assert one.mean == pytest.approx(other.mean, rel=1e-12)
            assert one.rss == pytest.approx(other.rss, rel=1e-12)
            assert (one.third, one.fourth) == pytest.approx((other.third, other.fourth), rel=1e-11)
            assert np.allclose(
                sorted(value + one.anchor for value in one.history),
                sorted(value + other.anchor for value in other.history),
                rtol=1e-12,
            )


def test_merging_is_learning_it_all_in_one_place() -> None:
    here, there, whole = agent_of(), agent_of(arms=["red", "gold", "gone"]), agent_of(arms=[*COLOURS, "gold"])
    here.add_arm("gone")
    here.remove_arm("gone")
    there.pause_arm("gold")
    rng = np.random.default_rng(3)
    for agent, arms in [(here, COLOURS), (there, ["red", "gold"])]:
        for arm in arms * 10:
            reward = rng.normal()
            agent.update(arm, reward)
            whole.update(arm, reward)
    there.update("gone", 1.0)
    here.merge(there)
    assert list(here.arms) == [*COLOURS, "gold"]
    assert here.paused == ["gold"]
    np.testing.assert_allclose(
        here.summary()[["pulls", "mean", "standard_error"]], whole.summary()[["pulls", "mean", "standard_error"]]
    )
    for name in here.arms:
        one, other = (agent._learner.state_now(agent._slots[name]) for agent in (here, whole))
        assert (one.third, one.fourth) == pytest.approx((other.third, other.fourth), rel=1e-9)
        assert one.fourth > 0.0
    assert here.pull() in COLOURS
