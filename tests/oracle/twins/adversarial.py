"""Exp3 and Tsallis-INF, from the choices and rewards so far."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

import bootleader as bl
from tests.oracle.case_types import PolicyCase
from tests.oracle.naive import History
from tests.oracle.naive_bandits import Rng


@dataclass
class FromProbabilities:
    """Choices with probabilities; the reward of the last choice is passed on to ``update``."""

    initial_pulls: int = field(default=0, init=False)
    last: int = field(default=0, init=False)
    chances: np.ndarray = field(default_factory=lambda: np.zeros(0), init=False)

    def choose(self, history: History, rng: Rng) -> int:
        if sum(map(len, history)) == 0:
            self.start(len(history))
        else:
            self.update(history[self.last][-1])
        self.chances = self.probabilities()
        self.last = int(rng.choice(len(history), p=self.chances / self.chances.sum()))
        return self.last

    def start(self, arms: int) -> None:
        raise NotImplementedError

    def update(self, reward: float) -> None:
        raise NotImplementedError

    def probabilities(self) -> np.ndarray:
        raise NotImplementedError


@dataclass
class NaiveExp3(FromProbabilities):
    rate: float = 0.1

    def start(self, arms: int) -> None:
        self.weights = np.ones(arms)

    def update(self, reward: float) -> None:
        self.weights[self.last] *= math.exp(self.rate / len(self.weights) * reward / self.chances[self.last])

    def probabilities(self) -> np.ndarray:
        return (1 - self.rate) * self.weights / self.weights.sum() + self.rate / len(self.weights)


@dataclass
class NaiveTsallisINF(FromProbabilities):
    """The normalisation by bisection."""

    reduced_variance: bool = False

    def start(self, arms: int) -> None:
        self.losses, self.t = np.zeros(arms), 0

    def rate(self) -> float:
        return (4 if self.reduced_variance else 2) / math.sqrt(self.t)

    def update(self, reward: float) -> None:
        baseline = np.where(self.chances >= self.rate() ** 2, 0.5, 0.0) if self.reduced_variance else 0 * self.losses
        self.losses = self.losses + baseline
        self.losses[self.last] += (1 - reward - baseline[self.last]) / self.chances[self.last]

    def probabilities(self) -> np.ndarray:
        self.t += 1
        rate, losses = self.rate(), self.losses.tolist()
        low, high = min(losses) - 2 * math.sqrt(len(losses)) / rate, min(losses)
        for _ in range(40):
            middle = (low + high) / 2
            if sum(4 / (rate * (loss - middle)) ** 2 for loss in losses) > 1:
                high = middle
            else:
                low = middle
        return 4 / (rate * (self.losses - low)) ** 2


CASES = [
    PolicyCase(bl.Exp3(rate=0.2), NaiveExp3(0.2), bandit="bernoulli"),
    PolicyCase(bl.TsallisINF(), NaiveTsallisINF(), bandit="bernoulli"),
    PolicyCase(bl.TsallisINF(reduced_variance=True), NaiveTsallisINF(True), bandit="bernoulli"),
]
