"""The engine: keyed randomness, merging, memory, stopping and progress."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest
from scipy import stats

import bootleader as bl
from bootleader.simulation._blocks import Block, Runs, play_block
from bootleader.simulation._simulate import Gathered, block_sizes, checkpoint_rounds
from bootleader.simulation._python_loop import play_python

POLICIES = [bl.ReBoot(sigma_a=1.5), bl.AdaptiveReBoot(), bl.Giro(), bl.PHE(), bl.ReBoot(1.0, weights="mammen")]
BANDIT = bl.GaussianBandit(bl.Uniform(0, 1, arms=4), sd=bl.LogUniform(0.2, 2.0))
EXACT = ("rounds", "mean_regret", "sem", "final_regret", "pulls")


class Recorder:
    """Pulls by a fixed pattern, and writes down what each arm paid in every run."""

    log: list[dict[int, list[float]]] = []  # noqa: RUF012  (a block plays a copy, so the record is the class's)

    def __init__(self, stride: int) -> None:
        self.stride = stride
        self.name = f"every {stride}"

    def start(self, arms, rng):
        self.arms, self.place = arms, 0
        Recorder.log.append({arm: [] for arm in range(arms)})

    def pull(self):
        self.place += 1
        return self.place * self.stride % self.arms

    def update(self, arm, reward):
        Recorder.log[-1][arm].append(reward)


class RandomArm:
    """A user's policy that uses its generator."""

    def start(self, arms, rng):
        self.arms, self.rng = arms, rng

    def pull(self):
        return int(self.rng.integers(self.arms))

    def update(self, arm, reward):
        pass


class Backwards(Executor):
    """Plays every task at once but hands the results out so that late tasks end first."""

    def __init__(self) -> None:
        self.submitted = 0

    def submit(self, fn, /, *args, **kwargs):
        self.submitted += 1
        future: Future = Future()
        future.set_result(fn(*args, **kwargs))
        return future


def run(policies=POLICIES, **given):
    return bl.simulate(policies, BANDIT, **({"rounds": 120, "runs": 150, "seed": 9, "checkpoints": 20} | given))


@pytest.fixture(scope="module")
def reference():
    return run()


def assert_same_bits(a, b) -> None:
    for name in EXACT:
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))


# --- keyed randomness -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_threads_do_not_matter(reference, workers):
    with ThreadPoolExecutor(workers) as executor:
        assert_same_bits(run(executor=executor), reference)


def test_processes_do_not_matter(reference):
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
        assert_same_bits(run(executor=executor), reference)


def test_any_executor_will_do(reference):
    executor = Backwards()
    assert_same_bits(run(executor=executor), reference)
    assert executor.submitted > 0


def test_the_size_of_tasks_does_not_matter(reference, monkeypatch):
    from bootleader.simulation import _simulate as engine

    for work in (1.0, 1e12):
        monkeypatch.setattr(engine, "TASK_WORK", work)
        assert_same_bits(run(), reference)


def test_the_number_of_cores_does_not_matter(monkeypatch):
    from bootleader.simulation import _simulate as engine

    found = []
    for cores in (1, 2, 64):  # wide blocks, then narrow ones
        monkeypatch.setattr(engine, "cores", lambda cores=cores: cores)
        found.append(run(runs=300))
    assert_same_bits(found[1], found[0])
    assert_same_bits(found[2], found[0])


class Cluster:
    """What a Dask client says of its workers."""

    def __init__(self, **threads):
        self.threads = threads

    def ncores(self):
        return self.threads


def test_tasks_are_sized_for_the_executor_they_go_to(monkeypatch):
    from bootleader.simulation import _simulate as engine

    monkeypatch.setattr(engine, "cores", lambda: 3)
    with ThreadPoolExecutor(7) as seven:
        assert engine.width_of(seven) == 7
    dask, empty, unknown = Executor(), Executor(), Executor()
    dask._client, empty._client = Cluster(a=40, b=88), Cluster()
    assert [engine.width_of(executor) for executor in (None, dask, empty, unknown)] == [3, 128, 3, 3]
    few, many = (
        len(engine.tasks_of([bl.ReBoot(1.5)], BANDIT, 0, 20_000, 1_000, np.array([1_000]), width, 2 * width))
        for width in (2, 128)
    )
    assert few < 128 < many


