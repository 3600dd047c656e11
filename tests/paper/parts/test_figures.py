"""The claims about figures 1 to 3, on regret made to hold, to fail and to be undecided."""

import re

import numpy as np
import pytest

from bootleader.paper import Size
from bootleader.paper._claims import Verdict
from bootleader.paper._paper_bandits import FIG1_BANDIT, FIG3_BANDITS
from bootleader.paper._paper_policies import label
from bootleader.paper.parts import fig1, fig2_left, fig2_right, fig3
from tests.paper.made_results import made_results

FULL = Size()
HOLDS, IN_PART, FAILS, UNDECIDED = Verdict.HOLDS, Verdict.IN_PART, Verdict.FAILS, Verdict.UNDECIDED


def linear(slope):
    return lambda t: slope * t


def logarithm(slope):
    return lambda t: slope * np.log(t)


def says_what_is_seen(rows):
    """A row that does not hold carries a whole sentence, one that holds none."""
    for row in rows:
        assert bool(row.finding.instead) == (row.finding.verdict is not HOLDS), row.claim.statement
        assert not row.finding.instead or row.finding.instead.endswith(".")


def check(rows, changed):
    """Every row holds but those named by some words of their place and statement."""
    says_what_is_seen(rows)
    found = {f"{row.claim.where}: {row.claim.statement}": row.finding.verdict for row in rows}
    assert len(found) == len(rows)
    wanted = dict.fromkeys(found, HOLDS)
    for words, verdict in changed.items():
        (name,) = [name for name in found if words in name]
        wanted[name] = verdict
    assert found == wanted


def measured(rows, row):
    (found,) = [r.finding.measured for r in rows if row in r.claim.statement]
    return found


def instead(rows, row):
    (found,) = [r.finding.instead for r in rows if row in r.claim.statement]
    return found


def number(rows, row, words):
    """The number that a row gives after some words."""
    return float(re.search(re.escape(words) + r": (-?[\d.,]+)", measured(rows, row))[1].replace(",", ""))


# Figure 1.

FIG1 = {"FollowTheLeader": linear(0.2), "vanilla bootstrap": linear(0.1), "ReBoot 1.5": logarithm(20)}


def judged_fig1(**changed):
    shapes = FIG1 | {{"leader": "FollowTheLeader", "vanilla": "vanilla bootstrap", "reboot": "ReBoot 1.5"}[name]: shape
                     for name, shape in changed.items()}  # fmt: skip
    results = made_results(fig1.cells(FULL), lambda cell, t: shapes[label(cell.policy)](t))
    assert all(cell.bandit == FIG1_BANDIT for cell in results)
    return fig1.judge(FULL, results)


@pytest.mark.parametrize(
    ("regret", "changed"),
    [
        ({}, {}),
        ({"leader": logarithm(500)}, {"Reward averages": FAILS}),
        ({"vanilla": linear(0.3)}, {"improves on reward averages": FAILS}),
        ({"vanilla": linear(0.2)}, {"improves on reward averages": UNDECIDED}),
        ({"vanilla": logarithm(50)}, {"still has linear": FAILS}),
        ({"reboot": linear(0.02)}, {"ReBoot has sublinear": FAILS}),
    ],
)
def test_figure_1(regret, changed):
    check(judged_fig1(**regret), changed)


def test_figure_1_says_what_it_measured():
    rows = judged_fig1()
    assert number(rows, "improves", "vanilla / FollowTheLeader") == pytest.approx(0.5, rel=0.02)


# Figure 2, left: regret as a function of the shift.

LEFT = {"ReBoot 1.5": lambda c: 60, "Giro 1": lambda c: 70 * (1 + c), "PHE 2.1": lambda c: 80 * (1 + 2 * c)}


