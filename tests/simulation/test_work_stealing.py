"""Blocks that are divided between two rounds, and threads that are stopped."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import bootleader as bl
from bootleader._core.kernels import lockstep_state
from bootleader._core.rules import IndexRule
from bootleader.simulation import _block_runs as blocks
from bootleader.simulation import _kernel_choice as kernels
from bootleader.simulation._block_runs import Block, Runs, play_block, play_blocks
from bootleader.simulation._simulate import checkpoint_rounds
from bootleader.simulation._work_stealing import NEVER, Stopped, WorkStealing
from tests.oracle.cases import BANDIT_CASES, POLICY_CASES

ROUNDS, RUNS = 90, 37
INDEX_POLICIES = [case for case in POLICY_CASES if isinstance(case.policy.rule, IndexRule)]
BANDIT = bl.GaussianBandit(bl.Uniform(0, 1, arms=5))


def block_of(policy, bandit=BANDIT, *, rounds=ROUNDS, runs=RUNS, marks=30):
    return Block(policy, bandit, 4, 10, runs, rounds, checkpoint_rounds(rounds, marks))


def assert_same(one, other):
    np.testing.assert_array_equal(one.final, other.final)
    np.testing.assert_array_equal(one.pulls, other.pulls)
    for mine, theirs in zip(one.groups, other.groups, strict=True):
        np.testing.assert_array_equal(mine.mean, theirs.mean)
        np.testing.assert_array_equal(mine.squares, theirs.squares)


def new_lanes(block):
    runs = Runs.of(block)
    known_sd = blocks._known_sd(block.policy, runs)
    fourth = block.policy.rule.fourth_moment
    return lockstep_state.new_lanes(runs.parameters, runs.streams, known_sd, runs.gap, runs.trajectory, fourth)


@pytest.mark.parametrize("cut", [0, 1, 7, 31, ROUNDS - 1])
@pytest.mark.parametrize("policy", INDEX_POLICIES, ids=lambda case: case.id)
def test_a_block_may_be_divided_at_any_round(policy, cut):
    """Also during the initial pulls, right after a checkpoint, and where the pooled variance is to be renewed."""
    bandit = BANDIT_CASES[cut % len(BANDIT_CASES)].bandit
    block = block_of(policy.policy, bandit)
    kernel, plan = kernels.lockstep(block.policy, bandit, ROUNDS)
    whole, lanes = new_lanes(block), new_lanes(block)
    kernel(plan, *whole, block.checkpoints, NEVER, 0, ROUNDS)
    kernel(plan, *lanes, block.checkpoints, NEVER, 0, cut)
    for first, last in ((0, 16), (16, 19), (19, RUNS)):
        part = lanes.part(first, last)
        kernel(plan, *part, block.checkpoints, NEVER, cut, ROUNDS)
        lanes.put_back(first, part)
    for name, recorded in whole.trajectory._asdict().items():
        np.testing.assert_array_equal(getattr(lanes.trajectory, name), recorded, err_msg=name)
    np.testing.assert_array_equal(lanes.state.pulls, whole.state.pulls)


@pytest.fixture
def pool():
    with ThreadPoolExecutor(4) as executor:
        yield executor


def test_idle_threads_take_halves_and_halves_of_halves(pool, monkeypatch):
    monkeypatch.setattr(blocks, "WORTH_DIVIDING", 1)
    monkeypatch.setattr(blocks, "FEWEST_LANES", 16)
    widths = []
    block = block_of(bl.AdaptiveReBoot(), runs=64)
    alone = play_block(block)
    kernel, plan = kernels.lockstep(block.policy, block.bandit, block.rounds)

    def recording(plan, parameters, streams, *rest):
        widths.append(len(streams.stride))
        return kernel(plan, parameters, streams, *rest)

    monkeypatch.setattr(kernels, "lockstep", lambda *_: (recording, plan))
    threads = WorkStealing(pool, width=4, tasks=1)  # three are idle from the start
    (shared,) = pool.submit(play_blocks, [block], threads).result(timeout=60)
    assert_same(shared, alone)
    assert widths.count(16) == 4
    assert min(widths) == 16  # no part is smaller, however many threads are idle


class Observed(WorkStealing):
    """Sets an event when a block has begun, and records what is split off."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.begun = threading.Event()
        self.halves = []

    def register(self, left=0.0):
        flag = super().register(left)
        self.begun.set()
        return flag

    def split_off(self, work, *args):
        self.halves.append(args)
        return super().split_off(work, *args)


def played_with_idle_threads(pool, block, idle=1):
    """Play a block while other threads become idle."""
    threads = Observed(pool, width=1 + idle, tasks=1 + idle)
    playing = pool.submit(play_blocks, [block], threads)
    assert threads.begun.wait(60)
    for _ in range(idle):
        pool.submit(play_blocks, [], threads).result(timeout=60)  # tasks without work: their threads become idle
    return playing.result(timeout=60)[0], threads


def test_a_thread_that_becomes_idle_takes_half_of_a_running_block(pool):
    block = block_of(bl.ReBoot(sigma_a=1.5), rounds=100_000, runs=64)
    shared, threads = played_with_idle_threads(pool, block)
    assert_same(shared, play_block(block))
    assert threads.halves


