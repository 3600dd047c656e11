"""How the calls of an experiment read its state and append to its log, without the checks of their arguments."""

from __future__ import annotations

import json
import os
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from typing import Any, Final

from bootleader._core.printable_text import shown
from bootleader.agent._contextual_core import checked_context
from bootleader.agent._decisions import Decision, Receipt, fast_tuple
from bootleader.store._arm_tally import ArmTally
from bootleader.store._backend import Backend, Found, Place
from bootleader.store._choice import Choice, ExpectedReward
from bootleader.store._compute_thread import background
from bootleader.store._errors import DuplicateKey, StoreError, removed
from bootleader.store._events import EXPERIMENT, Core, Event, Kind, Rest, Side, new_event
from bootleader.store._folding import is_folded
from bootleader.store._ids import DecisionIds
from bootleader.store._model_sums import context_of_reward
from bootleader.store._replica import Replica
from bootleader.store._rewards import event_in_use, next_event
from bootleader.store._settings import Settings
from bootleader.store._state import State

ATTEMPTS: Final = 100  # of a call that other processes overtake again and again

_writers: weakref.WeakSet[Writer] = weakref.WeakSet()


def _after_fork() -> None:
    for writer in list(_writers):
        if not writer.lock.acquire(blocking=False):  # another thread of the parent was at work on the replica
            writer.forget_replica()
        writer.lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


