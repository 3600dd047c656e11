"""Cells are played all at once, saved as they end, resumed after an interruption, with the same bits however played."""

import dataclasses
import threading
import time
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest

from bootleader import GaussianBandit, Giro, ReBoot
from bootleader.paper import _run_cells
from bootleader.paper._cell_cache import REPEATS, Cell, CellCache
from bootleader.paper._run_cells import run_cells
from tests.helpers import LONGEST_WAIT, NoWork, assert_same_simulation

CELL = Cell(ReBoot(sigma_a=1.5), GaussianBandit((1.0, 0.0)), rounds=300, runs=70, seed=4)
CELLS = [dataclasses.replace(CELL, seed=seed) for seed in range(6)]


@pytest.fixture(scope="module")
def played_alone():
    return {cell: _run_cells.play(cell, None) for cell in CELLS}


class WaitsForAllCells(Executor):
    """Plays nothing until tasks of every cell have been submitted; ``width`` are played at once."""

    def __init__(self, cells: int, width: int) -> None:
        self._max_workers = width
        self._pool = ThreadPoolExecutor(2)
        self._wanted, self._seen = cells, set()
        self._all_submitted = threading.Event()
        self.in_time = True

    def submit(self, fn, /, *args, **kwargs):
        self._seen.add(args[0][0].seed)
        if len(self._seen) == self._wanted:
            self._all_submitted.set()
        return self._pool.submit(self._play, fn, args, kwargs)

    def _play(self, fn, args, kwargs):
        self.in_time = self._all_submitted.wait(LONGEST_WAIT if self.in_time else 0.0) and self.in_time
        return fn(*args, **kwargs)


def test_all_cells_are_on_the_executor_at_once(cell_cache, played_alone):
    executor = WaitsForAllCells(len(CELLS), width=len(CELLS))
    results = run_cells(CELLS, cell_cache, executor=executor, progress=False)
    assert executor.in_time, "cells were played one after the other"
    for cell in CELLS:
        assert_same_simulation(results[cell], played_alone[cell])


@pytest.mark.parametrize("workers", [1, 3])
def test_workers_do_not_change_results(tmp_path, played_alone, workers):
    results = run_cells(CELLS, CellCache(tmp_path), workers=workers, progress=False)
    for cell in CELLS:
        assert_same_simulation(results[cell], played_alone[cell])


def test_each_cell_is_saved_when_it_ends_and_not_at_the_end_of_all(cell_cache, monkeypatch):
    play, saved_before = _run_cells.play, {}

    def counted(cell, *args):
        if cell is CELLS[-1]:  # the others end and are saved while this one is held back
            ended = time.monotonic() + LONGEST_WAIT
            while len(list(cell_cache.folder.glob("*.npz"))) < len(CELLS) - 1 and time.monotonic() < ended:
                time.sleep(0.01)
            saved_before["last"] = len(list(cell_cache.folder.glob("*.npz")))
        return play(cell, *args)

    monkeypatch.setattr(_run_cells, "play", counted)
    run_cells(CELLS, cell_cache, progress=False)
    assert saved_before == {"last": len(CELLS) - 1}


