"""A slow, obvious oracle for every policy and reward family, written from the definitions alone.

It keeps raw histories, draws every bootstrap weight, coin and resample one by one with NumPy's own generator, and
imports nothing of the library. It is written to be compared with the paper line by line.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, field

import numpy as np

from tests.oracle.naive_bandits import DrawArms, Rng

History = list[list[float]]
ROOT5 = math.sqrt(5.0)


# --- bootstrap weights ------------------------------------------------------------------------------------------------


def draw_weights(law: str, size: int, rng: Rng) -> np.ndarray:
    if law == "gaussian":
        return rng.standard_normal(size)
    if law == "rademacher":
        return np.where(rng.random(size) < 0.5, -1.0, 1.0)
    if law == "mammen":
        common = rng.random(size) < (ROOT5 + 1) / (2 * ROOT5)
        return np.where(common, -(ROOT5 - 1) / 2, (ROOT5 + 1) / 2)
    raise ValueError(law)


def mean(y: Sequence[float] | np.ndarray) -> float:
    """As np.mean, which takes twice as long for the few rewards of an arm."""
    return float(np.add.reduce(y)) / len(y)


# --- index of one arm, from its raw rewards ---------------------------------------------------------------------------

Index = Callable[[np.ndarray, Rng, int, int], float]
"""index(rewards, rng, arm, pulls of all arms so far)"""


def follow_the_leader() -> Index:
    return lambda y, rng, arm, t: mean(y)


def residual_bootstrap(weights: str = "gaussian") -> Index:
    def index(y: np.ndarray, rng: Rng, arm: int, t: int) -> float:
        centre = mean(y)
        residuals = y - centre
        return float(centre + np.sum(draw_weights(weights, len(y), rng) * residuals) / len(y))

    return index


def reboot(sigma_a: float, weights: str = "gaussian") -> Index:
    def index(y: np.ndarray, rng: Rng, arm: int, t: int) -> float:
        s, centre = len(y), mean(y)
        pseudo = math.sqrt(s + 2) * sigma_a
        residuals = np.concatenate([y - centre, [pseudo, -pseudo]])
        return float(centre + np.sum(draw_weights(weights, s + 2, rng) * residuals) / (s + 2))

    return index


def thompson(prior_mean: float = 0.0, prior_sd: float = 1.0, noise_sd: float | Sequence[float] = 1.0) -> Index:
    def index(y: np.ndarray, rng: Rng, arm: int, t: int) -> float:
        noise_variance = (noise_sd if isinstance(noise_sd, float) else noise_sd[arm]) ** 2
        if prior_sd == math.inf:
            return float(rng.normal(mean(y), math.sqrt(noise_variance / len(y))))
        precision = 1 / prior_sd**2 + len(y) / noise_variance
        centre = (prior_mean / prior_sd**2 + np.sum(y) / noise_variance) / precision
        return float(rng.normal(centre, math.sqrt(1 / precision)))

    return index


def student_thompson() -> Index:
    def index(y: np.ndarray, rng: Rng, arm: int, t: int) -> float:
        s, centre = len(y), mean(y)
        rss = np.sum((y - centre) ** 2)
        return float(centre + rng.standard_t(s - 1) * math.sqrt(rss / (s * (s - 1))))

    return index


def giro(a: float = 1.0) -> Index:
    def index(y: np.ndarray, rng: Rng, arm: int, t: int) -> float:
        s = len(y)
        each = math.floor(a * s) + (rng.random() < a * s - math.floor(a * s))
        padded = np.concatenate([y, np.zeros(each), np.ones(each)])
        return float(padded[rng.integers(len(padded), size=len(padded))].mean())

    return index


def phe(a: float = 2.1) -> Index:
    def index(y: np.ndarray, rng: Rng, arm: int, t: int) -> float:
        coins = rng.integers(2, size=math.ceil(a * len(y)))
        return float((np.sum(y) + np.sum(coins)) / (len(y) + len(coins)))

    return index


def ucb1(sd: float = 1.0) -> Index:
    return lambda y, rng, arm, t: float(mean(y) + sd * math.sqrt(2 * math.log(t) / len(y)))


# --- policies ---------------------------------------------------------------------------------------------------------


@dataclass
class ByIndex:
    """Pull every arm ``initial_pulls`` times, then the largest index; all in random order, ties at random."""

    index: Index
    initial_pulls: int = 1
    epsilon: float = 0.0

    def choose(self, history: History, rng: Rng) -> int:
        below = [k for k, rewards in enumerate(history) if len(rewards) < self.initial_pulls]
        if below:
            return below[rng.integers(len(below))]
        if rng.random() < self.epsilon:
            return int(rng.integers(len(history)))
        return leader(self.indices(history, rng), rng)

    def indices(self, history: History, rng: Rng) -> list[float]:
        pulls = sum(map(len, history))
        return [self.index(np.array(rewards), rng, arm, pulls) for arm, rewards in enumerate(history)]


@dataclass
class NaiveAdaptiveReBoot:
    """Pools from the raw histories, and only when the number of pulls has grown by a twentieth."""

    ratio: float = 1.0
    initial_pulls: int = 2
    pooled_at: int = field(default=0, init=False)
    v: float = field(default=0.0, init=False)
    kurt: float = field(default=0.0, init=False)

    def choose(self, history: History, rng: Rng) -> int:
        below = [k for k, rewards in enumerate(history) if len(rewards) < self.initial_pulls]
        if below:
            self.pooled_at = 0
            return below[rng.integers(len(below))]
        return leader(self.indices(history, rng), rng)

    def indices(self, history: History, rng: Rng) -> list[float]:
        pulls = sum(map(len, history))
        if self.pooled_at == 0 or pulls - self.pooled_at >= self.pooled_at / 20:
            self.pooled_at = pulls
            squares = [power_sum(y, 2) for y in history]
            self.v = sum(squares) / sum(len(y) - 1 for y in history)
            pairs = zip(history, squares, strict=True)
            kurtoses = [len(y) * power_sum(y, 4) / rss**2 if rss else 0.0 for y, rss in pairs]
            self.kurt = float(np.average(kurtoses, weights=squares)) if self.v else 0.0
        if self.v == 0:
            return [mean(y) for y in history]
        return [self.index(np.array(y), rng) for y in history]

    def index(self, y: np.ndarray, rng: Rng) -> float:
        s = len(y)
        rss = power_sum(y, 2)
        own = rss / (s - 1)
        effective = rss**2 / power_sum(y, 4) if own else 0.0
        n = min(effective, s / self.kurt)
        g = min(1.0, (3 / n) ** 2) if n else 1.0
        variance = max(own, self.v * g)
        noise = rng.standard_t(s - 1) if s <= 12 else rng.standard_normal()
        return float(mean(y) + noise * math.sqrt((s + 6 * self.ratio**2) * variance) / (s + 2))


def power_sum(y: Sequence[float] | np.ndarray, power: int) -> float:
    return float(np.sum((np.array(y) - mean(y)) ** power))


def divergence(family: str, sd: float, p: float, q: float) -> float:
    """Kullback-Leibler divergence between two members of a family with these means."""
    if family == "gaussian":
        return (p - q) ** 2 / (2 * sd**2)
    if family == "exponential":
        return p / q - 1 - math.log(p / q)
    if family == "poisson":
        return q - p + (p * math.log(p / q) if p > 0 else 0.0)
    return sum(a * math.log(a / b) if a > 0 else 0.0 for a, b in ((p, q), (1 - p, 1 - q)))


def kl_ucb(family: str, sd: float = 1.0, c: float = 0.0) -> Index:
    """The upper bound by plain bisection."""

    def index(y: np.ndarray, rng: Rng, arm: int, t: int) -> float:
        own, level = mean(y), math.log(t) + c * math.log(max(math.log(t), 1.0))
        low, high = own, 1.0 - 1e-16 if family == "bernoulli" else own + 1.0
        while family != "bernoulli" and len(y) * divergence(family, sd, own, high) < level:
            high = own + 2 * (high - own)
        for _ in range(45):  # to 1e-13 of the first interval
            middle = (low + high) / 2
            if own == 1.0 or len(y) * divergence(family, sd, own, middle) <= level:
                low = middle
            else:
                high = middle
        return low

    return index


@dataclass
class NaiveIMED:
    """The smallest s d(Ybar, max Ybar) + log s."""

    family: str
    sd: float = 1.0
    initial_pulls: int = 1

    def choose(self, history: History, rng: Rng) -> int:
        below = [k for k, rewards in enumerate(history) if len(rewards) < 1]
        if below:
            return below[rng.integers(len(below))]
        best = max(mean(y) for y in history)
        costs = [len(y) * self.evidence(mean(y), best) + math.log(len(y)) for y in history]
        return leader([-cost for cost in costs], rng)

    def evidence(self, mean: float, best: float) -> float:
        return (
            0.0
            if mean == best
            else math.inf
            if best == 1.0 and self.family == "bernoulli"
            else divergence(self.family, self.sd, mean, best)
        )


@dataclass
class NaiveBetaThompson:
    """Successes are counted once, when a reward is seen for the first time."""

    a: float = 1.0
    b: float = 1.0
    initial_pulls: int = 0
    seen: list[int] = field(default_factory=list, init=False)
    successes: list[int] = field(default_factory=list, init=False)

    def choose(self, history: History, rng: Rng) -> int:
        if sum(map(len, history)) == 0:
            self.seen, self.successes = [0] * len(history), [0] * len(history)
        for k, rewards in enumerate(history):
            for reward in rewards[self.seen[k] :]:
                self.successes[k] += rng.random() < reward
            self.seen[k] = len(rewards)
        pairs = zip(self.successes, self.seen, strict=True)
        return leader([rng.beta(self.a + wins, self.b + seen - wins) for wins, seen in pairs], rng)


@dataclass
class NaiveDiscountedReBoot:
    """Every reward has a weight, halved by every ``half_life`` rewards after it; an arm's weights sum to 1 at least."""

    sigma_a: float
    half_life: float
    initial_pulls: int = 1
    weights: list[list[float]] = field(default_factory=list, init=False)
    last: list[int] = field(default_factory=list, init=False)
    rounds: float = field(default=0.0, init=False)  # each weighted by its age

    def choose(self, history: History, rng: Rng) -> int:
        pulls = sum(map(len, history))
        if pulls == 0:
            self.weights, self.last = [[] for _ in history], [0] * len(history)
        for k, rewards in enumerate(history):
            if len(rewards) > len(self.weights[k]):  # the reward that came last
                self.weights[k] = [*self.faded(k, pulls), 1.0]
                self.last[k] = pulls
        below = [k for k, rewards in enumerate(history) if not rewards]
        if below:
            return below[rng.integers(len(below))]
        self.rounds = self.rounds_of(pulls)
        return leader(
            [self.index(np.array(y), np.array(self.faded(k, pulls)), rng) for k, y in enumerate(history)], rng
        )

    def rounds_of(self, pulls: int) -> float:
        return sum(2.0 ** (-age / self.half_life) for age in range(pulls))

    def faded(self, k: int, now: int) -> list[float]:
        total = sum(self.weights[k])
        if total <= 1.0:
            return self.weights[k]
        left = max(2.0 ** ((self.last[k] - now) / self.half_life), 1.0 / total)
        return [left * weight for weight in self.weights[k]]

    def index(self, y: np.ndarray, w: np.ndarray, rng: Rng) -> float:
        s, mean = w.sum(), np.average(y, weights=w)
        rss = float(np.sum(w * (y - mean) ** 2))
        return float(rng.normal(mean, math.sqrt(rss + 2 * (s + 2) * self.sigma_a**2) / (s + 2)))


