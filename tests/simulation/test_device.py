"""``device="cuda"``: what can be tested without a GPU. ``make test-gpu`` compares a GPU with the CPU at full size."""

import dis
import gc
import importlib
import json
import math
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import FunctionType
from typing import NamedTuple

import numpy as np
import pytest
from numba import config, cuda

import bootleader as bl
from bootleader._core.cuda import compilation
from bootleader._core.cuda import device as device_module
from bootleader._core.cuda.stacked_state import stacks_of
from bootleader._core.kernels.linear import PARTS, advance_linear
from bootleader.bandits import DRAWS
from bootleader.bandits.linear import FEATURE_DRAWS, LINKS, PAYS
from bootleader.policies import CONTEXTUAL_POLICIES
from bootleader.simulation._simulate import RunOptions, job_of
from bootleader.simulation._task_schedule import DEVICE_RUNS, tasks_of
from tests.helpers import functions_of
from tests.simulation import device_cases, device_digests

BANDIT = bl.BernoulliBandit([0.2, 0.8])
ROOT = Path(__file__).parents[2]

without_gpu = pytest.mark.skipif(config.ENABLE_CUDASIM or cuda.is_available(), reason="for machines without a GPU")


@pytest.mark.long
def test_the_simulated_gpu_plays_as_the_cpu_does():
    """Every index policy, reward family and contextual policy, on numba's simulator: its kernels run as Python."""
    environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1"}
    command = [sys.executable, "-W", "ignore", "-m", "tests.simulation.device_cases"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    lines = done.stdout.splitlines()
    assert len(lines) == len(list(device_cases.small_cases())) + len(list(device_cases.context_cases())) + 1
    assert [line for line in lines if not line.endswith("equal")] == []
    assert lines[0].startswith("curves ('cuda', 'cpu')")


CONTEXTUAL = [policy.rule.law for policy in CONTEXTUAL_POLICIES if isinstance(policy.rule, bl.LinearRule)]
CONTEXTS = [*CONTEXTUAL, *LINKS, *PAYS, *FEATURE_DRAWS, advance_linear, *PARTS]
PLAYED = [policy.rule.law for policy in device_cases.POLICIES] + list(DRAWS) + CONTEXTS


@pytest.mark.parametrize(
    "function", dict.fromkeys(PLAYED), ids=lambda function: f"{function.__module__}.{function.__name__}"
)
def test_laws_and_draws_call_no_function_that_differs_on_a_gpu(function):
    """Roots and roundings are exact everywhere; the system's logarithms and powers are not."""
    called = functions_of(function)
    exact = {math.sqrt, math.floor, math.ceil, math.frexp, math.ldexp}
    assert [f.__name__ for f in called if getattr(f, "__module__", "") == "math" and f not in exact] == []
    plain = [f for f in called if isinstance(f, FunctionType)]
    assert [f.__name__ for f in plain if any(i.argrepr == "**" for i in dis.get_instructions(f))] == []


@without_gpu
@pytest.mark.parametrize("executor", [None, "threads"])
def test_without_a_gpu_the_error_names_the_remedy(executor):
    with ThreadPoolExecutor(1) as threads, pytest.raises(RuntimeError, match=r"driver.*bootleader\[cuda\].*CPU"):
        bl.simulate(bl.UCB1(), BANDIT, rounds=9, runs=2, device="cuda", executor=None if executor is None else threads)


@without_gpu
def test_the_command_line_says_so_in_one_line(cli_error, tmp_path):
    assert "--device cuda" in cli_error("reproduce", "fig1", "--device", "cuda", "--out", str(tmp_path / "out"))


def test_a_numba_cuda_that_cannot_be_imported_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)
    with pytest.raises(RuntimeError, match="needs numba-cuda, which cannot be imported"):
        device_module.require()


def test_a_gpu_or_driver_that_is_too_old_is_named(monkeypatch):
    from bootleader._core.cuda import compilation

    def refuse(function):
        raise ValueError("compute capability 3.5 is not supported")

    monkeypatch.setattr(compilation, "kernel", refuse)
    monkeypatch.setattr(compilation.cuda, "to_device", lambda array: array)
    with pytest.raises(RuntimeError, match=r"3\.5 is not supported.*too old.*driver.*cu12.*CPU"):
        compilation.require_separate_roundings.__wrapped__()


@pytest.mark.parametrize("function", [bl.simulate, bl.sweep])
def test_other_devices_are_rejected(function):
    first = (bl.UCB1(), BANDIT) if function is bl.simulate else (lambda c: (bl.UCB1(), BANDIT),)
    with pytest.raises(ValueError, match="device"):
        function(*first, rounds=9, runs=2, device="tpu", **({} if function is bl.simulate else {"c": [1]}))


