"""Random weights, resampled sums and the indices made of them against their laws, at a level of 1e-4 each."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from bootleader._core.bootstrap_sums import biased_coins, coins, heads_sum, resampled_sum
from bootleader._core.rng import Stream, run_stride
from bootleader._core.rules import ArmHistory, Contest
from bootleader.policies._two_point_weights import TWO_POINTS, two_point_index
from bootleader.policies.giro import giro_index
from tests.core.goodness_of_fit import DRAWS, LEVEL, assert_counts, draws_of
from tests.helpers import stream_at

NOTHING_TO_BEAT = Contest(-math.inf, True)

# --- coins and weights ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("chance", [0.0, 0.25, 0.5, 1 / 3, TWO_POINTS["mammen"][2], 0.999, 1e-3])
def test_biased_coins(chance):
    stream = stream_at(0, 0)
    words = [biased_coins(chance, stream) for _ in range(4_000)]
    heads = np.array([[(word >> bit) & 1 for bit in range(64)] for word in words])
    if chance == 0.0:
        assert heads.sum() == 0
        return
    assert stats.binomtest(int(heads.sum()), heads.size, chance).pvalue > LEVEL
    # All bits have the same probability, and neighbouring bits are independent.
    by_bit = heads.sum(axis=0)
    assert stats.chisquare(by_bit).pvalue > LEVEL
    both = int((heads[:, :-1] & heads[:, 1:]).sum())
    z = (both - heads[:, 1:].size * chance**2) / math.sqrt(heads[:, 1:].size * chance**2 * (1 + 2 * chance))
    assert 2 * stats.norm.sf(abs(z)) > LEVEL


def test_fair_coins_take_one_word():
    stream = Stream([5], 0, run_stride(0, 0))
    coins(0.5, stream)
    assert stream.states == [(5 + stream.stride) % 2**64]


@pytest.mark.parametrize(("name", "moments"), [("rademacher", (0, 1, 0, 1)), ("mammen", (0, 1, 1, 2))])
def test_two_point_weights_have_the_stated_moments(name, moments):
    low, high, chance = TWO_POINTS[name]
    for power, moment in enumerate(moments, start=1):
        assert (1 - chance) * low**power + chance * high**power == pytest.approx(moment, abs=1e-14)


@pytest.mark.parametrize("count", [1, 3, 63, 64, 65, 128, 300])
@pytest.mark.parametrize("chance", [0.5, 0.7])
def test_heads_sum_adds_the_residuals_whose_coin_is_one(count, chance):
    history = list(np.random.default_rng(count).normal(size=count + 7))
    stream, same = stream_at(0, count), stream_at(0, count)
    words = [coins(chance, same) for _ in range(0, count, 64)]
    wanted = math.fsum(history[7 + j] - 0.5 for j in range(count) if (words[j // 64] >> j % 64) & 1)
    assert heads_sum(chance, history, 7, count, 0.5, stream) == pytest.approx(wanted, abs=1e-12)
    assert stream == same


@pytest.mark.parametrize("name", TWO_POINTS)
@pytest.mark.parametrize("pseudo", [0.0, 2.0])
def test_two_point_index_has_the_exact_law_of_a_small_history(name, pseudo):
    """Three residuals (and two pseudo ones): all 8 (32) outcomes are enumerated."""
    low, high, chance = TWO_POINTS[name]
    rewards, sigma_a = [2.0, 3.5, 7.1], 0.9
    s, anchor, mean = 3, rewards[0], sum(rewards) / 3
    residuals = [y - mean for y in rewards]
    if pseudo:
        residuals += [math.sqrt(s + 2) * sigma_a, -math.sqrt(s + 2) * sigma_a]
    law: dict[float, float] = {}
    for outcome in range(2 ** len(residuals)):
        ones = [(outcome >> j) & 1 for j in range(len(residuals))]
        index = mean + sum((high if one else low) * e for one, e in zip(ones, residuals, strict=True)) / len(residuals)
        weight = math.prod(chance if one else 1 - chance for one in ones)
        law[round(index, 9)] = law.get(round(index, 9), 0.0) + weight
    values = [y - anchor for y in rewards]
    unread = math.nan  # RSS, lowest and highest are not needed where there is nothing to beat
    history = ArmHistory(values, 0, s, anchor, mean - anchor, unread, unread, unread)
    params = (low, high, chance, sigma_a, pseudo)
    draws = np.round(draws_of(two_point_index, params, history, NOTHING_TO_BEAT), 9)
    values, counts = np.unique(draws, return_counts=True)
    assert set(values) == set(law)
    assert stats.chisquare(counts, [law[value] * DRAWS for value in values], sum_check=False).pvalue > LEVEL


# --- resampling -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 2, 3, 5])
@pytest.mark.parametrize("draws", [0, 1, 3, 4, 7, 12])
def test_resampled_sum_is_multinomial(size, draws):
    """Powers of 16 as values: the sum's digits are the counts of each value."""
    history = [99.0, 99.0, *(16.0**j for j in range(size))]
    sums = draws_of(resampled_sum, history, 2, size, float(draws), draws=4_000)
    digits = np.array([[int(total) >> (4 * j) & 15 for j in range(size)] for total in sums])
    assert np.all(digits.sum(axis=1) == draws)
    for j in range(size):
        assert_counts(digits[:, j], stats.binom(draws, 1 / size))
    if size > 1 and draws > 1:
        pairs = digits[:, 0] + digits[:, 1]
        assert_counts(pairs, stats.binom(draws, 2 / size))


def test_resampled_sum_favours_no_position():
    """1,000 values equal to their positions: the mean and the variance of the sums show a preference."""
    history = [float(j) for j in range(1_000)]
    sums = draws_of(resampled_sum, history, 0, 1_000, 1_000.0, draws=400)
    z = (sums.mean() / 1_000 - 499.5) / (math.sqrt((1_000**2 - 1) / 12 / 1_000 / 400))
    assert 2 * stats.norm.sf(abs(z)) > LEVEL
    spread = sums.var(ddof=1) / (1_000 * (1_000**2 - 1) / 12) * 399
    assert LEVEL / 2 < stats.chi2(399).cdf(spread) < 1 - LEVEL / 2


@pytest.mark.parametrize("a", [0.0, 0.3, 1.0, 2.0])
def test_giro_index_has_the_mean_and_variance_of_a_bootstrap(a):
    rewards = np.array([2.0, 3.5, 7.1, -1.0, 0.4, 2.2])
    s, anchor = len(rewards), rewards[0]
    history = ArmHistory(
        list(rewards - anchor), 0, s, anchor, rewards.mean() - anchor, rewards.var() * s, min(rewards) - anchor,
        max(rewards) - anchor,
    )  # fmt: skip
    draws = draws_of(giro_index, (a,), history, NOTHING_TO_BEAT)
    means, variances, chances = [], [], []
    up = a * s - math.floor(a * s)
    for m, chance in ((math.floor(a * s), 1 - up), (math.ceil(a * s), up)):
        padded = np.concatenate([rewards, np.zeros(m), np.ones(m)])
        means.append(padded.mean())
        variances.append(padded.var() / len(padded))
        chances.append(chance)
    mean = np.dot(chances, means)
    variance = np.dot(chances, np.add(variances, np.square(means))) - mean**2
    assert 2 * stats.norm.sf(abs(draws.mean() - mean) / math.sqrt(variance / DRAWS)) > LEVEL
    kurtosis = stats.kurtosis(draws)
    z = (draws.var() / variance - 1) / math.sqrt((kurtosis + 2) / DRAWS)
    assert 2 * stats.norm.sf(abs(z)) > LEVEL
