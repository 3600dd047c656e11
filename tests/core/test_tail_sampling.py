"""Laws above a threshold: probabilities against SciPy, draws against the truncated law."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats

from bootleader._core import (
    numba_bridge,  # noqa: F401  (registers the scalar functions with numba)
)
from bootleader._core import tail_sampling as tails
from bootleader._core.disk_cache import kernel
from bootleader._core.rng import Stream, run_stride

INF = math.inf
DEGREES = (1.0, 2.0, 2.5, 3.0, 11.0, 63.0, 65.0, 1e4, 1e7, INF)
THRESHOLDS = (-4.0, -0.7, 0.0, 0.4, 0.6, 2.0, 6.0, 40.0)
ALARM = 1e-3


def _survival(z: Any, df: float) -> Any:
    return stats.norm.sf(z) if df == INF else stats.t.sf(z, df)


def _reachable(df: float) -> list[float]:
    return [z for z in THRESHOLDS if _survival(z, df) > 1e-200]


@pytest.mark.parametrize("df", [1.0, 2.0, INF])
def test_rates_without_thinning_are_exact(df: float) -> None:
    for z in _reachable(df):
        exact = -float(stats.norm.logcdf(z) if df == INF else np.log(stats.t.cdf(z, df)))
        if z > 2.0:
            exact = -math.log1p(-float(_survival(z, df)))
        assert tails.marking_rate(0.0, 1.0, df, 1.0, z) == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize("df", [df for df in DEGREES if 2.0 < df < INF])
def test_marks_that_survive_thinning_have_the_student_probability(df: float) -> None:
    envelope = tails.envelope_constant(df)

    def kept(r: float) -> float:
        u = r * r / (2.0 * df - 1.0)
        return float(envelope * stats.norm.pdf(r)) * (math.sqrt(u / math.sinh(u)) if u > 0 else 1.0)

    for z in [z for z in THRESHOLDS if _survival(z, df) > 1e-12]:
        r = tails._in_normal_units(z, df)
        mass = integrate.quad(kept, r, max(r, 0.0) + 40.0, epsabs=0.0, epsrel=1e-11, limit=500, points=[max(r, 0.0)])[0]
        assert mass == pytest.approx(float(_survival(z, df)), rel=1e-9)
        marked = -math.expm1(-tails.marking_rate(0.0, 1.0, df, envelope, z))
        assert marked >= min(mass, 1.0) * (1.0 - 1e-9)
        assert marked == pytest.approx(min(1.0, envelope * float(stats.norm.sf(r))), rel=1e-9)


@kernel
def fill(z, df, stream, out):  # type: ignore[no-untyped-def]
    for i in range(out.shape[0]):
        out[i] = tails.noise_above(z, df, stream)


@pytest.mark.parametrize("df", DEGREES)
def test_draws_above_a_threshold_follow_the_truncated_law(df: float) -> None:
    out = np.empty(20_000)
    state = np.array([int(df) if df < INF else 1], np.uint64)
    stream = Stream(state, 0, np.uint64(run_stride(5, 0)))
    for z in [-INF, *_reachable(df)]:
        fill(z, df, stream, out)
        assert out.min() > z
        share = _survival(out, df) / _survival(z, df)
        assert stats.kstest(share, "uniform").pvalue > ALARM / (len(DEGREES) * (len(THRESHOLDS) + 1))


def test_the_true_rate_is_close_to_the_exact_rate() -> None:
    for df in DEGREES:
        envelope = tails.envelope_constant(df)
        for z in _reachable(df):
            exact = -math.log(stats.norm.cdf(z) if df == INF else stats.t.cdf(z, df))
            rate = tails.marking_rate(0.0, 1.0, df, envelope, z)
            if 1e-9 < exact < 30.0:
                assert 0.5 < tails.true_rate(0.0, 1.0, df, envelope, z, rate) / exact < 2.0


@pytest.mark.parametrize("df", [0.7, 2.5, 3.0, 11.0, 1e4, 1e10])
@pytest.mark.parametrize("z_over_root_df", [-1.0, 0.5, 2.5, 30.0, 1e6])
def test_the_sampler_for_heavy_tails_has_the_truncated_law(df: float, z_over_root_df: float) -> None:
    z = z_over_root_df * math.sqrt(df)
    if z < 0.0 or df <= 11.0:
        stream = Stream([1], 0, run_stride(3, 4))
        draws = np.array([tails._student_above(z, df, stream) for _ in range(4_000)])
        assert draws.min() >= z
        assert stats.kstest(_survival(draws, df) / _survival(z, df), "uniform").pvalue > ALARM / 30
    elif z > 2.0 * math.sqrt(df):  # too far for SciPy: log T - log z is nearly exponential, with the tangent's slope
        stream = Stream([1], 0, run_stride(3, 4))
        draws = np.array([tails._student_above(z, df, stream) for _ in range(4_000)])
        slope = (df + 1.0) / (1.0 + df / z / z) - 1.0
        assert stats.kstest(slope * np.log(draws / z), "expon").pvalue > ALARM / 30


@pytest.mark.parametrize("z", [1e8, 1e50, 1e200])
def test_far_thresholds_are_reached(z: float) -> None:
    """Thinning alone would need 10^4 attempts, 10^25, and for ever."""
    stream = Stream([1], 0, run_stride(3, 5))
    draws = np.array([tails.noise_above(z, 3.0, stream) for _ in range(500)])
    assert stats.kstest(3.0 * np.log(draws / z), "expon").pvalue > ALARM / 3
