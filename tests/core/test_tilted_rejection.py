"""Giro and two-point weights decide on which side of a number a sum lies, mostly without drawing it, exactly."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from bootleader._core import tilted_rejection
from bootleader._core.disk_cache import kernel
from bootleader._core.numba_bridge import register
from bootleader._core.reference_player import HistoryPlayer
from bootleader._core.rng import Stream, run_stride, stream_state
from bootleader._core.rules import ArmHistory, Contest
from bootleader.policies import Giro, ReBoot
from bootleader.policies._two_point_weights import TWO_POINTS, heads_or_side, tilted_heads, two_point_index
from bootleader.policies.giro import giro_index, sum_or_side, tilted_sum
from tests.helpers import as_arrays, stream_at

register(tilted_sum)
register(tilted_heads)

LEVEL = 1e-4  # of every single statistical test here; seeds are fixed
VALUES = [0.0, 0.0, 0.0, 1.0, 3.0, -2.0]  # whole numbers, so that the law of a sum can be computed exactly
DRAWS = 40


def history_of(values, *, start: int = 0, anchor: float = 0.0) -> ArmHistory:
    """The history of these differences, after ``start`` numbers that must not be read."""
    drift = sum(values) / len(values)
    rss = sum((value - drift) ** 2 for value in values)
    return ArmHistory(
        [99.0] * start + list(values), start, len(values), anchor, drift, rss, min(values), max(values)
    )  # fmt: skip


def law_of_sum() -> dict[float, float]:
    """The exact law of the sum of DRAWS values taken with replacement."""
    low, high = int(min(VALUES)), int(max(VALUES))
    one = np.array([VALUES.count(value) / len(VALUES) for value in range(low, high + 1)])
    law = np.ones(1)
    for _ in range(DRAWS):
        law = np.convolve(law, one)
    return {DRAWS * low + place: chance for place, chance in enumerate(law)}


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


# --- Giro: sums of draws with replacement -----------------------------------------------------------------------------


def sums_or_sides(wanted, repeats, *, is_last=True, key=0):
    history, stream = history_of(VALUES, start=1), stream_at(7, key)
    return np.array([sum_or_side(wanted, 1.0, float(DRAWS), history, is_last, stream) for _ in range(repeats)])


@pytest.mark.parametrize("offset", [-22.5, -16.0, -9.5, 9.0, 16.5, 23.0])  # standard deviations of about 9.4
def test_sums_beyond_have_their_exact_law_and_the_others_the_right_side(monkeypatch, offset):
    """Every outcome is a category: each sum beyond, and the near side; ``wanted`` may be a possible sum."""
    monkeypatch.setattr(tilted_rejection, "UNLIKELY", 1e-9)  # always toss the coin, although it often succeeds
    wanted = round(2 * (DRAWS * history_of(VALUES).drift + offset)) / 2
    side = math.copysign(1.0, offset)
    beyond = {value: chance for value, chance in law_of_sum().items() if side * (value - wanted) >= 0.0}
    found = sums_or_sides(wanted, 6_000, key=round(2 * offset) + 100)
    assert_beyond_or_on_the_near_side(found, side, beyond)


def test_a_sum_that_other_indices_are_compared_with_is_drawn():
    """A sum that is not the last one and is probably above must be known."""
    centre = DRAWS * history_of(VALUES).drift
    far = 60.0
    assert np.isfinite(sums_or_sides(centre - far, 200, is_last=False)).all()
    assert np.isinf(sums_or_sides(centre + far, 200, is_last=False)).all()
    assert np.isinf(sums_or_sides(centre - far, 200, is_last=True)).all()
    assert np.isfinite(sums_or_sides(centre + 5.0, 200)).all()  # too near for the bound to pay


CONTESTS = [Contest(3.0, True), Contest(0.5, True), Contest(0.9, False)]


@pytest.mark.parametrize("contest", CONTESTS)
def test_giro_accepts_rewards_that_are_all_equal(contest):
    stream = Stream([3], 0, run_stride(0, 0))
    assert 0.0 < giro_index((1.0,), history_of([0.0] * 60, anchor=2.0), contest, stream) < 2.0


def test_rounding_does_not_decide_a_sum():
    """Where ``wanted`` comes from numbers whose rounding could be the difference, the sum is drawn."""
    history = history_of(VALUES)
    far = DRAWS * history.drift + 60.0
    assert np.isfinite(sum_or_side(far, 1e15, float(DRAWS), history, True, Stream([3], 0, run_stride(0, 0))))


@kernel
def compiled_tilted_sum(distance, side, largest_term, tilt, draws, history, stream):
    return tilted_sum(distance, side, largest_term, tilt, draws, history, stream)


@pytest.mark.parametrize("key", range(40))
def test_tilted_sums_are_the_same_compiled(key):
    values = np.random.default_rng(key).normal(size=60)
    history = history_of(values)
    draws, side = 50.0, 1.0 if key % 2 else -1.0
    largest_term = history.highest - history.drift if side > 0 else history.drift - history.lowest
    distance = 0.8 * math.sqrt(draws * history.rss / len(values))
    tilt = distance / (draws * history.rss / len(values) + largest_term * distance / 3.0)
    stream = stream_at(1, key)
    array_stream = as_arrays(stream)
    known = (distance, side, largest_term, tilt, draws)
    total = tilted_sum(*known, history, stream)
    assert compiled_tilted_sum(*known, history._replace(values=values), array_stream) == total
    assert stream.states[0] == int(array_stream.states[0])


# --- choices ----------------------------------------------------------------------------------------------------------


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
    """Three arms that lead about equally often, one with a long history: choices against NumPy's own bootstrap."""
    rng = np.random.default_rng(5)
    rewards = [rng.normal(6.0, 1.0, 400), rng.normal(5.8, 1.0, 50), rng.normal(5.7, 1.0, 40)]
    player = HistoryPlayer(policy.rule, 3, seed=2, run=0)
    player._initial_arms.clear()  # the rewards are given, not chosen
    for k, values in enumerate(rewards):
        for value in values:
            player.learn(k, float(value))
    repeats = 8_000
    ours = np.bincount([player.choose() for _ in range(repeats)], minlength=3)
    drawn = np.stack([plain(values, repeats, rng) for values in rewards], axis=1)
    theirs = np.bincount(drawn.argmax(axis=1), minlength=3)
    assert ours.min() > repeats / 20
    assert stats.chi2_contingency([ours, theirs]).pvalue > LEVEL
    indices = [player.contest([0, 1, 2]) for _ in range(300)]
    assert np.isinf(indices).mean(axis=0)[0] > 0.5  # the sum over the long history is mostly not drawn


