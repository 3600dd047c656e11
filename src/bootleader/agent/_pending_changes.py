"""What a call is about to change in a learner; nothing of it is visible before it is committed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import setitem
from typing import TYPE_CHECKING, Final

from bootleader.agent._arm_state import ArmState
from bootleader.agent._atomic_commit import Store
from bootleader.agent._initial_pulls import InitialPullsDraft
from bootleader.agent._laws import Law, Laws
from bootleader.agent._random_streams import Streams

if TYPE_CHECKING:
    from bootleader.agent._learner import Learner
    from bootleader.agent._linear_model import Model


PATIENCE: Final = 100


def patience(arms: int) -> int:
    """Rewards until a pull without an id is given up: with more arms, each one is rewarded less often."""
    return max(PATIENCE, arms)


def next_given_up(arms: Sequence[ArmState]) -> float:
    """The round in which the oldest awaited pull is given up."""
    return min((arm.awaited[0] for arm in arms if arm.awaited), default=math.inf) + patience(len(arms))


def _set_law(laws: Laws, place: int, law: Law) -> None:
    laws.set(place, law)


class Draft:
    """A learner's state as it will be.

    Attributes
    ----------
    rounds : int
        Number of rewards learnt.
    stale : bool
        Whether the playing arms and their index laws have to be computed anew.
    give_up_at : float
        Round in which the oldest awaited pull will be given up.
    """

    __slots__ = (
        "_added",
        "_arms",
        "_history",
        "_in_flight",
        "_initial",
        "_law_changes",
        "_laws",
        "_learner",
        "_same_choice",
        "_streams",
        "give_up_at",
        "model",
        "rounds",
        "stale",
    )  # fmt: skip

    def __init__(self, learner: Learner) -> None:
        self._learner = learner
        self._arms: dict[int, ArmState] = {}
        self._in_flight: dict[int, int] = {}  # of arms of which nothing else changes
        self._added: list[ArmState] = []
        self._history: dict[int, list[float]] = {}
        self._initial: InitialPullsDraft | None = None
        self._streams: Streams | None = None
        self._laws: Laws | None = None
        self._law_changes: dict[int, Law] = {}
        self._same_choice = True
        self.model: Model | None = None  # that the arms share, if they share one
        self.rounds, self.stale, self.give_up_at = learner.rounds, learner.stale, learner.give_up_at

    def arm(self, slot: int) -> ArmState:
        """An arm, to be changed."""
        arm = self._arms.get(slot)
        if arm is None:
            arm = self._arms[slot] = self._learner.arms[slot].copy()
            arm.in_flight = self._in_flight.pop(slot, arm.in_flight)
        return arm

    def arms(self) -> list[ArmState]:
        """All arms, to be read."""
        arms = self._learner.arms + self._added
        for slot, arm in self._arms.items():
            arms[slot] = arm
        return arms

    def add(self, arm: ArmState) -> int:
        """Take in an arm; return its slot."""
        slot = len(self._learner.arms) + len(self._added)
        self._added.append(arm)
        self._arms[slot] = arm
        return slot

    def append_history(self, slot: int, value: float) -> None:
        """Add a value to the history of an arm."""
        self._history.setdefault(slot, []).append(value)

    @property
    def in_initial_pulls(self) -> int:
        """Number of arms in their initial pulls."""
        return len(self._learner.initial.slots if self._initial is None else self._initial)

    @property
    def initial(self) -> InitialPullsDraft:
        """The arms in their initial pulls."""
        if self._initial is None:
            self._initial = InitialPullsDraft(self._learner.initial)
        return self._initial

    def initial_slots(self) -> list[int]:
        """The arms in their initial pulls, to be read."""
        initial = self._initial
        return self._learner.initial.slots if initial is None else [initial[place] for place in range(len(initial))]

    @property
    def streams(self) -> Streams:
        """The random streams, to be drawn from."""
        if self._streams is None:
            self._streams = self._learner.streams.copy()
        return self._streams

    @property
    def laws(self) -> Laws:
        """The playing arms and their laws, to be read."""
        return self._learner.laws if self._laws is None else self._laws

    def replace_laws(self, laws: Laws) -> None:
        """Laws that were computed anew."""
        self._laws, self.stale = laws, False
        self._law_changes = {}

    def set_law(self, place: int, law: Law) -> None:
        """Change one arm's law."""
        if self._laws is not None:
            self._laws.set(place, law)
        else:
            self._law_changes[place] = law

    def assign(self, slot: int) -> None:
        """Put an arm among those in their initial pulls, or those that play, or neither, as its state says."""
        arm, needed = self.arm(slot), self._learner.initial_pulls
        if arm.awaited and arm.count >= needed:
            arm.awaited = ()
        lacking = arm.active and arm.expected < needed
        if lacking != (slot in self.initial):
            (self.initial.add if lacking else self.initial.drop)(slot)
            self._same_choice = False
        plays = arm.active and arm.count >= needed
        if plays != (slot in self.laws.place):
            self.stale, self._same_choice = True, False

    def wait_for(self, slot: int) -> None:
        """A decision for this arm is on its way."""
        self._change_in_flight(slot, 1)

    def wait_for_pull(self, slot: int) -> None:
        """The reward of a pull without an id is on its way: kept in mind while the arm lacks its first rewards."""
        needed = self._learner.initial_pulls
        if (self._arms.get(slot) or self._learner.arms[slot]).count < needed:
            arm = self.arm(slot)
            arm.awaited = (*arm.awaited, self.rounds)[-needed:]
            self.give_up_at = min(self.give_up_at, self.rounds + patience(len(self._learner.arms)))
            self.assign(slot)

    def answer_pull(self, slot: int) -> None:
        """The reward of the oldest pull without an id has come."""
        if (self._arms.get(slot) or self._learner.arms[slot]).awaited:
            arm = self.arm(slot)
            arm.awaited = arm.awaited[1:]

    def give_up_pulls(self) -> None:
        """Pulls without an id that were waited for long enough will get no reward."""
        arms = self.arms()
        last = self.rounds - patience(len(arms))
        for slot, arm in enumerate(arms):
            if arm.awaited and arm.awaited[0] <= last:
                self.arm(slot).awaited = tuple(made for made in arm.awaited if made > last)
                self.assign(slot)
        self.give_up_at = next_given_up(self.arms())

    def give_up_on(self, slot: int) -> None:
        """A decision for this arm will get no reward."""
        self._change_in_flight(slot, -1)

    def _change_in_flight(self, slot: int, change: int) -> None:
        arm = self._arms.get(slot) or self._learner.arms[slot]
        if arm.count < self._learner.initial_pulls or slot in self._arms:
            arm = self.arm(slot)
            arm.in_flight += change
            if arm.count < self._learner.initial_pulls:
                self.assign(slot)
        else:
            self._in_flight[slot] = self._in_flight.get(slot, arm.in_flight) + change

    def choice_changed(self) -> None:
        """The probabilities of the next choice are no longer what they were."""
        self._same_choice = False

    def stores(self) -> list[Store]:
        """What makes all the changes."""
        learner = self._learner
        stores: list[Store] = []
        if self._streams is not None:
            stores.append((setattr, learner, "streams", self._streams))
        if self._laws is not None:
            stores.append((setattr, learner, "laws", self._laws))
        known = len(learner.arms)
        stores += [(setitem, learner.arms, slot, arm) for slot, arm in self._arms.items() if slot < known]
        for slot, in_flight in self._in_flight.items():
            stores.append((setattr, learner.arms[slot], "in_flight", in_flight))
        if self._added:
            stores.append((setitem, learner.arms, slice(known, None), self._added))
        for slot, values in self._history.items():
            history = self.arm(slot).history
            stores.append((setitem, history, slice(len(history), None), values))
        if self._initial is not None:
            stores += self._initial.stores()
        stores += [(_set_law, learner.laws, place, law) for place, law in self._law_changes.items()]
        if self.stale != learner.stale:
            stores.append((setattr, learner, "stale", self.stale))
        if self.give_up_at != learner.give_up_at:
            stores.append((setattr, learner, "give_up_at", self.give_up_at))
        if self.rounds != learner.rounds:
            stores.append((setattr, learner, "rounds", self.rounds))
        if self.model is not None:
            stores.append((setattr, learner, "model", self.model))
        if not self._same_choice:
            stores.append((setattr, learner, "changes", learner.changes + 1))
        return stores
