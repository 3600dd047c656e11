"""``simulate``: split the runs into blocks, map them over an executor, merge what comes back in order."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from bootleader._core.compilation_events import on_compilation
from bootleader._core.moments import chan
from bootleader._core.validation import seed_of, whole
from bootleader.bandits import Bandit
from bootleader.policies import IndexRule, Policy
from bootleader.simulation._blocks import GROUP, QUANTITIES, Block, BlockResult, play_blocks, uses_leader_tree
from bootleader.simulation._python_loop import PythonPolicy
from bootleader.simulation._work_stealing import WorkStealing
from bootleader.simulation.result import Simulation

WIDE = 2 * GROUP  # runs in lock step while there are many; more are no faster
NARROW_A_CORE = 2  # blocks of one group at the end, on executors where blocks cannot be divided
OTHER_RUNS = 2
LARGE_K_RUNS = 1  # with very many arms one run is work and memory enough for a block
TASK_WORK = 2e7  # index draws (arms x rounds x runs) that a task should hold if it can
OTHER_DRAW = 50  # an index from a history, or of a policy of the user's, costs at least so many index draws
TASKS_A_CORE = 16  # at least, so that no core is idle for long at the end
IN_FLIGHT = 64  # tasks handed to the executor ahead of time, at the least
AHEAD = 16  # windows by which tasks may run ahead of the oldest unfinished one


def simulate(
    policies: Any,
    bandit: Bandit,
    *,
    rounds: int,
    runs: int,
    seed: int = 0,
    checkpoints: int = 200,
    executor: Executor | None = None,
    progress: bool | Callable[[int], object] = False,
) -> Simulation:
    """Play every policy on the same runs of a bandit.

    Run r has the same arms, and the n-th pull of arm k pays the same reward, under every policy. Results depend on
    the seed alone: not on the executor, the number of cores, the number of runs or the other policies in the call.

    Parameters
    ----------
    policies : policy, list of policies, or dict of name to policy
        Policies of the library, or objects with ``start(arms, rng)``, ``pull()`` and ``update(arm, reward)``.
    bandit : Bandit
    rounds, runs : int
        Length of a run, and how many of them.
    seed : int
        Any whole number from 0 to 2**64 - 1.
    checkpoints : int
        At how many rounds, evenly spaced, the regret curve is kept.
    executor : concurrent.futures.Executor, optional
        Where blocks of runs are played; by default on the cores of this machine.
    progress : bool or callable
        Show a progress bar with the time left; or what to call with the number of runs that have just ended.

    Returns
    -------
    Simulation

    Examples
    --------
    >>> from bootleader import GaussianBandit, ReBoot, simulate
    >>> sim = simulate(ReBoot(sigma_a=1.5), GaussianBandit([1.0, 0.0]), rounds=100, runs=8, seed=1)
    >>> sim.final_regret.shape
    (1, 8)
    """
    if not isinstance(bandit, Bandit):
        raise TypeError(f"bandit must be one of the library's, such as GaussianBandit(means=[1, 0]), got {bandit!r}")
    named = named_policies(policies)
    runs, seed = whole("runs", runs, 1), seed_of(seed)
    rounds = whole("rounds", rounds, 1)
    if rounds < bandit.arms:
        raise ValueError(f"rounds must be at least the number of arms, {bandit.arms}, got {rounds}")
    for policy in named.values():
        if isinstance(policy, Policy):
            policy.known_sd(bandit.arms, np.ones((bandit.arms, 1)))
    marks = checkpoint_rounds(rounds, whole("checkpoints", checkpoints, 1))
    if executor is not None and not hasattr(executor, "submit"):
        raise TypeError(f"executor must be a concurrent.futures.Executor or None, got {executor!r}")

    gathered = [Gathered(len(marks), bandit.arms, runs) for _ in named]
    width = width_of(executor)
    narrow = 0 if executor is None or isinstance(executor, ThreadPoolExecutor) else NARROW_A_CORE * width
    tasks = tasks_of(list(named.values()), bandit, seed, runs, rounds, marks, width, narrow)
    with _progress_callback(progress, runs * len(named)) as report:
        for task, results in _mapped(tasks, executor, width):
            gathered[task.policy].take(task.first_block, results)
            report(sum(result.runs for result in results))
    return Simulation(
        policies=tuple(named),
        rounds=marks,
        over_time=np.array([[g.mean, g.standard_error] for g in gathered]).transpose(0, 2, 1, 3),
        final_regret=np.array([g.final for g in gathered]),
        pulls=np.array([g.pulls / runs for g in gathered]),
        pulls_by_rank=np.array([g.pulls_by_rank / runs for g in gathered]),
        seconds=np.array([g.seconds for g in gathered]),
        bandit=repr(bandit),
        seed=seed,
    )


def named_policies(policies: Any) -> dict[str, Any]:
    """Policies by name, whichever way they were given."""
    if isinstance(policies, Mapping):
        pairs = [(str(name), policy) for name, policy in policies.items()]
    else:
        listed = list(policies) if isinstance(policies, Sequence) and not isinstance(policies, str) else [policies]
        pairs = [("", policy) for policy in listed]
    if not pairs:
        raise ValueError("policies must hold at least one policy, got none")
    named: dict[str, Any] = {}
    for given, candidate in pairs:
        policy = _playable(candidate)
        name = given or str(getattr(policy, "name", type(policy).__name__))
        if name in named:
            raise ValueError(f"policy names must differ, got {name!r} twice; give a dict of name to policy")
        named[name] = policy
    return named


def _playable(candidate: Any) -> Any:
    if isinstance(candidate, type):
        candidate = candidate()
    if isinstance(candidate, Policy | PythonPolicy):
        return candidate
    raise TypeError(
        "a policy must be one of the library's, such as ReBoot(sigma_a=1.5), or have the methods start(arms, rng), "
        f"pull() and update(arm, reward); got {candidate!r}"
    )


def checkpoint_rounds(rounds: int, checkpoints: int) -> npt.NDArray[np.int64]:
    """Evenly spaced rounds at which regret is kept; the last is the horizon."""
    wanted = min(checkpoints, rounds)
    return np.array([rounds * (mark + 1) // wanted for mark in range(wanted)], np.int64)


@dataclass(frozen=True)
class Task:
    """Consecutive blocks of one policy, played one after the other in one place."""

    policy: int
    first_block: int
    blocks: list[Block]


def block_sizes(policy: Any, arms: int, runs: int, narrow: int) -> list[int]:
    """Runs of each block of this policy, in order; runs in lock step end in so many narrow blocks at least."""
    if uses_leader_tree(policy, arms):
        sizes = [LARGE_K_RUNS] * runs
    elif not _has_index_rule(policy):
        sizes = [OTHER_RUNS] * -(-runs // OTHER_RUNS)
    else:
        groups = -(-runs // GROUP)
        wide = max(0, groups - narrow) * GROUP // WIDE
        sizes = [WIDE] * wide + [GROUP] * (groups - wide * WIDE // GROUP)
    sizes[-1] -= sum(sizes) - runs
    return sizes


def _has_index_rule(policy: Any) -> bool:
    return isinstance(policy, Policy) and isinstance(policy.rule, IndexRule)


def tasks_of(
    policies: list[Any], bandit: Bandit, seed: int, runs: int, rounds: int, marks: npt.NDArray[np.int64], width: int,
    narrow: int,
) -> list[Task]:  # fmt: skip
    """All tasks, the policies' interleaved so that progress tells the time left.

    ``width`` are played at once, and ``narrow`` blocks stand at the end, of all policies together.
    """
    ordered: list[tuple[float, Task]] = []
    for index, policy in enumerate(policies):
        sizes = block_sizes(policy, bandit.arms, runs, -(-narrow // len(policies)))
        first_runs = np.cumsum([0, *sizes]).tolist()
        draws = rounds * bandit.arms * (1 if _has_index_rule(policy) else OTHER_DRAW)
        a_task = max(1, min(round(TASK_WORK / (sizes[0] * draws)), len(sizes) // (TASKS_A_CORE * width)))
        for first in range(0, len(sizes), a_task):
            members = [
                Block(policy, bandit, seed, first_runs[b], sizes[b], rounds, marks)
                for b in range(first, min(first + a_task, len(sizes)))
            ]
            ordered.append((first_runs[first] / runs, Task(index, first, members)))
    ordered.sort(key=lambda pair: pair[0])
    return [task for _, task in ordered]


def _mapped(tasks: list[Task], executor: Executor | None, width: int) -> Iterator[tuple[Task, list[BlockResult]]]:
    """Play the tasks on an executor, a window of them at a time, and yield each as it ends."""
    if executor is None:
        with ThreadPoolExecutor(width) as own:
            yield from _mapped(tasks, own, width)
    elif isinstance(executor, ThreadPoolExecutor):
        _import_kernels(any(isinstance(task.blocks[0].policy, Policy) for task in tasks))
        threads = WorkStealing(executor, min(width, cores()), len(tasks))
        try:
            yield from _windowed(tasks, width, lambda task: executor.submit(play_blocks, task.blocks, threads))
        except BaseException:
            threads.stop()
            raise
    else:
        yield from _windowed(tasks, width, lambda task: executor.submit(play_blocks, task.blocks))


def _import_kernels(all_of_them: bool) -> None:
    """Import what compiles before threads do, so that no two of them wait for each other's imports."""
    for kernel in ("run_setup", "lockstep", "history", "large_k")[: None if all_of_them else 1]:
        importlib.import_module(f"bootleader._core.kernels.{kernel}")


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
            for place in range(submitted, last):
                flying[submit(tasks[place])] = place
            submitted = max(submitted, last)
            if not flying:
                return
            done, _ = wait(flying, return_when=FIRST_COMPLETED)
            for future in done:
                yield tasks[flying.pop(future)], future.result()
    except BaseException:
        for future in flying:
            future.cancel()
        raise


