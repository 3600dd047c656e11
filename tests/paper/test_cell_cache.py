"""Finished cells are kept, whole ones only, and never taken for another."""

import dataclasses
import errno
import math

import numpy as np
import pytest

from bootleader import AffineBandit, GaussianBandit, ReBoot, ThompsonSampling
from bootleader.paper import _cell_cache as cells_module
from bootleader.paper import _run_cells as job
from bootleader.paper._cell_cache import Cell, Store

CELL = Cell(ReBoot(sigma_a=1.5), GaussianBandit((1.0, 0.0)), rounds=300, runs=70, seed=4)


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "cells")


def same(a, b):
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in ("mean_regret", "sem", "final_regret"))


def test_a_finished_cell_is_read_back_bit_for_bit(store):
    assert store.load(CELL) is None
    played = job.play(CELL, None)
    store.save(CELL, played)
    read = store.load(CELL)
    assert same(read, played)
    assert np.array_equal(read.seconds, played.seconds)
    assert [path.name for path in store.folder.iterdir()] == [f"{CELL.digest}.npz"]


@pytest.mark.parametrize(
    "change",
    [
        {"rounds": 301},
        {"runs": 71},
        {"seed": 5},
        {"timed": True},
        {"policy": ReBoot(sigma_a=1.5000000000000002)},
        {"policy": ReBoot(sigma_a=1.5, weights="mammen")},
        {"policy": ThompsonSampling(prior_sd=math.inf)},
        {"bandit": GaussianBandit((1.0, 0.0), sd=(1.0, 2.0))},
        {"bandit": AffineBandit(GaussianBandit((1.0, 0.0)), 1.0, 0.0)},
    ],
)
def test_any_change_is_another_cell(store, change):
    store.save(CELL, job.play(CELL, None))
    other = dataclasses.replace(CELL, **change)
    assert other.digest != CELL.digest
    assert store.load(other) is None


def test_another_version_or_other_sources_are_another_cell(monkeypatch):
    before = CELL.digest
    monkeypatch.setattr(cells_module, "__version__", "99.0")
    assert CELL.digest != before
    monkeypatch.undo()
    monkeypatch.setattr(cells_module, "_sources", lambda: "other kernels")
    assert CELL.digest != before


@pytest.mark.parametrize("keep", [0, 1, 200, -1])
def test_a_half_written_file_is_never_used(store, keep):
    store.save(CELL, job.play(CELL, None))
    path = store.path(CELL)
    path.write_bytes(path.read_bytes()[:keep])
    assert store.load(CELL) is None


def test_a_file_with_flipped_bytes_is_never_used(store):
    played = job.play(CELL, None)
    store.save(CELL, played)
    path = store.path(CELL)
    whole = bytearray(path.read_bytes())
    for place in range(len(whole)):
        spoilt = whole.copy()
        spoilt[place] ^= 0xFF
        path.write_bytes(spoilt)
        found = store.load(CELL)
        assert found is None or same(found, played)


def test_a_file_under_the_wrong_name_is_never_used(store):
    other = dataclasses.replace(CELL, seed=5)
    store.save(other, job.play(other, None))
    store.path(other).rename(store.path(CELL))
    assert store.load(CELL) is None


def test_a_full_disk_leaves_nothing_behind(store, monkeypatch):
    played = job.play(CELL, None)

    def full(self, path):
        with open(path, "wb") as file:
            file.write(b"half")
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(type(played), "save", full)
        with pytest.raises(OSError, match="No space left"):
            store.save(CELL, played)
    assert list(store.folder.iterdir()) == []


def test_after_an_interruption_the_rest_is_played_and_all_is_bit_identical(store, tmp_path, monkeypatch):
    wanted = [dataclasses.replace(CELL, seed=seed) for seed in range(4)]
    play, played = job.play, []

    def interrupted(cell, *args):
        if len(played) == 2:
            raise KeyboardInterrupt
        played.append(cell)
        return play(cell, *args)

    monkeypatch.setattr(job, "play", interrupted)
    with pytest.raises(KeyboardInterrupt):
        job.run(wanted, store, progress=False)
    monkeypatch.setattr(job, "play", lambda cell, *args: played.append(cell) or play(cell, *args))
    resumed = job.run(wanted, store, progress=False)
    assert len(played) == len(wanted)  # nothing was played twice
    at_once = job.run(wanted, Store(tmp_path / "other"), progress=False)
    assert all(same(resumed[cell], at_once[cell]) for cell in wanted)


def test_workers_do_not_change_results(tmp_path):
    one = job.run([CELL], Store(tmp_path / "1"), workers=1, progress=False)
    three = job.run([CELL], Store(tmp_path / "3"), workers=3, progress=False)
    assert same(one[CELL], three[CELL])


def test_the_progress_bar_ends_full(store, capsys):
    job.run([CELL, dataclasses.replace(CELL, timed=True)], store, progress=True)
    assert "100 %" in capsys.readouterr().err


def test_timed_cells_are_played_turn_by_turn_and_the_fastest_is_kept(store, monkeypatch):
    """A slow moment then meets one repeat of many cells, not all repeats of one."""
    cells = [dataclasses.replace(CELL, seed=seed, timed=True) for seed in range(2)]
    played, seconds = [], iter([3.0, 1.0, 2.0, 5.0, 9.0, 4.0])
    play = job.play

    def slow(cell, *args):
        played.append(cell.seed)
        return dataclasses.replace(play(cell, *args), seconds=np.array([next(seconds)]))

    monkeypatch.setattr(job, "play", slow)
    results = job.run(cells, store, progress=False)
    assert played == [0, 1] * job.REPEATS
    assert [results[cell].seconds[0] for cell in cells] == [2.0, 1.0]
