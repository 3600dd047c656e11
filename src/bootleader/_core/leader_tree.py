r"""The leader among very many arms in O(log K) a round, exactly.

Only one arm's law changes in a round, yet drawing K new indices costs O(K). This module makes a choice with the same
distribution for less. Fix a threshold tau. Mark every arm, independently, with the probability that its index exceeds
tau, and draw the indices of the marked arms above tau: the largest of them leads. To mark, lay the arms' *rates*
:math:`\lambda_k = -\log P(\text{index}_k \le \tau)` end to end and generate a Poisson process of rate 1 along them.
An arm with a point in its interval is marked, which has probability :math:`1 - e^{-\lambda_k}`, independently of the
others. A sum tree finds the arm of a point in O(log K). If no arm is marked, all indices are drawn below tau in O(K);
tau is placed so that this is rare.

Any tau gives the same distribution of choices. It is placed anew only when too many arms are marked, or none.

**Student laws** are marked a little too often and thinned afterwards, which is exact too
(:mod:`bootleader._core.tail_sampling`).

**Point masses** (scale 0, or an infinite location) are in a second tree: the maxima, and how many arms share each.

**Precision.** An arm whose probability of not being marked is below e^-45 < 2^-64 is always marked. A scale too small
to change its location makes a point mass. At scales of a few units in the location's last place, ties that come from
rounding alone are not broken quite uniformly.

The functions are plain arithmetic on arrays and run unchanged in Python and compiled. After a pull, call
:func:`set_law` for the pulled arm. When many laws change at once, :func:`write_law` each and :func:`rebuild` once:
O(K) in all.
"""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

import numpy as np

from bootleader._core.rng import below
from bootleader._core.segment_trees import (
    highest_peak,
    leaf_at,
    level_starts,
    peak_ties,
    tied_leaf,
    total_of,
    update_peak_path,
    update_peaks,
    update_sum_path,
    update_sums,
)
from bootleader._core.tail_sampling import (
    CERTAIN,
    attempt_above,
    envelope_constant,
    exponential,
    marking_rate,
    noise_above,
    true_rate,
)

FARTHEST: Final = 40.0  # no normal lies this many standard deviations out
SPARE_VISITS: Final = 6  # visits to marked arms that a round may make beyond the total rate aimed at
SOON: Final = 16  # a threshold that lasts for less than arms / SOON rounds is placed lower next time

LOCATION, SCALE, DF, ENVELOPE = 0, 1, 2, 3  # columns of a law
# The threshold tau; how fast the log of the total rate decreases in tau; the least total rate; the total rate to aim at
# when tau is placed; the number of rounds since then.
TAU, STEEPNESS, LEAST, AIM, AGE = 0, 1, 2, 3, 4
SPREAD, POINTS, EXCESS = 0, 1, 2  # arms with a spread, arms that are point masses, visits beyond the allowance


class LeaderTree(NamedTuple):
    """The arms' laws, the sum tree of their rates and the tree of point masses (levels end to end, leaves first)."""

    law: Any
    rate: Any
    peak: Any
    ties: Any
    first: Any  # where each level of the tree starts
    threshold: Any
    tally: Any


def new_tree(arms: int) -> LeaderTree:
    """A tree for this many arms, all of them switched off.

    Examples
    --------
    >>> from bootleader._core.rng import Stream
    >>> tree = new_tree(3)
    >>> set_law(tree, 0, 1.0, 0.5, math.inf)  # N(1, 0.5^2)
    >>> set_law(tree, 1, 0.0, 0.5, 4.0)  # 0.5 times a Student variable with 4 degrees of freedom
    >>> set_law(tree, 2, -math.inf, 0.0, math.inf)  # off
    >>> stream = Stream([2020], 0, 0x9E3779B97F4A7C15)
    >>> leaders = [leader(tree, stream) for _ in range(1000)]
    >>> leaders.count(0) > leaders.count(1) > leaders.count(2) == 0
    True
    """
    first, width = level_starts(arms)
    law = np.zeros((arms, 4))
    law[:, LOCATION] = -math.inf
    least = max(math.log(arms) - 2.0, 2.0)  # then less than about one round in K costs O(K)
    return LeaderTree(
        law=law,
        rate=np.zeros(width),
        peak=np.full(width, -math.inf),
        ties=np.zeros(width, np.int64),
        first=first,
        threshold=np.array([-math.inf, 0.0, least, least + 2.0, 0.0]),
        tally=np.zeros(3, np.int64),
    )


