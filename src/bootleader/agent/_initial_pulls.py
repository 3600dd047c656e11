"""The arms that still wait for their first rewards."""

from __future__ import annotations

from collections.abc import Iterable


class OpenArms:
    """A set to draw from uniformly. Its order is the order in which a player's opening goes, and is kept on disk."""

    def __init__(self, slots: Iterable[int] = ()) -> None:
        self.slots = list(slots)
        self._place = {slot: place for place, slot in enumerate(self.slots)}

    def __len__(self) -> int:
        return len(self.slots)

    def __contains__(self, slot: int) -> bool:
        return slot in self._place

    def add(self, slot: int) -> None:
        """Put an arm at the end."""
        self._place[slot] = len(self.slots)
        self.slots.append(slot)

    def drop(self, slot: int) -> None:
        """Take an arm out; the last one takes its place."""
        place = self._place.pop(slot)
        last = self.slots.pop()
        if last != slot:
            self.slots[place] = last
            self._place[last] = place

    def forget(self, slot: int) -> None:
        """An arm has left for good: take it out, and count those after it one lower."""
        kept = [k - (k > slot) for k in self.slots if k != slot]
        self.__init__(kept)  # type: ignore[misc]
