"""Contextual policies in NumPy, from all rows, with no code of the library but its random streams."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bootleader._core.rng import Purpose, Stream, below, next_word, run_stride, stream_state
from bootleader._core.sampling import fair_binomial, finish_normal, standard_gamma, standard_normal, studentise


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
