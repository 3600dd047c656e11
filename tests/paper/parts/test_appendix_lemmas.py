"""The appendix's lemmas, as they are and broken; the quadrature, beside plain sampling."""

import dataclasses
import math

import numpy as np
import pytest

from bootleader.paper._claims import Verdict
from bootleader.paper.parts import appendix_lemmas
from bootleader.paper.parts import formula_checks as formulas

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


@pytest.mark.parametrize(
    "setting", [appendix_lemmas.Setting(0.75, 1.0, 10, 5), appendix_lemmas.Setting(0.6, 0.5, 50, 12)], ids=str
)
def test_the_six_terms_are_what_sampling_gives(setting):
    # 12 comparisons at 4.5 standard errors: a false alarm has chance 1e-4.
    for lemma, terms in zip(appendix_lemmas.TERM_LEMMAS, sampled(setting, np.random.default_rng(4)), strict=True):
        error = terms.std() / math.sqrt(DRAWS)
        assert lemma.value(setting) == pytest.approx(terms.mean(), abs=4.5 * error + 1e-9), lemma.term


@pytest.mark.parametrize("lemma", appendix_lemmas.TERM_LEMMAS, ids=lambda lemma: lemma.term)
def test_a_lemma_that_starts_too_early_would_fail(lemma):
    early = dataclasses.replace(lemma, threshold=lambda r, gap: lemma.threshold(r, gap) / 100.0)
    row = appendix_lemmas.judge_term(early)
    assert row.finding.verdict is not Verdict.HOLDS
    assert f"{lemma.term} is" in row.finding.instead


def test_a_good_event_with_a_narrower_enclosure_would_fail(monkeypatch):
    assert appendix_lemmas.judge_enclosure(np.random.default_rng(1)).finding.verdict is Verdict.HOLDS
    monkeypatch.setattr(appendix_lemmas, "ENCLOSURE", (1.0, 1.5))
    row = appendix_lemmas.judge_enclosure(np.random.default_rng(1))
    assert row.finding.verdict is Verdict.FAILS
    assert "beyond 1 to 1.5" in row.finding.instead


def test_wrong_tails_would_fail(monkeypatch):
    monkeypatch.setattr(appendix_lemmas, "gaussian_floor", lambda t: -0.5 * t**2)
    monkeypatch.setattr(appendix_lemmas, "chi_square_ceiling", lambda t, n: -t / 2.0 * np.minimum(1.0, t / n))
    for row in (appendix_lemmas.judge_gaussian_tail(), appendix_lemmas.judge_chi_square()):
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
    assert formulas.has_moments("x", draws, *stated).verdict is verdict


def test_terms_that_are_not_numbers_are_undecided(monkeypatch):
    lemma = dataclasses.replace(appendix_lemmas.TERM_LEMMAS[0], value=lambda setting: math.nan)
    assert appendix_lemmas.judge_term(lemma).finding.verdict is Verdict.UNDECIDED
    monkeypatch.setattr(appendix_lemmas, "gaussian_floor", lambda t: np.nan * t)
    monkeypatch.setattr(appendix_lemmas, "chi_square_ceiling", lambda t, n: np.nan * t)
    monkeypatch.setattr(appendix_lemmas, "underestimation", lambda s, ratio: math.nan)
    monkeypatch.setattr(appendix_lemmas, "enclosed", lambda ratio, s, rng: (math.nan, math.nan))
    for row in (
        appendix_lemmas.judge_gaussian_tail(),
        appendix_lemmas.judge_chi_square(),
        appendix_lemmas.judge_lemma(),
        appendix_lemmas.judge_enclosure(np.random.default_rng(1)),
    ):
        assert row.finding.verdict is Verdict.UNDECIDED, row.claim.statement
