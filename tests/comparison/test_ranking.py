"""``bl.compare``: the ranking, its frames, its verdict."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import bootleader as bl
from bootleader.comparison._ranking import ORACLE, Ranking, chosen
from bootleader.comparison._reward_table import read_rewards

OBSERVED = {"blue": [1.0, 1.5, 0.5], "red": [2.0, 3.0, 4.0]}


@pytest.fixture(scope="module")
def ranking():
    return bl.compare(OBSERVED, rounds=200, runs=32, seed=3)


def test_the_function_is_not_hidden_by_a_module():
    import bootleader.comparison

    assert callable(bl.compare)
    assert bl.compare is bootleader.comparison.compare


def test_path_frame_and_mapping_give_the_same_ranking(tmp_path, ranking):
    frame = pd.DataFrame([(name, value) for name, values in OBSERVED.items() for value in values])
    frame.columns = ["Arm", "Reward"]
    frame.to_csv(tmp_path / "rewards.csv", index=False)
    for given in (frame, tmp_path / "rewards.csv", str(tmp_path / "rewards.csv")):
        again = bl.compare(given, rounds=200, runs=32, seed=3)
        np.testing.assert_array_equal(again.simulation.final_regret, ranking.simulation.final_regret)
        assert str(again) == str(ranking)


def test_a_ranking_prints_arms_policies_and_verdict(ranking):
    text = repr(ranking)
    for words in ("red", "AdaptiveReBoot", "Best: ", "200 rounds, 32 runs, seed 3", "Left out: "):
        assert words in text


def test_frames_have_snake_case_columns_and_are_sorted(ranking):
    arms, summary = ranking.arms(), ranking.summary()
    assert list(arms.columns) == ["arm", "rewards", "mean", "standard_error"]
    assert list(arms["arm"]) == ["red", "blue"]
    assert list(summary.columns) == [
        "policy",
        "knows",
        "mean_regret",
        "standard_error",
        "median",
        "quantile_95",
        "quantile_99",
    ]
    assert summary["mean_regret"].is_monotonic_increasing
    for row in summary.itertuples():
        final = ranking.simulation.final_regret[ranking.simulation.policies.index(row.policy)]
        assert row.mean_regret == pytest.approx(final.mean())
        assert row.standard_error == pytest.approx(final.std(ddof=1) / 32**0.5)


def test_a_ranking_draws(ranking, tmp_path):
    ranking.plot(tmp_path / "regret.svg")
    assert (tmp_path / "regret.svg").read_bytes().startswith(b"<?xml")


def test_policies_may_be_names_and_objects():
    found = bl.compare(OBSERVED, policies=["UCB1", bl.ReBoot(sigma_a=3.0)], rounds=100, runs=8)
    assert found.simulation.policies == ("UCB1", "ReBoot(sigma_a=3.0)")
    assert not found.left_out
    assert bl.compare(OBSERVED, policies="UCB1", rounds=100, runs=8).simulation.policies == ("UCB1",)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"policies": ["Gyro"]}, "unknown policy 'Gyro'"),
        ({"policies": [bl.UCB1(), bl.UCB1()]}, "policies must differ"),
        ({"rounds": 1}, "rounds must be at least 2, got 1"),
        ({"runs": 1}, "runs must be a whole number of at least 2"),
        ({"seed": -1}, "seed must be"),
        ({"arm": "variant"}, ""),
    ],
)
def test_bad_options_are_refused(options, words):
    frame = pd.DataFrame({"arm": ["a", "b"], "reward": [1.0, 2.0]})
    with pytest.raises(ValueError, match=words or "no column 'variant'"):
        bl.compare(frame, **options)


def test_the_best_is_a_policy_that_can_be_run():
    final = np.array([[1.0, 1.1, 0.9], [5.0, 5.1, 4.9], [9.0, 9.2, 9.1]])
    played = bl.simulate([bl.UCB1(), bl.PHE(), bl.Giro()], bl.GaussianBandit([1, 0]), rounds=10, runs=3)
    simulation = replace(played, policies=(ORACLE, "usual", "worse"), final_regret=final)
    ranking = Ranking(read_rewards(OBSERVED), simulation, {}, {})
    best, oracle = ranking.verdict().splitlines()
    assert ranking.best == "usual"
    assert best.startswith("Best: usual. worse is next, with 4.1 more regret")
    assert "which knows the sd of every arm: 1 regret against 5" in oracle


def test_only_the_oracle_knows_every_sd():
    candidates = chosen(read_rewards(OBSERVED))
    assert [c.label for c in candidates if "oracle" in c.policy.parameters.values()] == [ORACLE]
