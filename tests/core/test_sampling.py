"""Every sampler against its law, by Kolmogorov-Smirnov or chi-square at a level of 1e-4 each; seeds are fixed."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import special, stats

from bootleader._core import (
    numba_bridge,  # noqa: F401  (registers the scalar functions with numba)
    sampling,
)
from bootleader._core.disk_cache import kernel
from bootleader._core.rng import Purpose, Stream, next_word, stream_state
from tests.core.goodness_of_fit import DRAWS, LEVEL, assert_counts, assert_follows, draws_of
from tests.helpers import as_arrays, stream_at


@kernel
def compiled_normals(stream, out):
    for j in range(out.shape[0]):
        out[j] = sampling.standard_normal(stream)


@pytest.fixture(scope="module")
def normals() -> np.ndarray:
    out = np.empty(2_000_000)
    compiled_normals(as_arrays(stream_at(0, 0, Purpose.NOISE)), out)
    return out


# --- normal -----------------------------------------------------------------------------------------------------------


def density(x: Any) -> Any:
    return np.exp(-0.5 * np.square(x))


def corner_areas() -> np.ndarray:
    """Areas of the tail and of the rectangles that each layer's edge and the one below span above it, to the peak."""
    edges = np.append(sampling.EDGES[: sampling.WHOLE], 0.0)
    corners = -np.diff(edges) * np.diff(density(edges))
    tail = math.sqrt(math.pi / 2) * math.erfc(edges[0] / math.sqrt(2))
    return np.concatenate([[tail], corners, np.zeros(sampling.LAYERS - len(corners) - 1)])


def test_layers_have_equal_areas_under_the_density_and_no_more_fit():
    area = math.sqrt(math.pi / 2) / sampling.LAYERS
    edges = sampling.EDGES[: sampling.WHOLE]
    heights = np.diff(density(edges), prepend=0.0)
    np.testing.assert_allclose(edges * heights, area, rtol=1e-9)
    x = np.linspace(0.0, edges[-1], 10_001)
    assert (x * (density(x) - density(edges[-1]))).max() < area
    assert round(sampling.LAYERS / (sampling.LAYERS - sampling.WHOLE), -1) == 680  # as documented


def test_alias_tables_follow_the_weights():
    places = sampling.LAYERS
    chances = (sampling.KEEP + np.bincount(sampling.OTHER, 1.0 - sampling.KEEP, minlength=places)) / places
    weights = corner_areas()
    np.testing.assert_allclose(chances, weights / weights.sum(), rtol=1e-9, atol=1e-15)
    assert sampling.KEEP.min() >= 0.0


def outside_the_layers(x: np.ndarray) -> np.ndarray:
    """The distribution function of a normal's size, given that it lies outside the layers."""
    edges = np.append(sampling.EDGES[: sampling.WHOLE], 0.0)[::-1]  # narrowest first, after zero
    stack_height = np.append(density(edges[1:]), 0.0)  # right of each of them
    stack = np.concatenate([[0.0], np.cumsum(stack_height[:-1] * np.diff(edges))])  # its area left of each
    left = np.searchsorted(edges, x, side="right") - 1
    inside = stack[left] + stack_height[left] * (x - edges[left])
    whole = math.sqrt(math.pi / 2)
    return (whole * special.erf(x / math.sqrt(2)) - inside) / (whole * (1.0 - sampling.WHOLE / sampling.LAYERS))


@kernel
def compiled_outside_layers(stream, out):
    for j in range(out.shape[0]):
        out[j] = sampling.sample_outside_layers(next_word(stream), stream)


def test_samples_outside_the_layers_have_their_law():
    sizes = np.empty(500_000)
    compiled_outside_layers(as_arrays(stream_at(0, 5, Purpose.NOISE)), sizes)
    assert stats.kstest(sizes, outside_the_layers).pvalue > LEVEL
    cells = np.bincount((outside_the_layers(sizes) * 1_000).astype(int).clip(0, 999), minlength=1_000)
    assert stats.chisquare(cells).pvalue > LEVEL


def test_only_rejected_words_draw_from_the_stream():
    stream = stream_at(0, 6)
    for layer in (0, sampling.WHOLE - 1):
        before = list(stream.states)
        assert 0.0 <= sampling.finish_normal(layer | 123 << 50, stream) <= sampling.EDGES[layer]
        assert stream.states == before
    for word in (sampling.WHOLE, sampling.LAYERS - 1):
        assert sampling.finish_normal(word | 123 << 50, stream) > 0.0
        assert sampling.finish_normal(word | 123 << 50 | sampling.SIGN_BIT, stream) < 0.0


