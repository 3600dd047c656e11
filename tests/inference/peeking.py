# ruff: noqa: NPY002, SIM109  (numba compiles the legacy generators only)
"""Runs that are looked at after every reward: how often an interval excludes the truth, and a verdict is false.

Compiled, and independent of the simulator: rewards come from NumPy's generators. The formulas of the intervals
(:mod:`bootleader.inference._student_mixture` and :mod:`~bootleader.inference._betting`) and AdaptiveReBoot's law are
the library's.

``python -m tests.inference.peeking --runs 2000`` prints the tables of docs/coverage.md.

An interval can only exclude the truth if the e-process *at the truth* has reached 1/alpha. So every reward costs one
evaluation at the truth; the interval itself is worked out only then.
"""

from __future__ import annotations

import argparse
import math
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from bootleader._core.disk_cache import kernel
from bootleader._core.rules import ArmStatistics, SharedStatistics
from bootleader.inference import _betting as betting
from bootleader.inference import _student_mixture as student
from bootleader.inference._intervals import GUARD, LEAST, mixture_variance
from bootleader.inference._pair_wealth import with_aside
from bootleader.policies.adaptive_reboot import AdaptiveReBoot, law
from tests.inference.cases import Case, everyday_cases, hard_cases, other_cases, suite_cases
from tests.inference.rewards import BERNOULLI, draw

ADAPTIVE, THOMPSON, EVEN, GREEDY, LEADER, ELIMINATION = range(6)
POLICY_NAMES = (
    "AdaptiveReBoot", "ThompsonSampling", "even split", "epsilon-greedy", "follow the leader", "naive elimination"
)  # fmt: skip
EPSILON = 0.1  # of epsilon-greedy
NAIVE_FROM = 30  # rewards of each arm from which the naive tests are made
POOLING_GROWTH = 20
RATIO = tuple(AdaptiveReBoot().rule.params)

adaptive_law = kernel(law)


@kernel
def least_played_survivor(n, mean, rss):
    """The arm with the fewest rewards among those whose mean is within two standard errors of the best mean."""
    leader, chosen = np.argmax(mean), -1
    for a in range(len(n)):
        error = math.sqrt(rss[a] / n[a] / n[a] + rss[leader] / n[leader] / n[leader])
        is_in = n[a] < NAIVE_FROM or mean[leader] - mean[a] <= 2.0 * error
        if is_in and (chosen < 0 or n[a] < n[chosen]):
            chosen = a
    return chosen


@kernel
def choose(policy, t, n, mean, rss, fourth, pool):
    """The arm that the policy plays; ``pool`` holds the pooled variance, kurtosis and when they were renewed."""
    arms = len(n)
    if policy == EVEN:
        return t % arms
    opening = 0 if policy == THOMPSON else 2
    if t < opening * arms:
        return t % arms
    if policy == ELIMINATION:
        return least_played_survivor(n, mean, rss)
    if policy == GREEDY and np.random.random() < EPSILON:
        return np.random.randint(arms)
    if policy == GREEDY or policy == LEADER:
        return np.argmax(mean)
    if policy == ADAPTIVE and (pool[2] == 0.0 or POOLING_GROWTH * (t - pool[2]) >= pool[2]):
        squares, freedom, weighted = 0.0, 0.0, 0.0
        for a in range(arms):
            squares += rss[a]
            freedom += n[a] - 1.0
            if rss[a] > 0.0:
                weighted += n[a] * fourth[a] / rss[a]
        pool[0], pool[1], pool[2] = squares / freedom, weighted / squares if squares > 0.0 else 0.0, t
    best, leader = -math.inf, 0
    shared = SharedStatistics(pool[0], float(t), float(arms), math.inf, pool[1])
    for a in range(arms):
        if policy == THOMPSON:
            index = n[a] * mean[a] / (n[a] + 1.0) + np.random.normal(0.0, 1.0) / math.sqrt(n[a] + 1.0)
        elif pool[0] == 0.0:
            index = mean[a] + 1e-9 * np.random.random()
        else:
            arm = ArmStatistics(n[a], mean[a], rss[a], 1.0, fourth[a])
            location, scale, shape = adaptive_law(RATIO, arm, shared)
            noise = np.random.normal(0.0, 1.0)
            if shape < math.inf:
                noise /= math.sqrt(np.random.chisquare(shape) / shape)
            index = location + noise * scale
        if index > best:
            best, leader = index, a
    return leader