def judged_left(**changed):
    names = {"reboot": "ReBoot 1.5", "giro": "Giro 1", "phe": "PHE 2.1"}
    regrets = LEFT | {names[name]: regret for name, regret in changed.items()}
    results = made_results(fig2_left.cells(FULL), lambda cell, t: regrets[label(cell.policy)](cell.bandit.means[1]))
    return fig2_left.judge(FULL, results)


@pytest.mark.parametrize(
    ("regret", "changed"),
    [
        ({}, {}),
        ({"reboot": lambda c: 60 * (1 + c / 4)}, {"does not depend on the shift": FAILS}),
        ({"reboot": lambda c: 120 if c == 7 else 60}, {"does not depend on the shift": FAILS}),
        ({"reboot": lambda c: 30 if c == 7 else 60 + c / 10}, {"does not depend on the shift": FAILS}),
        ({"reboot": lambda c: 60 * (1.25 if c == 20 else 1)}, {"does not depend on the shift": UNDECIDED}),
        ({"giro": lambda c: 70}, {"Giro and PHE are sensitive": IN_PART}),
        ({"phe": lambda c: 80}, {"Giro and PHE are sensitive": IN_PART}),
        ({"giro": lambda c: 70, "phe": lambda c: 80}, {"Giro and PHE are sensitive": FAILS}),
        ({"giro": lambda c: 7000 / (1 + c)}, {}),
        ({"reboot": lambda c: 5000}, {"performs better": FAILS}),
        ({"reboot": lambda c: 75}, {"performs better": IN_PART}),  # Giro is better at c = 0
        ({"giro": lambda c: 1 + c}, {"performs better": IN_PART}),
        ({"phe": lambda c: 1 + c}, {"performs better": IN_PART}),
        ({"giro": lambda c: 50 if c == 10 else 70 * (1 + c)}, {"performs better": IN_PART}),
        ({"phe": lambda c: 50 if c == 20 else 80 * (1 + c)}, {"are sensitive": HOLDS, "performs better": IN_PART}),
    ],
)
def test_figure_2_left(regret, changed):
    check(judged_left(**regret), changed)


def test_figure_2_left_says_what_it_measured():
    rows = judged_left(reboot=lambda c: 90 if c == 7 else 60)
    assert number(rows, "does not depend", "R(c)/R(0)") == pytest.approx(1.5, rel=0.02)
    assert number(rows, "are sensitive", "Giro 1: R(c=20)/R(c=0)") == pytest.approx(21, rel=0.02)
    assert number(rows, "are sensitive", "PHE 2.1: R(c=20)/R(c=0)") == pytest.approx(41, rel=0.02)
    for c in (0, 20):
        assert number(rows, "performs better", f"c = {c}: ReBoot / Giro 1") == pytest.approx(6 / 7 / (1 + c), rel=0.02)


def test_figure_2_left_says_where_reboot_is_not_better():
    found = instead(judged_left(reboot=lambda c: 140, giro=lambda c: 70 * (1 + c)), "performs better")
    assert re.fullmatch(
        r"At c = 0 ReBoot has (2|1\.99|2\.0\d?) \[.*\] times the regret of Giro 1\. "
        r"At c = 0 ReBoot has 1\.7\d \[.*\] times the regret of PHE 2\.1\.", found
    )  # fmt: skip
    assert "is undecided" in instead(judged_left(reboot=lambda c: 70), "performs better")


# Figure 2, right: regret as a power of the sd. A tenth of T times the gap is 1,000.


def power(at_one, exponent, most=np.inf):
    return lambda sd: min(at_one * sd**exponent, most)


RIGHT = {"ReBoot": power(10, 1.5), "Giro": power(12, 1.4), "PHE": power(1, 3)}
SLOW_SD, SLOW_VARIANCE, MORE = "grows slowly with the sd", "grows slowly with the variance", "much more sensitive"


def judged_right(**changed):
    regrets = RIGHT | changed
    results = made_results(fig2_right.cells(FULL), lambda cell, t: regrets[type(cell.policy).__name__](cell.bandit.sd))
    return fig2_right.judge(FULL, results)