def test_normal(normals):
    assert_follows(normals, stats.norm)
    assert_follows(draws_of(sampling.standard_normal), stats.norm)


def test_normal_moments(normals):
    n = len(normals)
    for power, value, variance in [(1, 0.0, 1.0), (2, 1.0, 2.0), (3, 0.0, 15.0), (4, 3.0, 96.0)]:
        error = (np.mean(normals**power) - value) / math.sqrt(variance / n)
        assert 2 * stats.norm.sf(abs(error)) > LEVEL


@pytest.mark.parametrize("beyond", [3.0, sampling.TAIL - 0.05, sampling.TAIL])
def test_normal_tails(normals, beyond):
    for side in (normals, -normals):
        tail = side[side > beyond]
        assert stats.binomtest(len(tail), len(side), stats.norm.sf(beyond)).pvalue > LEVEL
        assert stats.kstest(stats.norm.sf(tail) / stats.norm.sf(beyond), "uniform").pvalue > LEVEL


def test_normal_has_the_right_law_within_every_layer(normals):
    """A chi-square over 1,000 cells of equal probability: a faulty layer would show in its own cells."""
    counts = np.bincount((stats.norm.cdf(normals) * 1_000).astype(int), minlength=1_000)
    assert stats.chisquare(counts).pvalue > LEVEL


# --- exponential, gamma, Student --------------------------------------------------------------------------------------


def test_exponential():
    assert_follows(draws_of(sampling.standard_exponential), stats.expon)


@pytest.mark.parametrize("shape", [0.05, 0.5, 0.99, 1.0, 1.01, 1.5, 6.0, 50.0, 1e4])
def test_gamma(shape):
    assert_follows(draws_of(sampling.standard_gamma, shape), stats.gamma(shape))


@pytest.mark.parametrize(("a", "b"), [(0.3, 0.7), (1.0, 1.0), (2.5, 1.0), (40.0, 60.0), (1e3, 0.5)])
def test_beta(a, b):
    assert_follows(draws_of(sampling.standard_beta, a, b), stats.beta(a, b))


def test_beta_with_gammas_smaller_than_any_float():
    """For such parameters nearly every gamma is 0. The law is nearly that of a coin."""
    a, b = 1e-5, 3e-5
    draws = draws_of(sampling.standard_beta, a, b)
    assert stats.binomtest(int(np.sum(draws > 0.5)), DRAWS, a / (a + b)).pvalue > LEVEL
    middle = np.sum((draws > 1e-12) & (draws < 1 - 1e-12))
    assert (
        stats.binomtest(int(middle), DRAWS, stats.beta(a, b).cdf(1 - 1e-12) - stats.beta(a, b).cdf(1e-12)).pvalue
        > LEVEL
    )


@pytest.mark.parametrize("df", [1.0, 2.0, 3.0, 2.5, 11.0, 200.0])
def test_student(df):
    stream = stream_at(0, 0)
    draws = np.array([sampling.studentise(sampling.standard_normal(stream), df, stream) for _ in range(DRAWS)])
    assert_follows(draws, stats.t(df))


def test_student_with_infinite_degrees_of_freedom_is_the_normal_itself():
    stream = Stream([1], 0, 1)
    assert sampling.studentise(0.25, math.inf, stream) == 0.25
    assert stream.states == [1]


# --- binomials --------------------------------------------------------------------------------------------------------


def test_popcount():
    words = [0, 1, 2**64 - 1, 0xAAAAAAAAAAAAAAAA, *(stream_state(k, 0, 0, 0) for k in range(500))]
    assert [sampling.popcount(word) for word in words] == [word.bit_count() for word in words]


@pytest.mark.parametrize("tosses", [0, 1, 2, 63, 64, 65, 128, 1_279, 1_280, 1_281, 5_000, 10**7])
def test_fair_binomial(tosses):
    draws = draws_of(sampling.fair_binomial, float(tosses), key=tosses % 997)
    assert draws.dtype == np.float64
    assert_counts(draws, stats.binom(tosses, 0.5))


@pytest.mark.parametrize(
    ("tosses", "chance"),
    [
        (1, 0.3), (3, 1 / 3), (5, 1.0), (30, 1 / 3), (29, 1 / 3), (19, 0.5), (20, 0.5), (21, 0.5), (99, 0.1),
        (100, 0.1), (101, 0.1), (300, 1 / 3), (640, 0.5), (641, 0.5), (10_000, 0.0009), (10_000, 0.0011),
        (10_000, 1 / 3),
        (50, 0.9), (150, 0.95), (1_000, 0.999), (10**6, 0.2),
    ],
)  # fmt: skip
def test_binomial(tosses, chance):
    draws = draws_of(sampling.binomial, float(tosses), chance, key=tosses % 991)
    assert draws.min() >= 0
    assert draws.max() <= tosses
    assert_counts(draws, stats.binom(tosses, chance))


