"""The multiplier bootstrap, ensemble sampling and bootstrapped UCB from raw rewards."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

import bootleader as bl
from tests.oracle.case_types import PolicyCase
from tests.oracle.naive import ByIndex, History, Index, initial_arm, leader, mean
from tests.oracle.naive_bandits import Rng


@dataclass
class NaiveMultiplierBootstrap:
    """Every reward has three weights in each replicate, drawn when it is first seen."""

    lam: float
    sd_weights: float
    replicates: int
    initial_pulls: int = 1
    weights: list[list[np.ndarray]] = field(default_factory=list, init=False)

    def choose(self, history: History, rng: Rng) -> int:
        if sum(map(len, history)) == 0:
            self.weights = [[] for _ in history]
        for k, rewards in enumerate(history):
            for _ in rewards[len(self.weights[k]) :]:
                self.weights[k].append(rng.normal(1, self.sd_weights, (self.replicates, 3)))
        first = initial_arm(history, 1, rng)
        if first is not None:
            return first
        one = rng.integers(self.replicates)
        return leader([self.index(y, [w[one] for w in ws]) for y, ws in zip(history, self.weights, strict=True)], rng)

    def index(self, y: list[float], weights: list[np.ndarray]) -> float:
        top = sum(
            w[0] * reward + self.lam * w[1] * 1 + self.lam * w[2] * 0 for reward, w in zip(y, weights, strict=True)
        )
        return float(top / sum(w[0] + self.lam * w[1] + self.lam * w[2] for w in weights))


@dataclass
class NaiveEnsembleSampling:
    """Every model has a prior draw for each arm and a noise for each reward."""

    models: int
    prior_mean: float
    prior_sd: float
    noise_sd: float
    initial_pulls: int = 0
    prior: np.ndarray = field(default_factory=lambda: np.zeros(0), init=False)
    noises: list[list[np.ndarray]] = field(default_factory=list, init=False)

    def choose(self, history: History, rng: Rng) -> int:
        if sum(map(len, history)) == 0:
            self.prior = rng.normal(self.prior_mean, self.prior_sd, (len(history), self.models))
            self.noises = [[] for _ in history]
        for k, rewards in enumerate(history):
            for _ in rewards[len(self.noises[k]) :]:
                self.noises[k].append(rng.normal(0, self.noise_sd, self.models))
        one = rng.integers(self.models)
        return leader([self.posterior_mean(k, y, one) for k, y in enumerate(history)], rng)

    def posterior_mean(self, k: int, y: list[float], one: int) -> float:
        perturbed = sum(reward + noise[one] for reward, noise in zip(y, self.noises[k], strict=True))
        precision = 1 / self.prior_sd**2 + len(y) / self.noise_sd**2
        return float((self.prior[k, one] / self.prior_sd**2 + perturbed / self.noise_sd**2) / precision)


def bootstrapped_ucb(delta: float, sd: float, replicates: int, theorem: bool = False) -> Index:
    """As published: all weights are drawn anew for every index."""

    def index(y: np.ndarray, rng: Rng, arm: int, t: int) -> float:
        alpha, s = 1 / (t + 2), len(y)
        means = (rng.integers(2, size=(replicates, s)) * 2 - 1) @ (y - mean(y)) / s
        quantile = np.sort(means)[::-1][math.floor(alpha * (1 - delta) * replicates)]
        correction = math.sqrt((math.log(2 / (alpha * delta)) if theorem else 1) / s)
        return float(mean(y) + quantile + correction * sd * math.sqrt(2 * math.log(1 / alpha) / s))

    return index


CASES = [
    PolicyCase(bl.MultiplierBootstrap(0.7, 0.4, 6), NaiveMultiplierBootstrap(0.7, 0.4, 6), bandit="bernoulli"),
    PolicyCase(bl.EnsembleSampling(4, 0.3, 0.8, 0.6), NaiveEnsembleSampling(4, 0.3, 0.8, 0.6)),
    PolicyCase(bl.BootstrappedUCB(sd=0.5, replicates=70), ByIndex(bootstrapped_ucb(0.1, 0.5, 70))),
    PolicyCase(
        bl.BootstrappedUCB(delta=0.3, sd=0.2, replicates=20, correction="theorem"),
        ByIndex(bootstrapped_ucb(0.3, 0.2, 20, theorem=True)),
    ),
]