def set_law(tree: Any, k: Any, location: Any, scale: Any, df: Any) -> None:
    """Give arm k the index law location + scale * Student(df), df = inf being the normal. O(log K).

    ``location=-inf`` switches the arm off. With scale 0 the index is the location itself, and ties are shared;
    ``location=inf`` makes an arm lead all others, as an arm without rewards may have to.
    """
    law, rate = tree.law, tree.rate
    was_point = law[k, SCALE] == 0.0
    write_law(tree, k, location, scale, df)
    now = marking_rate(law[k, LOCATION], law[k, SCALE], law[k, DF], law[k, ENVELOPE], tree.threshold[TAU])
    if now != rate[k]:
        rate[k] = now
        update_sum_path(rate, tree.first, k)
    if was_point or law[k, SCALE] == 0.0:
        update_peak_path(tree, k)


def write_law(tree: Any, k: Any, location: Any, scale: Any, df: Any) -> None:
    """Write arm k's law without updating the trees: call :func:`rebuild` after the last one."""
    law = tree.law
    if not -math.inf < location < math.inf or (df == math.inf and location + FARTHEST * scale == location):
        scale = 0.0
    had_spread, has_spread = law[k, SCALE] > 0.0, scale > 0.0
    if not (had_spread and has_spread):
        _recount(tree, k, location, had_spread, has_spread)
    if has_spread and not (had_spread and df == law[k, DF]):
        law[k, ENVELOPE] = envelope_constant(df)
    law[k, LOCATION], law[k, SCALE], law[k, DF] = location, scale, df


def _recount(tree: Any, k: Any, location: Any, had_spread: Any, has_spread: Any) -> None:
    """Update the numbers of arms with a spread and of point masses, and arm k's point mass."""
    tally = tree.tally
    is_point = location > -math.inf and not has_spread
    tally[SPREAD] += int(has_spread) - int(had_spread)
    tally[POINTS] += int(is_point) - tree.ties[k]
    tree.peak[k] = location if is_point else -math.inf
    tree.ties[k] = int(is_point)


def rebuild(tree: Any) -> None:
    """Recompute both trees from the laws, and place the threshold anew if it no longer fits. O(K)."""
    _place_threshold(tree, False)
    update_peaks(tree)


def restore(tree: Any, threshold: Any, excess: Any) -> None:
    """Recompute both trees from the laws at a given threshold, so that a stored tree makes the same choices. O(K)."""
    for place in range(len(threshold)):
        tree.threshold[place] = threshold[place]
    tree.tally[EXCESS] = excess
    _recompute_rates(tree)
    update_peaks(tree)


def leader(tree: Any, stream: Any) -> Any:
    """The arm with the largest index, every index a new draw from its law; -1 if all arms are off.

    O(log K) a call, apart from rare calls that are O(K).
    """
    threshold, tally = tree.threshold, tree.tally
    peak = highest_peak(tree) if tally[POINTS] > 0 else -math.inf
    if peak == math.inf:
        return tied_leaf(tree, peak, stream)
    arm, best, tied, visits, none_above = -1, -math.inf, 0, 0, False
    if tally[SPREAD] > 0:
        arm, best, tied, visits = _best_marked(tree.law, tree.rate, tree.first, threshold[TAU], stream)
        none_above = arm < 0 and peak < threshold[TAU]
        if none_above:
            arm, best, tied = _best_below(tree.law, threshold[TAU], stream)
    if peak > best or (peak == best and arm >= 0 and below(stream, tied + peak_ties(tree, peak)) >= tied):
        arm = tied_leaf(tree, peak, stream)
    tally[EXCESS] += max(0, visits - int(threshold[AIM]) - SPARE_VISITS)
    threshold[AGE] += 1.0
    if none_above or tally[EXCESS] > tree.law.shape[0]:  # the excess has cost as much as a new threshold
        _adjust_aim(threshold, none_above and threshold[AGE] * SOON < tree.law.shape[0])
        _place_threshold(tree, True)
    return arm


# ----------------------------------------------------------------------------------------------------- a round


def _best_marked(law: Any, rate: Any, first: Any, tau: Any, stream: Any) -> tuple[Any, Any, Any, Any]:
    """The marked arm with the largest index above tau (-1: none), its index, how many share it, and the visits made."""
    total = total_of(rate, first)
    arm, best, tied, visits = -1, -math.inf, 1, 0
    position = exponential(stream)
    while position < total:
        k, into = leaf_at(rate, first, position)
        if into < rate[k]:  # otherwise rounding has led past the last arm
            visits += 1
            certain = rate[k] >= CERTAIN
            index = _index_above(law[k, LOCATION], law[k, SCALE], law[k, DF], tau, certain, stream)
            if index > best:
                arm, best, tied = k, index, 1
            elif index == best and index > -math.inf:
                tied += 1
                arm = k if below(stream, tied) == 0 else arm
            position += rate[k] - into  # one point marks the arm; continue from its end
        position += exponential(stream)
    return arm, best, tied, visits


