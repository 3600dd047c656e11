"""Off-policy evaluation: the Open Bandit Pipeline's figures, refusals, exact intervals."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

import bootleader as bl
from bootleader.inference._log_reader import log_of
from bootleader.inference._target_policy import replayed
from tests.inference import naive


def obp_arrays(rounds=500, arms=4, seed=0):
    rng = np.random.default_rng(seed)
    behaviour = rng.dirichlet(np.ones(arms), rounds)
    action = np.array([rng.choice(arms, p=row) for row in behaviour])
    target = rng.dirichlet(np.ones(arms), rounds)[:, :, None]
    model = rng.normal(size=(rounds, arms, 1))
    return {"action": action, "reward": rng.normal(action), "pscore": behaviour[np.arange(rounds), action],
            "action_dist": target, "n_actions": arms}, model  # fmt: skip


def test_agreement_with_the_open_bandit_pipeline():
    given, model = obp_arrays()
    arrays = [given[key] for key in ("action", "reward", "pscore", "action_dist")]
    found = bl.evaluate(given, reward_model=model)
    assert found["IPS"].value == pytest.approx(naive.obp_ipw(*arrays), rel=1e-12, abs=1e-12)
    assert found["SNIPS"].value == pytest.approx(naive.obp_snipw(*arrays), rel=1e-12, abs=1e-12)
    assert found["DR"].value == pytest.approx(naive.obp_dr(*arrays, model), rel=1e-12, abs=1e-12)


def test_figures_worked_out_by_hand():
    """Weights 2, 0, 1, 4 of arm 1; rewards 1, 5, 3, 2: IPS 13/4, SNIPS 13/7; DR with the model 2 everywhere 7/4."""
    log = {"action": [1, 0, 1, 1], "reward": [1.0, 5.0, 3.0, 2.0], "pscore": [0.5, 0.5, 1.0, 0.25]}
    found = bl.evaluate(log, 1, reward_model=np.full((4, 2), 2.0))
    assert found["IPS"].value == 13 / 4
    assert found["SNIPS"].value == pytest.approx(13 / 7, rel=1e-15)
    assert found["DR"].value == 2.0 + (2 * (1 - 2) + 1 * (3 - 2) + 4 * 0) / 4
    assert found.largest_weight == 4.0
    assert found.mean_weight == 7 / 4
    assert found.effective_sample_size == 49 / 21


def uniform_log(rounds=6_000, seed=0):
    rng = np.random.default_rng(seed)
    arm = rng.integers(0, 3, rounds)
    return pd.DataFrame({"arm": np.array(["red", "green", "blue"])[arm], "reward": rng.normal(arm),
                         "probability": 1 / 3})  # fmt: skip


def test_an_arm_and_shares():
    log = uniform_log()
    blue = bl.evaluate(log, "blue")
    for name in ("DR", "SNIPS", "IPS"):
        assert blue[name].low < 2.0 < blue[name].high
        assert blue[name].high - blue[name].low < 0.5
    assert blue["DR"].high - blue["DR"].low < blue["IPS"].high - blue["IPS"].low
    assert blue["gain"].low > 0.8
    shares = bl.evaluate(log, {"red": 0.5, "blue": 0.5})
    assert shares["DR"].low < 1.0 < shares["DR"].high
    assert shares.sentence.startswith("shares of 50 % red, 50 % blue would have earned 1.0")
    assert "effective sample size" in str(blue)
    assert list(blue.frame().index) == ["DR", "SNIPS", "IPS", "gain"]


def test_an_offset_moves_snips_and_dr_by_itself_and_changes_no_width():
    log = uniform_log()
    plain, moved = bl.evaluate(log, "blue"), bl.evaluate(log.assign(reward=log["reward"] + 1000.0), "blue")
    for name in ("SNIPS", "DR"):
        assert moved[name].value - 1000 == pytest.approx(plain[name].value, abs=0.5 if name == "DR" else 1e-9)
    assert moved["SNIPS"].high - 1000 == pytest.approx(plain["SNIPS"].high, abs=1e-6)


def test_bounds_make_ips_exact():
    log = uniform_log()
    clicks = log.assign(reward=(log["reward"] > 1).astype(float))
    exact = bl.evaluate(clicks, "blue", low=0, high=1)["IPS"]
    truth = 0.5 * math.erfc(-1 / math.sqrt(2))
    assert exact.method == "betting (exact)"
    assert exact.low < truth < exact.high
    assert exact.high - exact.low < 0.25


def test_a_replayed_policy_learns_from_the_log():
    log = uniform_log(3_000)
    table = replayed(log_of(log), bl.AdaptiveReBoot(), 100, 0)
    names = log_of(log).names
    assert table.sum(axis=1) == pytest.approx(np.ones(3_000))
    assert table[-1, names.index("blue")] > 0.95
    assert table[0] == pytest.approx(np.full(3, 1 / 3), abs=0.1)
    answer = bl.evaluate(log, bl.AdaptiveReBoot(), batch=100)
    assert answer["DR"].low < 1.97 < answer["DR"].high
    assert answer.policy == "AdaptiveReBoot()"


def test_the_holdout_is_left_out():
    """Its rows always got the control: with them the mean weight of any other arm is not 1."""
    log = uniform_log()
    held = log.assign(arm="red", probability=1.0, holdout=True).head(len(log) // 4)
    both = pd.concat([log.assign(holdout=False), held]).sample(frac=1.0, random_state=0)
    kept = both[~both["holdout"]].drop(columns="holdout")
    table = np.full((len(both), 3), 1 / 3)
    for policy, alone in [
        ("blue", "blue"),
        (bl.ReBoot(sigma_a=1.0), bl.ReBoot(sigma_a=1.0)),
        (table, table[: len(kept)]),
    ]:
        found, expected = bl.evaluate(both, policy), bl.evaluate(kept, alone)
        assert found.estimates == expected.estimates
        assert found.holdout_rounds == len(held)
    assert "of the holdout are left out" in str(found)
    with pytest.raises(ValueError, match="all rows of the log are in the holdout"):
        bl.evaluate(held, "blue")


def test_refusals():
    log = uniform_log()
    missing = bl.evaluate(log, {"blue": 0.9, "violet": 0.1}, arms=["red", "green", "blue", "violet"])
    assert missing.missing_support == {"violet": pytest.approx(0.1)}
    assert "violet (10 % of its choices)" in missing.sentence
    assert missing.sentence.startswith("the log cannot tell")
    few = bl.evaluate(log.head(60), "blue")
    assert "too few of its choices" in few.refusal
    assert few["DR"].low == -math.inf
    wrong = bl.evaluate(log.assign(probability=0.5), "blue")
    assert "logged probabilities are not those of the choices" in wrong.refusal


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda log: bl.evaluate(log), TypeError, "policy must be"),
        (lambda log: bl.evaluate(log.drop(columns="probability"), "blue"), ValueError, "column probability"),
        (lambda log: bl.evaluate(log, "violet"), ValueError, "got 'violet'"),
        (lambda log: bl.evaluate(log, {"blue": 0.7}), ValueError, "sum to 1"),
        (lambda log: bl.evaluate(log, np.ones((3, 3))), ValueError, "shape"),
        (lambda log: bl.evaluate(log, "blue", low=0, high=1), ValueError, "between low=0 and high=1"),
        (lambda log: bl.evaluate(log, bl.AdaptiveReBoot(), batch=0), ValueError, "batch must be"),
        (lambda log: bl.evaluate(log, bl.RBSDA()), TypeError, "IndexRule or a HistoryRule, got RBSDA"),
    ],
)
def test_bad_input(call, error, words):
    with pytest.raises(error, match=words):
        call(uniform_log(100))
