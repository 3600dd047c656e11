"""The claims about the formulas of the paper, as they are and with the theory changed."""

import numpy as np
import pytest

from bootleader import theory
from bootleader.paper import Size
from bootleader.paper._claims import Verdict
from bootleader.paper.parts import formula_checks


def verdict_of(rows, words):
    (row,) = [row for row in rows if words in row.claim.statement]
    return row.finding.verdict


def instead_of(rows, words):
    (row,) = [row for row in rows if words in row.claim.statement]
    return row.finding.instead


@pytest.fixture(scope="module")
def formula_rows():
    return formula_checks.analyse(Size(), {}).claims


@pytest.mark.parametrize(
    ("words", "verdict"),
    [
        ("(RSS + PRSS)/(s+2)²", Verdict.HOLDS),
        ("N(Ȳ, RSS/s²)", Verdict.FAILS),
        ("RSS = S − sȲ²", Verdict.FAILS),
        ("loses its importance", Verdict.FAILS),
        ("with high probability", Verdict.HOLDS),
        ("optimises the theorem’s constant C2", Verdict.HOLDS),
        ("C2 is decreasing", Verdict.FAILS),
        ("C1 is decreasing", Verdict.IN_PART),
        ("r = 1.5 is supported", Verdict.FAILS),
        ("constants are those", Verdict.FAILS),
        ("E exp(u χ²₁)", Verdict.FAILS),
        ("a_{k,s} ≤ M(r)", Verdict.HOLDS),
        ("mean Ȳ and variance RSS/s²", Verdict.HOLDS),
        ("between 2r²σ²/(s+2) and 4r²σ²/(s+2)", Verdict.HOLDS),
        ("a_{k,s,1} is", Verdict.HOLDS),
        ("a_{k,s,2} is", Verdict.HOLDS),
        ("a_{k,s,3} is", Verdict.IN_PART),
        ("b_{k,s,1} is", Verdict.HOLDS),
        ("b_{k,s,2} is", Verdict.HOLDS),
        ("b_{k,s,3} is", Verdict.IN_PART),
        ("P(Z ≥ t)", Verdict.HOLDS),
        ("P(χ²ₙ − n ≥ t)", Verdict.HOLDS),
    ],
)
def test_formulas_of_the_paper(formula_rows, words, verdict):
    assert verdict_of(formula_rows, words) is verdict


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("N(Ȳ, RSS/s²)", "The index has 7.5 times the variance that section 2.5 states at s = 10"),
        ("RSS = S − sȲ²", "At an offset of 100,000,000 the update gives"),
        ("loses its importance", "PRSS is still 82% of the index’s variance, which is 5.50 times"),
        ("C2 is decreasing", "C2 falls on none of 330 steps: it goes from 2,718.9 at 1.7 to 16,629 at 5."),
        ("C1 is decreasing", "from 1/√2 = 0.707 on it falls at every step."),
        ("r = 1.5 is supported", "C2 is not finite there (inf)"),
        ("constants are those", "The proof ends with C1 = 12.47 at σ_a = 1.7, 7.45 times the 1.674"),
        ("E exp(u χ²₁)", "1/(1 − Φ(√2π)) is 164, 149 times 1.1."),
        ("b_{k,s,3} is", "an r that the theorem does not allow"),
    ],
)
def test_formulas_that_do_not_hold_say_what_is_so(formula_rows, words, sentence):
    assert sentence in instead_of(formula_rows, words)


def test_only_formulas_that_do_not_hold_say_more(formula_rows):
    assert all(bool(row.finding.instead) == (row.finding.verdict is not Verdict.HOLDS) for row in formula_rows)


def test_the_sentence_about_the_proof_follows_its_constants(monkeypatch):
    monkeypatch.setattr(theory, "appendix_constants", lambda r: (3.0 * theory.c1(r), float(theory.c2(r))))
    assert formula_checks.judge_appendix().finding.instead == (
        "The proof ends with C1 = 5.021 at σ_a = 1.7, 3 times the 1.674 that the theorem prints."
    )


def test_a_right_theorem_would_pass(monkeypatch):
    monkeypatch.setattr(theory, "c2", lambda r: 100.0 / (np.asarray(r) - 0.2))
    monkeypatch.setattr(theory, "c1", lambda r: 1.0 / np.asarray(r))
    optimum, second, first = formula_checks.judge_constants()
    assert optimum.finding.verdict is Verdict.FAILS  # no minimum at 1.7 any more
    assert second.finding.verdict is Verdict.HOLDS
    assert first.finding.verdict is Verdict.HOLDS
    assert formula_checks.judge_recommended().finding.verdict is Verdict.HOLDS


def test_a_wrong_variance_formula_would_fail():
    rng = np.random.default_rng(0)
    draws = formula_checks.index_draws("gaussian", rng.normal(size=10), 1.5, rng)
    right = float(draws.var())
    assert formula_checks.contains_one("x", formula_checks.variance_ratio(draws, right)).verdict is Verdict.HOLDS
    assert formula_checks.contains_one("x", formula_checks.variance_ratio(draws, 1.05 * right)).verdict is Verdict.FAILS