@pytest.mark.parametrize(
    ("regret", "changed"),
    [
        ({}, {}),
        # Faster than the least possible regret grows, though slower than PHE.
        ({"ReBoot": power(0.5, 2.3)}, {SLOW_SD: IN_PART, SLOW_VARIANCE: IN_PART}),
        ({"Giro": power(0.5, 2.3)}, {SLOW_SD: IN_PART, SLOW_VARIANCE: IN_PART}),
        # Slower than it, but no slower than PHE.
        (
            {"ReBoot": power(5, 1.7), "Giro": power(5, 1.7), "PHE": power(5, 1.6)},
            {SLOW_SD: IN_PART, SLOW_VARIANCE: IN_PART, MORE: FAILS},
        ),
        ({"Giro": power(0.1, 3)}, {SLOW_SD: IN_PART, SLOW_VARIANCE: IN_PART, MORE: IN_PART}),
        # Neither.
        (
            {"ReBoot": power(0.5, 2.3), "Giro": power(0.5, 2.4), "PHE": power(1, 2.2)},
            {SLOW_SD: FAILS, SLOW_VARIANCE: FAILS, MORE: FAILS},
        ),
        # Fast until it meets the ceiling: between the ends of the sweep the exponent is below 1.5.
        ({"ReBoot": power(60, 2.5, most=5_000)}, {SLOW_SD: IN_PART, SLOW_VARIANCE: IN_PART}),
        # At the ceiling from the start, where there is no exponent.
        ({"ReBoot": power(2_000, 0)}, {SLOW_SD: UNDECIDED, SLOW_VARIANCE: UNDECIDED}),
        # Fast with the variance up to 20, that is with the sd up to 4.5, and slow beyond.
        ({"ReBoot": lambda sd: sd**2.5 if sd < 4.6 else 42 + sd}, {SLOW_VARIANCE: IN_PART}),
        # More sensitive than both, but not by a factor 2.
        ({"PHE": power(1, 1.6)}, {MORE: FAILS}),
        ({"PHE": power(1, 1.65)}, {MORE: IN_PART}),
    ],
)  # fmt: skip
def test_figure_2_right(regret, changed):
    check(judged_right(**regret), changed)


def test_figure_2_right_says_what_it_measured_and_in_which_variable():
    rows = judged_right(ReBoot=power(60, 1.5, most=4_000))
    words = "exponent in the sd from 1 to 6 (slow: below 2)"  # 60 * 6^1.5 is 882, 60 * 7^1.5 is 1,111
    assert number(rows, SLOW_SD, words) == pytest.approx(1.5, abs=0.01)
    assert number(rows, SLOW_SD, "exponent in the sd from 1 to 20 (slow: below 2)") == pytest.approx(1.4, abs=0.01)
    assert number(rows, SLOW_SD, "less PHE’s (slow: below 0)") == pytest.approx(-1.5, abs=0.01)
    words = "exponent in the variance from 1 to 20 (slow: below 1)"
    assert number(rows, SLOW_VARIANCE, words) == pytest.approx(0.75, abs=0.01)
    words = "exponent in the variance from 1 to 16 (slow: below 1)"  # Giro's
    assert number(rows, SLOW_VARIANCE, words) == pytest.approx(0.7, abs=0.01)
    words = r"ReBoot: regret ×66\.\d from sd 1 to 20, where it is 40% of T times the gap"
    assert re.search(words, measured(rows, SLOW_SD))
    assert number(rows, MORE, "over ReBoot’s") == pytest.approx(8_000 / (4_000 / 60), rel=0.02)
    assert number(rows, MORE, "over Giro 1’s") == pytest.approx(20**1.6, rel=0.02)
    assert re.search(r"At sd 1 PHE’s regret is 0\.016\d* \[.*\] times ReBoot’s", measured(rows, MORE))


