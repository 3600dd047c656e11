"""Decisions whose rewards come later: remembered until they do, but never without bound."""

from __future__ import annotations

import os
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple

DEFAULT_LIMIT: Final = 100_000
DEFAULT_AGE: Final = 7 * 86_400.0


@dataclass(frozen=True)
class Decision:
    """What :meth:`Agent.decide` returns.

    Attributes
    ----------
    id : str
        To report the reward with, once.
    arm : str
        The arm to play.
    probability : float or None
        The probability with which this arm was chosen, for evaluating the log offline; None if it was not asked for.
    standard_error : float or None
        Of the probability where it is a Monte Carlo estimate (history policies); None where it is exact.
    """

    id: str
    arm: str
    probability: float | None
    standard_error: float | None = None


class Receipt(StrEnum):
    """What :meth:`Agent.reward` did."""

    COUNTED = "counted"
    REPEATED = "already counted"
    ARM_REMOVED = "arm removed"


class Pending(NamedTuple):
    """A decision without a reward so far."""

    arm: str
    time: float
    live: bool = True  # False once the arm is removed


class Settled(NamedTuple):
    """A decision with its reward, kept to recognise a second report."""

    value: float
    time: float
    learnt: bool  # not if the arm had left

    def reported_again(self, decision_id: str, value: float) -> Receipt:
        """What a second report means; another value is an error."""
        if value != self.value:
            raise ValueError(f"decision {decision_id!r} already has the reward {self.value!r}, got {value!r}")
        return Receipt.REPEATED if self.learnt else Receipt.ARM_REMOVED


class Ledger:
    """The open decisions and the lately settled ones: at most ``limit`` of each, none older than ``age`` seconds.

    Ids are never given out twice. Whatever makes, restores or forks a ledger writes ids under a random tag of its
    own, so a decision made between a save and a crash is unknown to the restored agent, not mistaken for a newer one.
    """

    def __init__(self, limit: int, age: float, clock: Callable[[], float] = time.time) -> None:
        if not callable(clock):
            raise TypeError(f"clock must be a function that returns the time in seconds, got {clock!r}")
        self.limit, self.age, self.clock = limit, age, clock
        self.open: OrderedDict[str, Pending] = OrderedDict()
        self.settled: OrderedDict[str, Settled] = OrderedDict()
        self.issued = 0
        self._take_tag()

    def _take_tag(self) -> None:
        self._tag, self._process = secrets.token_hex(6), os.getpid()

    def issue(self, arm: str) -> str:
        """Open a decision; return its id."""
        if os.getpid() != self._process:  # forked: the parent goes on with the old tag
            self._take_tag()
        self.issued += 1
        decision_id = f"{self._tag}-{self.issued}"
        self.open[decision_id] = Pending(arm, self.clock())
        return decision_id

    def find(self, decision_id: str) -> Pending | Settled | None:
        """An open decision or a settled one; None if it is unknown, or old enough to be forgotten."""
        found = self.open.get(decision_id) or self.settled.get(decision_id)
        return found if found is not None and found.time >= self.clock() - self.age else None

    def awaited(self) -> list[tuple[str, Pending]]:
        """The open decisions, oldest first, those left out that are old enough to be forgotten."""
        horizon = self.clock() - self.age
        return [(decision_id, pending) for decision_id, pending in self.open.items() if pending.time >= horizon]

    def settle(self, decision_id: str, value: float) -> None:
        """Close an open decision."""
        pending = self.open.pop(decision_id)
        self.settled[decision_id] = Settled(value, self.clock(), pending.live)

    def expire(self) -> Iterator[str]:
        """Forget what is too old or too much; the arms whose decisions are given up."""
        horizon = self.clock() - self.age
        while self.settled and (len(self.settled) > self.limit or next(iter(self.settled.values())).time < horizon):
            self.settled.popitem(last=False)
        while self.open and (len(self.open) > self.limit or next(iter(self.open.values())).time < horizon):
            _, pending = self.open.popitem(last=False)
            if pending.live:
                yield pending.arm

    def orphan(self, arm: str) -> None:
        """The arm of these decisions is gone; their rewards will teach nothing."""
        for decision_id, pending in self.open.items():
            if pending.arm == arm:
                self.open[decision_id] = pending._replace(live=False)

    def why_unknown(self, decision_id: str) -> str:
        """What to say of an id that is neither open nor settled."""
        tag, _, number = decision_id.rpartition("-")
        if tag == self._tag and number.isdigit() and 0 < int(number) <= self.issued:
            return (
                f"decision {decision_id!r} is forgotten: of open decisions, and of rewarded ones, the last "
                f"{self.limit} are kept, for {self.age:g} seconds"
            )
        return f"decision {decision_id!r} is unknown: report an id that decide() of this agent returned"
