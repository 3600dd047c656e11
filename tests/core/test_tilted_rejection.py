"""The shortcut of Giro and two-point weights: sums told from what they have to beat without being drawn, exactly."""

from __future__ import annotations

import math

import numba
import numpy as np
import pytest
from scipy import stats

from bootleader._core import numba_bridge  # noqa: F401  (makes the scalar functions known to numba)
from bootleader._core import tilted_rejection as unseen
from bootleader._core.reference_player import HistoryPlayer
from bootleader._core.rng import run_gamma, stream_state
from bootleader.policies import Giro, ReBoot, giro
from bootleader.policies import _two_point_weights as weights
from bootleader.policies._two_point_weights import TWO_POINTS, heads_beyond
from bootleader.policies.giro import sum_beyond

LEVEL = 1e-4  # of every single statistical test here; seeds are fixed
VALUES = [0.0, 0.0, 0.0, 1.0, 3.0, -2.0]  # whole numbers, so that the law of a sum can be written down
DRAWS = 40


def law_of_sum() -> dict[float, float]:
    """The exact law of the sum of DRAWS values taken with replacement."""
    low, high = int(min(VALUES)), int(max(VALUES))
    one = np.array([VALUES.count(value) / len(VALUES) for value in range(low, high + 1)])
    law = np.ones(1)
    for _ in range(DRAWS):
        law = np.convolve(law, one)
    return {DRAWS * low + place: chance for place, chance in enumerate(law)}


def moments(values):
    drift = sum(values) / len(values)
    return drift, sum((value - drift) ** 2 for value in values), min(values), max(values)


def assert_beyond_or_on_the_near_side(found: np.ndarray, side: float, beyond: dict[float, float]) -> None:
    """Chi-square of the sums found beyond, and of those that are infinite on the near side."""
    assert set(found[np.isinf(found)]) == {-side * math.inf}
    assert set(found[np.isfinite(found)]) <= set(beyond)
    common = {value: chance for value, chance in beyond.items() if chance * len(found) >= 5.0}
    counts = [np.sum(found == value) for value in common]
    counts += [np.isfinite(found).sum() - sum(counts), np.isinf(found).sum()]
    chances = [*common.values(), sum(beyond.values()) - sum(common.values()), 1.0 - sum(beyond.values())]
    expected = np.array(chances) * len(found)
    likely = expected > 0.5
    assert stats.chisquare(np.array(counts)[likely], expected[likely], sum_check=False).pvalue > LEVEL


def sums_against(wanted, repeats, *, is_last=True, key=0):
    drift, rss, lowest, highest = moments(VALUES)
    state, gamma = [stream_state(7, key, 4, 0)], run_gamma(7, key)
    history = [99.0, *VALUES]
    return np.array([
        giro.sum_against(
            wanted, 1.0, history, 1, len(VALUES), drift, rss, lowest, highest, float(DRAWS), is_last, state, 0, gamma
        )
        for _ in range(repeats)
    ])  # fmt: skip


@pytest.mark.parametrize("off", [-22.5, -16.0, -9.5, 9.0, 16.5, 23.0])  # standard deviations of about 9.4
def test_sums_beyond_have_their_exact_law_and_the_others_are_on_their_side(monkeypatch, off):
    """Every outcome is a category: each sum beyond, and being on the near side; wanted may be a sum itself."""
    monkeypatch.setattr(unseen, "UNLIKELY", 1e-9)  # ask the coin always, although it often says yes
    wanted = round(2 * (DRAWS * moments(VALUES)[0] + off)) / 2
    side = math.copysign(1.0, off)
    beyond = {value: chance for value, chance in law_of_sum().items() if side * (value - wanted) >= 0.0}
    found = sums_against(wanted, 6_000, key=round(2 * off) + 100)
    assert_beyond_or_on_the_near_side(found, side, beyond)


def test_what_may_still_be_beaten_is_drawn():
    """Not the last, and probably above: then its index must be known."""
    centre = DRAWS * moments(VALUES)[0]
    far = 60.0
    assert np.isfinite(sums_against(centre - far, 200, is_last=False)).all()
    assert np.isinf(sums_against(centre + far, 200, is_last=False)).all()
    assert np.isinf(sums_against(centre - far, 200, is_last=True)).all()
    assert np.isfinite(sums_against(centre + 5.0, 200)).all()  # too near to ask


def test_rewards_that_are_all_equal_are_no_trouble():
    for best, is_last in ((3.0, True), (0.5, True), (0.9, False)):
        index = giro.giro_index(
            (1.0,), [0.0] * 60, 0, 60, 2.0, 0.0, 0.0, 0.0, 0.0, best, is_last, [3], 0, run_gamma(0, 0)
        )
        assert 0.0 < index < 2.0


