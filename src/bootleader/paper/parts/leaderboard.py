"""The leaderboard: every policy on every problem that it applies to, and published figures beside ours."""

from __future__ import annotations

from bootleader.paper import _leaderboard_tables as tables
from bootleader.paper import _published_results as published_results
from bootleader.paper._cell_cache import Cell, Results
from bootleader.paper._leaderboard_problems import GROUPS, PROBLEMS, RUNS, runs_at
from bootleader.paper._leaderboard_scores import (
    Scores,
    by_group,
    first_cells,
    nanoseconds,
    oracle_cells,
    rescaled_cells,
    scores,
    timed_cells,
)
from bootleader.paper._report_part import Drawing, Outcome, Part, Size


def cells(size: Size) -> list[Cell]:
    """Every policy and the oracle on every problem, the suite in the other unit too, and the published settings."""
    return [
        *timed_cells(size).values(),
        *oracle_cells(size).values(),
        *first_cells(size).values(),
        *rescaled_cells(size).values(),
        *published_results.cells(size),
    ]


def analyse(size: Size, results: Results) -> Outcome:
    """The picture, and the tables."""
    from bootleader.plots import ranked_dots, ratio_map

    first = first_cells(size)
    found = scores(first, size, results)
    rescaled = scores(rescaled_cells(size), size, results)
    blind, informed = (tables.losses(first, results, any_knowledge) for any_knowledge in (False, True))
    note = _note(size)
    label = "mean regret ÷ that of the oracle, which knows every arm’s sd (log scale): further right is worse"
    return Outcome(
        drawings=[
            Drawing(
                "leaderboard", ranked_dots(_dots(found), label, highlight=tables.OURS, note=note),
                f"Every policy, with what it must know set to the truth, on {len(PROBLEMS)} problems. One mark is the "
                "geometric mean over a group of problems; the tick and the number are the mean over the groups.",
            ),
            Drawing(
                "leaderboard-map",
                ratio_map({"Mean regret ÷ the oracle’s": _map(found)}, "times the oracle’s regret", note),
                "The same, problem by problem; blank where a policy does not apply.",
            ),
        ],
        tables=[
            tables.summary(found, rescaled, nanoseconds(size, results), size),
            tables.choice(found),
            tables.plainly(blind, informed),
            tables.losses_table(blind, informed),
            published_results.table(published_results.beside(size, results)),
            tables.every_problem(found),
            tables.problems(size),
        ],
        numbers={"leaderboard-ratios": tables.numbers(found), "leaderboard-other-unit": tables.numbers(rescaled)},
    )  # fmt: skip


def _dots(found: Scores) -> dict[str, dict[str, dict[str, float]]]:
    """Heading -> policy -> group -> ratio, in the order of the groups."""
    return {
        tables.KINDS[kind]: {
            name: {group: value for group in GROUPS if (value := by_group(found[name]).get(group)) is not None}
            for name in names
        }
        for kind, names in tables.sections(found).items()
    }


def _map(found: Scores) -> dict[str, dict[str, float]]:
    """Policy -> problem -> ratio, problems in the order of their groups."""
    order = sorted(PROBLEMS, key=lambda title: GROUPS.index(PROBLEMS[title].group))
    names = [name for members in tables.sections(found).values() for name in members]
    return {name: {title: found[name][title].ratio.value for title in order if title in found[name]} for name in names}


def _note(size: Size) -> str:
    shortened = size.quick or size.rounds is not None
    if runs_at(size, RUNS) == RUNS and not shortened:
        return ""
    horizons = ", shortened horizons" if shortened else ""
    return f"Not full size: {runs_at(size, RUNS):,} runs{horizons} (full size: {RUNS:,} runs)"


PART = Part(
    "leaderboard",
    "The leaderboard",
    cells,
    analyse,
    beyond_the_paper=True,
    by_default=False,
    takes="some 16 minutes on two cores",
)
