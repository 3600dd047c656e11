"""The appendix's lemmas, as they are and broken; the quadrature, beside plain sampling."""

import dataclasses
import math

import numpy as np
import pytest

from bootleader.paper._claims import Verdict
from bootleader.paper.parts import formulas, lemmas

DRAWS = 400_000


def sampled(setting, rng):
    """The six terms straight from their definitions: rewards' mean and RSS drawn, Q from the index's law."""
    from scipy.stats import norm

    centre = rng.normal(size=DRAWS) / math.sqrt(setting.s)  # of the rewards, about the arm's mean
    rss = rng.chisquare(setting.s - 1, DRAWS)
    prss = 2 * (setting.s + 2) * setting.ratio**2
    sd = np.sqrt(rss + prss) / (setting.s + 2)
    good = rss <= prss
    rounds = np.minimum(1 / norm.sf((-setting.gap / 2 - centre) / sd) - 1, setting.horizon)
    over = norm.sf((setting.gap / 2 - centre) / sd) > 1 / setting.horizon
    not_low, not_high = centre > -setting.gap / 4, centre < setting.gap / 4
    return [
        rounds * not_low * good, rounds * ~not_low * good, rounds * ~good,
        1.0 * (over & not_high & good), 1.0 * (over & ~not_high & good), 1.0 * (over & ~good),
    ]  # fmt: skip


@pytest.mark.parametrize("setting", [lemmas.Setting(0.75, 1.0, 10, 5), lemmas.Setting(0.6, 0.5, 50, 12)], ids=str)
def test_the_six_terms_are_what_sampling_gives(setting):
    # 12 comparisons at 4.5 standard errors: a false alarm has chance 1e-4.
    for part, terms in zip(lemmas.PARTS, sampled(setting, np.random.default_rng(4)), strict=True):
        error = terms.std() / math.sqrt(DRAWS)
        assert part.value(setting) == pytest.approx(terms.mean(), abs=4.5 * error + 1e-9), part.term


@pytest.mark.parametrize("part", lemmas.PARTS, ids=lambda part: part.term)
def test_a_lemma_that_starts_too_early_would_fail(part):
    early = dataclasses.replace(part, threshold=lambda r, gap: part.threshold(r, gap) / 100.0)
    row = lemmas.judge_part(early)
    assert row.finding.verdict is not Verdict.HOLDS
    assert f"{part.term} is" in row.finding.instead


def test_a_good_event_with_a_narrower_enclosure_would_fail(monkeypatch):
    assert lemmas.judge_enclosure(np.random.default_rng(1)).finding.verdict is Verdict.HOLDS
    monkeypatch.setattr(lemmas, "ENCLOSURE", (1.0, 1.5))
    row = lemmas.judge_enclosure(np.random.default_rng(1))
    assert row.finding.verdict is Verdict.FAILS
    assert "beyond 1 to 1.5" in row.finding.instead


def test_wrong_tails_would_fail(monkeypatch):
    monkeypatch.setattr(lemmas, "gaussian_floor", lambda t: -0.5 * t**2)
    monkeypatch.setattr(lemmas, "chi_square_ceiling", lambda t, n: -t / 2.0 * np.minimum(1.0, t / n))
    for row in (lemmas.judge_gaussian_tail(), lemmas.judge_chi_square()):
        assert row.finding.verdict is Verdict.FAILS
        assert "times the bound." in row.finding.instead


@pytest.mark.parametrize(
    ("mean", "variance", "verdict"),
    [(0.0, 1.0, Verdict.HOLDS), (0.0, 1.05, Verdict.FAILS), (0.05, 1.0, Verdict.FAILS)],
)
def test_wrong_moments_of_the_vanilla_bootstrap_would_fail(mean, variance, verdict):
    rng = np.random.default_rng(7)
    history = rng.normal(size=10)
    draws = formulas.vanilla_draws("mammen", history, rng)
    stated = history.mean() + mean, variance * history.var() / 10
    assert formulas.same_moments("x", draws, *stated).verdict is verdict