def test_the_chi_square_test_rejects_a_binomial_with_a_slightly_wrong_chance():
    draws = draws_of(sampling.binomial, 300.0, 1 / 3 + 0.004)
    with pytest.raises(AssertionError):
        assert_counts(draws, stats.binom(300, 1 / 3))


@pytest.mark.parametrize("mean", [0.0, 1e-9, 0.3, 5.0, 9.99, 10.0, 10.01, 31.7, 1e3, 123_456.7])
def test_poisson(mean):
    draws = draws_of(sampling.poisson, mean, key=int(mean) % 983)
    assert draws.min() >= 0
    assert_counts(draws, stats.poisson(mean))


@kernel
def compiled_poissons(mean, stream, out):
    for j in range(out.shape[0]):
        out[j] = sampling.poisson(mean, stream)


@pytest.mark.parametrize("mean", [0.3, 9.9, 10.0, 33.3, 1e3])
def test_two_million_poisson_variables(mean):
    """As many show a constant of the rejection that is off by some percent."""
    draws = np.empty(2_000_000)
    compiled_poissons(mean, as_arrays(stream_at(0, 7)), draws)
    assert_counts(draws, stats.poisson(mean))


@pytest.mark.parametrize("mean", [1e12, 3e15, 1e17, 1e20])
def test_poisson_with_a_large_mean_is_normal(mean):
    """Its skewness is 1 / sqrt(mean), which 20,000 draws do not show."""
    assert_follows((draws_of(sampling.poisson, mean) - mean) / math.sqrt(mean), stats.norm)


def test_the_chi_square_test_rejects_a_poisson_variable_with_a_slightly_wrong_mean():
    draws = draws_of(sampling.poisson, 100.0 + 0.5)
    with pytest.raises(AssertionError):
        assert_counts(draws, stats.poisson(100.0))


@pytest.mark.parametrize("mean", [10.0, 57.3, 1e5, 1e12])
def test_the_log_of_a_poisson_probability(mean):
    for off in (-3.0, -1.0, 0.0, 0.5, 4.0):
        k = float(math.floor(mean + off * math.sqrt(mean)))
        size = mean * math.log(mean)  # SciPy subtracts terms of this size
        assert sampling._log_poisson(k, mean) == pytest.approx(stats.poisson.logpmf(k, mean), abs=1e-10 + 1e-15 * size)


# --- quick acceptance ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [1.0, 1.5, 2.0, 3.5, 10.0, 100.0, 1e4])
def test_quick_acceptance_of_a_gamma_implies_acceptance(shape):
    """The quick test against the logarithm of the acceptance probability, just inside the quick test's edge."""
    d = shape - 1.0 / 3.0
    for x in np.linspace(-6.0, 6.0, 2_001):
        root = sampling.gamma_root(shape, x)
        u = 0.0157 * x**4 / d * (1.0 + 1e-12)
        if root < 0.5 or u >= 1.0:
            assert not sampling.accepts_gamma_quickly(shape, x, root, min(u, 0.999999))
            continue
        assert x == 0.0 or sampling.accepts_gamma_quickly(shape, x, root, u)
        v = root**3
        assert math.log1p(-u) <= 0.5 * x * x + d * (1.0 - v + math.log(v)) + 1e-9


@pytest.mark.parametrize("tosses", [30.0, 100.0, 1_000.0, 31_337.0])
@pytest.mark.parametrize("chance", [0.5, 1.0 / 3.0, 0.34, 0.4])
def test_binomial_tests_agree_on_the_height(tosses, chance):
    """Near the mode a product of ratios, farther out a parabola with a margin: both against SciPy's probabilities."""
    variance, mode = tosses * chance * (1.0 - chance), float(math.floor((tosses + 1.0) * chance))
    spread = 8.0 * math.sqrt(variance)
    for k in range(max(0, int(mode - spread)), min(int(tosses), int(mode + spread)) + 1):
        log_height = stats.binom.logpmf(k, tosses, chance) - stats.binom.logpmf(mode, tosses, chance)
        for v, accepted in ((math.exp(log_height - 1e-6), True), (math.exp(log_height + 1e-6), False)):
            assert sampling._under_binomial(v, float(k), tosses, chance, variance) == accepted
