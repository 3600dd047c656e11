"""Simulate policies on observed rewards, and rank them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bootleader._core.printable_text import printable
from bootleader._core.validation import counted, seed_of, whole
from bootleader.comparison._reward_table import Rewards, read_rewards
from bootleader.policies import (
    PHE,
    POLICIES,
    UCB1,
    AdaptiveReBoot,
    EpsilonGreedy,
    FollowTheLeader,
    Giro,
    Policy,
    ReBoot,
    ResidualBootstrap,
    StudentThompson,
    ThompsonSampling,
)
from bootleader.simulation._simulate import simulate
from bootleader.simulation.result import Simulation

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

ARMS_SHOWN: Final = 20
INFLATION: Final = 1.5  # the paper's choice of sigma_a, in standard deviations
ORACLE: Final = "ThompsonSampling (oracle)"
NOTHING: Final = "nothing"
NEED_SD: Final = ("ReBoot", "UCB1", "ThompsonSampling")


@dataclass(frozen=True)
class Candidate:
    """A policy that can be compared, its label, and what it knows about the rewards before the first round."""

    label: str
    policy: Any
    knows: str


def candidates_for(rewards: Rewards) -> list[Candidate]:
    """Every policy of the library that these rewards allow."""
    sd = rewards.pooled_sd
    unit = "rewards in [0, 1]" + ("" if _within_unit(rewards) else ", which is wrong here")
    found = [
        Candidate("AdaptiveReBoot", AdaptiveReBoot(), NOTHING),
        Candidate("StudentThompson", StudentThompson(), NOTHING),
        Candidate("EpsilonGreedy 0.1", EpsilonGreedy(0.1), NOTHING),
        Candidate("FollowTheLeader", FollowTheLeader(), NOTHING),
    ]
    if sd > 0.0:
        pooled = f"pooled sd, {sd:.3g}"
        found += [
            Candidate("ReBoot", ReBoot(sigma_a=INFLATION * sd), pooled),
            Candidate("UCB1", UCB1(sd=sd), pooled),
            Candidate(ORACLE, ThompsonSampling(prior_sd=math.inf, noise_sd="oracle"), "sd of every arm"),
        ]
    return [
        *found,
        Candidate("PHE 2.1", PHE(a=2.1), unit),
        Candidate("Giro 1", Giro(a=1), unit),
        Candidate("ResidualBootstrap", ResidualBootstrap(), NOTHING),
    ]


def left_out(rewards: Rewards) -> dict[str, str]:
    """The policies that are not compared by default, and why."""
    found = {
        "Giro": "slow: it reads the whole history in every round",
        "ResidualBootstrap": "linear regret: it can stop exploring",
    }
    if not _within_unit(rewards):
        found["PHE"] = "made for rewards in [0, 1]"
    if rewards.pooled_sd == 0.0:
        found |= dict.fromkeys(NEED_SD, "needs a standard deviation, and no arm has two different rewards")
    return found


def chosen(rewards: Rewards, policies: Sequence[Any] | None = None) -> list[Candidate]:
    """The candidates to compare: those that were asked for, by class name or as objects, or all that suit."""
    possible, out = candidates_for(rewards), left_out(rewards)
    if not policies:
        return [candidate for candidate in possible if type(candidate.policy).__name__ not in out]
    known = {type(policy).__name__ for policy in POLICIES}
    wanted: list[Candidate] = []
    for policy in policies:
        if not isinstance(policy, str):
            label = str(getattr(policy, "name", type(policy).__name__))
            wanted.append(Candidate(label, policy, "as given"))
            continue
        if policy not in known:
            raise ValueError(f"unknown policy {printable(policy)!r}; there are {', '.join(sorted(known))}")
        alike = [candidate for candidate in possible if type(candidate.policy).__name__ == policy]
        if not alike:
            why = out.get(policy, "it needs parameters; give it to bl.compare as an object")
            raise ValueError(f"{policy} cannot play these rewards: {why}")
        wanted += alike
    return wanted


def _within_unit(rewards: Rewards) -> bool:
    return all(np.min(sample) >= 0.0 and np.max(sample) <= 1.0 for sample in rewards.bandit.samples)


@dataclass(frozen=True, eq=False, repr=False)
class Ranking:
    """Policies ranked by their regret on observed rewards. Printing it shows the arms, the policies and the verdict.

    Attributes
    ----------
    rewards : Rewards
        The observed rewards.
    simulation : Simulation
        The regret of every policy, as :func:`bootleader.simulate` returns it.
    knows : mapping of str to str
        What each policy knows about the rewards before the first round.
    left_out : mapping of str to str
        Policies that were not compared, and why. Empty if the policies were chosen.

    Examples
    --------
    >>> import bootleader as bl
    >>> observed = {"blue": [0.0, 1.0, 2.0, 1.0], "red": [5.0, 6.0, 7.0, 6.0]}
    >>> ranking = bl.compare(observed, rounds=200, runs=20)
    >>> ranking.best in ranking.simulation.policies
    True
    >>> ranking.left_out["PHE"]
    'made for rewards in [0, 1]'
    """

    rewards: Rewards
    simulation: Simulation
    knows: Mapping[str, str]
    left_out: Mapping[str, str]

    @property
    def best(self) -> str | None:
        """The policy with the least mean regret among those that can be run in practice: the oracle cannot."""
        order = self._order()
        return order[0] if order else None

    def arms(self) -> pd.DataFrame:
        """Return one row per arm, best first.

        Returns
        -------
        pandas.DataFrame
            Columns arm, rewards (their number), mean and standard_error.
        """
        import pandas as pd

        observed = self.rewards
        frame = pd.DataFrame(
            {
                "arm": observed.names,
                "rewards": observed.counts,
                "mean": observed.means,
                "standard_error": observed.standard_errors,
            }
        )
        return frame.sort_values("mean", ascending=not observed.maximize, kind="stable", ignore_index=True)

    def summary(self) -> pd.DataFrame:
        """Return one row per policy, best first.

        Returns
        -------
        pandas.DataFrame
            Columns policy, knows, mean_regret, standard_error, and median, quantile_95 and quantile_99 over runs.
        """
        import pandas as pd

        final = self.simulation.final_regret
        median, high, highest = np.quantile(final, [0.5, 0.95, 0.99], axis=1)
        frame = pd.DataFrame(
            {
                "policy": self.simulation.policies,
                "knows": [self.knows[name] for name in self.simulation.policies],
                "mean_regret": final.mean(axis=1),
                "standard_error": final.std(axis=1, ddof=1) / math.sqrt(self.simulation.runs),
                "median": median,
                "quantile_95": high,
                "quantile_99": highest,
            }
        )
        return frame.sort_values("mean_regret", kind="stable", ignore_index=True)

    def verdict(self) -> str:
        """Return which policy does best, whether the runs are enough to say so, and the oracle for scale.

        Returns
        -------
        str
            One or two sentences; empty if there is nothing to rank.
        """
        regret = self._regret()
        order = self._order()
        sentences = [_best(self.simulation, *order[:2])] if len(order) > 1 else []
        if ORACLE in regret:
            beside = f"{regret[ORACLE]:,.4g} regret" + (f" against {regret[order[0]]:,.4g}" if order else "")
            sentences.append(f"For scale, {ORACLE}, which knows the sd of every arm: {beside}.")
        return "\n".join(sentences)

    def plot(self, path: str | PathLike[str] | None = None, **options: Any) -> Figure:
        """Draw the regret curves.

        Parameters
        ----------
        path : path, optional
            Where to write the figure: .png, .svg or .pdf.
        **options
            As for :meth:`bootleader.Simulation.plot`. The y axis is logarithmic unless ``yscale="linear"``: regrets of
            good and bad policies differ by orders of magnitude.

        Returns
        -------
        matplotlib.figure.Figure
            The figure.
        """
        positive = bool((self.simulation.final_regret.mean(axis=1) > 0.0).all())
        return self.simulation.plot(path, **{"yscale": "log" if positive else "linear"} | options)

    def _regret(self) -> dict[str, float]:
        return dict(zip(self.simulation.policies, map(float, self.simulation.final_regret.mean(axis=1)), strict=True))

    def _order(self) -> list[str]:
        regret = self._regret()
        return [name for name in sorted(regret, key=lambda name: regret[name]) if name != ORACLE]

    def __str__(self) -> str:
        arms = self.arms()
        cut = f"\n(the {ARMS_SHOWN} best of {len(arms):,} arms)" if len(arms) > ARMS_SHOWN else ""
        arms = arms.head(ARMS_SHOWN)
        arms["arm"] = [printable(name) for name in arms["arm"]]
        better = "" if self.rewards.maximize else "; smaller rewards are better"
        sim = self.simulation
        size = f"{counted(int(sim.rounds[-1]), 'round')}, {counted(sim.runs, 'run')}, seed {sim.seed}"
        listed: dict[str, list[str]] = {}
        for name, why in self.left_out.items():
            listed.setdefault(why, []).append(name)
        formats: Any = {
            "mean": "{:.6g}".format,
            "standard_error": lambda error: "-" if error != error else f"{error:.2g}",
        }
        texts = (
            arms.to_string(index=False, na_rep="-", formatters=formats) + cut,
            f"{size}; regret in the unit of the rewards{better}",
            self.summary().to_string(index=False, na_rep="-", float_format=lambda value: f"{value:,.4g}"),
            self.verdict(),
            "\n".join(f"Left out: {', '.join(names)} ({why})." for why, names in listed.items()),
        )
        return "\n\n".join(text for text in texts if text)

    __repr__ = __str__


def _best(simulation: Simulation, first: str, second: str) -> str:
    paired = simulation.compare(first, second)
    if not paired.high < 0.0:
        return f"Best: {first}, but {counted(simulation.runs, 'run')} cannot separate it from {second}."
    more = f"{-paired.difference:,.4g} more regret (95 % interval {-paired.high:,.4g} to {-paired.low:,.4g})"
    return f"Best: {first}. {second} is next, with {more}."


def compare(
    rewards: Any,
    *,
    policies: Sequence[str | Policy] | None = None,
    minimize: bool = False,
    arm: str = "arm",
    reward: str = "reward",
    rounds: int = 10_000,
    runs: int = 500,
    seed: int = 0,
    progress: bool = False,
) -> Ranking:
    """Rank policies on observed rewards: which would do best on rewards like these.

    Every policy is simulated on arms that pay the observed rewards, drawn with replacement.

    Parameters
    ----------
    rewards : path, pandas.DataFrame, or mapping of arm to rewards
        A CSV file or frame has one reward per row; see ``arm`` and ``reward`` for its columns.
    policies : sequence of str or Policy, optional
        Names of policy classes, or policies. By default all that suit the rewards; :attr:`Ranking.left_out` says
        which do not.
    minimize : bool
        Whether smaller rewards are better: costs, latencies.
    arm, reward : str
        Names of the columns. Upper and lower case are the same where that is unambiguous.
    rounds, runs : int
        Length of a run, and number of runs.
    seed : int
        From 0 to 2**64 - 1.
    progress : bool
        Show a progress bar.

    Returns
    -------
    Ranking
        Prints as two tables and a verdict; has ``simulation``, ``summary()`` and ``plot()``.

    Raises
    ------
    ValueError
        If the rewards cannot be read (the message names the line), or a policy is unknown or cannot play them.
    TypeError
        If ``rewards`` is none of the accepted kinds.

    Examples
    --------
    >>> import bootleader as bl
    >>> observed = {"blue": [0.0, 1.0, 2.0, 1.0], "red": [5.0, 6.0, 7.0, 6.0]}
    >>> ranking = bl.compare(observed, policies=["AdaptiveReBoot", "UCB1"], rounds=200, runs=20)
    >>> list(ranking.arms()["arm"])
    ['red', 'blue']
    >>> sorted(ranking.summary()["policy"])
    ['AdaptiveReBoot', 'UCB1']
    """
    if isinstance(policies, str | Policy):
        policies = [policies]
    rounds, runs, seed = whole("rounds", rounds, 1), whole("runs", runs, 2), seed_of(seed)
    observed = read_rewards(rewards, arm=arm, reward=reward, maximize=not minimize, rounds=rounds)
    candidates = chosen(observed, policies)
    labels = [candidate.label for candidate in candidates]
    if len(set(labels)) < len(labels):
        raise ValueError(f"policies must differ, got {', '.join(map(repr, labels))}")
    simulation = simulate(
        {candidate.label: candidate.policy for candidate in candidates}, observed.bandit, rounds=rounds, runs=runs,
        seed=seed, progress=progress,
    )  # fmt: skip
    knows = {candidate.label: candidate.knows for candidate in candidates}
    return Ranking(observed, simulation, knows, {} if policies else left_out(observed))
