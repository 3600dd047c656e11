"""What a simulation returns."""

from __future__ import annotations

import io
import json
import math
import zipfile
import zlib
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bootleader._core.validation import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from matplotlib.figure import Figure

    from bootleader.plots import Band, Labels, Scale

FORMAT = 2
WIDEST = 96  # letters of a bandit's description that a line has room for
ARRAYS = ("rounds", "over_time", "final_regret", "pulls", "pulls_by_rank", "seconds")
# What NumPy, zipfile and json raise over a file that is damaged or is no archive: flags, sizes and places included.
DAMAGED = (ValueError, KeyError, TypeError, EOFError, OSError, RuntimeError, zipfile.BadZipFile, zlib.error)


@dataclass(frozen=True)
class Comparison:
    """Paired difference of the final regrets of two policies, with a 95 % interval over runs.

    Attributes
    ----------
    a, b : str
        Names of the policies.
    difference : float
        Mean over runs of the final regret of ``a`` minus that of ``b``.
    standard_error : float
        Standard error of the difference.
    low, high : float
        Ends of the 95 % interval.

    Examples
    --------
    >>> print(Comparison("A", "B", difference=-3.0, standard_error=1.0, low=-5.0, high=-1.0))
    A less B: -3 (95 % interval -5 to -1; A is better)
    """

    a: str
    b: str
    difference: float
    standard_error: float
    low: float
    high: float

    def __str__(self) -> str:
        verdict = f"{self.a} is better" if self.high < 0 else f"{self.b} is better" if self.low > 0 else "undecided"
        return (
            f"{self.a} less {self.b}: {self.difference:.4g} "
            f"(95 % interval {self.low:.4g} to {self.high:.4g}; {verdict})"
        )


