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
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from bootleader._core.disk_cache import kernel
from bootleader._core.rules import ArmStatistics, SharedStatistics
from bootleader.inference import _betting as betting
from bootleader.inference import _student_mixture as student
from bootleader.inference._intervals import GUARD, mixture_variance
from bootleader.inference._pair_wealth import with_aside
from bootleader.policies.adaptive_reboot import AdaptiveReBoot, law

GAUSS, EXPONENTIAL, BERNOULLI, REVENUE, STUDENT_T, JACKPOT, PARETO, LOGNORMAL, POISSON, NEGATIVE, CAPPED, BETA = range(
    12
)
ADAPTIVE, THOMPSON, EVEN = range(3)
POLICY_NAMES = ("AdaptiveReBoot", "ThompsonSampling", "even split")
NAIVE_FROM = 30  # rewards of each arm from which the naive tests are made
POOLING_GROWTH = 20
RATIO = tuple(AdaptiveReBoot().rule.params)

adaptive_law = kernel(law)


@kernel
def draw(family, first, second, third):
    if family == GAUSS:
        return np.random.normal(first, second)
    if family == EXPONENTIAL:
        return first + second * np.random.exponential(1.0)
    if family == BERNOULLI:
        return 1.0 if np.random.random() < first else 0.0
    if family == REVENUE or family == CAPPED:
        if np.random.random() >= third:
            return 0.0
        amount = math.exp(np.random.normal(first, second))
        return min(amount, 50.0) if family == CAPPED else amount
    if family == STUDENT_T:
        return first + second * np.random.standard_t(third)
    if family == JACKPOT:
        return np.random.normal(first, 1.0) + (second if np.random.random() < third else 0.0)
    if family == PARETO:
        return first + second * np.random.pareto(third)
    if family == LOGNORMAL:
        return math.exp(np.random.normal(first, second))
    if family == POISSON:
        return float(np.random.poisson(first))
    if family == NEGATIVE:
        return first - second * np.random.exponential(1.0)
    return np.random.beta(second, third)


@kernel
def choose(policy, t, n, mean, rss, fourth, pool):
    """The arm that the policy plays; ``pool`` holds the pooled variance, kurtosis and when they were renewed."""
    arms = len(n)
    if policy == EVEN:
        return t % arms
    opening = 2 if policy == ADAPTIVE else 0
    if t < opening * arms:
        return t % arms
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
    scale: float  # of bounded rewards, which begin at 0; 0: without bounds
    is_binary: bool


@kernel
def look_at_pairs(n, mean, rss, truth, paired, effective, look, out):
    for a in range(len(n)):
        for b in range(a):
            if paired[a] + paired[b] < look.pair_level or min(effective[a], effective[b]) < look.guard:
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
def run_once(seed, family, params, truth, policy, rounds, look, out):
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
        learn(a, draw(family, params[0, a], params[1, a], params[2, a]), n, mean, rss, third, fourth)
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
            own[a] = student.student_log_e(n[a], mean[a], rss[a], truth[a], look.arm_c2)
            paired[a] = with_aside(student.student_log_e(n[a], mean[a], rss[a], truth[a], look.pair_c2))
        first, second = -math.inf, -math.inf
        for b in range(arms):
            if paired[b] > first:
                first, second = paired[b], first
            else:
                second = max(second, paired[b])
        is_suspect = own.max() >= look.arm_level
        if is_suspect or first + second >= look.pair_level or (out[5] == 0.0 and t % 10 == 0):
            if bounded:
                effective[:] = math.inf
            else:
                guard_values(n, rss, fourth, look.is_pooled, effective)
            if out[5] == 0.0 and effective.min() >= look.guard:
                out[5] = t + 1.0
            if is_suspect:
                for b in range(arms):
                    if own[b] >= look.arm_level and effective[b] >= look.guard:
                        out[0] = 1.0
            if first + second >= look.pair_level:
                look_at_pairs(n, mean, rss, truth, paired, effective, look, out)
        naive(a, n, mean, rss, truth, out)


@kernel
def run_many(first, last, family, params, truth, policy, rounds, look, out):
    for r in range(first, last):
        run_once(7919 * r + 1, family, params[:, :, r], truth[:, r], policy, rounds, look, out[r])


@dataclass(frozen=True)
class Case:
    """Arms of one family: parameters (3 x arm x run) and true means (arm x run)."""

    name: str
    family: int
    params: np.ndarray
    truth: np.ndarray
    rounds: int
    scale: float = 0.0  # of bounded rewards

    def equal(self) -> Case:
        """The A/A version: all arms equal to the first."""
        params = np.repeat(self.params[:, :1], self.params.shape[1], axis=1)
        truth = np.repeat(self.truth[:1], self.truth.shape[0], axis=0)
        return Case(self.name + ", A/A", self.family, params, truth, self.rounds, self.scale)


