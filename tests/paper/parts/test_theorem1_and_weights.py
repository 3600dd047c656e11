"""The claims about theorem 1 and the families of weights, on data made to hold and to fail."""

from __future__ import annotations

import numpy as np
import pytest

from bootleader.paper._cell_cache import Cell, Results
from bootleader.paper._claims import Verdict
from bootleader.paper._paper_policies import label
from bootleader.paper._report_part import Size
from bootleader.paper.parts import bootstrap_weights as weights
from bootleader.paper.parts import theorem1
from bootleader.simulation.result import Simulation
from tests.paper.made_results import made_result, with_final_regret

SIZE = Size(runs=40, rounds=2_000)


def made(cell: Cell, regret) -> Simulation:
    return made_result(cell, regret, 1.0 + 0.01 * np.linspace(-1.0, 1.0, cell.runs), checkpoints=20)


def theorem_results(regret) -> Results:
    return Results({cell: made(cell, lambda t, cell=cell: regret(cell, t)) for cell in theorem1.cells(SIZE)})


def bound(cell: Cell, t: float) -> float:
    return float(theorem1.theory.bound(cell.bandit.means, 1.7, int(t)).upper)


AT_IT = bound


@pytest.mark.parametrize(
    ("regret", "verdict"),
    [
        (lambda cell, t: 0.5 * bound(cell, t), Verdict.HOLDS),
        (lambda cell, t: 2.0 * bound(cell, t), Verdict.FAILS),
        (AT_IT, Verdict.UNDECIDED),  # within its interval everywhere
        (lambda cell, t: (2.0 if t < 500 else 0.5) * bound(cell, t), Verdict.FAILS),  # early on counts as well
        (lambda cell, t: (2.0 if cell.bandit.means == (10.0, 0.0) else 0.5) * bound(cell, t), Verdict.IN_PART),
    ],
)
def test_the_bound_is_judged_along_the_whole_curve(regret, verdict):
    row = theorem1.judge_bound(SIZE, theorem_results(regret))
    assert row.finding.verdict is verdict
    assert row.finding.measured.count("says nothing") == 3  # but not where the means are 10 and 0
    assert bool(row.finding.instead) == (verdict is not Verdict.HOLDS)
    assert ("which is larger is undecided" in row.finding.instead) == (regret is AT_IT)


@pytest.mark.parametrize(("power", "verdict"), [(0.2, Verdict.HOLDS), (0.9, Verdict.FAILS)])
def test_a_power_is_no_logarithm(power, verdict):
    row = theorem1.judge_logarithm(SIZE, theorem_results(lambda _, t: 3.0 * t**power))
    assert row.finding.verdict is verdict


def weights_results(growth, locked) -> Results:
    """Every cell of the part: regret t^growth[family], and so many runs that stay on the worse arm."""
    found = {}
    for cell in weights.cells(SIZE):
        family = cell.policy.weights
        result = made(cell, lambda t, family=family: t ** growth.get(family, 0.3))
        if cell.bandit == weights.CLOSE_ARMS:
            final = np.full(cell.runs, 5.0)
            final[: locked.get(family, 0)] = weights.GAP * cell.rounds
            result = with_final_regret(result, final)
        found[cell] = result
    return Results(found)


@pytest.mark.parametrize(
    ("growth", "verdict"),
    [
        ({}, Verdict.HOLDS),
        ({"mammen": 1.0}, Verdict.IN_PART),
        (dict.fromkeys(("gaussian", "rademacher", "mammen"), 1.0), Verdict.FAILS),
    ],
)
def test_each_family_must_be_sublinear(growth, verdict):
    assert weights.judge(SIZE, weights_results(growth, {})).finding.verdict is verdict


@pytest.mark.parametrize(
    ("locked", "verdict"),
    [
        ({}, Verdict.HOLDS),
        ({"rademacher": 1}, Verdict.IN_PART),
        (dict.fromkeys(("gaussian", "rademacher", "mammen"), 2), Verdict.FAILS),
    ],
)
def test_a_run_that_never_plays_the_better_arm_again_is_found(locked, verdict):
    row = weights.judge_lock_out(SIZE, weights_results({}, locked))
    assert row.finding.verdict is verdict
    for policy in weights.POLICIES:
        count = locked.get(policy.weights, 0)
        assert f"{label(policy)}: {count} of 40 runs" in row.finding.measured
        sentence = f"{label(policy)} does not play the better arm once in the last half of {count} of 40 runs ("
        assert (sentence in row.finding.instead) == (count > 0)


def test_playing_the_better_arm_once_is_no_lock_out():
    results = weights_results({}, {"rademacher": 3})
    for cell in weights.cells(SIZE):
        if cell.bandit == weights.CLOSE_ARMS and cell.policy.weights == "rademacher" and cell.rounds == 200:
            final = results.final_regret(cell).copy()
            final[1] -= weights.GAP  # one round of the last half
            results.add(cell, with_final_regret(results[cell], final))
    assert "2 of 40 runs" in weights.judge_lock_out(SIZE, results).finding.measured


def test_regret_that_is_not_a_number_is_undecided():
    not_a_number = theorem_results(lambda cell, t: np.nan)
    assert theorem1.judge_bound(SIZE, not_a_number).finding.verdict is Verdict.UNDECIDED
    assert theorem1.judge_logarithm(SIZE, not_a_number).finding.verdict is Verdict.UNDECIDED
    found = weights_results({}, {})
    for cell in weights.cells(SIZE):
        found.add(cell, with_final_regret(found[cell], np.full(cell.runs, np.nan)))
    assert weights.judge(SIZE, found).finding.verdict is Verdict.UNDECIDED
    assert weights.judge_lock_out(SIZE, found).finding.verdict is Verdict.UNDECIDED
