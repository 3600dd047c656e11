"""The arms in their initial pulls: those that still lack the rewards every arm gets first."""

from __future__ import annotations

from collections.abc import Iterable
from operator import setitem

from bootleader.agent._atomic_commit import Store


class InitialPulls:
    """A set of arms to draw from uniformly. Its order decides the draws, so documents keep it."""

    def __init__(self, slots: Iterable[int] = ()) -> None:
        self.slots = list(slots)
        self.place = {slot: place for place, slot in enumerate(self.slots)}

    def without(self, slot: int) -> InitialPulls:
        """The set after an arm was removed for good: later arms are counted one lower."""
        return InitialPulls(k - (k > slot) for k in self.slots if k != slot)


class InitialPullsDraft:
    """Changes to an :class:`InitialPulls` that are not made yet."""

    def __init__(self, base: InitialPulls) -> None:
        self._base = base
        self._slots: dict[int, int] = {}  # place: slot, where it differs from the base
        self._place: dict[int, int] = {}  # slot: place, or -1 if it is out, where it differs from the base
        self._size = len(base.slots)

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, place: int) -> int:
        found = self._slots.get(place)
        return self._base.slots[place] if found is None else found

    def __contains__(self, slot: int) -> bool:
        return self._where(slot) >= 0

    def _where(self, slot: int) -> int:
        place = self._place.get(slot)
        return self._base.place.get(slot, -1) if place is None else place

    def add(self, slot: int) -> None:
        """Put an arm at the end."""
        self._put(self._size, slot)
        self._size += 1

    def drop(self, slot: int) -> None:
        """Take an arm out; the last one takes its place."""
        place = self._where(slot)
        self._size -= 1
        last = self[self._size]
        self._slots.pop(self._size, None)
        if last != slot:
            self._put(place, last)
        self._place[slot] = -1

    def _put(self, place: int, slot: int) -> None:
        self._slots[place] = slot
        self._place[slot] = place

    def stores(self) -> list[Store]:
        """What makes the changes."""
        slots, places = self._base.slots, self._base.place
        kept = min(len(slots), self._size)
        changes: list[Store] = [(setitem, slots, place, slot) for place, slot in self._slots.items() if place < kept]
        changes.append((setitem, slots, slice(kept, None), [self[place] for place in range(kept, self._size)]))
        for slot, place in self._place.items():
            changes.append((setitem, places, slot, place) if place >= 0 else (dict.pop, places, slot, None))
        return changes
