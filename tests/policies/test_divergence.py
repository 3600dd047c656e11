"""Upper confidence bounds by divergence are the roots that they claim to be."""

from __future__ import annotations

import itertools
import math

import pytest
from scipy import optimize

from bootleader.policies._divergence import BERNOULLI, EXPONENTIAL, POISSON, divergence, exponential_ratio, upper_bound

LEVELS = [1e-5, 1e-3, 0.01, 0.03, 0.1, 0.3, 0.5, 1.0, 3.0, 10.0]
MEANS = {
    BERNOULLI: [1e-6, 0.001, 0.02, 0.1, 0.3, 0.5, 0.7, 0.78, 0.9, 0.98, 0.999],
    EXPONENTIAL: [1e-3, 0.5, 1.0, 40.0],
    POISSON: [1e-3, 0.5, 1.0, 40.0],
}


@pytest.mark.parametrize("family", MEANS)
def test_a_bound_is_the_root_of_the_divergence(family):
    for mean, level in itertools.product(MEANS[family], LEVELS):

        def excess(q: float, mean: float = mean, level: float = level) -> float:
            return float(divergence(family, 1.0, mean, q) - level)

        far = 1.0 - 2.0**-53 if family == BERNOULLI else mean * math.exp(level + 2.0) + 10.0 * level
        if excess(far) > 0.0:
            root = optimize.brentq(excess, mean, far, xtol=1e-300)
            assert upper_bound(family, 1.0, mean, level) == pytest.approx(root, rel=2e-9), (mean, level)


def test_the_ratio_of_exponential_means_is_precise():
    """Also where its expansion ends (level 0.0008) and where it is not used (1.125); it falls with the level."""
    levels = [1e-8, 1e-6, 1e-4, 0.00079, 0.00081, 0.003, 0.1, 0.5, 1.12, 1.13, 3.0, 10.0]
    ratios = [exponential_ratio(level) for level in levels]
    assert ratios == sorted(ratios, reverse=True)
    assert [-(1.0 - y) - math.log1p(-(1.0 - y)) for y in ratios] == pytest.approx(levels, rel=1e-10)
    assert 1.0 - 1e-9 < exponential_ratio(1e-30) < 1.0


def test_bounds_at_the_ends_of_the_range():
    assert upper_bound(BERNOULLI, 1.0, 1.0, 0.5) == 1.0
    assert upper_bound(BERNOULLI, 1.0, 0.0, 0.5) == pytest.approx(1.0 - math.exp(-0.5))
    assert upper_bound(BERNOULLI, 1.0, 0.3, 0.0) == 0.3
    assert upper_bound(BERNOULLI, 1.0, 0.3, 1e9) <= 1.0