@kernel
def learn(a, y, n, mean, rss, third, fourth):
    """Pebay's update of the central moments."""
    before = n[a]
    n[a] += 1.0
    delta = y - mean[a]
    part = delta / n[a]
    term = delta * part * before
    mean[a] += part
    fourth[a] += term * part * part * (n[a] * n[a] - 3 * n[a] + 3) + 6 * part * part * rss[a] - 4 * part * third[a]
    third[a] += term * part * (n[a] - 2) - 3 * part * rss[a]
    rss[a] += term


@kernel
def guard_values(n, rss, fourth, is_pooled, out):
    """Effective numbers of rewards, as in the library."""
    total, weighted = 0.0, 0.0
    for a in range(len(n)):
        if rss[a] > 0.0:
            total += rss[a]
            weighted += n[a] * fourth[a] / rss[a]
    for a in range(len(n)):
        out[a] = rss[a] * rss[a] / fourth[a] if rss[a] > 0.0 else 0.0
        if is_pooled and total > 0.0:
            out[a] = min(out[a], n[a] * total / weighted)


@kernel
def most_of_one_direction(log_e):
    """The most that E' of one direction can be, in logs, less half of what each end's half of the level costs."""
    return with_aside(log_e + math.log(2.0)) - 0.5 * math.log(2.0)


class Look(NamedTuple):
    """How the runs are looked at."""

    arm_level: float
    arm_c2: float
    pair_level: float
    pair_c2: float
    guard: float
    is_pooled: bool
    least: float  # rewards of an arm
    scale: float  # of bounded rewards, which begin at 0; 0: without bounds
    is_binary: bool


@kernel
def look_at_pairs(n, mean, rss, truth, paired, effective, look, out):
    for a in range(len(n)):
        for b in range(a):
            if paired[a] + paired[b] < look.pair_level or min(effective[a], effective[b]) < look.guard:
                continue
            if min(n[a], n[b]) < look.least:
                continue
            gap, real = mean[a] - mean[b], truth[a] - truth[b]
            if look.scale > 0.0:
                s = look.scale
                level = look.pair_level + math.log(2.0)
                bets_a = betting.arm_bets(n[a], mean[a] / s, rss[a] / s**2, level)
                bets_b = betting.arm_bets(n[b], mean[b] / s, rss[b] / s**2, level)
                low = -s * betting.betting_pair_end(bets_b, bets_a, level)
                high = s * betting.betting_pair_end(bets_a, bets_b, level)
            else:
                reach = student.student_pair_reach(n[a], rss[a], n[b], rss[b], look.pair_level, look.pair_c2)
                low, high = gap - reach, gap + reach
            if not low <= real <= high:
                out[1] = 1.0
            if (low > 0.0 and real <= 0.0) or (high < 0.0 and real >= 0.0):
                out[2] = 1.0


@kernel
def naive(a, n, mean, rss, truth, out):
    if n[a] < NAIVE_FROM or (out[3] > 0.0 and out[4] > 0.0):
        return
    var_a = rss[a] / (n[a] - 1.0) / n[a]
    for b in range(len(n)):
        if b != a and n[b] >= NAIVE_FROM:
            var_b = rss[b] / (n[b] - 1.0) / n[b]
            gap, real = mean[a] - mean[b], truth[a] - truth[b]
            if gap * real <= 0.0 and gap != 0.0:
                if abs(gap) > 1.96 * math.sqrt(var_a + var_b):
                    out[3] = 1.0
                if abs(gap) > 1.96 * (math.sqrt(var_a) + math.sqrt(var_b)):
                    out[4] = 1.0


@kernel
def two_largest(values):
    first, second = -math.inf, -math.inf
    for value in values:
        if value > first:
            first, second = value, first
        else:
            second = max(second, value)
    return first, second


