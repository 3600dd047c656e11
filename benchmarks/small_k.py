"""Ten arms, 10,000 rounds: the lock-step kernel, Giro, two-point weights and PHE against baselines."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import bootleader as bl
from benchmarks import baselines
from benchmarks.measuring import Measured, processor_seconds, side_by_side
from bootleader.policies._two_point_weights import TWO_POINTS

ARMS, ROUNDS, RUNS = 10, 10_000, 500
BANDIT = bl.GaussianBandit(means=bl.Uniform(5, 7, arms=ARMS))


def means_of(runs: int) -> np.ndarray:
    return np.random.default_rng(1).uniform(5, 7, (runs, ARMS))


def play(policy: object, runs: int) -> None:
    bl.simulate(policy, BANDIT, rounds=ROUNDS, runs=runs)


def lock_step(repeats: int) -> Iterator[Measured]:
    section = "ReBoot, 10 arms, 10,000 rounds, 500 runs, all cores"
    means = means_of(RUNS)
    family = (bl.ThompsonSampling(), bl.ResidualBootstrap(), bl.FollowTheLeader(), bl.AdaptiveReBoot())
    ours, loop, *times = side_by_side(
        repeats,
        lambda: play(bl.ReBoot(sigma_a=1.5), RUNS),
        lambda: baselines.numba_reboot(means, ROUNDS, 1.5),
        *(lambda policy=policy: play(policy, RUNS) for policy in family),
    )
    yield Measured(section, "ours", ours / RUNS / ROUNDS * 1e9, "ns/round")
    yield Measured(section, "times faster than the parallel numba loop", loop / ours, bar=10)
    for policy, theirs in zip(family, times, strict=True):
        yield Measured(section, f"{policy} against ReBoot, time", theirs / ours, "x")

    rng, few = np.random.default_rng(2), 4
    ours, vectorised, python = side_by_side(
        repeats,
        lambda: play(bl.ReBoot(sigma_a=1.5), RUNS),
        lambda: baselines.numpy_reboot(means, ROUNDS, 1.5, rng),
        lambda: [baselines.python_reboot(list(row), ROUNDS, 1.5) for row in means[:few]],
    )
    yield Measured(section, "times faster than NumPy vectorised over runs", vectorised / ours)
    yield Measured(section, "times faster than a per-round Python loop", (python / few) / (ours / RUNS), bar=300)


def history_policies(repeats: int) -> Iterator[Measured]:
    section = "Giro and two-point weights, 10 arms, 10,000 rounds, one core each"
    means = means_of(1)[0]
    runs = 4
    one = ThreadPoolExecutor(1)  # one core each, so that neither measurement slows the other
    for policy, direct, bar in (
        (bl.Giro(a=1), lambda: baselines.direct_giro(means, ROUNDS, 1), 7.0),
        *(
            (
                bl.ReBoot(sigma_a=1.5, weights=weights),
                lambda points=points: baselines.direct_two_points(means, ROUNDS, 1.5, *points),
                None,
            )
            for weights, points in TWO_POINTS.items()
        ),
    ):
        mine, theirs = zip(
            *(
                (
                    float(bl.simulate(policy, BANDIT, rounds=ROUNDS, runs=runs, executor=one).seconds[0]) / runs,
                    processor_seconds(direct),
                )
                for _ in range(repeats + 1)
            ),
            strict=True,
        )
        mine, theirs = statistics.median(mine[1:]), statistics.median(theirs[1:])  # the first call compiles
        yield Measured(section, f"{policy}, a run", mine, "s")
        yield Measured(section, f"{policy}: times faster than direct resampling", theirs / mine, bar=bar)


def perturbed_history(repeats: int) -> Iterator[Measured]:
    section = "PHE, 10 arms, 10,000 rounds, 500 runs"
    phe, reboot = side_by_side(repeats, lambda: play(bl.PHE(a=2.1), RUNS), lambda: play(bl.ReBoot(sigma_a=1.5), RUNS))
    yield Measured(section, "PHE against ReBoot, time a round", phe / reboot, "x", bar=15, at_most=True)


def measure(repeats: int) -> Iterator[Measured]:
    yield from lock_step(repeats)
    yield from history_policies(repeats)
    yield from perturbed_history(repeats)