@pytest.mark.parametrize(("times", "surely"), [(1.5, "not more"), (2.0, "not surely more")])
def test_figure_2_right_says_how_much_phe_grows(times, surely):
    words = instead(judged_right(PHE=power(1, 1.5 + np.log(times) / np.log(20)), Giro=power(12, 1)), MORE)
    found = re.fullmatch(
        r"From sd 1 to 20 PHE’s regret grows ([\d.]+) times and ReBoot’s ([\d.]+) times: ([\d.]+) \[.*\] times as "
        rf"much, {surely} than 2\.", words
    )  # fmt: skip
    assert [float(number) for number in found.groups()] == pytest.approx([times * 20**1.5, 20**1.5, times], rel=0.01)


# Figure 3.

FIG3 = {
    "ReBoot 0.5": logarithm(80), "ReBoot 1": logarithm(57), "ReBoot 1.5": logarithm(60), "ReBoot 2": logarithm(90),
    "TS N(0,1)": linear(0.5), "Giro 1": logarithm(150), "PHE 2.1": linear(0.2), "TS flat, oracle sd": logarithm(20),
}  # fmt: skip


def judged_fig3(shape, changed):
    def regret(cell, t):
        there = FIG3 | changed if cell.bandit == FIG3_BANDITS[shape] else FIG3
        return there[label(cell.policy)](t)

    return fig3.judge(FULL, made_results(fig3.cells(FULL), regret))


SMALL, PHE_LINEAR, GIRO_LARGE = "ReBoot 1.5 has sublinear and small", "PHE has linear", "Giro has sublinear but large"
TS_FAR, NEAR, SLIGHTLY = "TS with an N(0,1) prior is far", "near-optimal", "σ_a = 1 is slightly better"


@pytest.mark.parametrize("shape", FIG3_BANDITS)
@pytest.mark.parametrize(
    ("regret", "changed"),
    [
        ({}, {}),
        # 0.057 T is 570, where the logarithm had 553.
        ({"ReBoot 1.5": linear(0.057)}, {SMALL: IN_PART}),
        ({"ReBoot 1.5": linear(0.6), "ReBoot 1": linear(0.57), "ReBoot 0.5": linear(0.9), "ReBoot 2": linear(0.9)},
         {SMALL: FAILS, GIRO_LARGE: IN_PART}),
        ({"TS N(0,1)": linear(0.05)}, {SMALL: IN_PART}),
        ({"PHE 2.1": linear(0.05)}, {SMALL: IN_PART}),
        ({"PHE 2.1": logarithm(200)}, {PHE_LINEAR: FAILS}),
        ({"Giro 1": linear(0.15)}, {GIRO_LARGE: IN_PART}),
        ({"Giro 1": logarithm(80)}, {GIRO_LARGE: IN_PART}),
        ({"Giro 1": linear(0.07)}, {GIRO_LARGE: FAILS}),
        ({"Giro 1": linear(0.04)}, {GIRO_LARGE: FAILS, SMALL: IN_PART}),
        ({"TS flat, oracle sd": linear(0.4)}, {TS_FAR: FAILS}),
        ({"TS N(0,1)": logarithm(150), "TS flat, oracle sd": logarithm(100)}, {TS_FAR: FAILS}),
    ],
)  # fmt: skip
def test_figure_3_on_each_shape(shape, regret, changed):
    rows = judged_fig3(shape, regret)
    check(rows, {f"({shape}): {words}": verdict for words, verdict in changed.items()})


# That sigma_a = 1 be neither better nor only slightly better cannot be: one part of that claim always holds.
@pytest.mark.parametrize(
    ("regret", "near", "slightly"),
    [
        ({}, HOLDS, HOLDS),
        ({"ReBoot 0.5": logarithm(30)}, FAILS, HOLDS),
        ({"ReBoot 2": logarithm(30)}, FAILS, HOLDS),
        ({"ReBoot 1": logarithm(30)}, FAILS, IN_PART),
        ({"ReBoot 1": logarithm(70)}, HOLDS, IN_PART),
        ({"ReBoot 1": logarithm(60 / 1.1)}, UNDECIDED, HOLDS),
        ({"ReBoot 1": logarithm(60)}, HOLDS, UNDECIDED),
    ],
)
def test_figure_3_on_the_choice_of_sigma_a(regret, near, slightly):
    for shape in ("Gaussian", "exponential"):
        check(judged_fig3(shape, regret), {f"({shape}): σ_a = 1.5 is a {NEAR}": near})
    check(judged_fig3("logistic", regret), {SLIGHTLY: slightly})


