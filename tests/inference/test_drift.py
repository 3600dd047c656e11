"""Answers from the logged probabilities: right where arm means mislead, refused without a floor."""

from __future__ import annotations

import numpy as np
import pytest

import bootleader as bl
from bootleader.inference import _score_kernels as kernels


def naive_scores(arm, reward, probability, arms, start):
    """Row by row, from the definition."""
    scores = np.empty((len(arm), arms))
    for t in range(len(arm)):
        for a in range(arms):
            earlier = reward[:t][arm[:t] == a]
            centre = earlier.mean() if len(earlier) else (reward[:t].mean() if t else start)
            scores[t, a] = centre + (reward[t] - centre) / probability[t] * (arm[t] == a)
    return scores


def test_scores_are_their_definition():
    rng = np.random.default_rng(0)
    arm, reward, probability = rng.integers(0, 3, 60), 1e6 + rng.normal(size=60), rng.uniform(0.2, 1.0, 60)
    scores = naive_scores(arm, reward, probability, 3, 1e6)
    pairs = np.array([[0, 1], [0, 2], [1, 2]])
    mean, rss, fourth = kernels.score_moments(arm, reward, probability, 3, pairs, 1e6)
    columns = np.column_stack([scores, scores[:, [0, 0, 1]] - scores[:, [1, 2, 2]]])
    assert mean == pytest.approx(columns.mean(axis=0), rel=1e-12, abs=1e-8)
    assert rss == pytest.approx(((columns - columns.mean(axis=0)) ** 2).sum(axis=0), rel=1e-7)
    assert fourth == pytest.approx(((columns - columns.mean(axis=0)) ** 4).sum(axis=0), rel=1e-7)


def drifting_log(rounds=20_000, seed=0):
    """Both arms earn the same at any time, but better times come late, when the second arm is played more."""
    rng = np.random.default_rng(seed)
    late = np.arange(rounds) > rounds // 2
    chance = np.where(late, 0.9, 0.1)
    arm = (rng.random(rounds) < chance).astype(int)
    probability = np.where(arm == 1, chance, 1 - chance)
    reward = (rng.random(rounds) < np.where(late, 0.6, 0.3)).astype(float)
    return {"arm": np.array(["old", "new"])[arm], "reward": reward, "probability": probability}


def test_means_mislead_and_scores_do_not():
    log = drifting_log()
    assert bl.verdict(log).sentence.startswith("new beats old")  # wrong: both are the same at all times
    for bounds in ({}, {"low": 0, "high": 1}):
        answer = bl.verdict(log, drift=True, floor=0.1, **bounds)
        assert answer.comparisons[0].outcome == "not yet"
        assert answer.comparisons[0].more is None or answer.comparisons[0].more > 0
        assert answer.arms[0].low < 0.45 < answer.arms[0].high
        assert "drifted" in str(answer)


def test_a_real_difference_is_found():
    log = drifting_log()
    log["reward"] = log["reward"] + 0.2 * (log["arm"] == "new")
    answer = bl.verdict(log, drift=True, floor=0.1)
    assert answer.sentence.startswith("new beats old by 0.1")
    exact = bl.verdict(log, drift=True, floor=0.1, low=0, high=1.2)
    assert exact.comparisons[0].outcome == answer.comparisons[0].outcome


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"drift": True}, "not without a floor"),
        ({"drift": True, "floor": 0.2}, "got 0.2 where the log has 0.09"),
        ({"drift": True, "floor": 0.0}, "floor must be a probability above 0"),
        ({"floor": 0.1}, "floor is for drift=True"),
    ],
)
def test_refusals(options, words):
    with pytest.raises(ValueError, match=words):
        bl.verdict(drifting_log(200), **options)


def test_probabilities_that_do_not_fit_the_choices_are_refused():
    log = drifting_log(2_000)
    with pytest.raises(ValueError, match="probability must be that with which each arm was chosen"):
        bl.verdict({**log, "probability": np.full(2_000, 0.9)}, drift=True, floor=0.1)
    with pytest.raises(ValueError, match="floor must be at most 1 / 2"):
        bl.verdict({**log, "probability": np.ones(2_000)}, drift=True, floor=0.6)


def test_probabilities_are_needed():
    log = drifting_log(200)
    del log["probability"]
    with pytest.raises(ValueError, match="column probability"):
        bl.verdict(log, drift=True, floor=0.1)
