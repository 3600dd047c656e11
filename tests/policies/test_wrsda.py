"""WR-SDA's subsamples: all equally likely, whether they are drawn or only counted."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

import bootleader as bl
from bootleader._core import numba_bridge
from bootleader._core.disk_cache import kernel
from bootleader._core.rng import Stream
from bootleader._core.rules import ArmsView, SharedStatistics
from bootleader.policies import _hypergeometric as hypergeometric
from bootleader.policies import _subsamples as subsamples
from bootleader.policies import wrsda
from tests.oracle.test_oracle_statistical import regret_p_value
from tests.oracle.twins.duels import NaiveDuels

LEVEL = 1e-3


def stream_from(state: int) -> Stream:
    return Stream([state], 0, 0x9E3779B97F4A7C15)


@pytest.mark.parametrize(("draws", "high", "total"), [(5, 3, 12), (40, 300, 1_000), (300, 900, 1_000), (1, 1, 2)])
def test_a_number_is_above_the_subsample_with_the_hypergeometric_probability(
    draws: int, high: int, total: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer changes where the uniform number passes that probability; for every number, also impossible ones."""
    subsample, memory = hypergeometric.Subsample(draws, high, total), [0.0] * (total + 1)
    law = stats.hypergeom(total, high, draws)
    for ones in range(draws + 1):
        less, more, tie = float(law.cdf(ones - 1)), float(law.sf(ones)), float(law.pmf(ones)) / 2.0
        is_low = ones * total <= draws * high  # above it, the probability of the contrary is computed
        chance = less + tie if is_low else more + tie
        for u, is_less in ((0.0, chance > 0.0), (chance * (1.0 - 1e-9), chance > 0.0), (chance * (1.0 + 1e-9), False)):
            monkeypatch.setattr(hypergeometric, "uniform", lambda stream, u=u: u)
            assert hypergeometric.is_above(ones, subsample, memory, 0, None) == (is_less if is_low else not is_less)


@pytest.mark.parametrize(("draws", "high", "total"), [(5, 3, 12), (40, 300, 1_000), (300, 900, 1_000), (1, 1, 2)])
def test_the_number_of_larger_rewards_is_hypergeometric(draws: int, high: int, total: int) -> None:
    """Chi-square test at a level of 1e-3; counts that are expected less than 5 times are taken together."""
    subsample, memory, stream = hypergeometric.Subsample(draws, high, total), [0.0] * (total + 1), stream_from(6)
    law = stats.hypergeom(total, high, draws)
    numbers = np.arange(draws + 1)
    counts = np.bincount([hypergeometric.hypergeometric(subsample, memory, 0, stream) for _ in range(5_000)])
    counts, expected = np.pad(counts, (0, len(numbers) - len(counts))), 5_000 * law.pmf(numbers)
    rare = expected < 5.0
    observed = np.append(counts[~rare], counts[rare].sum())
    wanted = np.append(expected[~rare], expected[rare].sum())
    if wanted[-1] == 0.0:
        assert observed[-1] == 0
        observed, wanted = observed[:-1], wanted[:-1]
    assert stats.chisquare(observed, wanted * observed.sum() / wanted.sum()).pvalue > LEVEL


def rewards_in(memory: np.ndarray) -> subsamples.Rewards:
    mean = float(memory.mean())
    return subsamples.Rewards(
        0, len(memory), mean, float(((memory - mean) ** 2).sum()), float(memory.min()), float(memory.max())
    )


def test_every_subset_is_drawn_equally_often() -> None:
    """Chi-square test of 3 and of all but 2 out of 6, from the same order each time; at a joint level of 1e-3."""
    values, stream = 2.0 ** np.arange(6), stream_from(5)
    for size in (3, 4):
        sums = [sum(subset) for subset in itertools.combinations(values, size)]
        drawn = [
            wrsda.subsample_sum(rewards_in(values), size, 0.0, values.sum(), values.copy(), stream)
            for _ in range(6_000)
        ]
        counts = [drawn.count(total) for total in sums]
        assert sum(counts) == len(drawn)
        assert stats.chisquare(counts).pvalue > LEVEL / 2


