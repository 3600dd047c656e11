"""Decisions computed again on another kind of processor: the same bits, or a difference that is named as rounding."""

from __future__ import annotations

import os
import platform
import random
import subprocess
import sys
import warnings

import pytest

import bootleader as bl
from bootleader.agent import _probabilities
from bootleader.store._context_choice import ContextChooser
from tests.store.test_contexts import play, shop

ROUNDED = ", but for rounding, as on another kind of processor or with other versions of NumPy and SciPy"

# Every policy whose probabilities are computed in a way of its own, through all stages: Student variables of few and
# of many degrees of freedom, normal ones, coins, and more arms than the trapezoidal rule takes.
PROGRAM = """
import random
import bootleader as bl
for policy, arms in [
    (bl.AdaptiveReBoot(), 6), (bl.StudentThompson(), 6), (bl.ReBoot(0.5), 6), (bl.PHE(), 4), (bl.UCB1(), 4),
    (bl.ResidualBootstrap(), 3), (bl.AdaptiveReBoot(), 120),
]:
    names = [f"arm {number}" for number in range(arms)]
    button = bl.Store("sqlite://").create("button", policy, names, seed=1, traffic=bl.Traffic(floor=0.001))
    rng = random.Random(2)
    for number in range(30 * arms if arms < 100 else 3 * arms):
        name = names[number % arms]
        button.reward(button.decide(arm=name, probability=False).id, min(1.0, rng.random() ** 3))
        if arms < 100 or number == 3 * arms - 1:
            print([chance.hex() for chance in button.probabilities().values()])
"""


def printed(**environment: str) -> str:
    """What the program prints with more environment variables."""
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM], env={**os.environ, **environment}, capture_output=True, text=True, check=True
    )
    return ran.stdout


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="OpenBLAS has other names elsewhere")
def test_probabilities_do_not_depend_on_the_processor():
    """NumPy and OpenBLAS as on the oldest processor that they support."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from numpy._core._multiarray_umath import __cpu_dispatch__

    old = printed(NPY_DISABLE_CPU_FEATURES=" ".join(__cpu_dispatch__), OPENBLAS_CORETYPE="Prescott")
    assert old.count("\n") > 100
    assert printed() == old


def changed_by(monkeypatch: pytest.MonkeyPatch, amount: float) -> None:
    """Let the probabilities of a policy's choice come out differently."""
    computed = _probabilities.few_winning_probabilities

    def changed(*laws):
        chances = computed(*laws)
        chances[0] += amount
        chances[1] -= amount
        return chances

    monkeypatch.setattr(_probabilities, "few_winning_probabilities", changed)


@pytest.fixture
def button(store):
    button = store.create("button", bl.AdaptiveReBoot(), ["blue", "green"], seed=1)
    rng = random.Random(3)
    for _ in range(20):
        button.reward(button.decide().id, rng.gauss(0.0, 1.0))
    return button


def test_rounding_is_named_and_is_no_disagreement(button, monkeypatch):
    decision = button.decide()
    audit = button.audit(decision.id)
    assert (audit.agrees, audit.note) == (True, "arm and probability come out as they were")
    changed_by(monkeypatch, 1e-15)
    audit = button.audit(decision.id)
    assert audit.agrees
    assert audit.note == f"arm and probability come out as they were{ROUNDED}"
    assert audit.recomputed_probability != audit.probability == decision.probability
    assert button.check(), str(button.check())


def test_what_is_more_than_rounding_is_a_disagreement(button, monkeypatch):
    decision = button.decide()
    changed_by(monkeypatch, 1e-8)
    audit = button.audit(decision.id)
    assert not audit.agrees
    assert repr(decision.probability) in audit.note
    assert not button.check()


def test_predictions_that_differ_by_rounding(store, monkeypatch):
    page = shop(store)
    play(page, 40)
    decision = page.decide(context={"device": "desktop", "visits": 2, "member": False})
    assert page.audit(decision.id).note == "arm and probability come out as they were"
    predict, change = ContextChooser._prediction, 1e-13

    def another(self, model, row):
        predicted, spread = predict(self, model, row)
        return (None if predicted is None else predicted + change), spread * (1.0 + change)

    monkeypatch.setattr(ContextChooser, "_prediction", another)
    audit = page.audit(decision.id)
    assert audit.agrees
    assert audit.note.endswith(ROUNDED)
    assert page.check(), str(page.check())
    change = 1e-6
    assert page.audit(decision.id).note == "the prediction that the log keeps with the context comes out differently"
    assert not page.check()
