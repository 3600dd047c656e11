"""The pair of gamma variables that stands for a Beta variable has its law."""

from __future__ import annotations

import pytest
from scipy import stats

from bootleader.policies import beta_thompson
from tests.helpers import stream_at

SHAPES = [(1.0, 1.0), (1.0, 4.5), (30.0, 2.0), (2.5, 400.0)]
LEVEL = 1e-3  # of all comparisons together; fixed seed


def shares(a: float, b: float, draws: int = 6_000) -> list[float]:
    stream, scales = stream_at(5, 0), (beta_thompson.scale_of(a), beta_thompson.scale_of(b))
    pairs = [beta_thompson.gamma_pair(a, b, *scales, stream) for _ in range(draws)]
    return [x / (x + y) for x, y in pairs]


@pytest.mark.parametrize(("a", "b"), SHAPES)
def test_a_pair_of_gammas_has_the_law_of_beta(a, b):
    """Kolmogorov-Smirnov test."""
    assert stats.kstest(shares(a, b), stats.beta(a, b).cdf).pvalue > LEVEL / len(SHAPES)


def test_a_wrong_scale_is_rejected(monkeypatch):
    monkeypatch.setattr(beta_thompson, "scale_of", lambda shape: 1.1 / (9.0 * shape - 3.0) ** 0.5)
    assert min(stats.kstest(shares(a, b), stats.beta(a, b).cdf).pvalue for a, b in SHAPES) < LEVEL / len(SHAPES)
