"""What a program hands to the agent, checked before anything changes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from numbers import Real
from typing import Any, Final

import numpy as np

LARGEST_REWARD: Final = 1e150  # squares of differences, summed over any number of rounds, stay finite
ACCEPTED: Final = f"a finite number from {-LARGEST_REWARD:g} to {LARGEST_REWARD:g}, or a bool"


def reward_of(value: Any) -> float:
    """A reward as a float, or raise."""
    if not isinstance(value, Real | np.bool_):
        raise TypeError(f"reward must be {ACCEPTED}, got {value!r}")
    try:
        number = float(value)
    except OverflowError:
        number = float("inf")
    if not -LARGEST_REWARD <= number <= LARGEST_REWARD:
        raise ValueError(f"reward must be {ACCEPTED}, got {value!r}")
    return number


def arm_name(value: Any) -> str:
    """An arm's name, or raise."""
    if not isinstance(value, str) or not value:
        raise TypeError(f"an arm's name must be a string that is not empty, got {value!r}")
    return str(value)


def metadata_of(name: str, value: Any) -> Any:
    """An arm's metadata, which must survive a round trip through JSON."""
    try:
        copy = json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError) as error:
        raise ValueError(f"metadata of arm {name!r} must be plain JSON data: {error}") from None
    return copy


def named_arms(arms: Any) -> dict[str, Any]:
    """Arms with their metadata, from a list of names or a mapping of name to metadata."""
    if isinstance(arms, str) or not isinstance(arms, Iterable):
        raise TypeError(f"arms must be a list of distinct strings, or a dict with metadata, got {arms!r}")
    if isinstance(arms, Mapping):
        return {arm_name(name): metadata_of(name, value) for name, value in arms.items()}
    names = [arm_name(name) for name in arms]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"arms must be distinct, got {twice!r} more than once")
    return dict.fromkeys(names)
