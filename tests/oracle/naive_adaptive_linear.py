"""AdaptiveLinReBoot in NumPy, from all rows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bootleader._core.rng import below
from bootleader._core.sampling import studentise
from tests.oracle.naive_linear import NaiveLinear


class NaiveAdaptiveLinReBoot(NaiveLinear):
    """Definitions of the docstring, with the library's times at which ridge and pool are renewed."""

    ratio = 1.0

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        models = len(self.rows)
        self.needed = [2] * models
        self.waiting = list(range(models))
        self.ridge: list[Any] = [np.zeros(self.d)] * models
        self.residuals: list[list[float]] = [[] for _ in range(models)]
        self.weighted: list[tuple[float, float]] = []  # weight and squared recursive residual of each row
        self.refreshed, self.renewed, self.pulls = [0] * models, 0, 0
        self.variance = self.kurtosis = 0.0
        self.intercept = [True] * models

    def pull(self, shown: Any) -> int:
        if not self.waiting:
            return super().pull(shown)
        place = int(below(self.spare, len(self.waiting)))
        m = self.waiting[place]
        self.needed[m] -= 1
        if self.needed[m] == 0:
            self.waiting[place] = self.waiting[-1]
            self.waiting.pop()
        return m if self.disjoint else int(below(self.spare, self.arms))

    def centred(self, m: int) -> tuple[Any, Any, Any, float]:
        x, y = np.array([row[0] for row in self.rows[m]]), np.array([row[1] for row in self.rows[m]])
        if not self.intercept[m]:
            return x, y, np.zeros(self.d), 0.0
        return x - x.mean(axis=0), y - y.mean(), x.mean(axis=0), float(y.mean())

    def has_intercept(self, m: int) -> bool:
        """Whether some combination of the features is constant."""
        x = np.array([row[0] for row in self.rows[m]])
        left = np.ones(len(x)) - x @ np.linalg.lstsq(x, np.ones(len(x)), rcond=None)[0]
        return self.intercept[m] and (len(x) <= self.d or float(left @ left) <= 1e-10 * len(x))

    def fitted(self, m: int) -> tuple[Any, Any]:
        """Slopes, and the inverse of the penalised Gram matrix over the features that vary."""
        x, y, _, _ = self.centred(m)
        gram = x.T @ x + np.diag(self.ridge[m])
        varies = np.diag(gram) > 0.0
        inverse = np.zeros((self.d, self.d))
        inverse[np.ix_(varies, varies)] = np.linalg.inv(gram[np.ix_(varies, varies)])
        return inverse @ (x.T @ y), inverse

    def statistics(self, m: int) -> tuple[float, float]:
        """Penalised RSS and residual degrees of freedom."""
        x, y, _, _ = self.centred(m)
        slopes, inverse = self.fitted(m)
        varies = np.diag(inverse) > 0.0
        coefficients = (1.0 - self.ridge[m] * np.diag(inverse))[varies].sum()
        rss = float(((y - x @ slopes) ** 2).sum() + (self.ridge[m] * slopes**2).sum())
        return rss, len(y) - float(self.intercept[m]) - coefficients

    def update(self, arm: int, shown: Any, reward: float) -> None:
        m, row = self.model(arm), np.array(self.features(shown, arm))
        value, n = reward, len(self.rows[m])
        if n > 0:
            error, h = self.prediction_error(m, row, reward)
            self.weighted.append(((h / (1.0 + h)) ** 2, error**2 / (1.0 + h)))
        if self.renewed > 0 or not self.waiting:
            value = self.recursive_residual(m, row, reward) if self.renewed > 0 else reward
        super().update(arm, shown, reward)
        self.residuals[m].append(value)
        self.pulls += 1
        if self.waiting:
            return
        first, old = self.renewed == 0, 20 * (self.pulls - self.renewed) >= self.renewed
        rows = n + 1 - self.refreshed[m]
        aged = rows >= 512 or 2 * rows >= self.refreshed[m]
        for other in range(len(self.rows)):
            if first or (aged and other == m):
                self.refreshed[other] = len(self.rows[other])
                self.intercept[other] = self.has_intercept(other)
                self.ridge[other] = self.pooled_variances()
        if first or old:
            self.renewed = self.pulls
            both = [self.statistics(other) for other in range(len(self.rows))]
            self.variance = sum(rss for rss, _ in both) / sum(freedom for _, freedom in both)
            if not self.disjoint:
                weights, squares = zip(*self.weighted, strict=True)
                self.variance = max(self.variance, float(np.average(squares, weights=weights)))
            moments = [self.moments(other) for other in range(len(self.rows))]
            total = sum(second for second, _ in moments)
            weighted = sum(
                len(self.residuals[o]) * fourth / second for o, (second, fourth) in enumerate(moments) if second > 0
            )
            self.kurtosis = max(weighted / total, 1.0)

    def prediction_error(self, m: int, row: Any, reward: float) -> tuple[float, float]:
        """Reward less prediction, and the leverage of the features."""
        _, _, mean_x, mean_y = self.centred(m)
        slopes, inverse = self.fitted(m)
        z = row - mean_x
        leverage = (1.0 / len(self.rows[m]) if self.intercept[m] else 0.0) + z @ inverse @ z
        return float(reward - mean_y - z @ slopes), float(leverage)

    def recursive_residual(self, m: int, row: Any, reward: float) -> float:
        _, _, mean_x, mean_y = self.centred(m)
        slopes, inverse = self.fitted(m)
        if not inverse.any():
            return reward
        n, z = len(self.rows[m]), row - mean_x
        surprise = reward - mean_y - z @ slopes
        weight = n / (n + 1.0) if self.intercept[m] else 1.0
        spread = 1.0 + weight * (z @ inverse @ z)
        return float(np.mean(self.residuals[m]) + surprise / math.sqrt(spread))

    def pooled_variances(self) -> Any:
        squares = sum((self.centred(m)[0] ** 2).sum(axis=0) for m in range(len(self.rows)))
        return squares / sum(len(rows) - self.intercept[m] for m, rows in enumerate(self.rows))

    def moments(self, m: int) -> tuple[float, float]:
        d = np.array(self.residuals[m]) - np.mean(self.residuals[m])
        return float((d**2).sum()), float((d**4).sum())

    def correlated_normals(self, shown: Any) -> Any:
        """Standard normals with the correlations of the predictions."""
        x, _, mean_x, _ = self.centred(0)
        root = np.linalg.cholesky(x.T @ x + np.diag(self.ridge[0])).T
        share = 1.0 / len(x) if self.intercept[0] else 0.0
        first = self.normal() * math.sqrt(share) if self.intercept[0] else 0.0
        z = shown - mean_x
        drawn = first + z @ np.linalg.solve(root, np.array([self.normal() for _ in range(self.d)]))
        return drawn / np.sqrt(share + ((np.linalg.solve(root.T, z.T)) ** 2).sum(axis=0))

    def indices(self, shown: Any) -> list[float]:
        found = []
        common = 0.0
        normals = None if self.disjoint else self.correlated_normals(shown)
        for k in range(self.arms):
            m, x = self.model(k), np.array(self.features(shown, k))
            _, _, mean_x, mean_y = self.centred(m)
            slopes, inverse = self.fitted(m)
            z = x - mean_x
            leverage = (1.0 / len(self.rows[m]) if self.intercept[m] else 0.0) + z @ inverse @ z
            rss, freedom = self.statistics(m)
            freedom = max(freedom, 1.0)
            second, fourth = self.moments(m)
            number = min(second**2 / fourth, 1.0 / leverage / self.kurtosis)
            credited = max(rss / freedom, self.variance * min(1.0, (3.0 / number) ** 2))
            halved = leverage / (1.0 + 2.0 * leverage)
            sd = halved * math.sqrt((1.0 / leverage + 6.0 * self.ratio**2) * credited)
            student = self.normal() if normals is None else float(normals[k])
            if freedom <= 11.0 and normals is None:
                student = studentise(student, freedom, self.spare)
            elif freedom <= 11.0:
                common = float(studentise(1.0, freedom, self.spare)) if k == 0 else common
                student *= common
            found.append(float(mean_y + z @ slopes + sd * student))
        return found