@dataclass(frozen=True, eq=False, repr=False)
class Simulation:
    """Regret of some policies on the same runs of a bandit.

    Attributes
    ----------
    policies : tuple of str
        Names of the policies.
    rounds : array
        Checkpoints; the last is the horizon.
    over_time : array, policy x quantity x (mean, standard error) x checkpoint
        Mean over runs and its standard error of the quantities in ``QUANTITIES``.
    final_regret : array, policy x run
        Pseudo-regret at the horizon.
    pulls : array, policy x arm
        Mean number of pulls, arms in the bandit's order.
    pulls_by_rank : array, policy x arm
        Mean number of pulls, each run's best arm first.
    seconds : array
        Processor seconds that each policy took.
    bandit : str
        The bandit as it is written.
    seed : int
        The seed of the simulation.

    Examples
    --------
    >>> import bootleader as bl
    >>> sim = bl.simulate([bl.UCB1(), bl.PHE()], bl.BernoulliBandit([0.2, 0.8]), rounds=100, runs=8, seed=1)
    >>> sim.policies, sim.runs, sim.final_regret.shape
    (('UCB1()', 'PHE()'), 8, (2, 8))
    """

    policies: tuple[str, ...]
    rounds: npt.NDArray[np.int64]
    over_time: npt.NDArray[np.float64]
    final_regret: npt.NDArray[np.float64]
    pulls: npt.NDArray[np.float64]
    pulls_by_rank: npt.NDArray[np.float64]
    seconds: npt.NDArray[np.float64]
    bandit: str
    seed: int

    @property
    def mean_regret(self) -> npt.NDArray[np.float64]:
        """Mean over runs of the pseudo-regret (policy x checkpoint)."""
        return self.over_time[:, 0, 0]

    @property
    def standard_error(self) -> npt.NDArray[np.float64]:
        """Standard error of the mean regret (policy x checkpoint)."""
        return self.over_time[:, 0, 1]

    @property
    def mean_reward(self) -> npt.NDArray[np.float64]:
        """Mean over runs of the sum of the rewards (policy x checkpoint)."""
        return self.over_time[:, 1, 0]

    @property
    def best_arm_share(self) -> npt.NDArray[np.float64]:
        """Mean share of the pulls so far that went to the best arm (policy x checkpoint)."""
        return self.over_time[:, 2, 0]

    @property
    def simple_regret(self) -> npt.NDArray[np.float64]:
        """Mean gap of the recommended arm, the one with the largest sample mean (policy x checkpoint)."""
        return self.over_time[:, 3, 0]

    @property
    def best_arm_recommended(self) -> npt.NDArray[np.float64]:
        """Share of the runs in which the recommended arm is the best one (policy x checkpoint)."""
        return self.over_time[:, 4, 0]

    @property
    def runs(self) -> int:
        """Number of runs."""
        return int(self.final_regret.shape[1])

    def summary(self) -> pd.DataFrame:
        """Summarise the final regret over runs.

        Returns
        -------
        pandas.DataFrame
            One row a policy: mean final regret, standard error, median, 95 % and 99 % quantile, processor seconds.
        """
        import pandas as pd

        quantile = np.quantile(self.final_regret, [0.5, 0.95, 0.99], axis=1)
        return pd.DataFrame(
            {
                "policy": self.policies,
                "mean_regret": self.mean_regret[:, -1],
                "standard_error": self.standard_error[:, -1],
                "median": quantile[0],
                "quantile_95": quantile[1],
                "quantile_99": quantile[2],
                "seconds": self.seconds,
            }
        )

    def to_frame(self) -> pd.DataFrame:
        """Return the regret curves as a tidy frame.

        Returns
        -------
        pandas.DataFrame
            One row a policy and checkpoint, with columns policy, round, mean_regret and standard_error.
        """
        import pandas as pd

        count = len(self.rounds)
        return pd.DataFrame(
            {
                "policy": np.repeat(self.policies, count),
                "round": np.tile(self.rounds, len(self.policies)),
                "mean_regret": self.mean_regret.ravel(),
                "standard_error": self.standard_error.ravel(),
            }
        )

    def compare(self, a: str | int, b: str | int) -> Comparison:
        """Compare the final regrets of two policies, run by run.

        Parameters
        ----------
        a, b : str or int
            The policies: names as in :attr:`policies`, or positions.

        Returns
        -------
        Comparison
            The mean of the differences, ``a`` minus ``b``, with its standard error and a 95 % interval.

        Raises
        ------
        ValueError
            If the simulation has no such policy.
        """
        from scipy.special import stdtrit

        first, second = self._position(a), self._position(b)
        difference = self.final_regret[first] - self.final_regret[second]
        mean = float(difference.mean())
        error = float(difference.std(ddof=1) / math.sqrt(self.runs)) if self.runs > 1 else math.nan
        reach = float(stdtrit(self.runs - 1, 0.975)) * error if self.runs > 1 else math.nan
        return Comparison(self.policies[first], self.policies[second], mean, error, mean - reach, mean + reach)

    def plot(
        self,
        path: str | PathLike[str] | None = None,
        *,
        ax: Any = None,
        policies: Sequence[str | int] | None = None,
        xscale: Scale = "linear",
        yscale: Scale = "linear",
        band: Band = "se",
        labels: Labels = "end",
        title: str | None = None,
        relative_to: str | int | None = None,
    ) -> Figure:
        """Draw the regret curves.

        Parameters
        ----------
        path : path, optional
            The file to write; its ending decides the format: .png, .svg or .pdf.
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default a new figure.
        policies : sequence of str or int, optional
            The policies to draw: names as in :attr:`policies`, or positions. By default all.
        xscale, yscale : "linear" or "log"
            Scales of the axes.
        band : "se", "95%" or (low, high)
            Around the mean: one standard error, the 95 % interval, or two quantiles over runs.
        labels : "end" or "legend"
            Names beside the ends of the curves, or in a legend.
        title : str, optional
            By default what is drawn, with the number of runs.
        relative_to : str or int, optional
            A policy; regrets are divided by its mean regret.

        Returns
        -------
        matplotlib.figure.Figure
            The figure.

        Raises
        ------
        TypeError
            If ``path`` is not the name of a file.
        ValueError
            If the simulation has no such policy, or an option is none of the accepted values.
        """
        from bootleader.plots import band_in_words, curves_figure, curves_of, relative_curves, write

        if path is not None and not isinstance(path, str | PathLike):
            raise TypeError(f"path must be the name of a file to write, such as 'regret.png', or None, got {path!r}")
        curves = curves_of(
            self.policies, self.rounds, self.mean_regret, self.standard_error, runs=self.runs, band=band,
            per_run=getattr(self, "curves", None),
        )  # fmt: skip
        words = "Mean regret"
        if relative_to is not None:
            divisor = self.policies[self._position(relative_to)]
            curves = relative_curves(curves, divisor)
            words += f" relative to {divisor}"
        if policies is not None:
            curves = {self.policies[place]: curves[self.policies[place]] for place in map(self._position, policies)}
        figure = curves_figure(
            curves, ax=ax, xscale=xscale, yscale=yscale, labels=labels, subtitle=shortened(self.bandit),
            title=f"{words} over {counted(self.runs, 'run')}" if title is None else title,
            ylabel=f"{'regret ratio' if relative_to is not None else 'mean regret'}, {band_in_words(band)}",
        )  # fmt: skip
        if path is not None:
            write(figure, path)
        return figure

    def save(self, path: str | PathLike[str]) -> None:
        """Write everything to one ``.npz`` file (plain arrays, no pickle).

        Parameters
        ----------
        path : path
            The file to write.
        """
        about = {"format": FORMAT, "policies": self.policies, "bandit": self.bandit, "seed": self.seed}
        arrays: dict[str, Any] = {name: getattr(self, name) for name in ARRAYS}
        with open(path, "wb") as file:
            np.savez_compressed(file, about=np.array(json.dumps(about)), **arrays)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Simulation:
        """Read what :meth:`save` wrote.

        Parameters
        ----------
        path : path
            The file to read.

        Returns
        -------
        Simulation
            The simulation that was saved.

        Raises
        ------
        ValueError
            If the file is damaged, is not a saved simulation, or has a format that this version cannot read.
        """
        content = io.BytesIO(Path(path).read_bytes())
        try:
            with np.load(content, allow_pickle=False) as stored:
                about = json.loads(str(stored["about"]))
                known = about["format"] == FORMAT
                arrays = {name: stored[name] for name in ARRAYS} if known else {}
            if known:
                return cls(policies=tuple(about["policies"]), bandit=about["bandit"], seed=about["seed"], **arrays)
        except DAMAGED as error:
            raise ValueError(f"{path} is not a saved Simulation (see Simulation.save), or not all of one") from error
        raise ValueError(f"{path} has format {about['format']!r}; this version reads format {FORMAT}")

    def __str__(self) -> str:
        size = f"{counted(int(self.rounds[-1]), 'round')}, {counted(self.runs, 'run')}, seed {self.seed}"
        header = f"{shortened(self.bandit)}\n{size}\n\n"
        formatters: Any = dict.fromkeys(
            ("mean_regret", "standard_error", "median", "quantile_95", "quantile_99"), _readable
        )
        formatters |= {"seconds": "{:.3g}".format}
        return header + self.summary().to_string(index=False, formatters=formatters)

    __repr__ = __str__

    def _position(self, policy: str | int) -> int:
        if isinstance(policy, str) and policy in self.policies:
            return self.policies.index(policy)
        if isinstance(policy, int) and not isinstance(policy, bool) and 0 <= policy < len(self.policies):
            return policy
        raise ValueError(f"unknown policy {policy!r}; this simulation has {', '.join(map(repr, self.policies))}")


def shortened(text: str) -> str:
    """A text in one line: of a bandit with very many means the first and the last.

    Examples
    --------
    >>> len(shortened("GaussianBandit(means=(" + "1.0, " * 1000 + "), sd=1.0)")) <= WIDEST
    True
    """
    return text if len(text) <= WIDEST else f"{text[: WIDEST - 30]} … {text[-24:]}"


def _readable(value: float) -> str:
    """Four digits at least, and whole numbers in full: 1.234, 12.34, 133,421."""
    return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:,.4g}"
