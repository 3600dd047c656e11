"""Play cells that are not in the cache: all at once on an executor, with one progress bar over them all."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import closing, nullcontext
from queue import SimpleQueue
from typing import Literal

from bootleader._core.compilation_events import on_compilation
from bootleader.paper._cell_cache import CHECKPOINTS, REPEATS, Cell, CellCache, Results
from bootleader.simulation._simulate import simulate
from bootleader.simulation._task_schedule import cores, width_of
from bootleader.simulation.result import Simulation

Played = Generator[tuple[Cell, Simulation], None, None]

Device = Literal["cpu", "cuda"]

STEPS = 10_000  # of the progress bar: whole numbers, because sums of costs may round to more than the total
FEWEST_AT_ONCE = 2  # cells, so that the last tasks of one leave no core idle


class Interrupted(Exception):  # noqa: N818  (not an error: another cell failed, or the user interrupted)
    """Ends the simulation of a cell whose result is no longer wanted."""


def play(
    cell: Cell, executor: Executor | None, on_runs: Callable[[int], object] | bool = False, device: Device = "cpu"
) -> Simulation:
    """Simulate a cell; ``on_runs`` is called with the number of runs that have just ended."""
    return simulate(
        cell.policy, cell.bandit, rounds=cell.rounds, runs=cell.runs, seed=cell.seed, checkpoints=CHECKPOINTS,
        executor=executor, progress=on_runs, device=device,
    )  # fmt: skip


def play_in_turn(cells: Sequence[Cell], pool: Executor, on_runs: Callable[[Cell, int], object]) -> Played:
    """Simulate cells one after the other on the GPU of this process; the pool plays what the GPU cannot."""
    for cell in cells:

        def count(runs: int, cell: Cell = cell) -> None:
            on_runs(cell, runs)

        yield cell, play(cell, pool, count, "cuda")


def play_timed(cells: Sequence[Cell], on_cell: Callable[[Cell], object]) -> Played:
    """Simulate each cell several times on one core and keep the fastest: only the seconds differ.

    All cells are played before any is repeated: what slows a machine down lasts longer than a cell.
    """
    compile_kernels(cells)
    fastest: dict[Cell, Simulation] = {}
    with ThreadPoolExecutor(1) as one_thread:
        for _ in range(REPEATS):
            for cell in cells:
                result = play(cell, one_thread)
                best = fastest.setdefault(cell, result)
                if result.seconds[0] < best.seconds[0]:
                    fastest[cell] = result
                on_cell(cell)
    yield from fastest.items()


def play_at_once(
    cells: Sequence[Cell], executor: Executor, on_runs: Callable[[Cell, int], object], device: Device = "cpu",
    ready: Iterable[Cell] | None = None,
) -> Played:  # fmt: skip
    """Simulate many cells at the same time on one executor, and yield each as it ends.

    As many cells are in progress as the executor plays tasks at once. Each has at least one task left, so no worker
    is idle while there are cells. A thread for each cell in progress submits its tasks and merges their results.

    Parameters
    ----------
    cells : sequence of Cell
    executor : Executor
        Where the tasks are played.
    on_runs : callable
        Called with a cell and the number of its runs that have just ended, from several threads.
    device : {"cpu", "cuda"}
        Where the executor's workers play.
    ready : iterable of Cell, optional
        The same cells, in the order in which they can be played; it may take its time. By default all can be.
    """
    interrupted = threading.Event()
    not_begun: SimpleQueue[Cell | None] = SimpleQueue()  # None: there are no more
    ended: SimpleQueue[tuple[Cell, Simulation] | BaseException] = SimpleQueue()
    at_once = min(len(cells), max(FEWEST_AT_ONCE, width_of(executor)))

    def make_ready() -> None:
        try:
            for cell in cells if ready is None else ready:
                if interrupted.is_set():
                    break
                not_begun.put(cell)
        except BaseException as error:  # raised again in the thread that waits for the results
            ended.put(error)
        for _ in range(at_once):
            not_begun.put(None)

    def play_next() -> None:
        while (cell := not_begun.get()) is not None and not interrupted.is_set():
            ended.put(_played_or_error(cell, executor, interrupted, on_runs, device))

    # Daemons: a cluster that no longer answers must not keep the program from ending.
    threads = [threading.Thread(target=play_next, name=f"cell-{n}", daemon=True) for n in range(at_once)]
    for thread in (threading.Thread(target=make_ready, name="ready-cells", daemon=True), *threads):
        thread.start()
    try:
        for _ in cells:
            played = ended.get()
            if isinstance(played, BaseException):
                raise played
            yield played
    finally:
        interrupted.set()
        for _ in threads:
            not_begun.put(None)
        if isinstance(executor, ThreadPoolExecutor):
            for thread in threads:
                thread.join()


def _played_or_error(
    cell: Cell, executor: Executor, interrupted: threading.Event, on_runs: Callable[[Cell, int], object], device: Device
) -> tuple[Cell, Simulation] | BaseException:
    def count(runs: int) -> None:
        if interrupted.is_set():
            raise Interrupted
        on_runs(cell, runs)

    try:
        return cell, play(cell, executor, count, device)
    except BaseException as error:  # raised again in the thread that waits for the results
        return error


def compile_kernels(cells: Iterable[Cell]) -> None:
    """Compile what these cells need, before anything is timed."""
    for cell in {(type(cell.policy), type(cell.bandit), cell.bandit.arms): cell for cell in cells}.values():
        simulate(cell.policy, cell.bandit, rounds=max(8, cell.bandit.arms), runs=2)


def once_compiled(cells: Iterable[Cell]) -> Generator[Cell, None, None]:
    """The cells, each when what it needs is compiled, so that others are played meanwhile; the costliest come last."""
    kinds: dict[tuple[type, type, int], list[Cell]] = {}
    for cell in cells:
        kinds.setdefault((type(cell.policy), type(cell.bandit), cell.bandit.arms), []).append(cell)
    for kind in sorted(kinds.values(), key=lambda kind: max(cell.cost for cell in kind)):
        compile_kernels(kind[:1])
        yield from kind


def unique(cells: Iterable[Cell]) -> list[Cell]:
    """Each cell once, by cost, so that many results are soon in the cache."""
    return sorted(dict.fromkeys(cells), key=lambda cell: cell.cost)


def run_cells(
    cells: Iterable[Cell], cache: CellCache, *, workers: int | None = None, executor: Executor | None = None,
    progress: bool = True, device: Device = "cpu",
) -> Results:  # fmt: skip
    """Play the cells that the cache does not hold, save each as it ends, and return the results of all.

    Parameters
    ----------
    cells : iterable of Cell
    cache : CellCache
    workers : int, optional
        Threads; by default one a core.
    executor : Executor, optional
        Where to play instead. Timed cells are always played here, on one core, after the others.
    progress : bool
        Show a progress bar.
    device : {"cpu", "cuda"}
        Where cells that are not timed are played.
    """
    results, missing = Results(), []
    for cell in unique(cells):
        found = cache.load(cell)
        if found is None:
            missing.append(cell)
        else:
            results.add(cell, found)
    if not missing:
        return results

    def say(text: str) -> None:
        if progress:
            print(text, file=sys.stderr)

    say(f"{len(missing)} cells to play, {len(results)} read back")
    timed = [cell for cell in missing if cell.timed]
    others = [cell for cell in missing if not cell.timed]
    with (
        on_compilation(lambda: say("compiling")),
        nullcontext(executor) if executor is not None else ThreadPoolExecutor(workers or cores()) as pool,
        Progress(missing, progress) as bar,
    ):

        def on_runs(cell: Cell, runs: int) -> None:
            bar.advance(runs * cell.cost_per_run)

        if executor is not None:
            played = play_at_once(others, pool, on_runs, device)
        elif device == "cuda":
            played = play_in_turn(others, pool, on_runs)
        else:
            played = play_at_once(others, pool, on_runs, device, once_compiled(others))
        in_turn = play_timed(timed, lambda cell: bar.advance(cell.cost / REPEATS))
        for some in (played, in_turn):
            with closing(some):
                for cell, result in some:
                    cache.save(cell, result)
                    results.add(cell, result)
                    bar.count_cell()
    return results


class Progress:
    """One bar over all cells, by their cost; several threads may advance it."""

    def __init__(self, cells: Sequence[Cell], shown: bool) -> None:
        from tqdm import tqdm

        self._cells, self._finished, self._lock = len(cells), 0, threading.Lock()
        self._cost, self._played = sum(cell.cost for cell in cells), 0.0
        self._bar = tqdm(
            total=STEPS, disable=not shown, smoothing=0, dynamic_ncols=True,
            bar_format="{desc} {percentage:3.0f} %|{bar}| {elapsed} elapsed, {remaining} left",
        )  # fmt: skip
        self._describe()

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.close()

    def advance(self, cost: float) -> None:
        """Add the cost of what has just ended."""
        with self._lock:
            self._played += cost
            self._bar.update(min(round(STEPS * (self._played / self._cost)), STEPS) - self._bar.n)

    def count_cell(self) -> None:
        """Count a finished cell."""
        with self._lock:
            self._finished += 1
            self._describe()

    def _describe(self) -> None:
        self._bar.set_description_str(f"{self._finished} of {self._cells} cells")
