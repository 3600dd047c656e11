"""The library against the naive oracle, which shares no code and no randomness with it.

Two comparisons: the law of every index after a given history (Kolmogorov-Smirnov), and the final regret of whole runs
(Mann-Whitney: the regret is too skewed for a t-test to keep its level, because one run in fifty never finds the best
arm). Seeds are
fixed; the level is 1e-3 for each family of comparisons together, by Bonferroni. Every comparison is also made against
policies with a mistake, which must be rejected at the same level.
"""

from __future__ import annotations

from copy import deepcopy
from itertools import cycle, pairwise, product
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy import stats

import bootleader as bl
from bootleader._core.reference_player import player_of
from tests.oracle import naive
from tests.oracle import wrong_policies as wrong
from tests.oracle.cases import BANDIT_CASES, BANDITS_BY_ID, POLICIES_BY_ID, POLICY_CASES

LEVEL = 1e-3

# Every class of policies on the bandit on which policies differ most (fixed means). Every other bandit once, with all
# policies in rotation, those first that are the second or third of their class.
FIRST_OF_CLASS = {type(case.policy): case.id for case in reversed(POLICY_CASES)}.values()
IN_ROTATION = sorted((case.id for case in POLICY_CASES), key=lambda policy: policy in FIRST_OF_CLASS)
OTHERS = [case.id for case in BANDIT_CASES if case.id != "gaussian"]
REGRET_SELECTION = [
    *((policy, "gaussian") for policy in FIRST_OF_CLASS),
    *zip(cycle(IN_ROTATION), OTHERS, strict=False),
]
EVERYTHING = [(policy.id, bandit.id) for policy, bandit in product(POLICY_CASES, BANDIT_CASES)]


class Mistake(NamedTuple):
    policy: Any
    wrong: naive.Index
    initial_pulls: int = 1


MISTAKES = {
    "reboot: RSS/s^2": Mistake(bl.ReBoot(sigma_a=1.5), wrong.reboot_variance(1.5)),
    "reboot: divided by s": Mistake(bl.ReBoot(sigma_a=1.5), wrong.reboot_divisor(1.5)),
    "reboot: one pseudo residual": Mistake(bl.ReBoot(sigma_a=1.5), wrong.reboot_one_pseudo_residual(1.5)),
    "thompson: variance as sd": Mistake(bl.ThompsonSampling(), wrong.thompson_scale(), 0),
    "giro: n = s": Mistake(bl.Giro(), wrong.giro_size()),
    "ucb1: no 2": Mistake(bl.UCB1(), wrong.ucb1_factor()),
}
# Mistakes that hardly change the regret are detected by the law of the index alone.
SUBTLE_MISTAKES = {
    "phe: floor": Mistake(bl.PHE(), wrong.phe_floor()),
    "student: normal": Mistake(bl.StudentThompson(), wrong.student_freedom(), 2),
    "mammen: swapped": Mistake(bl.ReBoot(sigma_a=0.7, weights="mammen"), wrong.mammen_swapped(0.7)),
}


def regret_p_value(policy: Any, twin: Any, bandit_id: str, rounds: int, naive_runs: int = 68, runs: int = 400) -> float:
    """P-value of the comparison. The variance of ranks goes with 1 / runs + 1 / naive_runs."""
    case = BANDITS_BY_ID[bandit_id]
    library = bl.simulate(policy, case.bandit, rounds=rounds, runs=runs, seed=11, checkpoints=1).final_regret[0]
    oracle = naive.final_regrets(twin, case.twin, rounds, naive_runs, seed=12)
    return float(stats.mannwhitneyu(rounded(library), rounded(oracle)).pvalue)


def rounded(values: np.ndarray) -> np.ndarray:
    """Equal numbers computed in two ways may differ in the last bit, which a rank test would count as a difference."""
    return np.round(values, 9)


# Arms with 1 (or 2), 5 and 40 rewards: the initial pulls alone, few, and more than any limit in AdaptiveReBoot's law.
def given_history(initial_pulls: int) -> list[list[float]]:
    rng = np.random.default_rng(7)
    return [[0.9, 0.2][: max(1, initial_pulls)], list(rng.normal(0.6, 0.7, 5)), list(rng.exponential(0.5, 40))]


