"""Top-two Thompson sampling and successive rejects from raw rewards."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

import bootleader as bl
from tests.oracle.case_types import PolicyCase
from tests.oracle.naive import History, initial_arm, mean
from tests.oracle.naive_bandits import Rng


@dataclass
class NaiveTopTwoThompson:
    """Draws until another arm is the best."""

    beta: float
    noise_sd: float
    initial_pulls: int = 1

    def choose(self, history: History, rng: Rng) -> int:
        first = initial_arm(history, 1, rng)
        if first is not None:
            return first
        best = self.best(history, rng)
        if rng.random() < self.beta:
            return best
        other = best
        while other == best:
            other = self.best(history, rng)
        return other

    def best(self, history: History, rng: Rng) -> int:
        return int(np.argmax([rng.normal(sum(y) / len(y), self.noise_sd / math.sqrt(len(y))) for y in history]))


@dataclass
class NaiveSuccessiveRejects:
    """The pulls so far are those of the phases before; whom they rejected follows from the rewards."""

    horizon: int
    initial_pulls: int = 0

    def choose(self, history: History, rng: Rng) -> int:
        arms = len(history)
        log_bar = 0.5 + sum(1 / i for i in range(2, arms + 1))
        left = list(range(arms))
        for phase in range(1, arms):
            pulls = math.ceil((self.horizon - arms) / (log_bar * (arms + 1 - phase)))
            short = [k for k in left if len(history[k]) < pulls]
            if short:
                fewest = min(len(history[k]) for k in short)
                return next(k for k in short if len(history[k]) == fewest)
            worst = min(mean(history[k][:pulls]) for k in left)
            tied = [k for k in left if mean(history[k][:pulls]) == worst]
            left.remove(tied[0])
        return left[0]


CASES = [
    PolicyCase(bl.TopTwoThompson(0.6, 1.5), NaiveTopTwoThompson(0.6, 1.5)),
    PolicyCase(bl.SuccessiveRejects(horizon=70), NaiveSuccessiveRejects(70)),
]
