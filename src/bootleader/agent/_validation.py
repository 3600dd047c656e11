"""What a program hands to the agent, checked before anything changes."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from decimal import Decimal
from numbers import Real
from typing import Any, Final, NamedTuple

import numpy as np

from bootleader._core.printable_text import shown
from bootleader._core.validation import positive, real, whole

MOST_REWARDS: Final = 2**53  # of an agent: up to here a float counts exactly
ANY_REWARD: Final = (-math.inf, math.inf)  # the range of a policy that takes all
LARGEST_REWARD: Final = 1e100  # squares of differences, over that many rewards and times a parameter, stay finite
LATEST: Final = 1e15  # seconds: the size of any time
LARGEST_DOCUMENT: Final = 100_000_000  # characters
MOST_NESTED: Final = 64  # levels of lists and objects in metadata
NUMBERS: Final = (float, Real, Decimal, np.bool_)  # what is usual comes first, since every reward is asked


def reward_of(value: Any, largest: float, accepted: tuple[float, float] = ANY_REWARD) -> float:
    """A reward of at most this size, in the range that the policy takes, as a float, or raise."""
    if not isinstance(value, NUMBERS):
        raise TypeError(f"reward must be {_accepted(largest)}, got {shown(value)}")
    try:
        number = float(value)
    except (OverflowError, ValueError):  # too large a number; a signalling NaN
        number = math.inf
    if not -largest <= number <= largest:
        raise ValueError(f"reward must be {_accepted(largest)}, got {shown(value)}")
    if accepted != ANY_REWARD:
        check_range(number, *accepted)
    return number


def check_range(number: float, low: float, high: float, what: str = "reward") -> None:
    """Raise if a policy does not take rewards of this size."""
    if not low <= number <= high:
        raise ValueError(f"{what} must be from {low:g} to {high:g} with this policy, got {shown(number)}")


def _accepted(largest: float) -> str:
    return f"a finite number from {-largest:g} to {largest:g}, or a bool"


class Summary(NamedTuple):
    """Moments of many rewards: their number, mean, RSS, sum of fourth powers of deviations."""

    rewards: int
    mean: float
    rss: float
    fourth: float


def summary_of(count: Any, mean: Any, sd: Any, kurtosis: Any, largest: float) -> Summary:
    """The moments of many rewards of at most this size, or raise."""
    n = whole("count", count, 1, MOST_REWARDS)
    centre = real("mean", mean, f"a finite number from {-largest:g} to {largest:g}", high=largest)
    spread = real("sd", sd, f"a number from 0 to {2.0 * largest:g}", low=0.0, open_low=False, high=2.0 * largest)
    peak = real("kurtosis", kurtosis, "a number of at least 1", low=1.0, open_low=False)
    if centre < -largest:
        raise ValueError(f"mean must be a finite number from {-largest:g} to {largest:g}, got {shown(mean)}")
    if n == 1 and spread > 0.0:
        raise ValueError(f"sd must be 0 where count is 1, got {shown(sd)}")
    rss = spread * spread * (n - 1.0)
    most = n - 2.0 + 1.0 / (n - 1.0) if n > 1 else 1.0  # the largest kurtosis that n rewards can have
    return Summary(n, centre, rss, min(peak, most) * rss * (rss / n) if rss > 0.0 else 0.0)


def probability_elsewhere(value: Any) -> float | None:
    """The probability of a choice that was made elsewhere, None if it is not known, or raise."""
    if value is False:
        return None
    if value is True:
        raise ValueError(
            "give the probability with which the arm was chosen elsewhere, 1.0 for a fixed rule, or probability=False "
            "if it is not known"
        )
    return real("probability", value, "above 0 and at most 1, or False", low=0.0, high=1.0)


def no_features(context: Any) -> TypeError:
    """The error for a context that is given to an agent without features."""
    return TypeError(f"the agent has no features, so it takes no context, got {shown(context)}")


def boolean(name: str, value: Any) -> bool:
    """True or False, or raise."""
    if not isinstance(value, bool):
        raise TypeError(f"{name} must be True or False, got {shown(value)}")
    return value


def half_life_of(value: Any) -> float:
    """A half-life in rounds, or raise. Below 1 it was most likely meant as a factor."""
    half_life = positive("half_life", value)
    if half_life >= 1.0:
        return half_life
    meant = math.log(0.5) / math.log(half_life)
    hint = f"; a factor of {shown(value)} in every round is a half-life of {meant:.4g}" if meant >= 1.0 else ""
    raise ValueError(f"half_life must be a number of rounds, of at least 1, got {shown(value)}{hint}")


def arm_name(value: Any) -> str:
    """An arm's name, or raise."""
    if not isinstance(value, str) or not value:
        raise TypeError(f"an arm's name must be a string that is not empty, got {shown(value)}")
    return str(value)


def nesting(value: Any) -> int:
    """How deep lists and objects are nested, counted no further than ``MOST_NESTED + 1``."""
    depth, inside = 0, [value]
    while inside and depth <= MOST_NESTED:
        inside = [
            inner
            for outer in inside
            if isinstance(outer, dict | list | tuple)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        depth += bool(inside)
    return depth


def metadata_of(name: str, value: Any) -> Any:
    """An arm's metadata, which must survive a round trip through JSON."""
    try:
        copy = json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"metadata of arm {shown(name)} must be plain JSON data: {shown(error)}") from None
    if nesting(copy) > MOST_NESTED:
        raise ValueError(f"metadata of arm {shown(name)} must be nested at most {MOST_NESTED} deep")
    return copy


def named_arms(arms: Any) -> dict[str, Any]:
    """Arms with their metadata, from a list of names or a mapping of name to metadata."""
    if isinstance(arms, str) or not isinstance(arms, Iterable):
        raise TypeError(f"arms must be a list of distinct strings, or a dict with metadata, got {shown(arms)}")
    if isinstance(arms, Mapping):
        return {arm_name(name): metadata_of(name, value) for name, value in arms.items()}
    if isinstance(arms, set | frozenset):
        raise TypeError(f"arms must be a list or a dict; a set has another order in every process, got {shown(arms)}")
    names = [arm_name(name) for name in arms]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"arms must be distinct, got {shown(twice)} more than once")
    return dict.fromkeys(names)
