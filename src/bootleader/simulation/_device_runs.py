"""Play runs on a GPU, a chunk at a time, and reduce them there to what is kept.

Chunks are as large as the GPU plays at once and its memory holds, whatever the number of runs. While one is played the
arms of the next are drawn. A chunk of long runs is played in several launches, so that an interrupt is handled soon.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from bootleader.simulation._block_runs import QUANTITIES, Block, BlockResult, Group, group_size
from bootleader.simulation._device_programs import program_of

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
    recommended_by_rank: npt.NDArray[np.int64]


@dataclass(frozen=True)
class Chunk:
    """Consecutive runs that were played together."""

    first: int  # place of the first run in the block
    runs: int
    final: Floats
    curves: Floats | None
    recommended: npt.NDArray[np.int32] | None
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

        require_separate_roundings()
        self.block, self.keep_groups, self.group = block, keep_groups, group_size(block)
        self.program = program_of(block, self.cuda)
        self.checkpoints = self.cuda.to_device(block.checkpoints)
        shape = (len(QUANTITIES), len(block.checkpoints))
        self.mean, self.squares = (self.cuda.to_device(np.zeros(shape)) for _ in range(2))
        zeros = np.zeros(block.bandit.arms, np.int64)
        self.counts = tuple(self.cuda.to_device(zeros) for _ in range(3))  # pulls, pulls by rank, recommended by rank
        compiles = self.program.to_device(self.program.inputs(0, 1), 1), *self._buffers(1)[:2]
        self._launch(*compiles, 0, 1, 0, 0)
        self.chunk_runs = self._chunk_runs()
        self.buffers = self._buffers(self.chunk_runs)

    def play(self) -> Iterator[Chunk]:
        """Play all runs, and yield chunk after chunk."""
        runs, size = self.block.runs, self.chunk_runs
        firsts = range(0, runs, size)
        with ThreadPoolExecutor(1) as ahead:
            coming = ahead.submit(self.program.inputs, 0, min(size, runs))
            for first in firsts:
                arms, count = coming.result(), min(size, runs - first)
                if first + size < runs:
                    coming = ahead.submit(self.program.inputs, first + size, min(size, runs - first - size))
                yield self._chunk(first, count, arms)

    def totals(self) -> DeviceTotals:
        """What is kept of the runs that have been played."""
        return DeviceTotals(*(kept.copy_to_host() for kept in (self.mean, self.squares, *self.counts)))

    def _bytes_a_run(self) -> int:
        from bootleader._core.kernels.trajectory import FIELD_TYPES

        marks = len(self.block.checkpoints)
        groups = 2 * len(QUANTITIES) * marks / self.group
        return self.program.bytes_a_run + int(8 * (len(FIELD_TYPES) * marks + groups))

    def _chunk_runs(self) -> int:
        """Runs of a chunk: as many as the GPU plays at once, if its memory holds them."""
        from bootleader._core.cuda.device import free_bytes

        program = self.program
        fit = int(MEMORY_SHARE * free_bytes(self.cuda)) // self._bytes_a_run() // program.threads
        blocks = min(program.kernel.concurrent_blocks(program.threads, program.shared_bytes), max(fit, FEWEST_BLOCKS))
        needed = -(-self.block.runs // program.threads)
        return int(min(blocks, needed) * program.threads)

    def _buffers(self, runs: int) -> tuple[Any, Any, Any, Any]:
        """State and trajectory of so many runs, and their groups."""
        from bootleader._core.kernels.trajectory import FIELD_TYPES, Trajectory

        array, marks = self.cuda.device_array, len(self.block.checkpoints)
        trajectory = Trajectory(*(array((marks, runs), kind) for kind in FIELD_TYPES))
        shape = (-(-runs // self.group), len(QUANTITIES), marks)
        return self.program.state(runs), trajectory, array(shape, np.float64), array(shape, np.float64)

    def _launch(self, inputs: Any, state: Any, trajectory: Any, first: int, runs: int, start: int, stop: int) -> None:
        self.program.launch(inputs, state, (trajectory, self.checkpoints), first, runs, start, stop)

    def _chunk(self, first: int, runs: int, arrays: tuple[Any, ...]) -> Chunk:
        """Play the runs of a chunk to the end and reduce them."""
        from bootleader._core.cuda import device

        block = self.block
        state, trajectory, means, squares = self.buffers
        began = time.perf_counter()
        inputs = self.program.to_device(arrays, runs)
        played, rounds = 0, max(1, int(FIRST_LAUNCH / (runs * self.program.draws)))
        while played < block.rounds:
            stop = min(block.rounds, played + rounds)
            started = time.perf_counter()
            self._launch(inputs, state, trajectory, first, runs, played, stop)
            if stop == block.rounds:
                self._reduce(inputs, first, runs)
            device.wait(self.cuda)
            seconds = time.perf_counter() - started
            rounds = max(1, int((stop - played) * min(LAUNCH_SECONDS / max(seconds, 1e-6), 100.0)))
            played = stop
        groups = None
        if self.keep_groups:
            count = -(-runs // self.group)
            sizes = [min(self.group, runs - self.group * g) for g in range(count)]
            pairs = zip(sizes, means.copy_to_host()[:count], squares.copy_to_host()[:count], strict=True)
            groups = [Group(size, mean, square) for size, mean, square in pairs]
        curves = recommended = None
        if block.keep_curves:
            curves = trajectory.regret.copy_to_host()[:, :runs].T
            recommended = trajectory.recommended.copy_to_host()[:, :runs].T.astype(np.int32)
        final = trajectory.regret[-1].copy_to_host()[:runs]  # the last checkpoint is the last round
        return Chunk(first, runs, final, curves, recommended, groups, time.perf_counter() - began)

    def _reduce(self, inputs: Any, first: int, runs: int) -> None:
        from bootleader._core.cuda import reductions

        state, trajectory, means, squares = self.buffers
        reductions.group_results(trajectory, self.checkpoints, runs, self.group, means, squares)
        if not self.keep_groups:
            reductions.merge(means, squares, runs, self.group, first, self.mean, self.squares)
        reductions.add_pulls(*self.program.pulls(inputs, state), trajectory.recommended[-1], runs, self.counts)


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
        recommended_by_rank=totals.recommended_by_rank,
        seconds=sum(chunk.seconds for chunk in chunks),
        curves=np.concatenate([chunk.curves for chunk in chunks]) if block.keep_curves else None,
        recommended=np.concatenate([chunk.recommended for chunk in chunks]) if block.keep_curves else None,
    )


def play_on_device(block: Block, gathered: Any, report: Callable[[int], object]) -> None:
    """Play all runs of a policy on the GPU of this process and gather what is kept of them."""
    runs = DeviceRuns(block)
    for chunk in runs.play():
        gathered.take_chunk(chunk.first, chunk.final, chunk.curves, chunk.recommended, chunk.seconds)
        report(chunk.runs)
    totals = runs.totals()
    gathered.finish(totals)