def test_after_an_interruption_the_rest_is_played_and_all_is_bit_identical(cell_cache, monkeypatch, played_alone):
    play = _run_cells.play

    def interrupted(cell, *args):
        if cell is CELLS[3]:
            raise KeyboardInterrupt
        return play(cell, *args)

    monkeypatch.setattr(_run_cells, "play", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_cells(CELLS, cell_cache, workers=1, progress=False)
    kept = {cell for cell in CELLS if cell_cache.load(cell) is not None}
    assert CELLS[3] not in kept
    played = []
    monkeypatch.setattr(_run_cells, "play", lambda cell, *args: played.append(cell) or play(cell, *args))
    resumed = run_cells(CELLS, cell_cache, progress=False)
    assert set(played) == set(CELLS) - kept  # nothing was played twice
    for cell in CELLS:
        assert_same_simulation(resumed[cell], played_alone[cell])


def test_a_failed_save_stops_the_other_cells(cell_cache, monkeypatch):
    long_cells = [dataclasses.replace(CELL, policy=Giro(a=1), rounds=20_000, runs=2_000, seed=s) for s in range(4)]
    began = []
    play = _run_cells.play

    def recorded(cell, *args):
        began.append(cell)
        return play(cell, *args)

    def no_space(cell, result):
        raise OSError("No space left on device")

    monkeypatch.setattr(_run_cells, "play", recorded)
    monkeypatch.setattr(cell_cache, "save", no_space)
    with pytest.raises(OSError, match="No space left"):
        run_cells([CELL, *long_cells], cell_cache, progress=False)  # returns long before the long cells could end
    assert len(began) <= 1 + max(_run_cells.FEWEST_AT_ONCE, _run_cells.cores())


class NeverAnswers(Executor):
    """A cluster that takes tasks and is gone: its futures never end."""

    _max_workers = 4

    def submit(self, fn, /, *args, **kwargs):
        return Future()


def test_an_interruption_does_not_wait_for_a_cluster_that_is_gone(cell_cache, monkeypatch):
    play = _run_cells.play

    def interrupted(cell, *args):
        if cell is CELLS[1]:
            raise KeyboardInterrupt
        return play(cell, *args)

    monkeypatch.setattr(_run_cells, "play", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_cells(CELLS, cell_cache, executor=NeverAnswers(), progress=False)


def test_timed_cells_are_played_in_turns_here_and_alone_and_the_fastest_is_kept(cell_cache, monkeypatch):
    """A slow moment then affects one repeat of many cells, not all repeats of one."""
    cells = [dataclasses.replace(CELL, seed=seed, timed=True) for seed in range(2)]
    played, seconds = [], iter([3.0, 1.0, 2.0, 5.0, 9.0, 4.0])
    play = _run_cells.play

    def slow(cell, executor, *args):
        assert executor._max_workers == 1
        played.append(cell.seed)
        return dataclasses.replace(play(cell, executor, *args), seconds=np.array([next(seconds)]))

    monkeypatch.setattr(_run_cells, "play", slow)
    results = run_cells(cells, cell_cache, executor=NoWork(), progress=False)
    assert played == [0, 1] * REPEATS
    assert [results[cell].seconds[0] for cell in cells] == [2.0, 1.0]


def test_the_progress_bar_ends_full(cell_cache, capsys):
    run_cells([*CELLS, dataclasses.replace(CELL, timed=True)], cell_cache, progress=True)
    shown = capsys.readouterr().err
    assert "7 cells to play, 0 read back" in shown
    assert "100 %" in shown
    assert "7 of 7 cells" in shown


@pytest.mark.filterwarnings("error")  # tqdm warns of a bar beyond its end
def test_the_progress_bar_never_passes_its_end(capsys):
    cells = [SimpleNamespace(cost=0.1 * k) for k in range(1, 40)]
    with _run_cells.Progress(cells, shown=True) as bar:
        for cell in cells:
            for _ in range(REPEATS):
                bar.advance(cell.cost / REPEATS)
            bar.count_cell()
        assert bar._bar.n == bar._bar.total
    shown = capsys.readouterr().err
    assert "39 of 39 cells 100 %" in shown
    assert "-00:00" not in shown


@pytest.mark.parametrize("compiles", [True, False])
def test_compiling_is_said_only_when_something_compiles(cell_cache, capsys, monkeypatch, compiles):
    import numba

    monkeypatch.setattr(_run_cells, "compile_kernels", lambda cells: compiles and numba.njit(lambda x: x)(1.0))
    run_cells([CELL], cell_cache, progress=True)
    assert ("compiling" in capsys.readouterr().err) == compiles


def test_cells_are_played_while_what_others_need_is_compiled(cell_cache, monkeypatch):
    """The second compilation waits until a cell of the first kind has been played."""
    other = dataclasses.replace(CELL, bandit=GaussianBandit((1.0, 0.5, 0.0)))
    was_played, in_time, play = threading.Event(), [], _run_cells.play

    def compile_late(cells):
        if list(cells) == [other]:
            in_time.append(was_played.wait(LONGEST_WAIT))

    def noted(cell, *args):
        result = play(cell, *args)
        was_played.set()
        return result

    monkeypatch.setattr(_run_cells, "compile_kernels", compile_late)
    monkeypatch.setattr(_run_cells, "play", noted)
    results = run_cells([*CELLS, other], cell_cache, progress=False)
    assert in_time == [True]
    assert len(results) == len(CELLS) + 1


def test_an_error_of_a_compilation_reaches_the_caller(cell_cache, monkeypatch):
    def fails(cells):
        raise TypeError("cannot be compiled")

    monkeypatch.setattr(_run_cells, "compile_kernels", fails)
    with pytest.raises(TypeError, match="cannot be compiled"):
        run_cells(CELLS, cell_cache, progress=False)
