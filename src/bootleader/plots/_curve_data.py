"""The numbers behind a plot: a mean along x with its band. Nothing is drawn here, and matplotlib is not imported."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
NamedBand = Literal["se", "95%"]
Band = NamedBand | tuple[float, float]
ACCEPTED = 'band must be "se", "95%" or two quantiles such as (0.1, 0.9)'


class Curve:
    """A mean along x, with its standard error and the band that is drawn around it.

    Parameters
    ----------
    x : array
        Rounds, or values of a parameter.
    mean, standard_error : array
        Mean over runs, and its standard error.
    low, high : array, optional
        Edges of the band; by default one standard error on either side.
    """

    def __init__(
        self, x: Any, mean: Any, standard_error: Any, low: Floats | None = None, high: Floats | None = None
    ) -> None:
        self.x: npt.NDArray[Any] = np.asarray(x)
        self.mean: Floats = np.asarray(mean, dtype=float)
        self.standard_error: Floats = np.asarray(standard_error, dtype=float)
        self.low: Floats = self.mean - self.standard_error if low is None else np.asarray(low, dtype=float)
        self.high: Floats = self.mean + self.standard_error if high is None else np.asarray(high, dtype=float)


def curves_of(
    names: Sequence[str],
    rounds: npt.NDArray[np.int64],
    means: Floats,
    standard_errors: Floats,
    *,
    runs: int,
    band: Band = "se",
    per_run: Floats | None = None,
) -> dict[str, Curve]:
    """Return the curves of several policies.

    Parameters
    ----------
    names : sequence of str
        The policies.
    rounds : array
        Checkpoints.
    means, standard_errors : array, policy x checkpoint
        Mean over runs, and its standard error.
    runs : int
        Number of runs, for the Student quantile of a 95 % interval.
    band : "se", "95%" or (low, high)
        One standard error, the 95 % interval of the mean, or two quantiles over runs.
    per_run : array, policy x run x checkpoint, optional
        Every run's curve; quantiles over runs need it.

    Returns
    -------
    dict of str to Curve
        By policy, in the given order.

    Raises
    ------
    ValueError
        If ``band`` is none of these, or quantiles are asked for without ``per_run``.

    Examples
    --------
    >>> found = curves_of(["A"], np.array([1, 2]), np.array([[1.0, 2.0]]), np.array([[0.1, 0.2]]), runs=9, band="95%")
    >>> found["A"].high.round(2).tolist()
    [1.23, 2.46]
    """
    quantiles = _checked(band)
    if quantiles is not None and per_run is None:
        raise ValueError('quantiles over runs need every run\'s curve: simulate(..., keep="curves") keeps them')
    reach = _student(runs) if band == "95%" else 1.0
    found = {}
    for place, name in enumerate(names):
        mean, error = means[place], standard_errors[place]
        low, high = mean - reach * error, mean + reach * error
        if quantiles is not None and per_run is not None:
            low, high = np.quantile(per_run[place], quantiles, axis=0)
        found[name] = Curve(rounds, mean, error, low, high)
    return found


def band_in_words(band: Band) -> str:
    """Return what an axis label says of the band.

    Examples
    --------
    >>> band_in_words("se"), band_in_words((0.1, 0.9))
    ('± 1 standard error', '10 % to 90 % of runs')
    """
    quantiles = _checked(band)
    if quantiles is None:
        return "± 1 standard error" if band == "se" else "95 % interval"
    return f"{100 * quantiles[0]:g} % to {100 * quantiles[1]:g} % of runs"


def relative_curves(curves: Mapping[str, Curve], to: str) -> dict[str, Curve]:
    """Return the curves divided by the mean of one of them. Bands are scaled, not widened by the divisor's error.

    Parameters
    ----------
    curves : mapping of str to Curve
        All at the same x.
    to : str
        The policy to divide by.

    Returns
    -------
    dict of str to Curve
        Starting where the divisor is positive.

    Raises
    ------
    ValueError
        If there is no such policy, or its mean is never positive.
    """
    if to not in curves:
        raise ValueError(f"relative_to must be one of {', '.join(map(repr, curves))}, got {to!r}")
    divisor = curves[to].mean
    at = divisor > 0.0
    if not at.any():
        raise ValueError(f"relative_to must name a policy with positive regret, got {to!r}")
    return {
        name: Curve(c.x[at], *(part[at] / divisor[at] for part in (c.mean, c.standard_error, c.low, c.high)))
        for name, c in curves.items()
    }


def _checked(band: Any) -> tuple[float, float] | None:
    if isinstance(band, str) and band in get_args(NamedBand):
        return None
    if isinstance(band, tuple | list) and len(band) == 2:
        low, high = band
        if all(isinstance(edge, int | float) for edge in band) and 0.0 <= low < high <= 1.0:
            return float(low), float(high)
    raise ValueError(f"{ACCEPTED}, got {band!r}")


def _student(runs: int) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(runs - 1, 0.975)) if runs > 1 else float("nan")
