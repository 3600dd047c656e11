r"""The leader among very many arms in O(log K) a round, exactly.

Only one arm's law changes in a round, yet drawing K fresh indices costs O(K). The same choice, in distribution, costs
less. Fix a level tau and mark every arm, independently, with the probability that its index exceeds tau; draw the
marked arms' indices above tau; the largest of them leads. Lay the arms' *rates*
:math:`\lambda_k = -\log P(\text{index}_k \le \tau)` end to end and walk along them by exponential steps: an arm is
stepped on with probability :math:`1 - e^{-\lambda_k}`, independently of the others, and a sum tree finds it in
O(log K). If no arm is marked, which tau is placed to make rare, all indices are drawn below tau.

Any tau gives the same choices in distribution; it moves only when the marked arms are too many or none.

**Student laws** are marked a little too often and thinned afterwards, which is exact too (:mod:`bootleader._core.tail_sampling`).

**Point masses** (scale 0, or an infinite location) live in a second tree, of maxima and how many arms share them.

**Precision.** Sums along the tree are taken anew from the children on every change, so nothing drifts. An arm whose
probability of not being marked is below e^-45 < 2^-64 is marked always. A scale too small to move its location makes
a point mass; at scales of a few units in the location's last place, ties that only rounding makes are not shared
quite evenly.

The functions are plain scalars over arrays, as in :mod:`bootleader._core.rng`: they run as they stand in Python
(``state`` a list of ints) and compiled (``state`` a ``uint64`` array). :mod:`bootleader._core.numba_bridge` makes them known
to numba, so a program compiles what it needs in its own wrapper::

    import numba
    from bootleader._core import numba_bridge as compilation
    from bootleader._core import leader_tree as many_arms

    @numba.njit(error_model="numpy")
    def choose(forest, state, i, gamma):
        return many_arms.leader(forest, state, i, gamma)

with ``state = np.array([stream_state(seed, run, int(Purpose.SPARE), 0)], np.uint64)`` and
``gamma = np.uint64(run_gamma(seed, run))``. After a pull call :func:`set_law` for the pulled arm. When many laws
change at once, :func:`write_law` each and :func:`settle` once: O(K) in all.
"""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

import numpy as np

from bootleader._core.sampling import standard_exponential
from bootleader._core.rng import below
from bootleader._core.tail_sampling import SURE, assurance, attempt_above, crest_of, marking_rate, noise_above

BRANCHES: Final = 8  # children of a node: one cache line of sums
FARTHEST: Final = 40.0  # no normal lies this many standard deviations out
SPARE_VISITS: Final = 6  # marked arms beyond the assurance aimed at that a round may have before tau is held too low
SOON: Final = 16  # a level that lasts for less than one round in so many arms is placed with more to spare next time

LOCATION, SCALE, DF, CREST = 0, 1, 2, 3  # columns of a law
# The level, how fast the log of the assurance falls in it, the assurance to have at least, the one to aim at when the
# level is placed, and how many rounds ago that was.
TAU, STEEPNESS, LEAST, AIM, AGE = 0, 1, 2, 3, 4
SPREAD, POINTS, EXCESS = 0, 1, 2  # arms with a spread, arms that are point masses, visits beyond the allowance


class Forest(NamedTuple):
    """The arms' laws, the sum tree of their rates and the tree of point masses (levels end to end, leaves first)."""

    law: Any
    rate: Any
    peak: Any
    ties: Any
    first: Any  # where each level starts
    level: Any
    tally: Any