def test_blocks_are_wide_until_cores_would_idle():
    assert block_sizes(bl.ReBoot(sigma_a=1.5), 10, 500, narrow=4) == [64] * 6 + [32] * 3 + [20]
    assert block_sizes(bl.ReBoot(sigma_a=1.5), 10, 500, narrow=0) == [64] * 7 + [52]
    assert block_sizes(bl.ReBoot(sigma_a=1.5), 10, 500, narrow=32) == [32] * 15 + [20]
    assert block_sizes(bl.ReBoot(sigma_a=1.5), 10, 96, narrow=2) == [32] * 3
    assert block_sizes(bl.Giro(), 10, 5, narrow=4) == [2, 2, 1]
    assert block_sizes(bl.ReBoot(sigma_a=1.5), 1_000, 3, narrow=4) == [1, 1, 1]


@pytest.mark.parametrize("runs", [1, 3, 64, 65, 149])
def test_run_r_is_run_r_whatever_the_number_of_runs(reference, runs):
    np.testing.assert_array_equal(run(runs=runs).final_regret, reference.final_regret[:, :runs])


def test_a_policy_more_changes_no_other(reference):
    alone = run([bl.Giro()])
    np.testing.assert_array_equal(alone.final_regret[0], reference.final_regret[2])
    more = run([bl.UCB1(), *POLICIES, RandomArm()])
    for name in ("mean_regret", "sem", "final_regret", "pulls"):
        np.testing.assert_array_equal(getattr(more, name)[1:-1], getattr(reference, name))


def test_checkpoints_change_no_regret(reference):
    np.testing.assert_array_equal(run(checkpoints=3).final_regret, reference.final_regret)


def test_seeds_differ(reference):
    for seed in (0, 10, 2**63):
        assert not np.isin(run(seed=seed).final_regret, reference.final_regret).any()


def test_runs_differ(reference):
    for regrets in reference.final_regret:
        assert len(np.unique(regrets)) == len(regrets)


def test_a_users_policy_is_keyed_too():
    whole = run(RandomArm(), runs=10)
    np.testing.assert_array_equal(run(RandomArm(), runs=7).final_regret, whole.final_regret[:, :7])
    with ThreadPoolExecutor(1) as executor:
        assert_same_bits(run(RandomArm(), runs=10, executor=executor), whole)


@pytest.mark.parametrize("bandit", [BANDIT, bl.BernoulliBandit([0.2, 0.5, 0.6]), bl.StudentTBandit([1, 0], df=3)])
def test_the_nth_pull_of_an_arm_pays_the_same_under_every_policy(bandit):
    logs = []
    for stride in (1, 3, 5):
        Recorder.log.clear()
        with ThreadPoolExecutor(1) as executor:
            bl.simulate(Recorder(stride), bandit, rounds=60, runs=3, seed=2, executor=executor)
        logs.append(list(Recorder.log))
    compared = 0
    for other in logs[1:]:
        for ours, theirs in zip(logs[0], other, strict=True):
            for arm in ours:
                shared = min(len(ours[arm]), len(theirs[arm]))
                assert ours[arm][:shared] == theirs[arm][:shared]
                compared += shared
    assert compared > 100
    assert logs[0][0] != logs[0][1]  # another run, other rewards


def test_told_sds_are_the_true_ones():
    """ "oracle" is the same, bit for bit, as writing the true sds down."""
    bandit = bl.GaussianBandit([1.0, 0.5, 0.0], sd=[2.0, 0.3, 1.0])
    told = bl.ThompsonSampling(prior_sd=float("inf"), noise_sd="oracle")
    written = bl.ThompsonSampling(prior_sd=float("inf"), noise_sd=[2.0, 0.3, 1.0])
    sim = bl.simulate({"told": told, "written": written}, bandit, rounds=300, runs=20)
    np.testing.assert_array_equal(sim.final_regret[0], sim.final_regret[1])
    assert not np.array_equal(
        sim.final_regret[0],
        bl.simulate(bl.ThompsonSampling(prior_sd=float("inf")), bandit, rounds=300, runs=20).final_regret[0],
    )


