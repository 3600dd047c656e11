# ruff: noqa: NPY002  (numba compiles the legacy generators only)
"""Rewards needed to conclude, over those of a fixed-sample test; and how good the estimate of "more" is.

``python -m tests.inference.power --runs 1000`` prints the tables of docs/answers.md. Two arms, an even split, a look
after every half per cent of further rewards. The test beside it is planned with the true effect: two-sided, 5 %, 80 %
power.
"""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass

import numpy as np

from bootleader._core.disk_cache import kernel
from bootleader.inference import _betting as betting
from bootleader.inference import _student_mixture as student
from bootleader.inference import verdict_of_moments
from bootleader.inference._intervals import GUARD, LEAST, mixture_variance
from bootleader.inference._moments import moments_by_arm
from tests.inference.peeking import guard_values, learn
from tests.inference.rewards import BERNOULLI, BETA, EXPONENTIAL, GAUSS, REVENUE, STUDENT_T, draw

ALPHA = 0.05
NEVER = 40.0  # times the fixed sample, after which a run is given up
STUDENT, BETTING, APART = range(3)
METHODS = ("Student", "betting", "Student, two intervals apart")


@dataclass(frozen=True)
class Setting:
    """Two arms of one family with their means and sds."""

    name: str
    family: int
    first: tuple[float, float, float]
    second: tuple[float, float, float]
    means: tuple[float, float]
    sds: tuple[float, float]
    is_bounded: bool = False

    def __post_init__(self) -> None:
        for name in ("first", "second"):
            object.__setattr__(self, name, tuple(float(value) for value in getattr(self, name)))

    @property
    def fixed(self) -> float:
        """Rewards of an arm in the fixed-sample test."""
        return (1.959964 + 0.841621) ** 2 * (self.sds[0] ** 2 + self.sds[1] ** 2) / (self.means[0] - self.means[1]) ** 2


def gaussian(effect: float) -> Setting:
    return Setting(f"Gaussian, {effect:g} sd apart", GAUSS, (effect, 1, 0), (0, 1, 0), (effect, 0), (1, 1))


def bernoulli(a: float, b: float) -> Setting:
    sds = (math.sqrt(a * (1 - a)), math.sqrt(b * (1 - b)))
    return Setting(f"Bernoulli {a:g} / {b:g}", BERNOULLI, (a, 0, 0), (b, 0, 0), (a, b), sds, True)


def beta(a: float, b: float, size: float) -> Setting:
    sds = tuple(math.sqrt(m * (1 - m) / (size + 1)) for m in (a, b))
    return Setting(f"Beta, means {a:g} / {b:g}, size {size:g}", BETA, (0, size * a, size * (1 - a)),
                   (0, size * b, size * (1 - b)), (a, b), sds, True)  # fmt: skip


def revenue(lift: float) -> Setting:
    mean = 0.05 * math.exp(0.5)
    sd = math.sqrt(0.05 * math.exp(2.0) - mean**2)
    first = (math.log(1 + lift), 1.0, 0.05)
    return Setting(f"revenue, 5 % pay, {100 * lift:g} % more", REVENUE, first, (0, 1.0, 0.05),
                   ((1 + lift) * mean, mean), ((1 + lift) * sd, sd))  # fmt: skip


SETTINGS = [
    gaussian(1.0), gaussian(0.5), gaussian(0.3), gaussian(0.2), gaussian(0.1),
    Setting("exponential, means 1.1 / 1", EXPONENTIAL, (0, 1.1, 0), (0, 1, 0), (1.1, 1), (1.1, 1)),
    Setting("Student t (5 df), .1 sd apart", STUDENT_T, (0.1 * math.sqrt(5 / 3), 1, 5), (0, 1, 5),
            (0.1 * math.sqrt(5 / 3), 0), (math.sqrt(5 / 3),) * 2),
    bernoulli(0.03, 0.02), bernoulli(0.12, 0.10), bernoulli(0.55, 0.50), beta(0.52, 0.50, 10), beta(0.22, 0.20, 5),
    revenue(0.2), revenue(1.0),
]  # fmt: skip


@kernel
def run_until(seed, family, first, second, most, level, c2, half_level, half_c2, guard, is_bounded, found):
    """Rewards of an arm until each method concludes (0: never)."""
    np.random.seed(seed)
    n, mean, rss, third, fourth = np.zeros(2), np.zeros(2), np.zeros(2), np.zeros(2), np.zeros(2)
    effective = np.zeros(2)
    look = 10
    for t in range(1, most + 1):
        learn(0, draw(family, first[0], first[1], first[2]), n, mean, rss, third, fourth)
        learn(1, draw(family, second[0], second[1], second[2]), n, mean, rss, third, fourth)
        if t < look:
            continue
        look = max(t + 1, int(t * 1.005))
        gap = mean[0] - mean[1]
        if rss.min() > 0.0:
            guard_values(n, rss, fourth, True, effective)
            if effective.min() >= guard and t >= LEAST:
                if found[0] == 0 and gap > student.student_pair_reach(n[0], rss[0], n[1], rss[1], level, c2):
                    found[0] = t
                reach = student.student_reach(n[0], rss[0], half_level, half_c2) + student.student_reach(
                    n[1], rss[1], half_level, half_c2
                )
                if found[2] == 0 and gap > reach:
                    found[2] = t
        if is_bounded and found[1] == 0 and gap > 0.0:
            end = level + math.log(2.0)
            a, b = betting.arm_bets(n[0], mean[0], rss[0], end), betting.arm_bets(n[1], mean[1], rss[1], end)
            if -betting.betting_pair_end(b, a, end) > 0.0:
                found[1] = t
        if found[0] > 0 and found[2] > 0 and (found[1] > 0 or not is_bounded):
            break


