"""Figures that others have published, beside ours, with a verdict."""

from __future__ import annotations

import csv
import io
import json
import math
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final

import numpy as np

from bootleader import policies as library
from bootleader.paper._cell_cache import Cell, Results
from bootleader.paper._leaderboard_problems import PROBLEMS, PUBLISHED_ONLY, RUNS
from bootleader.paper._report_part import Size, Table
from bootleader.policies import Policy

FILE: Final = "published_figures.csv"
ROUNDING: Final = 0.05  # published figures have one digit after the point
STANDARD_ERRORS: Final = 4.0
AGREES, DIFFERS = "agrees", "differs"


@dataclass(frozen=True)
class Published:
    """A published mean regret.

    Attributes
    ----------
    source, table : str
        Where it is from.
    problem : str
        Name of the problem.
    policy : Policy
        The policy in our words.
    rounds, runs : int
        Its size.
    figure : float
        The mean regret.
    standard_deviation : float
        Of the regret over the runs; NaN if it is not given.
    realised : bool
        Whether their regret is that of the rewards that were paid, instead of the arms' means.
    """

    source: str
    table: str
    problem: str
    policy: Policy
    rounds: int
    runs: int
    figure: float
    standard_deviation: float
    realised: bool = False

    @property
    def reward_noise(self) -> float:
        """Standard deviation that the best arm's rewards add to a realised regret, which has the same expectation."""
        arms = (PROBLEMS | PUBLISHED_ONLY)[self.problem].bandit.parameters_of(0, np.zeros(1, np.uint64))
        best = int(np.argmax(arms.mean[:, 0]))
        return math.sqrt(self.rounds) * float(arms.sd[best, 0]) if self.realised else 0.0

    def cell(self, size: Size) -> Cell:
        """Our simulation of it: anytime policies, so that shorter horizons are checkpoints of the longest."""
        return (PROBLEMS | PUBLISHED_ONLY)[self.problem].cell(size, self.policy, RUNS)


@dataclass(frozen=True)
class Beside:
    """A published figure beside ours."""

    published: Published
    mean: float
    standard_error: float
    their_standard_error: float

    @property
    def distance(self) -> float:
        """The difference in standard errors of both, less what rounding can explain."""
        difference = max(abs(self.mean - self.published.figure) - ROUNDING, 0.0)
        return difference / math.hypot(self.standard_error, self.their_standard_error)

    @property
    def verdict(self) -> str:
        """Whether the figures are within four standard errors of both."""
        return AGREES if self.distance <= STANDARD_ERRORS else DIFFERS


@cache
def published() -> tuple[Published, ...]:
    """The published figures of policies that the library has."""
    text = files("bootleader.paper").joinpath(FILE).read_text(encoding="utf-8")
    found = []
    for row in csv.DictReader(io.StringIO(text)):
        policy = _policy(row["policy"], row["parameters"])
        if policy is not None:
            found.append(
                Published(
                    row["source"], row["table"], row["problem"], policy, int(row["rounds"]), int(row["runs"]),
                    float(row["figure"]), float(row["standard_deviation"] or math.nan), row["regret"] == "realised",
                )
            )  # fmt: skip
    return tuple(found)


def _policy(name: str, parameters: str) -> Policy | None:
    """A policy by its name and parameters in JSON, where infinity is "inf"; None if the library does not have it."""
    kind: Any = getattr(library, name, None)
    if kind is None:
        return None
    given = {key: math.inf if value == "inf" else value for key, value in json.loads(parameters or "{}").items()}
    made: Policy = kind(**given)
    return made


def cells(size: Size) -> list[Cell]:
    """The simulations that are compared with published figures."""
    return [figure.cell(size) for figure in published()]


def beside(size: Size, results: Results) -> list[Beside]:
    """Ours beside theirs; figures at horizons that were not played are left out."""
    found = []
    for figure in published():
        cell = figure.cell(size)
        result = results[cell]
        (at,) = np.nonzero(result.rounds == figure.rounds)
        if len(at) == 0:
            continue
        mean, error = result.over_time[0, 0, :, int(at[0])]
        sd = float(error) * math.sqrt(cell.runs)
        their_sd = sd if math.isnan(figure.standard_deviation) else figure.standard_deviation
        their_sd = math.hypot(their_sd, figure.reward_noise)
        found.append(Beside(figure, float(mean), float(error), their_sd / math.sqrt(figure.runs)))
    return found


def table(rows: list[Beside]) -> Table:
    """The external column: every published figure beside ours."""
    import pandas as pd

    shown = pd.DataFrame(
        [
            {"where": f"{row.published.source}, {row.published.table}", "problem": row.published.problem,
             "policy": str(row.published.policy), "rounds": f"{row.published.rounds:,}",
             "published": f"{row.published.figure:,.1f} ± {row.their_standard_error:.2g}",
             "ours": f"{row.mean:,.1f} ± {row.standard_error:.2g}",
             "standard errors apart": f"{row.distance:.1f}", "verdict": row.verdict}
            for row in rows
        ],
        columns=["where", "problem", "policy", "rounds", "published", "ours", "standard errors apart", "verdict"],
    )  # fmt: skip
    data = pd.DataFrame(
        [
            {"source": row.published.source, "table": row.published.table, "problem": row.published.problem,
             "policy": str(row.published.policy), "rounds": row.published.rounds, "published": row.published.figure,
             "published_runs": row.published.runs, "published_standard_error": row.their_standard_error,
             "mean_regret": row.mean, "standard_error": row.standard_error, "distance": row.distance,
             "verdict": row.verdict}
            for row in rows
        ]
    )  # fmt: skip
    differing = sum(row.verdict == DIFFERS for row in rows)
    note = (
        f"Figure ± standard error. A figure agrees if it is within {STANDARD_ERRORS:g} standard errors of both: "
        f"{len(rows) - differing} of {len(rows)} do. Where a source gives no standard deviation, ours stands for it. "
        "Where it counts the rewards that were paid instead of the arms' means, that of the rewards is added."
    )
    return Table("leaderboard-published", "Published figures beside ours", shown, data, note)
