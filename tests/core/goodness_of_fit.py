"""Draws of a sampler, and whether they have a law: Kolmogorov-Smirnov or chi-square at a level of 1e-4 each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import stats

from tests.helpers import stream_at

LEVEL = 1e-4
DRAWS = 20_000


def draws_of(sampler: Callable[..., Any], *args: Any, draws: int = DRAWS, key: int = 0) -> np.ndarray:
    stream = stream_at(0, key)
    return np.array([sampler(*args, stream) for _ in range(draws)])


def assert_follows(draws: np.ndarray, law: Any) -> None:
    assert stats.kstest(draws, law.cdf).pvalue > LEVEL


def assert_counts(draws: np.ndarray, law: Any) -> None:
    """Chi-square over single values, those of fewer than 8 expected draws taken together."""
    low, high = int(law.ppf(8 / len(draws))), int(law.isf(8 / len(draws)))
    inner = np.arange(low, high + 1)
    observed = [np.sum(draws < low), *(np.sum(draws == k) for k in inner), np.sum(draws > high)]
    expected = np.array([law.cdf(low - 1), *law.pmf(inner), law.sf(high)]) * len(draws)
    kept = expected > 0
    assert np.sum(np.array(observed)[~kept]) == 0
    if kept.sum() > 1:
        assert stats.chisquare(np.array(observed)[kept], expected[kept], sum_check=False).pvalue > LEVEL
