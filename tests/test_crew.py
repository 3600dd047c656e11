"""Blocks that are cut between two rounds, and threads that are told to stop."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import bootleader as bl
from bootleader.simulation import blocks, lockstep
from bootleader.simulation.blocks import Block, Runs, play_block, play_blocks
from bootleader.simulation.crew import SILENT, Crew, Stopped
from bootleader.simulation.engine import checkpoint_rounds
from tests.cases import BANDIT_CASES, POLICY_CASES

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


def test_a_thread_that_is_free_in_mid_block_takes_over_half(pool):
    block = block_of(bl.ReBoot(sigma_a=1.5), rounds=300_000, runs=64)
    helped = threading.Event()

    class Watched(Crew):
        def hand_over(self, work, *args):
            helped.set()
            assert args[-1] > 0  # rounds were played before
            return super().hand_over(work, *args)

    alone = play_block(block)
    crew = Watched(pool, width=2, tasks=2)
    playing = pool.submit(play_blocks, [block], crew)
    time.sleep(0.05)
    pool.submit(play_blocks, [], crew).result(timeout=60)  # the other task is short: its thread is free
    assert_same(playing.result(timeout=60)[0], alone)
    assert helped.is_set()


@pytest.mark.parametrize(
    ("policy", "arms", "rounds"),
    [(bl.Giro(), 5, 12_000), (bl.ReBoot(1.5, weights="mammen"), 5, 12_000), (bl.ReBoot(1.5), 600, 60_000)],
    ids=str,
)
def test_runs_that_are_not_begun_are_taken_over(pool, policy, arms, rounds):
    """The run at play comes out of its kernel for that, and goes on where it was."""
    came_out_at = []

    class Watched(Crew):
        def hand_over(self, work, *args):
            came_out_at.append(args[-1])
            return super().hand_over(work, *args)

    block = block_of(policy, bl.GaussianBandit(bl.Uniform(0, 1, arms=arms)), rounds=rounds, runs=3)
    alone = play_block(block)
    crew = Watched(pool, width=4, tasks=4)
    playing = pool.submit(play_blocks, [block], crew)
    time.sleep(0.005)
    for _ in range(3):
        pool.submit(play_blocks, [], crew).result(timeout=60)  # tasks without work: their threads are free
    assert_same(playing.result(timeout=60)[0], alone)
    assert came_out_at in ([range(1, 3)], [range(1, 3), range(2, 3)], [range(2, 3)])  # as the threads happen to meet


def test_what_nobody_takes_over_is_played_by_its_owner():
    with ThreadPoolExecutor(1) as one:
        block = block_of(bl.ReBoot(sigma_a=1.5), rounds=20_000, runs=64)
        crew = Crew(one, width=2, tasks=1)  # the second thread is a false promise
        (shared,) = one.submit(play_blocks, [block], crew).result(timeout=60)
    assert_same(shared, play_block(block))


def test_an_offer_that_comes_too_late_goes_to_another_block(pool):
    crew = Crew(pool, width=2, tasks=2)
    young, old = crew.listen(cuttable=True), crew.listen(cuttable=True)
    crew.free()
    assert (young[0], old[0]) == (0, 1)  # the one that began last has most left to do
    assert crew.leave(old)
    crew.free()  # it was at its end
    assert young[0] == 1
    assert crew.leave(young)


def test_a_block_that_cannot_be_cut_is_not_disturbed(pool):
    crew = Crew(pool, width=2, tasks=1)
    bell = crew.listen(cuttable=False)
    assert bell[0] == 0
    assert not crew.leave(bell)


@pytest.mark.parametrize(
    ("policy", "arms"), [(bl.ReBoot(sigma_a=1.5), 5), (bl.ReBoot(sigma_a=1.5), 600), (bl.Giro(), 5)], ids=str
)
def test_a_kernel_comes_out_when_it_is_told_to_stop(pool, policy, arms):
    bandit = bl.GaussianBandit(bl.Uniform(0, 1, arms=arms))
    play_block(block_of(policy, bandit, rounds=2 * arms, runs=2, marks=1))  # compiled
    crew = Crew(pool, width=1, tasks=1)
    endless = block_of(policy, bandit, rounds=10**7, runs=2, marks=1)
    playing = pool.submit(play_blocks, [endless, endless], crew)
    time.sleep(0.1)
    assert not playing.done()
    crew.stop()
    with pytest.raises(Stopped):
        playing.result(timeout=1)
    with pytest.raises(Stopped):  # and nothing begins after that
        play_blocks([endless], crew)
