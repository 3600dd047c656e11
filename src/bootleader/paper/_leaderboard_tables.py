"""Tables of the leaderboard: all policies, every problem, where AdaptiveReBoot loses, and what to use."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from bootleader.paper._bootstrap_intervals import Floats, Interval
from bootleader.paper._cell_cache import Cell, Results
from bootleader.paper._contenders import bytes_kept, contender_for, contenders
from bootleader.paper._leaderboard_problems import GROUPS, PROBLEMS
from bootleader.paper._leaderboard_scores import (
    NORMAL_999,
    TIMED_BANDIT,
    TIMED_ROUNDS,
    Score,
    Scores,
    by_group,
    geometric_mean,
    knowledge_group,
    knowledge_of,
    paired_ratio,
    ranked,
    typical,
)
from bootleader.paper._report_part import Size, Table

OURS: Final = "AdaptiveReBoot"
KINDS: Final = {
    "nothing": "must know nothing",
    "sd": "must know the sd",
    "prior": "must know the sd and a prior",
    "family": "must know the family of the rewards",
    "range": "must know the range: Bernoulli only",
}
MISSING: Final = "–"


def sections(found: Scores) -> dict[str, list[str]]:
    """The policies by what they must know, each group from the best to the worst."""
    order = ranked(found)
    groups = {kind: [name for name in order if knowledge_group(name) == kind] for kind in KINDS}
    return {kind: names for kind, names in groups.items() if names}


def _number(value: float, digits: int = 3) -> str:
    return MISSING if math.isnan(value) else f"{value:,.{digits}g}" if value < 1000 else f"{value:,.0f}"


def _bytes(count: int) -> str:
    return f"{count} B" if count < 10_000 else f"{count / 1024:,.0f} KiB"


def summary(found: Scores, rescaled: Scores, times: Mapping[str, float], size: Size) -> Table:
    """One row a policy."""
    import pandas as pd

    shown, data = [], []
    for kind, names in sections(found).items():
        for name in names:
            row, groups = found[name], by_group(found[name])
            worst = max(row, key=lambda title: row[title].ratio.value)
            tails = geometric_mean(entry.quantile_ratio for entry in row.values())
            other = other_unit(name, found, rescaled)
            policy = contenders()[name]
            kept = bytes_kept(contender_for(policy, TIMED_BANDIT, TIMED_ROUNDS) or policy, 10, TIMED_ROUNDS)
            fewest = min(entry.runs for entry in row.values())
            shown.append(
                {"policy": name, "must know": knowledge_of(name), "problems": f"{len(row)} of {len(PROBLEMS)}",
                 "typical": _number(typical(row)),
                 **{group: _number(groups.get(group, math.nan)) for group in GROUPS},
                 "worst": f"{_number(row[worst].ratio.value)} ({worst})", "99 %, typical": _number(tails),
                 "other unit": _number(other), "ns a round": _number(times.get(name, math.nan)),
                 "memory": _bytes(kept), "runs": f"{fewest:,}"}
            )  # fmt: skip
            data.append(
                {"policy": name, "must_know": knowledge_of(name), "kind": kind, "problems": len(row),
                 "typical_ratio": typical(row),
                 **{f"{group.replace(' ', '_').lower()}_ratio": groups.get(group, math.nan) for group in GROUPS},
                 "worst_ratio": row[worst].ratio.value, "worst_problem": worst, "typical_q99_ratio": tails,
                 "other_unit_ratio": other, "nanoseconds_a_round": times.get(name, math.nan), "bytes": kept,
                 "fewest_runs": fewest}
            )  # fmt: skip
    note = (
        "Regret over that of the oracle, Thompson sampling with every arm’s true sd and a flat prior. Typical: the "
        "geometric mean over the groups of problems, each the geometric mean over its problems. Other unit: the suite "
        "with rewards times 1,000 less a million and the same parameters, – where the policy cannot take such rewards. "
        f"Time and memory: ten Bernoulli arms with means U(0, 1), {TIMED_ROUNDS:,} rounds. The column *runs* has the "
        "fewest of a problem. Policies on one problem play the same runs. EnsembleSampling’s prior has mean and sd of "
        "the problem’s own arms, which favours it; ThompsonSampling has the flat prior."
    )
    return Table("leaderboard", "All policies", pd.DataFrame(shown), pd.DataFrame(data), note)


def other_unit(name: str, found: Scores, rescaled: Scores) -> float:
    """Typical ratio on the suite in the other unit; choices of an equivariant policy are the same in both."""
    from bootleader.paper.parts.robustness import SUITE

    if contenders()[name].equivariant:
        return typical({title: entry for title, entry in found[name].items() if title in SUITE})
    return typical(rescaled[name]) if name in rescaled else math.nan


def every_problem(found: Scores) -> Table:
    """Mean regret with its standard error, one row a policy and one column a problem."""
    import pandas as pd

    names = [name for members in sections(found).values() for name in members]
    shown = [
        {"problem": title}
        | {
            name: f"{_number(found[name][title].mean)} ± {found[name][title].standard_error:.2g}"
            if title in found[name]
            else MISSING
            for name in names
        }
        for title in PROBLEMS
    ]
    return Table(
        "leaderboard-problems", "Mean regret on every problem", pd.DataFrame(shown), numbers(found),
        "Mean regret ± standard error; – where a policy does not apply.",
    )  # fmt: skip


def numbers(found: Scores) -> Any:
    """Everything that was measured, one row a policy and problem."""
    import pandas as pd

    return pd.DataFrame(
        [
            {"policy": name, "must_know": knowledge_of(name), "problem": title, "group": PROBLEMS[title].group,
             "runs": entry.runs, "mean_regret": entry.mean, "standard_error": entry.standard_error,
             "q99_regret": entry.quantile, "mean_ratio": entry.ratio.value, "low": entry.ratio.low,
             "high": entry.ratio.high, "q99_ratio": entry.quantile_ratio}
            for name, row in found.items()
            for title, entry in row.items()
        ]
    )  # fmt: skip


def problems(size: Size) -> Table:
    """The problems."""
    import pandas as pd

    data = pd.DataFrame(
        [
            {"problem": title, "group": problem.group, "bandit": problem.description, "rounds": problem.rounds_at(size)}
            for title, problem in PROBLEMS.items()
        ]
    )
    return Table("leaderboard-bandits", "The problems", data.assign(rounds=data["rounds"].map("{:,}".format)), data)


@dataclass(frozen=True)
class Loss:
    """AdaptiveReBoot's regret over that of the best rival of a kind on a problem."""

    problem: str
    rival: str
    ratio: Interval
    runs: int

    @property
    def is_loss(self) -> bool:
        """Whether the whole interval is above 1."""
        return self.ratio.low > 1.0