def test_what_a_gpu_cannot_play_is_played_on_the_cpu():
    discounted = bl.Discounted(bl.ReBoot(sigma_a=1.5), half_life=50)
    bounds = bl.Discounted(bl.KLUCB("gaussian"), half_life=50)
    policies = (bl.ReBoot(sigma_a=1.5), bl.Giro(), bl.IMED(), discounted, bounds, bl.PHE())

    def devices(bandit, **options):
        return job_of(policies, bandit, RunOptions(10**4, runs=3, device="cuda", **options)).devices

    assert devices(BANDIT) == ("cuda", "cpu", "cpu", "cpu", "cpu", "cuda")
    assert set(devices(BANDIT, compiled=False)) == {"cpu"}
    assert set(devices(BANDIT, delay=3)) == {"cpu"}
    assert set(devices(bl.BernoulliBandit([0.5] * 600))) == {"cpu"}
    assert set(devices(bl.Piecewise([(BANDIT, 50), (bl.BernoulliBandit([0.8, 0.2]), 50)]))) == {"cpu"}


def test_contexts_are_played_on_the_gpu_unless_a_policy_draws_from_a_memory_of_its_own():
    options = RunOptions(600, runs=3, device="cuda")
    bandit = bl.LinearBandit(bl.FixedFeatures(arms=4, dimension=2), noise="bernoulli")
    policies = (bl.LinThompson(), bl.LinGiro(), bl.LinMultiplierBootstrap(), bl.AdaptiveLinReBoot())
    assert job_of(policies, bandit, options).devices == ("cuda", "cpu", "cpu", "cuda")
    many = bl.LinearBandit(bl.FixedFeatures(arms=600, dimension=2))
    assert job_of((bl.LinUCB(),), many, options).devices == ("cpu",)


def test_a_stacked_state_is_seen_as_it_was():
    class Inner(NamedTuple):
        vector: object
        square: object

    class Outer(NamedTuple):
        inner: Inner
        count: object

    example = Outer(Inner(np.arange(2.0), np.arange(4.0).reshape(2, 2)), np.array([7, 8]))
    stacks = stacks_of(example)
    runs = tuple(np.stack([start, 10 * start], axis=-1) for start in stacks.starts)
    for run, factor in ((0, 1), (1, 10)):
        seen = stacks.view(runs, run)
        np.testing.assert_equal(seen, Outer(Inner(factor * example[0][0], factor * example[0][1]), factor * example[1]))
    stacks.view(runs, 1).inner.vector[1] = -5.0
    stack, place = stacks.places["inner.vector"]
    assert runs[stack][place].tolist() == [[0.0, 0.0], [1.0, -5.0]]


def test_a_cluster_gets_large_blocks():
    (task, *rest) = tasks_of([_job(runs=DEVICE_RUNS + 5)], width=2, narrow=4)
    assert (task.blocks[0].runs, task.blocks[0].device, len(rest)) == (DEVICE_RUNS, "cuda", 1)


def _job(runs):
    return job_of((bl.UCB1(),), BANDIT, RunOptions(10, runs, device="cuda"))


def test_the_full_comparison_plays_a_billion_rounds_and_sees_a_difference(tmp_path):
    sizes = [device_digests.size_of(batch) for batch in range(device_digests.BATCHES)]
    assert sum(size["rounds"] * size["runs"] for size in sizes) == 10**9
    spans = sorted((size["first_run"], size["first_run"] + size["runs"]) for size in sizes)
    assert all(before[1] <= after[0] for before, after in pairwise(spans))
    line = {"device": "cpu", "pair": [0, 0], "name": "", "batch": 0, "digest": ["a", "b", "c", "d"]}
    for last, equal in (("d", True), ("e", False)):
        other = {**line, "device": "cuda", "digest": ["a", "b", "c", last]}
        (tmp_path / "lines").write_text(json.dumps(line) + "\n" + json.dumps(other) + "\n")
        assert device_digests.compare([tmp_path / "lines"]) is equal


def test_a_simulation_says_where_it_was_played(tmp_path):
    sim = bl.simulate([bl.UCB1(), bl.PHE()], BANDIT, rounds=9, runs=2)
    assert sim.devices == ("cpu", "cpu")
    assert "GPU" not in str(sim)
    mixed = replace(sim, devices=("cuda", "cpu"))
    assert "on a GPU; on the CPU PHE()" in str(mixed)
    assert mixed["UCB1()"].devices == ("cuda",)
    assert (mixed["PHE()"] | mixed["UCB1()"]).devices == ("cpu", "cuda")
    more = replace(bl.simulate([bl.UCB1(), bl.PHE()], BANDIT, rounds=9, runs=2, first_run=2), devices=("cuda", "cuda"))
    assert (mixed + more).devices == ("cuda", "cpu, cuda")
    mixed.save(tmp_path / "mixed.npz")
    assert bl.Simulation.load(tmp_path / "mixed.npz").devices == ("cuda", "cpu")


def test_two_threads_that_compile_one_after_the_other_leave_nothing_changed():
    nvvm = importlib.import_module("numba.cuda.cudadrv.nvvm")
    before = nvvm.compile_ir
    entered, leave = threading.Event(), threading.Event()

    def first():
        with compilation._compiling():
            entered.set()
            leave.wait()

    def second():
        with compilation._compiling():
            assert not gc.isenabled()

    with ThreadPoolExecutor(2) as pool:
        works = [pool.submit(first)]
        entered.wait()
        works.append(pool.submit(second))
        time.sleep(0.05)  # the second thread waits for the lock
        leave.set()
        for work in works:
            work.result()
    assert gc.isenabled()
    assert nvvm.compile_ir is before
