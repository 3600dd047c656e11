"""Clocks that jump, raise and return nonsense."""

from __future__ import annotations

import math
import random
from typing import Any

import bootleader as bl
from tests.agent.fuzzing.invariants import check

MAX_AGE = 100.0


class ClockError(Exception):
    """What a broken clock raises."""


class WildClock:
    """Goes on by small steps, jumps, and fails. ``elapsed`` adds up the steps forward: the time that has passed."""

    def __init__(self, rng: random.Random) -> None:
        self.rng, self.now, self.elapsed = rng, 1.7e9, 0.0
        self.failing = False

    def step(self) -> None:
        """Let time pass."""
        kind = self.rng.random()
        change = self.rng.uniform(0.0, 20.0)
        if kind < 0.1:
            change = -(10.0 ** self.rng.uniform(0.0, 8.0))
        elif kind < 0.12:
            change = 10.0 ** self.rng.uniform(2.0, 8.0)
        self.now += change
        self.elapsed += max(0.0, change)
        self.failing = self.rng.random() < 0.1

    def __call__(self) -> Any:
        if not self.failing:
            return self.now
        if self.rng.random() < 0.5:
            raise ClockError
        return self.rng.choice([math.nan, math.inf, "now", None, 10**400, 1e300])


def erratic_clocks(steps: int, seed: int) -> int:
    """Decide and reward by an erratic clock; return how many calls it failed.

    A decision is forgotten when the time that passed says so, no sooner and no later, and a call that the clock fails
    changes nothing.
    """
    rng = random.Random(seed)
    clock = WildClock(rng)
    agent = bl.Agent(bl.AdaptiveReBoot(), list("abc"), seed=seed, max_age=MAX_AGE, clock=clock)
    made: dict[str, float] = {}
    failed = 0
    for _ in range(steps):
        clock.step()
        fresh = [key for key, when in made.items() if when >= clock.elapsed - MAX_AGE]
        before = agent.to_json()
        try:
            if rng.random() < 0.5 or not fresh:
                decision = agent.decide(probability=False)
                made = {key: made[key] for key in fresh} | {decision.id: clock.elapsed}
                assert list(agent.open_decisions) == list(made)
            else:
                key = rng.choice(fresh)
                agent.reward(key, rng.gauss(0.0, 1.0))
                del made[key]
        except (ClockError, ValueError, TypeError):
            assert clock.failing
            failed += 1
            assert agent.to_json() == before
            clock.failing = False
            agent.open_decisions  # noqa: B018  (the clock is read, so that this step is not missed)
        check(agent, probabilities=False)
        if rng.random() < 0.02:  # saved and restored at a time that the wall clock calls earlier
            clock.failing = False
            clock.now -= rng.choice([0.0, 1e6])
            agent = bl.Agent.from_json(agent.to_json(), clock=clock)
            now = agent._ledger.now()
            ages = {key: now - decision.time for key, decision in agent._ledger.open.items()}
            assert all(age >= 0.0 for age in ages.values())
            made = {key: clock.elapsed - age for key, age in ages.items()}  # as far as two wall clocks agree
    return failed