def law_of_sum(values: np.ndarray, draws: int) -> np.ndarray:
    """The probability of each sum of so many of the values, which are whole numbers: subsets are counted."""
    ways = np.zeros((draws + 1, int(values.sum()) + 1))
    ways[0, 0] = 1.0
    for value in values.astype(int):
        ways[1:, value:] += ways[:-1, : ways.shape[1] - value].copy()
    return ways[draws] / ways[draws].sum()


numba_bridge.register(subsamples.sum_or_side)


@kernel
def count_sides(wanted, draws, rewards, memory, stream, calls):
    below, equal, above = 0, 0, 0
    for _ in range(calls):
        drawn = subsamples.sum_or_side(wanted, draws, rewards, memory, stream)
        below, equal, above = below + (drawn < wanted), equal + (drawn == wanted), above + (drawn > wanted)
    return below, equal, above


@pytest.mark.parametrize("draws", [14, 60, 100])
@pytest.mark.parametrize("deviation", [-3.5, -3.0, -2.5, -1.0, 1.0, 2.5, 3.0, 3.5])
def test_sums_fall_on_each_side_with_the_exact_probability(draws: int, deviation: float) -> None:
    """Exact tests of skew rewards, at a joint level of 1e-3: below, at and above a number in the tails and between."""
    values = np.sort(np.random.default_rng(2).geometric(0.2, size=200)).astype(float)
    rewards, calls = rewards_in(values), 200_000
    sd = np.sqrt(rewards.rss / rewards.n * draws * (1.0 - draws / rewards.n))
    wanted = float(round(draws * rewards.mean + deviation * sd))
    law = law_of_sum(values, draws)
    chances = law[: int(wanted)].sum(), law[int(wanted)], law[int(wanted) + 1 :].sum()
    stream = Stream(np.array([draws], np.uint64), 0, np.uint64(0x9E3779B97F4A7C15))
    counts = count_sides(wanted, draws, rewards, values.copy(), stream, calls)
    for count, chance in zip(counts, chances, strict=True):
        assert stats.binomtest(count, calls, min(chance, 1.0)).pvalue > LEVEL / 72


@pytest.mark.parametrize("draws", [12, 40, 100])
@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_the_weight_of_tilted_draws_is_below_the_bound(draws: int, side: float) -> None:
    """Or they would be accepted too rarely."""
    random, stream, beyond = np.random.default_rng(4), stream_from(7), 0
    for values in (random.normal(size=201), random.exponential(size=201), (random.random(201) < 0.1) * 1.0):
        rewards = rewards_in(values)
        variance, largest = subsamples.bounds(side, draws, rewards)
        for distance in np.sqrt(variance) * np.array([0.5, 1.0, 2.0, 4.0]):
            width = variance + largest * distance / 3.0
            tilt = distance / width
            for _ in range(25):
                total, weight = subsamples.tilted_sum(
                    side, tilt, 0.5 * width / variance, draws, rewards, values, stream
                )
                if side * (total - draws * rewards.mean) >= distance:
                    beyond += 1
                    assert weight <= np.exp(-0.5 * subsamples.TIGHT * tilt * distance)
    assert beyond > 50


def test_what_is_left_after_some_draws() -> None:
    values = np.random.default_rng(5).normal(7.0, size=50)
    rewards = rewards_in(values)
    total, squares = subsamples.draw_some(20, rewards, values, stream_from(8))
    assert total == pytest.approx(values[:20].sum())
    left, expected = subsamples.what_is_left(20, total, squares, rewards), rewards_in(values[20:])
    assert (left.first, left.n) == (20, 30)
    assert (left.mean, left.rss) == pytest.approx((expected.mean, expected.rss))


def test_the_copy_follows_the_leader() -> None:
    """Rewards that came since the last duel are in it, none of another arm, and none that is left out."""
    arms = ArmsView(np.array([2.0, 3.0]), None, None, None, np.arange(10.0), np.arange(10.0), np.array([0, 5]))
    memory = [0.0] * wrsda.memory_size(2, 10)
    for k, count, left_out in (
        (0, 2, np.inf),
        (0, 4, np.inf),
        (1, 3, np.inf),
        (0, 5, np.inf),
        (0, 5, 3.0),
        (0, 4, 3.0),
    ):
        arms.count[k] = count
        first = wrsda.copied_rewards(arms, memory, k, left_out)
        copied = [value for value in 5.0 * k + np.arange(count) if value != left_out]
        assert memory[first : first + len(copied)] == copied


