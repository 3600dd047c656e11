"""A shop whose visitors have contexts, for the tests of agents with features."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import bootleader as bl
from bootleader.policies import CONTEXTUAL_POLICIES

FEATURES = bl.Features(device=["mobile", "desktop"], visits=float, member=bool)
VISIT = {"device": "mobile", "visits": 3, "member": False}
NAMES = ["short", "long", "video"]
PLAYED = [policy for policy in CONTEXTUAL_POLICIES if isinstance(policy.rule, bl.LinearRule)]


each_policy = pytest.mark.parametrize("policy", PLAYED, ids=str)


def visits(seed: int) -> Any:
    """Visitors without end."""
    rng = np.random.default_rng(seed)
    while True:
        device = ("mobile", "desktop")[int(rng.integers(2))]
        yield {"device": device, "visits": float(rng.integers(9)), "member": bool(rng.integers(2))}


def mean(arm: str, visit: Any) -> float:
    """Short pages for phones, long pages for desktops."""
    fits = (arm == "short") == (visit["device"] == "mobile")
    return 1.0 * fits + 0.1 * visit["visits"] if arm != "video" else 0.6


def make(policy: Any, **options: Any) -> Any:
    agent = bl.Agent(policy, NAMES, **{"features": FEATURES, "seed": 4, **options})
    assert isinstance(agent, bl.ContextualAgent)
    return agent


def play(agent: Any, rounds: int, seed: int = 1) -> list[str]:
    noise, stream, chosen = np.random.default_rng(seed), visits(seed), []
    for _ in range(rounds):
        visit = next(stream)
        chosen.append(agent.pull(visit))
        agent.update(chosen[-1], mean(chosen[-1], visit) + 0.5 * noise.normal(), visit)
    return chosen


def contents(agent: Any) -> Any:
    """Its document without the checksum."""
    return {key: value for key, value in json.loads(agent.to_json()).items() if key not in ("checksum",)}
