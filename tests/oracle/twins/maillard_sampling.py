"""Maillard sampling from raw rewards."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

import bootleader as bl
from tests.oracle.case_types import PolicyCase
from tests.oracle.naive import History, divergence, initial_arm, mean
from tests.oracle.naive_bandits import Rng


@dataclass
class NaiveMaillard:
    """A choice with probabilities exp(-s d(Ybar, max Ybar)) / sum."""

    family: str
    sd: float = 1.0
    initial_pulls: int = 1

    def choose(self, history: History, rng: Rng) -> int:
        first = initial_arm(history, 1, rng)
        if first is not None:
            return first
        chances = np.array([math.exp(-len(y) * self.evidence(history, y)) for y in history])
        return int(rng.choice(len(history), p=chances / chances.sum()))

    def evidence(self, history: History, y: list[float]) -> float:
        own, best = mean(y), max(mean(z) for z in history)
        if own == best:
            return 0.0
        return math.inf if self.family == "bernoulli" and best == 1 else divergence(self.family, self.sd, own, best)


CASES = [
    PolicyCase(bl.MaillardSampling(sd=0.7), NaiveMaillard("gaussian", 0.7)),
    PolicyCase(bl.KLMaillardSampling(), NaiveMaillard("bernoulli")),
]