@pytest.mark.parametrize("lowest", [0.0, -1e6])
def test_the_sum_of_equal_rewards_is_known(lowest: float) -> None:
    """Their smallest value may be one that is left out; no draw may wait for one that is never accepted."""
    rewards, memory, stream = subsamples.Rewards(0, 60, 1.0, 0.0, lowest, 1.0), [1.0] * 60, stream_from(9)
    for wanted in (29.0, 28.0, 27.0, 20.0):
        assert all(subsamples.sum_or_side(wanted, 30, rewards, memory, stream) > wanted for _ in range(300))


def test_no_reward_is_left_if_all_are_equal() -> None:
    memory, shared = [0.0] * wrsda.memory_size(1, 10), SharedStatistics(0.0, 0, 1, 10)
    arms = ArmsView(np.zeros(1), np.ones(1), np.zeros(1), None, np.ones(5), np.arange(1.0, 6.0), [0])
    for _ in range(5):
        arms.count[0] += 1.0
        wrsda.learn((), arms, memory, shared, 0, 1.0, None)
    assert wrsda.rewards_of(arms, memory, 0, wrsda.most_common(arms, memory, 0)).n == 0


def test_rewards_without_the_most_common_one() -> None:
    """Their number, mean and sum of squares follow from those of all."""
    values, memory = np.array([0.0, 3.0, 0.0, 5.0, 0.0, 0.0, 4.0]), [0.0] * wrsda.memory_size(1, 10)
    mean = values.mean()
    arms = ArmsView(
        np.zeros(1), np.array([mean]), np.array([((values - mean) ** 2).sum()]), None, values, values.cumsum(), [0]
    )
    for reward in values:
        arms.count[0] += 1.0
        wrsda.learn((), arms, memory, SharedStatistics(0.0, 0, 1, 10), 0, reward, None)
    left_out = wrsda.most_common(arms, memory, 0)
    rewards = wrsda.rewards_of(arms, memory, 0, left_out)
    assert (left_out, rewards.n, rewards.mean, rewards.rss) == pytest.approx((0.0, 3, 4.0, 2.0))
    assert memory[rewards.first : rewards.first + 3] == [3.0, 5.0, 4.0]


@pytest.mark.parametrize(
    ("rewards", "expected"),
    [
        ([0.0], 0.0), ([1.0, 1.0], 2.0), ([0.0, 1.0, 1.0], 2.0), ([1.0, 0.0, 0.0], 1.0), ([1.0, 0.5, 0.0], wrsda.NO),
        ([0.0, 0.5], wrsda.NO), ([0.0, -1.0, 1.0], wrsda.NO), ([2.0, 2.0], wrsda.NO),
    ],
)  # fmt: skip
def test_the_number_of_larger_rewards(rewards: list[float], expected: float) -> None:
    memory, count = [0.0] * wrsda.memory_size(2, 10), np.zeros(2)
    arms = ArmsView(count, None, None, None, None, None, None)
    for reward in rewards:
        count[1] += 1.0
        wrsda.learn((), arms, memory, SharedStatistics(0.0, 0, 2, 10), 1, reward, None)
    assert wrsda.number_at(arms, memory, 1, 0.0, 1.0) == expected


def test_the_regret_on_zeros_and_ones_is_that_of_drawn_subsamples() -> None:
    """Mann-Whitney test against the twin, at a level of 1e-3."""
    assert regret_p_value(bl.WRSDA(), NaiveDuels("without replacement"), "bernoulli", rounds=80) > LEVEL


def test_the_regret_where_most_rewards_are_equal_is_that_of_drawn_subsamples() -> None:
    """Mann-Whitney test against the twin, at a level of 1e-3."""
    assert regret_p_value(bl.WRSDA(), NaiveDuels("without replacement"), "revenue", rounds=80) > LEVEL