@pytest.mark.parametrize("offset_scale", [(0.0, 4.0), (1024.0, 1.0), (-64.0, 0.25)])
def test_adaptive_reboot_is_equivariant(offset_scale):
    """Rewards a Y + b give the same choices; powers of two, so that no rounding intervenes on the scale."""
    shift, scale = offset_scale
    plain = bl.simulate(bl.AdaptiveReBoot(), BANDIT, rounds=150, runs=40, seed=1)
    moved = bl.simulate(bl.AdaptiveReBoot(), bl.AffineBandit(BANDIT, scale, shift), rounds=150, runs=40, seed=1)
    np.testing.assert_allclose(moved.final_regret, scale * plain.final_regret, rtol=1e-9)
    np.testing.assert_array_equal(moved.pulls, plain.pulls)


# --- merging ----------------------------------------------------------------------------------------------------------


def test_blocks_merge_to_what_all_runs_give_at_once():
    marks = checkpoint_rounds(80, 16)
    block = Block(bl.PHE(), BANDIT, 1, 0, 50, 80, marks)
    runs = Runs.of(block)
    pulls = play_python(block.policy, block, runs)
    parts = [
        play_block(Block(bl.PHE(), BANDIT, 1, first, size, 80, marks)) for first, size in [(0, 1), (1, 30), (31, 19)]
    ]
    gathered = Gathered(16, 4, 50)
    for place in (2, 0, 1):  # out of order
        gathered.take(place, [parts[place]])
    np.testing.assert_array_equal(gathered.final, runs.curves[-1])
    np.testing.assert_array_equal(gathered.pulls, pulls)
    np.testing.assert_allclose(gathered.mean, runs.curves.mean(axis=1), rtol=1e-13)
    np.testing.assert_allclose(gathered.sem, stats.sem(runs.curves, axis=1), rtol=1e-12)


def test_an_error_in_a_users_policy_reaches_the_caller():
    class Broken(RandomArm):
        def update(self, arm, reward):
            raise RuntimeError("my own mistake")

    with pytest.raises(RuntimeError, match="my own mistake"):
        run([Broken(), bl.UCB1()], runs=5)
    assert run(bl.UCB1(), runs=5).runs == 5  # and the next call is unharmed


# --- memory -----------------------------------------------------------------------------------------------------------

PEAK = """
import resource, sys
import bootleader as bl
{limit}
bandit = bl.GaussianBandit([1.0, 0.0])
bl.simulate({policies}, bandit, rounds=10, runs=70)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
sim = bl.simulate({policies}, bandit, rounds={rounds}, runs={runs})
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024, sim.runs)
"""


def peak_growth(policies: str, rounds: int, runs: int, limit: str = "", timeout: float = 120) -> int:
    """Bytes by which a simulation raises the process's peak, after a small one has loaded everything."""
    code = PEAK.format(policies=policies, rounds=rounds, runs=runs, limit=limit)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=timeout)
    assert done.returncode == 0, done.stderr
    grown, played = map(int, done.stdout.split())
    assert played == runs
    return grown


def test_memory_does_not_grow_with_rounds_times_runs():
    """200,000 runs of 50 rounds: every round kept would be 80 MB a policy and array; a run's own regret is 1.6 MB."""
    assert peak_growth("bl.UCB1()", rounds=50, runs=200_000) < 40e6


def test_a_history_takes_memory_by_rounds_alone():
    """All histories of 400 runs of 4,000 rounds would be 13 MB; a run in flight has 0.1 MB."""
    assert peak_growth("bl.ReBoot(1.0, weights='rademacher')", rounds=4_000, runs=400) < 6e6


