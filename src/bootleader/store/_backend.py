"""What a database has to do for a store. One test-suite holds every backend to it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from bootleader.store._events import Event


class Found(NamedTuple):
    """An experiment in the database."""

    id: int
    name: str
    settings: str
    created: float


class News(NamedTuple):
    """Events that were not read before, as rows of seq, the core columns, detail, context; what is read with them."""

    rows: Sequence[Sequence[Any]]
    horizon: str
    more: bool  # whether the horizon that was asked for is not reached: read again from here
    fold: int  # position of the fold, 0 if there is none: events before it may be gone


class Fold(NamedTuple):
    """The state at a horizon whose events may be gone: what a replica starts from."""

    horizon: str
    position: int
    blob: bytes
    ids: str  # JSON: of each tag of decision ids, the largest number that was folded


class Place(NamedTuple):
    """Where a reader is in the log."""

    horizon: str
    fold: int  # position of the fold that there was then, 0 if there was none
    epoch: int  # of the backend


class Backend(ABC):
    """A database with the logs of experiments.

    A *horizon* is a text that says exactly which events of the database a reader has seen. The set of events that it
    stands for never changes, but for one exception: ``epoch`` grows when it may have changed for horizons that no row
    of the database has. A replica of an older epoch starts anew, and what was made from it is not written.
    """

    start: str  # the horizon before all events
    timeout: float  # seconds
    epoch = 0
    waits = True  # whether a call that writes waits for a disk or a server, so that another thread can compute

    @abstractmethod
    def create(self, name: str, settings: str, first: Sequence[Event], now: float) -> Found:
        """Write a new experiment with its first events; ``DuplicateKey`` if the name is in use."""

    @abstractmethod
    def find(self, name: str) -> Found | None:
        """An experiment by its name."""

    @abstractmethod
    def names(self) -> list[str]:
        """The names of all experiments, in the order of their creation."""

    @abstractmethod
    def remove(self, experiment: int, now: float) -> None:
        """Mark an experiment as removed; its name is free again, and its rows go when the store is vacuumed."""

    @abstractmethod
    def check_there(self, experiment: int) -> None:
        """Raise ``StoreError`` if an experiment was removed."""

    @abstractmethod
    def append_many(self, experiment: int, events: Sequence[Event], fold: int) -> None:
        """Write events durably, all or none.

        Parameters
        ----------
        experiment : int
            Id of the experiment.
        events : sequence of Event
            What to write.
        fold : int
            Position of the fold that there was when their decisions were read, 0 if there was none.

        Raises
        ------
        DuplicateKey
            If a version, an event id or an assignment is in use; or there is a newer fold: some of the decisions may be
            gone.
        StoreError
            If the experiment was removed, or the database does not answer.
        """

    @abstractmethod
    def append_change(self, experiment: int, event: Event) -> None:
        """As :meth:`append_many`, for a change of the experiment."""

    @abstractmethod
    def append_to(self, experiment: int, event: Event, changes: int, epoch: int | None = None) -> bool:
        """As :meth:`append_many`, for a decision, made in an epoch, or an event of one.

        False if the experiment was changed more often than ``changes`` times: an arm may have been paused or removed;
        or if the decision that the event belongs to is not there, or no more.
        """

    @abstractmethod
    def append_next(self, experiment: int, event: Event, after: Place) -> str | None:
        """As :meth:`append_to`, if nothing was appended or folded since a horizon.

        Parameters
        ----------
        experiment : int
            Id of the experiment.
        event : Event
            What to write.
        after : Place
            The horizon, the fold that there was then, and the epoch.

        Returns
        -------
        str or None
            The horizon with the event; None if nothing was written.
        """

    @abstractmethod
    def make_durable(self) -> None:
        """Wait until all that can be read is durable: before an answer that is made of what others have written."""

    @abstractmethod
    def news(self, experiment: int, after: str, upto: str | None = None) -> News:
        """The events that are visible now (or at a horizon), and were not at the horizon ``after``; the first of them.

        Rows of one decision are in the order of their versions.
        """

    @abstractmethod
    def contains(self, horizon: str, other: str) -> bool:
        """Whether a horizon has all events of another one; False also where this cannot be told without the log."""

    @abstractmethod
    def order(self, experiment: int, horizons: Iterable[str]) -> dict[str, int]:
        """Numbers that sort horizons of an experiment's decisions and snapshots by inclusion."""

    @abstractmethod
    def chain(self, experiment: int, decision: str) -> list[Event]:
        """The events of one decision, in the order of their versions."""

    @abstractmethod
    def chains(self, experiment: int, decisions: Sequence[str]) -> dict[str, list[Event]]:
        """The events of many decisions."""

    @abstractmethod
    def by_event(self, experiment: int, event: str) -> Event | None:
        """The event with a caller's id."""

    @abstractmethod
    def assignment(self, experiment: int, unit: str) -> Event | None:
        """The last decision that assigned an arm to a unit."""

    @abstractmethod
    def assignments(self, experiment: int, unit: str) -> list[Event]:
        """All decisions that assigned an arm to a unit, in their order."""

    @abstractmethod
    def events(self, experiment: int) -> Iterable[Event]:
        """All events, in the order of the log, damaged ones too."""

    @abstractmethod
    def open_decisions(self, experiment: int, arm: int, horizon: str) -> list[tuple[str, float]]:
        """The decisions of an arm, outside the holdout, that never had a reward, at a horizon."""

    @abstractmethod
    def save_snapshot(self, experiment: int, position: int, horizon: str, blob: bytes, epoch: int) -> None:
        """Keep a snapshot of the state at a horizon, after so many events; ``DuplicateKey`` in another epoch."""

    @abstractmethod
    def snapshots(self, experiment: int) -> list[tuple[int, str]]:
        """Position and horizon of the snapshots, newest first."""

    @abstractmethod
    def snapshot(self, experiment: int, position: int) -> bytes:
        """A snapshot; empty if it is gone."""

    @abstractmethod
    def fold(self, experiment: int) -> Fold | None:
        """What the experiment was folded into."""

    @abstractmethod
    def fold_position(self, experiment: int) -> int:
        """Number of events that were folded; 0 if there is no fold."""

    @abstractmethod
    def horizon_before(self, experiment: int, time: float) -> str:
        """A horizon whose events are all older than a time, and which no transaction can add to."""

    @abstractmethod
    def folding(self, experiment: int, horizon: str) -> Iterable[str]:
        """The decisions whose events are all within a horizon, and which have a reward and assign no unit."""

    @abstractmethod
    def save_fold(self, experiment: int, fold: Fold, decisions: Sequence[str], earlier: int, epoch: int) -> int:
        """Keep a fold and delete the events of these decisions, at once; return how many events.

        ``DuplicateKey`` if the position of the last fold is not ``earlier``: what is kept would lack the events of a
        newer one; and in another epoch.
        """

    @abstractmethod
    def problems(self, experiment: int) -> list[str]:
        """What is wrong beside the rows themselves: their places, the number of changes, the indexes."""

    @abstractmethod
    def purge(self) -> int:
        """Delete the rows of removed experiments; return how many events. SQLite gives the space back at once."""

    @abstractmethod
    def by_events(self, experiment: int, events: Sequence[str]) -> dict[str, str]:
        """The decisions that the events with these callers' ids belong to."""

    @abstractmethod
    def close(self) -> None:
        """Close all connections."""
