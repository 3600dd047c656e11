"""Agents of every kind, after every kind of call."""

from __future__ import annotations

import random
from typing import Any

import bootleader as bl
from bootleader.agent._validation import ANY_REWARD
from tests.agent.fuzzing.calls import make_calls, within

POLICIES: tuple[Any, ...] = (
    bl.AdaptiveReBoot(),
    bl.ReBoot(sigma_a=1.5),
    bl.ResidualBootstrap(),
    bl.StudentThompson(),
    bl.ThompsonSampling(),
    bl.ThompsonSampling(prior_sd=float("inf"), noise_sd=0.5),
    bl.PHE(),
    bl.UCB1(),
    bl.FollowTheLeader(),
    bl.EpsilonGreedy(0.2),
    bl.KLUCB(),
    bl.Giro(),
    bl.ReBoot(sigma_a=1.0, weights="mammen"),
)
TRAFFIC = (
    bl.Traffic(floor=0.001),
    bl.Traffic(floor=0.001, ramp=bl.Ramp(0.2, rewards=5)),
    bl.Traffic(holdout=0.3, control="a", sticky=True, ramp=0.3),
)
INDEX_POLICIES = POLICIES[:-2]


class Clock:
    """A clock that a test sets."""

    def __init__(self, now: float = 1000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def sample_agent(rng: random.Random, *, arms: int | None = None, policy: Any = None) -> bl.Agent:
    """An agent after some calls."""
    policy = rng.choice(POLICIES) if policy is None else policy
    half_life = rng.choice([None, None, 5.0, 100.0]) if policy in INDEX_POLICIES else None
    names = [f"arm {k}" for k in range(arms)] if arms else list("abcd")[: rng.randint(1, 4)]
    traffic = rng.choice(TRAFFIC) if rng.random() < 0.4 and not arms else None
    seed, maximize = rng.getrandbits(64), rng.random() < 0.7 or policy.reward_range != ANY_REWARD
    agent = bl.Agent(
        policy, names, seed=seed, maximize=maximize, half_life=half_life, traffic=traffic,
        max_open=rng.choice([2, 6, 1000]), max_age=100.0, clock=Clock(),
    )  # fmt: skip
    if arms:
        for _ in range(3):
            agent.update_many(names, [within(policy, rng.gauss(0.0, 1.0)) for _ in names])
    make_calls(agent, rng, rng.choice([0, 3, 20, 60]))
    return agent
