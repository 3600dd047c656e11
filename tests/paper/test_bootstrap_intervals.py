"""Bootstrap intervals: pairing, coverage, and statistics that cannot be computed."""

import numpy as np
import pytest

from bootleader.paper import _bootstrap_intervals as intervals

RUNS = 400


def test_bootstrap_interval_of_a_ratio_is_paired():
    rng = np.random.default_rng(1)
    shared = rng.lognormal(0.0, 1.0, RUNS)
    paired = intervals.ratio(2.0 * shared, shared)
    assert (paired.low, paired.value, paired.high) == pytest.approx((2.0, 2.0, 2.0))
    apart = intervals.ratio(2.0 * rng.permutation(shared), shared)
    assert apart.high - apart.low > 0.2


def test_bootstrap_covers_the_mean_about_as_often_as_it_says():
    # 300 normal samples: coverage of a 95 % interval is Binomial(300, about .95); below 270 has chance < 1e-3.
    rng = np.random.default_rng(11)
    hits = 0
    for _ in range(300):
        found = intervals.mean(rng.normal(size=80))
        hits += found.low <= 0.0 <= found.high
    assert 270 <= hits <= 299


def test_geometric_mean_has_an_interval_over_settings():
    found = intervals.geometric_mean([2.0, 4.0, 8.0])
    assert found.value == pytest.approx(4.0)
    assert found.low < 2.0 < 8.0 < found.high  # three settings say little
    assert found.low * found.high == pytest.approx(16.0)


@pytest.mark.parametrize(("top", "bottom"), [(0.0, 0.0), (1.0, 0.0), (np.nan, 1.0)])
def test_a_ratio_that_cannot_be_computed_is_not_computed(top, bottom):
    found = intervals.ratio(np.full(RUNS, top), np.full(RUNS, bottom))
    assert not found.is_computed


def test_a_few_resamples_that_cannot_be_computed_move_the_ends_outwards():
    """A NaN counts as low for the lower end and as high for the upper end; it is never replaced by a number."""
    sample = np.random.default_rng(2).normal(size=RUNS)
    plain = intervals.mean(sample)

    def sometimes_missing(value):
        return np.where(np.arange(np.size(value)) % 100 == 99, np.nan, value) if np.ndim(value) else value

    found = intervals.bootstrap(sometimes_missing, sample)
    assert found.value == plain.value
    assert plain.low - 0.05 < found.low < plain.low
    assert plain.high < found.high < plain.high + 0.05


def test_ends_are_the_nearest_order_statistics():
    sample = np.random.default_rng(4).normal(size=RUNS)
    (means,) = intervals.resampled_means(sample)
    low, high = np.quantile(means, [0.025, 0.975], method="nearest")
    assert (intervals.mean(sample).low, intervals.mean(sample).high) == (low, high)


@pytest.mark.parametrize("ratios", [[], [2.0], [2.0, 0.0], [2.0, np.nan], [2.0, np.inf]])
def test_a_geometric_mean_that_cannot_be_computed(ratios):
    assert not intervals.geometric_mean(ratios).is_computed