def test_rounding_never_decides():
    """Where 'wanted' comes from numbers so large that their rounding could be the difference, the sum is drawn."""
    drift, rss, lowest, highest = moments(VALUES)
    state, gamma = [3], run_gamma(0, 0)
    far = DRAWS * drift + 60.0
    total = giro.sum_against(
        far, 1e15, VALUES, 0, len(VALUES), drift, rss, lowest, highest, float(DRAWS), True, state, 0, gamma
    )
    assert np.isfinite(total)


@numba.njit(error_model="numpy")
def compiled_beyond(off, side, reach, tilt, history, start, count, drift, draws, state, gamma):
    return sum_beyond(off, side, reach, tilt, history, start, count, drift, draws, state, 0, gamma)


@pytest.mark.parametrize("key", range(40))
def test_the_rare_branch_is_the_same_compiled(key):
    rng = np.random.default_rng(key)
    values = rng.normal(size=60)
    drift, rss, lowest, highest = moments(list(values))
    draws, side = 50.0, 1.0 if key % 2 else -1.0
    reach = highest - drift if side > 0 else drift - lowest
    off = 0.8 * math.sqrt(draws * rss / len(values))
    tilt = off / (draws * rss / len(values) + reach * off / 3.0)
    start, gamma = stream_state(1, key, 4, 0), run_gamma(1, key)
    plain, compiled = [start], np.array([start], np.uint64)
    rest = (0, len(values), drift, draws)
    total = giro.sum_beyond(off, side, reach, tilt, list(values), *rest, plain, 0, gamma)
    assert compiled_beyond(off, side, reach, tilt, values, *rest, compiled, np.uint64(gamma)) == total
    assert plain[0] == int(compiled[0])


def giro_means(values, repeats, rng):
    padded = np.concatenate([values, np.zeros(len(values)), np.ones(len(values))])
    return rng.choice(padded, (repeats, len(padded))).mean(axis=1)


def two_point_means(name):
    def means(values, repeats, rng):
        low, high, chance = TWO_POINTS[name]
        s = len(values)
        residuals = np.concatenate([values - values.mean(), np.sqrt(s + 2) * np.array([0.9, -0.9])])
        ones = rng.random((repeats, s + 2)) < chance
        return values.mean() + np.where(ones, high, low) @ residuals / (s + 2)

    return means


@pytest.mark.parametrize(
    ("policy", "plain"),
    [
        (Giro(a=1), giro_means),
        (ReBoot(0.9, weights="rademacher"), two_point_means("rademacher")),
        (ReBoot(0.9, weights="mammen"), two_point_means("mammen")),
    ],
)
def test_choices_are_those_of_a_plain_bootstrap(policy, plain):
    """Three arms that lead about equally often, one of them long: choices against NumPy's own bootstrap."""
    rng = np.random.default_rng(5)
    rewards = [rng.normal(6.0, 1.0, 400), rng.normal(5.8, 1.0, 50), rng.normal(5.7, 1.0, 40)]
    player = HistoryPlayer(policy.rule, 3, seed=2, run=0)
    for k, values in enumerate(rewards):
        for value in values:
            player.learn(k, float(value))
    repeats = 8_000
    ours = np.bincount([player.choose() for _ in range(repeats)], minlength=3)
    drawn = np.stack([plain(values, repeats, rng) for values in rewards], axis=1)
    theirs = np.bincount(drawn.argmax(axis=1), minlength=3)
    assert ours.min() > repeats / 20
    assert stats.chi2_contingency([ours, theirs]).pvalue > LEVEL
    shortcuts = [player.contest() for _ in range(300)]
    assert np.isinf(shortcuts).mean(axis=0)[0] > 0.5  # the long one is mostly not drawn


RESIDUALS = [-3.0, -2.0, -1.0, 0.0, 1.0, 1.0, 4.0] * 5  # whole numbers again, and they sum to zero
CHANCES = [chance for _, _, chance in TWO_POINTS.values()]


def law_of_heads(chance: float) -> dict[float, float]:
    """The exact law of the sum of the residuals whose coin shows 1."""
    low, high = (int(sum(filter(sign, RESIDUALS))) for sign in (lambda e: e < 0, lambda e: e > 0))
    law = np.zeros(high - low + 1)
    law[-low] = 1.0
    for residual in RESIDUALS:
        law = (1.0 - chance) * law + chance * np.roll(law, int(residual))  # never rolls a chance over the edge
    return {low + place: weight for place, weight in enumerate(law)}


def heads_against(wanted, chance, repeats, *, is_last=True, key=0):
    rss = sum(residual**2 for residual in RESIDUALS)
    state, gamma = [stream_state(8, key, 4, 0)], run_gamma(8, key)
    history = [99.0, *(residual + 0.5 for residual in RESIDUALS)]
    return np.array([
        weights.heads_against(wanted, 1.0, chance, history, 1, len(RESIDUALS), 0.5, rss, is_last, state, 0, gamma)
        for _ in range(repeats)
    ])  # fmt: skip


