"""Histories of rewards that have two values, such as clicks: what is drawn from them has a law in closed form."""

from __future__ import annotations

from typing import Any, Final

FEWEST: Final = 8  # rewards from which the closed form is used
NO: Final = -1.0  # instead of a number of rewards


def number_at_highest(history: Any) -> Any:
    """How many rewards have the larger of two values; :data:`NO` if there are more values, or few rewards."""
    if history.count < FEWEST:
        return NO
    if history.lowest == history.highest:
        return 0.0
    return float(history.at_highest) if history.at_lowest + history.at_highest == history.count else NO
