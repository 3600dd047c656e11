r"""The probability that each of several independent lattice variables is the largest, ties shared.

Variable k is location_k + scale_k * U_k with U_k the heads of tosses_k fair coins. At a place x where variable k has
mass p_k and the others are below x with probability G_j and at x with p_j, it wins with probability

.. math:: p_k \int_0^1 \prod_{j \ne k} (G_j + p_j u)\, du,

because the integral of u^m is 1/(m+1): the share of a winner among m others at the same place.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from bootleader.agent._elementary_arrays import exp, gauss_legendre, log, log1p, weighted_sums

Floats = npt.NDArray[np.float64]

# More tosses than this are replaced by so many with the same mean and variance: the error is below 0.1 / MOST_TOSSES.
MOST_TOSSES: Final = 1e6
LONG_TABLE: Final = 4096  # places from which on those of a single variable are done without arrays
STRAY: Final = 9.0  # heads farther than this many standard deviations from their mean are left out
SHARES, SHARE_WEIGHTS = gauss_legendre(24)
GRADED: Final = 40  # stretches of [0, 1], each half as long as the one before, towards 1


def lattice_winning_probabilities(location: Any, scale: Any, tosses: Any) -> Floats:
    """Each variable's probability of being the largest, ties shared.

    Examples
    --------
    >>> lattice_winning_probabilities([0.0, 0.0], [1.0, 1.0], [1.0, 2.0])
    array([0.3125, 0.6875])
    """
    laws = _fewer_tosses(*(np.array(column, np.float64) for column in (location, scale, tosses)))
    kinds, kind_of, members = np.unique(laws, axis=0, return_inverse=True, return_counts=True)
    kind_of = np.ravel(kind_of)
    tables = [_heads(m) for m in kinds[:, 2]]
    owner = np.repeat(np.arange(len(kinds)), [len(heads) for heads, _, _ in tables])
    heads, mass, below = (np.concatenate(columns) for columns in zip(*tables, strict=True))
    place = kinds[owner, 0] + kinds[owner, 1] * heads
    if ((place[1:] == place[:-1]) & (owner[1:] == owner[:-1])).any():
        place, owner, mass, below = _merged(place, owner, mass, below)
    wins = _wins(place, owner, mass, below, members.astype(np.float64))
    return (wins / (wins * members).sum())[kind_of]  # type: ignore[no-any-return]


def _fewer_tosses(location: Floats, scale: Floats, tosses: Floats) -> Floats:
    """Rows of laws, none with more than ``MOST_TOSSES``."""
    many = tosses > MOST_TOSSES
    coarser = scale[many] * np.sqrt(tosses[many] / MOST_TOSSES)
    location[many] += 0.5 * (scale[many] * tosses[many] - coarser * MOST_TOSSES)
    scale[many], tosses[many] = coarser, MOST_TOSSES
    return np.column_stack([location, scale, tosses])


def _merged(
    place: Floats, owner: npt.NDArray[np.intp], mass: Floats, below: Floats
) -> tuple[Floats, npt.NDArray[np.intp], Floats, Floats]:
    """The same tables with numbers of heads joined whose places rounding has made equal."""
    first = np.flatnonzero(np.append(True, (place[1:] != place[:-1]) | (owner[1:] != owner[:-1])))
    return place[first], owner[first], np.add.reduceat(mass, first), below[first]


def _heads(tosses: float) -> tuple[Floats, Floats, Floats]:
    """Numbers of heads, how likely each is, and how likely fewer are."""
    stray = STRAY * 0.5 * math.sqrt(tosses) + 1.0
    heads = np.arange(max(0.0, math.floor(tosses / 2 - stray)), min(tosses, math.ceil(tosses / 2 + stray)) + 1.0)
    # Each is (tosses - heads + 1) / heads times as likely as the one before.
    growth = log1p((tosses - 2.0 * heads[1:] + 1.0) / heads[1:])
    log_mass = np.concatenate([[0.0], np.cumsum(growth)])
    mass: Floats = exp(log_mass - log_mass.max())
    mass /= mass.sum()
    return heads, mass, np.concatenate([[0.0], np.cumsum(mass)[:-1]])


def _wins(place: Floats, owner: npt.NDArray[np.intp], mass: Floats, below: Floats, members: Floats) -> Floats:
    """Winning probabilities of one member of each kind, walking up the places that have mass."""
    order = np.argsort(place, kind="stable")
    place, owner, mass, below = place[order], owner[order], mass[order], below[order]
    edges = np.flatnonzero(np.diff(place, prepend=-math.inf))
    wins = np.zeros(members.size)
    reached = np.zeros(members.size)  # each kind's probability of being below the place we have come to
    unreached = members.size
    log_all = 0.0  # log of the chance that every variable of a kind already reached is below
    share, weight = _graded_shares()
    is_long = place.size > LONG_TABLE
    for first, last in zip(edges.tolist(), [*edges[1:].tolist(), place.size], strict=True):
        if is_long and last == first + 1 and members[owner[first]] == 1.0:  # one variable, so nothing is shared
            kind, total = owner[first], below[first] + mass[first]
            old, fresh = reached[kind], int(reached[kind] == 0.0)
            log_old = math.log(old) if old > 0.0 else 0.0
            if unreached == fresh:
                wins[kind] += mass[first] * math.exp(log_all - log_old)
            log_all += math.log(max(total, 1e-300)) - log_old
            reached[kind] = total
            unreached -= fresh
            continue
        here = owner[first:last]
        fresh = int((reached[here] == 0.0).sum())
        if unreached == fresh:
            others = log_all - float((members[here] * log(np.where(reached[here] > 0.0, reached[here], 1.0))).sum())
            chance = np.maximum(below[first:last, None] + mass[first:last, None] * share, 1e-300)
            everyone = exp(others + np.add.reduce(members[here, None] * log(chance), axis=0))
            wins[here] += mass[first:last] * weighted_sums(everyone / chance, weight)
        for kind, total in zip(here, below[first:last] + mass[first:last], strict=True):
            old = math.log(reached[kind]) if reached[kind] > 0.0 else 0.0
            log_all += members[kind] * (math.log(max(total, 1e-300)) - old)
            reached[kind] = total
        unreached -= fresh
    return wins


def _graded_shares() -> tuple[Floats, Floats]:
    """Nodes and weights on [0, 1], fine towards 1, where a product of very many factors has all its mass."""
    edges = np.append(1.0 - np.ldexp(1.0, -np.arange(GRADED)), 1.0)
    width = np.diff(edges)
    nodes = edges[:-1, None] + width[:, None] * (0.5 * (SHARES + 1.0))
    return nodes.ravel(), (0.5 * width[:, None] * SHARE_WEIGHTS).ravel()