@pytest.mark.parametrize("chance", CHANCES)
@pytest.mark.parametrize("wanted", [-14.5, -9.0, -5.5, 6.0, 10.5, 15.0])  # standard deviations of about 6.3 and 5.7
def test_heads_beyond_have_their_exact_law_and_the_others_are_on_their_side(monkeypatch, wanted, chance):
    monkeypatch.setattr(unseen, "UNLIKELY", 1e-9)
    side = math.copysign(1.0, wanted)
    beyond = {value: weight for value, weight in law_of_heads(chance).items() if side * (value - wanted) >= 0.0}
    found = heads_against(wanted, chance, 20_000, key=round(2 * wanted) + 100)
    assert_beyond_or_on_the_near_side(found, side, beyond)


@pytest.mark.parametrize("chance", CHANCES)
def test_heads_that_may_still_be_beaten_are_drawn(chance):
    assert np.isfinite(heads_against(-60.0, chance, 200, is_last=False)).all()
    assert np.isinf(heads_against(60.0, chance, 200, is_last=False)).all()
    assert np.isinf(heads_against(-60.0, chance, 200, is_last=True)).all()
    assert np.isfinite(heads_against(5.0, chance, 200)).all()  # too near to ask


@pytest.mark.parametrize("name", TWO_POINTS)
@pytest.mark.parametrize("pseudo", [0.0, 2.0])
@pytest.mark.parametrize("best", [9.46, 9.79, 10.22, 10.53])
def test_an_index_is_above_what_it_has_to_beat_as_often_as_it_should(monkeypatch, name, pseudo, best):
    monkeypatch.setattr(unseen, "UNLIKELY", 1e-9)
    low, high, chance = TWO_POINTS[name]
    mean, sigma_a, size = 10.0, 0.3, len(RESIDUALS)
    unit = math.sqrt(size + 2.0) * sigma_a
    aids = {0.0: 1.0}
    if pseudo:
        other = chance * (1.0 - chance)
        aids = {(high - low) * unit: other, (low - high) * unit: other, 0.0: 1.0 - 2.0 * other}
    above = sum(
        one * two
        for heads, one in law_of_heads(chance).items()
        for aid, two in aids.items()
        if mean + ((high - low) * heads + aid) / (size + pseudo) > best
    )
    history = [residual + 0.5 for residual in RESIDUALS]  # of rewards less an anchor
    rss = sum(residual**2 for residual in RESIDUALS)
    known = ((low, high, chance, sigma_a, pseudo), history, 0, size, mean - 0.5, 0.5, rss, -2.5, 4.5, best, True)
    state, gamma = [stream_state(9, round(100 * best), 4, 0)], run_gamma(9, 0)
    found = np.array([weights.two_point_index(*known, state, 0, gamma) for _ in range(20_000)])
    assert np.isinf(found).mean() > 0.5
    assert stats.binomtest(int(np.sum(found > best)), len(found), above).pvalue > LEVEL


def test_equal_rewards_and_rounding_are_no_trouble_to_two_point_weights():
    theta = (*TWO_POINTS["rademacher"], 0.9, 2.0)
    for best, is_last in ((3.0, True), (0.5, True), (0.9, False)):
        index = weights.two_point_index(
            theta, [0.0] * 60, 0, 60, 2.0, 0.0, 0.0, 0.0, 0.0, best, is_last, [3], 0, run_gamma(0, 0)
        )
        assert 1.7 < index < 2.3
    history = [residual + 0.5 for residual in RESIDUALS]
    total = weights.heads_against(60.0, 1e15, 0.5, history, 0, 35, 0.5, 160.0, True, [3], 0, run_gamma(0, 0))
    assert np.isfinite(total)


@numba.njit(error_model="numpy")
def compiled_heads_beyond(off, side, tilt, chance, history, start, count, drift, state, gamma):
    return heads_beyond(off, side, tilt, chance, history, start, count, drift, state, 0, gamma)


@pytest.mark.parametrize("key", range(40))
def test_the_rare_branch_of_two_point_weights_is_the_same_compiled(key):
    values = np.random.default_rng(key).normal(size=60)
    drift, rss, _, _ = moments(list(values))
    off, side = 0.4 * math.sqrt(rss), 1.0 if key % 2 else -1.0
    start, gamma = stream_state(2, key, 4, 0), run_gamma(2, key)
    plain, compiled = [start], np.array([start], np.uint64)
    known = (off, side, 4.0 * off / rss, CHANCES[key // 2 % 2])
    total = heads_beyond(*known, list(values), 0, 60, drift, plain, 0, gamma)
    assert compiled_heads_beyond(*known, values, 0, 60, drift, compiled, np.uint64(gamma)) == total
    assert plain[0] == int(compiled[0])
