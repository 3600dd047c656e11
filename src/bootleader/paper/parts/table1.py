"""Table 1: how time grows with T and K, and storage with T."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bootleader.bandits import GaussianBandit
from bootleader.paper import _claims as claims
from bootleader.paper._bootstrap_intervals import NOT_COMPUTED, Interval
from bootleader.paper._cell_cache import Cell, Results
from bootleader.paper._paper_policies import GIRO, PHE_2_1, REBOOT, TS, label
from bootleader.paper._report_part import Outcome, Part, Size, Table
from bootleader.policies import HistoryRule, Policy

if TYPE_CHECKING:
    import pandas as pd

POLICIES: tuple[Policy, ...] = (TS, GIRO, PHE_2_1, REBOOT)
PAPER_STORAGE = {label(TS): "O(K)", label(GIRO): "O(aT)", label(PHE_2_1): "O(K)", label(REBOOT): "O(K)"}
PAPER_TIME = {label(TS): "O(KT)", label(GIRO): "O(aT²)", label(PHE_2_1): "O(KT)", label(REBOOT): "O(KT)"}
TIME_IN_T = {"O(KT)": 1.0, "O(aT²)": 2.0}
STORAGE_IN_T = {"O(K)": 0.0, "O(aT)": 1.0}
# Growth shows in long runs and with many arms only, at any size of the reproduction: O(.) omits lower-order terms.
HORIZONS = (4_000, 5_600, 8_000, 11_200, 16_000, 22_400, 32_000)
ARMS, ARMS_ROUNDS = (40, 56, 80, 112, 160, 224, 320), 2_000
TOLERANCE = 0.25  # by which a fitted exponent may exceed the paper's


def _bandit(arms: int) -> GaussianBandit:
    return GaussianBandit(tuple(np.linspace(0.0, 1.0, arms)))


def _runs(policy: Policy) -> int:
    return 4 if isinstance(policy.rule, HistoryRule) else 32


def _in_rounds(size: Size, policy: Policy) -> dict[int, Cell]:
    return {T: Cell(policy, _bandit(10), T, _runs(policy), size.seed, timed=True) for T in HORIZONS}


def _in_arms(size: Size, policy: Policy) -> dict[int, Cell]:
    return {K: Cell(policy, _bandit(K), ARMS_ROUNDS, _runs(policy), size.seed, timed=True) for K in ARMS}


def cells(size: Size) -> list[Cell]:
    """Each policy at several horizons and with several numbers of arms, timed."""
    return [c for p in POLICIES for by in (_in_rounds(size, p), _in_arms(size, p)) for c in by.values()]


def fitted(sizes: Any, values: Any) -> Interval:
    """Slope of log value on log size with its 95 % interval (Student, n - 2 degrees of freedom).

    Examples
    --------
    >>> str(fitted([1, 2, 4, 8], [3.0, 12.0, 48.0, 192.0]))
    '2 [2, 2]'
    >>> str(fitted([1, 2, 4, 8], [1488, 1488, 1488, 1488]))
    '0 [0, 0]'
    >>> str(fitted([1, 2, 4, 8], [0.0, 0.0, 1.0, 2.0]))
    'nan [nan, nan]'
    """
    from scipy import stats

    positive = np.asarray(values, float) > 0.0
    if len(positive) < 3 or not positive.all():
        return NOT_COMPUTED
    if np.ptp(values) == 0:  # the fit is perfect; its standard error would be a quotient of rounding errors
        return Interval(0.0, 0.0, 0.0)
    fit = stats.linregress(np.log(np.asarray(sizes, float)), np.log(np.asarray(values, float)))
    half_width = float(stats.t.ppf(0.975, len(sizes) - 2)) * float(fit.stderr)
    slope, low, high = (round(float(fit.slope) + step, 12) + 0.0 for step in (0.0, -half_width, half_width))
    return Interval(slope, low, high)


def bytes_held(policy: Policy, rounds: int) -> int:
    """Bytes of the arrays that one run holds when it has been played, with a single checkpoint.

    Only arrays are counted: what the interpreter allocates for itself differs from one call to the next.
    """
    from bootleader.simulation._block_runs import Block, play_block
    from bootleader.simulation._work_stealing import InterruptFlag, WorkStealing

    class ArrayBytes(WorkStealing):
        """Counts the bytes of all arrays at the end of a run, before they are released."""

        held = 0

        def unregister(self, flag: InterruptFlag) -> bool:
            arrays = tracemalloc.DomainFilter(True, np.lib.tracemalloc_domain)
            self.held = sum(trace.size for trace in tracemalloc.take_snapshot().filter_traces([arrays]).traces)
            return super().unregister(flag)

    block = Block(policy, _bandit(10), 0, 0, 1, rounds, np.array([rounds]))
    play_block(replace(block, rounds=20))  # importing and compiling allocate arrays of their own
    measured = ArrayBytes()
    tracemalloc.start()
    try:
        play_block(block, measured)
    finally:
        tracemalloc.stop()
    return measured.held


def _seconds(results: Results, cells: dict[int, Cell]) -> list[float]:
    return [float(results[cell].seconds[0]) / cell.runs for cell in cells.values()]


def measure(size: Size, results: Results) -> dict[str, dict[str, Any]]:
    """Fitted exponents and memory of each policy."""
    found: dict[str, dict[str, Any]] = {}
    for policy in POLICIES:
        in_rounds, in_arms = _in_rounds(size, policy), _in_arms(size, policy)
        memory = [bytes_held(policy, T) for T in in_rounds]
        found[label(policy)] = {
            "time_in_rounds": fitted(list(in_rounds), _seconds(results, in_rounds)),
            "time_in_arms": fitted(list(in_arms), _seconds(results, in_arms)),
            "memory_in_rounds": fitted(list(in_rounds), memory),
            "bytes": memory,
            "rounds": list(in_rounds),
        }
    return found


def analyse(size: Size, results: Results) -> Outcome:
    """The table and the claims about it."""
    found = measure(size, results)
    return Outcome(tables=[_table(found)], claims=judge(found))


def _table(found: dict[str, dict[str, Any]]) -> Table:
    import pandas as pd

    shown = pd.DataFrame(
        [
            {
                "policy": name,
                "paper: storage": PAPER_STORAGE[name],
                "memory ∝ T^…": str(row["memory_in_rounds"]),
                "memory of a run": f"{row['bytes'][0] / 1024:,.0f} → {row['bytes'][-1] / 1024:,.0f} KiB",
                "paper: time": PAPER_TIME[name],
                "time ∝ T^…": str(row["time_in_rounds"]),
                "time ∝ K^…": str(row["time_in_arms"]),
            }
            for name, row in found.items()
        ]
    )
    note = (
        f"Exponents are slopes on log-log scales over {len(HORIZONS)} sizes, with 95 % intervals of the fit: "
        f"processor time on one core, T = {HORIZONS[0]:,} to {HORIZONS[-1]:,} at K = 10, and K = "
        f"{ARMS[0]} to {ARMS[-1]}; memory is that of the arrays that one run holds, at T = "
        f"{HORIZONS[0]:,} and {HORIZONS[-1]:,}."
    )
    return Table("table1", "Growth of time and storage", shown, _numbers(found), note)


def _numbers(found: dict[str, dict[str, Any]]) -> pd.DataFrame:
    import pandas as pd

    columns = ("time_in_rounds", "time_in_arms", "memory_in_rounds")
    rows = []
    for name, row in found.items():
        intervals = {f"{c}_{edge}": getattr(row[c], edge) for c in columns for edge in ("value", "low", "high")}
        memory = {f"bytes_at_{T}": b for T, b in zip(row["rounds"], row["bytes"], strict=True)}
        rows.append({"policy": name, **intervals, **memory})
    return pd.DataFrame(rows)


def grows_no_faster(name: str, exponent: Interval, expected: float) -> claims.Finding:
    """Whether growth is no faster than the paper's O(.), which is an upper bound."""
    finding = claims.is_below(f"Exponent of {name}", exponent, expected + TOLERANCE)
    return replace(finding, measured=f"{name}: exponent {exponent}, O(·) says {expected:g}")


