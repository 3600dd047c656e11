"""Changes that are made completely or not at all, whatever line an exception interrupts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

# store(target, key, value) sets one place to a given value.
Store = tuple[Callable[[Any, Any, Any], Any], Any, Any, Any]


def carry_out(stores: list[Store]) -> None:
    """Make changes one after the other."""
    for store, target, key, value in stores:
        store(target, key, value)


class Journal:
    """A redo log of one entry.

    A call first computes all that it will change, and touches nothing. Then it commits a list of stores. Each sets a
    place to a value, so that carrying out the list twice does the same as once. The call has happened from the moment
    that ``pending`` is assigned, which is one instruction: an exception before it leaves everything as it was, and
    what an exception after it leaves undone is finished by the next call, before it looks at anything.

    Attributes
    ----------
    pending : list of stores, or None
        What is committed and perhaps not carried out.
    """

    def __init__(self) -> None:
        self.pending: Any = None

    def commit(self, stores: list[Store]) -> None:
        """Make these changes, all of them."""
        self.pending = stores
        self.finish()

    def commit_draws(self, stores: list[Store]) -> None:
        """Make changes that leave all that is derived from the state as it is, such as draws from a stream."""
        self.pending = stores
        carry_out(stores)
        self.pending = None

    def finish(self) -> None:
        """Carry out what is committed. Call it only if something is pending."""
        carry_out(self.pending)
        self.pending = None
