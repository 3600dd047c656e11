"""The claims about tables 1 and 2, on data made to hold and to fail."""

import numpy as np
import pytest

from bootleader.paper._bootstrap_intervals import Interval
from bootleader.paper._claims import Verdict
from bootleader.paper.parts import table1, table2


def seconds(ts, giro, phe, reboot):
    return {"TS N(0,1)": ts, "Giro 1": giro, "PHE 2.1": phe, "ReBoot 1.5": reboot}


def test_run_time_ordering_holds_in_all_settings_in_some_or_in_none():
    usual, odd = seconds(1.0, 20.0, 1.5, 1.0), seconds(1.0, 1.0, 9.0, 5.0)
    verdicts = {
        name: [row.finding.verdict for row in table2.judge(data)]
        for name, data in {
            "all": {(5, 1000): usual, (10, 1000): usual},
            "some": {(5, 1000): usual, (10, 1000): odd},
            "none": {(5, 1000): odd, (10, 1000): odd},
        }.items()
    }
    (comparable, *_) = table2.judge({(5, 1000): usual, (10, 1000): odd})
    assert comparable.finding.instead == (
        "Slowest / fastest is above 3 in 1 of 2 settings, 9 at K = 10, T = 1,000 "
        "(PHE 2.1 9e+03 ms, ReBoot 1.5 5e+03 ms, TS N(0,1) 1e+03 ms, Giro 1 1e+03 ms)."
    )
    assert verdicts == {"all": [Verdict.HOLDS] * 3, "some": [Verdict.IN_PART] * 3, "none": [Verdict.FAILS] * 3}


def test_the_papers_own_table_2_passes_its_own_claims():
    names = ("TS N(0,1)", "Giro 1", "PHE 2.1", "ReBoot 1.5")
    paper = {setting: dict(zip(names, row, strict=True)) for setting, row in table2.PAPER_SECONDS.items()}
    assert [row.finding.verdict for row in table2.judge(paper)] == [Verdict.HOLDS] * 3


def growths(**changed):
    exact = Interval(1.0, 0.9, 1.1)
    flat, square = Interval(0.0, 0.0, 0.0), Interval(2.0, 1.9, 2.1)
    found = {
        name: {"time_in_rounds": exact, "time_in_arms": exact, "memory_in_rounds": flat}
        for name in ("TS N(0,1)", "PHE 2.1", "ReBoot 1.5")
    }
    found["Giro 1"] = {"time_in_rounds": square, "time_in_arms": exact, "memory_in_rounds": exact}
    found["ReBoot 1.5"] |= changed
    return found


def test_table_1_fails_when_reboot_keeps_its_history():
    assert [row.finding.verdict for row in table1.judge(growths())] == [Verdict.HOLDS] * 4
    storage, _, time, arms = table1.judge(
        growths(memory_in_rounds=Interval(1.0, 0.9, 1.1), time_in_rounds=Interval(2.0, 1.9, 2.1))
    )
    assert (storage.finding.verdict, time.finding.verdict) == (Verdict.FAILS, Verdict.IN_PART)
    assert arms.finding.verdict is Verdict.HOLDS


@pytest.mark.parametrize("power", [0.0, 1.0, 2.0])
def test_fitted_exponent(power):
    sizes = np.array([1e3, 2e3, 4e3, 8e3])
    noisy = sizes**power * np.random.default_rng(2).lognormal(0.0, 0.02, 4)
    found = table1.fitted(sizes, noisy)
    assert found.low < power < found.high
    assert abs(found.value - power) < 0.1


def test_measured_storage_grows_for_giro_alone():
    from bootleader.paper._paper_policies import GIRO, REBOOT

    grown = {name: table1.bytes_held(policy, 4_000) - table1.bytes_held(policy, 500) for name, policy in
             {"reboot": REBOOT, "giro": GIRO}.items()}  # fmt: skip
    assert grown["giro"] > 3_500 * 8
    assert grown["reboot"] == 0
    assert table1.bytes_held(REBOOT, 500) > 10 * 4 * 8  # the moments of ten arms at the least


@pytest.mark.parametrize("values", [[0.0, 0.0, 1.0, 2.0], [0.0, 0.0, 0.0, 0.0], [1.0, np.nan, 2.0, 3.0]])
def test_times_that_a_coarse_clock_reads_as_zero_have_no_exponent(values):
    found = table1.fitted([1, 2, 4, 8], values)
    assert not found.is_computed
    assert table1.grows_no_faster("x", found, 1.0).verdict is Verdict.UNDECIDED


def test_run_times_of_zero_are_undecided():
    rows = table2.judge({(5, 1000): seconds(0.0, 0.0, 0.0, 0.0)})
    assert [row.finding.verdict for row in rows] == [Verdict.UNDECIDED] * 3
    assert all("cannot be computed" in row.finding.instead for row in rows)


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [(0.9, 1.2, Verdict.HOLDS), (0.9, 1.4, Verdict.UNDECIDED), (1.3, 1.5, Verdict.FAILS)],
)
def test_growth_is_judged_by_its_whole_interval(low, high, verdict):
    assert table1.grows_no_faster("x", Interval((low + high) / 2, low, high), 1.0).verdict is verdict