@kernel
def student_logs(n, mean, rss, truth, look, own, paired):
    """Log E of every arm's truth, and log E' for its differences."""
    for a in range(len(n)):
        if rss[a] > 0.0:
            own[a] = student.student_log_e(n[a], mean[a], rss[a], truth[a], look.arm_c2)
            paired[a] = with_aside(student.student_log_e(n[a], mean[a], rss[a], truth[a], look.pair_c2))


@kernel
def run_once(seed, families, params, truth, policy, rounds, look, out):
    """Play a run and look after every reward.

    ``out``: arm interval excluded the truth; difference interval excluded it; false verdict; naive z test wrong; naive
    intervals apart wrongly; rounds until the first answer.
    """
    np.random.seed(seed)
    arms = params.shape[1]
    n, mean, rss, third, fourth = np.zeros(arms), np.zeros(arms), np.zeros(arms), np.zeros(arms), np.zeros(arms)
    own, paired, effective, pool = np.zeros(arms), np.zeros(arms), np.zeros(arms), np.zeros(3)
    bounded = look.scale > 0.0
    bets = len(betting.SIZES)
    gain = np.log1p(betting.SIZES)
    cost = np.zeros((2, arms, bets))
    if look.is_binary:
        for a in range(arms):
            cost[0, a], cost[1, a] = np.log1p(betting.SIZES * truth[a]), np.log1p(betting.SIZES * (1.0 - truth[a]))
    for t in range(rounds):
        a = choose(policy, t, n, mean, rss, fourth, pool)
        y = draw(families[a], params[0, a], params[1, a], params[2, a], n[a])
        learn(a, y, n, mean, rss, third, fourth)
        if look.is_binary:
            wins = n[a] * mean[a]
            top = -math.inf
            for j in range(bets):
                up = betting.LOG_WEIGHTS[j] + wins * gain[j] - n[a] * cost[0, a, j]
                down = betting.LOG_WEIGHTS[j] + (n[a] - wins) * gain[j] - n[a] * cost[1, a, j]
                top = max(top, up, down)
            total = 0.0
            for j in range(bets):
                up = betting.LOG_WEIGHTS[j] + wins * gain[j] - n[a] * cost[0, a, j] - top
                down = betting.LOG_WEIGHTS[j] + (n[a] - wins) * gain[j] - n[a] * cost[1, a, j] - top
                total += (math.exp(up) if up > -30.0 else 0.0) + (math.exp(down) if down > -30.0 else 0.0)
            own[a] = top + math.log(0.5 * total)
            paired[a] = most_of_one_direction(own[a])
        elif bounded:
            own[a] = betting.betting_log_e(
                n[a], betting.all_bets(n[a], mean[a] / look.scale, rss[a] / look.scale**2), truth[a] / look.scale
            )[0]
            paired[a] = most_of_one_direction(own[a])
        elif rss[a] > 0.0:
            own[a] = paired[a] = 0.5 * (n[a] * (mean[a] - truth[a])) ** 2 / rss[a]  # no log E is larger
        first, second = two_largest(paired)
        if not bounded and (own.max() >= look.arm_level or first + second >= look.pair_level):
            student_logs(n, mean, rss, truth, look, own, paired)
            first, second = two_largest(paired)
        is_suspect = own.max() >= look.arm_level
        if is_suspect or first + second >= look.pair_level or (out[5] == 0.0 and t % 10 == 0):
            if bounded:
                effective[:] = math.inf
            else:
                guard_values(n, rss, fourth, look.is_pooled, effective)
            if out[5] == 0.0 and effective.min() >= look.guard and n.min() >= look.least:
                out[5] = t + 1.0
            if is_suspect:
                for b in range(arms):
                    if own[b] >= look.arm_level and effective[b] >= look.guard and n[b] >= look.least:
                        out[0] = 1.0
            if first + second >= look.pair_level:
                look_at_pairs(n, mean, rss, truth, paired, effective, look, out)
        naive(a, n, mean, rss, truth, out)


@kernel
def run_many(first, last, families, params, truth, policy, rounds, look, out):
    for r in range(first, last):
        run_once(7919 * r + 1, families, params[:, :, r], truth[:, r], policy, rounds, look, out[r])


