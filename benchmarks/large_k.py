"""Many arms: a round with the leader tree against a round that draws every index, measured alternately in one run.

Both play the same run: Gaussian arms with means U(0, 1), after the initial pulls and some thousand rounds more. The
baseline is a compiled loop over the arms, 64 at a time: one ziggurat normal each (and a gamma variable where the law is
Student), then the largest. Times are processor time of the thread, medians over repetitions.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from typing import Any
from unittest import mock

import numba
import numpy as np

import bootleader as bl
from benchmarks.measuring import Measured, processor_seconds
from bootleader._core import numba_bridge, rules
from bootleader._core.kernels.large_k import new_state
from bootleader._core.leader_tree import DF, LOCATION, SCALE
from bootleader._core.rng import Stream, mix64
from bootleader._core.sampling import accepted_normal, finish_normal, rejected, studentise
from bootleader.simulation import _block_runs as blocks
from bootleader.simulation import _kernel_choice
from bootleader.simulation._work_stealing import NEVER

assert numba_bridge  # makes the library's scalar functions known to numba

POLICIES = (bl.ReBoot(1.5), bl.AdaptiveReBoot())
ARMS = (1_000, 100_000, 1_000_000)
WARM_UP = 5_000  # rounds after the initial pulls that are not timed


@numba.njit(error_model="numpy")
def draw_all(law: Any, words: Any, noise: Any, states: Any, stride: Any, rounds: int) -> int:
    """Draw every index and find the largest. Arms are taken 64 at a time, so that the normals vectorise."""
    found = 0
    position, spare = states[0], Stream(states, 1, stride)
    for _ in range(rounds):
        best, leader = -np.inf, 0
        for first in range(0, law.shape[0], words.shape[0]):
            size = min(words.shape[0], law.shape[0] - first)
            for j in range(size):
                words[j] = mix64(position + np.uint64(j + 1) * stride)
            position += np.uint64(size) * stride
            rejections, students = 0, 0
            for j in range(size):
                rejections += rejected(words[j])
                noise[j] = accepted_normal(words[j])
            if rejections > 0:
                for j in range(size):
                    if rejected(words[j]):
                        noise[j] = finish_normal(words[j], spare)
            for j in range(size):
                students += law[first + j, DF] != np.inf
            if students > 0:
                for j in range(size):
                    noise[j] = studentise(noise[j], law[first + j, DF], spare)
            for j in range(size):
                index = law[first + j, LOCATION] + law[first + j, SCALE] * noise[j]
                if index > best:
                    best, leader = index, first + j
        found += leader
    return found


class Run:
    """One run of a policy, played by the kernel for many arms."""

    def __init__(self, policy: Any, arms: int, seed: int = 1) -> None:
        horizon = 10**12
        bandit = bl.GaussianBandit(bl.Uniform(0, 1, arms=arms))
        self.block = blocks.Block(policy, bandit, seed, 0, 1, horizon, np.array([horizon]))
        self.runs = blocks.Runs.of(self.block)
        self.kernel, self.plan = _kernel_choice.large_k(policy, bandit, horizon)
        self.state = new_state(np.ones(arms), self.runs.gap[:, 0].copy(), policy.rule.fourth_moment)
        self.played = 0

    def play(self, rounds: int) -> None:
        """Play some more rounds."""
        runs = self.runs
        self.kernel(
            self.plan, runs.parameters, runs.streams, self.state, runs.trajectory, self.block.checkpoints, 0,
            NEVER, self.played, self.played + rounds,
        )  # fmt: skip
        self.played += rounds

    def draw_all(self, rounds: int) -> None:
        """Draw every index with the current laws."""
        states, stride = np.array([1, 2], np.uint64), np.uint64(0x9E3779B97F4A7C15)
        draw_all(self.state.tree.law, np.zeros(64, np.uint64), np.zeros(64), states, stride, rounds)


def timed(policy: Any, arms: int, repeats: int) -> tuple[float, float]:
    """Seconds of a round with the leader tree, and of one that draws every index."""
    run = Run(policy, arms)
    run.play(policy.rule.initial_pulls * arms + WARM_UP)
    run.draw_all(1)
    rounds, fewer = max(2_000, arms // 50), max(1, 2_000_000 // arms)
    rows = [
        (processor_seconds(lambda: run.play(rounds)) / rounds, processor_seconds(lambda: run.draw_all(fewer)) / fewer)
        for _ in range(repeats)
    ]
    by_tree, by_all = (statistics.median(column) for column in zip(*rows, strict=True))
    return by_tree, by_all


def lock_step_over_leader_tree(policy: Any, arms: int, runs: int = 64) -> float:
    """Time of a block of runs in lock step over its time with the leader tree, for rounds = 20 x arms."""
    bandit = bl.GaussianBandit(bl.Uniform(0, 1, arms=arms))
    block = blocks.Block(policy, bandit, 1, 0, runs, 20 * arms, np.array([20 * arms]))
    seconds = []
    for crossover in (10**9, 2):
        with mock.patch.object(rules, "CROSSOVER", dict.fromkeys(rules.CROSSOVER, crossover)):
            seconds.append(min(blocks.play_block(block).seconds for _ in range(2)))
    return seconds[0] / seconds[1]


def measure(repeats: int) -> Iterator[Measured]:
    section = "Many arms"
    for policy in POLICIES:
        cost: dict[int, float] = {}
        for arms in ARMS:
            cost[arms], by_all = timed(policy, arms, repeats)
            yield Measured(section, f"{policy}, {arms:,} arms, a round", 1e6 * cost[arms], "us")
            bar = 50.0 if arms == 100_000 else None
            yield Measured(
                section, f"{policy}, {arms:,} arms: times faster than drawing all", by_all / cost[arms], bar=bar
            )
        growth = cost[100_000] / cost[1_000]
        yield Measured(section, f"{policy}: a round at 100,000 arms over one at 1,000", growth, bar=5, at_most=True)
    for policy in POLICIES:
        crossover = rules.CROSSOVER[policy.rule.noise]
        section = "Many arms: drawing all in lock step over the leader tree, time"
        for arms in (crossover // 2, crossover, 2 * crossover):
            what = f"{policy}, {arms} arms{' (the crossover)' if arms == crossover else ''}"
            yield Measured(section, what, lock_step_over_leader_tree(policy, arms), "x")
