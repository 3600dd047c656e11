"""WR-SDA's subsamples: all equally likely, whether they are drawn or only counted."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

import bootleader as bl
from bootleader._core.rng import Stream
from bootleader._core.rules import ArmsView, SharedStatistics
from bootleader.policies import _hypergeometric as hypergeometric
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


def test_every_subset_is_drawn_equally_often() -> None:
    """Chi-square test of 3 and of all but 2 out of 6, from the same order each time; at a joint level of 1e-3."""
    values = 2.0 ** np.arange(6)
    arms = ArmsView(np.array([6.0]), None, None, None, values, np.cumsum(values), np.array([0]))
    memory, stream = [0.0] * wrsda.memory_size(1, 6), stream_from(5)
    for size in (3, 4):
        sums = [sum(subset) for subset in itertools.combinations(values, size)]
        drawn = [wrsda.subsample_sum(arms, memory.copy(), 0, size, stream) for _ in range(6_000)]
        counts = [drawn.count(total) for total in sums]
        assert sum(counts) == len(drawn)
        assert stats.chisquare(counts).pvalue > LEVEL / 2


def test_the_copy_follows_the_leader() -> None:
    """Rewards that came since the last duel are in it, and none of another arm."""
    arms = ArmsView(np.array([2.0, 3.0]), None, None, None, np.arange(10.0), np.arange(10.0), np.array([0, 5]))
    memory = [0.0] * wrsda.memory_size(2, 10)
    for k, count in ((0, 2), (0, 4), (1, 3), (0, 5)):
        arms.count[k] = count
        first = wrsda.copied_rewards(arms, memory, k)
        assert memory[first : first + count] == list(5.0 * k + np.arange(count))


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
