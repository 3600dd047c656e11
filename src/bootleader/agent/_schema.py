"""The schema of an agent's document: names, types, lengths and ranges, declared once.

msgspec checks a parsed document against these classes before anything is built from it: a small, fast library without
dependencies of its own, whose checks are compiled and whose constraints stand beside the types. What concerns more
than one field is checked in :mod:`bootleader.agent._document_checks`.
"""

from __future__ import annotations

from typing import Annotated, Any, Final

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from bootleader._core.moments import LARGEST_FOURTH_POWER
from bootleader._core.validation import LARGEST, SMALLEST
from bootleader.agent._contextual_schema import ContextsRecord
from bootleader.agent._decisions import Group
from bootleader.agent._validation import LARGEST_REWARD, LATEST, MOST_REWARDS
from bootleader.agent.traffic import LONGEST_UNIT

FORMAT: Final = "bootleader agent"
VERSION: Final = 2
THRESHOLDS: Final = 5  # numbers that a leader tree needs beside the laws

LARGEST_THIRD: Final = MOST_REWARDS * (2.0 * LARGEST_FOURTH_POWER) ** 3

Count = Annotated[int, Meta(ge=0, le=MOST_REWARDS)]
Word = Annotated[str, Meta(pattern=r"\A[0-9a-f]{16}\Z")]
Name = Annotated[str, Meta(min_length=1)]
Reward = Annotated[float, Meta(ge=-LARGEST_REWARD, le=LARGEST_REWARD)]
Deviation = Annotated[float, Meta(ge=-2.0 * LARGEST_REWARD, le=2.0 * LARGEST_REWARD)]
Variance = Annotated[float, Meta(ge=0.0, le=(2.0 * LARGEST_REWARD) ** 2)]
Third = Annotated[float, Meta(ge=-LARGEST_THIRD, le=LARGEST_THIRD)]
Fourth = Annotated[float, Meta(ge=0.0, le=MOST_REWARDS * (2.0 * LARGEST_FOURTH_POWER) ** 4)]
Kurtosis = Annotated[float, Meta(ge=0.0, le=float(MOST_REWARDS))]
Time = Annotated[float, Meta(ge=-LATEST, le=LATEST)]
Unit = Annotated[str, Meta(min_length=1, max_length=LONGEST_UNIT)]
Chance = Annotated[float, Meta(ge=0.0, le=1.0 + 1e-9)]
DecisionId = Annotated[str, Meta(pattern=r"\A[0-9a-f]{12}-[1-9][0-9]{0,15}\Z")]
HexFloat = Annotated[str, Meta(pattern=r"\A(-?0x[01]\.[0-9a-f]{13}p[+-][0-9]{1,4}|0x0\.0p\+0|-inf)\Z")]


class Record(Struct, forbid_unknown_fields=True):
    """An object of a document; a key that is not declared is refused."""


class PolicyRecord(Record):
    """The policy's class and its parameters, which the class itself checks."""

    name: Name
    parameters: dict[str, Any]


class StreamsRecord(Record):
    """Where the random streams stand."""

    noise: Word
    spare: Word


class ArmRecord(Record):
    """One arm."""

    name: Name
    metadata: Any
    active: bool
    count: Annotated[float, Meta(ge=0.0, le=float(MOST_REWARDS))]
    anchor: Reward
    drift: Deviation
    rss: Annotated[float, Meta(ge=0.0, le=MOST_REWARDS * (2.0 * LARGEST_REWARD) ** 2)]
    rewards: Count
    last: Count
    noise_sd: Annotated[float, Meta(ge=SMALLEST, le=LARGEST)]
    third: Third | UnsetType = UNSET
    fourth: Fourth | UnsetType = UNSET
    history: list[Deviation] | UnsetType = UNSET
    awaited: Annotated[list[Count], Meta(min_length=1)] | UnsetType = UNSET


class TreeRecord(Record):
    """Where a leader tree looks for its leader."""

    thresholds: Annotated[list[HexFloat], Meta(min_length=THRESHOLDS, max_length=THRESHOLDS)]
    excess: Count


class IndexRecord(Record):
    """What the index laws were computed from, unless they are to be computed anew (``stale``)."""

    stale: bool
    variance: Variance | UnsetType = UNSET
    kurtosis: Kurtosis | UnsetType = UNSET
    pooled_at: Count | UnsetType = UNSET
    tree: TreeRecord | UnsetType | None = UNSET


class OpenRow(Struct, array_like=True, forbid_unknown_fields=True):
    """An open decision; ``group`` is written where it is not 0."""

    key: DecisionId
    arm: Name
    time: Time
    live: bool
    group: Annotated[int, Meta(ge=0, le=2)] = 0

    @property
    def is_learnt(self) -> bool:
        """Whether the policy will learn its reward."""
        return self.live and self.group != Group.HOLDOUT


class MomentsRecord(Record):
    """Moments of the rewards on one side of the comparison with the holdout."""

    rewards: Count
    anchor: Reward
    drift: Deviation
    rss: Annotated[float, Meta(ge=0.0, le=MOST_REWARDS * (2.0 * LARGEST_FOURTH_POWER) ** 2)]
    third: Third
    fourth: Fourth


class TrafficRecord(Record):
    """Rules of traffic, and what an agent keeps for them."""

    rules: dict[str, Any]
    stream: Word  # of the draws for floor and ramp
    added_later: list[Name]  # arms that the agent did not begin with
    sides: list[MomentsRecord]  # rewards outside the holdout and inside it
    units: list[tuple[Unit, Name, Time, Chance | None, Chance | None]]


class DecisionsRecord(Record):
    """Open decisions and rewarded ones (id, reward, time, learnt), oldest first."""

    max_open: Annotated[int, Meta(ge=1, le=2**63 - 1)]
    max_age: Annotated[float, Meta(ge=SMALLEST, le=LARGEST)]
    issued: Count
    open: list[OpenRow]
    rewarded: list[tuple[DecisionId, Reward, Time, bool]]


class Document(Record):
    """An agent."""

    format: str
    version: int
    policy: PolicyRecord
    seed: Word
    maximize: bool
    half_life: Annotated[float, Meta(ge=1.0, le=LARGEST)] | None
    rounds: Count
    streams: StreamsRecord
    arms: list[ArmRecord]
    initial: list[Annotated[int, Meta(ge=0)]]
    removed: list[Name]
    index: IndexRecord
    decisions: DecisionsRecord
    memory: list[float] | UnsetType = UNSET
    traffic: TrafficRecord | UnsetType = UNSET
    contexts: ContextsRecord | UnsetType = UNSET


def refuse(why: str) -> ValueError:
    """The error that a document is refused with."""
    return ValueError(f"the document is refused: {why}")


def validated(body: dict[str, Any]) -> Document:
    """The parsed body of a document, checked field by field.

    Raises
    ------
    ValueError
        If a field is missing, unknown, of the wrong type, too long or out of range. The message says where.
    """
    try:
        return msgspec.convert(body, Document)
    except msgspec.ValidationError as error:
        raise refuse(str(error).replace("`", "'").replace("$.", "")[:300]) from None
