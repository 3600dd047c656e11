"""Many arms: a round by tournament against drawing every index, side by side in one run.

Both play the same run: Gaussian arms with means U(0, 1), after the opening and some thousand rounds more. The baseline
is a plain compiled loop over the arms, one ziggurat normal each (and a gamma where the law is Student), that finds the
largest. Times are processor time of the thread, the median of repeats.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator
from typing import Any

import numba
import numpy as np

import bootleader as bl
from benchmarks.measuring import Measured, processor_seconds
from bootleader import compilation, many_arms
from bootleader.many_arms import DF, LOCATION, SCALE
from bootleader.sampling import accepted_normal, rejected, settle_normal, studentise
from bootleader.simulation import blocks, tournament
from bootleader.streams import mix64

assert compilation  # makes the library's scalar functions known to numba

POLICIES = (bl.ReBoot(1.5), bl.AdaptiveReBoot())
ARMS = (1_000, 100_000, 1_000_000)
SETTLING = 5_000  # rounds after the opening that are not timed


@numba.njit(error_model="numpy")
def draw_all(law: Any, state: Any, gamma: Any, rounds: int) -> int:
    """The plain method: every index drawn, the largest leads. The ziggurat's fast path is kept in registers."""
    found = 0
    place = state[0]
    for _ in range(rounds):
        best, leader = -np.inf, 0
        for k in range(law.shape[0]):
            place += gamma
            word = mix64(place)
            noise = settle_normal(word, state, 1, gamma) if rejected(word) else accepted_normal(word)
            if law[k, DF] != np.inf:
                noise = studentise(noise, law[k, DF], state, 1, gamma)
            index = law[k, LOCATION] + law[k, SCALE] * noise
            if index > best:
                best, leader = index, k
        found += leader
    return found


def seconds_a_round(play: Callable[[int], Any], rounds: int, repeats: int) -> float:
    """Median over repeats of the thread's processor time."""
    return statistics.median(processor_seconds(lambda: play(rounds)) / rounds for _ in range(repeats))


class Run:
    """One run of a policy, played by the kernel for many arms."""

    def __init__(self, policy: Any, arms: int, seed: int = 1) -> None:
        horizon = 10**12
        bandit = bl.GaussianBandit(bl.Uniform(0, 1, arms=arms))
        self.block = blocks.Block(policy, bandit, seed, 0, 1, horizon, np.array([horizon]))
        self.runs = blocks.Runs.of(self.block)
        self.plan = blocks._index_plan(policy.rule, bandit)
        self.table = tournament.run_table(np.ones(arms), self.runs.gap[:, 0].copy())
        self.streams = tournament.Streams(self.runs.gamma, self.runs.noise, self.runs.spare, self.runs.rewards)
        self.played = 0

    def play(self, rounds: int) -> None:
        """Go on for some rounds."""
        tournament.advance(
            self.plan, self.runs.arms, self.streams, self.table, self.block.checkpoints, self.runs.curves, 0,
            self.played, self.played + rounds,
        )  # fmt: skip
        self.played += rounds

    def draw_all(self, rounds: int) -> None:
        """What drawing every index costs with the laws as they are now."""
        draw_all(self.table.forest.law, np.array([1, 2], np.uint64), np.uint64(0x9E3779B97F4A7C15), rounds)


def timed(policy: Any, arms: int, repeats: int) -> tuple[float, float]:
    """Seconds a round by tournament, and by drawing every index."""
    run = Run(policy, arms)
    run.play(policy.rule.opening * arms + SETTLING)
    run.draw_all(1)
    by_tournament = seconds_a_round(run.play, max(2_000, arms // 50), repeats)
    return by_tournament, seconds_a_round(run.draw_all, max(1, 2_000_000 // arms), repeats)


def lock_step_over_tournament(policy: Any, arms: int, runs: int = 64) -> float:
    """Time of a block of runs in lock step over that by tournament, from the first round to five times the arms."""
    bandit = bl.GaussianBandit(bl.Uniform(0, 1, arms=arms))
    block = blocks.Block(policy, bandit, 1, 0, runs, 5 * arms, np.array([5 * arms]))
    seconds = []
    kept = many_arms.CROSSOVER
    try:
        for crossover in (10**9, 2):
            many_arms.CROSSOVER = crossover  # type: ignore[misc]
            seconds.append(min(blocks.play_block(block).seconds for _ in range(2)))
    finally:
        many_arms.CROSSOVER = kept  # type: ignore[misc]
    return seconds[0] / seconds[1]


def measure(repeats: int) -> Iterator[Measured]:
    section = "2. Many arms"
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
    section = f"2. Many arms: lock step over tournament, time (the crossover is {many_arms.CROSSOVER} arms)"
    for policy in POLICIES:
        for arms in (128, 256, 512):
            yield Measured(section, f"{policy}, {arms} arms", lock_step_over_tournament(policy, arms), "x")