def look_of(arms: int, alpha: float, scale: float, is_binary: bool, guard: float = GUARD, is_pooled: bool = True):
    pairs = max(1, arms * (arms - 1) // 2)
    return Look(
        math.log(arms / alpha), mixture_variance(alpha / arms),
        math.log(pairs / alpha), mixture_variance(alpha / pairs),
        guard, is_pooled, scale, is_binary,
    )  # fmt: skip


def measured(case: Case, policy: int, runs: int, alpha: float = 0.05, threads: int = 2, bounded=None, **guard):
    """Shares of runs, in the order of ``run_once``, and the median round of the first answer."""
    scale = case.scale if bounded is None or bounded else 0.0
    look = look_of(case.truth.shape[0], alpha, scale, case.family == BERNOULLI and scale > 0.0, **guard)
    out = np.zeros((runs, 6))
    edges = np.linspace(0, runs, 4 * threads + 1).astype(int)
    with ThreadPoolExecutor(threads) as pool:
        futures = [
            pool.submit(run_many, lo, hi, case.family, case.params, case.truth, policy, case.rounds, look, out)
            for lo, hi in pairwise(edges)
        ]
        for future in futures:
            future.result()
    return out


def suite_cases(runs: int) -> list[Case]:
    """The robustness suite."""
    from bootleader.paper.parts.robustness import SUITE

    families = {
        "GaussianBandit": GAUSS, "ExponentialBandit": EXPONENTIAL, "BernoulliBandit": BERNOULLI,
        "RevenueBandit": REVENUE,        "StudentTBandit": STUDENT_T,
    }  # fmt: skip
    cases = []
    for name, case in SUITE.items():
        arms = case.bandit.parameters_of(0, np.arange(runs, dtype=np.uint64))
        params = np.array([arms.first, arms.second, arms.third])
        family = families[type(case.bandit).__name__]
        cases.append(Case(name, family, params, arms.mean, case.rounds, 1.0 if family == BERNOULLI else 0.0))
    return cases


def _two(name, family, first, second, third, mean, rounds, runs, scale=0.0, arms=2) -> Case:
    params = np.tile(np.array([first, second, third], float)[:, None, None], (1, arms, runs))
    return Case(name, family, params, np.full((arms, runs), float(mean)), rounds, scale)


def other_cases(runs: int) -> list[Case]:
    """Families beyond the suite, arms equal: skewed, heavy-tailed, discrete, bounded."""
    return [
        _two("jackpot 2 %", JACKPOT, 0.0, 50.0, 0.02, 1.0, 20_000, runs),
        _two("jackpot 2 %, 5 arms", JACKPOT, 0.0, 50.0, 0.02, 1.0, 20_000, runs, arms=5),
        _two("revenue 2 %", REVENUE, 0.0, 1.0, 0.02, 0.02 * math.exp(0.5), 20_000, runs),
        _two("Pareto 2.5", PARETO, 0.0, 1.0, 2.5, 1 / 1.5, 20_000, runs),
        _two("lognormal 1.5", LOGNORMAL, 0.0, 1.5, 0.0, math.exp(1.125), 20_000, runs),
        _two("lognormal 1, 10 arms", LOGNORMAL, 0.0, 1.0, 0.0, math.exp(0.5), 20_000, runs, arms=10),
        _two("Poisson .02", POISSON, 0.02, 0.0, 0.0, 0.02, 20_000, runs),
        _two("minus Exp", NEGATIVE, 0.0, 1.0, 0.0, -1.0, 20_000, runs),
        _two("Bernoulli .05, unbounded", BERNOULLI, 0.05, 0.0, 0.0, 0.05, 20_000, runs),
        _two("Bernoulli .005, unbounded", BERNOULLI, 0.005, 0.0, 0.0, 0.005, 20_000, runs),
        _two("Beta(2, 8), bounded", BETA, 0.0, 2.0, 8.0, 0.2, 5_000, runs, scale=1.0),
        _two("Beta(.1, .4), bounded", BETA, 0.0, 0.1, 0.4, 0.2, 5_000, runs, scale=1.0),
        _two("revenue 5 % capped at 50, bounded", CAPPED, 1.0, 1.0, 0.05, capped_mean(1.0, 1.0, 0.05), 5_000, runs,
             scale=50.0),
    ]  # fmt: skip


def capped_mean(mu: float, sigma: float, chance: float, cap: float = 50.0) -> float:
    """Mean of a lognormal amount capped, paid with the given chance."""
    from scipy.stats import norm

    z = (math.log(cap) - mu) / sigma
    return float(chance * (math.exp(mu + sigma**2 / 2) * norm.cdf(z - sigma) + cap * norm.sf(z)))


def main() -> None:
    """Print the table, the quickest cells first."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--only", default="", help="cases whose name contains one of these, with commas between")
    parser.add_argument("--policies", default="2,0,1", help="0: AdaptiveReBoot, 1: ThompsonSampling, 2: even split")
    parser.add_argument("--shortest", type=int, default=0, help="least number of rounds of a case")
    parser.add_argument("--longest", type=int, default=10**9, help="largest number of rounds of a case")
    parser.add_argument("--guard", type=float, default=GUARD)
    parser.add_argument("--not-pooled", action="store_true")
    parser.add_argument("--threads", type=int, default=2)
    given = parser.parse_args()
    cases = [case for suite in suite_cases(given.runs) for case in (suite.equal(), suite)] + other_cases(given.runs)
    wanted = [
        case for case in cases
        if given.shortest <= case.rounds <= given.longest and any(word in case.name for word in given.only.split(","))
    ]  # fmt: skip
    print(f"{given.runs} runs, alpha 5 %, a look after every reward; shares of runs in %")
    for policy in map(int, given.policies.split(",")):
        print(f"\n## {POLICY_NAMES[policy]}\n\n{HEADER}")
        for case in sorted(wanted, key=lambda case: case.rounds):
            for bounded in (True, False) if case.scale else (False,):
                out = measured(
                    case, policy, given.runs, bounded=bounded, guard=given.guard, is_pooled=not given.not_pooled,
                    threads=given.threads,
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
