"""Bandits whose coverage is measured: the robustness suite, families beyond it, hard ones and everyday ones."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from tests.inference.rewards import (
    BERNOULLI,
    BETA,
    BURSTS,
    CAPPED,
    CONTAMINATED,
    COST,
    EXPONENTIAL,
    GAMMA,
    GAUSS,
    GROWING,
    JACKPOT,
    LATTICE_JACKPOT,
    LOGNORMAL,
    NEGATIVE,
    PARETO,
    POISSON,
    REVENUE,
    STUDENT_T,
    TWO_POINT,
    VARIED_JACKPOT,
    WEIBULL,
)  # fmt: skip

LONG = 20_000
# Hard cases that the guard cannot hold at its level: a scale without end, and jackpots rarer than 1 %.
NOT_PROMISED = ("sd that grows", "jackpot 0.5 %", "jackpot 0.5 %, 5 arms", "jackpots 0.5 % beside Gauss")


@dataclass(frozen=True)
class Case:
    """Arms with their families (arm), parameters (3 x arm x run) and true means (arm x run)."""

    name: str
    families: np.ndarray
    params: np.ndarray
    truth: np.ndarray
    rounds: int
    scale: float = 0.0  # of bounded rewards

    def equal(self) -> Case:
        """The A/A version: all arms equal to the first."""
        arms = len(self.families)
        return Case(
            self.name + ", A/A", np.repeat(self.families[:1], arms), np.repeat(self.params[:, :1], arms, axis=1),
            np.repeat(self.truth[:1], arms, axis=0), self.rounds, self.scale,
        )  # fmt: skip


def suite_cases(runs: int) -> list[Case]:
    """The robustness suite."""
    from bootleader.paper.parts.robustness import SUITE

    families = {
        "GaussianBandit": GAUSS, "ExponentialBandit": EXPONENTIAL, "BernoulliBandit": BERNOULLI,
        "RevenueBandit": REVENUE, "StudentTBandit": STUDENT_T,
    }  # fmt: skip
    cases = []
    for name, case in SUITE.items():
        arms = case.bandit.parameters_of(0, np.arange(runs, dtype=np.uint64))
        params = np.array([arms.first, arms.second, arms.third])
        family = families[type(case.bandit).__name__]
        numbers = np.full(len(arms.mean), family)
        cases.append(Case(name, numbers, params, arms.mean, case.rounds, 1.0 if family == BERNOULLI else 0.0))
    return cases


def _same(name, family, first, second, third, mean, rounds, runs, scale=0.0, arms=2) -> Case:
    """Arms that are all alike."""
    return _different(name, [(family, first, second, third)] * arms, mean, rounds, runs, scale)


def _different(name, arms, mean, rounds, runs, scale=0.0) -> Case:
    """Arms of different families with the same mean."""
    families = np.array([arm[0] for arm in arms])
    params = np.repeat(np.array([arm[1:] for arm in arms], float).T[:, :, None], runs, axis=2)
    return Case(name, families, params, np.full((len(arms), runs), float(mean)), rounds, scale)


def other_cases(runs: int) -> list[Case]:
    """Families beyond the suite, arms equal: skewed, heavy-tailed, discrete, bounded."""
    return [
        _same("jackpot 2 %", JACKPOT, 0.0, 50.0, 0.02, 1.0, LONG, runs),
        _same("jackpot 2 %, 5 arms", JACKPOT, 0.0, 50.0, 0.02, 1.0, LONG, runs, arms=5),
        _same("revenue 2 %", REVENUE, 0.0, 1.0, 0.02, 0.02 * math.exp(0.5), LONG, runs),
        _same("Pareto 2.5", PARETO, 0.0, 1.0, 2.5, 1 / 1.5, LONG, runs),
        _same("lognormal 1.5", LOGNORMAL, 0.0, 1.5, 0.0, math.exp(1.125), LONG, runs),
        _same("lognormal 1, 10 arms", LOGNORMAL, 0.0, 1.0, 0.0, math.exp(0.5), LONG, runs, arms=10),
        _same("Poisson .02", POISSON, 0.02, 0.0, 0.0, 0.02, LONG, runs),
        _same("minus Exp", NEGATIVE, 0.0, 1.0, 0.0, -1.0, LONG, runs),
        _same("Bernoulli .05, unbounded", BERNOULLI, 0.05, 0.0, 0.0, 0.05, LONG, runs),
        _same("Bernoulli .005, unbounded", BERNOULLI, 0.005, 0.0, 0.0, 0.005, LONG, runs),
        _same("Beta(2, 8), bounded", BETA, 0.0, 2.0, 8.0, 0.2, 5_000, runs, scale=1.0),
        _same("Beta(.1, .4), bounded", BETA, 0.0, 0.1, 0.4, 0.2, 5_000, runs, scale=1.0),
        _same("revenue 5 % capped at 50, bounded", CAPPED, 1.0, 1.0, 0.05, capped_mean(1.0, 1.0, 0.05), 5_000, runs,
              scale=50.0),
    ]  # fmt: skip


def capped_mean(mu: float, sigma: float, chance: float, cap: float = 50.0) -> float:
    """Mean of a lognormal amount capped, paid with the given chance."""
    from scipy.stats import norm

    z = (math.log(cap) - mu) / sigma
    return float(chance * (math.exp(mu + sigma**2 / 2) * norm.cdf(z - sigma) + cap * norm.sf(z)))


def hard_cases(runs: int) -> list[Case]:
    """Families made to break the method without bounds: rare huge values, hidden tails, unlike arms of one mean."""
    weibull = math.gamma(1.0 + 1.0 / 0.3)
    return [
        # Rare huge values over calm ones.
        _same("jackpot 5 %", JACKPOT, 0.0, 20.0, 0.05, 1.0, LONG, runs),
        _same("jackpot 1 %", JACKPOT, 0.0, 100.0, 0.01, 1.0, LONG, runs),
        _same("jackpot 0.5 %", JACKPOT, 0.0, 200.0, 0.005, 1.0, LONG, runs),
        _same("jackpot 0.5 %, 5 arms", JACKPOT, 0.0, 200.0, 0.005, 1.0, LONG, runs, arms=5),
        _same("jackpot 2 % beside -1 or 1", LATTICE_JACKPOT, 0.0, 50.0, 0.02, 1.0, LONG, runs),
        _same("loss 2 %", JACKPOT, 0.0, -50.0, 0.02, -1.0, LONG, runs),
        _same("loss 1 %, 10 arms", JACKPOT, 0.0, -100.0, 0.01, -1.0, LONG, runs, arms=10),
        _same("5 % with sd 30", CONTAMINATED, 0.0, 30.0, 0.05, 0.0, LONG, runs),
        _same("1 % with sd 100", CONTAMINATED, 0.0, 100.0, 0.01, 0.0, LONG, runs),
        *(_same(f"jackpot {100 * p:g} %, one arm", JACKPOT, 0.0, 1 / p, p, 1.0, LONG, runs, arms=1)
          for p in (0.05, 0.02, 0.01)),
        # Heavy tails.
        _same("lognormal 2", LOGNORMAL, 0.0, 2.0, 0.0, math.exp(2.0), LONG, runs),
        _same("Pareto 2.1", PARETO, 0.0, 1.0, 2.1, 1 / 1.1, LONG, runs),
        _same("Student t, 2.2 df", STUDENT_T, 0.0, 1.0, 2.2, 0.0, LONG, runs),
        _same("Weibull .3", WEIBULL, 0.0, 1.0, 0.3, weibull, LONG, runs),
        _same("gamma .05", GAMMA, 0.0, 20.0, 0.05, 1.0, LONG, runs),
        # Few values.
        *(_same(f"two points, {p:g}", TWO_POINT, -1.0, 1.0, p, 2.0 * p - 1.0, LONG, runs)
          for p in (0.5, 0.3, 0.1, 0.01, 0.001, 0.99)),
        _same("Poisson .5", POISSON, 0.5, 0.0, 0.0, 0.5, LONG, runs),
        _same("revenue 0.5 %, sd of the logarithm .5", REVENUE, 0.0, 0.5, 0.005, 0.005 * math.exp(0.125), LONG, runs),
        # Many arms with few rewards each.
        _same("Exp, 30 arms", EXPONENTIAL, 0.0, 1.0, 0.0, 1.0, LONG, runs, arms=30),
        _same("jackpot 2 %, 30 arms", JACKPOT, 0.0, 50.0, 0.02, 1.0, LONG, runs, arms=30),
        # A scale that changes.
        _same("sd that grows", GROWING, 0.0, 1.0, 100.0, 0.0, LONG, runs),
        _same("sd 1 and 30 by turns of 400", BURSTS, 0.0, 30.0, 400.0, 0.0, LONG, runs),
        # Arms unlike each other.
        _different("Gauss, jackpot, Pareto, Bernoulli, Exp", [
            (GAUSS, 1.0, 5.0, 0.0), (JACKPOT, 0.0, 50.0, 0.02), (PARETO, 1 / 3, 1.0, 2.5), (TWO_POINT, 0.0, 10.0, 0.1),
            (EXPONENTIAL, 0.0, 1.0, 0.0)], 1.0, LONG, runs),
        _different("jackpots 2 % beside Gauss", [(GAUSS, 1.0, 1.0, 0.0), (JACKPOT, 0.0, 50.0, 0.02)], 1.0, LONG, runs),
        _different("jackpots 1 % beside Gauss", [(GAUSS, 1.0, 1.0, 0.0), (JACKPOT, 0.0, 100.0, 0.01)], 1.0, LONG, runs),
        _different("jackpots 0.5 % beside Gauss", [
            (GAUSS, 1.0, 1.0, 0.0), (JACKPOT, 0.0, 200.0, 0.005)], 1.0, LONG, runs),
        _different("jackpots 2 % of 10 beside sd 100", [
            (GAUSS, 0.2, 100.0, 0.0), (JACKPOT, 0.0, 10.0, 0.02), (JACKPOT, 0.0, 10.0, 0.02)], 0.2, LONG, runs),
        _different("losses 1 % of 20 beside sd 100", [
            (GAUSS, -0.2, 100.0, 0.0), (JACKPOT, 0.0, -20.0, 0.01)], -0.2, LONG, runs),
    ]  # fmt: skip


def _unequal(name, family, arms, means, runs) -> Case:
    """Arms of one family with different means."""
    case = _different(name, [(family, *arm) for arm in arms], 0.0, LONG, runs)
    return replace(case, truth=np.repeat(np.array(means, float)[:, None], runs, axis=1))


def everyday_cases(runs: int) -> list[Case]:
    """Rewards as experiments have them: in equal arms, in arms of different families, and in unequal ones."""
    half = math.exp(0.5)  # the mean of a lognormal amount whose logarithm has the sd 1
    return [
        # Equal arms.
        *(_same(f"lognormal {sd:g}", LOGNORMAL, 0.0, sd, 0.0, math.exp(sd * sd / 2), LONG, runs)
          for sd in (1.0, 1.25, 1.75)),
        *(_same(f"Pareto {a:g}", PARETO, 0.0, 1.0, a, 1 / (a - 1), LONG, runs) for a in (2.2, 2.8, 3.0)),
        *(_same(f"Student t, {df:g} df", STUDENT_T, 1.0, 1.0, df, 1.0, LONG, runs) for df in (2.5, 3.0, 4.0)),
        *(_same(f"jackpot {100 * p:g} %, varied", VARIED_JACKPOT, 0.0, 1 / p, p, 1.0, LONG, runs)
          for p in (0.02, 0.01)),
        *(_same(f"revenue {100 * p:g} %, sd of the logarithm {sd:g}", REVENUE, 0.0, sd, p, p * math.exp(sd * sd / 2),
                LONG, runs) for p, sd in ((0.01, 1.0), (0.1, 1.5), (0.3, 0.5))),
        *(_same(f"Bernoulli {p:g}", BERNOULLI, p, 0.0, 0.0, p, LONG, runs) for p in (0.001, 0.01, 0.02)),
        _same("2 % with sd 10", CONTAMINATED, 0.0, 10.0, 0.02, 0.0, LONG, runs),
        _same("cost, lognormal 1", COST, 0.0, 1.0, 1.0, -half, LONG, runs),
        _same("cost 5 %", COST, 0.0, 1.0, 0.05, -0.05 * half, LONG, runs),
        *(_same(f"gamma {a:g}", GAMMA, 0.0, 1 / a, a, 1.0, LONG, runs) for a in (0.1, 0.3)),
        *(_same(f"Poisson {mean:g}", POISSON, mean, 0.0, 0.0, mean, LONG, runs) for mean in (0.005, 0.1)),
        _same("Gauss, 5 with sd 1e-6", GAUSS, 5.0, 1e-6, 0.0, 5.0, LONG, runs),
        _same("always 5", GAUSS, 5.0, 0.0, 0.0, 5.0, 2_000, runs),
        # Arms of different families with one mean.
        *(_different(f"Gauss beside {name}", [(GAUSS, mean, sd, 0.0), other], mean, LONG, runs)
          for name, mean, sd, other in (
            ("Pareto 2.5", 1.0, 1.0, (PARETO, 1 / 3, 1.0, 2.5)),
            ("lognormal 1.5", 1.0, 1.0, (LOGNORMAL, -1.125, 1.5, 0.0)),
            ("revenue 5 %", 1.0, 0.1, (REVENUE, math.log(20.0) - 0.5, 1.0, 0.05)),
            ("Bernoulli .01", 0.01, 0.1, (BERNOULLI, 0.01, 0.0, 0.0)),
            ("2 % with sd 30", 1.0, 1.0, (CONTAMINATED, 1.0, 30.0, 0.02)),
            ("jackpots 2 %, varied", 1.0, 1.0, (VARIED_JACKPOT, 0.0, 50.0, 0.02)),
            ("jackpots 1 %, varied", 1.0, 1.0, (VARIED_JACKPOT, 0.0, 100.0, 0.01)),
            ("jackpots 1 % of 30", 0.3, 1.0, (JACKPOT, 0.0, 30.0, 0.01)),
        )),
        _different("sd .01 beside sd 1", [(GAUSS, 1.0, 0.01, 0.0), (GAUSS, 1.0, 1.0, 0.0)], 1.0, LONG, runs),
        _different("always 1 beside Exp", [(GAUSS, 1.0, 0.0, 0.0), (EXPONENTIAL, 0.0, 1.0, 0.0)], 1.0, LONG, runs),
        _different("lognormal 1 beside minus Exp", [
            (LOGNORMAL, 0.0, 1.0, 0.0), (NEGATIVE, half + 1.0, 1.0, 0.0)], half, LONG, runs),
        # Unequal arms.
        _unequal("lognormal 1, 5 % more", LOGNORMAL, [(0.0, 1.0, 0.0), (math.log(1.05), 1.0, 0.0)],
                 [half, 1.05 * half], runs),
        _unequal("revenue 5 %, 10 % more", REVENUE, [(0.0, 1.0, 0.05), (math.log(1.1), 1.0, 0.05)],
                 [0.05 * half, 0.055 * half], runs),
        _unequal("gamma .3, 10 % more", GAMMA, [(0.0, 1 / 0.3, 0.3), (0.0, 1.1 / 0.3, 0.3)], [1.0, 1.1], runs),
        _unequal("Student t, 3 df, 0.05 apart", STUDENT_T, [(0.0, 1.0, 3.0), (0.05, 1.0, 3.0)], [0.0, 0.05], runs),
        _unequal("Poisson .1 and .11", POISSON, [(0.1, 0.0, 0.0), (0.11, 0.0, 0.0)], [0.1, 0.11], runs),
        _unequal("sd 5 and .5, 0.05 apart", GAUSS, [(0.0, 5.0, 0.0), (0.05, 0.5, 0.0)], [0.0, 0.05], runs),
    ]  # fmt: skip
