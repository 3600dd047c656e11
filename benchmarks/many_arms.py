"""Many arms: a round by tournament against drawing every index, side by side in one run.

Both play the same run: Gaussian arms with means U(0, 1), after the opening and some thousand rounds more. The baseline
is a plain compiled loop over the arms, one ziggurat normal each (and a gamma where the law is Student), that finds the
largest. Times are processor time of the thread, the median of repeats.

    python -m benchmarks.many_arms [--json FILE] [--crossover]
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from typing import Any

import numba
import numpy as np

import bootleader as bl
from bootleader import compilation, many_arms
from bootleader.many_arms import DF, LOCATION, SCALE
from bootleader.sampling import accepted_normal, rejected, settle_normal, studentise
from bootleader.simulation import blocks, tournament
from bootleader.streams import mix64

assert compilation  # makes the library's scalar functions known to numba

POLICIES = (bl.ReBoot(1.5), bl.AdaptiveReBoot())
ARMS = (1_000, 100_000, 1_000_000)
REPEATS = 7
SETTLING = 5_000  # rounds after the opening that are not timed
FASTER_THAN_ALL = 50.0  # bars
GROWTH = 5.0


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


def seconds_a_round(play: Callable[[int], Any], rounds: int) -> float:
    """Median over repeats of the thread's processor time."""
    times = []
    for _ in range(REPEATS):
        began = time.thread_time()
        play(rounds)
        times.append((time.thread_time() - began) / rounds)
    return statistics.median(times)


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


def measure(policy: Any, arms: int) -> dict[str, Any]:
    """Time a round both ways."""
    run = Run(policy, arms)
    run.play(policy.rule.opening * arms + SETTLING)
    run.draw_all(1)
    by_tournament = seconds_a_round(run.play, max(2_000, arms // 50))
    by_all = seconds_a_round(run.draw_all, max(1, 2_000_000 // arms))
    return {
        "policy": policy.name,
        "arms": arms,
        "tournament_us": 1e6 * by_tournament,
        "draw_all_us": 1e6 * by_all,
        "draw_all_ns_an_arm": 1e9 * by_all / arms,
        "faster": by_all / by_tournament,
    }


def measure_crossover(policy: Any, arms: int, runs: int = 64) -> dict[str, Any]:
    """A block of runs by either kernel, from the first round to five times the arms, on one core."""
    bandit = bl.GaussianBandit(bl.Uniform(0, 1, arms=arms))
    block = blocks.Block(policy, bandit, 1, 0, runs, 5 * arms, np.array([5 * arms]))
    seconds = {}
    kept = many_arms.CROSSOVER
    try:
        for name, crossover in (("tournament", 2), ("lockstep", 10**9)):
            many_arms.CROSSOVER = crossover  # type: ignore[misc]
            times = []
            for _ in range(2):
                began = time.thread_time()
                blocks.play_block(block)
                times.append(time.thread_time() - began)
            seconds[name] = min(times)
    finally:
        many_arms.CROSSOVER = kept  # type: ignore[misc]
    return {
        "policy": policy.name,
        "arms": arms,
        "lockstep_over_tournament": seconds["lockstep"] / seconds["tournament"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--json", help="write the figures to this file")
    parser.add_argument("--crossover", action="store_true", help="measure where the tournament overtakes lock step")
    options = parser.parse_args()
    if options.crossover:
        rows = [measure_crossover(policy, arms) for policy in POLICIES for arms in (64, 128, 256, 512)]
        for row in rows:
            print(
                f"{row['policy']:24} {row['arms']:>6,} arms: "
                f"lock step / tournament {row['lockstep_over_tournament']:.2f}"
            )
        figures: dict[str, Any] = {"crossover": rows}
    else:
        rows = [measure(policy, arms) for policy in POLICIES for arms in ARMS]
        for row in rows:
            print(
                f"{row['policy']:24} {row['arms']:>9,} arms: {row['tournament_us']:7.2f} us a round, drawing all "
                f"{row['draw_all_us']:9.1f} us ({row['draw_all_ns_an_arm']:.1f} ns an arm): "
                f"{row['faster']:.0f} times faster"
            )
        figures = {"rounds": rows, "growth": {}}
        for policy in POLICIES:
            cost = {row["arms"]: row for row in rows if row["policy"] == policy.name}
            growth = cost[100_000]["tournament_us"] / cost[1_000]["tournament_us"]
            figures["growth"][policy.name] = growth
            print(
                f"{policy.name}: at 100,000 arms {cost[100_000]['faster']:.0f} times faster than drawing all "
                f"(bar {FASTER_THAN_ALL:.0f}); a round there costs {growth:.1f} times one at 1,000 (bar {GROWTH:.0f})"
            )
    if options.json:
        with open(options.json, "w") as file:
            json.dump(figures, file, indent=1)


if __name__ == "__main__":
    main()