@pytest.mark.slow
def test_a_million_runs_of_a_thousand_rounds_fit_in_one_gib():
    policies = "[bl.ReBoot(sigma_a=1.5), bl.ThompsonSampling()]"
    # The limit is on all writable memory of the process, the compiler's included.
    limit = "resource.setrlimit(resource.RLIMIT_DATA, (2**30, 2**30))"
    assert peak_growth(policies, rounds=1_000, runs=1_000_000, limit=limit, timeout=1_800) < 2**30


# --- stopping and progress --------------------------------------------------------------------------------------------

STOPPABLE = """
import sys, threading, time
import bootleader as bl

class Slow:
    def start(self, arms, rng): pass
    def pull(self): return 0
    def update(self, arm, reward): pass

bandit = bl.GaussianBandit(bl.Uniform(0, 1, arms={arms}))
bl.simulate({policies}, bandit, rounds=2 * {arms}, runs=2)  # compiled, or read from the cache
print("ready", flush=True)
try:
    bl.simulate({policies}, bandit, rounds={rounds}, runs=4_000, progress={progress})
except KeyboardInterrupt:
    left = [thread.name for thread in threading.enumerate() if thread is not threading.main_thread()]
    print("stopped", [name for name in left if "tqdm" not in name.lower()], flush=True)
    sys.exit(7)
"""


@pytest.mark.parametrize(
    ("policies", "arms", "rounds"),
    [
        ("bl.ReBoot(sigma_a=1.5)", 10, 1_000_000),
        ("bl.AdaptiveReBoot()", 200, 1_000_000),
        ("bl.Giro()", 10, 1_000_000),
        ("bl.ReBoot(1.0, weights='mammen')", 10, 1_000_000),
        ("Slow()", 10, 1_000_000),
    ],
)
@pytest.mark.parametrize("progress", [False, True])
def test_ctrl_c_stops_within_a_second_and_leaves_nothing(tmp_path, policies, arms, rounds, progress):
    code = STOPPABLE.format(policies=policies, arms=arms, rounds=rounds, progress=progress)
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
        cwd=tmp_path,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        assert process.stdout.readline().strip() == "ready"
        time.sleep(1.0)
        process.send_signal(signal.SIGINT)
        began = time.perf_counter()
        output = process.stdout.readline()
        took = time.perf_counter() - began  # to the exception in the caller; leaving Python is no part of it
        _, errors = process.communicate(timeout=20)
    finally:
        process.kill()
    assert process.returncode == 7, errors
    assert output.split() == ["stopped", "[]"]
    assert took < 1.0
    assert list(tmp_path.iterdir()) == []


def test_progress_goes_to_a_stream_that_is_no_terminal():
    code = textwrap.dedent(
        """
        import bootleader as bl
        sim = bl.simulate([bl.UCB1(), bl.PHE()], bl.GaussianBandit([1, 0]), rounds=20, runs=100, progress=True)
        print(sim.runs)
        """
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "100"
    assert "200/200" in done.stderr
    assert "100%" in done.stderr


def test_progress_can_be_told_to_a_function():
    ended = []
    bl.simulate([bl.UCB1(), bl.PHE()], bl.GaussianBandit([1, 0]), rounds=20, runs=100, progress=ended.append)
    assert sum(ended) == 200
    assert len(ended) > 2  # block by block, not all at the end


def test_no_progress_is_silent(capfd):
    run(bl.UCB1(), runs=3)
    assert capfd.readouterr() == ("", "")


def test_a_name_is_no_policy():
    with pytest.raises(TypeError, match="'UCB1'"):
        run("UCB1")


def test_a_users_policy_that_returns_a_truth_or_cannot_be_copied():
    class Yes(RandomArm):
        def pull(self):
            return True

    class Locked(RandomArm):
        def __init__(self):
            self.lock = threading.Lock()

    with pytest.raises(ValueError, match="must return an arm"):
        run([Yes()], runs=2)
    with pytest.raises(TypeError, match="in start"):
        run([Locked()], runs=2)
