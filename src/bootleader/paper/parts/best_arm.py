"""Finding the best arm: simple regret, and how often the best arm is recommended, after a number of rounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from bootleader import policies as library
from bootleader.bandits import Bandit, BernoulliBandit, GaussianBandit
from bootleader.paper._cell_cache import Cell, Results
from bootleader.paper._contenders import contender_for, facts_of, informed
from bootleader.paper._report_part import Drawing, Outcome, Part, Size, Table
from bootleader.policies import POLICIES, EpsilonGreedy, Policy
from bootleader.simulation._block_runs import QUANTITIES

if TYPE_CHECKING:
    import pandas as pd

RUNS, ROUNDS = 2_000, 2_000
SHARES: Final = (0.125, 0.25, 0.5, 1.0)  # of the rounds, at which an arm is recommended
UNIFORM: Final = "uniform pulls"
REGRET_POLICIES: Final = ("AdaptiveReBoot", "StudentThompson", "ThompsonSampling", "UCB1", "RBSDA")
MADE_FOR_IT: Final = ("TopTwoThompson", "SuccessiveRejects")

BANDITS: Final[dict[str, Bandit]] = {
    "one arm .25 above nine": GaussianBandit((0.25, *9 * (0.0,))),
    "ten arms, steps of .1": GaussianBandit(tuple(0.1 * k for k in range(9, -1, -1))),
    "Bernoulli .5 and 19 × .4": BernoulliBandit((0.5, *19 * (0.4,))),
}


@dataclass(frozen=True)
class Recommendation:
    """What is recommended after some rounds: the arm with the largest mean."""

    rounds: int
    error: float  # share of the runs in which it is not the best arm
    error_standard_error: float
    simple_regret: float
    simple_regret_standard_error: float


def horizons(size: Size) -> list[int]:
    """The rounds after which an arm is recommended."""
    return [int(share * size.rounds_of(ROUNDS)) for share in SHARES]


def policies(bandit: Bandit, rounds: int) -> dict[str, Policy]:
    """Uniform pulls, policies for regret, and those that are made to find the best arm, as far as they are there."""
    found: dict[str, Policy] = {UNIFORM: EpsilonGreedy(epsilon=1.0)}
    examples = {type(policy).__name__: policy for policy in reversed(POLICIES)}
    for name in (*REGRET_POLICIES, *MADE_FOR_IT):
        policy = examples.get(name)
        made = contender_for(policy, bandit, rounds) if policy is not None else None
        if made is not None:
            found[name] = made
    return found


def _cells(size: Size, title: str) -> dict[str, list[Cell]]:
    """The cells of every policy: one, or one for each horizon if the policy plans for it."""
    bandit, ends = BANDITS[title], horizons(size)
    found: dict[str, list[Cell]] = {}
    for name, policy in policies(bandit, ends[-1]).items():
        rounds = ends if plans_ahead(policy) else ends[-1:]
        found[name] = [_cell(size, policy, bandit, end) for end in rounds]
    return found


def plans_ahead(policy: Policy) -> bool:
    """Whether the policy depends on the number of rounds."""
    return library.Knowledge.HORIZON in policy.must_know


def _cell(size: Size, policy: Policy, bandit: Bandit, rounds: int) -> Cell:
    planned = informed(policy, facts_of(bandit, rounds)) if plans_ahead(policy) else policy
    assert planned is not None
    return Cell(planned, bandit, rounds, size.runs_of(RUNS), size.seed)


def cells(size: Size) -> list[Cell]:
    """Every policy on every bandit."""
    return [cell for title in BANDITS for row in _cells(size, title).values() for cell in row]


def recommendations(size: Size, results: Results, row: list[Cell]) -> list[Recommendation]:
    """What a policy recommends at every horizon."""
    found = []
    for end in horizons(size):
        cell = next((cell for cell in row if cell.rounds == end), row[-1])
        result = results[cell]
        at = int(np.searchsorted(result.rounds, end))
        at = min(at, len(result.rounds) - 1)
        right, right_error = result.over_time[0, QUANTITIES.index("best_arm_recommended"), :, at]
        regret, regret_error = result.over_time[0, QUANTITIES.index("simple_regret"), :, at]
        found.append(Recommendation(end, 1.0 - float(right), float(right_error), float(regret), float(regret_error)))
    return found


def analyse(size: Size, results: Results) -> Outcome:
    """Errors over the rounds, and a table."""
    from bootleader.plots import Curve, family_styles, regret_panels

    found = {
        title: {name: recommendations(size, results, row) for name, row in _cells(size, title).items()}
        for title in BANDITS
    }
    names = list(dict.fromkeys(name for row in found.values() for name in row))
    panels = {
        title: {
            name: Curve([r.rounds for r in row], [r.error for r in row], [r.error_standard_error for r in row])
            for name, row in table.items()
        }
        for title, table in found.items()
    }
    note = size.remark(RUNS, ROUNDS)
    figure = regret_panels(panels, family_styles(names), note=note, ylabel="share of runs with a wrong arm")
    return Outcome(
        drawings=[
            Drawing(
                "best-arm", figure,
                f"Share of {size.runs_of(RUNS):,} runs in which the arm with the largest mean is not the best one. "
                "TopTwoThompson and SuccessiveRejects are made to find it; the others are made for little regret.",
            )
        ],
        tables=[_table(size, found)],
        numbers={"best-arm": _numbers(found)},
    )  # fmt: skip


Found = Mapping[str, Mapping[str, list[Recommendation]]]


def _table(size: Size, found: Found) -> Table:
    import pandas as pd

    names = list(dict.fromkeys(name for row in found.values() for name in row))
    shown = []
    for name in names:
        line = {"policy": name}
        for title, table in found.items():
            if name not in table:
                continue
            last = table[name][-1]
            line[f"{title}: wrong arm"] = f"{100.0 * last.error:.1f} ± {100.0 * last.error_standard_error:.1f} %"
            line[f"{title}: simple regret"] = f"{last.simple_regret:.4f} ± {last.simple_regret_standard_error:.4f}"
        shown.append(line)
    note = (
        f"After {horizons(size)[-1]:,} rounds, {size.runs_of(RUNS):,} runs; ± one standard error. Recommended is "
        "the arm with the largest mean."
    )
    return Table("best-arm", "The recommended arm", pd.DataFrame(shown).fillna("–"), _numbers(found), note)


def _numbers(found: Found) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(
        [
            {"bandit": title, "policy": name, "rounds": r.rounds, "wrong_arm": r.error,
             "wrong_arm_standard_error": r.error_standard_error, "simple_regret": r.simple_regret,
             "simple_regret_standard_error": r.simple_regret_standard_error}
            for title, table in found.items()
            for name, row in table.items()
            for r in row
        ]
    )  # fmt: skip


PART = Part(
    "best-arm", "Finding the best arm", cells, analyse,
    beyond_the_paper=True, by_default=False, takes="some 10 seconds on two cores",
)  # fmt: skip