class NaiveDiscountedUCB(NaiveDiscountedReBoot):
    """D-UCB: the number of rounds fades with the counts. ``sigma_a`` is the sd of the rewards."""

    def index(self, y: np.ndarray, w: np.ndarray, rng: Rng) -> float:
        return float(np.average(y, weights=w) + self.sigma_a * math.sqrt(2 * math.log(self.rounds) / w.sum()))


def initial_arm(history: History, pulls: int, rng: Rng) -> int | None:
    """An arm at random of those with fewer pulls."""
    below = [k for k, rewards in enumerate(history) if len(rewards) < pulls]
    return below[rng.integers(len(below))] if below else None


def leader(indices: Sequence[float], rng: Rng) -> int:
    best = max(indices)
    tied = [k for k, index in enumerate(indices) if index == best]
    return tied[rng.integers(len(tied))]


# --- play -------------------------------------------------------------------------------------------------------------


def play(policy: ByIndex | NaiveAdaptiveReBoot, draw_arms: DrawArms, rounds: int, rng: Rng) -> float:
    """Pseudo-regret of one run: the sum of the gaps of the arms pulled."""
    means, pays = draw_arms(rng)
    history: History = [[] for _ in means]
    best = max(means)
    regret = 0.0
    for _ in range(rounds):
        arm = policy.choose(history, rng)
        history[arm].append(pays[arm]())
        regret += best - means[arm]
    return regret


def final_regrets(
    policy: ByIndex | NaiveAdaptiveReBoot, draw_arms: DrawArms, rounds: int, runs: int, seed: int
) -> np.ndarray:
    policy, rng = deepcopy(policy), np.random.default_rng(seed)  # the caller's policy keeps its state
    return np.array([play(policy, draw_arms, rounds, rng) for _ in range(runs)])
