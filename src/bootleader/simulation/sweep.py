"""``sweep``: simulate for every combination of some parameters, all cells at once."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from bootleader._core.validation import counted, one_of
from bootleader.simulation._simulate import (
    RunOptions,
    job_of,
    named_policies,
    progress_callback,
    simulation_of,
    validate_execution,
)
from bootleader.simulation._tables import OVER_TIME, QUANTILES
from bootleader.simulation._task_schedule import Job, play
from bootleader.simulation.result import Simulation

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

VALUES = (*OVER_TIME[:2], *QUANTILES, *OVER_TIME[2:], "seconds")  # columns of the frame, beside parameters and policy


def sweep(
    make: Callable[..., tuple[Any, Any]],
    *,
    rounds: int,
    runs: int,
    seed: int = 0,
    checkpoints: int | Sequence[int] | Literal["log"] = 1,
    delay: Any = None,
    keep: Literal["curves"] | None = None,
    compiled: bool = True,
    device: Literal["cpu", "cuda"] = "cpu",
    n_jobs: int | None = None,
    executor: Executor | None = None,
    progress: bool | Callable[[int], object] = False,
    **parameters: Iterable[Any],
) -> Sweep:
    """Simulate for every combination of some parameters, all of them at once.

    Every combination is a cell. The tasks of all cells are on the executor at the same time, so that a cluster stays
    busy, however small the cells are. All cells have the same seed: they share their randomness, as policies do.

    Parameters
    ----------
    make : callable
        ``make(sigma_a=..., gap=...)`` returns the policies and the bandit of a cell, in any form that
        :func:`simulate` accepts.
    rounds : int
        Length of a run.
    runs : int
        How many runs each cell has.
    seed : int
        The seed of every cell.
    checkpoints : int, sequence of int, or "log"
        As in :func:`simulate`; by default the last round alone.
    delay : int, GeometricDelay, or sequence of int, optional
        How many rounds late rewards arrive.
    keep : "curves", optional
        Keep every run's regret at every checkpoint.
    compiled : bool
        False plays everything in plain Python.
    device : {"cpu", "cuda"}
        "cuda" plays on an NVIDIA GPU what it can, as in :func:`simulate`.
    n_jobs : int, optional
        Number of threads; by default one for each core.
    executor : concurrent.futures.Executor, optional
        Where blocks of runs are played instead.
    progress : bool or callable
        Show one progress bar over all cells; or what to call with the number of runs that have just ended.
    **parameters : iterable
        The values of each parameter.

    Returns
    -------
    Sweep
        The simulations, a tidy frame and heat maps of them.

    Raises
    ------
    TypeError
        If a parameter is not a list of values, or ``make`` does not return policies and a bandit.
    ValueError
        If there is no parameter, one has no values or a value twice, or as in :func:`simulate`.

    Examples
    --------
    >>> import bootleader as bl
    >>> def make(sigma_a, gap):
    ...     return {"ReBoot": bl.ReBoot(sigma_a), "UCB1": bl.UCB1()}, bl.GaussianBandit([gap, 0.0])
    >>> found = bl.sweep(make, sigma_a=[0.5, 1.5], gap=[0.1, 1.0], rounds=50, runs=4)
    >>> len(found), found.to_frame().shape
    (4, (8, 13))
    """
    values = _values(parameters)
    cells = [dict(zip(values, combination, strict=True)) for combination in itertools.product(*values.values())]
    validate_execution(executor, n_jobs, one_of("device", device, ("cpu", "cuda")))
    options = RunOptions(rounds, runs, seed, checkpoints, delay, keep, compiled, device)
    jobs: list[Job] = []
    names: list[tuple[str, ...]] = []
    for cell in cells:
        try:
            policies, bandit = _made(make, cell)
            named = named_policies(policies)
            jobs.append(job_of(tuple(named.values()), bandit, options))
        except Exception as error:
            error.add_note(f"in the cell {_in_words(cell)} of the sweep")
            raise
        names.append(tuple(named))
    with progress_callback(progress, sum(job.runs * len(job.policies) for job in jobs)) as report:
        gathered = play(jobs, executor, n_jobs, report)
    return Sweep(values, tuple(map(simulation_of, names, jobs, gathered)))


@dataclass(frozen=True, eq=False, repr=False)
class Sweep:
    """The simulations of all combinations of some parameters.

    It iterates over pairs of a cell's parameters and its :class:`Simulation`.

    Attributes
    ----------
    parameters : dict of str to tuple
        The values of each parameter.
    simulations : tuple of Simulation
        One a cell; the last parameter varies fastest.

    Examples
    --------
    >>> import bootleader as bl
    >>> def make(gap):
    ...     return bl.UCB1(), bl.GaussianBandit([gap, 0.0])
    >>> found = bl.sweep(make, gap=[0.5, 1.0], rounds=50, runs=4)
    >>> found.simulation(gap=0.5).bandit
    GaussianBandit(means=(0.5, 0.0), sd=1.0)
    """

    parameters: dict[str, tuple[Any, ...]]
    simulations: tuple[Simulation, ...]

    def __len__(self) -> int:
        return len(self.simulations)

    def __iter__(self) -> Iterator[tuple[dict[str, Any], Simulation]]:
        combinations = itertools.product(*self.parameters.values())
        cells = (dict(zip(self.parameters, combination, strict=True)) for combination in combinations)
        return zip(cells, self.simulations, strict=True)

    def simulation(self, **values: Any) -> Simulation:
        """Return the simulation of one cell.

        Parameters
        ----------
        **values
            The value of every parameter.

        Returns
        -------
        Simulation
            That of the cell.

        Raises
        ------
        ValueError
            If there is no such cell, or more than one.
        """
        found = [sim for cell, sim in self._matching(values)]
        if len(found) > 1:
            free = [name for name in self.parameters if name not in values]
            raise ValueError(f"{counted(len(found), 'cell')} have {_in_words(values)}; give {', '.join(free)} too")
        return found[0]

    def to_frame(self) -> pd.DataFrame:
        """Return all results at the last round as a tidy frame.

        Returns
        -------
        pandas.DataFrame
            One row a cell and policy: the parameters, policy, mean_regret, standard_error, median, quantile_95,
            quantile_99, mean_reward, best_arm_share, simple_regret, best_arm_recommended and seconds.
        """
        import pandas as pd

        columns: dict[str, list[Any]] = {name: [] for name in (*self.parameters, "policy", *VALUES)}
        for cell, sim in self:
            found = final_values(sim)
            for name, value in cell.items():
                columns[name].extend([value] * len(sim))
            columns["policy"].extend(sim.policies)
            for name in VALUES:
                columns[name].extend(found[name].tolist())
        return pd.DataFrame(columns)

    def heat_map(
        self,
        path: str | PathLike[str] | None = None,
        *,
        x: str | None = None,
        y: str | None = None,
        policy: str | None = None,
        value: str = "mean_regret",
        relative_to: str | None = None,
        ax: Any = None,
        title: str | None = None,
        **fixed: Any,
    ) -> Figure:
        """Draw a value over two parameters, or over one parameter and the policies.

        Parameters
        ----------
        path : path, optional
            The file to write; its ending decides the format.
        x, y : str, optional
            The parameters along the axes; by default the first two. With one parameter the rows are the policies.
        policy : str, optional
            Which policy: its name, or its name up to the parenthesis if that is the same in all cells. It may be left
            out where cells have one policy, or rows are policies.
        value : str
            A column of :meth:`to_frame`.
        relative_to : str, optional
            A policy of the same cell, named in the same way, by whose value to divide.
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default a new figure.
        title : str, optional
            The title; by default it says what is drawn.
        **fixed
            The values of the other parameters.

        Returns
        -------
        matplotlib.figure.Figure
            The figure; it shows as that of :meth:`Simulation.plot` does.

        Raises
        ------
        ValueError
            If a parameter, a value or a policy is unknown, or it is not said which cells to draw.

        Examples
        --------
        >>> import bootleader as bl
        >>> def make(sigma_a, gap):
        ...     return bl.ReBoot(sigma_a), bl.GaussianBandit([gap, 0.0])
        >>> found = bl.sweep(make, sigma_a=[0.5, 1.5], gap=[0.1, 1.0], rounds=50, runs=4)
        >>> figure = found.heat_map(x="gap", y="sigma_a")
        """
        from bootleader.plots import HeatMapText, family_of, heat_map, shown_figure, write

        one_of("value", value, VALUES)
        across, down = self._axes(x, y, fixed)
        columns = self.parameters[across]
        rows = self.parameters[down] if down is not None else tuple(self._policies(family_of))
        table = np.zeros((len(rows), len(columns)))
        for cell, sim in self._matching(fixed):
            for place, row in enumerate(rows):
                if down is not None and cell[down] != row:
                    continue
                drawn = row if down is None else policy
                quantity = self._value(sim, value, drawn, "policy", family_of)
                if relative_to is not None:
                    quantity /= self._value(sim, value, relative_to, "relative_to", family_of)
                table[place, columns.index(cell[across])] = quantity
        label = value.replace("_", " ") + (f" / that of {relative_to}" if relative_to is not None else "")
        if title is None:
            which = f"{policy}: " if policy is not None and down is not None else ""
            title = ", ".join([which + label, *(f"{name} = {number}" for name, number in fixed.items())])
        figure = heat_map(
            table, list(map(_short, rows)), list(map(_short, columns)), HeatMapText(title, across, down or "", label),
            relative=relative_to is not None, ax=ax, make=shown_figure if path is None else None,
        )  # fmt: skip
        if path is not None:
            write(figure, path)
        return figure

    def __repr__(self) -> str:
        swept = ", ".join(f"{name}: {counted(len(values), 'value')}" for name, values in self.parameters.items())
        return f"Sweep of {counted(len(self), 'cell')} ({swept})\n\n{self.to_frame().to_string(max_rows=20)}"

    def _axes(self, x: str | None, y: str | None, fixed: Mapping[str, Any]) -> tuple[str, str | None]:
        """The parameters along the axes; all others must be fixed."""
        free = [name for name in self.parameters if name not in fixed]
        for option, name in (("x", x), ("y", y)):
            if name is not None:
                one_of(option, name, free)
        rest = [name for name in free if name not in (x, y)]
        x = x if x is not None else rest.pop(0) if rest else None
        if x is None or x == y:
            raise ValueError(f"heat_map needs two axes; this sweep has {', '.join(self.parameters)}, and x is {x!r}")
        if y is None and rest:
            y = rest.pop(0)
        if rest:
            raise ValueError(f"a heat map has two axes; give a value of {', '.join(rest)}, as in {rest[0]}=...")
        return x, y

    def _matching(self, values: Mapping[str, Any]) -> list[tuple[dict[str, Any], Simulation]]:
        """The cells with these values."""
        for name, value in values.items():
            if name not in self.parameters:
                raise ValueError(f"unknown parameter {name!r}; this sweep has {', '.join(self.parameters)}")
            if value not in self.parameters[name]:
                accepted = ", ".join(map(repr, self.parameters[name]))
                raise ValueError(f"{name} must be one of {accepted}, got {value!r}")
        return [(cell, sim) for cell, sim in self if all(cell[name] == value for name, value in values.items())]

    def _policies(self, family_of: Callable[[str], str]) -> list[str]:
        """The policies that every cell has: by their names, or by their families where those name one each."""
        every = [sim.policies for sim in self.simulations]
        same = [name for name in every[0] if all(name in names for names in every)]
        if all(len(names) == len(same) for names in every):
            return same
        families = [[family_of(name) for name in names] for names in every]
        if any(found != families[0] for found in families) or len(set(families[0])) < len(families[0]):
            raise ValueError('cells have different policies; let make return a dict, as in {"ReBoot": ReBoot(sigma_a)}')
        return families[0]

    def _value(
        self, sim: Simulation, value: str, policy: str | None, option: str, family_of: Callable[[str], str]
    ) -> float:
        """A column of the frame for one policy of a cell."""
        names = sim.policies
        if policy is None:
            found = range(len(names))
        else:
            found = [place for place, name in enumerate(names) if name == policy] or [
                place for place, name in enumerate(names) if family_of(name) == policy
            ]  # type: ignore[assignment]
        if len(found) != 1:
            raise ValueError(f"{option} must name one policy of every cell, such as {names[0]!r}, got {policy!r}")
        return float(final_values(sim)[value][found[0]])


def final_values(sim: Simulation) -> dict[str, npt.NDArray[np.float64]]:
    """The values of each policy at the last round, by column."""
    quantiles = np.quantile(sim.final_regret, list(QUANTILES.values()), axis=1)
    over_time = {name: getattr(sim, name)[:, -1] for name in OVER_TIME}
    return {**over_time, **dict(zip(QUANTILES, quantiles, strict=True)), "seconds": sim.seconds}


def _values(parameters: Mapping[str, Any]) -> dict[str, tuple[Any, ...]]:
    """The values of each parameter."""
    if not parameters:
        raise ValueError("sweep needs at least one parameter with its values, such as sigma_a=[0.5, 1.0, 1.5]")
    found = {}
    for name, given in parameters.items():
        if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
            raise TypeError(f"{name} must be a list of values, such as {name}=[0.5, 1.0], got {given!r}")
        values = tuple(value.item() if isinstance(value, np.generic) else value for value in given)
        if not values:
            raise ValueError(f"{name} must have at least one value, got none")
        if any(value in values[:place] for place, value in enumerate(values)):
            raise ValueError(f"the values of {name} must differ, got {list(values)!r}")
        found[name] = values
    return found


def _made(make: Callable[..., Any], cell: Mapping[str, Any]) -> tuple[Any, Any]:
    """The policies and the bandit of a cell."""
    made = make(**cell)
    if not isinstance(made, tuple) or len(made) != 2:
        raise TypeError(f"make must return policies and a bandit, as in `return [UCB1()], bandit`, got {made!r:.200}")
    return made


def _short(value: Any) -> str:
    """A value as an axis shows it: of 0.30000000000000004 four digits."""
    return f"{value:.4g}" if isinstance(value, float) and len(repr(value)) > 7 else str(value)


def _in_words(cell: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in cell.items())
