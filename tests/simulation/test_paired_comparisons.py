"""Paired comparisons, beside NumPy and SciPy by hand."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats

import bootleader as bl
from bootleader.simulation._paired_comparisons import adjusted, compared


def samples(runs=60, shift=0.4, seed=0):
    rng = np.random.default_rng(seed)
    return rng.gamma(2.0, 3.0, runs), rng.gamma(2.0, 3.0, runs) + shift


@pytest.fixture(scope="module")
def sim() -> bl.Simulation:
    policies = {"a": bl.ReBoot(sigma_a=1.0), "b": bl.ThompsonSampling(), "c": bl.UCB1(), "d": bl.FollowTheLeader()}
    bandit = bl.GaussianBandit([1.0, 0.0, 0.5])
    return bl.simulate(policies, bandit, rounds=200, runs=70, seed=4, checkpoints=10, keep="curves")


@pytest.mark.parametrize("shift", [0.0, 0.4, 3.0])
def test_the_t_test_is_scipys(shift):
    a, b = samples(shift=shift)
    found = compared("a", "b", a, b)
    wanted = stats.ttest_rel(a, b)
    interval = wanted.confidence_interval(0.95)
    assert found.p_value == pytest.approx(wanted.pvalue, rel=1e-9)
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high), rel=1e-9)
    assert found.standard_error == pytest.approx(stats.sem(a - b))


@pytest.mark.parametrize(("runs", "shift"), [(5, 3.0), (40, 0.0), (60, 0.4), (61, 2.0)])
def test_wilcoxon_is_scipys_with_the_pseudo_median(runs, shift):
    a, b = samples(runs, shift)
    found = compared("a", "b", a, b, method="wilcoxon")
    assert found.p_value == pytest.approx(stats.wilcoxon(a - b).pvalue, rel=1e-12)
    d = a - b
    walsh = sorted((d[i] + d[j]) / 2.0 for i in range(runs) for j in range(i, runs))
    reach = stats.norm.ppf(0.975) * math.sqrt(runs * (runs + 1) * (2 * runs + 1) / 24.0)
    below = max(0, math.floor(len(walsh) / 2.0 - reach))
    assert found.difference == pytest.approx(np.median(walsh), rel=1e-12)
    assert (found.low, found.high) == pytest.approx((walsh[below], walsh[-1 - below]), rel=1e-12)


def test_wilcoxon_of_whole_numbers_with_ties():
    rng = np.random.default_rng(3)
    d = rng.integers(-3, 6, 50).astype(float)
    found = compared("a", "b", d, np.zeros(50), method="wilcoxon")
    walsh = [(x + y) / 2.0 for x, y in itertools.combinations_with_replacement(d, 2)]
    assert found.difference == np.median(walsh)
    assert found.low in walsh
    assert found.high in walsh
    assert found.p_value == pytest.approx(stats.wilcoxon(d).pvalue, rel=1e-12)


def test_bootstrap_agrees_with_scipys():
    """Both resample 9,999 times; an end of the interval then has a standard error of about 2 % of its width."""
    a, b = samples(shift=1.0)
    found = compared("a", "b", a, b, method="bootstrap", seed=5)
    wanted = stats.bootstrap((a - b,), np.mean, method="percentile", n_resamples=9_999, random_state=1)
    width = wanted.confidence_interval.high - wanted.confidence_interval.low
    assert found.low == pytest.approx(wanted.confidence_interval.low, abs=0.06 * width)
    assert found.high == pytest.approx(wanted.confidence_interval.high, abs=0.06 * width)
    assert found.difference == pytest.approx(np.mean(a - b))
    resampled = wanted.bootstrap_distribution
    by_hand = 2.0 * min((resampled <= 0.0).mean(), (resampled >= 0.0).mean())
    assert found.p_value == pytest.approx(by_hand, abs=4.0 * math.sqrt(2.0 * by_hand / 9_999) + 4e-4)
    assert found == compared("a", "b", a, b, method="bootstrap", seed=5)


def test_the_bootstrap_interval_contains_0_exactly_if_p_is_above_the_level():
    decided = set()
    for seed in range(40):
        a, b = samples(shift=1.5, seed=seed)
        found = compared("a", "b", a, b, method="bootstrap")
        if abs(found.p_value - 0.05) > 0.002:
            assert (found.low <= 0.0 <= found.high) == (found.p_value > 0.05)
            decided.add(found.p_value > 0.05)
    assert decided == {True, False}


@pytest.mark.parametrize("method", ["t", "bootstrap", "wilcoxon"])
def test_equal_regrets_and_a_constant_difference(method):
    same = compared("a", "b", np.arange(9.0), np.arange(9.0), method=method)
    assert (same.difference, same.low, same.high, same.p_value) == (0.0, 0.0, 0.0, 1.0)
    less = compared("a", "b", np.arange(9.0), np.arange(9.0) + 1.0, method=method)
    assert (less.difference, less.low, less.high) == (-1.0, -1.0, -1.0)
    assert less.p_value < 0.01
    assert "a is better" in str(less)


@pytest.mark.parametrize("method", ["t", "bootstrap", "wilcoxon"])
def test_a_single_run_decides_nothing(method):
    one = compared("a", "b", np.array([1.0]), np.array([2.0]), method=method)
    assert math.isnan(one.p_value)
    assert math.isnan(one.low)
    assert "undecided" in str(one)


def test_the_level_of_the_tests_is_kept():
    """Without a difference 5 % reject: 1,000 t and 1,000 Wilcoxon tests, each by a binomial test of level 1e-4."""
    rng = np.random.default_rng(8)
    for method in ("t", "wilcoxon"):
        p = [compared("a", "b", *rng.exponential(size=(2, 40)), method=method).p_value for _ in range(1_000)]
        assert stats.binomtest(int((np.array(p) < 0.05).sum()), 1_000, 0.05).pvalue > 1e-4


def test_holm_by_hand():
    p = [0.01, 0.04, 0.03, 0.005, 0.5]
    # Sorted: 0.005 x 5, 0.01 x 4, 0.03 x 3, 0.04 x 2 (raised to the one before), 0.5.
    assert adjusted(p, "holm") == pytest.approx([0.04, 0.09, 0.09, 0.025, 0.5])
    assert adjusted(p, "bonferroni") == pytest.approx([0.05, 0.2, 0.15, 0.025, 1.0])
    assert adjusted(p, None) == p
    with pytest.raises(ValueError, match=r"'holm', 'bonferroni'.*'sidak'"):
        adjusted(p, "sidak")


def test_compare_at_a_checkpoint(sim):
    at = int(sim.rounds[3])
    found = sim.compare("a", "c", at=at)
    assert found.at == at
    assert found.p_value == pytest.approx(stats.ttest_rel(sim.curves[0, :, 3], sim.curves[2, :, 3]).pvalue)
    last = sim.compare("a", "c")
    assert last.at == 200
    assert last == sim.compare("a", "c", at=200)
    assert last.p_value == pytest.approx(stats.ttest_rel(sim.final_regret[0], sim.final_regret[2]).pvalue)


def test_compare_at_no_checkpoint(sim):
    with pytest.raises(ValueError, match=r"got 50; the nearest are 40, 60.*checkpoints=\[50\]"):
        sim.compare("a", "b", at=50)
    without = bl.simulate([bl.UCB1(), bl.PHE()], bl.GaussianBandit([1.0, 0.0]), rounds=40, runs=4, checkpoints=4)
    assert without.compare(0, 1, at=40).at == 40
    with pytest.raises(ValueError, match=r'keep="curves"'):
        without.compare(0, 1, at=20)
    with pytest.raises(ValueError, match=r"'t', 'bootstrap', 'wilcoxon'"):
        without.compare(0, 1, method="z")


@pytest.mark.parametrize("correction", ["holm", "bonferroni", None])
def test_compare_all(sim, correction):
    frame = sim.compare_all(correction)
    assert list(zip(frame["a"], frame["b"], strict=True)) == list(itertools.combinations("abcd", 2))
    pairs = [sim.compare(a, b) for a, b in itertools.combinations("abcd", 2)]
    for name in ("difference", "standard_error", "low", "high", "p_value"):
        assert list(frame[name]) == [getattr(pair, name) for pair in pairs]
    assert list(frame["corrected_p_value"]) == adjusted([pair.p_value for pair in pairs], correction)
    for row in frame.itertuples():
        if row.corrected_p_value < 0.05:
            assert row.better == (row.a if row.difference < 0 else row.b)
        else:
            assert row.better == "undecided"
    assert set(frame["better"]) - {"undecided"}


def test_compare_all_needs_two(sim):
    with pytest.raises(ValueError, match=r"at least two policies.*'a'"):
        sim["a"].compare_all()


def test_compare_all_passes_the_test_and_the_round_on(sim):
    at = int(sim.rounds[4])
    frame = sim.compare_all(None, at=at, method="wilcoxon")
    assert frame["p_value"][0] == sim.compare("a", "b", at=at, method="wilcoxon").p_value
