"""What a contextual bandit is made of in one run: features, coefficients and noise."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

CONTEXTS: Final = 10  # purpose of the stream that features are drawn from in every round: the same under every policy


class ContextParameters(NamedTuple):
    """One run of a contextual bandit with K arms and d features.

    ``features`` has a column for each arm (d x K), or one column (d x 1) if all arms see the same context;
    ``coefficients`` has one row for all arms (1 x d) or, with one context, a row for each (K x d).
    """

    features: Any  # where features do not change; otherwise overwritten in every round
    coefficients: Any
    second: Any  # second parameter of each arm's reward draw: often the sd of the noise
    third: Any
    table: Any  # numbers that the draw of features reads
    sd: Any  # standard deviation of each arm's noise, for policies that are given it
