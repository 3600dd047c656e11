"""Linear bandits: the kernel against the loops that users would write, published figures, and the robustness suite.

Times are processor seconds of a round, the least of the repetitions, measured alternately. The obvious numba loop
keeps the inverse of V by the Sherman-Morrison formula and computes every arm's prediction and leverage anew in each
round. The NumPy loop as published inverts V in every round and draws all indices from a multivariate normal law
(scipy's); the other one is the obvious numba loop with array operations.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numba
import numpy as np
from scipy import stats

import bootleader as bl
from benchmarks.measuring import Measured, processor_seconds
from bootleader.paper._linreboot_panels import ADAPTIVE, ORACLE, PUBLISHED
from bootleader.paper.parts.linear import SUITE, suite_ratios

ROUNDS, NUMPY_ROUNDS, FEW_ROUNDS = 3_000, 300, 20
FULL = 9  # repeats for the full number of runs
SUITE_RUNS = 1_000
BARS = {"mean": (1.2, 2.5), "99 % quantile": (1.3, 3.0)}
OTHERS: dict[str, tuple[bl.LinearBandit, int]] = {  # more settings: bandit and rounds
    "3 arms with sd .05, 9 with .8, shared": (
        bl.LinearBandit(bl.FixedFeatures(12, 4), sd=(0.05,) * 3 + (0.8,) * 9), 5_000,
    ),
    "4 arms with sd 2, 26 with .1, shared": (
        bl.LinearBandit(bl.FixedFeatures(30, 6), sd=(2.0,) * 4 + (0.1,) * 26), 5_000,
    ),
    "sd .1 or 1, features drawn, shared": (bl.LinearBandit(bl.RandomFeatures(20, 5), sd=(0.1, 1.0) * 10), 3_000),
    "little noise, shared": (bl.LinearBandit(bl.FixedFeatures(50, 8), sd=0.03), 5_000),
    "rare clicks, shared": (
        bl.LinearBandit(bl.FixedFeatures(20, 4), bl.UniformCoefficients(0.005, 0.03), noise="bernoulli"), 10_000,
    ),
    "Student noise (2.5 df), shared": (
        bl.LinearBandit(bl.FixedFeatures(20, 5), noise="student", df=2.5, sd=0.5), 5_000,
    ),
    "sd from .1 to 3, a model for each arm": (
        bl.LinearBandit(bl.GaussianContexts(6, 4), sd=(0.1, 0.2, 0.4, 0.8, 1.6, 3.0)), 5_000,
    ),
}  # fmt: skip
SHAPES = ((100, 5), (100, 20), (100, 40), (20, 20), (500, 20))  # arms, features


@numba.njit(error_model="numpy")
def numba_loop(features, theta, sd, rounds, changing, spread):  # type: ignore[no-untyped-def]
    """ReBoot's generalisation with known noise, from the definitions."""
    arms, d = features.shape
    shown = features.copy()
    inverse, total, coefficients = 10.0 * np.eye(d), np.zeros(d), np.zeros(d)
    regret = 0.0
    for _ in range(rounds):
        if changing:
            for k in range(arms):
                square = 0.0
                for j in range(d):
                    shown[k, j] = features[k, j] + spread * np.random.standard_normal()
                    square += shown[k, j] ** 2
                for j in range(d):
                    shown[k, j] /= math.sqrt(square)
        best, arm, largest = -np.inf, 0, -np.inf
        for k in range(arms):
            location, leverage, mean = 0.0, 0.0, 0.0
            for i in range(d):
                inner = 0.0
                for j in range(d):
                    inner += inverse[i, j] * shown[k, j]
                leverage += shown[k, i] * inner
                location += shown[k, i] * coefficients[i]
                mean += shown[k, i] * theta[i]
            count = 1.0 / leverage
            index = location + sd * math.sqrt(count + 6.0) / (count + 2.0) * np.random.standard_normal()
            largest = max(largest, mean)
            if index > best:
                best, arm = index, k
        x = shown[arm]
        mean = np.sum(x * theta)
        reward = mean + sd * np.random.standard_normal()
        gain = np.zeros(d)
        for i in range(d):
            for j in range(d):
                gain[i] += inverse[i, j] * x[j]
        spread_now = 1.0 + np.sum(gain * x)
        for i in range(d):
            total[i] += reward * x[i]
            for j in range(d):
                inverse[i, j] -= gain[i] * gain[j] / spread_now
        for i in range(d):
            coefficients[i] = 0.0
            for j in range(d):
                coefficients[i] += inverse[i, j] * total[j]
        regret += largest - mean
    return regret