def test_figure_3_says_what_it_measured():
    rows = judged_fig3("Gaussian", {})
    row = "small regret on Gaussian"
    assert number(rows, row, "ReBoot 1.5 / Giro 1") == pytest.approx(60 / 150, rel=0.02)
    assert number(rows, row, "ReBoot 1.5 / PHE 2.1") == pytest.approx(0.276, rel=0.02)
    assert number(rows, row, "ReBoot 1.5 / TS N(0,1)") == pytest.approx(0.1105, rel=0.02)
    assert number(rows, "large regret on Gaussian", "Giro 1 / ReBoot 1.5") == pytest.approx(2.5, rel=0.02)
    assert number(rows, "far from its best on Gaussian", "TS N(0,1) / flat TS") == pytest.approx(27.1, rel=0.02)
    assert number(rows, "near-optimal choice for Gaussian", "R(1.5) / R(1)") == pytest.approx(60 / 57, rel=0.02)
    assert number(rows, SLIGHTLY, "better: R(1.5) / R(1)") == pytest.approx(60 / 57, rel=0.02)
    assert "TS N(0,1) growth exponent 1.0" in measured(rows, "far from its best on Gaussian")


@pytest.mark.parametrize(("slope", "least", "times"), [(30, 276, 2.0), (20, 184, 3.0)])
def test_figure_3_says_which_sigma_a_is_better_and_by_how_much(slope, least, times):
    rows = judged_fig3("Gaussian", {"ReBoot 0.5": logarithm(slope)})
    words = instead(rows, "near-optimal choice for Gaussian")
    found = re.fullmatch(
        r"Of the σ_a shown 0\.5 has the least regret, (\d+); 1\.5 has (\d+), ([\d.]+) \[.*\] times as much\.", words
    )
    assert float(found[1]) == pytest.approx(least, rel=0.05)
    assert float(found[3]) == pytest.approx(times, rel=0.01)
    rows = judged_fig3("Gaussian", {"ReBoot 1": logarithm(60 / 1.1)})
    assert "whether that is more than 1.1 times is undecided" in instead(rows, "near-optimal choice for Gaussian")


@pytest.mark.parametrize(
    ("slope", "words"),
    [(30, "better by more than a little"), (70, "no better than 1.5"), (60, "is undecided")],
)
def test_figure_3_says_how_much_better_a_sigma_a_of_1_is_on_logistic_rewards(slope, words):
    assert words in instead(judged_fig3("logistic", {"ReBoot 1": logarithm(slope)}), "slightly better than 1.5")


@pytest.mark.parametrize("part", [fig1, fig2_left, fig2_right, fig3], ids=lambda part: part.PART.name)
def test_the_report_gets_every_row_that_was_judged(part):
    results = made_results(part.cells(FULL), lambda cell, t: 5.0 * np.log(1.0 + t))
    assert part.analyse(FULL, results).claims == part.judge(FULL, results)


@pytest.mark.parametrize("regret", [0.0, np.nan], ids=["no regret", "not a number"])
@pytest.mark.parametrize("part", [fig1, fig2_left, fig2_right, fig3], ids=lambda part: part.PART.name)
def test_no_claim_is_decided_from_nothing(part, regret):
    rows = part.judge(FULL, made_results(part.cells(FULL), lambda cell, t: regret))
    says_what_is_seen(rows)
    assert {row.finding.verdict for row in rows} == {UNDECIDED}
