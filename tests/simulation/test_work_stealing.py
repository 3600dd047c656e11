"""Blocks that are cut between two rounds, and threads that are told to stop."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import bootleader as bl
from bootleader._core.kernels import lockstep
from bootleader.simulation import _blocks as blocks
from bootleader.simulation._blocks import Block, Runs, play_block, play_blocks
from bootleader.simulation._simulate import checkpoint_rounds
from bootleader.simulation._work_stealing import SILENT, Crew, Stopped
from tests.oracle.cases import BANDIT_CASES, POLICY_CASES

ROUNDS, RUNS = 90, 37
IN_LOCK_STEP = [case for case in POLICY_CASES if isinstance(case.policy.rule, bl.policies.IndexRule)]
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
    plan = blocks._index_plan(block.policy.rule, block.bandit)
    return plan, lockstep.new_lanes(runs, blocks._known_sd(block.policy, runs))


@pytest.mark.parametrize("cut", [0, 1, 7, 31, ROUNDS - 1])
@pytest.mark.parametrize("policy", IN_LOCK_STEP, ids=lambda case: case.id)
def test_a_block_may_be_cut_at_any_round(policy, cut):
    """Also at a round of the opening, right after a checkpoint, and where a pooled variance is due."""
    bandit = BANDIT_CASES[cut % len(BANDIT_CASES)].bandit
    block = block_of(policy.policy, bandit)
    plan, whole = new_lanes(block)
    lockstep.advance(plan, *whole, block.checkpoints, SILENT, 0, ROUNDS)
    plan, lanes = new_lanes(block)
    lockstep.advance(plan, *lanes, block.checkpoints, SILENT, 0, cut)
    for first, last in ((0, 16), (16, 19), (19, RUNS)):
        part = lanes.part(first, last)
        lockstep.advance(plan, *part, block.checkpoints, SILENT, cut, ROUNDS)
        lanes.put_back(first, part)
    np.testing.assert_array_equal(lanes.curves, whole.curves)
    np.testing.assert_array_equal(lanes.table.pulls, whole.table.pulls)


@pytest.fixture
def pool():
    with ThreadPoolExecutor(4) as threads:
        yield threads


def test_free_threads_take_over_halves_and_halves_of_halves(pool, monkeypatch):
    monkeypatch.setattr(blocks, "WORTH_CUTTING", 1)
    monkeypatch.setattr(blocks, "FEWEST_LANES", 16)
    widths = []
    advance = lockstep.advance

    def noted(plan, arms, streams, *rest):
        widths.append(len(streams.gamma))
        return advance(plan, arms, streams, *rest)

    block = block_of(bl.AdaptiveReBoot(), runs=64)
    alone = play_block(block)
    monkeypatch.setattr(lockstep, "advance", noted)
    crew = Crew(pool, width=4, tasks=1)  # three have nothing to do from the start
    (shared,) = pool.submit(play_blocks, [block], crew).result(timeout=60)
    assert_same(shared, alone)
    assert widths.count(16) == 4
    assert min(widths) == 16  # not smaller, whoever is free


class Watched(Crew):
    """A crew that says when a block has begun, and notes what was handed over."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.begun = threading.Event()
        self.handed_over = []

    def listen(self, left=0.0):
        bell = super().listen(left)
        self.begun.set()
        return bell

    def hand_over(self, work, *args):
        self.handed_over.append(args)
        return super().hand_over(work, *args)


def played_with_help(pool, block, helpers=1):
    """Play a block while other threads end their tasks."""
    crew = Watched(pool, width=1 + helpers, tasks=1 + helpers)
    playing = pool.submit(play_blocks, [block], crew)
    assert crew.begun.wait(60)
    for _ in range(helpers):
        pool.submit(play_blocks, [], crew).result(timeout=60)  # tasks without work: their threads are free
    return playing.result(timeout=60)[0], crew


def test_a_thread_that_is_free_in_mid_block_takes_over_half(pool):
    block = block_of(bl.ReBoot(sigma_a=1.5), rounds=100_000, runs=64)
    shared, crew = played_with_help(pool, block)
    assert_same(shared, play_block(block))
    assert crew.handed_over


@pytest.mark.parametrize(
    ("policy", "arms", "rounds"),
    [(bl.Giro(), 5, 8_000), (bl.ReBoot(1.5, weights="mammen"), 5, 8_000), (bl.ReBoot(1.5), 600, 40_000)],
    ids=str,
)
def test_runs_that_are_not_begun_are_taken_over(pool, policy, arms, rounds):
    """The run at play comes out of its kernel for that, and goes on where it was."""
    block = block_of(policy, bl.GaussianBandit(bl.Uniform(0, 1, arms=arms)), rounds=rounds, runs=3)
    shared, crew = played_with_help(pool, block, helpers=2)
    assert_same(shared, play_block(block))
    lanes = [args[-1] for args in crew.handed_over]
    assert lanes in ([range(1, 3)], [range(1, 3), range(2, 3)], [range(2, 3)])  # as the threads happen to meet