def numpy_loop(features: Any, theta: Any, sd: float, rounds: int, rng: np.random.Generator) -> float:
    """The same with fixed features in NumPy."""
    arms, d = features.shape
    inverse, total, regret = 10.0 * np.eye(d), np.zeros(d), 0.0
    means = features @ theta
    for _ in range(rounds):
        coefficients = inverse @ total
        count = 1.0 / np.einsum("ki,ij,kj->k", features, inverse, features, optimize=False)
        indices = features @ coefficients + sd * np.sqrt(count + 6.0) / (count + 2.0) * rng.standard_normal(arms)
        arm = int(np.argmax(indices))
        x, reward = features[arm], means[arm] + sd * rng.standard_normal()
        gain = inverse @ x
        inverse -= np.outer(gain, gain) / (1.0 + gain @ x)
        total += reward * x
        regret += means.max() - means[arm]
    return float(regret)


def published_loop(features: Any, theta: Any, sd: float, rounds: int, rng: np.random.Generator) -> float:
    """LinReBoot as its published scripts play it, after one pull of each arm."""
    arms, d = features.shape
    means, regret = features @ theta, 0.0
    sums = means + sd * rng.standard_normal(arms)
    v, total, count, squares = 0.1 * np.eye(d) + features.T @ features, features.T @ sums, np.ones(arms), sums**2
    for _ in range(rounds):
        mean = features @ (np.linalg.inv(v) @ total)
        variance = np.maximum(squares + count * mean * mean - 2.0 * mean * sums, 0.0) / count**2
        drawn = stats.multivariate_normal.rvs(mean=mean, cov=np.diag(0.09 * variance), random_state=rng)
        arm = int(np.argmax(drawn))
        x, reward = features[arm], means[arm] + sd * rng.standard_normal()
        v += np.outer(x, x)
        total += reward * x
        count[arm] += 1.0
        sums[arm] += reward
        squares[arm] += reward * reward
        regret += means.max() - means[arm]
    return float(regret)


def seconds_of(policy: Any, bandit: Any, rounds: int = ROUNDS) -> float:
    """Processor seconds of a round of the kernel."""
    simulation = bl.simulate(policy, bandit, rounds=rounds, runs=1, seed=1, checkpoints=1, n_jobs=1)
    return float(simulation.seconds[0]) / rounds


