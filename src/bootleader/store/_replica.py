"""A process's copy of an experiment's state, and which events it has applied."""

from __future__ import annotations

from typing import Final

from bootleader.store._backend import Backend
from bootleader.store._choice import Chooser
from bootleader.store._errors import DuplicateKey, StoreError
from bootleader.store._settings import Settings
from bootleader.store._state import OpenDecisions, State

SNAPSHOT_EVENTS: Final = 10_000  # a snapshot is written after so many events
SNAPSHOT_BYTES: Final = (
    50  # or more: so many bytes of a snapshot for each event, so that a log is never mostly snapshots
)


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
        self.state, self.horizon = State(settings), backend.start
        self._saved, self._size = 0, 0
        if use_snapshots:
            self._restore(upto)
        self.chooser = Chooser(self.state, name)
        self.sync(upto)

    def _restore(self, upto: str | None) -> None:
        """Start from the newest snapshot that is sound and not too new."""
        order = self.backend.order
        for position, horizon in self.backend.snapshots(self.experiment):
            if upto is not None and order(horizon) > order(upto):
                continue
            blob = self.backend.snapshot(self.experiment, position)
            state = State.from_bytes(blob, self.settings)
            if state is not None and state.events == position:
                self.state, self.horizon = state, horizon
                self._saved, self._size = state.events, len(blob)
                return

    def sync(self, upto: str | None = None) -> int:
        """Apply what was appended since; return the number of events."""
        news = self.backend.news(self.experiment, self.horizon, upto)
        if news.rows:
            self._apply(news.rows)
        self.horizon = news.horizon
        if self.state.reload:
            self._reload()
        return len(news.rows)

    def _apply(self, rows: object) -> None:
        try:
            self.state.apply(rows)  # type: ignore[arg-type]
        except BaseException:
            # Some of the rows are applied and some are not: start again, from a snapshot or the beginning.
            self.state, self.horizon = State(self.settings), self.backend.start
            self._restore(None)
            self.chooser = Chooser(self.state, self.chooser.experiment)
            raise

    def _reload(self) -> None:
        """Read the open decisions of arms that lack first rewards again."""
        for arm in sorted(self.state.reload):
            found = self.backend.open_decisions(self.experiment, arm, self.horizon)
            self.state.arms[arm].waiting = OpenDecisions(found)
            self.state.lacking.add(arm)
        self.state.reload.clear()

    # Snapshots -----------------------------------------------------------------------------------------------------

    @property
    def snapshot_due(self) -> bool:
        """Whether enough events were applied since the last snapshot."""
        return self.state.events - self._saved >= max(SNAPSHOT_EVENTS, self._size // SNAPSHOT_BYTES)

    def snapshot(self) -> tuple[int, str, bytes]:
        """Position, horizon and bytes of a snapshot of the present state."""
        blob = self.state.to_bytes()
        self._saved, self._size = self.state.events, len(blob)
        return self.state.events, self.horizon, blob

    def save_snapshot(self) -> None:
        """Write a snapshot of the present state. That it cannot be written does not matter."""
        position, horizon, blob = self.snapshot()
        try:
            self.backend.save_snapshot(self.experiment, position, horizon, blob)
        except (StoreError, DuplicateKey):
            return
