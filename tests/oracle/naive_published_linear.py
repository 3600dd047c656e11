"""The baselines of the LinReBoot paper in NumPy, from all rows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bootleader._core.rng import below
from bootleader._core.sampling import fair_binomial, standard_gamma, standard_normal
from tests.oracle.naive_linear import NaiveLinear, NaiveLinGiro, NaiveLinThompson


class NaivePublishedLinTS(NaiveLinThompson):
    """LinTS-G of the LinReBoot paper."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.waiting = [] if self.disjoint else list(range(self.arms))

    def indices(self, shown: Any) -> list[float]:
        if not self.disjoint:
            self.noise_sd = float(np.std([reward for rewards in self.own for reward in rewards]))
            return super().indices(shown)
        found = []
        for k in range(self.arms):
            theta, v = self.fit(k)
            sd = float(np.std(self.own[k])) if self.own[k] else 1.0
            found.append(float(shown @ theta + sd * math.sqrt(shown @ np.linalg.solve(v, shown)) * self.normal()))
        return found


class NaivePublishedLinTSIG(NaiveLinear):
    """LinTS-IG of the LinReBoot paper."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.waiting = [] if self.disjoint else list(range(self.arms))

    def drawn(self, k: int) -> Any:
        theta, v = self.fit(k)
        squares = 2.0 + 0.5 * float(theta @ v @ theta)
        variance = squares / float(standard_gamma(2.0 + 0.5 * len(self.rows[k]), self.noise))
        normals = np.array([float(standard_normal(self.noise)) for _ in range(self.d)])
        return theta + (math.sqrt(variance) if self.disjoint else variance) * np.linalg.solve(
            np.linalg.cholesky(v).T, normals
        )

    def indices(self, shown: Any) -> list[float]:
        drawn = [self.drawn(m) for m in range(len(self.rows))]
        return [float(self.features(shown, k) @ drawn[self.model(k)]) for k in range(self.arms)]


class NaivePublishedLinPHE(NaiveLinear):
    """LinPHE of the LinReBoot paper; rows of all models in the order of the pulls."""

    high = 2.0

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.waiting = list(range(self.arms))
        self.order: list[int] = []

    def update(self, arm: int, shown: Any, reward: float) -> None:
        super().update(arm, shown, reward)
        self.order.append(self.model(arm))

    def indices(self, shown: Any) -> list[float]:
        n = len(self.order)
        coins = np.zeros(n)
        for _ in range(int(fair_binomial(float(math.ceil(0.5 * n)), self.noise))):
            coins[int(below(self.noise, n))] += 1.0
        drawn = []
        for m, rows in enumerate(self.rows):
            own = coins[[place for place, model in enumerate(self.order) if model == m]]
            x, y = np.array([row for row, _ in rows]), np.array([reward for _, reward in rows])
            v = self.lam * np.eye(self.d) + x.T @ x
            drawn.append(np.linalg.solve(v, x.T @ (y - self.high + 2.0 * self.high * own)))
        return [float(self.features(shown, k) @ drawn[self.model(k)]) for k in range(self.arms)]


class NaivePublishedLinUCB(NaiveLinear):
    """LinUCB of the LinReBoot paper."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.waiting = list(range(self.arms))
        self.longest = [0.0] * len(self.rows)

    def update(self, arm: int, shown: Any, reward: float) -> None:
        super().update(arm, shown, reward)
        m = self.model(arm)
        self.longest[m] = max(self.longest[m], float(np.linalg.norm(self.fit(arm)[0])))

    def indices(self, shown: Any) -> list[float]:
        found = []
        for k in range(self.arms):
            (theta, v), x = self.fit(k), self.features(shown, k)
            volume = np.linalg.slogdet(v)[1] - self.d * math.log(self.lam)
            radius = math.sqrt(self.lam) * self.longest[self.model(k)] + math.sqrt(2.0 * math.log(20.0) + volume)
            found.append(float(x @ theta + radius * math.sqrt(x @ np.linalg.solve(v, x))))
        return found


class NaivePublishedLinGiro(NaiveLinGiro):
    """LinGIRO of the LinReBoot paper: with shared coefficients the first pull of each arm has no pseudo rewards."""

    a, low, high = 1, -2.0, 2.0

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.waiting = [] if self.disjoint else list(range(self.arms))

    def padded(self, m: int) -> Any:
        bare = 0 if self.disjoint else self.arms
        return [(x, y) for x, y in self.rows[m][:bare]] + [
            (x, value) for x, y in self.rows[m][bare:] for value in (y, self.high, self.low)
        ]
