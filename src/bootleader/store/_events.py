"""What the log of an experiment is made of: decisions, what became of them, and changes of the experiment.

A row that concerns a reward holds the value before and the value after, so that applying it is one subtraction and one
addition and needs no other row. The rows of one decision have the versions 0 (the decision), 1, 2, ... Two processes
that change the same decision at once write the same version, which the database refuses to one of them: that one reads
again. Changes of the experiment are versions of the decision ``#experiment``.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Sequence
from enum import IntEnum
from typing import Any, Final, NamedTuple

from bootleader.agent._decisions import fast_tuple

EXPERIMENT: Final = "#experiment"  # the decision whose versions are the changes of the experiment


class Kind(IntEnum):
    """What an event is."""

    DECISION = 1
    REWARD = 2
    AMENDMENT = 3
    ADDITION = 4
    WITHDRAWAL = 5
    CHANGE = 6
    ASSIGNMENT = 7  # a sticky unit of an imported agent


class Side(IntEnum):
    """What the reward of a decision counts for."""

    BANDIT = 0  # the policy, and its side of the comparison with the holdout
    HOLDOUT = 1  # the holdout's side
    ELSEWHERE = 2  # the policy; the choice was made elsewhere, so it is on neither side


class Core(NamedTuple):
    """The columns that a replica reads: see :class:`Event`."""

    kind: int
    decision: str
    version: int
    arm: int = -1
    old: float | None = None
    value: float | None = None
    round: int = 0
    side: int = 0
    time: float = 0.0


class Rest(NamedTuple):
    """The other columns, but for the context: see :class:`Event`."""

    probability: float | None = None
    unit: str | None = None
    assignment: int | None = None
    event: str | None = None
    seen: str | None = None
    detail: str | None = None


# Each with the checksum of the columns before it.
CORE: Final = (*Core._fields, "crc")
REST: Final = (*Rest._fields, "crc_rest")
COLUMNS: Final = (*CORE, *REST, "context")  # the context belongs to the core; it came with a later version


class Event(NamedTuple):
    """A row of the log.

    Attributes
    ----------
    seq : int
        Place in the log; given by the database.
    kind : int
        A :class:`Kind`.
    decision : str
        Id of the decision that it concerns.
    version : int
        0 for the decision itself, then counted up.
    arm : int
        Number of the arm; -1 where it concerns none.
    old, value : float or None
        The decision's reward before and after; None where it has none.
    round : int
        Number of rewards that the deciding replica had seen: what a half-life measures age by.
    side : int
        A :class:`Side`.
    time : float
        Seconds since 1970, by the clock of the process that wrote it.
    crc, crc_rest : int
        Checksums of the columns before.
    probability : float or None
        Of the choice.
    unit : str or None
        Whom the decision is for.
    assignment : int or None
        How many times the unit was assigned an arm, where units are sticky and this decision assigns one.
    event : str or None
        The caller's id of the event.
    seen : str or None
        Which events the deciding replica had applied.
    detail : str or None
        How a decision came about; the amount of an addition; the JSON of a change.
    context : str or None
        The context of a decision, and of its reward: see :class:`bootleader.store._model_sums.LoggedContext`.
    """

    seq: int
    kind: int
    decision: str
    version: int
    arm: int
    old: float | None
    value: float | None
    round: int
    side: int
    time: float
    crc: int
    probability: float | None = None
    unit: str | None = None
    assignment: int | None = None
    event: str | None = None
    seen: str | None = None
    detail: str | None = None
    crc_rest: int = 0
    context: str | None = None

    @property
    def intact(self) -> bool:
        """Whether both checksums match."""
        return core_matches(self[1:11], self.context) and self.crc_rest == checksum_of_rest(self[11:17])


_pack = struct.Struct("<iiiqiddd").pack


def checksum_of_core(core: Sequence[Any], context: str | None = None) -> int:
    """Checksum of the columns that a replica reads, in the order of :class:`Core`, and of the context."""
    kind, decision, version, arm, old, value, round_, side, time = core
    packed = _pack(
        kind, version, arm, round_, side, math.nan if old is None else old, math.nan if value is None else value,
        time,
    )  # fmt: skip
    crc = zlib.crc32(decision.encode("utf-8", "surrogatepass"), zlib.crc32(packed))
    return crc if context is None else zlib.crc32(context.encode("utf-8", "surrogatepass"), crc)


def core_matches(core: Sequence[Any], context: Any) -> bool:
    """Whether the core columns match their checksum; a damaged row may hold anything."""
    try:
        return bool(checksum_of_core(core[:9], context) == core[9])
    except (TypeError, AttributeError, struct.error):
        return False


def checksum_of_rest(rest: Sequence[Any]) -> int:
    """Checksum of the other columns."""
    return zlib.crc32(repr(tuple(rest)).encode("utf-8", "surrogatepass"))


def new_event(core: Core, rest: Rest = Rest(), context: str | None = None) -> Event:  # noqa: B008
    """An event that is not in the log yet, with its checksums."""
    crc, crc_rest = checksum_of_core(core, context), checksum_of_rest(rest)
    return fast_tuple(Event, (0, int(core.kind), *core[1:], crc, *rest, crc_rest, context))
