"""What a simulation returns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bootleader._core.changes_and_delays import Delay
from bootleader.simulation import _curves, _merge, _tables
from bootleader.simulation import _result_files as _files
from bootleader.simulation._paired_comparisons import Comparison, Correction, Method, compared
from bootleader.simulation._result_plot import PictureOptions, What, picture
from bootleader.simulation._true_means import true_means

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from bootleader.plots import Band, Labels, Scale

__all__ = ["Comparison", "Simulation"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Simulation:
    """Regret of some policies on the same runs of a bandit.

    ``sim["UCB1()"]`` is the simulation of one of the policies; a position, a slice or a list of names does as well.
    ``a | b`` joins policies of the same runs, and ``a + b`` adds more runs of the same policies: what one simulation of
    all runs would have given. Final regrets, curves, recommended arms and pulls are the same bit for bit. Means and
    standard errors over time agree up to rounding: they are merged from groups of 32 runs in order, and a simulation
    keeps the merged numbers only, not the groups.

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
    recommended_by_rank : array, policy x arm
        Share of the runs in which each arm is recommended at the horizon, each run's best arm first.
    seconds : array
        Processor seconds that each policy took; on a GPU, seconds from start to end.
    bandit : Bandit or str
        The bandit. A bandit of your own comes back from a file as the text that its ``repr`` was.
    seed : int
        The seed of the simulation.
    first_run : int
        Number of the first run.
    curves : array, policy x run x checkpoint, or None
        Every run's regret at every checkpoint, if ``simulate`` was called with ``keep="curves"``.
    recommended : array of int, policy x run x checkpoint, or None
        Every run's recommended arm, the one with the largest sample mean, at every checkpoint; kept like the curves.
    delay : Delay or None
        How late rewards arrived.
    devices : tuple of str
        Where each policy was played: "cpu" or "cuda".

    Examples
    --------
    >>> import bootleader as bl
    >>> sim = bl.simulate([bl.UCB1(), bl.PHE()], bl.BernoulliBandit([0.2, 0.8]), rounds=100, runs=8, seed=1)
    >>> sim.policies, sim.runs, sim.final_regret.shape
    (('UCB1()', 'PHE()'), 8, (2, 8))
    >>> sim["PHE()"].final_regret.shape
    (1, 8)
    """

    policies: tuple[str, ...]
    rounds: npt.NDArray[np.int64]
    over_time: Floats
    final_regret: Floats
    pulls: Floats
    pulls_by_rank: Floats
    recommended_by_rank: Floats
    seconds: Floats
    bandit: Any
    seed: int
    first_run: int = 0
    curves: Floats | None = None
    recommended: npt.NDArray[np.int32] | None = None
    delay: Delay | None = None
    devices: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.devices:
            object.__setattr__(self, "devices", ("cpu",) * len(self.policies))

    @property
    def mean_regret(self) -> Floats:
        """Mean over runs of the pseudo-regret (policy x checkpoint)."""
        return self.over_time[:, 0, 0]

    @property
    def standard_error(self) -> Floats:
        """Standard error of the mean regret (policy x checkpoint)."""
        return self.over_time[:, 0, 1]

    @property
    def mean_reward(self) -> Floats:
        """Mean over runs of the sum of the rewards (policy x checkpoint)."""
        return self.over_time[:, 1, 0]

    @property
    def best_arm_share(self) -> Floats:
        """Mean share of the pulls so far that went to the best arm (policy x checkpoint)."""
        return self.over_time[:, 2, 0]

    @property
    def simple_regret(self) -> Floats:
        """Mean gap of the recommended arm, the one with the largest sample mean (policy x checkpoint)."""
        return self.over_time[:, 3, 0]

    @property
    def best_arm_recommended(self) -> Floats:
        """Share of the runs in which the recommended arm is the best one (policy x checkpoint)."""
        return self.over_time[:, 4, 0]

    @property
    def runs(self) -> int:
        """Number of runs."""
        return int(self.final_regret.shape[1])

    @property
    def means(self) -> Floats:
        """The runs' true means (run x arm), computed again from the bandit and the seed.

        Of a bandit whose rewards change these are the means of its first phase, without drift and season.

        Raises
        ------
        ValueError
            If the bandit came from a file as a text.
        """
        return true_means(self.bandit, self.seed, self.first_run, self.runs)

    def quantiles(self, *shares: float) -> Floats:
        """Quantiles over runs of the regret at every checkpoint, exact.

        Parameters
        ----------
        *shares : float
            Which quantiles, each from 0 to 1.

        Returns
        -------
        array, policy x share x checkpoint
            The quantiles.

        Raises
        ------
        ValueError
            If the simulation has no curves, or a share is not from 0 to 1.

        Examples
        --------
        >>> import bootleader as bl
        >>> bandit = bl.BernoulliBandit([0.2, 0.8])
        >>> sim = bl.simulate(bl.UCB1(), bandit, rounds=100, runs=8, checkpoints=4, keep="curves")
        >>> sim.quantiles(0.1, 0.9).shape
        (1, 2, 4)
        """
        return _curves.quantiles(self, shares)

    def summary(self) -> pd.DataFrame:
        """Summarise the final regret over runs.

        Returns
        -------
        pandas.DataFrame
            One row a policy: mean final regret, standard error, median, 95 % and 99 % quantile, processor seconds.
        """
        return _tables.summary(self)

    def to_frame(self, runs: bool = False) -> pd.DataFrame:
        """Return the results as a tidy frame.

        Parameters
        ----------
        runs : bool
            Whether to list the runs instead of the checkpoints.

        Returns
        -------
        pandas.DataFrame
            One row a policy and checkpoint, with columns policy, round, mean_regret, standard_error, mean_reward,
            best_arm_share, simple_regret and best_arm_recommended; or one row a policy and run, with columns policy,
            run and final_regret.
        """
        return _tables.frame_of_runs(self) if runs else _tables.frame_over_time(self)

    def to_latex(self, path: str | PathLike[str] | None = None) -> str:
        """Return the final regret as a LaTeX table, for the package booktabs.

        Parameters
        ----------
        path : path, optional
            The file to write.

        Returns
        -------
        str
            The table: mean and standard error, median and 95 % quantile; the smallest mean is bold.
        """
        text = _tables.latex(self)
        if path is not None:
            Path(path).write_text(text, encoding="utf-8")
        return text

    def compare(self, a: str | int, b: str | int, at: int | None = None, method: Method = "t") -> Comparison:
        """Compare the regrets of two policies, run by run.

        Parameters
        ----------
        a, b : str or int
            The policies: names as in :attr:`policies`, or positions.
        at : int, optional
            The checkpoint at which to compare; by default the last. Others need ``keep="curves"``.
        method : {"t", "bootstrap", "wilcoxon"}
            The paired t test; the percentile bootstrap of the mean difference, 9,999 times, seeded with the
            simulation's seed; or Wilcoxon's signed-rank test, whose difference is the pseudo-median.

        Returns
        -------
        Comparison
            The difference, ``a`` minus ``b``, with its standard error, a 95 % interval and a p value.

        Raises
        ------
        ValueError
            If the simulation has no such policy or checkpoint, ``method`` is none of the three, or ``at`` is not the
            last checkpoint and the simulation has no curves.

        Examples
        --------
        >>> import bootleader as bl
        >>> sim = bl.simulate([bl.UCB1(), bl.PHE()], bl.BernoulliBandit([0.2, 0.8]), rounds=100, runs=8, seed=1)
        >>> sim.compare("UCB1()", "PHE()").p_value < 0.05
        True
        """
        first, second = _merge.positions(self, [a, b])
        regret = _curves.regret_at(self, at)
        return compared(
            self.policies[first], self.policies[second], regret[first], regret[second],
            at=int(self.rounds[-1]) if at is None else int(at), method=method, seed=self.seed,
        )  # fmt: skip

    def compare_all(
        self, correction: Correction | None = "holm", at: int | None = None, method: Method = "t"
    ) -> pd.DataFrame:
        """Compare all pairs of policies.

        Parameters
        ----------
        correction : {"holm", "bonferroni"} or None
            How to correct the p values for their number.
        at : int, optional
            As in :meth:`compare`.
        method : {"t", "bootstrap", "wilcoxon"}
            As in :meth:`compare`.

        Returns
        -------
        pandas.DataFrame
            One row a pair, with columns a, b, difference, standard_error, low, high, p_value, corrected_p_value and
            better: the better policy if the corrected p value is below 0.05, else "undecided". The intervals are each
            of 95 %, not corrected.

        Raises
        ------
        ValueError
            If there is only one policy, ``correction`` is none of these, or as in :meth:`compare`.
        """
        return _tables.frame_of_comparisons(self, correction, at, method)

    def plot(
        self,
        path: str | PathLike[str] | None = None,
        *,
        ax: Any = None,
        policies: Sequence[str | int] | None = None,
        what: What = "regret",
        xscale: Scale = "linear",
        yscale: Scale = "linear",
        band: Band = "se",
        labels: Labels = "end",
        title: str | None = None,
        relative_to: str | int | None = None,
    ) -> Figure:
        """Draw curves over time with bands, or pulls by the arm's rank.

        Parameters
        ----------
        path : path, optional
            The file to write; its ending decides the format.
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default a new figure.
        policies : sequence of str or int, optional
            Which policies, by name or position; by default all.
        what : {"regret", "best_arm_share", "simple_regret", "pulls_by_rank"}
            What to draw.
        xscale, yscale : {"linear", "log"}
            Scales of the axes.
        band : {"se", "95%"} or (low, high)
            One standard error, the 95 % interval of the mean, or two quantiles over runs, which need
            ``keep="curves"``.
        labels : {"end", "legend"}
            Names beside the ends of the curves, or in a legend.
        title : str, optional
            The title; by default it says what is drawn.
        relative_to : str or int, optional
            A policy by whose mean to divide.

        Returns
        -------
        matplotlib.figure.Figure
            The figure. It shows as the value of a notebook cell; after ``import matplotlib.pyplot`` and without
            ``path`` or ``ax`` it is also pyplot's current figure.

        Raises
        ------
        TypeError
            If ``path`` is not the name of a file.
        ValueError
            If the simulation has no such policy, or an argument is none of the accepted ones.
        """
        options = PictureOptions(policies, what, xscale, yscale, band, labels, title, relative_to)
        return picture(self, path, ax, options)

    def save(self, path: str | PathLike[str]) -> None:
        """Write everything to one ``.npz`` file (plain arrays, no pickle), whole or not at all.

        Parameters
        ----------
        path : path
            The file to write.
        """
        _files.write_simulation(self, path)

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
        return cls(**_files.read_simulation(path))

    def __getitem__(self, policies: str | int | slice | Sequence[str | int]) -> Simulation:
        return _merge.selected(self, policies)

    def __len__(self) -> int:
        return len(self.policies)

    def __iter__(self) -> Iterator[Simulation]:
        return (self[place] for place in range(len(self.policies)))

    def __or__(self, other: Simulation) -> Simulation:
        return _merge.joined(self, other) if isinstance(other, Simulation) else NotImplemented

    def __add__(self, other: Simulation) -> Simulation:
        return _merge.extended(self, other) if isinstance(other, Simulation) else NotImplemented

    def __str__(self) -> str:
        return _tables.table(self)

    __repr__ = __str__