# --- two-point weights: sums over coins -------------------------------------------------------------------------------

RESIDUALS = [-3.0, -2.0, -1.0, 0.0, 1.0, 1.0, 4.0] * 5  # whole numbers again, and they sum to zero
CHANCES = [chance for _, _, chance in TWO_POINTS.values()]


def residual_history(*, start: int = 0, mean: float = 0.5) -> ArmHistory:
    """Rewards around ``mean`` whose differences from the anchor have a mean of 0.5."""
    return history_of([residual + 0.5 for residual in RESIDUALS], start=start, anchor=mean - 0.5)


def law_of_heads(chance: float) -> dict[float, float]:
    """The exact law of the sum of the residuals whose coin is 1."""
    low, high = (int(sum(filter(sign, RESIDUALS))) for sign in (lambda e: e < 0, lambda e: e > 0))
    law = np.zeros(high - low + 1)
    law[-low] = 1.0
    for residual in RESIDUALS:
        law = (1.0 - chance) * law + chance * np.roll(law, int(residual))  # no probability passes the ends
    return {low + place: weight for place, weight in enumerate(law)}


def heads_or_sides(wanted, chance, repeats, *, is_last=True, key=0):
    history, stream = residual_history(start=1), stream_at(8, key)
    return np.array([heads_or_side(wanted, 1.0, chance, history, is_last, stream) for _ in range(repeats)])


