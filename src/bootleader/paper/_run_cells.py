"""A job: the cells of some parts, played or read back, with one progress bar over them all."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import nullcontext
from typing import Any

from bootleader.bandits import GaussianBandit
from bootleader.paper._cell_cache import CHECKPOINTS, REPEATS, Cell, Results, Store
from bootleader.policies import POLICIES
from bootleader.simulation._simulate import cores, simulate
from bootleader.simulation.result import Simulation


def play(cell: Cell, executor: Executor | None, told: Callable[[int], object] | bool = False) -> Simulation:
    """Simulate a cell, and tell of runs as they end."""
    return simulate(
        cell.policy, cell.bandit, rounds=cell.rounds, runs=cell.runs, seed=cell.seed, checkpoints=CHECKPOINTS,
        executor=executor, progress=told,
    )  # fmt: skip


def play_timed(cells: Sequence[Cell], told: Callable[[Cell], object]) -> Iterator[tuple[Cell, Simulation]]:
    """Simulate each cell some times on one core, and keep the fastest: the results are the same, the seconds differ.

    Turn by turn, because what slows a machine down lasts longer than a cell does.
    """
    fastest: dict[Cell, Simulation] = {}
    with ThreadPoolExecutor(1) as one:
        for _ in range(REPEATS):
            for cell in cells:
                result = play(cell, one)
                before = fastest.setdefault(cell, result)
                if result.seconds[0] < before.seconds[0]:
                    fastest[cell] = result
                told(cell)
    yield from fastest.items()


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
    with (
        nullcontext(outside) if outside is not None else ThreadPoolExecutor(workers or cores()) as executor,
        _bar(sum(cell.cost for cell in missing), progress) as bar,
    ):
        timed, others = ([cell for cell in missing if cell.timed is clocked] for clocked in (True, False))
        if timed:
            bar.set_description_str(f"{len(timed)} cells on the clock")
        for cell, result in play_timed(timed, lambda cell: _advance(bar, cell.cost / REPEATS)):
            store.save(cell, result)
            results.add(cell, result)
        for place, cell in enumerate(others, start=len(timed) + 1):
            bar.set_description_str(f"cell {place} of {len(missing)}")
            result = play(cell, executor, lambda runs, cell=cell: _advance(bar, runs * cell.cost_a_run))  # type: ignore[misc]
            store.save(cell, result)
            results.add(cell, result)
    return results


def _advance(bar: Any, cost: float) -> None:
    bar.update(min(cost, max(0.0, bar.total - bar.n)))


def _bar(total: float, shown: bool) -> Any:
    from tqdm import tqdm

    return tqdm(
        total=total, disable=not shown, smoothing=0, dynamic_ncols=True,
        bar_format="{desc} {percentage:3.0f} %|{bar}| {elapsed} gone, {remaining} left",
    )  # fmt: skip
