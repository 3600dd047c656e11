"""Parallel efficiency, and how time and memory grow with rounds, arms and runs, for every policy."""

from __future__ import annotations

import math
import os
import statistics
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numba
import numpy as np

import bootleader as bl
from benchmarks.measuring import Measured, Work, side_by_side, turn_by_turn
from bootleader.policies import POLICIES, IndexRule


def gaussian(arms: int) -> bl.GaussianBandit:
    return bl.GaussianBandit(means=bl.Uniform(0, 1, arms=arms))


def exponent(sizes: Sequence[float], values: Sequence[float]) -> float:
    """Slope of log value against log size."""
    return float(np.polyfit(np.log(sizes), np.log(np.maximum(values, 1e-12)), 1)[0])


@numba.njit(nogil=True)
def private_work(values, turns):  # type: ignore[no-untyped-def]
    """Arithmetic on a few kilobytes: what cores that share nothing can do side by side."""
    for _ in range(turns):
        for i in range(values.shape[0]):
            values[i] = values[i] * 0.999 + 0.5


def efficiency(repeats: int) -> Iterator[Measured]:
    """One core's time over all cores' time and their number: in the median, and in the least disturbed turn of each.

    Beside it stand what threads that share nothing reach in the same turns, which is all that the machine gives, and
    the share of the cores' time spent in kernels, which is what blocks of the right size can bring about.
    """
    section = "Parallel efficiency"
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    in_kernels: dict[str, list[float]] = {}
    with ThreadPoolExecutor(1) as one, ThreadPoolExecutor(cores) as every:

        def share_nothing(pool: Any) -> Work:
            return lambda: list(pool.map(lambda _: private_work(np.ones(1_024), 100_000), range(8 * cores)))

        def play(policy: Any, runs: int, pool: Any) -> Work:
            def work() -> None:
                done = bl.simulate(policy, gaussian(10), rounds=10_000, runs=runs, executor=pool)
                if pool is every:
                    in_kernels.setdefault(str(policy), []).append(float(done.seconds[0]))

            return work

        pairs: dict[str, tuple[Work, Work]] = {"threads that share nothing": (share_nothing(one), share_nothing(every))}
        for policy, runs in ((bl.ReBoot(sigma_a=1.5), 500), (bl.Giro(a=1), 40)):
            pairs[f"{policy}, {runs} runs"] = (play(policy, runs, one), play(policy, runs, every))
        # All in the same turns, since the machine changes under us; short, so there is time for many.
        times = turn_by_turn(3 * repeats, *(work for pair in pairs.values() for work in pair))
    for name, alone, together in zip(pairs, times[::2], times[1::2], strict=True):
        by_median, by_best = (pick(alone) / pick(together) / cores for pick in (statistics.median, min))
        yield Measured(section, f"{name}, {cores} cores", by_median, "", 0.9 if "runs" in name else None)
        yield Measured(section, f"{name}, {cores} cores, best turns", by_best)
        busy = in_kernels.get(name.split(",")[0], [])[1:]  # the first turn warms up
        if busy:
            share = statistics.median(k / t / cores for k, t in zip(busy, together, strict=True))
            yield Measured(section, f"{name}, {cores} cores, share of their time in kernels", share)


def growth_of_time(repeats: int) -> Iterator[Measured]:
    section = "How time grows: fitted exponents"
    for policy in POLICIES:
        whole_history = not isinstance(policy.rule, IndexRule)

        def work(rounds: int, arms: int, runs: int, policy: Any = policy) -> Work:
            return lambda: bl.simulate(policy, gaussian(arms), rounds=rounds, runs=runs)

        # Large enough for what grows to outweigh what does not; histories cost the square of the rounds.
        if whole_history:
            sizes = {"rounds": [5_000, 10_000, 20_000], "arms": [16, 32, 64], "runs": [32, 64, 128]}
            swept = {
                "rounds": [work(n, 10, 2) for n in sizes["rounds"]],
                "arms": [work(2_000, n, 2) for n in sizes["arms"]],
                "runs": [work(1_000, 10, n) for n in sizes["runs"]],
            }
        else:
            sizes = {"rounds": [5_000, 20_000, 80_000], "arms": [16, 48, 144], "runs": [512, 1_024, 2_048]}
            swept = {
                "rounds": [work(n, 10, 64) for n in sizes["rounds"]],
                "arms": [work(2_000, n, 64) for n in sizes["arms"]],
                "runs": [work(1_000, 10, n) for n in sizes["runs"]],
            }
        for name, works in swept.items():
            times = side_by_side(max(3, repeats // 2), *works)
            yield Measured(section, f"{policy}: time against {name}", exponent(sizes[name], times))


def peak_bytes(work: Callable[[], Any]) -> int:
    """Most memory that a work holds at once, NumPy's included."""
    work()
    tracemalloc.start()
    work()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def growth_of_memory(repeats: int) -> Iterator[Measured]:
    section = "How memory grows: fitted exponents"
    for policy in POLICIES:
        whole_history = not isinstance(policy.rule, IndexRule)
        rounds = [2_000, 4_000, 8_000] if whole_history else [2_000, 20_000, 200_000]
        peaks = [
            peak_bytes(lambda n=n: bl.simulate(policy, gaussian(10), rounds=n, runs=2))  # noqa: B023
            for n in rounds
        ]
        bar = None if whole_history else 0.05
        yield Measured(section, f"{policy}: peak memory against rounds", exponent(rounds, peaks), "", bar, at_most=True)
    for policy in POLICIES:
        whole_history = not isinstance(policy.rule, IndexRule)
        runs = [500, 2_000, 8_000] if whole_history else [5_000, 20_000, 80_000]
        peaks = [
            peak_bytes(lambda n=n: bl.simulate(policy, gaussian(2), rounds=20, runs=n))  # noqa: B023
            for n in runs
        ]
        what = f"{policy}: peak memory against runs"
        yield Measured(section, what, exponent(runs, peaks))


def as_table(figures: Sequence[Measured]) -> str:
    """The fitted exponents, one line a policy."""
    found: dict[str, dict[str, float]] = {}
    for figure in figures:
        if "fitted exponents" in figure.section:
            policy, _, what = figure.what.rpartition(": ")
            found.setdefault(policy, {})[what] = figure.value
    if not found:
        return ""
    columns = list(dict.fromkeys(what for row in found.values() for what in row))
    lines = [f"{'exponent of':<46}" + "".join(f"{column:>28}" for column in columns)]
    for policy, row in found.items():
        lines.append(f"{policy:<46}" + "".join(f"{row.get(column, math.nan):>28.2f}" for column in columns))
    return "\n".join(lines)


def measure(repeats: int) -> Iterator[Measured]:
    yield from efficiency(repeats)
    yield from growth_of_time(repeats)
    yield from growth_of_memory(repeats)