def ratios(setting: Setting, runs: int, guard: float = GUARD) -> np.ndarray:
    """Rewards needed over the fixed sample's, by run and method; infinite if a run did not conclude."""
    found = np.zeros((runs, 3))
    level, half = -math.log(ALPHA), -math.log(ALPHA / 2)
    for r in range(runs):
        run_until(
            104_729 * r + 1, setting.family, setting.first, setting.second, int(NEVER * max(setting.fixed, 200)), level,
            mixture_variance(ALPHA), half, mixture_variance(ALPHA / 2), guard, setting.is_bounded, found[r],
        )  # fmt: skip
    return np.where(found == 0, math.inf, found / setting.fixed)


@kernel
def one_log(seed, family, first, second, rounds, rewards):
    np.random.seed(seed)
    for t in range(rounds):
        rewards[2 * t] = draw(family, first[0], first[1], first[2])
        rewards[2 * t + 1] = draw(family, second[0], second[1], second[2])


def estimate_ratios(setting: Setting, runs: int, share: float) -> np.ndarray:
    """At ``share`` of the fixed sample: the estimate of "more" over the rewards that it really took, by run."""
    bounds = {"low": 0.0, "high": 1.0} if setting.is_bounded else {}
    found = []
    rounds = int(6 * setting.fixed)
    rewards = np.empty(2 * rounds)
    arm = np.arange(2 * rounds) % 2
    for r in range(runs):
        one_log(15_485_863 * r + 1, setting.family, setting.first, setting.second, rounds, rewards)

        def at(visits, rewards=rewards):
            return verdict_of_moments(
                ["a", "b"], moments_by_arm(arm[:visits], rewards[:visits], 2), **bounds
            ).comparisons[0]

        start = int(2 * share * setting.fixed)
        early = at(start)
        if early.outcome != "not yet":
            continue
        low, high = start, 2 * rounds
        if at(high).outcome == "not yet":
            found.append((math.inf if early.more is None else early.more) / (high - start))
            continue
        while high - low > max(2, 0.02 * high):  # the first conclusion, as if conclusions were never withdrawn
            middle = (low + high) // 2
            low, high = (middle, high) if at(middle).outcome == "not yet" else (low, middle)
        found.append((math.inf if early.more is None else early.more) / (high - start))
    return np.array(found)


def guard_binds(setting: Setting) -> bool:
    """Whether the planned sample has less than twice the effective number, or half of the rewards, that is needed."""
    rewards = np.empty(400_000)
    one_log(1, setting.family, setting.second, setting.second, 200_000, rewards)
    moments = moments_by_arm(np.zeros(len(rewards), int), rewards, 1)
    kurtosis = len(rewards) * moments.fourth[0] / moments.rss[0] ** 2
    return bool(setting.fixed / kurtosis < 2 * GUARD or setting.fixed < LEAST / 2)


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--only", default="", help="settings whose name contains one of these, with semicolons between")
    given = parser.parse_args()
    print(f"rewards needed over a fixed-sample test's, {given.runs} runs: median (quartiles)")
    for setting in SETTINGS:
        if not any(word in setting.name for word in given.only.split(";")):
            continue
        table = ratios(setting, given.runs)
        shown = []
        for method, name in enumerate(METHODS):
            if method != BETTING or setting.is_bounded:
                low, median, high = np.quantile(table[:, method], [0.25, 0.5, 0.75], method="nearest")
                shown.append(f"{name} {median:.2f} ({low:.2f} to {high:.2f})")
        binds = " | guard binds" if guard_binds(setting) else ""
        print(f"{setting.name} | {2 * setting.fixed:,.0f} | {' | '.join(shown)}{binds}", flush=True)
    if given.only:
        return
    print("estimate of 'more' over what it took: quartiles, at a share of the fixed sample")
    for setting in (gaussian(0.2), bernoulli(0.12, 0.10), SETTINGS[5]):
        for share in (0.25, 0.5, 1.0):
            table = estimate_ratios(setting, given.runs // 2, share)
            low, median, high = np.quantile(table, [0.25, 0.5, 0.75], method="nearest")
            print(
                f"{setting.name} | at {share:g} | {low:.2f} {median:.2f} {high:.2f} | of {len(table)} undecided",
                flush=True,
            )


if __name__ == "__main__":
    main()