def _index_above(location: Any, scale: Any, df: Any, tau: Any, certain: Any, stream: Any) -> Any:
    """A marked arm's index, or -inf if thinning discards the mark."""
    z = (tau - location) / scale
    if certain:
        noise = noise_above(-math.inf, df, stream)
        return location + scale * noise if noise > z else -math.inf
    return location + scale * attempt_above(z, df, stream)


def _best_below(law: Any, tau: Any, stream: Any) -> tuple[Any, Any, Any]:
    """The arm with the largest index, that index, and how many share it, given that none exceeds tau. O(K)."""
    arm, best, tied = -1, -math.inf, 1
    for k in range(law.shape[0]):
        location, scale, df = law[k, LOCATION], law[k, SCALE], law[k, DF]
        if scale > 0.0:
            index = location - scale * noise_above((location - tau) / scale, df, stream)
            if index > best:
                arm, best, tied = k, index, 1
            elif index == best:
                tied += 1
                arm = k if below(stream, tied) == 0 else arm
    return arm, best, tied


# -------------------------------------------------------------------------------------------------- the threshold


def _adjust_aim(threshold: Any, fell_soon: Any) -> None:
    """Aim for a larger total rate while rates fall fast, so that the threshold is placed less often; else a smaller."""
    least = threshold[LEAST]
    threshold[AIM] = min(1.3 * threshold[AIM], 4.0 * least) if fell_soon else max(threshold[AIM] / 1.3, least + 2.0)


def _place_threshold(tree: Any, rates_current: Any) -> None:
    """Find a tau whose total true rate is near the aim, and recompute the rates there. O(K)."""
    threshold = tree.threshold
    aim = threshold[AIM]
    tree.tally[EXCESS] = 0
    threshold[AGE] = 0.0
    if tree.tally[SPREAD] <= aim:  # few enough to draw all of them in every round
        threshold[TAU] = -math.inf
        _recompute_rates(tree)
        return
    if threshold[TAU] == -math.inf:
        _guess_threshold(tree)
        rates_current = False
    found = total_of(tree.rate, tree.first) if rates_current else _recompute_rates(tree)
    if rates_current and found >= threshold[LEAST]:  # marking rates bound true ones, which may be too small
        found = _recompute_rates(tree)
    if threshold[LEAST] <= found <= 1.5 * aim:
        return
    low, high, log_low, log_high = -math.inf, math.inf, 0.0, 0.0
    step = 1.0
    while not 0.8 * aim <= found <= 1.3 * aim:
        tau, log_ratio = threshold[TAU], math.log(max(found, 1e-300) / aim)
        if log_ratio > 0.0:
            low, log_low = tau, log_ratio
        else:
            high, log_high = tau, log_ratio
        if low == -math.inf or high == math.inf:
            wanted = tau + step * min(max(log_ratio, -2.0), 2.0) / threshold[STEEPNESS]
            step *= 2.0
        else:
            share = min(max(log_low / (log_low - log_high), 0.1), 0.9)
            wanted = low + share * (high - low)
        if wanted <= low or wanted >= high:  # neighbouring floats: the scales are too small for the locations
            break
        threshold[TAU] = wanted
        before, found = found, _recompute_rates(tree)
        if found != before and found > 0.0 and before > 0.0:
            threshold[STEEPNESS] = abs(math.log(found / before) / (wanted - tau))


def _guess_threshold(tree: Any) -> None:
    """Start the search at the largest location + 2 scale."""
    law = tree.law
    highest = -math.inf
    for k in range(law.shape[0]):
        if law[k, SCALE] > 0.0 and law[k, LOCATION] + 2.0 * law[k, SCALE] > highest:
            highest = law[k, LOCATION] + 2.0 * law[k, SCALE]
            tree.threshold[STEEPNESS] = 2.0 / law[k, SCALE]
    tree.threshold[TAU] = highest


def _recompute_rates(tree: Any) -> Any:
    """Recompute all rates at tau; return the total true rate. O(K)."""
    law, rate, tau = tree.law, tree.rate, tree.threshold[TAU]
    total = 0.0
    for k in range(law.shape[0]):
        location, scale, df, envelope = law[k, LOCATION], law[k, SCALE], law[k, DF], law[k, ENVELOPE]
        rate[k] = marking_rate(location, scale, df, envelope, tau)
        total += true_rate(location, scale, df, envelope, tau, rate[k])
    update_sums(rate, tree.first)
    return total
