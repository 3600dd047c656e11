"""How the answer came about: each arm's interval and share of the traffic over the course of a log."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bootleader.inference._confidence_sequence import moments_at
from bootleader.inference._intervals import Bounds, arm_intervals
from bootleader.inference._log_reader import Log
from bootleader.inference._moments import Floats, Moments, effective_number


class History(NamedTuple):
    """What a look at the log would have shown after ``visits[i]`` rewards (look x arm). NaN: no answer yet."""

    visits: Floats
    mean: Floats
    low: Floats
    high: Floats
    share: Floats  # of the rewards between the previous look and this one


def history(log: Log, alpha: float, bounds: Bounds | None, looks: int = 60) -> History:
    """Look at the log at evenly spaced moments."""
    arms = len(log.names)
    edges = np.unique(np.linspace(0, log.rounds, min(looks, log.rounds) + 1).round().astype(np.intp))
    counts = np.stack([np.searchsorted(np.flatnonzero(log.arm == a), edges) for a in range(arms)], axis=1)
    columns = np.zeros((4, len(edges) - 1, arms))
    for a in range(arms):
        seen = counts[1:, a] > 0
        if seen.any():
            columns[:, seen, a] = np.stack(moments_at(log.reward[log.arm == a], counts[1:, a][seen]))
    mean, low, high = np.full((3, len(edges) - 1, arms), np.nan)
    for i in range(len(edges) - 1):
        moments = Moments(*columns[:, i])
        found = arm_intervals(moments, alpha / arms, bounds, effective_number(moments))
        seen = moments.count > 0
        mean[i] = np.where(seen, moments.mean, np.nan)
        low[i], high[i] = (np.where(seen & found.is_ready, end, np.nan) for end in (found.low, found.high))
    share = np.diff(counts, axis=0) / np.diff(edges)[:, None]
    return History(edges[1:].astype(np.float64), mean, low, high, share)
