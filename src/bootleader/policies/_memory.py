"""How many numbers a choice rule remembers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Places:
    """So many numbers for each arm, and so many beside them, at the end; equal values are equal rules.

    ``names_arms`` says that numbers of arms are among the latter, so that an arm cannot be taken away.

    Examples
    --------
    >>> Places(per_arm=2, fixed=1)(arms=10, rounds=1_000)
    21
    """

    per_arm: int
    fixed: int = 0
    names_arms: bool = False

    def __call__(self, arms: int, rounds: int) -> int:
        """The number of floats in the memory."""
        return self.per_arm * arms + self.fixed
