"""``simulate``: keyed randomness, merging and progress."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import threading
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest
from scipy import stats

import bootleader as bl
from bootleader.simulation._block_runs import Block, Runs, play_block
from bootleader.simulation._python_loop import play_python
from bootleader.simulation._simulate import checkpoint_rounds
from bootleader.simulation._task_schedule import Gathered, Job, block_sizes
from tests.helpers import Recorder, assert_same_simulation, kept_quantities

POLICIES = [bl.ReBoot(sigma_a=1.5), bl.AdaptiveReBoot(), bl.Giro(), bl.PHE(), bl.ReBoot(1.0, weights="mammen")]
BANDIT = bl.GaussianBandit(bl.Uniform(0, 1, arms=4), sd=bl.LogUniform(0.2, 2.0))


class RandomArm:
    """A user's policy that draws from its generator."""

    def start(self, arms, rng):
        self.arms, self.rng = arms, rng

    def pull(self):
        return int(self.rng.integers(self.arms))

    def update(self, arm, reward):
        pass


class Immediate(Executor):
    """Runs every task when it is submitted."""

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


# --- keyed randomness -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_threads_do_not_matter(reference, workers):
    with ThreadPoolExecutor(workers) as executor:
        assert_same_simulation(run(executor=executor), reference)


def test_processes_do_not_matter(reference):
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as executor:
        assert_same_simulation(run(executor=executor), reference)


def test_the_order_of_results_does_not_matter(reference):
    executor = Immediate()
    assert_same_simulation(run(executor=executor), reference)
    assert executor.submitted > 0


def test_the_size_of_tasks_does_not_matter(reference, monkeypatch):
    from bootleader.simulation import _task_schedule as engine

    for work in (1.0, 1e12):
        monkeypatch.setattr(engine, "TASK_WORK", work)
        assert_same_simulation(run(), reference)


def test_the_number_of_cores_does_not_matter(monkeypatch):
    from bootleader.simulation import _task_schedule as engine

    found = []
    for cores in (1, 2, 64):  # wide blocks with few cores, narrow ones with many
        monkeypatch.setattr(engine, "cores", lambda cores=cores: cores)
        found.append(run(runs=300))
    assert_same_simulation(found[1], found[0])
    assert_same_simulation(found[2], found[0])


class Cluster:
    """The part of a Dask client that reports its workers' threads."""

    def __init__(self, **threads):
        self.threads = threads

    def ncores(self):
        return self.threads


def test_tasks_are_sized_for_the_executor_they_go_to(monkeypatch):
    from bootleader.simulation import _task_schedule as engine

    monkeypatch.setattr(engine, "cores", lambda: 3)
    with ThreadPoolExecutor(7) as seven:
        assert engine.width_of(seven) == 7
    dask, empty, unknown = Executor(), Executor(), Executor()
    dask._client, empty._client = Cluster(a=40, b=88), Cluster()
    assert [engine.width_of(executor) for executor in (None, dask, empty, unknown)] == [3, 128, 3, 3]
    few, many = (
        len(engine.tasks_of([Job((bl.ReBoot(1.5),), BANDIT, 1_000, 20_000, 0, np.array([1_000]))], width, 2 * width))
        for width in (2, 128)
    )
    assert few < 128 < many


def test_a_simulation_inside_a_task_of_its_own_pool_does_not_wait_for_itself(reference):
    with ThreadPoolExecutor(1) as pool:
        assert_same_simulation(pool.submit(run, executor=pool).result(timeout=120), reference)


