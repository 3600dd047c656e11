"""The tail of the regret: what happens once in ten thousand runs. It needs millions of runs, and so a GPU."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bootleader.paper._cell_cache import Cell, Results
from bootleader.paper._line_styles import STYLES
from bootleader.paper._paper_bandits import FIG3_BANDITS
from bootleader.paper._paper_policies import ADAPTIVE, ORACLE_TS, PHE_2_1, REBOOT, TS, label
from bootleader.paper._report_part import PAPER_ROUNDS, QUICK_ROUNDS_DIVISOR, Drawing, Outcome, Part, Size, Table
from bootleader.paper.parts.robustness import SUITE, Case
from bootleader.policies import Policy

if TYPE_CHECKING:
    import pandas as pd

Floats = npt.NDArray[np.float64]

RUNS = 10_000_000
POLICIES: tuple[Policy, ...] = (REBOOT, ADAPTIVE, TS, PHE_2_1, ORACLE_TS)
LEVELS = (0.5, 0.99, 0.999, 0.9999)
LOCKED_OUT = 0.1  # of the pulls: the best of two arms is locked out of a run in which it gets at most this share
DRAWN = ("gauss10", "exp10", "bern .002/.006", "sd 3/.3")  # cases in the picture
POINTS = 60  # of a curve in the picture
LEAST_BEYOND = 10  # runs beyond the last point of a curve

CASES: dict[str, Case] = {
    **SUITE,
    "logistic10": Case(FIG3_BANDITS["logistic"], PAPER_ROUNDS, "10 logistic arms, means U(5, 7), sd 1"),
}


@dataclass(frozen=True)
class Estimate:
    """A number with its 95 % interval."""

    value: float
    low: float
    high: float


def _cell(size: Size, policy: Policy, case: Case) -> Cell:
    rounds = case.rounds
    if size.rounds is not None:
        rounds = min(rounds, size.rounds)
    elif size.quick:
        rounds //= QUICK_ROUNDS_DIVISOR
    return Cell(policy, case.bandit, rounds, size.runs_of(RUNS), size.seed)


def cells(size: Size) -> list[Cell]:
    """Every policy on every case."""
    return [_cell(size, policy, case) for case in CASES.values() for policy in POLICIES]


def quantile(ordered: Floats, level: float) -> Estimate:
    """A quantile of ordered numbers with the interval of order statistics, which assumes no distribution.

    Examples
    --------
    >>> quantile(np.arange(1000.0), 0.5)
    Estimate(value=499.5, low=468.0, high=531.0)
    """
    from scipy.stats import binom

    low, high = np.asarray(binom.ppf([0.025, 0.975], len(ordered), level))
    last = len(ordered) - 1
    return Estimate(
        float(np.quantile(ordered, level)), float(ordered[max(0, int(low) - 1)]), float(ordered[min(last, int(high))])
    )


def chance(count: int, runs: int) -> Estimate:
    """A probability with Clopper and Pearson's interval.

    Examples
    --------
    >>> chance(0, 100).low, round(chance(0, 100).high, 4)
    (0.0, 0.0362)
    """
    from scipy.stats import beta

    low = float(beta.ppf(0.025, count, runs - count + 1)) if count > 0 else 0.0
    high = float(beta.ppf(0.975, count + 1, runs - count)) if count < runs else 1.0
    return Estimate(count / runs, low, high)


def locked_out(regret: Floats, cell: Cell) -> Estimate | None:
    """The chance that the best of two given arms gets at most a tenth of the pulls; None on other bandits.

    With two arms the regret is the gap times the pulls of the worse one.
    """
    means = getattr(cell.bandit, "means", None)
    if not isinstance(means, tuple) or len(means) != 2:
        return None
    gap = abs(means[0] - means[1])
    most = (1.0 - LOCKED_OUT) * cell.rounds * gap * (1.0 - 1e-9)
    return chance(int(np.count_nonzero(regret >= most)), len(regret))


def measure(size: Size, results: Results) -> pd.DataFrame:
    """Quantiles and chances of every policy on every case; one row a policy, case and quantity."""
    import pandas as pd

    rows: list[dict[str, Any]] = []
    for title, case in CASES.items():
        for policy in POLICIES:
            cell = _cell(size, policy, case)
            result, ordered = results[cell], np.sort(results.final_regret(cell))
            found = {f"q{100 * level:g}": quantile(ordered, level) for level in LEVELS}
            wrong = round((1.0 - float(result.best_arm_recommended[0, -1])) * result.runs)
            found["wrong_arm"] = chance(wrong, result.runs)
            lock_out = locked_out(ordered, cell)
            if lock_out is not None:
                found["locked_out"] = lock_out
            for quantity, estimate in found.items():
                rows.append(
                    {"case": title, "policy": label(policy), "quantity": quantity, "value": estimate.value,
                     "low": estimate.low, "high": estimate.high, "runs": result.runs, "rounds": cell.rounds}
                )  # fmt: skip
    return pd.DataFrame(rows)


def curves(size: Size, results: Results) -> dict[str, dict[str, tuple[Floats, Floats]]]:
    """For each case of the picture and each policy: regrets, and the share of the runs that have more."""
    panels: dict[str, dict[str, tuple[Floats, Floats]]] = {}
    for title in DRAWN:
        panels[title] = {}
        for policy in POLICIES:
            regret = np.sort(results.final_regret(_cell(size, policy, CASES[title])))
            shares = np.logspace(0.0, np.log10(min(0.5, LEAST_BEYOND / len(regret))), POINTS)
            places = np.minimum((len(regret) * (1.0 - shares)).astype(np.int64), len(regret) - 1)
            panels[title][label(policy)] = regret[places], shares
    return panels


def analyse(size: Size, results: Results) -> Outcome:
    """The picture, and tables of quantiles and chances."""
    from bootleader.plots import tail_panels

    found, drawn = measure(size, results), curves(size, results)
    runs = size.runs_of(RUNS)
    titles = {f"{title}: {CASES[title].description}": panel for title, panel in drawn.items()}
    caption = (
        f"The share of {runs:,} runs whose regret is larger than the number below, down to {LEAST_BEYOND} runs. A "
        "curve that falls steeply has no bad surprises; a shelf is a share of the runs that lost the best arm."
    )
    return Outcome(
        drawings=[Drawing("tails", tail_panels(titles, STYLES, note=_note(size)), caption)],
        tables=[_quantiles(found), _chances(found)],
        numbers={"tails-numbers": found, "tails-curves": _curves_frame(drawn)},
    )


def _note(size: Size) -> str:
    shortened = size.quick or size.rounds is not None
    if size.runs_of(RUNS) == RUNS and not shortened:
        return ""
    horizons = ", shortened horizons" if shortened else ""
    return f"Not full size: {size.runs_of(RUNS):,} runs{horizons} (full size: {RUNS:,} runs)"


def _number(value: float) -> str:
    """Whole numbers from a thousand on, four digits below."""
    return f"{value:,.0f}" if value >= 1_000 else f"{value:.4g}"


def _quantiles(found: pd.DataFrame) -> Table:
    import pandas as pd

    rows = []
    for (case, policy), group in found.groupby(["case", "policy"], sort=False):
        values = group.set_index("quantity")
        row = {"case": case, "policy": policy, "runs": f"{group['runs'].iloc[0]:,}"}
        for level in LEVELS:
            entry: Any = values.loc[f"q{100 * level:g}"]
            row[f"{100 * level:g} %"] = f"{_number(entry.value)} [{_number(entry.low)}, {_number(entry.high)}]"
        rows.append(row)
    data = found[found["quantity"].str.startswith("q")]
    note = "Regret at the median and far in the tail, with 95 % intervals of order statistics."
    return Table("tails", "Quantiles of regret", pd.DataFrame(rows), data, note)


def _chances(found: pd.DataFrame) -> Table:
    import pandas as pd

    rows = []
    for (case, policy), group in found.groupby(["case", "policy"], sort=False):
        values = group.set_index("quantity")
        row = {"case": case, "policy": policy, "runs": f"{group['runs'].iloc[0]:,}"}
        for quantity, title in (("locked_out", "best arm locked out"), ("wrong_arm", "wrong arm at the end")):
            if quantity in values.index:
                entry = values.loc[quantity]
                row[title] = f"{entry.value:.3g} [{entry.low:.3g}, {entry.high:.3g}]"
            else:
                row[title] = "–"
        rows.append(row)
    data = found[~found["quantity"].str.startswith("q")]
    note = (
        "Locked out: the best of two arms gets at most a tenth of the pulls. Wrong arm: the one with the largest "
        "sample mean at the end is not the best. With 95 % intervals of Clopper and Pearson."
    )
    return Table("tails-chances", "Chances", pd.DataFrame(rows), data, note)


def _curves_frame(drawn: dict[str, dict[str, tuple[Floats, Floats]]]) -> pd.DataFrame:
    import pandas as pd

    frames = [
        pd.DataFrame({"case": title, "policy": name, "regret": regret, "share_of_runs": share})
        for title, panel in drawn.items()
        for name, (regret, share) in panel.items()
    ]
    return pd.concat(frames, ignore_index=True)


PART = Part(
    "tails", "The tail of the regret", cells, analyse,
    beyond_the_paper=True, by_default=False, takes="for a GPU: 14 trillion rounds",
)  # fmt: skip
