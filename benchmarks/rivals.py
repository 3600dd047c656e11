"""Every policy beside ReBoot: time a round, memory, and how the time of the policies with a history grows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, Final

import bootleader as bl
from benchmarks.measuring import Measured
from bootleader._core.rules import ChoiceRule, HistoryRule
from bootleader.policies import POLICIES
from bootleader.policies.base import Policy

ARMS, ROUNDS, RUNS = 10, 5_000, 16
GAUSSIAN = bl.GaussianBandit(bl.Uniform(0, 1, arms=ARMS))
CLICKS = bl.BernoulliBandit(bl.Uniform(0.2, 0.8, arms=ARMS))
REBOOT = bl.ReBoot(sigma_a=1.5)
ROOT_SEARCH = (bl.KLUCB, bl.BayesUCB)
CLOSED_FORM = (bl.UCBTuned, bl.UCBV, bl.MOSS, bl.CHK, bl.IMED, bl.SlidingWindowUCB, bl.Discounted)
SHARES = bl.BetaBandit(bl.Uniform(0.2, 0.8, arms=ARMS), 3.0)
WITH_HISTORY = (
    (bl.RBSDA(), GAUSSIAN), (bl.LBSDA(), GAUSSIAN), (bl.WRSDA(), GAUSSIAN), (bl.NPTS(), SHARES), (bl.NPTS(), CLICKS),
    (bl.Giro(), CLICKS),
)  # fmt: skip
SHORT, LONG = 2_500, 20_000
PARTS: Final = ("time", "memory", "growth")


def seconds_a_round(policy: Policy, rounds: int = ROUNDS, runs: int = RUNS, bandit: bl.Bandit | None = None) -> float:
    """On rewards that the policy takes."""
    if bandit is None:
        bandit = GAUSSIAN if policy.reward_range == (-math.inf, math.inf) else CLICKS
    simulation = bl.simulate(policy, bandit, rounds=rounds, runs=runs, seed=1)
    return float(simulation.seconds[0]) / runs / rounds


def bar_of(policy: Policy) -> float | None:
    """At most so many times ReBoot's time; None for a policy without a bar.

    Those with a bar compute an index for each arm, in closed form or by a search for a root. The others draw at random,
    resample, keep a history, or are made for another aim than little regret.
    """
    if isinstance(policy, ROOT_SEARCH):
        return 40.0
    return 5.0 if isinstance(policy, CLOSED_FORM) else None


def kilobytes(policy: Policy, rounds: int) -> float:
    """What one run keeps: four moments and three numbers of the law for each arm, the memory, and the history."""
    rule = policy.rule
    numbers = 7 * ARMS
    if isinstance(rule, ChoiceRule):
        numbers += rule.memory(ARMS, rounds)
    if isinstance(rule, HistoryRule) or getattr(rule, "history", False):
        numbers += 4 * rounds * (2 if isinstance(rule, ChoiceRule) else 1)  # segments are kept when they are outgrown
    return numbers * 8 / 1_000


def measure(repeats: int, parts: Sequence[str] = PARTS) -> Iterator[Measured]:
    measures = {"time": times, "memory": memory, "growth": growth}
    for part in parts:
        yield from measures[part](repeats)


def everyone() -> list[Any]:
    """Every policy of the registry but ReBoot."""
    return [policy for policy in POLICIES if policy != REBOOT]


def times(repeats: int) -> Iterator[Measured]:
    """Time a round of every policy."""
    for policy in everyone():
        slow = isinstance(policy.rule, HistoryRule)
        runs, tries = (2 if slow else RUNS), max(3, repeats // 2)
        seconds_a_round(policy, runs=runs)  # compiles
        pairs = [(seconds_a_round(policy, runs=runs), seconds_a_round(REBOOT)) for _ in range(tries)]
        own, reboot = (min(column) for column in zip(*pairs, strict=True))
        section = "A round of a policy, times ReBoot's: 10 arms, 5,000 rounds"
        yield Measured(section, str(policy), own / reboot, "x", bar_of(policy), at_most=True)


def memory(repeats: int) -> Iterator[Measured]:
    """What one run keeps."""
    for policy in (REBOOT, *everyone()):
        yield Measured("Memory of one run, 10 arms, 20,000 rounds", str(policy), kilobytes(policy, 20_000), "kB")


def growth(repeats: int) -> Iterator[Measured]:
    """How the time of the policies with a history grows."""
    section = "How the time a round grows from 2,500 to 20,000 rounds"
    for policy, bandit in WITH_HISTORY:
        pairs = [
            (seconds_a_round(policy, SHORT, 8, bandit), seconds_a_round(policy, LONG, 4, bandit))
            for _ in range(max(3, repeats // 3))
        ]
        short, long = (min(column) for column in zip(*pairs, strict=True))
        what = f"{policy} on {type(bandit).__name__}: exponent"
        yield Measured(section, what, math.log(long / short) / math.log(LONG / SHORT))
