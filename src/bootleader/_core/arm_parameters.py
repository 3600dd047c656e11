"""What a reward draw reads: the parameters of arms."""

from __future__ import annotations

from typing import Any, NamedTuple


class ArmParameters(NamedTuple):
    """The arms of some runs (arm x run): what the reward draw reads, and what regret and oracle policies need."""

    first: Any
    second: Any
    third: Any
    table: Any  # numbers that all arms share, such as observed rewards
    mean: Any
    sd: Any


class RewardParameters(NamedTuple):
    """One arm of one run, as a reward draw reads it."""

    first: Any
    second: Any
    third: Any
    table: Any
    pulls: Any  # rewards so far, of all arms: the time, for rewards that change