def judge(found: dict[str, dict[str, Any]]) -> list[claims.Judged]:
    """Storage and time as table 1 states them."""
    where = "§2.5, table 1"
    rule = (
        f"Fitted exponent, with its whole interval, less than {TOLERANCE:g} above the paper’s (O(·) is an upper bound)."
    )
    reboot = label(REBOOT)
    others = [name for name in found if name != reboot]
    return [
        claims.judged(
            where, "ReBoot’s storage is O(K): it does not grow with T.", f"Memory of a run against T. {rule}",
            grows_no_faster(reboot, found[reboot]["memory_in_rounds"], STORAGE_IN_T[PAPER_STORAGE[reboot]]),
        ),
        claims.judged(
            where, "TS and PHE need O(K) storage, Giro O(aT).", f"Memory of a run against T. {rule}",
            claims.all_of(
                grows_no_faster(n, found[n]["memory_in_rounds"], STORAGE_IN_T[PAPER_STORAGE[n]]) for n in others
            ),
        ),
        claims.judged(
            where, "ReBoot, TS and PHE take O(KT) time, Giro O(aT²).", f"Time of a run against T. {rule}",
            claims.all_of(grows_no_faster(n, found[n]["time_in_rounds"], TIME_IN_T[PAPER_TIME[n]]) for n in found),
        ),
        claims.judged(
            where, "The time of ReBoot, TS and PHE grows at most in proportion to K.",
            f"Time of a run against K. {rule}",
            claims.all_of(grows_no_faster(n, found[n]["time_in_arms"], 1.0) for n in found if PAPER_TIME[n] == "O(KT)"),
        ),
    ]  # fmt: skip


PART = Part("table1", "Table 1. Growth of time and storage", cells, analyse)
