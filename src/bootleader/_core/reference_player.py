"""A policy playing one run, in plain Python: the definition that the compiled kernels are held to.

Every line is meant to be obviously right. A kernel may be clever, but it draws the same words from the same streams in
the same order, so its choices are the same bit for bit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from bootleader._core.elementary import log
from bootleader._core.half_life import RENEWALS, moved_anchor, remembered_rounds, weight_left
from bootleader._core.moments import pebay, pooled_kurtosis, pooled_variance, welford
from bootleader._core.rng import Purpose, Stream, below, next_word, run_stride, stream_state, uniform
from bootleader._core.rules import (
    ArmStatistics,
    ArmsView,
    ChoiceRule,
    Contest,
    HistoryRule,
    IndexRule,
    Noise,
    Rule,
    SharedStatistics,
    history_of,
)
from bootleader._core.sampling import fair_binomial, finish_normal, studentise

POOLING_GROWTH = 20  # the pooled variance is renewed when the number of pulls has grown by a twentieth


class Player:
    """What every player has: the arms' moments, the initial pulls, and the choice of a leader."""

    needs_all_arms = False  # whether a choice needs the first rewards of all arms, or those of one

    def __init__(self, rule: Rule, arms: int, seed: int, run: int) -> None:
        self.arms = arms
        self.pulls = 0
        self.count = [0.0] * arms
        self.anchor = [0.0] * arms
        self.drift = [0.0] * arms
        self.rss = [0.0] * arms
        self.third = [0.0] * arms
        self.fourth = [0.0] * arms
        self._fourth_moment = isinstance(rule, IndexRule) and rule.fourth_moment
        stride = int(run_stride(seed, run))
        self.noise = Stream([int(stream_state(seed, run, int(Purpose.NOISE), 0))], 0, stride)
        self.spare = Stream([int(stream_state(seed, run, int(Purpose.SPARE), 0))], 0, stride)
        self._initial_pulls = rule.initial_pulls
        self._initial_left = [rule.initial_pulls] * arms
        self._initial_arms = list(range(arms)) if rule.initial_pulls > 0 else []

    def choose(self) -> int:
        """The arm to pull now."""
        if self._initial_arms:
            return self._initial_arm()
        ready = [k for k in range(self.arms) if self.count[k] >= self._initial_pulls]
        if len(ready) < (self.arms if self.needs_all_arms else 1):  # first rewards are delayed
            return self._below(self.arms)
        return self.choose_among(ready)

    def choose_among(self, ready: list[int]) -> int:
        """The arm to pull now, of those that have had their initial rewards."""
        indices = self.contest(ready)
        return ready[self.leader(indices)]

    def learn(self, arm: int, reward: float) -> None:
        """Learn the reward of a pull."""
        moments = self.count[arm], self.anchor[arm], self.drift[arm], self.rss[arm]
        after: Sequence[float] = welford(*moments, reward)
        if self._fourth_moment:
            *after, self.third[arm], self.fourth[arm] = pebay(*moments, self.third[arm], self.fourth[arm], reward)
        self.count[arm], self.anchor[arm], self.drift[arm], self.rss[arm] = after
        self.pulls += 1

    def recommended(self) -> int:
        """The arm that is taken for the best: the one with the largest mean, the first of several."""
        known = [k for k in range(self.arms) if self.count[k] > 0.0]
        return max(known, key=lambda k: self.anchor[k] + self.drift[k], default=0)

    def _initial_arm(self) -> int:
        """One of the arms that still need initial pulls, uniformly at random."""
        place = self._below(len(self._initial_arms))
        arm = self._initial_arms[place]
        self._initial_left[arm] -= 1
        if self._initial_left[arm] == 0:
            self._initial_arms[place] = self._initial_arms[-1]
            self._initial_arms.pop()
        return arm

    def contest(self, ready: list[int]) -> list[float]:
        """An index for each of these arms, exact as far as is needed to find the largest."""
        raise TypeError(f"{type(self).__name__} draws no indices")

    def leader(self, indices: Sequence[float]) -> int:
        """The place of the largest index, ties broken uniformly at random."""
        best = max(indices)
        tied = [k for k, index in enumerate(indices) if index == best]
        if not tied:
            raise ValueError(f"an index is not a number: {indices!r:.200}")
        return tied[0] if len(tied) == 1 else tied[self._below(len(tied))]

    def _below(self, n: int) -> int:
        return int(below(self.spare, n))


