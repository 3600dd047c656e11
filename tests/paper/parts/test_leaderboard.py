"""The leaderboard: who plays what with which knowledge, who loses to whom, and published figures beside ours."""

import math

import numpy as np
import pytest

import bootleader as bl
from bootleader.paper import Size
from bootleader.paper import _leaderboard_scores as scores
from bootleader.paper import _leaderboard_tables as tables
from bootleader.paper import _published_results as published
from bootleader.paper._cell_cache import Results
from bootleader.paper._contenders import bytes_kept, contender_for, contenders, informed
from bootleader.paper._leaderboard_problems import PROBLEMS, PUBLISHED_ONLY
from bootleader.paper.parts import leaderboard
from bootleader.paper.parts.robustness import SUITE
from tests.paper.made_results import made_results

SMALL = Size(runs=16, rounds=400, seed=1)


@pytest.mark.parametrize(
    ("policy", "bandit", "expected"),
    [
        (bl.ReBoot(sigma_a=9.0), bl.GaussianBandit([1.0, 0.0], sd=2.0), bl.ReBoot(sigma_a=3.0)),
        (bl.UCB1(), bl.GaussianBandit([1.0, 0.0], sd=2.0), bl.UCB1(sd=2.0)),
        (bl.ThompsonSampling(), bl.GaussianBandit([1.0, 0.0]), bl.ThompsonSampling(prior_sd=math.inf, noise_sd=1.0)),
        (bl.EnsembleSampling(), bl.GaussianBandit([3.0, 1.0]), bl.EnsembleSampling(prior_mean=2.0, noise_sd=1.0)),
        (bl.KLUCB(), bl.ExponentialBandit([2.0, 1.0]), bl.KLUCB("exponential")),
        (bl.KLUCB(), bl.StudentTBandit([1.0, 0.0], df=5.0), bl.KLUCB("gaussian", sd=1.0)),
        (bl.PHE(), bl.GaussianBandit([1.0, 0.0]), None),
        (bl.BetaThompson(), bl.BernoulliBandit([0.2, 0.3]), bl.BetaThompson()),
        (bl.RBSDA(), bl.ExponentialBandit([6.0, 7.0], shift=5.0), bl.RBSDA()),
    ],
)
def test_policies_are_given_what_they_must_know_and_nothing_else(policy, bandit, expected):
    assert contender_for(policy, bandit, 1_000) == expected


def test_every_policy_that_is_made_for_regret_is_a_contender_and_plays_somewhere():
    names = set(contenders())
    assert {"AdaptiveReBoot", "RBSDA", "KLUCB", "IMED", "BetaThompson", "Giro"} <= names
    assert not names & {"Discounted", "SlidingWindowUCB", "TopTwoThompson", "SuccessiveRejects"}
    assert {name for name, _, _ in scores.entries()} == names
    assert {title for name, title, _ in scores.entries() if name == tables.OURS} == set(PROBLEMS)


def test_the_other_unit_is_played_only_where_it_can_matter():
    cells = scores.rescaled_cells(Size())
    assert not any(contenders()[name].equivariant for name, _ in cells)
    assert {title for name, title in cells if name == "UCB1"} == set(SUITE)
    assert "BetaThompson" not in {name for name, _ in cells}  # rewards beyond [0, 1]


def test_memory_grows_with_the_rounds_only_where_a_history_is_kept():
    grown = {
        name: bytes_kept(policy, 10, 2_000) - bytes_kept(policy, 10, 1_000) for name, policy in contenders().items()
    }
    assert grown["AdaptiveReBoot"] == grown["ReBoot"] == grown["IMED"] == 0
    assert grown["Giro"] == 8_000
    assert grown["RBSDA"] == 16_000


def made(factors):
    """Results in which a policy has the regret 5 log(1 + t) times its factor, by the name of its type."""
    return made_results(
        leaderboard.cells(SMALL), lambda cell, t: factors.get(type(cell.policy).__name__, 3.0) * 5.0 * np.log(1.0 + t)
    )


