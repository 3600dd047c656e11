"""The leader tree's choices against exact win probabilities, at several thresholds."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from bootleader._core.leader_tree import leader, new_tree, rebuild, set_law, write_law
from bootleader._core.rng import Purpose, Stream, run_stride, stream_state
from tests.oracle.exact import OFF, choice_counts, p_value, win_probabilities

INF = math.inf
ALARM = 1e-3  # chance of a false alarm over all cases together


def _random_laws(seed: int, arms: int, degrees: Any, spread: float) -> list[tuple[float, float, float]]:
    rng = np.random.default_rng(seed)
    return [
        (float(rng.normal()), math.exp(spread * rng.normal()), float(rng.choice(degrees)))
        for _ in range(arms)
    ]  # fmt: skip


LAWS: dict[str, list[tuple[float, float, float]]] = {
    "two normals": [(0.0, 1.0, INF), (0.5, 2.0, INF)],
    "normals": _random_laws(1, 40, [INF], 0.5),
    "few degrees": _random_laws(2, 30, [1, 2, 3, 4, 7, 11], 0.5),
    "all degrees": _random_laws(3, 30, [1, 2, 2.5, 3, 12, 63, 64, 65, 500, 1e5, INF], 0.5),
    "three degrees": _random_laws(4, 25, [3], 0.2),
    "very different scales": _random_laws(5, 25, [INF, 3, 40], 4.0),
    "offset": [(1e9 + 1e-3 * k, 1e-2, INF if k % 2 else 5.0) for k in range(20)],
    "one far ahead": [(30.0, 1.0, 8.0), (30.2, 0.5, INF), *_random_laws(6, 60, [INF], 0.3)],
    "points among normals": [(1.0, 0.0, INF)] * 3 + [(0.5, 0.0, 4.0), *_random_laws(7, 12, [INF, 4], 0.3)],
    "point far ahead": [(9.0, 0.0, INF)] * 2 + _random_laws(8, 12, [INF], 0.3),
    "only points": [(float(k % 4), 0.0, 0.0) for k in range(30)],
    "infinite locations": [(INF, 0.0, INF), (INF, 0.0, INF), (INF, 1.0, INF), *_random_laws(9, 12, [INF], 0.3)],
    "some off": [OFF, (-INF, 1.0, INF), *_random_laws(10, 12, [INF, 2], 0.3), OFF],
    "a hundred arms": _random_laws(11, 100, [INF, INF, 1, 2, 5, 11], 0.3),
}
SHARES = (None, 0.05, 0.5, 0.95)  # the threshold is fixed at this quantile of the largest index; None: not fixed
CASES = [(name, share) for name in LAWS for share in SHARES]


def _threshold_at(laws: list[tuple[float, float, float]], share: float) -> float:
    """Roughly this quantile of the largest index."""
    rng = np.random.default_rng(0)
    location, scale, df = (column[:, None] for column in np.array(laws).T)
    on = np.isfinite(location[:, 0]) & (scale[:, 0] > 0)
    if not on.any():
        return 0.0
    location, scale, df = location[on], scale[on], df[on]
    normal, student = rng.standard_normal((len(df), 999)), rng.standard_t(np.where(np.isinf(df), 1, df), (len(df), 999))
    return float(np.quantile((location + scale * np.where(np.isinf(df), normal, student)).max(axis=0), share))


def _check(name: str, share: float | None, draws: int, seed: int) -> None:
    laws = LAWS[name]
    tau = None if share is None else _threshold_at(laws, share)
    counts = choice_counts(laws, draws, tau=tau, seed=seed)
    assert counts.sum() == draws
    assert p_value(counts, win_probabilities(tuple(laws))) > ALARM / len(CASES)


@pytest.mark.parametrize(("name", "share"), CASES)
def test_choices_have_the_exact_probabilities(name: str, share: float | None) -> None:
    _check(name, share, draws=15_000, seed=7)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "share"), CASES)
def test_choices_have_the_exact_probabilities_at_full_size(name: str, share: float | None) -> None:
    _check(name, share, draws=1_000_000, seed=8)


@pytest.mark.parametrize("df", [5.0, INF])
def test_scales_too_small_to_change_the_location_share_ties(df: float) -> None:
    laws = [(1e9, 1e-9, df), (1e9, 1e-12, df), (1e9, 0.0, INF), (1e9 - 1.0, 1e-9, df)]
    assert p_value(choice_counts(laws, 30_000, tau=-INF, seed=9), np.array([1, 1, 1, 0]) / 3) > ALARM


def test_no_arm_leads_when_all_are_off() -> None:
    tree, stream = new_tree(20), Stream([1], 0, 3)
    assert leader(tree, stream) == -1
    set_law(tree, 13, 0.0, 1.0, INF)
    assert leader(tree, stream) == 13
    set_law(tree, 13, -INF, 1.0, INF)
    assert leader(tree, stream) == -1


def test_python_and_compiled_code_choose_the_same_arms() -> None:
    laws = LAWS["all degrees"]
    tree = new_tree(len(laws))
    for k, law in enumerate(laws):
        write_law(tree, k, *law)
    rebuild(tree)
    stream = Stream([int(stream_state(7, 0, int(Purpose.SPARE), 0))], 0, int(run_stride(7, 0)))
    chosen = [leader(tree, stream) for _ in range(300)]
    assert np.array_equal(np.bincount(chosen, minlength=len(laws)), choice_counts(laws, 300, seed=7))
