"""Decisions whose rewards come later: remembered until they do, but never without bound."""

from __future__ import annotations

import math
import os
import secrets
from collections import OrderedDict
from collections.abc import Callable
from enum import IntEnum, StrEnum
from numbers import Real
from operator import setitem
from time import monotonic, time
from typing import Any, Final, NamedTuple

from bootleader._core.printable_text import shown
from bootleader.agent._atomic_commit import Store
from bootleader.agent._validation import LATEST, MOST_REWARDS

DEFAULT_LIMIT: Final = 100_000
DEFAULT_AGE: Final = 7 * 86_400.0

fast_tuple: Final = tuple.__new__  # makes a NamedTuple in half the time that its own constructor takes

_WALL_AHEAD: Final = time() - monotonic()


def steady_clock() -> float:
    """Seconds since 1970, by the wall clock when the library was imported and by the monotonic clock since.

    Inside a process it never jumps; between processes it agrees as well as their wall clocks do.
    """
    return _WALL_AHEAD + monotonic()


class _Forks:
    """How often the program has forked, from its first process to this one."""

    number = 0

    @classmethod
    def count(cls) -> None:
        """Called in the new process."""
        cls.number += 1


if hasattr(os, "register_at_fork"):  # not on Windows, where nothing forks
    os.register_at_fork(after_in_child=_Forks.count)


class Decision(NamedTuple):
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
    holdout : bool
        Whether the unit is in the holdout of the agent's :class:`Traffic`. Its arm is the control, its probability 1.

    Examples
    --------
    >>> from bootleader import Agent, UCB1
    >>> decision = Agent(UCB1(), ["a", "b"], seed=1).decide()
    >>> decision.arm, decision.probability, decision.standard_error
    ('b', 0.5, None)
    """

    id: str
    arm: str
    probability: float | None
    standard_error: float | None = None
    holdout: bool = False


class Receipt(StrEnum):
    """What :meth:`Agent.reward` did.

    Attributes
    ----------
    COUNTED
        The reward is learnt.
    REPEATED
        The same reward was learnt before; nothing changed.
    ARM_REMOVED
        The arm had left by the first report; nothing is ever learnt.

    Examples
    --------
    >>> from bootleader import Agent, UCB1
    >>> agent = Agent(UCB1(), ["a", "b"], seed=1)
    >>> decision = agent.decide()
    >>> agent.reward(decision.id, 1.0), agent.reward(decision.id, 1.0)
    (<Receipt.COUNTED: 'counted'>, <Receipt.REPEATED: 'already counted'>)
    """

    COUNTED = "counted"
    REPEATED = "already counted"
    ARM_REMOVED = "arm removed"


class Group(IntEnum):
    """What a decision's reward counts for."""

    PLAIN = 0  # the policy
    BANDIT = 1  # the policy, and its side of the comparison with the holdout
    HOLDOUT = 2  # the holdout's side of the comparison


# A member of an enumeration takes longer to look up than a name of a module.
PLAIN: Final = Group.PLAIN
COUNTED: Final = Receipt.COUNTED


class OpenDecision(NamedTuple):
    """A decision whose reward has not come."""

    arm: str
    time: float
    live: bool = True  # False once the arm is removed
    group: int = Group.PLAIN
    context: tuple[Any, ...] | None = None  # of an agent with contexts

    @property
    def is_learnt(self) -> bool:
        """Whether the policy will learn its reward."""
        return self.live and self.group != Group.HOLDOUT


class Assignment(NamedTuple):
    """The arm that a sticky unit keeps, as of its latest decision."""

    arm: str
    time: float
    probability: float | None
    standard_error: float | None


class RewardedDecision(NamedTuple):
    """A decision with its reward, kept to recognise a second report."""

    value: float
    time: float
    learnt: bool  # False if the arm was removed before

    def reported_again(self, decision_id: str, value: float) -> Receipt:
        """What a second report means; another value is an error."""
        if value != self.value:
            raise ValueError(f"decision {decision_id!r} already has the reward {self.value!r}, got {value!r}")
        return Receipt.REPEATED if self.learnt else Receipt.ARM_REMOVED