def test_blocks_narrow_towards_the_end():
    def example(policy, arms=10):
        return Block(policy, bl.GaussianBandit(range(arms)), 0, 0, 1, 1_000, np.array([1_000]))

    assert block_sizes(example(bl.ReBoot(sigma_a=1.5)), 500, narrow=4, width=2) == [64] * 6 + [32] * 3 + [20]
    assert block_sizes(example(bl.ReBoot(sigma_a=1.5)), 500, narrow=0, width=2) == [64] * 7 + [52]
    assert block_sizes(example(bl.ReBoot(sigma_a=1.5)), 500, narrow=32, width=2) == [32] * 15 + [20]
    assert block_sizes(example(bl.ReBoot(sigma_a=1.5)), 96, narrow=2, width=2) == [32] * 3
    assert block_sizes(example(bl.Giro()), 5, narrow=4, width=2) == [2, 2, 1]
    assert block_sizes(example(bl.Giro()), 2_000, narrow=4, width=2) == [40] * 50
    assert block_sizes(example(bl.Giro()), 2_000, narrow=4, width=10) == [12] * 166 + [8]
    assert block_sizes(example(bl.ReBoot(sigma_a=1.5), 1_000), 3, narrow=4, width=2) == [1, 1, 1]


@pytest.mark.parametrize("runs", [1, 3, 64, 65, 149])
def test_a_run_does_not_depend_on_the_number_of_runs(reference, runs):
    np.testing.assert_array_equal(run(runs=runs).final_regret, reference.final_regret[:, :runs])


def test_another_policy_changes_no_result(reference):
    alone = run([bl.Giro()])
    np.testing.assert_array_equal(alone.final_regret[0], reference.final_regret[2])
    more = run([bl.UCB1(), *POLICIES, RandomArm()])
    for name in ("mean_regret", "standard_error", "over_time", "final_regret", "pulls"):
        np.testing.assert_array_equal(getattr(more, name)[1:-1], getattr(reference, name))


def test_checkpoints_change_no_regret(reference):
    np.testing.assert_array_equal(run(checkpoints=3).final_regret, reference.final_regret)


def test_seeds_differ(reference):
    for seed in (0, 10, 2**63):
        assert not np.isin(run(seed=seed).final_regret, reference.final_regret).any()


def test_runs_differ(reference):
    for regrets in reference.final_regret:
        assert len(np.unique(regrets)) == len(regrets)


def test_a_user_policy_has_keyed_randomness():
    whole = run(RandomArm(), runs=10)
    np.testing.assert_array_equal(run(RandomArm(), runs=7).final_regret, whole.final_regret[:, :7])
    with ThreadPoolExecutor(1) as executor:
        assert_same_simulation(run(RandomArm(), runs=10, executor=executor), whole)


@pytest.mark.parametrize("bandit", [BANDIT, bl.BernoulliBandit([0.2, 0.5, 0.6]), bl.StudentTBandit([1, 0], df=3)])
def test_the_nth_pull_of_an_arm_pays_the_same_under_every_policy(bandit):
    logs = []
    for stride in (1, 3, 5):
        Recorder.clear()
        with ThreadPoolExecutor(1) as executor:
            bl.simulate(Recorder(stride), bandit, rounds=60, runs=3, seed=2, executor=executor)
        logs.append(Recorder.runs)
    compared = 0
    for other in logs[1:]:
        for ours, theirs in zip(logs[0], other, strict=True):
            for arm in ours:
                shared = min(len(ours[arm]), len(theirs[arm]))
                assert ours[arm][:shared] == theirs[arm][:shared]
                compared += shared
    assert compared > 100
    assert logs[0][0] != logs[0][1]  # another run, other rewards


def test_oracle_sds_are_the_true_ones():
    """The results with "oracle" are those with the true sds given, bit for bit."""
    bandit = bl.GaussianBandit([1.0, 0.5, 0.0], sd=[2.0, 0.3, 1.0])
    oracle = bl.ThompsonSampling(prior_sd=float("inf"), noise_sd="oracle")
    written = bl.ThompsonSampling(prior_sd=float("inf"), noise_sd=[2.0, 0.3, 1.0])
    sim = bl.simulate({"oracle": oracle, "written": written}, bandit, rounds=300, runs=20)
    np.testing.assert_array_equal(sim.final_regret[0], sim.final_regret[1])
    assert not np.array_equal(
        sim.final_regret[0],
        bl.simulate(bl.ThompsonSampling(prior_sd=float("inf")), bandit, rounds=300, runs=20).final_regret[0],
    )