def losses(cells: Mapping[tuple[str, str], Cell], results: Results, any_knowledge: bool) -> list[Loss]:
    """The rival with the least mean regret on every problem, against AdaptiveReBoot on the same runs.

    Without ``any_knowledge`` only those that must know nothing are rivals. The intervals have a level of 99.9 %,
    because the best of many rivals is compared on many problems.
    """
    regrets: dict[str, dict[str, Floats]] = {}
    for (name, title), cell in cells.items():
        regrets.setdefault(title, {})[name] = results.final_regret(cell)
    found = []
    for title, row in regrets.items():
        rivals = {
            name: regret for name, regret in row.items()
            if name != OURS and (any_knowledge or knowledge_group(name) == "nothing")
        }  # fmt: skip
        best = min(rivals, key=lambda name: float(rivals[name].mean()))
        ratio = paired_ratio(row[OURS], rivals[best], NORMAL_999)
        found.append(Loss(title, best, ratio, min(len(row[OURS]), len(rivals[best]))))
    return found


def losses_table(blind: list[Loss], informed: list[Loss]) -> Table:
    """Where AdaptiveReBoot loses, to whom and by how much."""
    import pandas as pd

    shown = pd.DataFrame(
        [
            {"problem": ours.problem, "bandit": PROBLEMS[ours.problem].description,
             "best that must know nothing": ours.rival, "AdaptiveReBoot’s regret over its": str(ours.ratio),
             "": _verdict(ours), "best of all": f"{other.rival} ({knowledge_of(other.rival)})",
             "AdaptiveReBoot’s regret over that": str(other.ratio), " ": _verdict(other)}
            for ours, other in zip(blind, informed, strict=True)
        ]
    )  # fmt: skip
    data = pd.DataFrame(
        [
            {"problem": loss.problem, "rivals": rivals, "best_rival": loss.rival, "ratio": loss.ratio.value,
             "low": loss.ratio.low, "high": loss.ratio.high, "verdict": _verdict(loss), "runs": loss.runs}
            for rivals, table in (("must know nothing", blind), ("all", informed))
            for loss in table
        ]
    )  # fmt: skip
    note = "Ratio of mean regrets on the same runs with its 99.9 % interval: a loss if it is above 1, a win if below."
    return Table("leaderboard-losses", "Where AdaptiveReBoot loses", shown, data, note)