class Ledger:
    """The open decisions, the lately rewarded ones and the sticky units.

    There are at most ``max_open`` of each, none older than ``max_age``. The tables are in order of time, because
    :meth:`now` never goes back: what is due is always at their heads.

    Ids are never given out twice. Whatever makes, restores or forks a ledger writes ids under a random tag of its
    own, so a decision made between a save and a crash is unknown to the restored agent, not mistaken for a newer one.
    """

    def __init__(self, max_open: int, max_age: float, clock: Callable[[], float] = steady_clock) -> None:
        if not callable(clock):
            raise TypeError(f"clock must be a function that returns the time in seconds, got {shown(clock)}")
        self.max_open, self.max_age, self.clock = max_open, max_age, clock
        self.open: OrderedDict[str, OpenDecision] = OrderedDict()
        self.rewarded: OrderedDict[str, RewardedDecision] = OrderedDict()
        self.units: OrderedDict[str, Assignment] = OrderedDict()
        self.issued = 0
        self._latest, self._added = -LATEST, 0.0  # the latest time, and what is added to the clock's readings
        self._oldest = -math.inf  # no decision is older
        self._tag = (secrets.token_hex(6), _Forks.number)

    # Time ----------------------------------------------------------------------------------------------------------

    def now(self) -> float:
        """The time. It never goes back: a step back of the clock counts as no time."""
        reading = self.clock()
        if reading.__class__ is float and self._latest <= reading <= LATEST and self._added == 0.0:  # nearly always
            self._latest = reading
            return reading
        if reading.__class__ is not float and (isinstance(reading, bool) or not isinstance(reading, Real)):
            raise TypeError(f"clock must return a number of seconds, got {shown(reading)}")
        if not -LATEST <= reading <= LATEST:
            raise ValueError(f"clock must return a number of seconds up to {LATEST:g} in size, got {shown(reading)}")
        now = float(reading) + self._added
        if now < self._latest:
            self._added = self._latest - float(reading)
        else:
            self._latest = now
        return self._latest

    def continue_from(self, latest: float) -> None:
        """Return no time before this one, the latest of a document, which another machine may have written."""
        self._latest, self._added = max(latest, -LATEST), 0.0

    # Look ups ------------------------------------------------------------------------------------------------------

    def find(self, decision_id: str, now: float) -> OpenDecision | RewardedDecision | None:
        """An open decision or a rewarded one; None if it is unknown, or old enough to be forgotten."""
        found = self.open.get(decision_id) or self.rewarded.get(decision_id)
        return found if found is not None and found.time >= now - self.max_age else None

    def awaited(self) -> list[tuple[str, OpenDecision]]:
        """The open decisions, oldest first, those left out that are old enough to be forgotten."""
        horizon = self.now() - self.max_age
        return [(key, decision) for key, decision in self.open.items() if decision.time >= horizon]

    def due(self, table: OrderedDict[str, Any], now: float, extra: int = 0) -> list[str]:
        """The ids in a table that are too old, or too many if so many were added."""
        horizon, surplus = now - self.max_age, len(table) + extra - self.max_open
        ids: list[str] = []
        if surplus <= 0 and (not table or table[next(iter(table))].time >= horizon):  # nearly always
            return ids
        for key, decision in table.items():
            if decision.time >= horizon and len(ids) >= surplus:
                break
            ids.append(key)
        return ids

    def is_full(self, now: float, *, opened: int = 0, rewarded: int = 0) -> bool:
        """Whether something is due to be forgotten when so many decisions are opened or rewarded."""
        limit = self.max_open
        if len(self.open) + opened - rewarded > limit or len(self.rewarded) + rewarded > limit:
            return True
        horizon = now - self.max_age
        if self._oldest < horizon:  # seldom: heads grow younger, and what comes is as young as now
            heads = [table[next(iter(table))].time for table in (self.open, self.rewarded) if table]
            self._oldest = min(heads, default=now)
        return self._oldest < horizon

    def next_id(self) -> str:
        """The id that the next decision will have."""
        tag, forks = self._tag
        if forks != _Forks.number:  # the parent goes on with the old tag
            tag = secrets.token_hex(6)
            self._tag = (tag, _Forks.number)
        if self.issued >= MOST_REWARDS:
            raise ValueError(f"an agent makes at most 2**53 decisions, got one more after {self.issued}")
        return f"{tag}-{self.issued + 1}"

    def why_unknown(self, decision_id: str) -> str:
        """What to say of an id that is neither open nor rewarded."""
        tag, _, number = decision_id.rpartition("-")
        if tag == self._tag[0] and number.isdecimal() and len(number) < 20 and 0 < int(number) <= self.issued:
            return (
                f"decision {decision_id!r} is forgotten: of open decisions, and of rewarded ones, the last "
                f"{self.max_open} are kept, for {self.max_age:g} seconds"
            )
        return f"decision {shown(decision_id)} is unknown: report an id that decide() of this agent returned"

    # Changes -------------------------------------------------------------------------------------------------------

    def issuing(
        self, decision_id: str, arm: str, now: float, group: int = PLAIN, context: tuple[Any, ...] | None = None
    ) -> list[Store]:
        """What opens a decision."""
        decision = fast_tuple(OpenDecision, (arm, now, True, group, context))
        return [(setitem, self.open, decision_id, decision), (setattr, self, "issued", self.issued + 1)]

    def assigning(self, unit: str, assignment: Assignment) -> list[Store]:
        """What remembers a unit's arm as of now."""
        return [(OrderedDict.pop, self.units, unit, None), (setitem, self.units, unit, assignment)]

    def rewarding(self, decision_id: str, value: float, now: float) -> list[Store]:
        """What gives an open decision its reward."""
        rewarded = fast_tuple(RewardedDecision, (value, now, self.open[decision_id].live))
        return [(OrderedDict.pop, self.open, decision_id, None), (setitem, self.rewarded, decision_id, rewarded)]

    def forgetting(self, table: OrderedDict[str, Any], ids: list[str]) -> list[Store]:
        """What takes decisions out of a table."""
        return [(OrderedDict.pop, table, key, None) for key in ids]

    def orphaning(self, arm: str) -> list[Store]:
        """What marks the decisions of an arm that is removed, and forgets its units; rewards will teach nothing."""
        stores: list[Store] = [
            (setitem, self.open, key, decision._replace(live=False))
            for key, decision in self.open.items()
            if decision.arm == arm
        ]
        return stores + self.forgetting(self.units, [key for key, kept in self.units.items() if kept.arm == arm])
