"""A job: the cells of some parts, played or read back, with one progress bar over them all."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import Any

from bootleader.bandits import GaussianBandit
from bootleader.paper.cells import CHECKPOINTS, REPEATS, Cell, Results, Store
from bootleader.policies import POLICIES
from bootleader.simulation.engine import cores, simulate, width_of
from bootleader.simulation.result import Simulation


class Workshop(Executor):
    """An executor that tells a progress bar of every task that ends, and whose threads can be told to stop.

    ``outside`` is an executor of the caller's, such as a Dask client's; without one, threads of this machine are used.
    """

    def __init__(self, workers: int | None, outside: Executor | None, told: Callable[[int], None]) -> None:
        self._own = None if outside is not None else ThreadPoolExecutor(workers)
        self._inner: Any = outside or self._own
        self._max_workers = width_of(self._inner)  # for simulate to size its tasks by
        self._told = told
        self._stop = threading.Event()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Submit some blocks of runs."""
        (blocks,) = args
        extra = (self._stop,) if self._own is not None else ()
        future: Future[Any] = self._inner.submit(fn, blocks, *extra, **kwargs)
        runs = sum(block.runs for block in blocks)
        future.add_done_callback(lambda done: None if done.cancelled() or done.exception() else self._told(runs))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Stop the threads at their next look; an executor of the caller's is left alone."""
        self._stop.set()
        if self._own is not None:
            self._own.shutdown(wait, cancel_futures=cancel_futures)


def play(cell: Cell, executor: Executor | None) -> Simulation:
    """Simulate a cell."""
    return simulate(
        cell.policy, cell.bandit, rounds=cell.rounds, runs=cell.runs, seed=cell.seed, checkpoints=CHECKPOINTS,
        executor=executor,
    )  # fmt: skip


def play_timed(cell: Cell) -> Simulation:
    """Simulate a cell some times on one core, and keep the fastest: the results are the same, the seconds differ."""
    with ThreadPoolExecutor(1) as one:
        return min((play(cell, one) for _ in range(REPEATS)), key=lambda result: float(result.seconds[0]))


def warm_up() -> None:
    """Compile what there is to compile, so that no cell's seconds count it."""
    for policy in POLICIES:
        simulate(policy, GaussianBandit((1.0, 0.0)), rounds=8, runs=2)


def unique(cells: Iterable[Cell]) -> list[Cell]:
    """Each cell once: the timed ones first, while the machine is at its calmest, those that take longest last."""
    return sorted(dict.fromkeys(cells), key=lambda cell: (not cell.timed, cell.cost))


def run(
    cells: Iterable[Cell], store: Store, *, workers: int | None = None, outside: Executor | None = None,
    progress: bool = True,
) -> Results:  # fmt: skip
    """Play the cells that the store does not hold, and return them all."""
    results, missing = Results(), []
    for cell in unique(cells):
        found = store.load(cell)
        if found is None:
            missing.append(cell)
        else:
            results.add(cell, found)
    if not missing:
        return results
    if progress:
        print(f"{len(missing)} cells to play, {len(results)} read back; compiling", file=sys.stderr)
    warm_up()
    with _bar(sum(cell.cost for cell in missing), progress) as bar:
        for place, cell in enumerate(missing, start=1):
            bar.set_description_str(f"cell {place} of {len(missing)}")
            result = _finished(cell, bar, workers, outside)
            store.save(cell, result)
            results.add(cell, result)
    return results


def _finished(cell: Cell, bar: Any, workers: int | None, outside: Executor | None) -> Simulation:
    if cell.timed:
        result = play_timed(cell)
        _advance(bar, cell.cost)
        return result
    workshop = Workshop(workers or cores(), outside, lambda runs: _advance(bar, runs * cell.cost_a_run))
    try:
        return play(cell, workshop)
    finally:
        workshop.shutdown(cancel_futures=True)


def _advance(bar: Any, cost: float) -> None:
    bar.update(min(cost, max(0.0, bar.total - bar.n)))


def _bar(total: float, shown: bool) -> Any:
    from tqdm import tqdm

    return tqdm(
        total=total, disable=not shown, smoothing=0, dynamic_ncols=True,
        bar_format="{desc} {percentage:3.0f} %|{bar}| {elapsed} gone, {remaining} left",
    )  # fmt: skip
