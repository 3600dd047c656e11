"""A process's copy of an experiment's state, and which events it has applied."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Any, Final

from bootleader.store._arm_tally import OpenDecisions
from bootleader.store._backend import Backend, Place
from bootleader.store._context_choice import chooser_of
from bootleader.store._errors import DuplicateKey, StoreError, removed
from bootleader.store._events import EXPERIMENT, Event, Kind
from bootleader.store._settings import Settings
from bootleader.store._state import DECISION, State

RECENT: Final = 10_000  # decisions
ALONE: Final = 4  # times that the log is read before a process counts as alone
AFTER_LOSS: Final = 32  # the same, after an attempt that another process has overtaken
# A decision may be made from what was read before, where other processes append all the time: for so many seconds after
# one of them has appended between the reading and the appending of a decision, and as long as this process has appended
# no more than a twentieth of what it has learnt from.
CONTENDED_SECONDS: Final = 1.0
RECENT_SHARE: Final = 20
# A snapshot is written after so many events; after more if it is large, one for so many of its bytes, so that a log is
# never mostly snapshots.
SNAPSHOT_EVENTS: Final = 10_000
SNAPSHOT_BYTES: Final = 50


class Replica:
    """The state at a horizon.

    Parameters
    ----------
    backend : Backend
        The database.
    experiment : int
        Id of the experiment.
    name : str
        What keys the random numbers beside seed and decision.
    settings : Settings
        Of the experiment.
    upto : str, optional
        The horizon that the replica is for; by default the present.
    use_snapshots : bool
        Whether to start from a snapshot.
    """

    def __init__(
        self,
        backend: Backend,
        experiment: int,
        name: str,
        settings: Settings,
        *,
        upto: str | None = None,
        use_snapshots: bool = True,
    ) -> None:
        self.backend, self.experiment, self.settings = backend, experiment, settings
        self.fold = 0
        self._sound_changes = 0  # the first changes of the experiment, whose rows were read in full
        self._appended = 0  # events that this process appended since the log was last read
        # By ``time.monotonic()``: when that was, and until when others are expected to append all the time.
        self._read_at: float
        self._contended_until = -math.inf
        self.recent: dict[str, Sequence[Any]] = {}  # the last decisions, as events or as rows
        self._name, self._use_snapshots = name, use_snapshots
        self._alone: int  # how often in succession the log was read, and had no others
        self._begin(upto)
        self.sync(upto)

    def _begin(self, upto: str | None) -> None:
        """Start anew."""
        # True while the state and its horizon do not belong together. An exception, such as that of a signal handler,
        # may come at any moment: then the next call starts anew.
        self.is_torn = True
        self._alone, self._read_at = 0, -math.inf  # nothing is decided before the log is read
        self._epoch = self.backend.epoch
        self._load(upto)
        self.chooser = chooser_of(self.state, self._name)
        self.is_torn = False

    def _load(self, upto: str | None) -> None:
        """Take the newest snapshot that is sound and not too new, or what was folded, or nothing.

        Events that were folded may be gone, so a snapshot has to contain them: the order of two snapshots in the log
        does not say so.
        """
        backend = self.backend
        self.state, self.horizon, self._saved, self._size = State(self.settings), backend.start, 0, 0
        fold = backend.fold(self.experiment)
        for position, horizon in backend.snapshots(self.experiment) if self._use_snapshots else ():
            if upto is not None and not backend.contains(upto, horizon):
                continue
            if fold is not None and not backend.contains(horizon, fold.horizon):
                continue
            blob = backend.snapshot(self.experiment, position)
            state = State.from_bytes(blob, self.settings, horizon)
            if state is not None and state.events == position:
                self.state, self.horizon = state, horizon
                self._saved, self._size = state.events, len(blob)
                return
        if fold is None:
            return
        folded = State.from_bytes(fold.blob, self.settings, fold.horizon, fold.ids)
        if folded is None or folded.events != fold.position:
            raise StoreError("the snapshot that old events were folded into is damaged: restore it", "damaged")
        if upto is not None and not backend.contains(upto, fold.horizon):
            raise StoreError("the events up to there were folded into a snapshot", "folded")
        self.state, self.horizon, self._saved = folded, fold.horizon, fold.position

    def sync(self, upto: str | None = None) -> int:
        """Apply what was appended since; return the number of events."""
        if self.is_torn:
            self._begin(upto)
        applied, more, began = 0, True, time.monotonic()
        while more:
            news = None if self._is_outdated else self.backend.news(self.experiment, self.horizon, upto)
            if news is None or self._is_outdated:
                self._begin(upto)
                continue
            if news.fold != self.fold:
                self.is_torn = True  # until it is known whether some of what was not read yet is gone
                fold = self.backend.fold(self.experiment)
                is_gone = fold is not None and not self.backend.contains(self.horizon, fold.horizon)
                if is_gone:
                    self._begin(upto)
                self.fold, self.is_torn = news.fold, False
                if is_gone:
                    continue
            if any(row[1] == Kind.CHANGE and row[3] > self._sound_changes for row in news.rows):
                # What changed is in a column that the replica's checksum leaves out: this raises if one is damaged.
                self._sound_changes = len(self.backend.chain(self.experiment, EXPERIMENT))
            self.is_torn = True
            if news.rows:
                self.state.apply(news.rows)
            self.horizon, more = news.horizon, news.more
            self.is_torn = False
            self._remember(news.rows[-RECENT:])
            applied += len(news.rows)
        if upto is None and not self.state.changes:  # not even the one that created it
            raise removed()
        if self.state.reload:
            self._reload()
        if applied == self._appended:
            self._alone, self._contended_until = self._alone + 1, -math.inf
        else:
            self._alone = 0
        self._appended, self._read_at = 0, began
        return applied

    @property
    def place(self) -> Place:
        """Where the replica is in the log."""
        return Place(self.horizon, self.fold, self._epoch)

    @property
    def _is_outdated(self) -> bool:
        """Whether the horizon may stand for other events by now than those that were applied."""
        return self._epoch != self.backend.epoch

    # A process that is alone does not read the log before it decides: it appends under the condition that there is
    # nothing new, and applies its own events as soon as they are written.

    @property
    def is_alone(self) -> bool:
        """Whether no other process has appended for a while, and all that this one has appended is applied."""
        is_sound = not (self.is_torn or self._is_outdated)
        return is_sound and self._alone >= ALONE and not (self._appended or self.state.reload)

    def note_others(self) -> None:
        """Another process, or thread, has appended: what was computed for the attempt is lost."""
        self._alone = ALONE - AFTER_LOSS

    # Where others append all the time, a process that read the log for each decision would do little else.

    @property
    def is_contended(self) -> bool:
        """Whether another process has lately appended while this one decided, and may do so again."""
        return time.monotonic() < self._contended_until and not self.is_alone

    def note_overtaken(self) -> None:
        """Another process, or thread, has appended since the log was read for this decision."""
        self.note_others()
        self._contended_until = time.monotonic() + CONTENDED_SECONDS

    def is_recent(self, max_lag: float) -> bool:
        """Whether the log was read so lately that, where there is contention, the next decision need not read it again.

        An arm that lacks its first rewards is never chosen from an old state: others may have chosen it since.
        """
        return (
            time.monotonic() - self._read_at < max_lag
            and self._appended * RECENT_SHARE <= self.state.rounds
            and not (self.state.lacking or self.state.reload or self.is_torn or self._is_outdated)
        )

    def read_again(self) -> None:
        """Read the log before the next decision."""
        self._read_at = -math.inf

    def count_appended(self) -> None:
        """Count an event of this process that is in the log, and was not applied yet."""
        self._appended += 1

    def take(self, event: Event, after: str, horizon: str) -> None:
        """Apply an event that was appended to what there was at the horizon ``after``, if it was not read since."""
        if self.horizon != after or self.is_torn:
            return
        self.is_torn = True
        expected = self.chooser.pop_expected(event) if event.kind == Kind.REWARD else None
        self.state.apply_own(event, None if expected is None else expected.sums)
        if expected is not None:
            self.chooser.adopt(expected)
        self.horizon = horizon
        self.is_torn = False

    def _remember(self, rows: Sequence[Sequence[Any]]) -> None:
        """Keep what a reward copies from its decision, of the last ones: it need not be read again."""
        recent = self.recent
        recent.update({row[2]: row for row in rows if row[1] == DECISION})
        if len(recent) > 2 * RECENT:
            for decision in list(recent)[:-RECENT]:
                del recent[decision]

    def _reload(self) -> None:
        """Read the open decisions of arms that lack first rewards again."""
        state = self.state
        for arm in sorted(state.reload):
            if state.arms[arm].sums.number < state.needed:  # or else other rewards have come since
                found = self.backend.open_decisions(self.experiment, arm, self.horizon)
                state.arms[arm].waiting = OpenDecisions(found)
                state.lacking.add(arm)
        state.reload.clear()

    # Snapshots -----------------------------------------------------------------------------------------------------

    @property
    def snapshot_due(self) -> bool:
        """Whether enough events were applied since the last snapshot."""
        return self.state.events - self._saved >= max(SNAPSHOT_EVENTS, self._size // SNAPSHOT_BYTES)

    def snapshot(self) -> tuple[int, str, bytes]:
        """Position, horizon and bytes of a snapshot of the present state."""
        blob = self.state.to_bytes(self.horizon)
        self._saved, self._size = self.state.events, len(blob)
        return self.state.events, self.horizon, blob

    def save_snapshot(self) -> None:
        """Write a snapshot of the present state. That it cannot be written does not matter."""
        try:
            self.sync()  # so that the horizon is one that the database has given
            epoch = self._epoch
            position, horizon, blob = self.snapshot()
            self.backend.save_snapshot(self.experiment, position, horizon, blob, epoch)
        except (StoreError, DuplicateKey):
            return
