"""How many numbers a choice rule remembers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Places:
    """So many numbers for each arm, and so many beside them; equal values are equal rules.

    Examples
    --------
    >>> Places(per_arm=2, fixed=1)(arms=10, rounds=1_000)
    21
    """

    per_arm: int
    fixed: int = 0

    def __call__(self, arms: int, rounds: int) -> int:
        """The number of floats in the memory."""
        return self.per_arm * arms + self.fixed
