"""Contextual policies in NumPy, from all rows, with no code of the library but its random streams.

AdaptiveLinReBoot is in naive_adaptive_linear.py, the baselines of the LinReBoot paper in naive_published_linear.py.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bootleader._core.rng import Purpose, Stream, below, next_word, run_stride, stream_state
from bootleader._core.sampling import finish_normal, standard_normal


class NaiveLinear:
    """What the twins share: all rows of every model, and the leader with ties broken at random."""

    def __init__(self, arms: int, dimension: int, disjoint: bool, seed: int, run: int, lam: float) -> None:
        self.arms, self.d, self.disjoint, self.lam = arms, dimension, disjoint, lam
        self.rows: list[list[Any]] = [[] for _ in range(arms if disjoint else 1)]
        self.own: list[list[float]] = [[] for _ in range(arms)]
        stride = int(run_stride(seed, run))
        self.noise = Stream([int(stream_state(seed, run, int(Purpose.NOISE), 0))], 0, stride)
        self.spare = Stream([int(stream_state(seed, run, int(Purpose.SPARE), 0))], 0, stride)
        self.waiting: list[int] = []

    def normal(self) -> float:
        return float(finish_normal(next_word(self.noise), self.spare))

    def model(self, k: int) -> int:
        return k if self.disjoint else 0

    def features(self, shown: Any, k: int) -> Any:
        return shown if self.disjoint else shown[k]

    def fit(self, k: int) -> tuple[Any, Any]:
        """Ridge coefficients and V."""
        v, total = self.lam * np.eye(self.d), np.zeros(self.d)
        for x, y in self.rows[self.model(k)]:
            v = v + np.outer(x, x)
            total = total + y * x
        return np.linalg.solve(v, total), v

    def pull(self, shown: Any) -> int:
        if self.waiting:
            place = int(below(self.spare, len(self.waiting)))
            arm = self.waiting[place]
            self.waiting[place] = self.waiting[-1]
            self.waiting.pop()
            return arm
        indices = self.indices(shown)
        tied = [k for k in range(self.arms) if indices[k] == max(indices)]
        return tied[0] if len(tied) == 1 else tied[int(below(self.spare, len(tied)))]

    def update(self, arm: int, shown: Any, reward: float) -> None:
        self.rows[self.model(arm)].append((np.array(self.features(shown, arm)), reward))
        self.own[arm].append(reward)

    def indices(self, shown: Any) -> list[float]:
        raise NotImplementedError


class NaiveLinUCB(NaiveLinear):
    alpha = 1.0

    def indices(self, shown: Any) -> list[float]:
        found = []
        for k in range(self.arms):
            (theta, v), x = self.fit(k), self.features(shown, k)
            found.append(float(x @ theta + self.alpha * math.sqrt(x @ np.linalg.solve(v, x))))
        return found


class NaiveLinThompson(NaiveLinear):
    noise_sd = 1.0

    def indices(self, shown: Any) -> list[float]:
        if self.disjoint:
            found = []
            for k in range(self.arms):
                theta, v = self.fit(k)
                sd = self.noise_sd * math.sqrt(shown @ np.linalg.solve(v, shown))
                found.append(float(shown @ theta + sd * self.normal()))
            return found
        theta, v = self.fit(0)
        normals = np.array([self.normal() for _ in range(self.d)])
        drawn = theta + self.noise_sd * np.linalg.solve(np.linalg.cholesky(v).T, normals)
        return [float(x @ drawn) for x in shown]


class NaiveLinReBoot(NaiveLinear):
    sd_weights = 0.3

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.waiting = list(range(self.arms))

    def indices(self, shown: Any) -> list[float]:
        found = []
        for k in range(self.arms):
            theta, _ = self.fit(k)
            mean, own = float(self.features(shown, k) @ theta), np.array(self.own[k])
            sd = self.sd_weights * math.sqrt(((own - mean) ** 2).sum()) / len(own)
            found.append(mean + sd * self.normal())
        return found


class NaiveLinPHE(NaiveLinThompson):
    """A perturbation with the covariance of the sum of (pseudo rewards) x over all rows and the ridge's own."""

    a, low, high = 0.5, -1.0, 2.0

    def indices(self, shown: Any) -> list[float]:
        self.noise_sd = math.sqrt(self.a * np.var([self.low, self.high]))
        return super().indices(shown)


class NaiveLinGiro(NaiveLinear):
    """All rows, each followed by its pseudo rewards, in one list that is sampled with replacement."""

    a, low, high = 2, -1.0, 2.0

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.waiting = list(range(self.arms))

    def padded(self, m: int) -> Any:
        return [(x, value) for x, y in self.rows[m] for value in [y, *[self.high, self.low] * self.a]]

    def sampled(self, m: int) -> Any:
        padded = self.padded(m)
        sample = [padded[int(below(self.noise, len(padded)))] for _ in padded]
        if not sample:
            return np.zeros(self.d)
        x, y = np.array([row for row, _ in sample]), np.array([value for _, value in sample])
        return np.linalg.solve(self.lam * np.eye(self.d) + x.T @ x, x.T @ y)

    def indices(self, shown: Any) -> list[float]:
        drawn = [self.sampled(m) for m in range(len(self.rows))]
        return [float(self.features(shown, k) @ drawn[self.model(k)]) for k in range(self.arms)]


class NaiveLinMultiplierBootstrap(NaiveLinear):
    """All rows with all their weights."""

    pseudo, sd, low, high, replicates = 0.5, 0.5, -1.0, 2.0, 7

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.waiting = list(range(self.arms))
        self.weights: list[list[Any]] = [[] for _ in self.rows]

    def update(self, arm: int, shown: Any, reward: float) -> None:
        super().update(arm, shown, reward)
        drawn = [1.0 + self.sd * float(standard_normal(self.noise)) for _ in range(3 * self.replicates)]
        self.weights[self.model(arm)].append(np.array(drawn).reshape(self.replicates, 3))

    def indices(self, shown: Any) -> list[float]:
        drawn = []
        for rows, weights in zip(self.rows, self.weights, strict=True):
            replicate = int(below(self.noise, self.replicates))
            x, y = np.array([row for row, _ in rows]), np.array([reward for _, reward in rows])
            own, high, low = np.array([weight[replicate] for weight in weights]).T
            gram = (x.T * (own + self.pseudo * (high + low))) @ x + self.lam * np.eye(self.d)
            drawn.append(np.linalg.solve(gram, x.T @ (own * y + self.pseudo * (self.high * high + self.low * low))))
        return [float(self.features(shown, k) @ drawn[self.model(k)]) for k in range(self.arms)]
