"""The size of a choice rule's memory."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class MemorySize:
    """The number of floats that a rule remembers: ``per_arm`` for each arm, then ``fixed`` others.

    ``names_arms`` says that some of the fixed floats are arm numbers, so that no arm can be removed. A class instead of
    a function, because equal sizes make equal rules.

    Examples
    --------
    >>> MemorySize(per_arm=2, fixed=1)(arms=10, rounds=1_000)
    21
    """

    per_arm: int
    fixed: int = 0
    names_arms: bool = False

    def __call__(self, arms: int, rounds: int) -> int:
        """The number of floats in the memory."""
        return self.per_arm * arms + self.fixed
