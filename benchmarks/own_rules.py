"""Laws and rules of the user's own: beside the same law built in, and beside the same policy as a Python class."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import bootleader as bl
from benchmarks.measuring import Measured

GAUSSIAN = bl.GaussianBandit(bl.Uniform(5, 7, arms=10))
CLICKS = bl.BernoulliBandit(bl.Uniform(0.2, 0.8, arms=10))


def own_law(params: Any, arm: Any, shared: Any) -> Any:
    s = arm.count
    return arm.mean, math.sqrt(arm.rss + 2.0 * (s + 2.0) * params[0] * params[0]) / (s + 2.0), math.inf


@dataclass(frozen=True, repr=False)
class OwnReBoot(bl.Policy):
    """ReBoot, written anew."""

    sigma_a: float = 1.5

    @property
    def rule(self) -> bl.IndexRule:
        return bl.IndexRule(own_law, bl.Noise.NORMAL, (float(self.sigma_a),))


class PythonBetaThompson:
    """As a user writes it with NumPy."""

    def start(self, arms, rng):
        self.rng, self.wins, self.losses = rng, np.ones(arms), np.ones(arms)

    def pull(self):
        return int(np.argmax(self.rng.beta(self.wins, self.losses)))

    def update(self, arm, reward):
        self.wins[arm] += reward
        self.losses[arm] += 1 - reward


class PythonIMED:
    """As a user writes it with NumPy."""

    def start(self, arms, rng):
        self.count, self.total = np.zeros(arms), np.zeros(arms)

    def pull(self):
        if (self.count == 0).any():
            return int(np.argmin(self.count))
        p = np.clip(self.total / self.count, 1e-12, 1 - 1e-12)
        q = p.max()
        divergence = p * np.log(p / q) + (1 - p) * np.log((1 - p) / (1 - q))
        return int(np.argmin(self.count * divergence + np.log(self.count)))

    def update(self, arm, reward):
        self.count[arm] += 1
        self.total[arm] += reward


class PythonRBSDA:
    """As a user writes it with NumPy."""

    def start(self, arms, rng):
        self.rng, self.history, self.queue = rng, [[] for _ in range(arms)], []

    def pull(self):
        for k, rewards in enumerate(self.history):
            if not rewards:
                return k
        if not self.queue:
            lead = int(np.argmax([len(rewards) for rewards in self.history]))
            ahead = np.array(self.history[lead])
            for k, rewards in enumerate(self.history):
                if k != lead:
                    first = self.rng.integers(len(ahead) - len(rewards) + 1)
                    if np.mean(rewards) > ahead[first : first + len(rewards)].mean():
                        self.queue.append(k)
            self.queue = self.queue or [lead]
        return self.queue.pop()

    def update(self, arm, reward):
        self.history[arm].append(reward)


PAIRS = ((bl.BetaThompson(), PythonBetaThompson()), (bl.IMED(), PythonIMED()), (bl.RBSDA(), PythonRBSDA()))


def seconds_a_run(policy: Any, bandit: Any, rounds: int, runs: int) -> float:
    return float(bl.simulate(policy, bandit, rounds=rounds, runs=runs, seed=1).seconds[0]) / runs


def measure(repeats: int) -> Iterator[Measured]:
    section = "Own laws and rules"
    own, built_in = [], []
    for _ in range(repeats):
        own.append(seconds_a_run(OwnReBoot(), GAUSSIAN, 5_000, 64))
        built_in.append(seconds_a_run(bl.ReBoot(sigma_a=1.5), GAUSSIAN, 5_000, 64))
    ratio = statistics.median(own) / statistics.median(built_in)
    yield Measured(section, "time of an own copy of ReBoot's law, times the library's", ratio, bar=1.15, at_most=True)
    reboot = statistics.median(seconds_a_run(bl.ReBoot(sigma_a=1.5), CLICKS, 5_000, 64) for _ in range(repeats))
    for ours, python in PAIRS:
        compiled, plain = [], []
        for _ in range(min(repeats, 5)):
            compiled.append(seconds_a_run(ours, CLICKS, 2_000, 8))
            plain.append(seconds_a_run(python, CLICKS, 2_000, 1))
        ratio = statistics.median(plain) / statistics.median(compiled)
        yield Measured(section, f"{ours}, faster than the same as a Python class (NumPy)", ratio, bar=50.0)
    for policy in (bl.KLUCB(), *(ours for ours, _ in PAIRS)):
        times = statistics.median(seconds_a_run(policy, CLICKS, 5_000, 8) for _ in range(min(repeats, 5))) / reboot
        yield Measured(section, f"time of {policy}, times ReBoot's", times)
