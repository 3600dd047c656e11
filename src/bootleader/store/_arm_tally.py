"""What the log says of one arm: its sums, and the decisions that wait for its first rewards."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable
from typing import Any

from bootleader.store._exact_sums import ExactMoments, ExactSums, FadingSums
from bootleader.store._model_sums import ModelSums
from bootleader.store._settings import Settings


class OpenDecisions:
    """Decisions of an arm that wait for its first rewards: how many are not too old."""

    __slots__ = ("times", "when")

    def __init__(self, when: Iterable[tuple[str, float]] = ()) -> None:
        self.when = dict(when)
        self.times = sorted(self.when.values())

    def add(self, decision: str, time: float) -> None:
        """A decision was made."""
        self.when[decision] = time
        insort(self.times, time)

    def drop(self, decision: str) -> None:
        """Its reward has come."""
        time = self.when.pop(decision, None)
        if time is not None:
            del self.times[bisect_left(self.times, time)]

    def since(self, earliest: float) -> int:
        """Number of decisions that are not older."""
        return len(self.times) - bisect_left(self.times, earliest)


class ArmTally:
    """What the log says of one arm.

    Attributes
    ----------
    sums : ExactSums or FadingSums
        Of the rewards that the policy learns from.
    waiting : OpenDecisions or None
        Kept as long as the arm lacks its first rewards; None after that, or if it has to be read from the log.
    model : ModelSums or None
        Where the experiment has contexts and every arm a model of its own.
    """

    __slots__ = (
        "active", "decisions", "history", "later", "metadata", "model", "name", "noise_sd", "number", "removed",
        "rewarded", "sums", "waiting",
    )  # fmt: skip

    def __init__(self, number: int, name: str, metadata: Any, noise_sd: float, later: bool, settings: Settings) -> None:
        self.number, self.name, self.metadata, self.noise_sd, self.later = number, name, metadata, noise_sd, later
        self.active, self.removed = True, False
        half_life = settings.half_life
        self.sums: ExactSums | FadingSums = ExactSums() if half_life is None else FadingSums(half_life)
        self.history: list[float] | None = [] if settings.keeps_history else None
        self.decisions = self.rewarded = 0
        self.waiting: OpenDecisions | None = OpenDecisions()
        self.model: ModelSums | None = None

    def add(self, value: float, round_: int, sign: int) -> None:
        """Add a reward, or take it back."""
        if isinstance(self.sums, FadingSums):
            self.sums.add(value, round_, sign)
        else:
            self.sums.add(value, sign)
        if self.history is not None:
            if sign > 0:
                insort(self.history, value)
            else:
                del self.history[bisect_left(self.history, value)]

    def add_moments(self, number: int, moments: ExactMoments, round_: int) -> None:
        """Add what a summary says."""
        if isinstance(self.sums, FadingSums):
            self.sums.add_moments(number, moments, round_)
        else:
            self.sums.add_moments(number, moments)

    def moments(self, now: int, least: int) -> ExactMoments:
        """Moments as of round ``now``."""
        return self.sums.moments(now, least) if isinstance(self.sums, FadingSums) else self.sums.moments()
