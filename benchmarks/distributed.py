"""Bytes that a block sends and returns, and the time that a Dask cluster of two worker processes takes."""

from __future__ import annotations

import pickle
from collections.abc import Iterator

import bootleader as bl
from benchmarks.measuring import Measured, side_by_side
from bootleader.simulation._block_runs import play_blocks
from bootleader.simulation._simulate import checkpoint_rounds
from bootleader.simulation._task_schedule import Job, tasks_of

BANDIT = bl.GaussianBandit(means=bl.Uniform(5, 7, arms=10))


def measure(repeats: int) -> Iterator[Measured]:
    section = "More than one machine"
    marks = checkpoint_rounds(10_000, 200)
    task = tasks_of([Job((bl.ReBoot(sigma_a=1.5),), BANDIT, 10_000, 500, 0, marks)], width=2, narrow=4)[0]
    (result,) = play_blocks(task.blocks)
    what = f"bytes sent for a block of {result.runs} runs, 200 checkpoints"
    yield Measured(section, what, len(pickle.dumps(task.blocks)), "bytes")
    yield Measured(section, "bytes returned", len(pickle.dumps(result)), "bytes")

    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        size = {"rounds": 10_000, "runs": 2_000}
        here, there = side_by_side(
            max(1, repeats // 3),
            lambda: bl.simulate(bl.ReBoot(sigma_a=1.5), BANDIT, **size),
            lambda: bl.simulate(bl.ReBoot(sigma_a=1.5), BANDIT, executor=client.get_executor(), **size),
        )
    yield Measured(section, "2,000 runs on two Dask workers against this process's cores, time", there / here, "x")