@pytest.mark.parametrize(
    ("policy", "arms", "rounds"),
    [(bl.Giro(), 5, 8_000), (bl.ReBoot(1.5, weights="mammen"), 5, 8_000), (bl.ReBoot(1.5), 600, 40_000)],
    ids=str,
)
def test_idle_threads_take_runs_that_have_not_begun(pool, policy, arms, rounds):
    """The current run leaves its kernel for that, and continues where it was."""
    block = block_of(policy, bl.GaussianBandit(bl.Uniform(0, 1, arms=arms)), rounds=rounds, runs=3)
    shared, threads = played_with_idle_threads(pool, block, idle=2)
    assert_same(shared, play_block(block))
    lanes = [args[-1] for args in threads.halves]
    assert lanes in ([range(1, 3)], [range(1, 3), range(2, 3)], [range(2, 3)])  # depends on the timing of the threads


def test_a_half_that_no_thread_takes_is_played_by_its_owner():
    with ThreadPoolExecutor(1) as one:
        block = block_of(bl.ReBoot(sigma_a=1.5), rounds=20_000, runs=64)
        threads = Observed(one, width=2, tasks=1)  # the second thread does not exist
        (shared,) = one.submit(play_blocks, [block], threads).result(timeout=60)
    assert threads.halves
    assert_same(shared, play_block(block))


def test_a_pool_that_is_shut_down_does_no_harm():
    pool = ThreadPoolExecutor(2)
    block = block_of(bl.ReBoot(sigma_a=1.5), rounds=100_000, runs=64)
    threads = Observed(pool, width=2, tasks=2)
    playing = pool.submit(play_blocks, [block], threads)
    assert threads.begun.wait(60)
    pool.shutdown(wait=False)
    play_blocks([], threads)  # a thread is idle, but the pool takes no more work
    assert_same(playing.result(timeout=60)[0], play_block(block))
    assert threads.halves


def test_simulations_that_share_a_pool_are_independent(pool):
    options = {"rounds": 3_000, "runs": 300, "executor": pool}
    with ThreadPoolExecutor(3) as starters:
        together = list(starters.map(lambda seed: bl.simulate(bl.ReBoot(1.5), BANDIT, seed=seed, **options), range(3)))
    for seed, simulation in enumerate(together):
        alone = bl.simulate(bl.ReBoot(1.5), BANDIT, seed=seed, **options)
        np.testing.assert_array_equal(simulation.mean_regret, alone.mean_regret)
        np.testing.assert_array_equal(simulation.final_regret, alone.final_regret)


def test_the_block_with_most_work_left_is_interrupted_first_and_may_decline(pool):
    threads = WorkStealing(pool, width=3, tasks=3)
    with threads.task(), threads.task():
        flags = [threads.register(left) for left in (5.0, 9.0)]
        play_blocks([], threads)
        assert [flag[0] for flag in flags] == [0, 1]
        assert threads.unregister(flags[1])
        threads.decline()  # it had nearly ended
        assert flags[0][0] == 1
        assert threads.unregister(flags[0])


def test_a_thread_that_waits_for_a_half_plays_another(pool):
    """The divided block ends first; its thread is then assigned to the half that another thread plays."""
    threads = WorkStealing(pool, width=2, tasks=1)
    may_end, begun = threading.Event(), threading.Event()

    def half():
        flag = threads.register(left=1.0)
        begun.set()
        assert may_end.wait(60)
        return bool(flag[0]), threads.unregister(flag)

    with threads.task():
        flag = threads.register(left=2.0)
        assert threads.unregister(flag)  # the second thread is idle from the start
        split_off = threads.split_off(half)
        assert begun.wait(60)
        threading.Timer(0.05, may_end.set).start()
        assert threads.result_of(split_off) == (True, True)


def test_every_thread_is_counted_when_tasks_end_together(pool):
    """Two tasks end while a third waits: one thread takes it, and the other is idle once it has begun."""
    threads = WorkStealing(pool, width=2, tasks=3)
    first, second = threads.task(), threads.task()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    second.__exit__(None, None, None)
    with threads.task():
        assert threads.register(left=1.0)[0] == 1


def test_a_block_that_cannot_be_divided_is_not_interrupted(pool):
    threads = WorkStealing(pool, width=2, tasks=1)
    with threads.task():
        flag = threads.register()
        assert flag[0] == 0
        assert not threads.unregister(flag)


def test_an_error_in_a_half_is_raised_where_its_result_is_needed(pool):
    def fail():
        raise ArithmeticError("in a half")

    threads = WorkStealing(pool, width=2, tasks=1)
    with threads.task():
        assert threads.unregister(threads.register(left=1.0))
        half = threads.split_off(fail)
        with pytest.raises(ArithmeticError, match="in a half"):
            threads.result_of(half)


@pytest.mark.parametrize(
    ("policy", "arms"), [(bl.ReBoot(sigma_a=1.5), 5), (bl.ReBoot(sigma_a=1.5), 600), (bl.Giro(), 5)], ids=str
)
def test_every_kernel_can_be_stopped(pool, policy, arms):
    bandit = bl.GaussianBandit(bl.Uniform(0, 1, arms=arms))
    play_block(block_of(policy, bandit, rounds=2 * arms, runs=2, marks=1))  # compiled
    threads = Observed(pool, width=1, tasks=1)
    endless = block_of(policy, bandit, rounds=10**7, runs=2, marks=1)
    playing = pool.submit(play_blocks, [endless, endless], threads)
    assert threads.begun.wait(60)
    time.sleep(0.05)
    assert not playing.done()
    threads.stop()
    with pytest.raises(Stopped):
        playing.result(timeout=1)
    with pytest.raises(Stopped):  # no block begins after that
        play_blocks([endless], threads)
