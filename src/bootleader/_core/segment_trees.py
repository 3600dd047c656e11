"""Segment trees over the arms: sums of rates and largest point masses, each kept in O(log K) a change.

A tree is one array: its levels end to end, the leaves (one an arm) first, every level filled up to whole groups of
siblings. ``first`` has the places at which the levels start. Nodes are computed from their children on every change, so
rounding errors do not accumulate. :mod:`bootleader._core.leader_tree` says what the trees are for.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from bootleader._core.rng import below

BRANCHES: Final = 8  # children of a node: one cache line of sums


def level_starts(arms: int) -> tuple[Any, int]:
    """Where each level of a tree with this many leaves starts, and the length of its array.

    Examples
    --------
    >>> level_starts(20)  # 20 leaves in 24 places, and their three parents in 8
    (array([ 0, 24]), 32)
    """
    first, size = [0], arms
    width = 0
    while True:
        size = -(-size // BRANCHES) * BRANCHES
        width += size
        if size == BRANCHES:
            return np.array(first, np.int64), width
        first.append(width)
        size //= BRANCHES


# --- sums -------------------------------------------------------------------------------------------------------------


def leaf_at(rate: Any, first: Any, position: Any) -> tuple[Any, Any]:
    """The arm at a position along the rates, and how far into its rate that is."""
    node = 0
    for height in range(first.shape[0] - 1, -1, -1):
        at = first[height] + node * BRANCHES
        child = 0
        while child < BRANCHES - 1 and position >= rate[at + child]:
            position -= rate[at + child]
            child += 1
        while rate[at + child] == 0.0:  # rounding has led past the last arm that has a rate
            child -= 1
        node = node * BRANCHES + child
    return node, position


def total_of(rate: Any, first: Any) -> Any:
    """The sum of all leaves."""
    top = first[-1]
    total = 0.0
    for child in range(BRANCHES):
        total += rate[top + child]
    return total


def update_sum_node(rate: Any, first: Any, height: Any, node: Any) -> None:
    """Set a node to the sum of its children, which lie at ``height``."""
    at = first[height] + node * BRANCHES
    total = 0.0
    for child in range(BRANCHES):
        total += rate[at + child]
    rate[first[height + 1] + node] = total


def update_sum_path(rate: Any, first: Any, k: Any) -> None:
    """Recompute the sums above leaf k."""
    for height in range(first.shape[0] - 1):
        k >>= 3
        update_sum_node(rate, first, height, k)


def update_sums(rate: Any, first: Any) -> None:
    """Recompute all sums from the leaves."""
    for height in range(first.shape[0] - 1):
        for node in range((first[height + 1] - first[height]) // BRANCHES):
            update_sum_node(rate, first, height, node)


# --- largest point masses, and how many arms share each ---------------------------------------------------------------


def update_peak_node(tree: Any, height: Any, node: Any) -> None:
    """Set a node to the largest point mass among its children at ``height``, and how many arms share it."""
    peak, ties, first = tree.peak, tree.ties, tree.first
    at = first[height] + node * BRANCHES
    best, tied = -math.inf, 0
    for child in range(at, at + BRANCHES):
        if peak[child] > best:
            best, tied = peak[child], ties[child]
        elif peak[child] == best:
            tied += ties[child]
    peak[first[height + 1] + node], ties[first[height + 1] + node] = best, tied


def update_peaks(tree: Any) -> None:
    """Recompute all maxima from the leaves."""
    for height in range(tree.first.shape[0] - 1):
        for node in range((tree.first[height + 1] - tree.first[height]) // BRANCHES):
            update_peak_node(tree, height, node)


def update_peak_path(tree: Any, k: Any) -> None:
    """Recompute the maxima above leaf k."""
    for height in range(tree.first.shape[0] - 1):
        k >>= 3
        update_peak_node(tree, height, k)


def highest_peak(tree: Any) -> Any:
    """The largest point mass; -inf if there is none."""
    top = tree.first[-1]
    best = -math.inf
    for child in range(BRANCHES):
        best = max(best, tree.peak[top + child])
    return best


def peak_ties(tree: Any, peak: Any) -> Any:
    """How many arms share the largest point mass."""
    top, tied = tree.first[-1], 0
    for child in range(BRANCHES):
        if tree.peak[top + child] == peak:
            tied += tree.ties[top + child]
    return tied


def tied_leaf(tree: Any, peak: Any, stream: Any) -> Any:
    """One of the arms that share the largest point mass, uniformly at random."""
    tied = peak_ties(tree, peak)
    left = below(stream, tied) if tied > 1 else 0
    node = 0
    for height in range(tree.first.shape[0] - 1, -1, -1):
        at = tree.first[height] + node * BRANCHES
        child = 0
        while tree.peak[at + child] != peak or left >= tree.ties[at + child]:
            if tree.peak[at + child] == peak:
                left -= tree.ties[at + child]
            child += 1
        node = node * BRANCHES + child
    return node