def plant(arms: int) -> Forest:
    """A forest for this many arms, all of them switched off.

    Examples
    --------
    >>> forest = plant(3)
    >>> set_law(forest, 0, 1.0, 0.5, math.inf)  # N(1, 0.5^2)
    >>> set_law(forest, 1, 0.0, 0.5, 4.0)  # 0.5 times a Student variable with 4 degrees of freedom
    >>> set_law(forest, 2, -math.inf, 0.0, math.inf)  # off
    >>> state = [2020]  # a Python list of stream states; compiled code takes a uint64 array
    >>> leaders = [leader(forest, state, 0, 0x9E3779B97F4A7C15) for _ in range(1000)]
    >>> leaders.count(0) > leaders.count(1) > leaders.count(2) == 0
    True
    """
    first, size = [0], arms
    width = 0
    while True:
        size = -(-size // BRANCHES) * BRANCHES
        width += size
        if size == BRANCHES:
            break
        first.append(width)
        size //= BRANCHES
    law = np.zeros((arms, 4))
    law[:, LOCATION] = -math.inf
    least = max(math.log(arms) - 2.0, 2.0)  # then an O(K) round comes less than once in some K rounds
    return Forest(
        law=law,
        rate=np.zeros(width),
        peak=np.full(width, -math.inf),
        ties=np.zeros(width, np.int64),
        first=np.array(first, np.int64),
        level=np.array([-math.inf, 0.0, least, least + 2.0, 0.0]),
        tally=np.zeros(3, np.int64),
    )


def set_law(forest: Any, k: Any, location: Any, scale: Any, df: Any) -> None:
    """Give arm k the index law location + scale * Student(df), df = inf being the normal. O(log K).

    ``location=-inf`` switches the arm off. With scale 0 the index is the location itself, and ties are shared;
    ``location=inf`` makes an arm lead before all others (never pulled so far).
    """
    law, rate = forest.law, forest.rate
    was_point = law[k, SCALE] == 0.0
    write_law(forest, k, location, scale, df)
    now = marking_rate(law[k, LOCATION], law[k, SCALE], law[k, DF], law[k, CREST], forest.level[TAU])
    if now != rate[k]:
        rate[k] = now
        _resum_path(rate, forest.first, k)
    if was_point or law[k, SCALE] == 0.0:
        _repeak_path(forest, k)


def write_law(forest: Any, k: Any, location: Any, scale: Any, df: Any) -> None:
    """Note arm k's law without a look at the trees: call :func:`settle` after the last one."""
    law = forest.law
    if not -math.inf < location < math.inf or (df == math.inf and location + FARTHEST * scale == location):
        scale = 0.0
    had_spread, has_spread = law[k, SCALE] > 0.0, scale > 0.0
    if not (had_spread and has_spread):
        _recount(forest, k, location, had_spread, has_spread)
    if has_spread and not (had_spread and df == law[k, DF]):
        law[k, CREST] = crest_of(df)
    law[k, LOCATION], law[k, SCALE], law[k, DF] = location, scale, df


def _recount(forest: Any, k: Any, location: Any, had_spread: Any, has_spread: Any) -> None:
    """Keep count of the arms with a spread and of the point masses, and the point masses themselves."""
    tally = forest.tally
    is_point = location > -math.inf and not has_spread
    tally[SPREAD] += int(has_spread) - int(had_spread)
    tally[POINTS] += int(is_point) - forest.ties[k]
    forest.peak[k] = location if is_point else -math.inf
    forest.ties[k] = int(is_point)


def settle(forest: Any) -> None:
    """Make both trees fit the laws, and place the level anew if it no longer fits. O(K)."""
    _place_level(forest, False)
    _repeak_all(forest)


def resume(forest: Any, level: Any, excess: Any) -> None:
    """Make both trees fit the laws at a level kept from before, so that choices go on as they would have. O(K)."""
    for place in range(len(level)):
        forest.level[place] = level[place]
    forest.tally[EXCESS] = excess
    _survey(forest)
    _repeak_all(forest)


def leader(forest: Any, state: Any, i: Any, gamma: Any) -> Any:
    """The arm with the largest index, every index drawn afresh from its law; -1 if all arms are off.

    Randomness comes from stream ``state[i]``. O(log K) a call, apart from O(K) ones that are rare.
    """
    level, tally = forest.level, forest.tally
    peak = _peak(forest) if tally[POINTS] > 0 else -math.inf
    if peak == math.inf:
        return _tied_point(forest, peak, state, i, gamma)
    arm, best, tied, visits, none_above = -1, -math.inf, 0, 0, False
    if tally[SPREAD] > 0:
        arm, best, tied, visits = _best_marked(forest.law, forest.rate, forest.first, level[TAU], state, i, gamma)
        none_above = arm < 0 and peak < level[TAU]
        if none_above:
            arm, best, tied = _best_below(forest.law, level[TAU], state, i, gamma)
    if peak > best or (peak == best and arm >= 0 and below(state, i, gamma, tied + _peak_ties(forest, peak)) >= tied):
        arm = _tied_point(forest, peak, state, i, gamma)
    tally[EXCESS] += max(0, visits - int(level[AIM]) - SPARE_VISITS)
    level[AGE] += 1.0
    if none_above or tally[EXCESS] > forest.law.shape[0]:  # the level has cost as much as a new one does
        _adjust_aim(level, none_above and level[AGE] * SOON < forest.law.shape[0])
        _place_level(forest, True)
    return arm


# ----------------------------------------------------------------------------------------------------- a round


def _best_marked(
    law: Any, rate: Any, first: Any, tau: Any, state: Any, i: Any, gamma: Any
) -> tuple[Any, Any, Any, Any]:
    """The marked arm with the largest index above tau (-1: none), its index, how many share it, and the visits made."""
    total = _total(rate, first)
    arm, best, tied, visits = -1, -math.inf, 1, 0
    position = standard_exponential(state, i, gamma)
    while position < total:
        k, into = _land(rate, first, position)
        if into < rate[k]:  # else rounding has led past the last arm
            visits += 1
            sure = rate[k] >= SURE
            index = _index_above(law[k, LOCATION], law[k, SCALE], law[k, DF], tau, sure, state, i, gamma)
            if index > best:
                arm, best, tied = k, index, 1
            elif index == best and index > -math.inf:
                tied += 1
                arm = k if below(state, i, gamma, tied) == 0 else arm
            position += rate[k] - into  # the walk has no memory: go on from the arm's end
        position += standard_exponential(state, i, gamma)
    return arm, best, tied, visits


def _land(rate: Any, first: Any, position: Any) -> tuple[Any, Any]:
    """The arm at a position along the rates, and how far into its rate that is."""
    node = 0
    for height in range(first.shape[0] - 1, -1, -1):
        at = first[height] + node * BRANCHES
        child = 0
        while child < BRANCHES - 1 and position >= rate[at + child]:
            position -= rate[at + child]
            child += 1
        while rate[at + child] == 0.0:  # rounding has led past the last arm that has a rate
            child -= 1
        node = node * BRANCHES + child
    return node, position


def _index_above(location: Any, scale: Any, df: Any, tau: Any, sure: Any, state: Any, i: Any, gamma: Any) -> Any:
    """A marked arm's index, or -inf if it does not exceed tau after all."""
    z = (tau - location) / scale
    if sure:
        noise = noise_above(-math.inf, df, state, i, gamma)
        return location + scale * noise if noise > z else -math.inf
    return location + scale * attempt_above(z, df, state, i, gamma)


def _best_below(law: Any, tau: Any, state: Any, i: Any, gamma: Any) -> tuple[Any, Any, Any]:
    """The arm with the largest index, that index, and how many share it, given that none exceeds tau. O(K)."""
    arm, best, tied = -1, -math.inf, 1
    for k in range(law.shape[0]):
        location, scale, df = law[k, LOCATION], law[k, SCALE], law[k, DF]
        if scale > 0.0:
            index = location - scale * noise_above((location - tau) / scale, df, state, i, gamma)
            if index > best:
                arm, best, tied = k, index, 1
            elif index == best:
                tied += 1
                arm = k if below(state, i, gamma, tied) == 0 else arm
    return arm, best, tied


# -------------------------------------------------------------------------------------------------- the level


def _adjust_aim(level: Any, sank_soon: Any) -> None:
    """Aim higher while arms lose their rates fast, so that the level is placed less often; else lower again."""
    least = level[LEAST]
    level[AIM] = min(1.3 * level[AIM], 4.0 * least) if sank_soon else max(level[AIM] / 1.3, least + 2.0)


def _place_level(forest: Any, rates_fit: Any) -> None:
    """Find a tau whose assurance is near the one aimed at, and recompute the rates there unless they fit. O(K)."""
    level = forest.level
    aim = level[AIM]
    forest.tally[EXCESS] = 0
    level[AGE] = 0.0
    if forest.tally[SPREAD] <= aim:  # few enough to draw all of them every time
        level[TAU] = -math.inf
        _survey(forest)
        return
    if level[TAU] == -math.inf:
        _guess_level(forest)
        rates_fit = False
    found = _total(forest.rate, forest.first) if rates_fit else _survey(forest)
    if rates_fit and found >= level[LEAST]:  # at most this much is assured: with Student laws perhaps too little
        found = _survey(forest)
    if level[LEAST] <= found <= 1.5 * aim:
        return
    low, high, log_low, log_high = -math.inf, math.inf, 0.0, 0.0
    stride = 1.0
    while not 0.8 * aim <= found <= 1.3 * aim:
        tau, height = level[TAU], math.log(max(found, 1e-300) / aim)
        if height > 0.0:
            low, log_low = tau, height
        else:
            high, log_high = tau, height
        if low == -math.inf or high == math.inf:
            wanted = tau + stride * min(max(height, -2.0), 2.0) / level[STEEPNESS]
            stride *= 2.0
        else:
            share = min(max(log_low / (log_low - log_high), 0.1), 0.9)
            wanted = low + share * (high - low)
        if wanted <= low or wanted >= high:  # neighbouring numbers: laws too tight for their location
            break
        level[TAU] = wanted
        before, found = found, _survey(forest)
        if found != before and found > 0.0 and before > 0.0:
            level[STEEPNESS] = abs(math.log(found / before) / (wanted - tau))


def _guess_level(forest: Any) -> None:
    """Start the search at the arm that reaches highest at two scales above its location."""
    law = forest.law
    highest = -math.inf
    for k in range(law.shape[0]):
        if law[k, SCALE] > 0.0 and law[k, LOCATION] + 2.0 * law[k, SCALE] > highest:
            highest = law[k, LOCATION] + 2.0 * law[k, SCALE]
            forest.level[STEEPNESS] = 2.0 / law[k, SCALE]
    forest.level[TAU] = highest


def _survey(forest: Any) -> Any:
    """Recompute all rates at tau; return the assurance. O(K)."""
    law, rate, first, tau = forest.law, forest.rate, forest.first, forest.level[TAU]
    total = 0.0
    for k in range(law.shape[0]):
        location, scale, df, crest = law[k, LOCATION], law[k, SCALE], law[k, DF], law[k, CREST]
        rate[k] = marking_rate(location, scale, df, crest, tau)
        total += assurance(location, scale, df, crest, tau, rate[k])
    for height in range(first.shape[0] - 1):
        for node in range((first[height + 1] - first[height]) // BRANCHES):
            _resum_node(rate, first, height, node)
    return total


# -------------------------------------------------------------------------------------------------- the trees


def _total(rate: Any, first: Any) -> Any:
    top = first[-1]
    total = 0.0
    for child in range(BRANCHES):
        total += rate[top + child]
    return total


def _resum_node(rate: Any, first: Any, height: Any, node: Any) -> None:
    """Set a node to the sum of its children, which lie at ``height``."""
    at = first[height] + node * BRANCHES
    total = 0.0
    for child in range(BRANCHES):
        total += rate[at + child]
    rate[first[height + 1] + node] = total


def _resum_path(rate: Any, first: Any, k: Any) -> None:
    for height in range(first.shape[0] - 1):
        k >>= 3
        _resum_node(rate, first, height, k)


def _repeak_node(forest: Any, height: Any, node: Any) -> None:
    """Set a node to the largest point mass among its children at ``height``, and how many arms share it."""
    peak, ties, first = forest.peak, forest.ties, forest.first
    at = first[height] + node * BRANCHES
    best, tied = -math.inf, 0
    for child in range(at, at + BRANCHES):
        if peak[child] > best:
            best, tied = peak[child], ties[child]
        elif peak[child] == best:
            tied += ties[child]
    peak[first[height + 1] + node], ties[first[height + 1] + node] = best, tied


def _repeak_all(forest: Any) -> None:
    for height in range(forest.first.shape[0] - 1):
        for node in range((forest.first[height + 1] - forest.first[height]) // BRANCHES):
            _repeak_node(forest, height, node)


def _repeak_path(forest: Any, k: Any) -> None:
    for height in range(forest.first.shape[0] - 1):
        k >>= 3
        _repeak_node(forest, height, k)


def _peak(forest: Any) -> Any:
    """The largest point mass; -inf if there is none."""
    top = forest.first[-1]
    best = -math.inf
    for child in range(BRANCHES):
        best = max(best, forest.peak[top + child])
    return best


def _peak_ties(forest: Any, peak: Any) -> Any:
    """How many arms share the largest point mass."""
    top, tied = forest.first[-1], 0
    for child in range(BRANCHES):
        if forest.peak[top + child] == peak:
            tied += forest.ties[top + child]
    return tied


def _tied_point(forest: Any, peak: Any, state: Any, i: Any, gamma: Any) -> Any:
    """One of the arms that share the largest point mass, uniformly at random."""
    tied = _peak_ties(forest, peak)
    left = below(state, i, gamma, tied) if tied > 1 else 0
    node = 0
    for height in range(forest.first.shape[0] - 1, -1, -1):
        at = forest.first[height] + node * BRANCHES
        child = 0
        while forest.peak[at + child] != peak or left >= forest.ties[at + child]:
            if forest.peak[at + child] == peak:
                left -= forest.ties[at + child]
            child += 1
        node = node * BRANCHES + child
    return node
