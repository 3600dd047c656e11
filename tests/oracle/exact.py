"""Oracles for the leader tree: exact win probabilities by quadrature, and a compiled counter of choices."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
from scipy import special, stats

from bootleader._core import (
    leader_tree,
    numba_bridge,  # noqa: F401  (registers the scalar functions with numba)
)
from bootleader._core.disk_cache import kernel
from bootleader._core.rng import Purpose, Stream, run_stride, stream_state

OFF = (-math.inf, 0.0, math.inf)
REACHES = np.concatenate([[0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.5, 8.0], 10.0 ** np.arange(1, 13)])


@cache
def win_probabilities(laws: tuple[tuple[float, float, float], ...]) -> Any:
    """P(arm k has the largest index), ties shared, for laws (location, scale, degrees of freedom)."""
    table = np.asarray(laws, float)
    location, scale, _ = table.T
    spread = (scale > 0) & np.isfinite(location)
    point = ~spread & (location > -math.inf)
    peak = location[point].max(initial=-math.inf)
    wins = np.zeros(len(table))
    if peak > -math.inf:
        tied = point & (location == peak)
        wins[tied] = np.prod(_cdf(table[spread], np.array([peak]))) / tied.sum()
    if peak < math.inf and spread.any():
        wins[spread] = _spread_wins(table[spread], peak)
    assert abs(wins.sum() - 1.0) < 1e-7, wins.sum()
    return wins / wins.sum()


def _spread_wins(laws: Any, peak: float) -> Any:
    location, scale, df = laws.T
    edges = (location[:, None] + scale[:, None] * np.concatenate([-REACHES, REACHES])).ravel()
    edges = np.unique(np.append(edges, peak if peak > -math.inf else edges[0]))
    edges = edges[edges >= peak]
    # No law varies within a quarter of the smallest scale: edges that lie closer to each other add nothing.
    edges = edges[np.unique(np.floor(edges / (0.25 * scale.min())), return_index=True)[1]]
    nodes, weights = np.polynomial.legendre.leggauss(24 if len(laws) <= 40 else 12)
    half = np.diff(edges)[:, None] / 2
    x = (edges[:-1, None] + half * (1 + nodes)).ravel()
    with np.errstate(divide="ignore"):
        log_cdf = np.log(_cdf(laws, x))
    below_all = log_cdf.sum(axis=0)
    with np.errstate(invalid="ignore"):
        others = np.nan_to_num(np.exp(below_all - log_cdf), nan=0.0)
    z = (x - location[:, None]) / scale[:, None]
    normal = np.isinf(df)
    density = np.empty_like(z)
    density[normal], density[~normal] = stats.norm.pdf(z[normal]), stats.t.pdf(z[~normal], df[~normal, None])
    return (density / scale[:, None] * others * (half * weights).ravel()).sum(axis=1)


def _cdf(laws: Any, x: Any) -> Any:
    location, scale, df = laws.T
    z = (x - location[:, None]) / scale[:, None]
    normal = np.isinf(df)
    below = np.empty_like(z)
    below[normal], below[~normal] = special.ndtr(z[normal]), special.stdtr(df[~normal, None], z[~normal])
    return below


@kernel
def count_leaders(tree, laws, threshold, fixed, stream, draws, counts):  # type: ignore[no-untyped-def]
    for k in range(laws.shape[0]):
        leader_tree.write_law(tree, k, laws[k, 0], laws[k, 1], laws[k, 2])
    if fixed:
        leader_tree.restore(tree, threshold, 0)
    else:
        leader_tree.rebuild(tree)
    for _ in range(draws):
        counts[leader_tree.leader(tree, stream)] += 1
        if fixed and tree.threshold[leader_tree.TAU] != threshold[leader_tree.TAU]:
            leader_tree.restore(tree, threshold, 0)


def choice_counts(laws: Any, draws: int, *, tau: float | None = None, seed: int = 0) -> Any:
    """How often each arm leads in so many draws; with ``tau`` given, the threshold is fixed there."""
    laws = np.asarray(laws, float)
    tree = leader_tree.new_tree(len(laws))
    counts = np.zeros(len(laws), np.int64)
    threshold = tree.threshold.copy()
    threshold[leader_tree.TAU], threshold[leader_tree.STEEPNESS] = tau if tau is not None else 0.0, 1.0
    state = np.array([stream_state(seed, 0, int(Purpose.SPARE), 0)], np.uint64)
    stream = Stream(state, 0, np.uint64(run_stride(seed, 0)))
    count_leaders(tree, laws, threshold, tau is not None, stream, draws, counts)
    return counts


def p_value(counts: Any, chances: Any) -> float:
    """Chi-square of counts against chances, cells that expect fewer than ten pooled."""
    draws = counts.sum()
    small = chances * draws < 10
    if counts[chances == 0].any():
        return 0.0
    seen = np.append(counts[~small], counts[small].sum())
    expected = np.append(chances[~small] * draws, chances[small].sum() * draws)
    if expected[-1] < 10:  # too few to be a cell of its own: with the largest
        largest = expected[:-1].argmax()
        seen[largest] += seen[-1]
        expected[largest] += expected[-1]
        seen, expected = seen[:-1], expected[:-1]
    return 1.0 if len(seen) < 2 else float(stats.chisquare(seen, expected * (seen.sum() / expected.sum())).pvalue)
