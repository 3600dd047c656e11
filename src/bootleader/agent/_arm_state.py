"""What an agent knows of one arm."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from bootleader._core.moments import PowerSums, chan, pebay_merge


@dataclass(slots=True)
class ArmState:
    """An arm's moments as of its last reward, and whether it may be played."""

    count: float = 0.0
    anchor: float = 0.0
    drift: float = 0.0
    rss: float = 0.0
    third: float = 0.0  # third and fourth power sums: 0 unless the rule asks for them
    fourth: float = 0.0
    rewards: int = 0  # number of rewards it ever had: the count without any half-life
    last: int = 0  # round of its last reward
    active: bool = True
    in_flight: int = 0  # decisions that still wait for their reward
    noise_sd: float = 1.0
    history: list[float] = field(default_factory=list)  # rewards less the anchor, for policies that keep them
    awaited: tuple[int, ...] = ()  # rounds of its pulls without an id that have no reward, while it lacks first rewards
    added_later: bool = False  # not one of the arms that the agent began with

    @property
    def expected(self) -> int:
        """Number of its rewards, without any half-life, when all that are on their way have come."""
        return self.rewards + self.in_flight + len(self.awaited)

    @property
    def mean(self) -> float:
        """Mean reward."""
        return self.anchor + self.drift

    @property
    def standard_error(self) -> float:
        """Standard error of the mean; NaN before the second reward."""
        return math.sqrt(self.rss / (self.count - 1.0) / self.count) if self.count > 1.0 else math.nan

    def set_moments(self, moments: Sequence[float]) -> None:
        """Set count, anchor, drift and RSS, and the third and fourth power sums if they are given."""
        self.count, self.anchor, self.drift, self.rss, *higher = moments
        if higher:
            self.third, self.fourth = higher

    def copy(self) -> ArmState:
        """The same arm, with the same history list."""
        return ArmState(
            self.count, self.anchor, self.drift, self.rss, self.third, self.fourth, self.rewards, self.last,
            self.active, self.in_flight, self.noise_sd, self.history, self.awaited, self.added_later,
        )  # fmt: skip

    def absorb(self, other: ArmState, fourth_moment: bool) -> None:
        """Add another arm's moments and history to these."""
        if self.count == 0.0:
            self.anchor = other.anchor
        shift = other.anchor - self.anchor
        mean = shift + other.drift
        if fourth_moment:
            self.count, self.drift, self.rss, self.third, self.fourth = pebay_merge(
                PowerSums(self.count, self.drift, self.rss, self.third, self.fourth),
                PowerSums(other.count, mean, other.rss, other.third, other.fourth),
            )
        else:
            self.count, self.drift, self.rss = chan(self.count, self.drift, self.rss, other.count, mean, other.rss)
        self.rewards += other.rewards
        self.history = self.history + [shift + value for value in other.history]
