"""Parallel efficiency, and how time and memory grow with rounds, arms and runs, for every policy."""

from __future__ import annotations

import math
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

import bootleader as bl
from benchmarks.measuring import Measured, Work, alternated, side_by_side
from bootleader._core.rules import IndexRule
from bootleader.policies import POLICIES
from bootleader.simulation import _task_schedule as engine


def gaussian(arms: int) -> bl.GaussianBandit:
    return bl.GaussianBandit(means=bl.Uniform(0, 1, arms=arms))


def exponent(sizes: Sequence[float], values: Sequence[float]) -> float:
    """Slope of log value against log size."""
    return float(np.polyfit(np.log(sizes), np.log(np.maximum(values, 1e-12)), 1)[0])


def efficiency(repeats: int) -> Iterator[Measured]:
    """Time on one core over (time on all cores x their number): the median, with its quartiles.

    Two more figures show where time is lost. The same work as independent simulations, one on each core, is the most
    that the machine allows when all cores are busy. The share of the cores' time that is spent in kernels is the most
    that blocks of the right size can achieve.
    """
    section = "Parallel efficiency: median of repetitions"
    cores = engine.cores()
    with ThreadPoolExecutor(1) as one, ThreadPoolExecutor(cores) as every, ThreadPoolExecutor(cores) as starters:
        alone = [ThreadPoolExecutor(1) for _ in range(cores)]
        # Short work is repeated more often, so that a disturbance affects few of the repetitions.
        for policy, runs, repetitions in ((bl.ReBoot(sigma_a=1.5), 500, 12 * repeats), (bl.Giro(a=1), 40, 3 * repeats)):

            def play(pool: Any, runs: int = runs, policy: Any = policy) -> bl.Simulation:
                return bl.simulate(policy, gaussian(10), rounds=10_000, runs=runs, executor=pool)

            def play_independently(play: Any = play, runs: int = runs) -> None:
                list(starters.map(lambda pool: play(pool, runs // cores), alone))

            in_kernels = []

            def together(play: Any = play, in_kernels: list[float] = in_kernels) -> None:
                in_kernels.append(float(play(every).seconds[0]))

            works = (lambda play=play: play(one), together, play_independently)
            by_one, by_all, independent = (np.array(times) for times in alternated(repetitions, *works))
            name = f"{policy}, {runs} runs, {cores} cores"
            low, median, high = np.quantile(by_one / by_all / cores, (0.25, 0.5, 0.75))
            yield Measured(section, name, median, bar=0.9)
            yield Measured(section, f"{name}, lower quartile", low)
            yield Measured(section, f"{name}, upper quartile", high)
            yield Measured(
                section, f"{name}, as independent simulations", float(np.median(by_one / independent / cores))
            )
            shares = np.array(in_kernels[1:]) / by_all / cores  # the first call warms up
            yield Measured(section, f"{name}, share of their time in kernels", float(np.median(shares)))
        for pool in alone:
            pool.shutdown()


def growth_of_time(repeats: int) -> Iterator[Measured]:
    section = "How time grows: fitted exponents"
    for policy in POLICIES:
        whole_history = not isinstance(policy.rule, IndexRule)

        def work(rounds: int, arms: int, runs: int, policy: Any = policy) -> Work:
            return lambda: bl.simulate(policy, gaussian(arms), rounds=rounds, runs=runs)

        # Large enough for the growing part of the time to dominate; histories cost up to the square of the rounds.
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
    """Peak memory of a work, NumPy's arrays included."""
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
    """The fitted exponents, one line for each policy."""
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