def look_of(
    arms: int,
    alpha: float,
    scale: float,
    is_binary: bool,
    guard: float = GUARD,
    is_pooled: bool = True,
    least: float = LEAST,
):
    pairs = max(1, arms * (arms - 1) // 2)
    return Look(
        math.log(arms / alpha), mixture_variance(alpha / arms),
        math.log(pairs / alpha), mixture_variance(alpha / pairs),
        guard, is_pooled, 0.0 if scale > 0.0 else least, scale, is_binary,
    )  # fmt: skip


def measured(case: Case, policy: int, runs: int, alpha: float = 0.05, threads: int = 2, bounded=None, **guard):
    """Shares of runs, in the order of ``run_once``, and the median round of the first answer."""
    scale = case.scale if bounded is None or bounded else 0.0
    look = look_of(case.truth.shape[0], alpha, scale, bool((case.families == BERNOULLI).all()) and scale > 0.0, **guard)
    out = np.zeros((runs, 6))
    edges = np.linspace(0, runs, 4 * threads + 1).astype(int)
    with ThreadPoolExecutor(threads) as pool:
        futures = [
            pool.submit(run_many, lo, hi, case.families, case.params, case.truth, policy, case.rounds, look, out)
            for lo, hi in pairwise(edges)
        ]
        for future in futures:
            future.result()
    return out


def main() -> None:
    """Print the table, the quickest cells first."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--only", default="", help="cases whose name contains one of these, with commas between")
    parser.add_argument(
        "--policies", default="2,0,1", help=", ".join(f"{i}: {name}" for i, name in enumerate(POLICY_NAMES))
    )
    parser.add_argument("--hard", action="store_true", help="the hard families instead of the suite")
    parser.add_argument("--everyday", action="store_true", help="the everyday families instead of the suite")
    parser.add_argument("--shortest", type=int, default=0, help="least number of rounds of a case")
    parser.add_argument("--longest", type=int, default=10**9, help="largest number of rounds of a case")
    parser.add_argument("--guard", type=float, default=GUARD)
    parser.add_argument("--least", type=float, default=LEAST)
    parser.add_argument("--without-bounds", action="store_true", help="only the method without bounds")
    parser.add_argument("--not-pooled", action="store_true")
    parser.add_argument("--threads", type=int, default=2)
    given = parser.parse_args()
    if given.hard or given.everyday:
        cases = (hard_cases if given.hard else everyday_cases)(given.runs)
    else:
        cases = [case for suite in suite_cases(given.runs) for case in (suite.equal(), suite)] + other_cases(given.runs)
    wanted = [
        case for case in cases
        if given.shortest <= case.rounds <= given.longest and any(word in case.name for word in given.only.split(","))
    ]  # fmt: skip
    print(f"{given.runs} runs, alpha 5 %, a look after every reward; shares of runs in %")
    for policy in map(int, given.policies.split(",")):
        print(f"\n## {POLICY_NAMES[policy]}\n\n{HEADER}")
        for case in sorted(wanted, key=lambda case: case.rounds):
            for bounded in (True, False) if case.scale and not given.without_bounds else (False,):
                out = measured(
                    case, policy, given.runs, bounded=bounded, guard=given.guard, is_pooled=not given.not_pooled,
                    least=given.least, threads=given.threads,
                )  # fmt: skip
                print(described(case, bounded, out), flush=True)


HEADER = """\
| rewards | method | arm's interval wrong | difference's | any | false verdict | \\|z\\| > 1.96 | apart | answers from |
|---|---|---:|---:|---:|---:|---:|---:|---:|"""


def described(case: Case, bounded: bool, out: np.ndarray) -> str:
    """A row of the table, in Markdown."""
    shares = [*out[:, :2].mean(axis=0), out[:, :2].any(axis=1).mean(), *out[:, 2:5].mean(axis=0)]
    answered = np.median(np.where(out[:, 5] == 0.0, math.inf, out[:, 5]))
    cells = [case.name, "betting" if bounded else "Student", *(f"{100 * share:.2f}" for share in shares)]
    return f"| {' | '.join(cells)} | {f'{answered:,.0f}' if math.isfinite(answered) else '–'} |"


if __name__ == "__main__":
    main()