def index_draws(policy: Any, twin: Any, draws: int) -> tuple[np.ndarray, np.ndarray]:
    """(draw x arm) indices of the library's player and of the naive one, after the same history."""
    twin = deepcopy(twin)
    history = given_history(twin.initial_pulls)
    sd = np.broadcast_to(np.ravel(policy.known_sd(3, None)), 3)
    player = player_of(policy.rule, 3, [float(x) for x in sd], seed=5, run=0)
    player._initial_arms.clear()  # the rewards are given, not chosen
    rng = np.random.default_rng(6)
    known: list[list[float]] = [[], [], []]
    for place in range(40):
        for arm in range(3):
            if place < len(history[arm]):
                player.learn(arm, history[arm][place])
                known[arm].append(history[arm][place])
                if all(len(rewards) >= max(1, twin.initial_pulls) for rewards in known):
                    twin.indices(known, rng)  # it pools on schedule only if it is called after every reward
    library = np.array([player.indices() for _ in range(draws)], float)
    oracle = np.array([twin.indices(history, rng) for _ in range(draws)])
    return library, oracle


def index_p_values(policy: Any, twin: Any, draws: int = 3_000) -> list[float]:
    library, oracle = index_draws(policy, twin, draws)
    assert library.shape == (draws, 3)
    library, oracle = rounded(library), rounded(oracle)
    return [float(stats.ks_2samp(library[:, k], oracle[:, k], method="asymp").pvalue) for k in range(3)]


@pytest.mark.parametrize("case", POLICY_CASES, ids=lambda case: case.id)
def test_the_law_of_the_index(case):
    assert min(index_p_values(case.policy, case.twin)) > LEVEL / (3 * len(POLICY_CASES))


def test_the_pool_is_renewed_when_pulls_have_grown_by_a_twentieth():
    """Checked pull by pull: the schedule hardly changes the law of an index or the regret."""
    player = player_of(bl.AdaptiveReBoot().rule, 3, [1.0] * 3, seed=5, run=0)
    twin, rng = naive.NaiveAdaptiveReBoot(), np.random.default_rng(8)
    history: list[list[float]] = [[], [], []]
    renewals = []
    for pull in range(1, 401):
        arm = (pull - 1) % 3
        reward = float(rng.normal(arm, 1.0 + arm))
        if pull == 6:
            player._initial_arms.clear()  # all initial pulls are made
        player.learn(arm, reward)
        history[arm].append(reward)
        if pull >= 6:
            before = twin.pooled_at
            twin.indices(history, rng)
            assert player.renewed_at == twin.pooled_at
            assert (player.variance, player.kurtosis) == pytest.approx((twin.v, twin.kurt), rel=1e-12)
            renewals += [pull] if twin.pooled_at != before else []
    assert renewals[:5] == [6, 7, 8, 9, 10]
    assert all(20 * (b - a) >= a and 20 * (b - 1 - a) < a for a, b in pairwise(renewals))
    assert 20 < len(renewals) < 80


@pytest.mark.parametrize(("policy", "bandit"), REGRET_SELECTION)
def test_final_regret(policy, bandit):
    case = POLICIES_BY_ID[policy]
    assert regret_p_value(case.policy, case.twin, bandit, rounds=70) > LEVEL / len(REGRET_SELECTION)


@pytest.mark.slow
@pytest.mark.parametrize(("policy", "bandit"), EVERYTHING)
def test_final_regret_of_every_pair(policy, bandit):
    case = POLICIES_BY_ID[policy]
    p = regret_p_value(case.policy, case.twin, bandit, rounds=150, naive_runs=400, runs=1_500)
    assert p > LEVEL / len(EVERYTHING)


@pytest.mark.parametrize("name", MISTAKES | SUBTLE_MISTAKES)
def test_a_mistake_in_the_index_is_rejected(name):
    mistake = (MISTAKES | SUBTLE_MISTAKES)[name]
    twin = naive.ByIndex(mistake.wrong, mistake.initial_pulls)
    assert min(index_p_values(mistake.policy, twin)) < LEVEL / (3 * len(POLICY_CASES))


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_in_the_regret_is_rejected(name):
    mistake = MISTAKES[name]
    twin = naive.ByIndex(mistake.wrong, mistake.initial_pulls)
    assert regret_p_value(mistake.policy, twin, "gaussian", rounds=70) < LEVEL / len(REGRET_SELECTION)