def _verdict(loss: Loss) -> str:
    return "loses" if loss.is_loss else "wins" if loss.ratio.high < 1.0 else "undecided"


def plainly(blind: list[Loss], informed: list[Loss]) -> Table:
    """The same in words: one line a kind of rival."""
    import pandas as pd

    rows = []
    for rivals, table in (
        ("policies that must know nothing", blind),
        ("all policies, each with what it must know", informed),
    ):
        lost = [loss for loss in table if loss.is_loss]
        won = [loss for loss in table if loss.ratio.high < 1.0]
        worst = max(lost, key=lambda loss: loss.ratio.value, default=None)
        counts = Counter(loss.rival for loss in lost)
        names = sorted(counts, key=lambda name: (-counts[name], name))
        rows.append(
            {"against the best of": rivals, "problems": len(table), "loses": len(lost), "wins": len(won),
             "undecided": len(table) - len(lost) - len(won), "loses to": ", ".join(names) or MISSING,
             "typical loss": _number(geometric_mean(loss.ratio.value for loss in lost)),
             "worst loss": f"{_number(worst.ratio.value)} ({worst.problem}, {worst.rival})" if worst else MISSING}
        )  # fmt: skip
    frame = pd.DataFrame(rows)
    data = frame.rename(columns=lambda name: name.replace(" ", "_").lower())
    return Table("leaderboard-losses-summary", "AdaptiveReBoot’s losses, counted", frame, data)


def _plays_all(row: Mapping[str, Score], group: str) -> bool:
    return all(title in row for title, problem in PROBLEMS.items() if problem.group == group)


def choice(found: Scores) -> Table:
    """The best policy of each kind in each group of problems."""
    import pandas as pd

    shown = []
    for kind, names in sections(found).items():
        groups = {name: by_group(found[name]) for name in names}
        row = {"you know": KINDS[kind].removeprefix("must know ")}
        for group in GROUPS:
            able = [name for name in names if _plays_all(found[name], group)]
            best = min(able, key=lambda name: groups[name][group], default=None)
            row[group] = f"{best} {_number(groups[best][group])}" if best else MISSING
        everywhere = [name for name in names if len(found[name]) == len(PROBLEMS)]
        best = min(everywhere, key=lambda name: typical(found[name]), default=None)
        row["over all"] = f"{best} {_number(typical(found[best]))}" if best else MISSING
        shown.append(row)
    frame = pd.DataFrame(shown)
    note = (
        "The policy with the least regret in each group of problems, of those that play all of them, and its ratio to "
        "the oracle’s."
    )
    data = frame.rename(columns=lambda name: name.replace(" ", "_").lower())
    return Table("leaderboard-choice", "What to use", frame, data, note)
