"""Divide simulations into blocks and tasks, map the tasks over an executor, and merge the results in order.

Several simulations can be played at once, so that a cluster stays busy. Results depend on the seed alone: not on the
executor, the number of cores, or the order in which tasks end.
"""

from __future__ import annotations

import importlib
import itertools
import math
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bootleader._core.changes_and_delays import Delay
from bootleader._core.moments import chan
from bootleader.simulation._block_runs import (
    GROUP,
    QUANTITIES,
    Block,
    BlockResult,
    group_size,
    play_blocks,
    plays_in_lockstep,
    plays_in_python,
    plays_on_device,
)
from bootleader.simulation._uninterrupted import uninterrupted
from bootleader.simulation._work_stealing import WorkStealing

if TYPE_CHECKING:
    from bootleader.simulation._device_runs import DeviceTotals

Floats = npt.NDArray[np.float64]

WIDE = 2 * GROUP  # runs in lock step while there are many; more are no faster
NARROW_A_CORE = 2  # blocks of one group at the end, on executors where blocks cannot be divided
DEVICE_RUNS = 2**16  # of a block that a worker with a GPU plays
TASK_WORK = 2e7  # index draws (arms x rounds x runs) that a task should hold if it can
LEAST_WORK = 5e6  # index draws up to which pieces of several jobs share a task: about 15 milliseconds
TASK_DRAWS = 3e5  # a task costs a cluster's scheduler as long as so many index draws take: about a millisecond
BLOCK_DRAWS = 1e5  # setting a block up and reducing it takes as long as so many index draws
OTHER_DRAW = 50  # an index that is not drawn in lock step costs at least so many index draws
TASKS_A_CORE = 16  # at least, so that no core is idle for long at the end
IN_FLIGHT = 64  # tasks handed to the executor ahead of time, at the least
AHEAD = 16  # windows by which tasks may run ahead of the oldest unfinished one
WAIT = 0.1  # seconds after which a Ctrl-C has its effect
LOOK_AGAIN = 0.001  # seconds after which threads that are about to end are looked at again

_pools = itertools.count(1)


@dataclass(frozen=True)
class Job:
    """One simulation: policies on the same runs of a bandit."""

    policies: tuple[Any, ...]
    bandit: Any
    rounds: int
    runs: int
    seed: int
    checkpoints: npt.NDArray[np.int64]
    compiled: bool = True
    delay: Delay | None = None
    keep_curves: bool = False
    first_run: int = 0
    device: str = "cpu"

    def block(self, policy: int, first_run: int = 0, runs: int = 1) -> Block:
        """Some consecutive runs of one of the policies."""
        return Block(
            self.policies[policy], self.bandit, self.seed, first_run, runs, self.rounds, self.checkpoints,
            self.compiled, self.delay, self.keep_curves, self.device,
        )  # fmt: skip

    @property
    def devices(self) -> tuple[str, ...]:
        """Where each policy is played: what a GPU cannot play is played on the CPU."""
        asked = self.device == "cuda"
        places = range(len(self.policies))
        return tuple("cuda" if asked and plays_on_device(self.block(place)) else "cpu" for place in places)


@dataclass(frozen=True)
class Piece:
    """Consecutive blocks of one policy of a job, and about how many index draws they are."""

    job: int
    policy: int
    first_block: int
    blocks: list[Block]
    draws: float = 0.0


@dataclass(frozen=True)
class Task:
    """Pieces that are played one after the other in one place: one, unless they are small and of several jobs."""

    pieces: list[Piece]

    @property
    def blocks(self) -> list[Block]:
        """The blocks of all pieces."""
        return [block for piece in self.pieces for block in piece.blocks]


def draws_of_run(example: Block) -> int:
    """About how many index draws take as long as one run."""
    return example.rounds * int(example.bandit.arms) * (1 if plays_in_lockstep(example) else OTHER_DRAW)


