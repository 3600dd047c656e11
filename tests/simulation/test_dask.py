"""simulate on a real Dask cluster of two worker processes."""

import json
import os
import pickle
import re
import signal
import threading

import pytest

import bootleader as bl
from bootleader.simulation._block_runs import QUANTITIES, play_blocks
from bootleader.simulation._simulate import checkpoint_rounds
from bootleader.simulation._task_schedule import Job, tasks_of
from tests.helpers import assert_same_simulation, posix_only

distributed = pytest.importorskip("distributed")

POLICIES = [bl.ReBoot(sigma_a=1.5), bl.Giro(a=1), bl.AdaptiveReBoot()]
BANDIT = bl.GaussianBandit(means=bl.Uniform(0, 1, arms=5))
SIZE = {"rounds": 600, "runs": 200, "seed": 3}

pytestmark = [pytest.mark.long, pytest.mark.filterwarnings("ignore")]  # warnings of the cluster's own libraries


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        distributed.Client(cluster) as connected,
    ):
        yield connected


@pytest.fixture(scope="module")
def local():
    return bl.simulate(POLICIES, BANDIT, **SIZE)


def test_a_cluster_gives_the_same_bits(client, local):
    assert_same_simulation(bl.simulate(POLICIES, BANDIT, executor=client.get_executor(), **SIZE), local)


def _cell(sigma_a, gap):
    return [bl.ReBoot(sigma_a), bl.UCB1()], bl.GaussianBandit([gap, 0.0])


def test_a_sweep_on_a_cluster_gives_the_same_bits(client):
    swept = {"sigma_a": [0.5, 1.0, 1.5], "gap": [0.5, 1.0], "rounds": 50, "runs": 40}
    here, there = (bl.sweep(_cell, executor=where, **swept) for where in (None, client.get_executor()))
    for a, b in zip(here.simulations, there.simulations, strict=True):
        assert_same_simulation(a, b)


def test_progress_streams_from_the_cluster(client, capfd):
    bl.simulate(POLICIES, BANDIT, executor=client.get_executor(), progress=True, **SIZE)
    shown = capfd.readouterr().err
    assert "600/600" in shown
    assert len(set(re.findall(r"(\d+)/600", shown))) > 2  # as blocks end, not all at once


def test_reproduce_on_a_cluster_gives_the_same_files(client, tmp_path):
    from bootleader.cli import main

    size = ["reproduce", "fig1", "--runs", "8", "--rounds", "200"]
    assert main([*size, "--out", str(tmp_path / "here")]) == 0
    assert main([*size, "--out", str(tmp_path / "there"), "--dask", client.scheduler.address]) == 0
    assert (tmp_path / "there" / "fig1.csv").read_bytes() == (tmp_path / "here" / "fig1.csv").read_bytes()
    about = json.loads((tmp_path / "there" / "manifest.json").read_text())
    assert about["machine"]["runs_played_on"] == "ClientExecutor"


@posix_only
def test_a_killed_worker_costs_only_time(client, local):
    victim = next(iter(client.cluster.workers.values())).pid
    threading.Timer(0.2, os.kill, (victim, signal.SIGKILL)).start()
    while victim in [worker.pid for worker in client.cluster.workers.values()]:
        assert_same_simulation(bl.simulate(POLICIES, BANDIT, executor=client.get_executor(), **SIZE), local)
    assert_same_simulation(bl.simulate(POLICIES, BANDIT, executor=client.get_executor(), **SIZE), local)


def test_a_task_is_small_both_ways():
    marks = checkpoint_rounds(1_000, 200)
    task = tasks_of([Job((bl.ReBoot(sigma_a=1.5),), BANDIT, 1_000, 64, 0, marks)], width=2, narrow=4)[0]
    (result,) = play_blocks(task.blocks)
    assert len(pickle.dumps(task.blocks)) < 4_000
    # Means and squares of every quantity at 200 checkpoints for each 32 runs, final regrets, pulls by arm and by rank:
    # eight bytes each, and a frame around them.
    kept = 2 * 200 * len(QUANTITIES) * len(result.groups) + result.runs + 2 * 5
    assert len(pickle.dumps(result)) < 8 * kept + 1_000
