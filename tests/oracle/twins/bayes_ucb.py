"""Bayes-UCB from raw rewards, with SciPy's quantiles."""

from __future__ import annotations

import math

import numpy as np
from scipy import special

import bootleader as bl
from tests.oracle.case_types import PolicyCase
from tests.oracle.naive import ByIndex, Index
from tests.oracle.naive_bandits import Rng


def bayes_ucb(family: str, sd: float = 1.0) -> Index:
    def index(y: np.ndarray, rng: Rng, arm: int, t: int) -> float:
        tail, s, total = 1 / (t + 1), len(y), float(np.sum(y))
        if family == "bernoulli":
            return float(special.betainccinv(1 + total, 1 + s - total, tail))
        if family == "gaussian":
            return float(total / s - sd / math.sqrt(s) * special.ndtri(tail))
        if family == "exponential":
            return float(total / special.gammaincinv(s, tail))
        return float(special.gammainccinv(total + 0.5, tail) / s)

    return index


CASES = [
    PolicyCase(bl.BayesUCB(), ByIndex(bayes_ucb("bernoulli"), initial_pulls=0)),
    PolicyCase(bl.BayesUCB("gaussian", sd=0.6), ByIndex(bayes_ucb("gaussian", 0.6))),
    PolicyCase(bl.BayesUCB("exponential"), ByIndex(bayes_ucb("exponential")), bandit="exponential"),
    PolicyCase(bl.BayesUCB("poisson"), ByIndex(bayes_ucb("poisson"))),
]