@dataclass
class Gathered:
    """One policy's results so far, merged block by block in the order of the runs, whatever order they end in."""

    marks: int
    arms: int
    runs: int
    seconds: float = 0.0
    _early: dict[int, BlockResult] = field(default_factory=dict)
    _next: int = 0
    _count: float = 0.0

    def __post_init__(self) -> None:
        self.mean = np.zeros((len(QUANTITIES), self.marks))
        self._squares = np.zeros((len(QUANTITIES), self.marks))
        self.final = np.zeros(self.runs)
        self.pulls = np.zeros(self.arms, np.int64)
        self.pulls_by_rank = np.zeros(self.arms, np.int64)

    @property
    def standard_error(self) -> npt.NDArray[np.float64]:
        """Standard error of the mean; not a number for a single run."""
        if self.runs < 2:
            return np.full(self.mean.shape, np.nan)
        return np.asarray(np.sqrt(self._squares / (self.runs - 1) / self.runs))

    def take(self, first_block: int, results: list[BlockResult]) -> None:
        """Accept the results of some consecutive blocks."""
        self._early.update(enumerate(results, start=first_block))
        while self._next in self._early:
            block = self._early.pop(self._next)
            start = int(self._count)
            self.final[start : start + block.runs] = block.final
            self.pulls += block.pulls
            self.pulls_by_rank += block.pulls_by_rank
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


@contextmanager
def _progress_callback(progress: bool | Callable[[int], object], total: int) -> Iterator[Callable[[int], object]]:
    """Yield the progress callback."""
    if callable(progress):
        yield progress
    elif not progress:
        yield lambda runs: None
    else:
        from tqdm.auto import tqdm

        with (
            tqdm(total=total, unit="run", desc="simulate") as bar,
            on_compilation(lambda: bar.set_description_str("compiling, once")),
        ):

            def update(runs: int) -> None:
                bar.set_description_str("simulate", refresh=False)
                bar.update(runs)

            yield update
