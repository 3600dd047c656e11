"""How many cells of a sweep the scheduler takes a second, on threads and on a Dask cluster of two worker processes.

The cells are tiny (32 runs of 20 rounds), so the time is that of the scheduler and of setting runs up. On a cluster the
scheduler is one process: the tasks that it takes a second times the seconds of a task are the workers that it keeps
busy.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import Executor, wait
from typing import Any

import numpy as np

import bootleader as bl
from benchmarks.measuring import Measured

CELLS, RUNS, ROUNDS = 40, 32, 20  # CELLS squared cells
WORKERS, TASKS = 128, 1_000


def make(sigma_a: float, gap: float) -> tuple[Any, Any]:
    return {"ReBoot": bl.ReBoot(sigma_a)}, bl.GaussianBandit([gap, 0.0, 0.0, 0.0, 0.0])


def seconds(executor: Executor | None) -> float:
    values = {"sigma_a": np.linspace(0.5, 2.0, CELLS), "gap": np.linspace(0.1, 1.0, CELLS)}
    began = time.perf_counter()
    bl.sweep(make, rounds=ROUNDS, runs=RUNS, executor=executor, **values)
    return time.perf_counter() - began


def seconds_of_nothing(executor: Executor) -> float:
    began = time.perf_counter()
    wait([executor.submit(float, number + began) for number in range(TASKS)])
    return time.perf_counter() - began


def measure(repeats: int) -> Iterator[Measured]:
    from distributed import Client, LocalCluster

    section = "Cells of a sweep"
    several = max(1, repeats // 3)
    seconds(None)
    rate = CELLS**2 / min(seconds(None) for _ in range(several))
    yield Measured(section, "cells of 32 runs of 20 rounds a second, threads of this process", rate, "/s")
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        executor = client.get_executor()
        seconds(executor)
        rate = CELLS**2 / min(seconds(executor) for _ in range(several))
        yield Measured(section, "the same on two Dask workers", rate, "/s")
        tasks = TASKS / min(seconds_of_nothing(executor) for _ in range(several))
    yield Measured(section, "tasks that do nothing a second, on two Dask workers", tasks, "/s")
    what = f"milliseconds that a task must take for {WORKERS} workers to be busy at this rate"
    yield Measured(section, what, 1e3 * WORKERS / tasks, "ms")
