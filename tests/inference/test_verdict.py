"""Verdicts from logs and from moments: outcomes, corrections, sentences, estimates."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

import bootleader as bl
from bootleader.inference import _student_mixture as student
from bootleader.inference import holdout_verdict, verdict_of_moments
from bootleader.inference._intervals import mixture_variance
from bootleader.inference._moments import Moments, moments_by_arm


def gaussian_log(means, rounds, seed=0, sd=1.0):
    rng = np.random.default_rng(seed)
    arm = np.arange(rounds) % len(means)
    return pd.DataFrame({"arm": np.array([f"arm {k}" for k in range(len(means))])[arm],
                         "reward": rng.normal(np.asarray(means)[arm], sd)})  # fmt: skip


def test_a_clear_winner():
    answer = bl.verdict(gaussian_log([0.0, 1.0], 1_000), unit="visit")
    (comparison,) = answer.comparisons
    assert comparison.outcome == "worse"
    assert answer.candidates == ("arm 1",)
    assert answer.is_decided
    assert answer.more == 0
    assert answer.sentence.startswith("arm 1 beats arm 0 by 0.")
    assert answer.sentence.endswith("a visit (95 %, valid at any time you look)")
    costs = bl.verdict(gaussian_log([0.0, 1.0], 1_000), maximize=False)
    assert costs.candidates == ("arm 0",)
    assert costs.sentence.startswith("arm 0 beats arm 1 by 0.")


def test_the_interval_is_the_formula_at_the_corrected_level():
    log = gaussian_log([0.0, 0.1, 0.2, 0.3], 4_000)
    answer = bl.verdict(log)
    by_arm = log.groupby("arm")["reward"]
    n, mean, rss = by_arm.count(), by_arm.mean(), by_arm.var() * (by_arm.count() - 1)
    level = 0.05 / 6
    for c in answer.comparisons:
        reach = student.student_pair_reach(
            float(n[c.arm]), rss[c.arm], float(n[c.other]), rss[c.other], -math.log(level), mixture_variance(level)
        )
        assert c.low == pytest.approx(mean[c.arm] - mean[c.other] - reach, rel=1e-9)
    for a in answer.arms:
        level = 0.05 / 4
        reach = student.student_reach(float(n[a.arm]), rss[a.arm], -math.log(level), mixture_variance(level))
        assert a.high == pytest.approx(mean[a.arm] + reach, rel=1e-9)
    control = bl.verdict(log, control="arm 0")
    assert len(control.comparisons) == 3
    for c in control.comparisons:
        wider = next(w for w in answer.comparisons if {w.arm, w.other} == {c.arm, c.other})
        assert c.high - c.low < wider.high - wider.low


def test_equal_arms_are_not_told_apart_and_are_the_same_within_a_margin():
    log = gaussian_log([0.0, 0.0], 4_000)
    answer = bl.verdict(log)
    assert answer.comparisons[0].outcome == "not yet"
    within = answer.comparisons[0].within
    assert bl.verdict(log, margin=1.01 * within).comparisons[0].outcome == "same"
    assert bl.verdict(log, margin=0.99 * within).comparisons[0].outcome == "not yet"
    assert "are the same to within" in bl.verdict(log, margin=1.01 * within).sentence


def test_not_yet_comes_with_an_estimate_that_holds_if_all_stays_as_it_is():
    """The estimate is checked: the moments that it expects give an answer, those of a tenth less do not."""
    names, moments = ["a", "b"], Moments.of([400, 400], [0.0, 0.12], [400, 400], [1200, 1200])
    (comparison,) = verdict_of_moments(names, moments).comparisons
    assert comparison.outcome == "not yet"
    more = comparison.more
    assert verdict_of_moments(names, moments.grown(1 + np.full(2, more / 800))).comparisons[0].outcome == "worse"
    assert (
        verdict_of_moments(names, moments.grown(1 + np.full(2, 0.9 * more / 800))).comparisons[0].outcome == "not yet"
    )
    clicks = Moments.of([900, 900], [0.03, 0.05], [900 * 0.03 * 0.97, 900 * 0.05 * 0.95], [1, 1])
    (comparison,) = verdict_of_moments(names, clicks, low=0, high=1).comparisons
    grown = clicks.grown(1 + np.full(2, comparison.more / 1800))
    assert verdict_of_moments(names, grown, low=0, high=1).comparisons[0].outcome == "worse"
    grown = clicks.grown(1 + np.full(2, 0.9 * comparison.more / 1800))
    assert verdict_of_moments(names, grown, low=0, high=1).comparisons[0].outcome == "not yet"


def test_the_estimate_follows_the_traffic_to_come():
    moments = Moments.of([400, 400], [0.0, 0.12], [400, 400], [1200, 1200])
    even = verdict_of_moments(["a", "b"], moments, shares=[0.5, 0.5]).comparisons[0].more
    starved = verdict_of_moments(["a", "b"], moments, shares=[0.01, 0.99]).comparisons[0].more
    assert starved > 5 * even


def test_against_a_control_the_sentence_groups_the_arms():
    log = gaussian_log([0.0, 1.0, -1.0, 0.05, 0.9], 5_000)
    answer = bl.verdict(log, control="arm 0", unit="order")
    assert answer.sentence.startswith(
        "arm 1 and arm 4 beat arm 0; arm 0 beats arm 2 (95 %, valid at any time you look); "
        "not yet known: whether arm 3 differs from arm 0 (about "
    )
    assert answer.comparisons[0].sentence.split(" (")[0].endswith(" an order")


def test_what_stopping_may_cost_is_the_end_of_an_interval():
    log = gaussian_log([0.0, 0.1], 3_000)
    answer = bl.verdict(log)
    (comparison,) = answer.comparisons
    assert answer.leader == "arm 1"
    assert answer.risk_of_stopping == pytest.approx(comparison.high)
    assert answer.cost_of_going_on == pytest.approx(answer.more * 0.5 * -comparison.difference)
    assert bl.verdict(log.assign(reward=-log["reward"]), maximize=False).risk_of_stopping == answer.risk_of_stopping
    assert bl.verdict(gaussian_log([0.0, 1.0], 3_000)).risk_of_stopping == 0.0
    assert bl.verdict(log.head(20)).risk_of_stopping == math.inf


def test_rare_rewards_without_bounds_wait_and_with_bounds_do_not():
    clicks = np.zeros(4_000)
    clicks[:60:2], clicks[1:300:2] = 1.0, 1.0
    log = {"arm": ["blue", "green"] * 2_000, "reward": clicks}
    waiting = bl.verdict(log, unit="visit")
    assert not waiting.arms[0].is_ready
    assert waiting.sentence.startswith("not yet: about 2,")
    assert "too little is known so far of how the rewards of blue vary" in waiting.sentence
    assert bl.verdict(log, low=0, high=1).comparisons[0].outcome == "worse"


def test_a_difference_waits_for_400_rewards_of_each_arm():
    """However large it is: a jackpot that has not come yet leaves no trace."""
    log = gaussian_log([0.0, 3.0], 800)
    early = bl.verdict(log.head(799))
    assert early.comparisons[0].outcome == "not yet"
    assert early.more == 2  # one of each arm, at the shares so far
    assert "too little is known so far of how the rewards of arm 1 vary" in early.sentence
    assert bl.verdict(log).comparisons[0].outcome == "worse"


def test_the_best_of_many():
    log = gaussian_log([0.0, 0.2, 1.0, 0.1], 8_000)
    answer = bl.verdict(log)
    assert answer.candidates == ("arm 2",)
    assert answer.sentence.startswith("arm 2 is the best arm")
    early = bl.verdict(log.head(800))
    assert "arm 2" in early.candidates
    assert early.sentence.startswith("not yet") or len(early.candidates) == 1
    assert len(answer.comparisons_frame()) == 6
    assert answer.arms_frame().loc["arm 2", "rewards"] == 2_000
    assert "arm 2 is the best arm" in str(answer).replace("Arm 2", "arm 2")


def test_an_arm_without_rewards_is_undecided():
    answer = bl.verdict(gaussian_log([0.0, 1.0], 500), arms=["arm 0", "arm 1", "new"])
    new = [c for c in answer.comparisons if "new" in (c.arm, c.other)]
    assert {c.outcome for c in new} == {"not yet"}
    assert {c.more for c in new} == {None}
    assert "new" in answer.candidates
    bounded = bl.verdict({"arm": ["a", "b"] * 50, "reward": [0, 1] * 50}, low=0, high=1, arms=["a", "b", "new"])
    assert (bounded.arms[2].low, bounded.arms[2].high) == (0.0, 1.0)
    assert str(bounded)


def test_the_holdout_is_set_apart_and_answers_what_the_bandit_brought():
    rng = np.random.default_rng(0)
    holdout = rng.random(4_000) < 0.3
    arm = np.where(holdout, "old", "new")
    log = pd.DataFrame({"arm": arm, "reward": rng.normal(arm == "new"), "holdout": holdout})
    log.loc[5, "arm"] = "old"
    log.loc[5, "holdout"] = False
    assert bl.verdict(log).arms_frame().loc["old", "rewards"] == 1
    brought = holdout_verdict(log, unit="visit")
    assert brought.sentence.startswith("the bandit beats the control (holdout) by 0.917 to 1.180")


def test_probabilities_may_be_missing_where_they_are_not_needed():
    log = gaussian_log([0.0, 1.0], 600)
    assert bl.verdict(log.assign(probability=math.nan)).sentence == bl.verdict(log).sentence


def test_the_same_log_in_another_form():
    log = gaussian_log([0.0, 1.0], 600)
    columns = {"arm": list(log["arm"]), "reward": list(log["reward"])}
    assert bl.verdict(columns).sentence == bl.verdict(log).sentence
    codes = log["arm"].str[-1].astype(int)
    moments = moments_by_arm(codes.to_numpy(), log["reward"].to_numpy(), 2)
    assert verdict_of_moments(["arm 0", "arm 1"], moments).sentence == bl.verdict(log).sentence


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: bl.verdict({"arm": ["a"], "reward": [1.0]}), "at least two arms"),
        (lambda: bl.verdict({"arm": ["a", "b"]}), "columns arm and reward"),
        (lambda: bl.verdict({"arm": ["a", None], "reward": [1, 2]}), "got none in row 1"),
        (lambda: bl.verdict({"arm": ["a", "b"], "reward": [1, math.inf]}), "got inf in row 1"),
        (lambda: bl.verdict({"arm": ["a", "b"], "reward": ["x", "y"]}), "reward must hold numbers"),
        (
            lambda: bl.verdict({"arm": ["a", "b"], "reward": [1, 2], "probability": [0, 1]}, drift=True, floor=0.1),
            "above 0 and at most 1, got 0",
        ),
        (lambda: bl.verdict({"arm": ["a", "b"], "reward": [1, 2]}, low=0, high=1), "got 2.0"),
        (
            lambda: bl.verdict({"arm": ["a", "b"], "reward": [1, 2]}, control="c"),
            "arm must be one of 'a', 'b', got 'c'",
        ),
        (lambda: bl.verdict({"arm": ["a", "b"], "reward": [1, 2]}, margin=0), "margin must be"),
        (lambda: bl.verdict({"arm": ["a", "b"], "reward": [1, 2]}, arms=["a"]), "got 'b'"),
        (lambda: bl.verdict({"arm": [], "reward": []}), "no rewards"),
        (lambda: bl.verdict({"arm": range(300), "reward": range(300)}), "give a control"),
        (lambda: holdout_verdict({"arm": ["a", "b"], "reward": [1, 2]}), "column holdout"),
        (lambda: bl.verdict({"arm": ["a", "b"], "reward": [1, 2], "holdout": [True, True]}), "in the holdout"),
        (lambda: bl.verdict({"arm": ["1", 1], "reward": [1, 2]}), "different names, got '1' 2 times"),
        (lambda: bl.verdict({"arm": ["a", "b"], "reward": pd.to_timedelta([1, 2])}), "must hold numbers, got times"),
        (lambda: bl.verdict({"arm": ["a", "b"], "reward": [1j, 2]}), "must hold numbers, got complex"),
        (lambda: bl.verdict(gaussian_log([0, 1], 4).iloc[:, [0, 0, 1]]), "column arm once, got it 2 times"),
        (lambda: bl.verdict({"arm": ["a", "b"], "reward": [1, 2]}, unit=""), "unit must be a word"),
        (lambda: verdict_of_moments(["a", "b"], ([1], [1], [1], [1])), "count must have one entry for each arm"),
        (lambda: verdict_of_moments(["a", "b"], ([1, 2], [1, 2], [-1, 1], [1, 1])), "rss must be .* got -1.0"),
    ],
)
def test_bad_input(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_what_is_no_log():
    with pytest.raises(TypeError, match="DataFrame or a mapping"):
        bl.verdict([1, 2, 3])
