"""The tail of the regret: quantiles, chances, and what counts as lock-out."""

import numpy as np
import pytest
from scipy import stats

import bootleader as bl
from bootleader.paper import Size
from bootleader.paper._cell_cache import Cell
from bootleader.paper.parts import tails


def test_every_policy_meets_every_case_and_can_be_played_on_a_gpu():
    cells = tails.cells(Size())
    assert len(cells) == len(tails.CASES) * len(tails.POLICIES) == 75
    assert all(cell.runs == 10_000_000 and isinstance(cell.policy.rule, bl.IndexRule) for cell in cells)
    assert {cell.rounds for cell in tails.cells(Size(rounds=500))} == {500}


def test_intervals_of_a_quantile_cover_it():
    """Of 400 samples about 95 % cover the true quantile; fewer than 91 % have probability below 1e-3."""
    generator = np.random.default_rng(5)
    true = stats.expon.ppf(0.99)
    found = [tails.quantile(np.sort(generator.exponential(size=2_000)), 0.99) for _ in range(400)]
    assert sum(estimate.low <= true <= estimate.high for estimate in found) >= 0.91 * 400
    assert all(estimate.low <= estimate.value <= estimate.high for estimate in found)


def test_a_quantile_beyond_the_sample_is_its_largest_number():
    assert tails.quantile(np.arange(10.0), 0.9999).high == 9.0


@pytest.mark.parametrize("count", [0, 3, 50, 100])
def test_the_chance_is_clopper_and_pearsons(count):
    exact = stats.binomtest(count, 100).proportion_ci(0.95, method="exact")
    found = tails.chance(count, 100)
    assert (found.low, found.high) == pytest.approx((exact.low, exact.high), abs=1e-12)


def test_lock_out_is_at_most_a_tenth_of_the_pulls_of_the_better_of_two():
    cell = Cell(bl.UCB1(), bl.GaussianBandit((0.5, 0.0)), 1_000, 4)
    regret = 0.5 * np.array([1_000.0, 900.0, 899.0, 3.0])  # pulls of the worse arm
    assert tails.locked_out(regret, cell).value == 0.5
    assert tails.locked_out(regret, Cell(bl.UCB1(), bl.GaussianBandit((0.5, 0.0, 0.1)), 1_000, 4)) is None
    assert tails.locked_out(regret, Cell(bl.UCB1(), bl.GaussianBandit(bl.Uniform(0, 1, arms=2)), 1_000, 4)) is None