def speed(repeats: int) -> Iterator[Measured]:
    section = "Linear bandits, K = 100, d = 20: times faster"
    fixed = bl.LinearBandit(bl.FixedFeatures(100, 20), sd=0.3)
    drawn = bl.LinearBandit(bl.RandomFeatures(100, 20), sd=0.3)
    run = fixed.parameters_of(1, 0)
    rows, theta, rng = np.ascontiguousarray(run.features.T), run.coefficients[0], np.random.default_rng(1)
    works = {
        "fixed": lambda: seconds_of(ADAPTIVE, fixed),
        "drawn": lambda: seconds_of(ADAPTIVE, drawn),
        "numba": lambda: _timed(lambda: numba_loop(rows, theta, 0.3, ROUNDS, False, 0.0), ROUNDS),
        "numba drawn": lambda: _timed(lambda: numba_loop(rows, theta, 0.3, ROUNDS, True, 0.07), ROUNDS),
        "LinReBoot": lambda: seconds_of(bl.LinReBoot(sd_weights=0.3), fixed),
        "published": lambda: _timed(lambda: published_loop(rows, theta, 0.3, FEW_ROUNDS, rng), FEW_ROUNDS),
        "numpy": lambda: _timed(lambda: numpy_loop(rows, theta, 0.3, NUMPY_ROUNDS, rng), NUMPY_ROUNDS),
    }
    for work in works.values():
        work()
    times = dict.fromkeys(works, math.inf)
    for _ in range(max(3, repeats)):
        for name, work in works.items():
            times[name] = min(times[name], work())
    yield Measured(section, "a round, fixed features", 1e6 * times["fixed"], "us")
    yield Measured(section, "a round, features drawn every round", 1e6 * times["drawn"], "us")
    yield Measured(section, "fixed features: than the obvious numba loop", times["numba"] / times["fixed"], bar=5)
    yield Measured(
        section, "features drawn: than the obvious numba loop", times["numba drawn"] / times["drawn"], bar=1.5
    )
    published = times["published"] / times["LinReBoot"]
    yield Measured(section, "LinReBoot, fixed features: than a NumPy loop as published", published, bar=300)
    yield Measured(
        section, "fixed features: than a NumPy loop without loops over arms", times["numpy"] / times["fixed"]
    )
    section = "Linear bandits: a round with fixed and with drawn features"
    for arms, d in SHAPES:
        for name, law in (("fixed", bl.FixedFeatures(arms, d)), ("drawn", bl.RandomFeatures(arms, d))):
            bandit = bl.LinearBandit(law, sd=0.3)
            least = min(seconds_of(ADAPTIVE, bandit, 2_000) for _ in range(3))
            yield Measured(section, f"{name}, K = {arms}, d = {d}", 1e6 * least, "us")


def _timed(work: Any, rounds: int) -> float:
    return processor_seconds(work) / rounds


def figures(runs: int) -> Iterator[Measured]:
    section = "LinReBoot's published figures: standard errors between ours and theirs"
    for name, (policy, bandit, value, error) in PUBLISHED.items():
        found = bl.simulate(policy, bandit, rounds=10_000, runs=runs, seed=0, checkpoints=1).final_regret[0]
        ours = found.std(ddof=1) / math.sqrt(runs)
        distance = abs(found.mean() - value) / math.hypot(ours, error)
        what = f"{name}: {found.mean():.1f} ± {ours:.1f}, published {value} ± {error}"
        yield Measured(section, what, distance, bar=3.0, at_most=True)


def suite(runs: int) -> Iterator[Measured]:
    section = f"AdaptiveLinReBoot's regret over that of {ORACLE}, {runs:,} runs"
    found = suite_ratios(runs, seed=0)
    for statistic, (typical, worst) in BARS.items():
        values = np.array(list(found[statistic].values()))
        yield Measured(
            section, f"{statistic}, geometric mean", math.exp(np.log(values).mean()), bar=typical, at_most=True
        )
        case = max(found[statistic], key=lambda name: found[statistic][name])
        yield Measured(section, f"{statistic}, worst: {case}", values.max(), bar=worst, at_most=True)
    for case in SUITE:
        yield Measured(section, f"{case}: mean", found["mean"][case])
        yield Measured(section, f"{case}: 99 % quantile", found["99 % quantile"][case])


def other_settings(runs: int) -> Iterator[Measured]:
    section = f"AdaptiveLinReBoot's regret over that of {ORACLE}, other settings, {runs:,} runs"
    for name, (bandit, rounds) in OTHERS.items():
        ours, oracle = bl.simulate(
            [ADAPTIVE, ORACLE], bandit, rounds=rounds, runs=runs, seed=3, checkpoints=1
        ).final_regret
        yield Measured(section, f"{name}: mean", ours.mean() / oracle.mean())
        yield Measured(section, f"{name}: 99 % quantile", np.quantile(ours, 0.99) / np.quantile(oracle, 0.99))


def measure(repeats: int) -> Iterator[Measured]:
    yield from speed(repeats)
    yield from figures(max(20, 100 * min(repeats, FULL) // FULL))
    yield from suite(max(20, SUITE_RUNS * min(repeats, FULL) // FULL))
    yield from other_settings(max(20, SUITE_RUNS * min(repeats, FULL) // FULL))
