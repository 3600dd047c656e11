"""Play runs on a GPU, a chunk at a time, and reduce them there to what is kept.

Chunks are as large as the GPU plays at once and its memory holds, whatever the number of runs. While one is played the
arms of the next are drawn. A chunk of long runs is played in several launches, so that an interrupt is handled soon.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from bootleader._core.rules import IndexRule
from bootleader._core.sampling import EDGES
from bootleader.bandits.base import filled
from bootleader.simulation import _kernel_choice
from bootleader.simulation._blocks import GROUP, QUANTITIES, Block, BlockResult, Group

Floats = npt.NDArray[np.float64]

LAUNCH_SECONDS: Final = 0.25  # that a launch should take, so that an interrupt is handled soon
FIRST_LAUNCH: Final = 2e9  # index draws of a chunk's first launch: 0.02 s on a large GPU, 0.3 s on a small one
MEMORY_SHARE: Final = 0.5  # of the GPU's free memory that a chunk may take
FEWEST_BLOCKS: Final = 32  # of threads in a chunk, where memory is scarce


@dataclass
class DeviceTotals:
    """What is kept of the runs so far."""

    mean: Floats  # quantity x checkpoint
    squares: Floats
    pulls: npt.NDArray[np.int64]
    pulls_by_rank: npt.NDArray[np.int64]


@dataclass(frozen=True)
class Chunk:
    """Consecutive runs that were played together."""

    first: int  # place of the first run in the block
    runs: int
    final: Floats
    curves: Floats | None
    groups: list[Group] | None
    seconds: float


class DeviceRuns:
    """The runs of a block on the GPU.

    Parameters
    ----------
    block : Block
        The runs.
    keep_groups : bool
        Whether chunks hold their groups, for a merge elsewhere; otherwise :meth:`totals` merges them on the GPU.
    """

    def __init__(self, block: Block, keep_groups: bool = False) -> None:
        from bootleader._core.cuda import device

        self.cuda = device.require()
        from bootleader._core.cuda.compilation import require_separate_roundings
        from bootleader._core.cuda.index_kernel import DevicePlan, kernel_for, layout_for
        from bootleader._core.kernels.moment_rows import rows_for

        require_separate_roundings()
        rule = _kernel_choice.checked_rule(block.policy, block.bandit)
        assert isinstance(rule, IndexRule)
        self.block, self.keep_groups = block, keep_groups
        self.arms, self.columns = block.bandit.arms, rows_for(rule.fourth_moment).columns
        self.kernel = kernel_for(
            rule.law, block.bandit.draw, self.arms, rule.noise, rule.every_round, rule.fourth_moment
        )
        self.threads, _, self.shared_bytes = layout_for(self.arms)
        self.plan = DevicePlan(
            params=_kernel_choice.padded(rule.params),
            initial_pulls=rule.initial_pulls,
            pooled=rule.pooled,
            epsilon=float(rule.epsilon),
            horizon=block.rounds,
            seed=np.uint64(block.seed),
            first_run=np.uint64(block.first_run),
        )
        self.edges = self.cuda.to_device(EDGES)
        self.checkpoints = self.cuda.to_device(block.checkpoints)
        shape = (len(QUANTITIES), len(block.checkpoints))
        self.mean, self.squares = (self.cuda.to_device(np.zeros(shape)) for _ in range(2))
        self.pulls, self.by_rank = (self.cuda.to_device(np.zeros(self.arms, np.int64)) for _ in range(2))
        self._launch(self._buffers(1), self._to_device(self._arms_of(0, 1)), 0, 1, 0, 0)  # compiles
        self.chunk_runs = self._chunk_runs()
        self.buffers = self._buffers(self.chunk_runs)

    def play(self) -> Iterator[Chunk]:
        """Play all runs, and yield chunk after chunk."""
        runs, size = self.block.runs, self.chunk_runs
        firsts = range(0, runs, size)
        with ThreadPoolExecutor(1) as ahead:
            coming = ahead.submit(self._arms_of, 0, min(size, runs))
            for first in firsts:
                arms, count = coming.result(), min(size, runs - first)
                if first + size < runs:
                    coming = ahead.submit(self._arms_of, first + size, min(size, runs - first - size))
                yield self._chunk(first, count, arms)

    def totals(self) -> DeviceTotals:
        """What is kept of the runs that have been played."""
        return DeviceTotals(
            self.mean.copy_to_host(), self.squares.copy_to_host(), self.pulls.copy_to_host(),
            self.by_rank.copy_to_host(),
        )  # fmt: skip

    def _arms_of(self, first: int, runs: int) -> tuple[Any, ...]:
        """Parameters, known sds and gaps of some runs; of one run if they all have the same arms."""
        from bootleader._core.kernels.run_setup import run_setup

        block, bandit = self.block, self.block.bandit
        uniforms = np.empty((0, 1))
        if bandit.uniforms > 0:
            _, uniforms = run_setup(block.seed, block.first_run + first, runs, 0, bandit.uniforms)
        parameters = bandit.parameters_from(uniforms)
        mean = parameters.mean
        noise_sd = filled(mean.shape, block.policy.known_sd(self.arms, parameters.sd))
        gap = mean.max(axis=0) - mean
        return parameters.first, parameters.second, parameters.third, parameters.table, noise_sd, gap

    def _to_device(self, arrays: tuple[Any, ...]) -> Any:
        from bootleader._core.cuda.index_kernel import DeviceArms

        on_device: list[Any] = [self.cuda.to_device(np.ascontiguousarray(array)) for array in arrays]
        return DeviceArms(*[*on_device, self.edges])

    def _bytes_a_run(self) -> int:
        from bootleader._core.cuda.index_kernel import state_shapes

        marks = len(self.block.checkpoints)
        groups = 2 * len(QUANTITIES) * marks / GROUP
        state = sum(map(math.prod, state_shapes(self.arms, self.columns).values()))
        return int(8 * (state + 4 * marks + groups + 6 * self.arms))

    def _chunk_runs(self) -> int:
        """Runs of a chunk: as many as the GPU plays at once, if its memory holds them."""
        from bootleader._core.cuda.device import free_bytes

        fit = int(MEMORY_SHARE * free_bytes(self.cuda)) // self._bytes_a_run() // self.threads
        blocks = min(self.kernel.concurrent_blocks(self.threads, self.shared_bytes), max(fit, FEWEST_BLOCKS))
        needed = -(-self.block.runs // self.threads)
        return int(min(blocks, needed) * self.threads)

    def _buffers(self, runs: int) -> tuple[Any, Any, Any, Any]:
        """State and trajectory of so many runs, and their groups."""
        from bootleader._core.cuda.index_kernel import DeviceState, DeviceTrajectory, state_shapes

        array, marks = self.cuda.device_array, len(self.block.checkpoints)
        kinds = {"words": np.uint64, "places": np.int64}
        shapes = state_shapes(self.arms, self.columns).items()
        state = DeviceState(**{name: array((*shape, runs), kinds.get(name, np.float64)) for name, shape in shapes})
        trajectory = DeviceTrajectory(*(array((marks, runs), np.float64) for _ in DeviceTrajectory._fields))
        shape = (-(-runs // GROUP), len(QUANTITIES), marks)
        return state, trajectory, array(shape, np.float64), array(shape, np.float64)

    def _launch(self, buffers: Any, arms: Any, mark: int, runs: int, start: int, stop: int) -> None:
        state, trajectory = buffers[:2]
        blocks = -(-runs // self.threads)
        self.kernel.launch(
            blocks, self.threads, self.shared_bytes, self.plan, arms, state, trajectory, self.checkpoints, runs, mark,
            start, stop,
        )  # fmt: skip

    def _chunk(self, first: int, runs: int, arrays: tuple[Any, ...]) -> Chunk:
        """Play the runs of a chunk to the end and reduce them."""
        from bootleader._core.cuda import device

        block = self.block
        began = time.perf_counter()
        self.plan = self.plan._replace(first_run=np.uint64(block.first_run + first))
        arms = self._to_device(arrays)
        played, rounds = 0, max(1, int(FIRST_LAUNCH / (runs * self.arms)))
        while played < block.rounds:
            stop = min(block.rounds, played + rounds)
            started = time.perf_counter()
            mark = int(np.searchsorted(block.checkpoints, played + 1))
            self._launch(self.buffers, arms, mark, runs, played, stop)
            if stop == block.rounds:
                self._reduce(arms, first, runs)
            device.wait(self.cuda)
            seconds = time.perf_counter() - started
            rounds = max(1, int((stop - played) * min(LAUNCH_SECONDS / max(seconds, 1e-6), 100.0)))
            played = stop
        state, trajectory, means, squares = self.buffers
        groups = None
        if self.keep_groups:
            count = -(-runs // GROUP)
            sizes = [min(GROUP, runs - GROUP * g) for g in range(count)]
            pairs = zip(sizes, means.copy_to_host()[:count], squares.copy_to_host()[:count], strict=True)
            groups = [Group(size, mean, square) for size, mean, square in pairs]
        curves = trajectory.regret.copy_to_host()[:, :runs].T if block.keep_curves else None
        final = state.regret.copy_to_host()[0, :runs]
        return Chunk(first, runs, final, curves, groups, time.perf_counter() - began)

    def _reduce(self, arms: Any, first: int, runs: int) -> None:
        from bootleader._core.cuda import reductions

        state, trajectory, means, squares = self.buffers
        reductions.group_results(trajectory, self.checkpoints, runs, means, squares)
        if not self.keep_groups:
            reductions.merge(means, squares, runs, first, self.mean, self.squares)
        reductions.add_pulls(state.moments, arms.gap, runs, self.pulls, self.by_rank)


def play_block_on_device(block: Block) -> BlockResult:
    """Play a block on the GPU of this process: a task of a cluster's worker."""
    runs = DeviceRuns(block, keep_groups=True)
    chunks = list(runs.play())
    totals = runs.totals()
    return BlockResult(
        runs=block.runs,
        groups=[group for chunk in chunks for group in chunk.groups or ()],
        final=np.concatenate([chunk.final for chunk in chunks]),
        pulls=totals.pulls,
        pulls_by_rank=totals.pulls_by_rank,
        seconds=sum(chunk.seconds for chunk in chunks),
        curves=np.concatenate([chunk.curves for chunk in chunks]) if block.keep_curves else None,
    )


def play_on_device(block: Block, gathered: Any, report: Callable[[int], object]) -> None:
    """Play all runs of a policy on the GPU of this process and gather what is kept of them."""
    runs = DeviceRuns(block)
    for chunk in runs.play():
        gathered.take_chunk(chunk.first, chunk.final, chunk.curves, chunk.seconds)
        report(chunk.runs)
    totals = runs.totals()
    gathered.finish(totals.mean, totals.squares, totals.pulls, totals.pulls_by_rank)
