"""A little of everything, in a minute: `make test-lowest` runs it on the lowest versions that pyproject.toml allows."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import bootleader as bl
from bootleader.policies import POLICIES

PLAYED = [policy for policy in POLICIES if not (getattr(policy.rule, "history", False) or policy.reads_horizon)]
BANDITS = [
    bl.GaussianBandit([1.0, 0.0], sd=bl.LogUniform(0.5, 2.0)),
    bl.LogisticBandit(bl.Uniform(5, 7, arms=3)),
    bl.StudentTBandit([1.0, 0.0], df=3),
    bl.ExponentialBandit([6.0, 7.0], shift=5),
    bl.BernoulliBandit([0.2, 0.8]),
    bl.RevenueBandit([1.0, 2.0]),
    bl.EmpiricalBandit([[1.0, 2.0], [0.0, 9.0]]),
    bl.AffineBandit(bl.BernoulliBandit([0.2, 0.8]), scale=100, shift=-7),
]


@pytest.mark.parametrize("bandit", BANDITS, ids=lambda bandit: type(bandit).__name__)
def test_every_policy_plays(bandit):
    least, most = bandit.reward_range
    policies = [policy for policy in POLICIES if policy.reward_range[0] <= least and most <= policy.reward_range[1]]
    assert len(policies) > len(POLICIES) / 2
    simulation = bl.simulate(policies, bandit, rounds=40, runs=3, seed=1)
    assert simulation.final_regret.shape == (len(policies), 3)
    assert np.isfinite(simulation.final_regret).all()
    assert len(simulation.summary()) == len(policies)


@pytest.mark.parametrize("policy", PLAYED, ids=str)
def test_an_agent_survives_a_restart(policy):
    agent = bl.Agent(policy, ["a", "b"], seed=3)
    for reward in range(12):
        agent.update(agent.pull(), 0.25 * (reward % 5))
    restored = bl.Agent.from_json(agent.to_json())
    assert [restored.pull() for _ in range(5)] == [agent.pull() for _ in range(5)]


def test_a_plot_is_written(tmp_path):
    simulation = bl.simulate([bl.UCB1(), bl.PHE()], BANDITS[4], rounds=40, runs=3)
    for ending in ("png", "pdf", "svg"):
        path = tmp_path / f"regret.{ending}"
        simulation.plot(path)
        assert path.stat().st_size > 1000


def test_a_simulation_is_read_back(tmp_path):
    simulation = bl.simulate(bl.UCB1(), BANDITS[4], rounds=40, runs=3)
    simulation.save(tmp_path / "regret.npz")
    np.testing.assert_array_equal(bl.Simulation.load(tmp_path / "regret.npz").final_regret, simulation.final_regret)


def test_dask_is_an_executor():
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=1, processes=False, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        on_dask = bl.simulate(bl.UCB1(), BANDITS[4], rounds=40, runs=3, executor=client.get_executor())
    here = bl.simulate(bl.UCB1(), BANDITS[4], rounds=40, runs=3)
    np.testing.assert_array_equal(on_dask.final_regret, here.final_regret)


@pytest.mark.parametrize("arguments", [["--help"], ["policies"], ["bound", "--means", "1,0"]], ids=" ".join)
def test_the_command_line_answers(arguments):
    command = [sys.executable, "-m", "bootleader.cli", *arguments]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr
    assert finished.stdout
