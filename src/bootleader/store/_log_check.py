"""Everything computed again from the log, and compared."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bootleader._core.printable_text import shown
from bootleader._core.validation import counted
from bootleader.store._decision_audit import audited
from bootleader.store._errors import StoreError
from bootleader.store._events import EXPERIMENT, Event, Kind
from bootleader.store._folding import is_folded
from bootleader.store._model_sums import context_of_reward
from bootleader.store._rewards import amount_of, reward_after
from bootleader.store._state import State

if TYPE_CHECKING:
    from bootleader.store._experiment_writer import Writer


@dataclass
class Check:
    """What :meth:`Experiment.check` found; true if all is well.

    Attributes
    ----------
    events, decisions, audited, snapshots : int
        How many there are, and how many decisions were computed again.
    problems : list of str
        What is wrong, each with the event or decision it concerns.

    Examples
    --------
    >>> import bootleader as bl
    >>> button = bl.Store("sqlite://").create("button", bl.UCB1(), arms=["blue", "green"], seed=1)
    >>> _ = button.reward(button.decide().id, 1.0)
    >>> print(button.check())
    3 events, 1 decision, 1 computed again, 0 snapshots: all is well
    """

    events: int = 0
    decisions: int = 0
    audited: int = 0
    snapshots: int = 0
    problems: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return not self.problems

    def __str__(self) -> str:
        head = (
            f"{counted(self.events, 'event')}, {counted(self.decisions, 'decision')}, {self.audited} computed again, "
            f"{counted(self.snapshots, 'snapshot')}: "
        )
        return head + ("all is well" if self else "\n".join([counted(len(self.problems), "problem"), *self.problems]))


def check(writer: Writer, decisions: bool) -> Check:
    """Check an experiment; again if events were folded meanwhile."""
    while True:
        before, found = writer.backend.fold_position(writer.found.id), _checked(writer, decisions)
        if found or writer.backend.fold_position(writer.found.id) == before:
            return found


def _checked(writer: Writer, decisions: bool) -> Check:
    found = Check()
    made = _check_rows(writer, found)
    if found.problems:  # the state cannot be computed from a damaged log
        return found
    try:
        found.problems += writer.backend.problems(writer.found.id)
        _check_states(writer, found, made if decisions else [])
    except StoreError as error:
        found.problems.append(str(error))
    return found


def _check_rows(writer: Writer, found: Check) -> list[Event]:
    """Check every row, and the chain of each decision; return the decisions."""
    made: list[Event] = []
    chains: dict[str, list[tuple[int, float | None]]] = {}
    last: dict[str, Event] = {}
    for event in writer.backend.events(writer.found.id):
        found.events += 1
        if not event.intact:
            found.problems.append(f"event {event.seq} of decision {shown(event.decision)} is damaged")
            continue
        if event.decision == EXPERIMENT or event.kind == Kind.ASSIGNMENT:
            continue
        before = last.get(event.decision)
        if event.kind == Kind.DECISION:
            found.decisions += 1
            made.append(event)
        elif before is None:
            if not is_folded(writer, event.decision):  # amended at the moment it was folded
                found.problems.append(f"event {event.seq}: decision {shown(event.decision)} is missing")
            continue
        else:
            chain = chains.setdefault(event.decision, [])
            chain.append((event.kind, amount_of(event)))
            copied = (event.arm, event.round, event.side, event.context) == (
                before.arm, before.round, before.side, context_of_reward(before.context),
            )  # fmt: skip
            if event.version != before.version + 1 or event.old != before.value or not copied:
                found.problems.append(f"event {event.seq} does not follow event {before.seq} of its decision")
            elif (value := reward_after(chain)) != event.value:
                found.problems.append(f"event {event.seq}: the reward should be {value!r}, not {event.value!r}")
        last[event.decision] = event
    return made


def _check_states(writer: Writer, found: Check, made: list[Event]) -> None:
    """Go through the log without snapshots; audit every decision, and compare every snapshot, on the way."""
    backend, experiment = writer.backend, writer.found.id
    replica = writer.first_replica()
    to_compare: list[tuple[str, Event | int]] = [(str(event.seen), event) for event in made if event.seen is not None]
    kept = backend.snapshots(experiment)
    found.snapshots = len(kept)
    for position, horizon in kept:
        if State.from_bytes(backend.snapshot(experiment, position), writer.settings, horizon) is not None:
            to_compare.append((horizon, position))
        else:
            found.problems.append(
                f"the snapshot after {position} events is damaged, or of another version: it is not used"
            )
    fold = backend.fold(experiment)
    if fold is not None:  # what was decided before cannot be computed again, and no snapshot of that time is used
        to_compare = [each for each in to_compare if backend.contains(each[0], fold.horizon)]
    order = backend.order(experiment, [horizon for horizon, _ in to_compare])
    for horizon, what in sorted(to_compare, key=lambda each: order[each[0]]):
        replica.sync(horizon)
        if isinstance(what, Event):
            audit = audited(writer, replica, what)
            found.audited += 1
            if not audit.agrees:
                found.problems.append(f"decision {what.decision} (event {what.seq}): {audit.note}")
        elif backend.snapshot(experiment, what) != replica.state.to_bytes(horizon):
            found.problems.append(f"the snapshot after {what} events differs from the log")
    replica.sync()
    with writer.lock:
        live = writer.replica()
        replica.sync(live.horizon)
        if replica.horizon == live.horizon and replica.state.to_bytes() != live.state.to_bytes():
            found.problems.append("the state of this process differs from the log")
