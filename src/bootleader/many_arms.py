r"""The leader among very many arms in O(log K) a round, exactly.

Only one arm's law changes in a round, yet drawing K fresh indices costs O(K). The same choice, in distribution, costs
less. Fix a level tau and mark every arm, independently, with the probability that its index exceeds tau; draw the
marked arms' indices above tau; the largest of them leads. Lay the arms' *rates*
:math:`\lambda_k = -\log P(\text{index}_k \le \tau)` end to end and walk along them by exponential steps: an arm is
stepped on with probability :math:`1 - e^{-\lambda_k}`, independently of the others, and a sum tree finds it in
O(log K). If no arm is marked, which tau is placed to make rare, all indices are drawn below tau.

Any tau gives the same choices in distribution; it moves only when the marked arms are too many or none.

**Student laws.** A Student variable T with :math:`\nu` degrees of freedom is close to a normal in disguise: for
:math:`u = \tfrac12 \log(1 + T^2/\nu)` and :math:`R = \pm\sqrt{(2\nu - 1) u}` the density of R is [1]_

.. math:: C_\nu\,\varphi(r)\,\sqrt{u / \sinh u}, \qquad
          C_\nu = \frac{\Gamma(\frac{\nu+1}2)}{\Gamma(\frac\nu2) \sqrt{\nu/2 - 1/4}}.

The root is at most 1, so arms are marked with the normal's :math:`C_\nu P(R > r_\tau)`, which is a little too often,
and a marked arm's normal is kept with the root's probability: what is kept exceeds tau with exactly the Student
probability and law, for any number of degrees, in O(1). With one degree (Cauchy) the arctangent does it directly.

**Point masses** (scale 0, or an infinite location) live in a second tree, of maxima and how many arms share them.

**Precision.** An arm whose probability of not being marked is below e^-45 < 2^-64 is marked always. Sums along the tree
are taken anew from the children on every change, so nothing drifts.

The functions are plain scalars over arrays, as in :mod:`bootleader.streams`: they run as they stand in Python
(``state`` a list of ints) and compiled (``state`` a ``uint64`` array). :mod:`bootleader.compilation` makes them known
to numba, so a program compiles what it needs in its own wrapper::

    import numba
    from bootleader import compilation, many_arms

    @numba.njit(error_model="numpy")
    def choose(forest, state, i, gamma):
        return many_arms.leader(forest, state, i, gamma)

with ``state = np.array([stream_state(seed, run, int(Purpose.SPARE), 0)], np.uint64)`` and
``gamma = np.uint64(run_gamma(seed, run))``. After a pull call :func:`set_law` for the pulled arm. When many laws change at
once, :func:`write_law` each and :func:`settle` once: O(K) in all.

References
----------
.. [1] D. L. Wallace (1959). Bounds on normal approximations to Student's and the chi-square distributions. Ann. Math.
       Stat. 30(4), for the variable R.
.. [2] G. Marsaglia (1964). Generating a variable from the tail of the normal distribution. Technometrics 6(1).
"""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

import numpy as np

from bootleader.sampling import standard_exponential, standard_normal
from bootleader.streams import below, uniform

BRANCHES: Final = 8  # children of a node: one cache line of sums
SURE: Final = 45.0  # the rate of an arm that is always marked: e^-45 < 2^-64
TAIL_FROM: Final = 0.5  # standard deviations beyond which a tail is drawn by Marsaglia's method

LOCATION, SCALE, DF, CREST = 0, 1, 2, 3  # columns of a law
TAU, STEEPNESS = 0, 1  # the level, and how fast the log of the assurance falls in it
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
    return Forest(
        law=law,
        rate=np.zeros(width),
        peak=np.full(width, -math.inf),
        ties=np.zeros(width, np.int64),
        first=np.array(first, np.int64),
        level=np.array([-math.inf, 0.0]),
        tally=np.zeros(3, np.int64),
    )


def set_law(forest: Any, k: Any, location: Any, scale: Any, df: Any) -> None:
    """Give arm k the index law location + scale * Student(df), df = inf being the normal. O(log K).

    ``location=-inf`` switches the arm off. With scale 0 the index is the location itself, and ties are shared;
    ``location=inf`` makes an arm lead before all others (never pulled so far).
    """
    was_point = forest.law[k, SCALE] == 0.0
    write_law(forest, k, location, scale, df)
    rate = _rate(forest.law, k, forest.level[TAU])
    if rate != forest.rate[k]:
        forest.rate[k] = rate
        _resum_path(forest, k)
    if was_point or forest.law[k, SCALE] == 0.0:
        _repeak_path(forest, k)