class Writer:
    """One experiment of a store, in one process. The lock guards the replica; appends are made outside it."""

    def __init__(
        self, backend: Backend, found: Found, settings: Settings, clock: Callable[[], float], max_lag: float
    ) -> None:
        self.backend, self.found, self.settings, self.clock, self.max_lag = backend, found, settings, clock, max_lag
        self.lock = threading.RLock()
        self.ids = DecisionIds()
        self._replica: Replica | None = None
        self._state_of_changes: State | None = None  # where the replica lacks some of the experiment's changes
        _writers.add(self)

    def replica(self) -> Replica:
        """The replica, with all that is in the log now. Call it with the lock held."""
        if self._replica is None:
            self._replica = Replica(self.backend, self.found.id, self.found.name, self.settings)
        else:
            self._replica.sync()
        return self._replica

    def read_again(self) -> None:
        """Read the log before the next decision: this process has appended many events."""
        if self._replica is not None:
            self._replica.read_again()

    def forget_replica(self) -> None:
        """Read the log anew at the next call."""
        self._replica = None

    def fresh_replica(self, upto: str | None = None, use_snapshots: bool = True) -> Replica:
        """Another replica, of the present or of a horizon."""
        return Replica(
            self.backend, self.found.id, self.found.name, self.settings, upto=upto, use_snapshots=use_snapshots
        )

    def first_replica(self) -> Replica:
        """Another replica, of nothing, or of what was folded."""
        fold = self.backend.fold(self.found.id)
        return self.fresh_replica(self.backend.start if fold is None else fold.horizon, use_snapshots=False)

    def append(self, event: Event, changes: int, epoch: int | None = None) -> bool:
        """Append a decision or an event of one; False if that has to be tried again.

        Another process has taken its version, event id or assignment; the experiment was changed more often than
        ``changes`` times; or the decision that the event belongs to is not there, or was folded meanwhile.
        """
        try:
            is_written = self.backend.append_to(self.found.id, event, changes, epoch)
        except DuplicateKey as error:
            return self.is_own(event, error)
        replica = self._replica
        if replica is not None:
            if is_written:
                replica.count_appended()
            else:
                replica.read_again()
        return is_written

    def is_own(self, event: Event, error: DuplicateKey) -> bool:
        """Whether it is the event itself that is in the log already, since the connection broke during the commit."""
        if not error.may_be_own:  # another process may have written the same at the same time
            return False
        found = self.backend.chain(self.found.id, event.decision)
        self.backend.make_durable()
        return any(row.version == event.version and row[1:] == event[1:] for row in found)

    # Decisions -----------------------------------------------------------------------------------------------------

    def decide(self, unit: str | None, context: Any = None) -> Decision:
        """Choose an arm."""
        for _ in range(ATTEMPTS):
            now, began = self.clock(), time.monotonic()
            with self.lock:
                self._check_wait(began)
                replica, is_contended, is_read = self._replica, False, False
                if replica is None or not replica.is_alone:
                    is_contended = replica is not None and replica.is_contended
                    if replica is None or not (is_contended and replica.is_recent(self.max_lag)):
                        replica, is_read = self.replica(), True
                try:
                    event, choice = self._decided(replica, unit, context, now)
                except (StoreError, TypeError, ValueError) as error:
                    if is_read or getattr(error, "reason", None) == "unavailable":
                        raise
                    replica = self.replica()  # the experiment may have changed
                    event, choice = self._decided(replica, unit, context, now)
                state, place = replica.state, replica.place
                changes, name = state.changes, state.arms[choice.arm].name
            if self.append(event, changes, place.epoch) if is_contended else self._append_next(replica, event, place):
                replica.recent[event.decision] = event
                if replica.snapshot_due:
                    self._save_snapshot()
                _, probability, _, side, standard_error = choice
                return fast_tuple(Decision, (event.decision, name, probability, standard_error, side == Side.HOLDOUT))
        raise overtaken_error(f"the unit {shown(unit)}")

    def _decided(self, replica: Replica, unit: str | None, context: Any, now: float) -> tuple[Event, Choice]:
        """A decision from a replica."""
        state, traffic = replica.state, self.settings.traffic
        values = None if context is state.features is None else self.checked_context(state, context)
        decision_id, assignment = self.ids.next(), None
        if traffic is None or not traffic.sticky or unit is None:
            choice = replica.chooser.choose(decision_id, unit, now, values)
        else:
            choice, assignment = self._choice_for_unit(replica, decision_id, unit, now, values)
        return self._decision(replica, decision_id, choice, now, unit, assignment, values), choice

    def _check_wait(self, began: float) -> None:
        """Raise if other threads have kept the lock for longer than a call may wait."""
        timeout = self.backend.timeout
        if time.monotonic() - began > timeout:
            raise StoreError(
                f"other threads of this process were at work on the experiment for {timeout:g} seconds", "unavailable"
            )

    def _append_next(self, replica: Replica, event: Event, place: Place) -> bool:
        """Append an event, and apply it, if nothing else was appended since the replica was there; whether it was."""
        try:
            horizon = self.backend.append_next(self.found.id, event, place)
        except DuplicateKey as error:
            replica.note_others()
            return self.is_own(event, error)
        if horizon is None:
            if replica.is_alone:  # it has not read the log for this event
                replica.note_others()
            else:
                replica.note_overtaken()
            return False
        with self.lock:
            replica.take(event, place.horizon, horizon)
        return True

    @staticmethod
    def checked_context(state: State, context: Any) -> Any:
        """The values of a context, or ``TypeError`` or ``ValueError``."""
        if state.features is None:
            if context is not None:
                raise TypeError(f"the experiment has no features, so it takes no context, got {shown(context)}")
            return None
        return checked_context(state.features, context, "the experiment")

    def _choice_for_unit(
        self, replica: Replica, decision_id: str, unit: str, now: float, context: Any
    ) -> tuple[Choice, int | None]:
        """The choice for a decision where units are sticky, and the number of the assignment that it makes."""
        traffic, state = self.settings.traffic, replica.state
        assert traffic is not None
        if traffic.in_holdout(unit, self.settings.seed):
            return replica.chooser.choose(decision_id, unit, now, context), None
        before = self.backend.assignment(self.found.id, unit)
        if before is not None and before.arm < len(state.arms):
            arm = state.arms[before.arm]
            if arm.active and not arm.removed:
                replica.chooser.look_at(context, now)
                return Choice(before.arm, before.probability, "sticky"), None
        assignment = 1 if before is None or before.assignment is None else before.assignment + 1
        return replica.chooser.choose(decision_id, unit, now, context), assignment

    def record(self, unit: str | None, arm: str, probability: float | None, context: Any = None) -> Decision:
        """Record a choice that was made elsewhere."""
        for _ in range(ATTEMPTS):
            now, began = self.clock(), time.monotonic()
            with self.lock:
                self._check_wait(began)
                replica = self.replica()
                tally = replica.state.named(arm)
                values = self.checked_context(replica.state, context)
                replica.chooser.look_at(values, now)
                decision_id = self.ids.next()
                choice = Choice(tally.number, probability, "recorded", Side.ELSEWHERE)
                event = self._decision(replica, decision_id, choice, now, unit, None, values)
                changes, epoch = replica.state.changes, replica.place.epoch
            if self.append(event, changes, epoch):
                return Decision(decision_id, arm, probability)
        raise overtaken_error("the experiment")

    def _decision(
        self, replica: Replica, decision_id: str, choice: Choice, now: float, unit: str | None, assignment: int | None,
        context: Any,
    ) -> Event:  # fmt: skip
        arm, probability, origin, side, _ = choice
        return new_event(
            Core(Kind.DECISION, decision_id, 0, arm, None, None, replica.state.rounds, int(side), now),
            Rest(probability, unit, assignment, seen=replica.horizon, detail=origin),
            replica.chooser.logged(arm, context),
        )

    def _save_snapshot(self) -> None:
        with self.lock:
            replica = self._replica
            if replica is not None and replica.snapshot_due:
                replica.save_snapshot()

    # Rewards -------------------------------------------------------------------------------------------------------

    def append_outcome(self, decision_id: str, kind: Kind, amount: float | None, event: str | None) -> Receipt:
        """Append what became of a decision."""
        now = self.clock()
        replica = self._replica
        decision = None if kind != Kind.REWARD or replica is None else replica.recent.get(decision_id)
        if replica is not None and decision is not None:
            receipt = self._append_first(replica, decision, amount, event, now)
            if receipt is not None:
                return receipt
        for attempt in range(ATTEMPTS):
            if attempt:
                self._state_of_changes = self.changes_alone()
            chain = self.backend.chain(self.found.id, decision_id)
            if not chain or chain[0].kind != Kind.DECISION:
                raise self.unknown(decision_id)
            row = next_event(chain, kind, amount, event, now, self.settings.reward_range)
            if row is None:
                self.backend.make_durable()  # who wrote it may have ended before it was
                return self._receipt(chain[0].arm, Receipt.REPEATED)
            if self.append(row, self._changes_known()):
                return self._receipt(row.arm, Receipt.COUNTED)
            if event is not None:
                self._check_event(event, decision_id)
        raise overtaken_error(f"decision {shown(decision_id)}")

    def _append_first(
        self, replica: Replica, decision: Sequence[Any], amount: float | None, event: str | None, now: float
    ) -> Receipt | None:
        """Append the first reward of a decision that this process knows; None if its other events have to be read."""
        _, _, decision_id, _, arm, _, _, round_, side, *_, context = decision
        place = None
        if replica.is_alone:
            with self.lock:  # another thread may be reading
                place = replica.place
            if self.backend.waits and not replica.chooser.depends_on_more:
                self._expect(replica, ExpectedReward(arm, amount, side))  # now: it takes a thread a while to wake up
        reward = new_event(
            Core(Kind.REWARD, decision_id, 1, arm, None, amount, round_, side, now),
            Rest(event=event),
            context_of_reward(context),
        )
        is_written = place is not None and self._append_next(replica, reward, place)
        if is_written or self.append(reward, self._changes_known()):
            return self._receipt(arm, Receipt.COUNTED)
        return None

    def _expect(self, replica: Replica, reward: ExpectedReward) -> None:
        """Let another thread compute, while a reward is written, what the next decision needs."""
        version, lock = replica.state.version, self.lock

        def job() -> None:
            if lock.acquire(blocking=False):  # or else a decision computes it
                try:
                    replica.chooser.expect(reward, version)
                finally:
                    lock.release()

        background.submit(job)

    def _check_event(self, event: str, decision_id: str) -> None:
        """Raise if the event id belongs to another decision."""
        other = self.backend.by_event(self.found.id, event)
        if other is not None and other.decision != decision_id:
            raise event_in_use(event, other.decision, f"decision {shown(decision_id)}")

    def _receipt(self, arm: int, receipt: Receipt) -> Receipt:
        known = self._state_known().arms
        return Receipt.ARM_REMOVED if arm < len(known) and known[arm].removed else receipt

    # A reward is appended under the condition that this process knows all changes of the experiment.

    def changes_alone(self, before: int | None = None) -> State:
        """A state to which the changes of the experiment (before a version) were applied, and no other event."""
        state = State(self.settings)
        changes = self.backend.chain(self.found.id, EXPERIMENT)
        if not changes:
            raise removed()
        if before is not None:
            changes = [event for event in changes if event.version < before]
        state.apply([(event.seq, *event[1:11], event.detail, event.context) for event in changes])
        return state

    def _state_known(self) -> State:
        """The replica's state, or that of the changes alone if they are newer; a reward needs no other event."""
        replica, known = self._replica, self._state_of_changes
        if replica is not None and not replica.is_torn and (known is None or known.changes <= replica.state.changes):
            return replica.state
        if known is None:
            known = self._state_of_changes = self.changes_alone()
        return known

    def _changes_known(self) -> int:
        return self._state_known().changes

    def unknown(self, decision_id: str) -> StoreError:
        """What to raise for a decision that is not in the log."""
        self.backend.check_there(self.found.id)
        if is_folded(self, decision_id):
            return StoreError(
                f"decision {shown(decision_id)} and its reward were folded into a snapshot: they can no longer be "
                "changed or audited",
                "folded",
            )
        return StoreError(
            f"decision {shown(decision_id)} is unknown: report an id that decide() of this experiment returned",
            "unknown",
        )

    # Changes of the experiment -------------------------------------------------------------------------------------

    def append_change(self, change: Callable[[State], dict[str, Any]], event_id: str | None = None) -> Receipt:
        """Append a change that is made of the present state, once for an event id."""
        for _ in range(ATTEMPTS):
            before = None if event_id is None else self.backend.by_event(self.found.id, event_id)
            if before is not None and before.decision != EXPERIMENT:
                raise event_in_use(before.event, before.decision, "a summary")
            with self.lock:
                state = self.replica().state if before is None else self.changes_alone(before.version)
                made, version, rounds = change(state), state.changes + 1, state.rounds
            event = new_event(
                Core(Kind.CHANGE, EXPERIMENT, version, round=rounds, time=self.clock()),
                Rest(event=event_id, detail=json.dumps(made, allow_nan=False)),
            )
            if before is not None:
                if before.detail != event.detail:
                    raise event_in_use(before.event, before.decision, "something else")
                self.backend.make_durable()
                return Receipt.REPEATED
            try:
                self.backend.append_change(self.found.id, event)
            except DuplicateKey as error:
                if self.is_own(event, error):
                    return Receipt.COUNTED
                continue
            if self._replica is not None:
                self._replica.count_appended()
                self._replica.read_again()
            return Receipt.COUNTED
        raise overtaken_error("the experiment")

    def check_floor(self, state: State, change: int) -> None:
        """Raise if the floor is too large for so many more active arms."""
        if self.settings.traffic is not None:
            self.settings.traffic.check_active(sum(arm.active for arm in state.playing) + change)

    def check_control(self, arm: ArmTally, what: str) -> None:
        """Raise if the holdout needs the arm, which is to be paused or removed."""
        if self.settings.holds_out and arm.name == self.settings.control:
            raise ValueError(f"arm {shown(arm.name)} is the control of the holdout and cannot be {what}")


def overtaken_error(what: str) -> StoreError:
    return StoreError(f"other processes changed {what} {ATTEMPTS} times while this one tried to", "unavailable")
