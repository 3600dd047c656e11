"""Parallel efficiency, and how time and memory grow with rounds, arms and runs, for every policy."""

from __future__ import annotations

import os
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numba
import numpy as np

import bootleader as bl
from benchmarks.measuring import Measured, side_by_side
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
    section = "5. Parallel efficiency"
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    with ThreadPoolExecutor(cores) as pool:

        def share(parts: int) -> Callable[[], Any]:
            return lambda: list(pool.map(lambda _: private_work(np.ones(1_024), 400_000), range(parts)))

        alone, together = side_by_side(3 * repeats, share(1), share(cores))
    yield Measured(section, f"what the machine allows: threads that share nothing, {cores} cores", alone / together)
    for policy, runs in ((bl.ReBoot(sigma_a=1.5), 500), (bl.Giro(a=1), 40)):
        with ThreadPoolExecutor(1) as one, ThreadPoolExecutor(cores) as all_cores:

            def work(pool: Any, policy: Any = policy, runs: int = runs) -> Callable[[], Any]:
                return lambda: bl.simulate(policy, gaussian(10), rounds=10_000, runs=runs, executor=pool)

            alone, together = side_by_side(3 * repeats, work(one), work(all_cores))  # short, so there is time for many
        yield Measured(section, f"{policy}, {runs} runs on {cores} cores", alone / together / cores, bar=0.9)


def growth_of_time(repeats: int) -> Iterator[Measured]:
    section = "6. How time grows: fitted exponents"
    for policy in POLICIES:
        whole_history = not isinstance(policy.rule, IndexRule)
        base = 500 if whole_history else 5_000
        runs = 4 if whole_history else 64
        sweeps: dict[str, tuple[list[int], Callable[[int], Callable[[], Any]]]] = {
            "rounds": (
                [base, 2 * base, 4 * base, 8 * base],
                lambda n: lambda: bl.simulate(policy, gaussian(10), rounds=n, runs=runs),  # noqa: B023
            ),
            "arms": (
                [8, 16, 32, 64],
                lambda n: lambda: bl.simulate(policy, gaussian(n), rounds=base, runs=runs),  # noqa: B023
            ),
            "runs": (
                [64, 128, 256, 512],
                lambda n: lambda: bl.simulate(policy, gaussian(10), rounds=base // 2, runs=n),  # noqa: B023
            ),
        }
        for name, (sizes, work) in sweeps.items():
            times = side_by_side(max(3, repeats // 2), *(work(size) for size in sizes))
            yield Measured(section, f"{policy}: time against {name}", exponent(sizes, times))


def peak_bytes(work: Callable[[], Any]) -> int:
    """Most memory that a work holds at once, NumPy's included."""
    work()
    tracemalloc.start()
    work()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def growth_of_memory(repeats: int) -> Iterator[Measured]:
    section = "6. How memory grows: fitted exponents"
    for policy in POLICIES:
        whole_history = not isinstance(policy.rule, IndexRule)
        rounds = [2_000, 4_000, 8_000] if whole_history else [2_000, 20_000, 200_000]
        peaks = [
            peak_bytes(lambda n=n: bl.simulate(policy, gaussian(10), rounds=n, runs=2))  # noqa: B023
            for n in rounds
        ]
        bar = None if whole_history else 0.05
        yield Measured(section, f"{policy}: peak memory against rounds", exponent(rounds, peaks), "", bar, at_most=True)
    runs = [20_000, 80_000, 320_000]
    peaks = [peak_bytes(lambda n=n: bl.simulate(bl.ReBoot(1.5), gaussian(2), rounds=20, runs=n)) for n in runs]
    yield Measured(section, f"ReBoot: peak memory against runs ({peaks[-1] / 2**20:.0f} MiB at 320,000)",
                   exponent(runs, peaks))  # fmt: skip


def measure(repeats: int) -> Iterator[Measured]:
    yield from efficiency(repeats)
    yield from growth_of_time(repeats)
    yield from growth_of_memory(repeats)
