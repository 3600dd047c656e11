"""What is kept of many runs, computed on the GPU: means over groups of runs, their merge, and pulls by rank.

Sums are taken in NumPy's order and groups are merged in the order of the runs, so the results are those of the CPU bit
for bit.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numba import cuda, float64, int64

from bootleader._core.cuda.compilation import kernel
from bootleader._core.kernels.moment_records import COUNT
from bootleader._core.moments import chan
from bootleader._core.numba_bridge import register

GROUP_RUNS: Final = 32  # most runs of a group
QUANTITIES: Final = 5
THREADS: Final = 128
MOST_ARMS: Final = 512


def pairwise_sum(values: Any, count: Any) -> Any:
    """Sum of at most 128 numbers in the order of NumPy's ``sum``: eight sums, then their sum, then the rest.

    Examples
    --------
    >>> pairwise_sum([1.0, 2.0, 3.0], 3)
    6.0
    """
    if count < 8:
        total = 0.0
        for i in range(count):
            total += values[i]
        return total
    whole = count - count % 8
    for i in range(8, whole):
        values[i % 8] += values[i]
    total = ((values[0] + values[1]) + (values[2] + values[3])) + ((values[4] + values[5]) + (values[6] + values[7]))
    for i in range(whole, count):
        total += values[i]
    return total


register(pairwise_sum)


def value_of(trajectory, checkpoints, quantity, mark, run):
    """One quantity of one run at one checkpoint."""
    if quantity == 0:
        return trajectory.regret[mark, run]
    if quantity == 1:
        return trajectory.reward[mark, run]
    if quantity == 2:
        return trajectory.best_pulls[mark, run] / checkpoints[mark]
    if quantity == 3:
        return trajectory.simple_regret[mark, run]
    return 1.0 if trajectory.simple_regret[mark, run] == 0.0 else 0.0


register(value_of)


def reduce_groups(trajectory, checkpoints, runs, means, squares):
    """Mean and sum of squared deviations of every group (group x quantity x checkpoint); a thread for each."""
    place = cuda.grid(1)
    groups = means.shape[0]
    mark = place // groups
    if mark >= checkpoints.shape[0]:
        return
    group = place % groups
    first = group * GROUP_RUNS
    count = min(GROUP_RUNS, runs - first)
    values = cuda.local.array(GROUP_RUNS, float64)
    for quantity in range(QUANTITIES):
        for i in range(count):
            values[i] = value_of(trajectory, checkpoints, quantity, mark, first + i)
        mean = pairwise_sum(values, count) / count
        for i in range(count):
            deviation = value_of(trajectory, checkpoints, quantity, mark, first + i) - mean
            values[i] = deviation * deviation
        means[group, quantity, mark] = mean
        squares[group, quantity, mark] = pairwise_sum(values, count)


def merge_groups(means, squares, groups, runs, before, mean, square):
    """Merge groups into what there is of ``before`` runs; a thread for each quantity and checkpoint."""
    place = cuda.grid(1)
    quantity, mark = place // mean.shape[1], place % mean.shape[1]
    if quantity >= mean.shape[0]:
        return
    count, merged, rest = float(before), mean[quantity, mark], square[quantity, mark]
    for group in range(groups):
        size = float(min(GROUP_RUNS, runs - group * GROUP_RUNS))
        count, merged, rest = chan(
            count, merged, rest, size, means[group, quantity, mark], squares[group, quantity, mark]
        )
    mean[quantity, mark], square[quantity, mark] = merged, rest


def count_pulls(moments, columns, gap, runs, pulls, by_rank):
    """Add every run's pulls to those of the arms, and to those of the arms by rank, the best first."""
    totals = cuda.shared.array((2, MOST_ARMS), int64)
    thread, arms = cuda.threadIdx.x, gap.shape[0]
    for k in range(thread, arms, cuda.blockDim.x):
        totals[0, k] = totals[1, k] = 0
    cuda.syncthreads()
    run = cuda.grid(1)
    if run < runs:
        column = run if gap.shape[1] > 1 else 0
        for k in range(arms):
            rank, count = 0, int(moments[k * columns + COUNT, run])
            for other in range(arms):
                better = gap[other, column] < gap[k, column]
                rank += better or (gap[other, column] == gap[k, column] and other < k)
            cuda.atomic.add(totals, (0, k), count)
            cuda.atomic.add(totals, (1, rank), count)
    cuda.syncthreads()
    for k in range(thread, arms, cuda.blockDim.x):
        cuda.atomic.add(pulls, k, totals[0, k])
        cuda.atomic.add(by_rank, k, totals[1, k])


_reduce_groups, _merge_groups, _count_pulls = kernel(reduce_groups), kernel(merge_groups), kernel(count_pulls)


def group_results(trajectory: Any, checkpoints: Any, runs: int, means: Any, squares: Any) -> None:
    """Reduce a trajectory to groups."""
    groups = means.shape[0]
    blocks = -(-groups * checkpoints.shape[0] // THREADS)
    _reduce_groups.launch(blocks, THREADS, 0, trajectory, checkpoints, runs, means, squares)


def merge(means: Any, squares: Any, runs: int, before: int, mean: Any, square: Any) -> None:
    """Merge the groups of ``runs`` runs into what there is of the runs ``before`` them."""
    groups, blocks = -(-runs // GROUP_RUNS), -(-int(np.prod(mean.shape)) // THREADS)
    _merge_groups.launch(blocks, THREADS, 0, means, squares, groups, runs, before, mean, square)


def add_pulls(moments: Any, columns: int, gap: Any, runs: int, pulls: Any, by_rank: Any) -> None:
    """Count the pulls of some runs."""
    blocks = -(-runs // THREADS)
    _count_pulls.launch(blocks, THREADS, 0, moments, columns, gap, runs, pulls, by_rank)


register(chan)
