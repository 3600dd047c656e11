"""The compiled formulas against slow twins that share no code with them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bootleader.inference import _betting as betting
from bootleader.inference import _student_mixture as student
from bootleader.inference._intervals import mixture_variance, student_reach
from bootleader.inference._pair_wealth import with_aside, without_aside
from tests.inference import naive

C2 = mixture_variance(0.05)
LEVEL = math.log(20)


def moments(x):
    x = np.asarray(x, float)
    return float(len(x)), float(x.mean()), float(((x - x.mean()) ** 2).sum())


@pytest.mark.parametrize("n", [2, 5, 40])
@pytest.mark.parametrize("shift", [0.0, 0.3, -1.0])
def test_the_student_mixture_is_the_integral_that_defines_it(n, shift):
    x = np.random.default_rng(n).normal(0.2, 1.0, n)
    expected = math.log(naive.student_e(x, shift, C2))
    assert student.student_log_e(*moments(x), shift, C2) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("n", [60.0, 100.0, 1e4, 1e7])
@pytest.mark.parametrize("level", [0.5, 3.0, 9.0])
def test_the_student_reach_is_where_the_level_is_reached(n, level):
    reach = student.student_reach(n, 3.0 * n, level, C2)
    assert student.student_log_e(n, 7.0, 3.0 * n, 7.0 + reach, C2) == pytest.approx(level, abs=1e-9)


@pytest.mark.parametrize("alpha", [0.5, 0.05, 1e-4])
def test_the_reach_without_a_compiler_is_the_compiled_one(alpha):
    count = np.array([0.0, 1.0, 2.0, 5.0, 60.0, 1e3, 1e9])
    rss = np.array([0.0, 0.0, 1.0, 3.0, 0.0, 7.0, 1e12])
    found = student_reach(count, rss, alpha)
    for n, squares, reach in zip(count, rss, found, strict=True):
        expected = student.student_reach(n, squares, -math.log(alpha), mixture_variance(alpha))
        assert reach == pytest.approx(expected if n > 1 and squares > 0 else math.inf, rel=1e-12)


def test_with_few_rewards_the_student_interval_is_the_whole_line():
    assert student.student_reach(2.0, 1.0, LEVEL, C2) == math.inf
    assert student.student_pair_reach(2.0, 1.0, 1000.0, 1000.0, LEVEL, C2) == math.inf


@pytest.mark.parametrize(("n_a", "sd_a", "n_b", "sd_b"), [(500, 1, 500, 1), (60, 1, 5_000, 1), (200, 10, 3_000, 0.1)])
def test_the_student_difference_is_the_projection_of_the_product(n_a, sd_a, n_b, sd_b):
    def log_e(n, sd):
        return lambda m: naive.with_aside(student.student_log_e(float(n), 0.0, n * sd**2, m, C2))

    box_a, box_b = (0.0, 12 * sd_a / math.sqrt(n_a)), (-12 * sd_b / math.sqrt(n_b), 0.0)
    expected = naive.largest_difference(log_e(n_a, sd_a), log_e(n_b, sd_b), LEVEL, box_a, box_b, 0.0)
    found = student.student_pair_reach(float(n_a), n_a * sd_a**2, float(n_b), n_b * sd_b**2, LEVEL, C2)
    assert found == pytest.approx(expected, rel=1e-6)


def test_an_arm_with_very_many_rewards_does_not_pay_for_the_other():
    alone = student.student_reach(500.0, 500.0, LEVEL, C2)
    for many in (1e5, 1e7, 1e9):
        assert student.student_pair_reach(500.0, 500.0, many, many, LEVEL, C2) < 1.35 * alone


def test_what_is_kept_aside():
    for level in (-1.0, 0.0, 3.0, 50.0):
        assert with_aside(without_aside(level)) == pytest.approx(level, abs=1e-12)
        assert with_aside(level) == pytest.approx(naive.with_aside(level), abs=1e-12)
    assert without_aside(-1.4) == -math.inf


def test_a_difference_takes_fewer_rewards_than_intervals_that_must_not_overlap():
    """Each of the two intervals at half the level, so that both are promised as much as the difference."""
    c2 = mixture_variance(0.025)
    apart = 2 * student.student_reach(2_000.0, 2_000.0, math.log(40), c2)
    assert student.student_pair_reach(2_000.0, 2_000.0, 2_000.0, 2_000.0, LEVEL, C2) < 0.85 * apart


SAMPLES = {
    "clicks": np.r_[np.ones(4), np.zeros(46)],
    "no click": np.zeros(30),
    "ratings": np.random.default_rng(0).choice([0.0, 0.25, 0.5, 0.75, 1.0], 40, p=[0.05, 0.05, 0.2, 0.4, 0.3]),
    "beta": np.random.default_rng(1).beta(2.0, 8.0, 50),
    "skewed": np.random.default_rng(2).beta(0.1, 2.0, 50),
    "one": np.array([0.3]),
}


@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_the_wealth_is_what_the_bets_would_have_won_or_less(sample):
    x = SAMPLES[sample]
    n, mean, rss = moments(x)
    bets, from_moments = betting.all_bets(n, mean, rss), naive.betting_log_e_from_moments(x)
    for m in (0.0, 0.04, 0.3, 0.77, 1.0):
        found = betting.betting_log_e(n, bets, m)[0]
        assert found == pytest.approx(from_moments(m), abs=1e-8)
        won = naive.betting_log_e(x, m)
        assert found <= won + 1e-9
        if sample in ("clicks", "no click"):
            assert found == pytest.approx(won, abs=1e-8)  # rewards that are 0 or 1 lose nothing


@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_the_betting_interval_is_where_the_wealth_is_below_the_level(sample):
    x = SAMPLES[sample]
    n, mean, rss = moments(x)

    low, high = betting.betting_ends(np.array([n]), np.array([mean]), np.array([rss]), LEVEL)[0]
    expected = naive.interval(naive.betting_log_e_from_moments(x), mean, LEVEL, 0.0, 1.0)
    assert (low, high) == pytest.approx(expected, abs=1e-9)


def test_log_e_is_convex_and_its_derivatives_are_right():
    n, mean, rss = moments(SAMPLES["ratings"])
    rows = betting.all_bets(n, mean, rss)
    for m in np.linspace(0.05, 0.95, 19):
        value, first, second = betting.betting_log_e(n, rows, m)
        ahead, behind = betting.betting_log_e(n, rows, m + 1e-5), betting.betting_log_e(n, rows, m - 1e-5)
        assert first == pytest.approx((ahead[0] - behind[0]) / 2e-5, rel=1e-5, abs=1e-4)
        assert second == pytest.approx((ahead[1] - behind[1]) / 2e-5, rel=1e-5, abs=1e-3)
        assert second > 0.0
        assert value <= 0.5 * (ahead[0] + behind[0]) + 1e-12


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("clicks", "beta"),
        ("ratings", "skewed"),
        pytest.param("no click", "clicks", marks=pytest.mark.slow),
        ("no click", "one"),
        pytest.param("one", "ratings", marks=pytest.mark.slow),
    ],
)
def test_the_betting_difference_is_the_projection_of_the_product(a, b):
    arms = []
    for name in (a, b):
        n, mean, rss = moments(SAMPLES[name])
        up, down = betting.upward_bets(n, mean, rss, True), betting.downward_bets(n, mean, rss)
        arms.append((n, up, down, betting.arm_bets(n, mean, rss, LEVEL)))

    def log_e(n, rows):
        return lambda m: naive.with_aside(betting.betting_log_e(n, rows, m)[0])

    for (n_a, _, down, bets_a), (n_b, up, _, bets_b) in (arms, arms[::-1]):
        expected = naive.largest_difference(
            log_e(n_a, down), log_e(n_b, up), LEVEL, (0.0, 1.0), (0.0, 1.0), bets_a.mean
        )
        found = betting.betting_pair_end(bets_a, bets_b, LEVEL)
        assert found == pytest.approx(expected, abs=1e-6)
        assert betting.pair_end_by_slope(bets_a, bets_b, LEVEL) == pytest.approx(found, abs=1e-6)


def test_each_end_of_a_betting_difference_has_half_of_the_level():
    arms = [moments(SAMPLES[name]) for name in ("clicks", "beta")]
    columns = [np.array(column) for column in zip(*arms, strict=True)]
    ((low, high),) = betting.betting_pairs(*columns, np.array([[0, 1]]), LEVEL)
    first, second = (betting.arm_bets(*arm, math.log(40)) for arm in arms)
    assert high == pytest.approx(betting.betting_pair_end(first, second, math.log(40)), abs=1e-12)
    assert low == pytest.approx(-betting.betting_pair_end(second, first, math.log(40)), abs=1e-12)


def test_the_parabola_holds_without_an_upper_bound():
    """Values above 1 are where the chord fails and the parabola must not."""
    rng = np.random.default_rng(5)
    for x in (rng.exponential(1.0, 50), rng.pareto(1.5, 50), np.r_[np.zeros(49), 1_000.0]):
        n, mean, rss = moments(x)
        for size in naive.SIZES[::6]:
            assert betting.log_growth(size, n, mean, rss, False) <= np.log1p(size * x).sum() + 1e-8