class IndexPlayer(Player):
    """Plays an :class:`IndexRule`: index = location + scale * noise."""

    def __init__(
        self, rule: IndexRule, arms: int, noise_sd: Sequence[float], seed: int, run: int, horizon: float = math.inf
    ) -> None:
        super().__init__(rule, arms, seed, run)
        self.rule = rule
        self.noise_sd = list(noise_sd)
        self.horizon = horizon
        self.last = [0] * arms  # number of rewards when each arm's last one came
        self.laws: list[tuple[float, float, float]] = [(0.0, 0.0, 0.0)] * arms
        self.variance = 0.0
        self.kurtosis = 0.0
        self.renewed_at = 0
        if rule.initial_pulls == 0:
            self._renew_all()

    def choose_among(self, ready: list[int]) -> int:
        if self.renewed_at == 0:  # the last initial reward came before the last initial pull
            self._renew_all()
        if self.rule.every_round:
            self._renew_laws()
        if self.rule.epsilon > 0.0 and uniform(self.spare) < self.rule.epsilon:
            return self._below(self.arms)
        return super().choose_among(ready)

    def learn(self, arm: int, reward: float) -> None:
        if self.rule.half_life != math.inf:
            self._fade(arm, reward)
        super().learn(arm, reward)
        self.last[arm] = self.pulls
        if self._initial_arms:
            return
        pool_is_old = self.rule.pooled and POOLING_GROWTH * (self.pulls - self.renewed_at) >= self.renewed_at
        laws_are_old = self.pulls >= self.renewed_at + self.rule.half_life / RENEWALS
        if self.renewed_at == 0 or pool_is_old or laws_are_old:
            self._renew_all()
        else:
            self._renew_law(arm)

    def _weight(self, k: int, now: int) -> float:
        """What the half-life has left of each unit of an arm's count."""
        if self.rule.half_life == math.inf:
            return 1.0
        return float(weight_left(self.count[k], self.last[k], now, self.rule.half_life, self._initial_pulls))

    def _rounds(self) -> Any:
        """The rounds so far, or what the half-life has left of them."""
        half_life = self.rule.half_life
        if half_life == math.inf or not self.rule.reads_rounds:
            return self.pulls
        return remembered_rounds(self.pulls, half_life)

    def _fade(self, k: int, reward: float) -> None:
        """Fade an arm's moments before a reward is added to them."""
        weight = self._weight(k, self.pulls + 1)
        if weight != 1.0:
            self.count[k] = max(self.count[k] * weight, float(self._initial_pulls))
            self.rss[k], self.third[k], self.fourth[k] = (x[k] * weight for x in (self.rss, self.third, self.fourth))
        self.anchor[k], self.drift[k] = moved_anchor(self.anchor[k], self.drift[k], reward)

    def indices(self) -> list[float]:
        """A new index for every arm."""
        return self.contest(list(range(self.arms)))

    def contest(self, ready: list[int]) -> list[float]:
        return [location + scale * self._noise(shape) for location, scale, shape in (self.laws[k] for k in ready)]

    def _noise(self, shape: float) -> Any:
        match self.rule.noise:
            case Noise.NONE:
                return 0.0
            case Noise.NORMAL:
                return self._normal()
            case Noise.STUDENT:
                return studentise(self._normal(), shape, self.spare)
            case Noise.FAIR_COINS:
                return fair_binomial(shape, self.spare)
            case Noise.OPTIMISM:
                return math.sqrt(2.0 * log(self._rounds()))

    def _normal(self) -> Any:
        return finish_normal(next_word(self.noise), self.spare)

    def _renew_law(self, k: int) -> None:
        if self.count[k] < self._initial_pulls:
            return
        weight = self._weight(k, max(self.renewed_at, self.last[k]))
        mean = self.anchor[k] + self.drift[k]
        arm = ArmStatistics(
            self.count[k] * weight, mean, self.rss[k] * weight, self.noise_sd[k], self.fourth[k] * weight
        )
        shared = SharedStatistics(self.variance, self._rounds(), self.arms, self.horizon, self.kurtosis)
        self.laws[k] = self.rule.law(self.rule.params, arm, shared)

    def _renew_laws(self) -> None:
        for k in range(self.arms):
            self._renew_law(k)

    def _renew_all(self) -> None:
        self.renewed_at = self.pulls
        weights = [self._weight(k, self.pulls) for k in range(self.arms)]
        count, rss, fourth = (
            [x * w for x, w in zip(xs, weights, strict=True)] for xs in (self.count, self.rss, self.fourth)
        )
        self.variance = pooled_variance(count, rss)
        if self.rule.fourth_moment:
            self.kurtosis = pooled_kurtosis(count, rss, fourth)
        self._renew_laws()


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
        """A new index for every arm."""
        return [float(self._index(k, -math.inf, False)) for k in range(self.arms)]

    def contest(self, ready: list[int]) -> list[float]:
        def index(place: int, best: float, is_last: bool) -> float:
            return float(self._index(ready[place], best, is_last))

        return contest(index, [self.count[k] for k in ready])

    def _index(self, k: int, best: float, is_last: bool) -> Any:
        history = history_of(self.history[k], self.count[k], self.anchor[k], self.drift[k], self.rss[k])
        return self.rule.resample(self.rule.params, history, Contest(best, is_last), self.spare)