def test_losses_name_the_best_rival_and_how_much_less_regret_it_has():
    results = made({"AdaptiveReBoot": 2.0, "RBSDA": 1.0, "IMED": 0.5})
    cells = scores.first_cells(SMALL)
    blind, all_policies = (tables.losses(cells, results, any_knowledge) for any_knowledge in (False, True))
    assert {loss.rival for loss in blind} == {"RBSDA"}
    assert {loss.rival for loss in all_policies} == {"IMED"}
    assert all(loss.ratio.value == pytest.approx(2.0, rel=0.02) and loss.is_loss for loss in blind)
    assert all(loss.ratio.value == pytest.approx(4.0, rel=0.02) for loss in all_policies)
    counted = tables.plainly(blind, all_policies).data
    assert list(counted["loses"]) == [len(PROBLEMS)] * 2
    won = tables.losses(cells, made({"AdaptiveReBoot": 1.0, "RBSDA": 2.0, "IMED": 2.0}), True)
    assert not any(loss.is_loss for loss in won)


def test_the_tables_rank_by_regret_within_what_must_be_known():
    results = made({"ThompsonSampling": 1.0, "AdaptiveReBoot": 1.5, "StudentThompson": 1.2, "UCB1": 4.0})
    found = scores.scores(scores.first_cells(SMALL), SMALL, results)
    order = tables.sections(found)
    assert order["nothing"][:2] == ["StudentThompson", "AdaptiveReBoot"]
    assert order["sd"][0] == "ThompsonSampling"
    assert order["sd"][-1] == "UCB1"
    assert scores.typical(found["AdaptiveReBoot"]) == pytest.approx(1.5, rel=0.02)
    summary = tables.summary(found, {}, {}, SMALL).data
    assert set(summary["policy"]) == set(contenders())
    assert "StudentThompson" in tables.choice(found).shown["over all"][0]


def test_regret_in_the_other_unit_is_compared_in_the_oracles():
    regret = np.array([1_000.0, 3_000.0])
    assert scores.score(regret, np.array([1.0, 3.0]), rescaled=True).ratio.value == pytest.approx(1.0)


def test_the_ratio_of_paired_regrets_covers_as_often_as_it_says():
    """95 % intervals of a known ratio, 400 samples of 200 runs: 380 on average, 366 at a level of 1e-4."""
    rng = np.random.default_rng(3)
    covered = 0
    for _ in range(400):
        shared = rng.lognormal(0.0, 0.5, 200)
        found = scores.paired_ratio(2.0 * shared * rng.lognormal(0.0, 0.3, 200), shared * rng.lognormal(0.0, 0.3, 200))
        covered += found.low < 2.0 < found.high
    assert covered >= 362


def test_published_figures_are_of_known_problems_and_policies():
    figures = published.published()
    assert len(figures) > 50
    assert {figure.problem for figure in figures} <= set(PROBLEMS | PUBLISHED_ONLY)
    nine = {
        (figure.problem, type(figure.policy).__name__): figure.figure
        for figure in figures
        if figure.table == "tables 2 and 7"
    }
    assert nine["gauss2", "ThompsonSampling"] == 24.4
    assert nine["gauss4", "ReBoot"] == 277.1
    assert nine["gauss4 steps", "RBSDA"] == 50.4


def test_a_published_figure_agrees_within_four_standard_errors_of_both():
    def verdict(ours, error):
        return published.Beside(published.published()[0], ours, error, their_standard_error=0.3).verdict

    figure = published.published()[0].figure
    assert verdict(figure + 4.0 * 0.5 + 0.04, 0.4) == "agrees"
    assert verdict(figure + 4.0 * 0.5 + 0.06, 0.4) == "differs"
    assert verdict(figure - 2.1, 0.4) == "differs"


def test_figures_at_horizons_that_were_not_played_are_left_out():
    size = Size(runs=16, rounds=1_000)
    results = made_results(published.cells(size), lambda cell, t: 5.0 * np.log(1.0 + t))
    rows = published.beside(size, results)
    assert {row.published.rounds for row in rows} == {1_000}
    assert published.beside(size, Results(results))[0].mean == rows[0].mean


def test_informed_keeps_parameters_that_are_not_about_the_rewards():
    facts = scores.PROBLEMS["gauss2"]
    assert contender_for(bl.EpsilonGreedy(epsilon=0.3), facts.bandit, 10) == bl.EpsilonGreedy(epsilon=0.3)
    assert informed(bl.KLUCB(c=3.0), leaderboard_facts()) == bl.KLUCB("gaussian", sd=2.0, c=3.0)


def leaderboard_facts():
    from bootleader.paper._contenders import Facts

    return Facts(sd=2.0, family="gaussian", reward_range=(-math.inf, math.inf), rounds=100)