@pytest.mark.parametrize("chance", CHANCES)
@pytest.mark.parametrize("wanted", [-14.5, -9.0, -5.5, 6.0, 10.5, 15.0])  # standard deviations of about 6.3 and 5.7
def test_heads_beyond_have_their_exact_law_and_the_others_the_right_side(monkeypatch, wanted, chance):
    monkeypatch.setattr(tilted_rejection, "UNLIKELY", 1e-9)
    side = math.copysign(1.0, wanted)
    beyond = {value: weight for value, weight in law_of_heads(chance).items() if side * (value - wanted) >= 0.0}
    found = heads_or_sides(wanted, chance, 8_000, key=round(2 * wanted) + 100)
    assert_beyond_or_on_the_near_side(found, side, beyond)


@pytest.mark.parametrize("chance", CHANCES)
def test_heads_that_other_indices_are_compared_with_are_drawn(chance):
    assert np.isfinite(heads_or_sides(-60.0, chance, 200, is_last=False)).all()
    assert np.isinf(heads_or_sides(60.0, chance, 200, is_last=False)).all()
    assert np.isinf(heads_or_sides(-60.0, chance, 200, is_last=True)).all()
    assert np.isfinite(heads_or_sides(5.0, chance, 200)).all()  # too near for the bound to pay


# Half of all combinations in the fast tier: every pair of two of the three parameters.
EXCEEDING = [
    pytest.param(name, pseudo, best, marks=[pytest.mark.slow] if (i + j + k) % 2 else [])
    for i, name in enumerate(TWO_POINTS)
    for j, pseudo in enumerate([0.0, 2.0])
    for k, best in enumerate([9.46, 9.79, 10.22, 10.53])
]


@pytest.mark.parametrize(("name", "pseudo", "best"), EXCEEDING)
def test_an_index_exceeds_the_best_with_the_exact_probability(monkeypatch, name, pseudo, best):
    monkeypatch.setattr(tilted_rejection, "UNLIKELY", 1e-9)
    low, high, chance = TWO_POINTS[name]
    mean, sigma_a, size = 10.0, 0.3, len(RESIDUALS)
    unit = math.sqrt(size + 2.0) * sigma_a
    pseudo_sums = {0.0: 1.0}
    if pseudo:
        other = chance * (1.0 - chance)
        pseudo_sums = {(high - low) * unit: other, (low - high) * unit: other, 0.0: 1.0 - 2.0 * other}
    above = sum(
        one * two
        for heads, one in law_of_heads(chance).items()
        for pseudo_sum, two in pseudo_sums.items()
        if mean + ((high - low) * heads + pseudo_sum) / (size + pseudo) > best
    )
    params, history = (low, high, chance, sigma_a, pseudo), residual_history(mean=mean)
    stream = Stream([stream_state(9, round(100 * best), 4, 0)], 0, run_stride(9, 0))
    found = np.array([two_point_index(params, history, Contest(best, True), stream) for _ in range(8_000)])
    assert np.isinf(found).mean() > 0.5
    assert stats.binomtest(int(np.sum(found > best)), len(found), above).pvalue > LEVEL


@pytest.mark.parametrize("contest", CONTESTS)
def test_two_point_weights_accept_rewards_that_are_all_equal(contest):
    params, stream = (*TWO_POINTS["rademacher"], 0.9, 2.0), Stream([3], 0, run_stride(0, 0))
    assert 1.7 < two_point_index(params, history_of([0.0] * 60, anchor=2.0), contest, stream) < 2.3


def test_rounding_does_not_decide_heads():
    stream = Stream([3], 0, run_stride(0, 0))
    assert np.isfinite(heads_or_side(60.0, 1e15, 0.5, residual_history(), True, stream))


@kernel
def compiled_tilted_heads(distance, side, tilt, chance, history, stream):
    return tilted_heads(distance, side, tilt, chance, history, stream)


@pytest.mark.parametrize("key", range(40))
def test_tilted_heads_are_the_same_compiled(key):
    values = np.random.default_rng(key).normal(size=60)
    history = history_of(values)
    distance, side = 0.4 * math.sqrt(history.rss), 1.0 if key % 2 else -1.0
    stream = stream_at(2, key)
    array_stream = as_arrays(stream)
    known = (distance, side, 4.0 * distance / history.rss, CHANCES[key // 2 % 2])
    total = tilted_heads(*known, history, stream)
    assert compiled_tilted_heads(*known, history._replace(values=values), array_stream) == total
    assert stream.states[0] == int(array_stream.states[0])
