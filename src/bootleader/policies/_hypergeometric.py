"""Rewards that have two values, drawn without replacement: the number of larger ones is hypergeometric."""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

from bootleader._core.elementary import exp, log
from bootleader._core.rng import uniform

LEAST: Final = -700.0  # log of a probability below which any uniform number is larger


class Subsample(NamedTuple):
    """Of ``total`` rewards, ``high`` have the larger value; ``draws`` of them are drawn without replacement."""

    draws: Any
    high: Any
    total: Any


def extend_log_factorials(memory: Any, table: Any, n: Any) -> None:
    """Fill ``memory[table + j]`` with log j! for j up to n; ``memory[table]``, which would be 0, is the last such j."""
    for j in range(int(memory[table]) + 1, n + 1):
        before = memory[table + j - 1] if j > 1 else 0.0
        memory[table + j] = before + log(float(j))
    memory[table] = max(memory[table], float(n))


def log_combinations(memory: Any, table: Any, n: Any, k: Any) -> Any:
    """Log of the number of ways to choose k of n, for k from 0 to n."""
    if k == 0 or k == n:
        return 0.0
    return memory[table + n] - memory[table + k] - memory[table + n - k]


def is_above(ones: Any, subsample: Any, memory: Any, table: Any, stream: Any) -> Any:
    """Whether ``ones`` is above the number X of larger rewards in the subsample; a fair coin decides a tie.

    One uniform number is compared with the probability of that.
    """
    draws, high, total = subsample.draws, subsample.high, subsample.total
    extend_log_factorials(memory, table, total)
    u = uniform(stream)
    if ones * total <= draws * high:
        return is_below_tail(u, ones, subsample, memory, table)
    return not is_below_tail(u, draws - ones, Subsample(draws, total - high, total), memory, table)


def hypergeometric(subsample: Any, memory: Any, table: Any, stream: Any) -> Any:
    """The number X of larger rewards in the subsample, by inversion: the terms are added from the mode outwards."""
    draws, high, low = subsample.draws, subsample.high, subsample.total - subsample.high
    extend_log_factorials(memory, table, subsample.total)
    fewest, most = max(0, draws - low), min(draws, high)
    mode = int((draws + 1.0) * (high + 1.0) / (subsample.total + 2.0))
    down, up = mode, mode
    term_down = exp(
        log_combinations(memory, table, high, mode)
        + log_combinations(memory, table, low, draws - mode)
        - log_combinations(memory, table, subsample.total, draws)
    )
    term_up, left = term_down, uniform(stream) - term_down
    while left >= 0.0 and (down > fewest or up < most):
        if up < most:
            term_up *= float((high - up) * (draws - up)) / float((up + 1) * (low - draws + up + 1))
            up += 1
            left -= term_up
            if left < 0.0:
                return up
        if down > fewest:
            term_down *= float(down * (low - draws + down)) / float((high - down + 1) * (draws - down + 1))
            down -= 1
            left -= term_down
            if left < 0.0:
                return down
    return mode  # or rounding has left a rest that no term reaches


def is_below_tail(u: Any, ones: Any, subsample: Any, memory: Any, table: Any) -> Any:
    """Whether u is less than P(X < ones) + P(X = ones) / 2, for ``ones`` of at most the mean of X.

    The sum begins with its largest term. The ratios of successive terms fall, so that a geometric series bounds the
    rest: the sum ends as soon as the answer is certain.
    """
    draws, high, low = subsample.draws, subsample.high, subsample.total - subsample.high
    if draws - ones > low:
        return False  # X is larger
    log_largest = (
        log_combinations(memory, table, high, ones)
        + log_combinations(memory, table, low, draws - ones)
        - log_combinations(memory, table, subsample.total, draws)
    )
    wanted = u * exp(-log_largest) if log_largest > LEAST else math.inf
    term, terms, k = 1.0, 0.5, ones
    while terms <= wanted:
        ratio = float(k * (low - draws + k)) / float((high - k + 1) * (draws - k + 1))
        term *= ratio
        if terms + term / (1.0 - ratio) <= wanted:
            return False
        terms += term
        k -= 1
    return True
