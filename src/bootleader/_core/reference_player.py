"""A policy at play on one bandit, in plain Python: the definition that the compiled kernels are held to.

The oracle loop and the online agent both play through it. Every line is meant to be obviously right; a kernel may be
clever, but it draws the same words from the same streams in the same order, so its choices are the same bit for bit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from bootleader._core.moments import welford
from bootleader.policies.base import HistoryRule, IndexRule, Noise, Rule
from bootleader._core.sampling import fair_binomial, settle_normal, studentise
from bootleader._core.rng import Purpose, below, next_word, run_gamma, stream_state, uniform

POOLING_GROWTH = 20  # the pooled variance is renewed when pulls have grown by one part in this many


def pooled_variance(count: Sequence[float], rss: Sequence[float]) -> float:
    """Variance pooled over the arms: sum of RSS over sum of (s - 1)."""
    squares, freedom = 0.0, 0.0
    for k in range(len(count)):
        squares += rss[k]
        freedom += max(count[k] - 1.0, 0.0)
    return squares / freedom if freedom > 0.0 else 0.0


class Player:
    """What every player has: the arms' moments, the opening, and the choice of a leader."""

    def __init__(self, rule: Rule, arms: int, seed: int, run: int) -> None:
        self.arms = arms
        self.pulls = 0
        self.count = [0.0] * arms
        self.anchor = [0.0] * arms
        self.drift = [0.0] * arms
        self.rss = [0.0] * arms
        self.gamma = int(run_gamma(seed, run))
        self.noise = [int(stream_state(seed, run, int(Purpose.NOISE), 0))]
        self.spare = [int(stream_state(seed, run, int(Purpose.SPARE), 0))]
        self._rule = rule
        self._open = list(range(arms)) if rule.opening > 0 else []

    def choose(self) -> int:
        """The arm to pull now."""
        if self._open:
            return self._open[self._below(len(self._open))]
        return self.leader(self.contest())

    def learn(self, arm: int, reward: float) -> None:
        """Take in the reward of a pull."""
        self.count[arm], self.anchor[arm], self.drift[arm], self.rss[arm] = welford(
            self.count[arm], self.anchor[arm], self.drift[arm], self.rss[arm], reward
        )
        self.pulls += 1
        if self.count[arm] == self._rule.opening:
            place = self._open.index(arm)
            self._open[place] = self._open[-1]
            self._open.pop()

    def indices(self) -> list[float]:
        """A fresh index for every arm."""
        raise TypeError(f"{type(self).__name__} draws no indices")

    def contest(self) -> list[float]:
        """An index for every arm, as far as it takes to tell the largest."""
        return self.indices()

    def leader(self, indices: Sequence[float]) -> int:
        """The arm with the largest index, ties broken uniformly at random."""
        best = max(indices)
        tied = [k for k, index in enumerate(indices) if index == best]
        return tied[0] if len(tied) == 1 else tied[self._below(len(tied))]

    def _below(self, n: int) -> int:
        return int(below(self.spare, 0, self.gamma, n))


class IndexPlayer(Player):
    """Plays an :class:`IndexRule`: index = location + scale * noise."""

    def __init__(self, rule: IndexRule, arms: int, noise_sd: Sequence[float], seed: int, run: int) -> None:
        super().__init__(rule, arms, seed, run)
        self.rule = rule
        self.noise_sd = list(noise_sd)
        self.laws: list[tuple[float, float, float]] = [(0.0, 0.0, 0.0)] * arms
        self.variance = 0.0
        self.pooled_at = 0
        if rule.opening == 0:
            self._refresh_all()

    def choose(self) -> int:
        if not self._open and self.rule.epsilon > 0.0 and uniform(self.spare, 0, self.gamma) < self.rule.epsilon:
            return self._below(self.arms)
        return super().choose()

    def learn(self, arm: int, reward: float) -> None:
        super().learn(arm, reward)
        if self._open:
            return
        if self.pooled_at == 0 or (
            self.rule.pooled and POOLING_GROWTH * (self.pulls - self.pooled_at) >= self.pooled_at
        ):
            self._refresh_all()
        else:
            self._refresh(arm)

    def indices(self) -> list[float]:
        return [location + scale * self._noise(shape) for location, scale, shape in self.laws]

    def _noise(self, shape: float) -> Any:
        match self.rule.noise:
            case Noise.NONE:
                return 0.0
            case Noise.NORMAL:
                return self._normal()
            case Noise.STUDENT:
                return studentise(self._normal(), shape, self.spare, 0, self.gamma)
            case Noise.FAIR_COINS:
                return fair_binomial(shape, self.spare, 0, self.gamma)
            case Noise.OPTIMISM:
                return math.sqrt(2.0 * math.log(self.pulls))

    def _normal(self) -> Any:
        return settle_normal(next_word(self.noise, 0, self.gamma), self.spare, 0, self.gamma)

    def _refresh(self, k: int) -> None:
        mean = self.anchor[k] + self.drift[k]
        self.laws[k] = self.rule.law(self.rule.theta, self.noise_sd[k], self.count[k], mean, self.rss[k], self.variance)

    def _refresh_all(self) -> None:
        self.pooled_at = self.pulls
        self.variance = pooled_variance(self.count, self.rss)
        for k in range(self.arms):
            self._refresh(k)


class HistoryPlayer(Player):
    """Plays a :class:`HistoryRule`: the index is resampled from the arm's whole history."""

    def __init__(self, rule: HistoryRule, arms: int, seed: int, run: int) -> None:
        super().__init__(rule, arms, seed, run)
        self.rule = rule
        self.history: list[list[float]] = [[] for _ in range(arms)]

    def learn(self, arm: int, reward: float) -> None:
        super().learn(arm, reward)
        self.history[arm].append(reward - self.anchor[arm])

    def indices(self) -> list[float]:
        return [self._index(k, -math.inf, False) for k in range(self.arms)]

    def contest(self) -> list[float]:
        return contest(self._index, self.count)

    def _index(self, k: int, best: float, is_last: bool) -> Any:
        history = self.history[k]
        return self.rule.resample(
            self.rule.theta, history, 0, int(self.count[k]), self.anchor[k], self.drift[k], self.rss[k],
            min(history), max(history), best, is_last, self.spare, 0, self.gamma,
        )  # fmt: skip


def contest(index: Callable[[int, float, bool], float], counts: Sequence[float]) -> list[float]:
    """An index for every arm, each told the best before it; the longest history, which costs most to draw, is last."""
    longest = max(range(len(counts)), key=counts.__getitem__)
    indices = [-math.inf] * len(counts)
    best = -math.inf
    for k in [*range(longest), *range(longest + 1, len(counts)), longest]:
        indices[k] = index(k, best, k == longest)
        best = max(best, indices[k])
    return indices


def player_of(rule: Rule, arms: int, noise_sd: Sequence[float], seed: int, run: int) -> Player:
    """The player of a rule, with the streams of a run."""
    if isinstance(rule, IndexRule):
        return IndexPlayer(rule, arms, noise_sd, seed, run)
    return HistoryPlayer(rule, arms, seed, run)
