"""Decisions computed again on another kind of processor: the same bits, or a difference that is named as rounding."""

from __future__ import annotations

import os
import platform
import random
import subprocess
import sys

import pytest

import bootleader as bl
from bootleader.agent import _probabilities
from bootleader.store._context_choice import ContextChooser
from tests.store.test_contexts import play, shop

ROUNDED = ", but for rounding, as on another kind of processor or with other versions of NumPy and SciPy"

# One policy for each way in which probabilities are computed, through all stages: Student variables of few and of many
# degrees of freedom, normal ones, constants, coins, and more arms than the trapezoidal rule takes.
PROGRAM = """
import random
import bootleader as bl
for policy, arms, rounds, every in [
    (bl.AdaptiveReBoot(), 6, 180, 1), (bl.StudentThompson(), 6, 180, 1), (bl.ReBoot(0.5), 6, 60, 1),
    (bl.PHE(), 4, 60, 1), (bl.UCB1(), 4, 60, 1), (bl.ResidualBootstrap(), 3, 60, 1),
    (bl.AdaptiveReBoot(), 120, 360, 360),
]:
    names = [f"arm {number}" for number in range(arms)]
    button = bl.Store("sqlite://").create("button", policy, names, seed=1, traffic=bl.Traffic(floor=0.001))
    rng = random.Random(2)
    for number in range(1, rounds + 1):
        reward = min(1.0, rng.random() ** 3)
        button.reward(button.decide(arm=names[number % arms], probability=False).id, reward)
        if number % every == 0:
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
    """NumPy and OpenBLAS as on the oldest processor that they support; the C library as here."""
    from numpy._core._multiarray_umath import __cpu_dispatch__

    old = printed(NPY_DISABLE_CPU_FEATURES=" ".join(__cpu_dispatch__), OPENBLAS_CORETYPE="Prescott")
    assert old.count("\n") > 100
    assert printed() == old


def change_probabilities(monkeypatch: pytest.MonkeyPatch, amount: float) -> None:
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
    change_probabilities(monkeypatch, 1e-15)
    audit = button.audit(decision.id)
    assert audit.agrees
    assert audit.note == f"arm and probability come out as they were{ROUNDED}"
    assert audit.recomputed_probability != audit.probability == decision.probability
    assert button.check(), str(button.check())


def test_what_is_more_than_rounding_is_a_disagreement(button, monkeypatch):
    decision = button.decide()
    change_probabilities(monkeypatch, 1e-8)
    audit = button.audit(decision.id)
    assert not audit.agrees
    assert repr(decision.probability) in audit.note
    assert not button.check()


@pytest.fixture
def page(store):
    page = shop(store)
    play(page, 40)
    return page


def predict_otherwise(monkeypatch: pytest.MonkeyPatch, by: float, spread_by: float) -> None:
    """Let predictions, and the spread of their errors, come out differently."""
    predict = ContextChooser._prediction

    def otherwise(self, model, row):
        predicted, spread = predict(self, model, row)
        return (None if predicted is None else predicted + by), spread + spread_by

    monkeypatch.setattr(ContextChooser, "_prediction", otherwise)


@pytest.mark.parametrize(("by", "spread_by"), [(1e-12, 0.0), (0.0, 1e-12), (-1e-12, 1e-12)])
def test_predictions_that_differ_by_rounding(page, monkeypatch, by, spread_by):
    decision = page.decide(context={"device": "desktop", "visits": 2, "member": False})
    assert page.audit(decision.id).note == "arm and probability come out as they were"
    predict_otherwise(monkeypatch, by, spread_by)
    audit = page.audit(decision.id)
    assert audit.agrees
    assert audit.note.endswith(ROUNDED)
    assert page.check(), str(page.check())


@pytest.mark.parametrize(("by", "spread_by"), [(1e-7, 0.0), (0.0, 1e-7)])
def test_predictions_that_differ_by_more(page, monkeypatch, by, spread_by):
    decision = page.decide(context={"device": "desktop", "visits": 2, "member": False})
    predict_otherwise(monkeypatch, by, spread_by)
    assert page.audit(decision.id).note == "the prediction that the log keeps with the context comes out differently"
    assert not page.check()


def test_rounding_is_measured_in_what_the_rewards_vary_by(store, monkeypatch):
    """An offset of all rewards does not make a wrong prediction right; predictions near 0 have rounding errors too."""
    page = store.create("page", bl.AdaptiveLinReBoot(), ["a", "b"], features=bl.Features(visits=float), seed=1)
    rng = random.Random(4)
    for _ in range(30):
        decision = page.decide(context={"visits": rng.random()})
        page.reward(decision.id, 1e9 + rng.gauss(0.0, 1.0))
    decision = page.decide(context={"visits": 0.5})
    with monkeypatch.context() as patch:
        predict_otherwise(patch, 1e-6, 0.0)  # of 1e9, in its sixteenth digit
        assert page.audit(decision.id).agrees
    predict_otherwise(monkeypatch, 0.1, 0.0)
    assert not page.audit(decision.id).agrees


def test_other_values_of_a_context_are_no_rounding(page, monkeypatch):
    decision = page.decide(context={"device": "desktop", "visits": 2, "member": False})
    logged = ContextChooser.logged

    def another(self, arm, context):
        return logged(self, arm, context).replace('"desktop"', '"mobile"')

    monkeypatch.setattr(ContextChooser, "logged", another)
    assert not page.audit(decision.id).agrees