def write_law(forest: Any, k: Any, location: Any, scale: Any, df: Any) -> None:
    """Note arm k's law without a look at the trees: call :func:`settle` after the last one."""
    law, tally = forest.law, forest.tally
    if law[k, SCALE] > 0.0:
        tally[SPREAD] -= 1
    elif law[k, LOCATION] > -math.inf:
        tally[POINTS] -= 1
    if not -math.inf < location < math.inf:
        scale = 0.0
    if scale > 0.0 and df != law[k, DF]:
        law[k, CREST] = _crest(df)
    law[k, LOCATION], law[k, SCALE], law[k, DF] = location, scale, df
    if scale > 0.0:
        tally[SPREAD] += 1
        forest.peak[k], forest.ties[k] = -math.inf, 0
    else:
        point = location > -math.inf
        tally[POINTS] += 1 if point else 0
        forest.peak[k], forest.ties[k] = location, 1 if point else 0


def settle(forest: Any) -> None:
    """Make both trees fit the laws, and place the level anew if it no longer fits. O(K)."""
    _place_level(forest)
    for height in range(forest.first.shape[0] - 1):
        for node in range((forest.first[height + 1] - forest.first[height]) // BRANCHES):
            _repeak_node(forest, height, node)


def leader(forest: Any, state: Any, i: Any, gamma: Any) -> Any:
    """The arm with the largest index, every index drawn afresh from its law; -1 if all arms are off.

    Randomness comes from stream ``state[i]``. O(log K) a call, apart from O(K) ones that are rare.
    """
    peak, tau = _peak(forest), forest.level[TAU]
    if peak == math.inf:
        return _tied_point(forest, peak, state, i, gamma)
    arm, best, visits = _best_marked(forest, state, i, gamma)
    none_above = arm < 0 and peak < tau
    if none_above and forest.tally[SPREAD] > 0:
        arm, best = _best_below(forest, state, i, gamma)
    if peak > best:
        arm = _tied_point(forest, peak, state, i, gamma)
    elif peak == best and peak > -math.inf:
        if below(state, i, gamma, _peak_ties(forest) + 1) > 0:
            arm = _tied_point(forest, peak, state, i, gamma)
    _keep_level(forest, visits, none_above)
    return arm


# ----------------------------------------------------------------------------------------------------- a round


def _best_marked(forest: Any, state: Any, i: Any, gamma: Any) -> tuple[Any, Any, Any]:
    """The marked arm with the largest index above tau (-1 if there is none), its index, and how many were visited."""
    law, rate, tau = forest.law, forest.rate, forest.level[TAU]
    total = _total(forest)
    arm, best, tied, visits = -1, -math.inf, 1, 0
    position = standard_exponential(state, i, gamma)
    while position < total:
        k, into = _land(forest, position)
        if into < rate[k]:  # else rounding has led past the last arm
            visits += 1
            index = _index_above(law, k, tau, rate[k] >= SURE, state, i, gamma)
            if index > best:
                arm, best, tied = k, index, 1
            elif index == best and index > -math.inf:
                tied += 1
                arm = k if below(state, i, gamma, tied) == 0 else arm
            position += rate[k] - into  # the walk has no memory: go on from the arm's end
        position += standard_exponential(state, i, gamma)
    return arm, best, visits


def _land(forest: Any, position: Any) -> tuple[Any, Any]:
    """The arm at a position along the rates, and how far into its rate that is."""
    rate, first = forest.rate, forest.first
    node = 0
    for height in range(first.shape[0] - 1, -1, -1):
        at = first[height] + node * BRANCHES
        child = 0
        while child < BRANCHES - 1 and position >= rate[at + child]:
            position -= rate[at + child]
            child += 1
        node = node * BRANCHES + child
    return node, position


def _index_above(law: Any, k: Any, tau: Any, sure: Any, state: Any, i: Any, gamma: Any) -> Any:
    """A marked arm's index, or -inf if it does not exceed tau after all."""
    location, scale, df = law[k, LOCATION], law[k, SCALE], law[k, DF]
    z = (tau - location) / scale
    if sure:
        noise = _noise_above(-math.inf, df, state, i, gamma)
        return location + scale * noise if noise > z else -math.inf
    return location + scale * _attempt_above(z, df, state, i, gamma)


def _best_below(forest: Any, state: Any, i: Any, gamma: Any) -> tuple[Any, Any]:
    """The arm with the largest index, and that index, given that no index exceeds tau. O(K)."""
    law, tau = forest.law, forest.level[TAU]
    arm, best, tied = -1, -math.inf, 1
    for k in range(law.shape[0]):
        location, scale, df = law[k, LOCATION], law[k, SCALE], law[k, DF]
        if scale > 0.0:
            index = location - scale * _noise_above((location - tau) / scale, df, state, i, gamma)
            if index > best:
                arm, best, tied = k, index, 1
            elif index == best:
                tied += 1
                arm = k if below(state, i, gamma, tied) == 0 else arm
    return arm, best


# ----------------------------------------------------------------------------------------------- one arm's law


def _rate(law: Any, k: Any, tau: Any) -> Any:
    """-log of the probability that arm k is not marked."""
    scale, df = law[k, SCALE], law[k, DF]
    if scale == 0.0:
        return 0.0
    z = (tau - law[k, LOCATION]) / scale
    if df == math.inf:
        return _normal_rate(z)
    if df == 1.0:
        return _rate_of(math.atan2(1.0, z) / math.pi, math.atan2(1.0, -z) / math.pi)
    marked = law[k, CREST] * _normal_survival(_in_normal_units(z, df))
    return _rate_of(marked, 1.0 - marked)


def _assurance(law: Any, k: Any, tau: Any, rate: Any) -> Any:
    """-log of the probability that arm k's index is at most tau, nearly: what tau is placed by."""
    df = law[k, DF]
    if rate == 0.0 or df == math.inf or df == 1.0:
        return rate
    r = _in_normal_units((tau - law[k, LOCATION]) / law[k, SCALE], df)
    if r < 0.0:
        return min(rate, _rate_of(1.0, law[k, CREST] * _normal_survival(-r)))
    u = (r * r + 2.0) / (2.0 * df - 1.0)  # r*r + 2 is about the mean square of the normal beyond r
    return rate * math.sqrt(u / math.sinh(u))


def _normal_rate(z: Any) -> Any:
    return _rate_of(_normal_survival(z), _normal_survival(-z) if z < 0.0 else 1.0)


def _normal_survival(z: Any) -> Any:
    return 0.5 * math.erfc(z * math.sqrt(0.5))


def _rate_of(chance: Any, complement: Any) -> Any:
    """-log(1 - chance), from whichever of the two is small."""
    if chance < 1e-5:
        return chance * (1.0 + chance * (0.5 + chance * (1.0 / 3.0)))
    if chance < 0.5:
        return -math.log1p(-chance)
    return min(SURE, -math.log(complement)) if complement > 0.0 else SURE


def _in_normal_units(z: Any, df: Any) -> Any:
    """The nearly normal R that a Student variable z stands for."""
    r = math.sqrt((df - 0.5) * math.log1p(z * z / df))
    return r if z >= 0.0 else -r


def _crest(df: Any) -> Any:
    """C of the module's notes: how much the normal must be raised to cover the Student density."""
    if df == math.inf:
        return 1.0
    a = 0.5 * df
    if a < 32.0:
        return math.exp(math.lgamma(a + 0.5) - math.lgamma(a)) / math.sqrt(a - 0.25)
    x = 1.0 / a
    series = 5.0 / 1024.0 + x * (-21.0 / 32768.0 + x * (-399.0 / 262144.0 + x * (869.0 / 4194304.0)))
    return (1.0 + x * (-1.0 / 8.0 + x * (1.0 / 128.0 + x * series))) / math.sqrt(1.0 - 0.25 * x)


def _noise_above(z: Any, df: Any, state: Any, i: Any, gamma: Any) -> Any:
    """A Student variable, given that it exceeds z."""
    noise = _attempt_above(z, df, state, i, gamma)
    while noise == -math.inf:
        noise = _attempt_above(z, df, state, i, gamma)
    return noise


def _attempt_above(z: Any, df: Any, state: Any, i: Any, gamma: Any) -> Any:
    """A Student variable above z, by an arm that was marked at its marking rate; -inf if it is thinned out."""
    if df == math.inf:
        return _normal_above(z, state, i, gamma)
    if df == 1.0:
        return 1.0 / math.tan(math.atan2(1.0, z) * (1.0 - uniform(state, i, gamma)))
    r = _normal_above(-math.inf if z == -math.inf else _in_normal_units(z, df), state, i, gamma)
    u = r * r / (2.0 * df - 1.0)
    v = uniform(state, i, gamma)
    if v * v * math.sinh(u) > u:
        return -math.inf
    t = math.sqrt(df * math.expm1(2.0 * u))
    return t if r >= 0.0 else -t


def _normal_above(z: Any, state: Any, i: Any, gamma: Any) -> Any:
    """A normal variable, given that it exceeds z."""
    if z < TAIL_FROM:
        x = standard_normal(state, i, gamma)
        while x <= z:
            x = standard_normal(state, i, gamma)
        return x
    while True:
        x = math.sqrt(z * z + 2.0 * standard_exponential(state, i, gamma))
        if uniform(state, i, gamma) * x < z:
            return x


# -------------------------------------------------------------------------------------------------- the level


def _goal(forest: Any) -> Any:
    """The assurance that tau is placed at: then an O(K) round comes about once in K rounds."""
    return math.log(forest.law.shape[0] + 1.0) + 3.0


def _keep_level(forest: Any, visits: Any, none_above: Any) -> None:
    """Place tau anew when it has cost as much as placing it does: after an O(K) round, or K needless visits."""
    if forest.tally[SPREAD] == 0:
        return
    forest.tally[EXCESS] += max(0, visits - int(2.0 * _goal(forest)))
    if none_above or forest.tally[EXCESS] > forest.law.shape[0]:
        _place_level(forest)


def _place_level(forest: Any) -> None:
    """Find a tau at which the assurance is near its goal, and recompute the rates there. O(K)."""
    level, goal = forest.level, _goal(forest)
    forest.tally[EXCESS] = 0
    if forest.tally[SPREAD] <= goal:  # few enough to draw all of them every time
        level[TAU] = -math.inf
        _survey(forest)
        return
    if level[TAU] == -math.inf:
        _guess_level(forest)
    found = _survey(forest)
    low, high = -math.inf, math.inf
    log_low, log_high = math.inf, -math.inf
    reach = 1.0
    while not 0.7 * goal <= found <= 1.4 * goal:
        tau, height = level[TAU], math.log(max(found, 1e-300) / goal)
        if height > 0.0:
            low, log_low = tau, height
        else:
            high, log_high = tau, height
        if low == -math.inf or high == math.inf:
            wanted = tau + reach * min(max(height, -3.0), 3.0) / level[STEEPNESS]
            reach *= 2.0
        else:
            share = min(max(log_low / (log_low - log_high), 0.1), 0.9)
            wanted = low + share * (high - low)
            level[STEEPNESS] = max((log_low - log_high) / (high - low), 0.1 * level[STEEPNESS])
        if wanted <= low or wanted >= high:  # neighbouring numbers: laws too tight for their location
            break
        level[TAU] = wanted
        found = _survey(forest)


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
    assurance = 0.0
    for k in range(law.shape[0]):
        rate[k] = _rate(law, k, tau)
        assurance += _assurance(law, k, tau, rate[k])
    for height in range(first.shape[0] - 1):
        for node in range((first[height + 1] - first[height]) // BRANCHES):
            _resum_node(forest, height, node)
    return assurance


# -------------------------------------------------------------------------------------------------- the trees


def _total(forest: Any) -> Any:
    top = forest.first[-1]
    total = 0.0
    for child in range(BRANCHES):
        total += forest.rate[top + child]
    return total


def _resum_node(forest: Any, height: Any, node: Any) -> None:
    """Set a node to the sum of its children, which lie at ``height``."""
    rate, first = forest.rate, forest.first
    at = first[height] + node * BRANCHES
    total = 0.0
    for child in range(BRANCHES):
        total += rate[at + child]
    rate[first[height + 1] + node] = total


def _resum_path(forest: Any, k: Any) -> None:
    for height in range(forest.first.shape[0] - 1):
        k //= BRANCHES
        _resum_node(forest, height, k)


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


def _repeak_path(forest: Any, k: Any) -> None:
    for height in range(forest.first.shape[0] - 1):
        k //= BRANCHES
        _repeak_node(forest, height, k)


def _peak(forest: Any) -> Any:
    """The largest point mass; -inf if there is none."""
    if forest.tally[POINTS] == 0:
        return -math.inf
    top = forest.first[-1]
    best = forest.peak[top]
    for child in range(1, BRANCHES):
        best = max(best, forest.peak[top + child])
    return best


def _peak_ties(forest: Any) -> Any:
    """How many arms share the largest point mass."""
    best, top, tied = _peak(forest), forest.first[-1], 0
    for child in range(BRANCHES):
        if forest.peak[top + child] == best:
            tied += forest.ties[top + child]
    return tied


def _tied_point(forest: Any, peak: Any, state: Any, i: Any, gamma: Any) -> Any:
    """One of the arms that share the largest point mass, uniformly at random."""
    tied = _peak_ties(forest)
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