@pytest.mark.parametrize("offset_scale", [(0.0, 4.0), (1024.0, 1.0), (-64.0, 0.25)])
def test_adaptive_reboot_is_equivariant(offset_scale):
    """Rewards a Y + b give the same choices; powers of two, so that scaling rounds nothing."""
    shift, scale = offset_scale
    plain = bl.simulate(bl.AdaptiveReBoot(), BANDIT, rounds=150, runs=40, seed=1)
    moved = bl.simulate(bl.AdaptiveReBoot(), bl.AffineBandit(BANDIT, scale, shift), rounds=150, runs=40, seed=1)
    np.testing.assert_allclose(moved.final_regret, scale * plain.final_regret, rtol=1e-9)
    np.testing.assert_array_equal(moved.pulls, plain.pulls)


# --- merging ----------------------------------------------------------------------------------------------------------


def test_merged_blocks_equal_all_runs_at_once():
    marks = checkpoint_rounds(80, 16)
    block = Block(bl.PHE(), BANDIT, 1, 0, 50, 80, marks)
    runs = Runs.of(block)
    pulls = play_python(block.policy, block.bandit, block, runs)
    parts = [
        play_block(Block(bl.PHE(), BANDIT, 1, first, size, 80, marks)) for first, size in [(0, 1), (1, 30), (31, 19)]
    ]
    gathered = Gathered(Job((bl.PHE(),), BANDIT, 80, 50, 1, marks))
    for place in (2, 0, 1):  # out of order
        gathered.take(place, [parts[place]])
    curves = kept_quantities(runs.trajectory, marks)
    np.testing.assert_array_equal(gathered.final, runs.trajectory.regret[-1])
    np.testing.assert_array_equal(gathered.pulls, pulls.sum(axis=1))
    best_first = np.argsort(runs.gap, axis=0)
    np.testing.assert_array_equal(gathered.pulls_by_rank, np.take_along_axis(pulls, best_first, axis=0).sum(axis=1))
    np.testing.assert_allclose(gathered.mean, curves.mean(axis=2), rtol=1e-13)
    np.testing.assert_allclose(gathered.standard_error, stats.sem(curves, axis=2), rtol=1e-12)


def test_an_error_in_a_user_policy_reaches_the_caller():
    class Broken(RandomArm):
        def update(self, arm, reward):
            raise RuntimeError("my own mistake")

    with pytest.raises(RuntimeError, match="my own mistake"):
        run([Broken(), bl.UCB1()], runs=5)
    assert run(bl.UCB1(), runs=5).runs == 5  # the next call works


# --- progress ---------------------------------------------------------------------------------------------------------


def test_progress_is_written_to_a_stream_that_is_not_a_terminal():
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


def test_progress_calls_a_function():
    ended = []
    bl.simulate([bl.UCB1(), bl.PHE()], bl.GaussianBandit([1, 0]), rounds=20, runs=100, progress=ended.append)
    assert sum(ended) == 200
    assert len(ended) > 2  # block by block, not all at the end


def test_without_progress_nothing_is_written(capfd):
    run(bl.UCB1(), runs=3)
    assert capfd.readouterr() == ("", "")


def test_a_string_is_not_a_policy():
    with pytest.raises(TypeError, match="'UCB1'"):
        run("UCB1")


def test_a_user_policy_that_returns_a_boolean_or_cannot_be_copied():
    class ReturnsTrue(RandomArm):
        def pull(self):
            return True

    class Locked(RandomArm):
        def __init__(self):
            self.lock = threading.Lock()

    with pytest.raises(ValueError, match="must return an arm"):
        run([ReturnsTrue()], runs=2)
    with pytest.raises(TypeError, match="in start"):
        run([Locked()], runs=2)