def test_what_nobody_takes_over_is_played_by_its_owner():
    with ThreadPoolExecutor(1) as one:
        block = block_of(bl.ReBoot(sigma_a=1.5), rounds=20_000, runs=64)
        crew = Watched(one, width=2, tasks=1)  # the second thread is a false promise
        (shared,) = one.submit(play_blocks, [block], crew).result(timeout=60)
    assert crew.handed_over
    assert_same(shared, play_block(block))


def test_a_pool_that_takes_no_more_work_does_no_harm():
    pool = ThreadPoolExecutor(2)
    block = block_of(bl.ReBoot(sigma_a=1.5), rounds=100_000, runs=64)
    crew = Watched(pool, width=2, tasks=2)
    playing = pool.submit(play_blocks, [block], crew)
    assert crew.begun.wait(60)
    pool.shutdown(wait=False)
    play_blocks([], crew)  # a thread is free, but cannot be reached
    assert_same(playing.result(timeout=60)[0], play_block(block))
    assert crew.handed_over


def test_simulations_that_share_a_pool_do_not_disturb_each_other(pool):
    options = {"rounds": 3_000, "runs": 300, "executor": pool}
    with ThreadPoolExecutor(3) as starters:
        together = list(starters.map(lambda seed: bl.simulate(bl.ReBoot(1.5), BANDIT, seed=seed, **options), range(3)))
    for seed, simulation in enumerate(together):
        alone = bl.simulate(bl.ReBoot(1.5), BANDIT, seed=seed, **options)
        np.testing.assert_array_equal(simulation.mean_regret, alone.mean_regret)
        np.testing.assert_array_equal(simulation.final_regret, alone.final_regret)


def test_the_block_with_most_left_is_asked_first_and_may_decline(pool):
    crew = Crew(pool, width=3, tasks=3)
    with crew.task(), crew.task():
        bells = [crew.listen(left) for left in (5.0, 9.0)]
        play_blocks([], crew)
        assert [bell[0] for bell in bells] == [0, 1]
        assert crew.leave(bells[1])
        crew.decline()  # it was at its end
        assert bells[0][0] == 1
        assert crew.leave(bells[0])


def test_who_waits_for_a_half_plays_another(pool):
    """The one that is cut ends first; its thread is then promised to the half that another one plays."""
    crew = Crew(pool, width=2, tasks=1)
    slow, asked = threading.Event(), threading.Event()

    def half():
        bell = crew.listen(left=1.0)
        asked.set()
        assert slow.wait(60)
        return bool(bell[0]), crew.leave(bell)

    with crew.task():
        bell = crew.listen(left=2.0)
        assert crew.leave(bell)  # the second thread has nothing to do from the start
        handed = crew.hand_over(half)
        assert asked.wait(60)
        threading.Timer(0.05, slow.set).start()
        assert crew.result_of(handed) == (True, True)


def test_tasks_that_end_together_leave_no_thread_forgotten(pool):
    """Two end while a third waits: one takes it, and the other is free once it has begun."""
    crew = Crew(pool, width=2, tasks=3)
    first, second = crew.task(), crew.task()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    second.__exit__(None, None, None)
    with crew.task():
        assert crew.listen(left=1.0)[0] == 1


def test_a_block_that_cannot_be_cut_is_not_disturbed(pool):
    crew = Crew(pool, width=2, tasks=1)
    with crew.task():
        bell = crew.listen()
        assert bell[0] == 0
        assert not crew.leave(bell)


def test_an_error_in_a_half_reaches_who_waits_for_it(pool):
    def fail():
        raise ArithmeticError("in a half")

    crew = Crew(pool, width=2, tasks=1)
    with crew.task():
        assert crew.leave(crew.listen(left=1.0))
        half = crew.hand_over(fail)
        with pytest.raises(ArithmeticError, match="in a half"):
            crew.result_of(half)


@pytest.mark.parametrize(
    ("policy", "arms"), [(bl.ReBoot(sigma_a=1.5), 5), (bl.ReBoot(sigma_a=1.5), 600), (bl.Giro(), 5)], ids=str
)
def test_a_kernel_comes_out_when_it_is_told_to_stop(pool, policy, arms):
    bandit = bl.GaussianBandit(bl.Uniform(0, 1, arms=arms))
    play_block(block_of(policy, bandit, rounds=2 * arms, runs=2, marks=1))  # compiled
    crew = Watched(pool, width=1, tasks=1)
    endless = block_of(policy, bandit, rounds=10**7, runs=2, marks=1)
    playing = pool.submit(play_blocks, [endless, endless], crew)
    assert crew.begun.wait(60)
    time.sleep(0.05)
    assert not playing.done()
    crew.stop()
    with pytest.raises(Stopped):
        playing.result(timeout=1)
    with pytest.raises(Stopped):  # and nothing begins after that
        play_blocks([endless], crew)
