"""What is recorded of a run at its checkpoints, and what is kept of many runs."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bootleader._core.numba_bridge import inner, specialise

QUANTITIES = 5  # that are kept over time, each as a mean and a sum of squares over runs
REGRET, REWARD, BEST_ARM_SHARE, SIMPLE_REGRET, BEST_ARM_RECOMMENDED = range(QUANTITIES)
ONE, TWO, THREE, FOUR, FIVE, SIX, SEVEN, EIGHT = (np.uint64(number) for number in range(1, 9))


class Trajectory(NamedTuple):
    """Recorded quantities (checkpoint x run)."""

    regret: Any  # sum of the gaps of the pulled arms
    reward: Any  # sum of the rewards
    best_pulls: Any  # pulls of the best arm
    simple_regret: Any  # gap of the recommended arm
    recommended: Any  # the recommended arm: the one with the largest sample mean, the first of several


FIELD_TYPES = Trajectory(np.float64, np.float64, np.float64, np.float64, np.int64)  # numbers of 64 bits


def new_trajectory(checkpoints: int, runs: int) -> Trajectory:
    """A trajectory to be filled in."""
    return Trajectory(*(np.zeros((checkpoints, runs), kind) for kind in FIELD_TYPES))


@inner
def record_run(trajectory, mark, run, regret, gap, count, anchor, drift):
    """Record one run; ``gap``, ``count``, ``anchor`` and ``drift`` are of its arms."""
    reward, best_pulls, recommended, largest = 0.0, 0.0, 0, -np.inf
    for k in range(gap.shape[0]):
        if count[k] > 0.0:
            mean = anchor[k] + drift[k]
            reward += count[k] * mean
            best_pulls += count[k] if gap[k] == 0.0 else 0.0
            if mean > largest:
                recommended, largest = k, mean
    trajectory.regret[mark, run] = regret
    trajectory.reward[mark, run] = reward
    trajectory.best_pulls[mark, run] = best_pulls
    trajectory.simple_regret[mark, run] = gap[recommended]
    trajectory.recommended[mark, run] = recommended


@inner
def pairwise_sum(values, first, count):
    """The sum of some consecutive numbers, in the order of additions in which NumPy adds up to 128 numbers."""
    total = 0.0
    if count < 8:
        for place in range(first, first + count):
            total += values[place]
        return total
    i = np.uint64(first)  # unsigned: an index that cannot be negative is not checked, and the additions vectorise
    a, b, c, d = values[i], values[i + ONE], values[i + TWO], values[i + THREE]
    e, f, g, h = values[i + FOUR], values[i + FIVE], values[i + SIX], values[i + SEVEN]
    for _ in range(1, count // 8):
        i += EIGHT
        a += values[i]
        b += values[i + ONE]
        c += values[i + TWO]
        d += values[i + THREE]
        e += values[i + FOUR]
        f += values[i + FIVE]
        g += values[i + SIX]
        h += values[i + SEVEN]
    total = ((a + b) + (c + d)) + ((e + f) + (g + h))
    for place in range(first + count - count % 8, first + count):
        total += values[place]
    return total


@inner
def reduce_row(values, first, count, row, group, quantity, mark, mean, squares):
    """Mean and sum of squared deviations of some consecutive numbers; ``row`` is memory, or begins with them."""
    centre = pairwise_sum(values, first, count) / count
    for i in range(count):
        deviation = values[first + i] - centre
        row[i] = deviation * deviation
    mean[group, quantity, mark] = centre
    squares[group, quantity, mark] = pairwise_sum(row, 0, count)


def reduce_runs(trajectory, checkpoints, derived, row, mean, squares):
    """Fill in mean and sum of squared deviations of each group of runs (group x quantity x checkpoint).

    ``derived`` and ``row`` are memory for a group. Every group but the last has so many runs.
    """
    regret, reward, best_pulls = trajectory.regret, trajectory.reward, trajectory.best_pulls
    simple_regret = trajectory.simple_regret
    for mark in range(checkpoints.shape[0]):
        checkpoint = float(checkpoints[mark])
        for group in range(mean.shape[0]):
            first = group * row.shape[0]
            count = min(row.shape[0], regret.shape[1] - first)
            reduce_row(regret[mark], first, count, row, group, REGRET, mark, mean, squares)
            reduce_row(reward[mark], first, count, row, group, REWARD, mark, mean, squares)
            for i in range(count):
                derived[i] = best_pulls[mark, first + i] / checkpoint
            reduce_row(derived, 0, count, row, group, BEST_ARM_SHARE, mark, mean, squares)
            reduce_row(simple_regret[mark], first, count, row, group, SIMPLE_REGRET, mark, mean, squares)
            for i in range(count):
                derived[i] = 1.0 if simple_regret[mark, first + i] == 0.0 else 0.0
            reduce_row(derived, 0, count, row, group, BEST_ARM_RECOMMENDED, mark, mean, squares)


reduction = specialise(reduce_runs, "")


def reduced(trajectory: Trajectory, checkpoints: Any, group: int) -> tuple[Any, Any]:
    """Means and sums of squared deviations of groups of runs, as NumPy computes them (group x quantity x checkpoint).

    Compiled, because ten NumPy calls on half a megabyte take as long as hundreds of rounds.
    """
    shape = (-(-trajectory.regret.shape[1] // group), QUANTITIES, len(checkpoints))
    mean, squares = np.empty(shape), np.empty(shape)
    reduction(trajectory, checkpoints, np.empty(group), np.empty(group), mean, squares)
    return mean, squares
