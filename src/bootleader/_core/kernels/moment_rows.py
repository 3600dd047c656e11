"""An arm's moments as a row of an array: how a reward is added, what a law reads, what is pooled over the arms.

Rules that ask for fourth moments have rows of six columns. The others have rows of four, and run no code for the rest.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from bootleader._core.moments import pebay, pooled_kurtosis, pooled_variance, welford
from bootleader._core.numba_bridge import inner
from bootleader._core.rules import ArmStatistics, SharedStatistics

COUNT, ANCHOR, DRIFT, RSS, THIRD, FOURTH = range(6)


class MomentRows(NamedTuple):
    """Compiled functions over rows of so many ``columns``."""

    columns: int
    add: Any  # add(row, reward): add a reward
    arm: Any  # arm(row, noise_sd) -> ArmStatistics
    pool: Any  # pool(rows, variance, kurtosis, lane): renew what is pooled over the arms
    shared: Any  # shared(variance, kurtosis, lane, pulls, arms, horizon) -> SharedStatistics


@inner
def add_second(row, reward):
    """Add a reward to count, anchor, drift and RSS."""
    row[COUNT], row[ANCHOR], row[DRIFT], row[RSS] = welford(row[COUNT], row[ANCHOR], row[DRIFT], row[RSS], reward)


@inner
def add_fourth(row, reward):
    """Add a reward to these and to the third and fourth power sums."""
    row[COUNT], row[ANCHOR], row[DRIFT], row[RSS], row[THIRD], row[FOURTH] = pebay(
        row[COUNT], row[ANCHOR], row[DRIFT], row[RSS], row[THIRD], row[FOURTH], reward
    )


@inner
def arm_second(row, noise_sd):
    """What a law reads of an arm."""
    return ArmStatistics(row[COUNT], row[ANCHOR] + row[DRIFT], row[RSS], noise_sd, 0.0)


@inner
def arm_fourth(row, noise_sd):
    """What a law reads of an arm, with its fourth moment."""
    return ArmStatistics(row[COUNT], row[ANCHOR] + row[DRIFT], row[RSS], noise_sd, row[FOURTH])


@inner
def pool_second(rows, variance, kurtosis, lane):
    """Renew a lane's pooled variance."""
    variance[lane] = pooled_variance(rows[:, COUNT], rows[:, RSS])


@inner
def pool_fourth(rows, variance, kurtosis, lane):
    """Renew a lane's pooled variance and kurtosis."""
    pool_second(rows, variance, kurtosis, lane)
    kurtosis[lane] = pooled_kurtosis(rows[:, COUNT], rows[:, RSS], rows[:, FOURTH])


@inner
def shared_second(variance, kurtosis, lane, pulls, arms, horizon):
    """What a law reads beside its arm."""
    return SharedStatistics(variance[lane], pulls, arms, horizon, 0.0)


@inner
def shared_fourth(variance, kurtosis, lane, pulls, arms, horizon):
    """What a law reads beside its arm, with the pooled kurtosis."""
    return SharedStatistics(variance[lane], pulls, arms, horizon, kurtosis[lane])


SECOND = MomentRows(4, add_second, arm_second, pool_second, shared_second)
WITH_FOURTH = MomentRows(6, add_fourth, arm_fourth, pool_fourth, shared_fourth)


def rows_for(fourth_moment: bool) -> MomentRows:
    """The records of rules that ask for fourth moments, or of those that do not."""
    return WITH_FOURTH if fourth_moment else SECOND
