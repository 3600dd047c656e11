"""A simulation as tables: pandas frames, text and LaTeX."""

from __future__ import annotations

import math
import re
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from bootleader._core.validation import counted
from bootleader.simulation._bandit_json import text_of
from bootleader.simulation._paired_comparisons import LEVEL, Correction, Method, adjusted

if TYPE_CHECKING:
    import pandas as pd

    from bootleader.simulation.result import Simulation

WIDEST = 96  # letters of a bandit's description that a line has room for
NAMELESS = re.compile(r"<(?:[\w.<>]*\.)?(\w+) object at 0x[0-9A-Fa-f]+>")  # how an object without a repr prints
QUANTILES = {"median": 0.5, "quantile_95": 0.95, "quantile_99": 0.99}
OVER_TIME = ("mean_regret", "standard_error", "mean_reward", "best_arm_share", "simple_regret", "best_arm_recommended")
LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
        "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    }
)  # fmt: skip


def summary(sim: Simulation) -> pd.DataFrame:
    """One row a policy: the final regret over runs."""
    import pandas as pd

    quantiles = np.quantile(sim.final_regret, list(QUANTILES.values()), axis=1)
    return pd.DataFrame(
        {
            "policy": sim.policies,
            "mean_regret": sim.mean_regret[:, -1],
            "standard_error": sim.standard_error[:, -1],
            **dict(zip(QUANTILES, quantiles, strict=True)),
            "seconds": sim.seconds,
        }
    )


def frame_over_time(sim: Simulation) -> pd.DataFrame:
    """One row a policy and checkpoint."""
    import pandas as pd

    return pd.DataFrame(
        {
            "policy": np.repeat(sim.policies, len(sim.rounds)),
            "round": np.tile(sim.rounds, len(sim.policies)),
            **{name: getattr(sim, name).ravel() for name in OVER_TIME},
        }
    )


def frame_of_runs(sim: Simulation) -> pd.DataFrame:
    """One row a policy and run."""
    import pandas as pd

    return pd.DataFrame(
        {
            "policy": np.repeat(sim.policies, sim.runs),
            "run": np.tile(np.arange(sim.first_run, sim.first_run + sim.runs), len(sim.policies)),
            "final_regret": sim.final_regret.ravel(),
        }
    )


def frame_of_comparisons(
    sim: Simulation, correction: Correction | None, at: int | None, method: Method
) -> pd.DataFrame:
    """One row a pair of policies."""
    import pandas as pd

    if len(sim.policies) < 2:
        raise ValueError(f"compare_all needs at least two policies, this simulation has {sim.policies[0]!r} alone")
    pairs = [sim.compare(a, b, at=at, method=method) for a, b in combinations(range(len(sim.policies)), 2)]
    corrected = adjusted([pair.p_value for pair in pairs], correction)
    better = [
        "undecided" if not p < LEVEL else pair.a if pair.difference < 0.0 else pair.b
        for pair, p in zip(pairs, corrected, strict=True)
    ]
    columns = ("a", "b", "difference", "standard_error", "low", "high", "p_value")
    return pd.DataFrame(
        {
            **{name: [getattr(pair, name) for pair in pairs] for name in columns},
            "corrected_p_value": corrected,
            "better": better,
        }
    )


def latex(sim: Simulation) -> str:
    """A LaTeX table of the final regret, for the package booktabs; the smallest mean is bold."""
    means, errors = sim.mean_regret[:, -1], sim.standard_error[:, -1]
    quantiles = np.quantile(sim.final_regret, [0.5, 0.95], axis=1)
    rows = []
    for place, name in enumerate(sim.policies):
        mean, error = _with_error(float(means[place]), float(errors[place]))
        if len(sim.policies) > 1 and place == int(np.argmin(means)):
            mean = rf"\mathbf{{{mean}}}"
        figures = " & ".join(f"${_latex_number(value)}$" for value in quantiles[:, place])
        rows.append(rf"{name.translate(LATEX)} & ${mean}{error}$ & {figures} \\")
    head = (
        f"% {shortened(text_of(sim.bandit))}: {counted(int(sim.rounds[-1]), 'round')}, {counted(sim.runs, 'run')}, "
        f"seed {sim.seed}; mean over runs and its standard error; needs the package booktabs"
    )
    return "\n".join(
        [
            head,
            r"\begin{tabular}{lrrr}",
            r"\toprule",
            r"policy & mean regret & median & 95\,\% quantile \\",
            r"\midrule",
            *rows,
            r"\bottomrule",
            r"\end{tabular}",
            "",
        ]
    )


def _with_error(mean: float, error: float) -> tuple[str, str]:
    r"""A mean and its error in LaTeX, both to the error's second digit.

    Examples
    --------
    >>> print(*_with_error(123.456, 1.234), *_with_error(12345.6, 123.4), *_with_error(3.25, math.nan))
    123.5  \pm 1.2 12{,}346  \pm 123 3.25
    """
    if not math.isfinite(error) or error == 0.0:
        return _latex_number(mean), "" if not math.isfinite(error) else r" \pm 0"
    decimals = max(0, 1 - math.floor(math.log10(error)))
    return _grouped(f"{mean:,.{decimals}f}"), rf" \pm {_grouped(f'{error:,.{decimals}f}')}"


def _latex_number(value: float) -> str:
    return _grouped(readable(value)) if math.isfinite(value) else r"\text{--}"


def _grouped(text: str) -> str:
    """In mathematics a comma is followed by a space, unless it is in braces."""
    return text.replace(",", "{,}")


def table(sim: Simulation) -> str:
    """What ``print(sim)`` shows."""
    size = f"{counted(int(sim.rounds[-1]), 'round')}, {counted(sim.runs, 'run')}, seed {sim.seed}"
    formatters: Any = dict.fromkeys(("mean_regret", "standard_error", *QUANTILES), readable)
    formatters |= {"seconds": "{:.3g}".format}
    body = summary(sim).to_string(index=False, formatters=formatters)
    return f"{shortened(text_of(sim.bandit))}\n{size}{_played_on(sim)}\n\n{body}"


def _played_on(sim: Simulation) -> str:
    """Where the policies were played, if not all on the CPU."""
    if set(sim.devices) == {"cpu"}:
        return ""
    others = [name for name, device in zip(sim.policies, sim.devices, strict=True) if device != "cuda"]
    return ", on a GPU" + (f"; on the CPU {', '.join(others)}" if others else "")


def shortened(text: str) -> str:
    """A text in one line: of a bandit with very many means the first and the last.

    Examples
    --------
    >>> len(shortened("GaussianBandit(means=(" + "1.0, " * 1000 + "), sd=1.0)")) <= WIDEST
    True
    >>> shortened("<own.Trace object at 0x7f0123456789>")
    'Trace'
    """
    text = NAMELESS.sub(r"\1", " ".join(text.split()))
    return text if len(text) <= WIDEST else f"{text[: WIDEST - 30]} … {text[-24:]}"


def readable(value: float) -> str:
    """Four digits at least, and whole numbers in full: 1.234, 12.34, 133,421."""
    return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:,.4g}"
