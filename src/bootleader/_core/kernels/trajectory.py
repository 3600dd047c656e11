"""What is recorded of a run at its checkpoints, and what is kept of many runs."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bootleader._core.numba_bridge import inner, specialise

QUANTITIES = 5  # that are kept over time, each as a mean and a sum of squares over runs
REGRET, REWARD, BEST_ARM_SHARE, SIMPLE_REGRET, BEST_ARM_RECOMMENDED = range(QUANTITIES)


class Trajectory(NamedTuple):
    """Recorded quantities (checkpoint x run)."""

    regret: Any  # sum of the gaps of the pulled arms
    reward: Any  # sum of the rewards
    best_pulls: Any  # pulls of the best arm
    simple_regret: Any  # gap of the recommended arm: the one with the largest sample mean, the first of several
    recommended: Any


def new_trajectory(checkpoints: int, runs: int) -> Trajectory:
    """A trajectory to be filled in."""
    shape = (checkpoints, runs)
    return Trajectory(
        regret=np.zeros(shape),
        reward=np.zeros(shape),
        best_pulls=np.zeros(shape),
        simple_regret=np.zeros(shape),
        recommended=np.zeros(shape, np.int64),
    )


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
def pairwise_sum(row, count):
    """The sum of the first numbers of a row, in the order of additions in which NumPy adds up to 128 numbers."""
    if count < 8:
        total = 0.0
        for i in range(count):
            total += row[i]
        return total
    a, b, c, d, e, f, g, h = row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7]
    whole = count - count % 8
    for i in range(8, whole, 8):
        a += row[i]
        b += row[i + 1]
        c += row[i + 2]
        d += row[i + 3]
        e += row[i + 4]
        f += row[i + 5]
        g += row[i + 6]
        h += row[i + 7]
    total = ((a + b) + (c + d)) + ((e + f) + (g + h))
    for i in range(whole, count):
        total += row[i]
    return total


@inner
def reduce_row(row, count, group, quantity, mark, mean, squares):
    """Mean and sum of squared deviations of the first numbers of a row, which is overwritten."""
    centre = pairwise_sum(row, count) / count
    for i in range(count):
        row[i] = (row[i] - centre) * (row[i] - centre)
    mean[group, quantity, mark] = centre
    squares[group, quantity, mark] = pairwise_sum(row, count)


def reduce_runs(trajectory, checkpoints, row, mean, squares):
    """Fill in mean and sum of squared deviations of each group of runs (group x quantity x checkpoint).

    ``row`` is memory for a group. Every group but the last has so many runs.
    """
    regret, reward, best_pulls = trajectory.regret, trajectory.reward, trajectory.best_pulls
    simple_regret = trajectory.simple_regret
    for mark in range(checkpoints.shape[0]):
        checkpoint = float(checkpoints[mark])
        for group in range(mean.shape[0]):
            first = group * row.shape[0]
            count = min(row.shape[0], regret.shape[1] - first)
            for i in range(count):
                row[i] = regret[mark, first + i]
            reduce_row(row, count, group, REGRET, mark, mean, squares)
            for i in range(count):
                row[i] = reward[mark, first + i]
            reduce_row(row, count, group, REWARD, mark, mean, squares)
            for i in range(count):
                row[i] = best_pulls[mark, first + i] / checkpoint
            reduce_row(row, count, group, BEST_ARM_SHARE, mark, mean, squares)
            for i in range(count):
                row[i] = simple_regret[mark, first + i]
            reduce_row(row, count, group, SIMPLE_REGRET, mark, mean, squares)
            for i in range(count):
                row[i] = 1.0 if simple_regret[mark, first + i] == 0.0 else 0.0
            reduce_row(row, count, group, BEST_ARM_RECOMMENDED, mark, mean, squares)


reduction = specialise(reduce_runs, "")


def reduced(trajectory: Trajectory, checkpoints: Any, group: int) -> tuple[Any, Any]:
    """Means and sums of squared deviations of groups of runs, as NumPy computes them (group x quantity x checkpoint).

    Compiled, because ten NumPy calls on half a megabyte take as long as hundreds of rounds.
    """
    shape = (-(-trajectory.regret.shape[1] // group), QUANTITIES, len(checkpoints))
    mean, squares = np.empty(shape), np.empty(shape)
    reduction(trajectory, checkpoints, np.empty(group), mean, squares)
    return mean, squares
