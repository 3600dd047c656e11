"""Extreme states, by way of documents: whatever a document may say, probabilities are probabilities."""

from __future__ import annotations

import json
import math
import random
from typing import Any
from unittest import mock

import bootleader as bl
from bootleader.agent._validation import ANY_REWARD
from tests.agent.fuzzing.calls import within
from tests.agent.fuzzing.documents import with_checksum
from tests.agent.fuzzing.invariants import check_probabilities
from tests.agent.fuzzing.samples import POLICIES, Clock

MOMENTS = ("count", "rewards", "anchor", "drift", "rss", "third", "fourth")


def extreme_policy(rng: random.Random, policy: Any) -> Any:
    """The policy, its scale parameters replaced by extreme ones now and then."""
    if rng.random() < 0.6:
        return policy
    size = 10.0 ** rng.uniform(-79.0, 119.0)
    match policy:
        case bl.ReBoot():
            return bl.ReBoot(sigma_a=size, weights=policy.weights)
        case bl.AdaptiveReBoot():
            return bl.AdaptiveReBoot(ratio=min(size, 1e50))
        case bl.ThompsonSampling():
            return bl.ThompsonSampling(prior_mean=rng.choice([0.0, size, -size]), prior_sd=policy.prior_sd)
        case bl.UCB1():
            return bl.UCB1(sd=size)
        case bl.PHE():
            return bl.PHE(a=10.0 ** rng.uniform(-6.0, 6.0))
        case bl.Giro():
            return bl.Giro(a=10.0 ** rng.uniform(-6.0, 1.0))
    return policy


def size(rng: random.Random, low: float, high: float) -> float:
    """A number of either sign, or zero; small ones and extreme ones."""
    if rng.random() < 0.2:
        return 0.0
    exponent = rng.uniform(low, high) if rng.random() < 0.5 else rng.uniform(-3.0, 3.0)
    return rng.choice([-1.0, 1.0]) * 10.0**exponent


def extreme_arm(rng: random.Random, policy: Any) -> dict[str, Any]:
    """The state of one arm."""
    needed, fourth_moment = policy.rule.initial_pulls, policy.rule.fourth_moment
    high = 64.0 if fourth_moment else 99.0
    count = max(needed, 1, int(2.0 ** (rng.uniform(0.0, 12.0) if rng.random() < 0.97 else rng.uniform(0.0, 49.0))))
    anchor = within(policy, size(rng, -320.0, high))
    drift = 0.0 if count == 1 else rng.choice([0.0, anchor * 1e-16, size(rng, -320.0, high)])
    drift = within(policy, anchor + drift) - anchor if policy.reward_range != ANY_REWARD else drift
    rss = 0.0 if count == 1 else abs(size(rng, -320.0, 2.0 * high + 1.0))
    noise_sd = 10.0 ** rng.uniform(-79.0, 119.0) if rng.random() < 0.3 else 1.0
    moments = {"count": float(count), "rewards": count, "anchor": anchor, "drift": drift, "rss": rss}
    if fourth_moment:
        moments["fourth"] = rss * (rss / rng.uniform(1.0, count))
        moments["third"] = rng.uniform(-1.0, 1.0) * math.sqrt(rss) * math.sqrt(moments["fourth"])
    return {**moments, "noise_sd": noise_sd, "last": 0}


def extreme_index_agent(rng: random.Random, policy: Any) -> bl.Agent:
    """An agent of an index policy in a state that rewards could have led to, however unlikely."""
    names = [str(k) for k in range(rng.randint(1, 6))]
    agent = bl.Agent(policy, names, seed=rng.getrandbits(64), clock=Clock())
    body = json.loads(agent.to_json())
    body.pop("checksum")
    twins = rng.random() < 0.2
    for arm in body["arms"]:
        arm.update(extreme_arm(rng, policy))
        if twins:
            arm.update({key: value for key, value in body["arms"][0].items() if key in MOMENTS})
    body["rounds"] = sum(arm["rewards"] for arm in body["arms"])
    body["initial"] = []
    stale = rng.random() < 0.5
    variance = 0.0 if rng.random() < 0.1 else abs(size(rng, -320.0, 199.0))
    body["index"] = {"stale": stale, "variance": variance, "pooled_at": body["rounds"], "tree": None}
    if policy.rule.fourth_moment:
        body["index"]["kurtosis"] = 10.0 ** rng.uniform(0.0, 12.0)
    return bl.Agent.from_json(with_checksum(body), clock=Clock())


def extreme_history_agent(rng: random.Random, policy: Any) -> bl.Agent:
    """An agent of a history policy after extreme rewards."""
    names = [str(k) for k in range(rng.randint(1, 4))]
    agent = bl.Agent(policy, names, seed=rng.getrandbits(64), clock=Clock())
    for name in names:
        for _ in range(rng.choice([1, 2, 5, 40])):
            agent.update(name, size(rng, -320.0, 99.0))
    return agent


def extreme_states(count: int, seed: int, policy: Any) -> int:
    """Check so many extreme states of a policy; return how many there were."""
    rng = random.Random(seed)
    with mock.patch("bootleader.agent._probabilities.MOST_DRAWS", 5):
        for _ in range(count):
            played = extreme_policy(rng, policy)
            make = extreme_history_agent if policy in POLICIES[-2:] else extreme_index_agent
            agent = make(rng, played)
            try:
                check_probabilities(agent)
                agent.pull_many(3)
                largest = 64.0 if getattr(played.rule, "fourth_moment", False) else 99.0
                agent.update(agent.pull(), within(played, size(rng, -320.0, largest)))
                check_probabilities(agent)
            except BaseException:
                print(agent.to_json())
                raise
    return count
