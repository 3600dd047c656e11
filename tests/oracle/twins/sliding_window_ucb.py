"""UCB on a sliding window, from the list of all choices and rewards."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import bootleader as bl
from tests.oracle.case_types import PolicyCase
from tests.oracle.naive import History, initial_arm, leader, mean
from tests.oracle.naive_bandits import Rng


@dataclass
class NaiveSlidingWindowUCB:
    window: int
    b: float = 1.0
    xi: float = 0.6
    initial_pulls: int = 1
    log: list[tuple[int, float]] = field(default_factory=list, init=False)

    def choose(self, history: History, rng: Rng) -> int:
        pulls = sum(map(len, history))
        self.log = self.log if pulls else []
        for k, rewards in enumerate(history):
            if len(rewards) > sum(arm == k for arm, _ in self.log):
                self.log.append((k, rewards[-1]))
        first = initial_arm(history, 1, rng)
        return first if first is not None else leader([self.index(k) for k in range(len(history))], rng)

    def index(self, k: int) -> float:
        recent = [reward for arm, reward in self.log[-self.window :] if arm == k]
        if not recent:
            return math.inf
        exploration = self.xi * math.log(min(len(self.log), self.window))
        return mean(recent) + self.b * math.sqrt(exploration / len(recent))


CASES = [
    PolicyCase(bl.SlidingWindowUCB(window=25), NaiveSlidingWindowUCB(25), bandit="bernoulli"),
    PolicyCase(bl.SlidingWindowUCB(window=40, b=0.5, xi=1.0), NaiveSlidingWindowUCB(40, 0.5, 1.0)),
]
