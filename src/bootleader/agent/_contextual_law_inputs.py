"""What a contextual law may know beside its arm, as of the present round."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from bootleader._core.moments import chan
from bootleader.agent._laws import Pooled

if TYPE_CHECKING:
    from bootleader.agent._linear_learner import LinearLearner


class CurrentStatistics:
    """The attributes of a :class:`~bootleader._core.rules.SharedStatistics`; pulls and arms are those of now."""

    __slots__ = ("_learner", "horizon", "kurtosis", "variance")

    def __init__(self, learner: LinearLearner, pooled: Pooled) -> None:
        self._learner, self.horizon = learner, math.inf
        self.variance: Any = pooled.variance
        self.kurtosis = pooled.kurtosis

    @property
    def pulls(self) -> float:
        """Rewards so far; with a half-life, those remembered."""
        return self._learner.rounds_of(self._learner.rounds)

    @property
    def arms(self) -> int:
        """Number of arms."""
        return len(self._learner.arms)


class RewardStatistics(CurrentStatistics):
    """The same for rules that are not unit-free: the variance is that of all rewards so far."""

    __slots__ = ()

    def __init__(self, learner: LinearLearner, pooled: Pooled) -> None:
        self._learner, self.horizon, self.kurtosis = learner, math.inf, pooled.kurtosis

    @property
    def variance(self) -> float:
        """Computed when a law reads it: those of the library do not."""
        count = mean = rss = 0.0
        for arm in self._learner.arms:
            if arm.count > 0.0:
                count, mean, rss = chan(count, mean, rss, arm.count, arm.mean, arm.rss)
        return rss / count if count > 0.0 else 0.0