def parts_of_task(parts: int, draws: float, width: int) -> int:
    """How many of some parts, each of so many index draws, make a task; there are tasks for all cores."""
    return max(1, min(round(TASK_WORK / draws), parts // (TASKS_A_CORE * width)))


def block_sizes(example: Block, runs: int, narrow: int, width: int) -> list[int]:
    """Runs of each block, in order; runs in lock step end in at least so many narrow blocks.

    Other runs take as many to a block as make a task, because setting a block up takes as long as thousands of rounds.
    """
    if example.device == "cuda" and plays_on_device(example):
        sizes = [DEVICE_RUNS] * -(-runs // DEVICE_RUNS)
    elif not plays_in_lockstep(example):
        group = group_size(example)
        size = group * parts_of_task(-(-runs // group), group * draws_of_run(example), width)
        sizes = [size] * -(-runs // size)
    else:
        groups = -(-runs // GROUP)
        wide = max(0, groups - narrow) * GROUP // WIDE
        sizes = [WIDE] * wide + [GROUP] * (groups - wide * WIDE // GROUP)
    sizes[-1] -= sum(sizes) - runs
    return sizes


def tasks_of(
    jobs: Sequence[Job], width: int, narrow: int, here: frozenset[tuple[int, int]] = frozenset()
) -> list[Task]:
    """All tasks, the policies' interleaved so that progress estimates the time left.

    ``width`` tasks are played at once, and ``narrow`` blocks stand at the end, of all policies together. The policies
    in ``here``, by the numbers of job and policy, are played by this process's GPU and are no tasks.
    """
    ordered: list[tuple[float, Piece]] = []
    policies = sum(len(job.policies) for job in jobs)
    for number, job in enumerate(jobs):
        for policy in range(len(job.policies)):
            if (number, policy) in here:
                continue
            example = job.block(policy)
            sizes = block_sizes(example, job.runs, -(-narrow // policies), width)
            first_runs = np.cumsum([0, *sizes]).tolist()
            draws = draws_of_run(example)
            together = parts_of_task(len(sizes), sizes[0] * draws, width)
            for first in range(0, len(sizes), together):
                numbers = range(first, min(first + together, len(sizes)))
                blocks = [job.block(policy, job.first_run + first_runs[b], sizes[b]) for b in numbers]
                work = sum(block.runs * draws + BLOCK_DRAWS for block in blocks)
                ordered.append((first_runs[first] / job.runs, Piece(number, policy, first, blocks, work)))
    ordered.sort(key=lambda pair: pair[0])
    pieces = [piece for _, piece in ordered]
    return packed(pieces, width) if len(jobs) > 1 else [Task([piece]) for piece in pieces]


def packed(pieces: list[Piece], width: int) -> list[Task]:
    """Small pieces of many jobs several to a task, in order.

    The scheduler of a cluster submits tasks one after the other. While it does, ``width`` workers have to be busy; and
    if there is little work in all, submitting should take no longer than the work of a task.
    """
    total = sum(piece.draws for piece in pieces)
    least = max(LEAST_WORK, min(width * TASK_DRAWS, math.sqrt(total * TASK_DRAWS)))
    tasks: list[Task] = []
    left = 0.0
    for piece in pieces:
        if piece.draws > left or not tasks:
            tasks.append(Task([piece]))
            left = least - piece.draws
        else:
            tasks[-1].pieces.append(piece)
            left -= piece.draws
    return tasks


def play(
    jobs: Sequence[Job], executor: Executor | None, n_jobs: int | None, report: Callable[[int], object]
) -> list[list[Gathered]]:
    """Play some jobs at once: for each job, what was gathered of each policy.

    ``report`` is called with the number of runs that have just ended.
    """
    gathered = [[Gathered(job) for _ in job.policies] for job in jobs]
    width = n_jobs or width_of(executor)
    divisible = executor is None or isinstance(executor, ThreadPoolExecutor)
    here: frozenset[tuple[int, int]] = frozenset(_on_own_device(jobs) if divisible else ())
    for number, policy in sorted(here):
        from bootleader.simulation._device_runs import play_on_device

        job = jobs[number]
        play_on_device(job.block(policy, job.first_run, job.runs), gathered[number][policy], report)
    tasks = tasks_of(jobs, width, 0 if divisible else NARROW_A_CORE * width, here)
    for task, results in _mapped(tasks, executor, width) if tasks else ():
        left = iter(results)
        for piece in task.pieces:
            gathered[piece.job][piece.policy].take(piece.first_block, list(islice(left, len(piece.blocks))))
        report(sum(result.runs for result in results))
    return gathered


def _on_own_device(jobs: Sequence[Job]) -> Iterator[tuple[int, int]]:
    """Numbers of job and policy of what a GPU plays."""
    for number, job in enumerate(jobs):
        for policy, device in enumerate(job.devices):
            if device == "cuda":
                yield number, policy


def _mapped(tasks: list[Task], executor: Executor | None, width: int) -> Iterator[tuple[Task, list[BlockResult]]]:
    """Play the tasks on an executor, a window of them at a time, and yield each as it ends."""
    if executor is None:
        with _own_pool(width) as own:
            yield from _mapped(tasks, own, width)
    elif _is_own_thread(executor):
        # Called from a task of this very pool, whose threads may all be waiting like this one: play the tasks here.
        for task in tasks:
            yield task, play_blocks(task.blocks)
    elif isinstance(executor, ThreadPoolExecutor):
        _import_kernels(any(not plays_in_python(piece.blocks[0]) for task in tasks for piece in task.pieces))
        threads = WorkStealing(executor, min(width, cores()), len(tasks))
        try:
            yield from _windowed(tasks, width, lambda task: executor.submit(play_blocks, task.blocks, threads))
        except BaseException:
            with uninterrupted():
                threads.stop()
            raise
    else:
        yield from _windowed(tasks, width, lambda task: executor.submit(play_blocks, task.blocks))


@contextmanager
def _own_pool(width: int) -> Iterator[ThreadPoolExecutor]:
    """A pool whose threads have ended afterwards."""
    name = f"bootleader-{next(_pools)}"
    pool = ThreadPoolExecutor(width, thread_name_prefix=name)
    try:
        yield pool
    finally:
        with uninterrupted():
            pool.shutdown(wait=False)
        while any(thread.name.startswith(f"{name}_") for thread in threading.enumerate()):
            time.sleep(LOOK_AGAIN)


def _is_own_thread(executor: Executor) -> bool:
    """Whether this thread belongs to a pool of threads; by its name, because a pool lists a thread after its start."""
    prefix = getattr(executor, "_thread_name_prefix", "")
    return bool(prefix) and threading.current_thread().name.startswith(f"{prefix}_")


def _import_kernels(all_of_them: bool) -> None:
    """Import what compiles before threads do, so that no two of them wait for each other's imports."""
    names = ("run_setup", "trajectory", "lockstep", "history", "large_k", "general", "linear", "linear_draws")
    for name in names[: None if all_of_them else 2]:
        importlib.import_module(f"bootleader._core.kernels.{name}")


def _windowed(
    tasks: list[Task], width: int, submit: Callable[[Task], Future[list[BlockResult]]]
) -> Iterator[tuple[Task, list[BlockResult]]]:
    window = max(IN_FLIGHT, 4 * width)
    flying: dict[Future[list[BlockResult]], int] = {}
    submitted = 0
    try:
        while True:
            oldest = next(iter(flying.values()), submitted)
            # Not too far ahead of a task that hangs: later results are kept until it ends.
            last = min(len(tasks), oldest + AHEAD * window, submitted + window - len(flying))
            with uninterrupted():
                for place in range(submitted, last):
                    flying[submit(tasks[place])] = place
            submitted = max(submitted, last)
            if not flying:
                return
            done: set[Future[list[BlockResult]]] = set()
            while not done:
                with uninterrupted():
                    done, _ = wait(flying, timeout=WAIT, return_when=FIRST_COMPLETED)
            for future in done:
                with uninterrupted():
                    results = future.result()
                yield tasks[flying.pop(future)], results
    except BaseException:
        with uninterrupted():
            for future in flying:
                future.cancel()
        raise


@dataclass
class Gathered:
    """One policy's results so far, merged block by block in the order of the runs, whatever order they end in."""

    job: Job
    seconds: float = 0.0
    _early: dict[int, BlockResult] = field(default_factory=dict)
    _next: int = 0
    _count: float = 0.0

    def __post_init__(self) -> None:
        job = self.job
        shape, arms = (len(QUANTITIES), len(job.checkpoints)), job.bandit.arms
        self.mean: Floats = np.zeros(shape)
        self._squares: Floats = np.zeros(shape)
        self.final: Floats = np.zeros(job.runs)
        self.pulls = np.zeros(arms, np.int64)
        self.pulls_by_rank = np.zeros(arms, np.int64)
        self.recommended_by_rank = np.zeros(arms, np.int64)
        kept = (job.runs if job.keep_curves else 0, len(job.checkpoints))
        self.curves: Floats = np.zeros(kept)
        self.recommended = np.zeros(kept, np.int32)

    @property
    def standard_error(self) -> Floats:
        """Standard errors of the means; not a number for a single run."""
        runs = self.job.runs
        if runs < 2:
            return np.full(self.mean.shape, np.nan)
        return np.asarray(np.sqrt(self._squares / (runs - 1) / runs))

    def take_chunk(
        self,
        first: int,
        final: Floats,
        curves: Floats | None,
        recommended: npt.NDArray[np.int32] | None,
        seconds: float,
    ) -> None:
        """Accept what is kept of each of some consecutive runs that a GPU has played."""
        self.final[first : first + len(final)] = final
        if curves is not None and recommended is not None:
            self.curves[first : first + len(final)] = curves
            self.recommended[first : first + len(final)] = recommended
        self.seconds += seconds

    def finish(self, totals: DeviceTotals) -> None:
        """Accept what a GPU has kept of all runs together."""
        self.mean, self._squares = totals.mean, totals.squares
        self.pulls, self.pulls_by_rank = totals.pulls, totals.pulls_by_rank
        self.recommended_by_rank = totals.recommended_by_rank

    def take(self, first_block: int, results: list[BlockResult]) -> None:
        """Accept the results of some consecutive blocks."""
        self._early.update(enumerate(results, start=first_block))
        while self._next in self._early:
            block = self._early.pop(self._next)
            runs = slice(int(self._count), int(self._count) + block.runs)
            self.final[runs] = block.final
            if block.curves is not None and block.recommended is not None:
                self.curves[runs] = block.curves
                self.recommended[runs] = block.recommended
            self.pulls += block.pulls
            self.pulls_by_rank += block.pulls_by_rank
            self.recommended_by_rank += block.recommended_by_rank
            self.seconds += block.seconds
            for group in block.groups:
                self._count, self.mean, self._squares = chan(
                    self._count, self.mean, self._squares, float(group.runs), group.mean, group.squares
                )
            self._next += 1


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def width_of(executor: Any) -> int:
    """How many tasks an executor plays at once, as far as is known; only speed depends on it."""
    if executor is None:
        return cores()
    client: Any = getattr(executor, "_client", None)  # Dask's executor knows the cluster only through its client
    threads = client.ncores() if hasattr(client, "ncores") else getattr(executor, "_max_workers", None)
    if isinstance(threads, Mapping):
        threads = sum(threads.values())
    return threads if isinstance(threads, int) and threads > 0 else cores()
