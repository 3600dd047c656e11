"""What is kept of many runs, computed on the GPU: means over groups of runs, their merge, and pulls by rank.

Sums are taken in NumPy's order and groups are merged in the order of the runs, so the results are those of the CPU bit
for bit.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numba import cuda, float64, int64

from bootleader._core.cuda.compilation import callable_in_kernels, kernel
from bootleader._core.kernels.trajectory import (
    BEST_ARM_SHARE,
    QUANTITIES,
    REGRET,
    REWARD,
    SIMPLE_REGRET,
)
from bootleader._core.kernels.trajectory import reduce_row as compiled_reduce_row
from bootleader._core.moments import chan
from bootleader._core.numba_bridge import register

MOST_GROUP_RUNS: Final = 32  # most runs of a group
THREADS: Final = 128
MOST_ARMS: Final = 512

reduce_row = callable_in_kernels(compiled_reduce_row)


def value_of(trajectory, checkpoints, quantity, mark, run):
    """One quantity of one run at one checkpoint."""
    if quantity == REGRET:
        return trajectory.regret[mark, run]
    if quantity == REWARD:
        return trajectory.reward[mark, run]
    if quantity == BEST_ARM_SHARE:
        return trajectory.best_pulls[mark, run] / checkpoints[mark]
    if quantity == SIMPLE_REGRET:
        return trajectory.simple_regret[mark, run]
    return 1.0 if trajectory.simple_regret[mark, run] == 0.0 else 0.0


register(value_of)


def reduce_groups(trajectory, checkpoints, runs, group_runs, means, squares):
    """Mean and sum of squared deviations of every group (group x quantity x checkpoint); a thread for each."""
    place = cuda.grid(1)
    groups = means.shape[0]
    mark = place // groups
    group = place % groups
    first = group * group_runs
    if mark >= checkpoints.shape[0] or first >= runs:
        return
    count = min(group_runs, runs - first)
    row = cuda.local.array(MOST_GROUP_RUNS, float64)
    for quantity in range(QUANTITIES):
        for i in range(count):
            row[i] = value_of(trajectory, checkpoints, quantity, mark, first + i)
        reduce_row(row, 0, count, row, group, quantity, mark, means, squares)


def merge_groups(means, squares, runs, group_runs, before, mean, square):
    """Merge groups into what there is of ``before`` runs; a thread for each quantity and checkpoint."""
    place = cuda.grid(1)
    quantity, mark = place // mean.shape[1], place % mean.shape[1]
    if quantity >= mean.shape[0]:
        return
    count, merged, rest = float(before), mean[quantity, mark], square[quantity, mark]
    for group in range((runs + group_runs - 1) // group_runs):
        size = float(min(group_runs, runs - group * group_runs))
        count, merged, rest = chan(
            count, merged, rest, size, means[group, quantity, mark], squares[group, quantity, mark]
        )
    mean[quantity, mark], square[quantity, mark] = merged, rest


def count_pulls(counts, gap, recommended, runs, pulls, by_rank, recommended_by_rank):
    """Add every run's pulls to those of the arms, and to those of the arms by rank, the best first.

    The arm that a run recommends in the end is counted by rank too.
    """
    totals = cuda.shared.array((3, MOST_ARMS), int64)
    thread, arms = cuda.threadIdx.x, gap.shape[0]
    for k in range(thread, arms, cuda.blockDim.x):
        totals[0, k] = totals[1, k] = totals[2, k] = 0
    cuda.syncthreads()
    run = cuda.grid(1)
    if run < runs:
        column = run if gap.shape[1] > 1 else 0
        for k in range(arms):
            rank, count = 0, int(counts[k, run])
            for other in range(arms):
                better = gap[other, column] < gap[k, column]
                rank += better or (gap[other, column] == gap[k, column] and other < k)
            cuda.atomic.add(totals, (0, k), count)
            cuda.atomic.add(totals, (1, rank), count)
            if k == recommended[run]:
                cuda.atomic.add(totals, (2, rank), 1)
    cuda.syncthreads()
    for k in range(thread, arms, cuda.blockDim.x):
        cuda.atomic.add(pulls, k, totals[0, k])
        cuda.atomic.add(by_rank, k, totals[1, k])
        cuda.atomic.add(recommended_by_rank, k, totals[2, k])


_reduce_groups, _merge_groups, _count_pulls = kernel(reduce_groups), kernel(merge_groups), kernel(count_pulls)


def group_results(trajectory: Any, checkpoints: Any, runs: int, group_runs: int, means: Any, squares: Any) -> None:
    """Reduce a trajectory to groups."""
    groups = means.shape[0]
    blocks = -(-groups * checkpoints.shape[0] // THREADS)
    _reduce_groups.launch(blocks, THREADS, 0, trajectory, checkpoints, runs, group_runs, means, squares)


def merge(means: Any, squares: Any, runs: int, group_runs: int, before: int, mean: Any, square: Any) -> None:
    """Merge the groups of ``runs`` runs into what there is of the runs ``before`` them."""
    blocks = -(-int(np.prod(mean.shape)) // THREADS)
    _merge_groups.launch(blocks, THREADS, 0, means, squares, runs, group_runs, before, mean, square)


def add_pulls(counts: Any, gap: Any, recommended: Any, runs: int, totals: tuple[Any, Any, Any]) -> None:
    """Add the pulls of some runs, by arm and by rank, and the recommended arms by rank to the totals."""
    blocks = -(-runs // THREADS)
    _count_pulls.launch(blocks, THREADS, 0, counts, gap, recommended, runs, *totals)


register(chan)
