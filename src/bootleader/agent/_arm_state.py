"""What an agent knows of one arm."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Final

from bootleader._core.moments import chan

FAR: Final = 1024.0  # an anchor so many times the size of the mean and of a reward is moved


@dataclass(slots=True)
class ArmState:
    """An arm's moments as of its last reward, and whether it may be played."""

    count: float = 0.0
    anchor: float = 0.0
    drift: float = 0.0
    rss: float = 0.0
    rewards: int = 0  # number of rewards it ever had: the count without any half-life
    last: int = 0  # round of its last reward
    active: bool = True
    in_flight: int = 0  # decisions that still wait for their reward
    noise_sd: float = 1.0
    history: list[float] = field(default_factory=list)  # rewards less the anchor, for policies that keep them

    @property
    def mean(self) -> float:
        """Mean reward."""
        return self.anchor + self.drift

    @property
    def standard_error(self) -> float:
        """Standard error of the mean; NaN before the second reward."""
        return math.sqrt(self.rss / (self.count - 1.0) / self.count) if self.count > 1.0 else math.nan

    def copy(self) -> ArmState:
        """The same arm, with the same history list."""
        return ArmState(
            self.count, self.anchor, self.drift, self.rss, self.rewards, self.last, self.active, self.in_flight,
            self.noise_sd, self.history,
        )  # fmt: skip

    def absorb(self, other: ArmState) -> None:
        """Add another arm's moments and history to these."""
        if self.count == 0.0:
            self.anchor = other.anchor
        shift = other.anchor - self.anchor
        self.count, self.drift, self.rss = chan(
            self.count, self.drift, self.rss, other.count, shift + other.drift, other.rss
        )
        self.rewards += other.rewards
        self.history = self.history + [shift + value for value in other.history]


def moved_anchor(anchor: float, drift: float, reward: float) -> tuple[float, float]:
    """Anchor and drift with the anchor moved to the mean, if it is far from both the mean and a reward.

    The anchor is the first reward. With a half-life that reward is forgotten; if it was wild, all later ones would be
    rounded to its precision.

    Examples
    --------
    >>> moved_anchor(1e16, -1e16, 3.0), moved_anchor(5.0, -4.0, 3.0)
    ((0.0, 0.0), (5.0, -4.0))
    """
    mean = anchor + drift
    if abs(anchor) <= FAR * max(abs(mean), abs(reward)):
        return anchor, drift
    moved = mean - anchor
    return mean, (anchor - (mean - moved)) + (drift - moved)  # the drift is what rounding took from the mean
