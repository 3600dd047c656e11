"""Random calls of every kind."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable
from typing import Any

import bootleader as bl

# What a call may raise: an arm or a decision that is not there, a value that does not fit, nothing to pull.
REFUSALS = (LookupError, ValueError, TypeError, RuntimeError)
REWARDS: tuple[Any, ...] = (
    0.0, 1.0, -1.0, 0.5, 1e-300, 5e-324, 1e9, 1e16, 1e100, -1e100, 1e60, 3, True, 1e101, float("nan"), "1", None,
)  # fmt: skip


def within(policy: Any, value: float) -> float:
    """The nearest reward that the policy takes."""
    low, high = policy.reward_range
    return float(min(max(value, low), high))


def reward(policy: Any, rng: random.Random) -> Any:
    """Mostly a plain reward; now and then an extreme or a bad one."""
    if rng.random() < 0.8:
        return within(policy, rng.gauss(0.0, 1.0) * 10.0 ** rng.choice([0, 0, 0, 3, -3]))
    return rng.choice(REWARDS)


def name(agent: bl.Agent, rng: random.Random) -> str:
    """Mostly an arm that is there."""
    known = agent._names
    return rng.choice(known) if known and rng.random() < 0.9 else rng.choice("abcxyz")


def some_id(agent: bl.Agent, rng: random.Random) -> str:
    """Mostly a decision that is open."""
    ids = list(agent._ledger.open) if rng.random() < 0.8 else list(agent._ledger.rewarded)
    return rng.choice(ids[:50]) if ids else "0123456789ab-1"


def random_call(agent: bl.Agent, rng: random.Random, *, reads: bool = True) -> Callable[[bl.Agent], Any]:
    """A call with its arguments, to be made on this agent or on a copy of it."""
    arm, other, value, key = name(agent, rng), name(agent, rng), reward(agent.policy, rng), some_id(agent, rng)
    n = rng.randrange(5)
    seed = rng.getrandbits(32)
    changes: list[Callable[[bl.Agent], Any]] = [
        lambda a: a.pull(),
        lambda a: a.pull(),
        lambda a: a.update(arm, value),
        lambda a: a.update(arm, value),
        lambda a: a.pull_many(n),
        lambda a: a.update_many([arm, other, arm], [value, 1.0, within(a.policy, 2.0)]),
        lambda a: a.decide(probability=False, unit="abc"[n % 3]),
        lambda a: a.decide(probability=False, unit=arm),
        lambda a: a.decide(arm=arm, probability=0.5),
        lambda a: a.learn_summary(other, n, 0.5, float(n > 1)),
        lambda a: a.reward(key, value),
        lambda a: a.reward(key, 0.25),
        lambda a: a.add_arm(rng_name(seed), {"n": [n]}, again=n > 2),
        lambda a: a.pause_arm(arm),
        lambda a: a.resume_arm(arm),
        lambda a: a.remove_arm(arm),
        lambda a: a.merge(small_agent(a, arm, seed)),
    ]
    if reads and rng.random() < 0.1:
        return rng.choice(
            [lambda a: a.probabilities(), lambda a: repr(a), lambda a: a.decide(unit="d"), lambda a: a.to_json()]
        )
    return rng.choice(changes)


def rng_name(seed: int) -> str:
    """One of a few names, so that some of them are in use and some removed."""
    return "abcdefgh"[seed % 8]


def small_agent(agent: bl.Agent, arm: str, seed: int) -> bl.Agent:
    """Another agent to merge."""
    noise_sd = agent.policy.parameters.get("noise_sd")
    if isinstance(noise_sd, tuple):
        raise ValueError("its policy has one noise sd per arm")
    options: dict[str, Any] = {"maximize": agent.maximize, "half_life": agent.half_life, "traffic": agent.traffic}
    names = dict.fromkeys([arm, rng_name(seed)])
    if agent.traffic is not None and agent.traffic.holdout:
        names[agent.traffic.control] = None
    other = bl.Agent(agent.policy, names, seed=seed, **options)
    other.update_many([arm] * 3, [0.0, 1.0, within(agent.policy, float(seed % 7))])
    return other


def make_calls(agent: bl.Agent, rng: random.Random, calls: int) -> None:
    """Make random calls. Whatever they raise is a documented refusal."""
    for _ in range(calls):
        call = random_call(agent, rng)
        with contextlib.suppress(*REFUSALS):
            call(agent)