class ChoicePlayer(Player):
    """Plays a :class:`ChoiceRule`."""

    needs_all_arms = True

    def __init__(
        self, rule: ChoiceRule, arms: int, noise_sd: Sequence[float], seed: int, run: int, horizon: float
    ) -> None:
        super().__init__(rule, arms, seed, run)
        self.rule = rule
        self.horizon = horizon
        self.noise_sd = np.array(noise_sd, float)
        self.memory = np.zeros(rule.memory_size(arms, int(horizon)))
        self.history: list[list[float]] = [[] for _ in range(arms)]

    def choose_among(self, ready: list[int]) -> int:
        rule = self.rule
        return int(rule.choose(rule.params, self._view(), self.memory, self._shared(), self.spare))

    def learn(self, arm: int, reward: float) -> None:
        super().learn(arm, reward)
        rule = self.rule
        if rule.history:
            self.history[arm].append(reward)
        rule.learn(rule.params, self._view(), self.memory, self._shared(), arm, reward, self.spare)

    def recommended(self) -> int:
        return int(self.rule.recommend(self.rule.params, self._view(), self.memory, self._shared()))

    def _shared(self) -> SharedStatistics:
        return SharedStatistics(0.0, self.pulls, self.arms, self.horizon, 0.0)

    def _view(self) -> ArmsView:
        mean = [self.anchor[k] + self.drift[k] for k in range(self.arms)]
        return ArmsView(
            count=np.array(self.count),
            mean=np.array(mean),
            rss=np.array(self.rss),
            noise_sd=self.noise_sd,
            rewards=np.array([reward for rewards in self.history for reward in rewards]),
            sums=np.array([total for rewards in self.history for total in accumulate(rewards)]),
            start=np.cumsum([0, *map(len, self.history[:-1])]),
        )


def contest(index: Callable[[int, float, bool], float], counts: Sequence[float]) -> list[float]:
    """An index for every arm, each given the best before it; the longest history, which costs most, is last."""
    longest = max(range(len(counts)), key=counts.__getitem__)
    indices = [-math.inf] * len(counts)
    best = -math.inf
    for k in [*range(longest), *range(longest + 1, len(counts)), longest]:
        indices[k] = index(k, best, k == longest)
        best = max(best, indices[k])
    return indices


def player_of(
    rule: Rule, arms: int, noise_sd: Sequence[float], seed: int, run: int, horizon: float = math.inf
) -> Player:
    """The player of a rule, with the streams of a run."""
    if isinstance(rule, IndexRule):
        return IndexPlayer(rule, arms, noise_sd, seed, run, horizon)
    if isinstance(rule, ChoiceRule):
        return ChoicePlayer(rule, arms, noise_sd, seed, run, horizon)
    return HistoryPlayer(rule, arms, seed, run)
