"""A policy or a bandit of the library beside its naive twin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class PolicyCase:
    """A policy and its twin, and the bandit of ``cases.py`` that they are compared on (by default, by its rewards)."""

    policy: Any
    twin: Any
    bandit: str = ""

    @property
    def id(self) -> str:
        return str(self.policy)

    @property
    def bandit_id(self) -> str:
        return self.bandit or ("gaussian-drawn" if self.policy.reward_range[0] < 0.0 else "bernoulli")


@dataclass(frozen=True)
class BanditCase:
    """A bandit and its twin."""

    id: str
    bandit: Any
    twin: Any
