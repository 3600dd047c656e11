"""Sums of rewards drawn without replacement, mostly without drawing them. Exact rejection sampling.

:mod:`bootleader._core.tilted_rejection` says how. What is special here: a draw changes what is left. Let x be the
rewards' differences from their mean, n their number, m the number of draws, mu_j the mean of what is left after j of
them, and v = tilt (n - m) / (n - j - 1) (x - mu_j) the next step of the martingale tilt E(S | first draws). Then
exp(tilt S) is the product of all exp(v).

With a >= v for all rewards, exp(v) <= 1 + v + c v^2, where c = 1 / (2 - 2 a / 3) (Bernstein). Over what is left the
right hand side has the mean 1 + c E(v^2), which is known, so that a draw can be weighted by it. By Cauchy and Schwarz
-mu_j is at most sqrt(rss / n) sqrt(m / (n - m)), and what is left has at most the sum of squares of all. So the product
of the means is at most exp(c tilt^2 V), where V is rss times the sum of (n - m)^2 / ((n - j - 1)^2 (n - j)), for which
there is a closed form that is a little larger. The width is V + a distance / (3 tilt).
"""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

from bootleader._core.rng import below, next_word, uniform
from bootleader._core.tilted_rejection import ROUNDING, TIGHT, bound_excludes

LEAST_DRAWS: Final = 32  # from which a bound pays
PAYS: Final = 5.0  # twice the exponent of a probability of 1/20: a tilted draw costs about ten times as much as another
FAR: Final = 8.0  # bound on the ratio of width to variance, and on the tilt times the range of the rewards
PARTS: Final = 2  # of the draws, one is made before the next bound
HALF: Final = 0x100000000  # number of values of half of a word


class Rewards(NamedTuple):
    """The n rewards ``memory[first : first + n]``, whose order does not matter, and what is known of them."""

    first: Any
    n: Any
    mean: Any
    rss: Any
    low: Any
    high: Any


def draw_some(draws: Any, rewards: Any, memory: Any, stream: Any) -> tuple[Any, Any]:
    """Sum of rewards drawn without replacement, and of the squares of their differences from the mean of all.

    They are the beginning of a random permutation, which is never put back: any order is as good as another. Each half
    of a word makes a draw by Lemire's method.
    """
    total, squares, word, mean = 0.0, 0.0, next_word(stream), rewards.mean
    for j in range(draws):
        left, at = rewards.n - j, rewards.first + j
        product = int(word & 0xFFFFFFFF) * left
        i = at + (product >> 32)
        if product & 0xFFFFFFFF < left and product & 0xFFFFFFFF < HALF % left:
            i = at + int(below(stream, left))
        value = memory[i]
        memory[i] = memory[at]
        memory[at] = value
        total += value
        squares += (value - mean) * (value - mean)
        word = word >> 32 if j & 1 == 0 else next_word(stream)
    return total, squares


def what_is_left(draws: Any, total: Any, squares: Any, rewards: Any) -> Any:
    """The rewards that are left after some draws."""
    left = rewards.n - draws
    step = (draws * rewards.mean - total) / left  # of the mean
    rss = max(rewards.rss - squares - left * step * step, 0.0)
    return Rewards(rewards.first + draws, left, rewards.mean + step, rss, rewards.low, rewards.high)


def sum_or_side(wanted: Any, draws: Any, rewards: Any, memory: Any, stream: Any) -> Any:
    """Sum of at most half of the rewards, or +-inf when rejection already decides on which side of ``wanted`` it is.

    Some are drawn, if the bound does not decide, and then there is another bound for the rest.
    """
    total = 0.0
    while draws >= LEAST_DRAWS:
        centre = draws * rewards.mean
        distance = abs(wanted - total - centre) - ROUNDING * (abs(wanted) + abs(total) + abs(centre))
        side = 1.0 if wanted - total > centre else -1.0
        variance, largest = bounds(side, draws, rewards)
        width = variance + largest * distance / 3.0
        if pays(distance, width, variance, rewards):
            tilt = distance / width
            if bound_excludes(distance, tilt, stream):
                return -side * math.inf
            rest, weight = tilted_sum(side, tilt, 0.5 * width / variance, draws, rewards, memory, stream)
            is_beyond = side * (rest - centre) >= distance
            accepted = uniform(stream) * math.exp(-0.5 * TIGHT * tilt * distance) < weight
            return total + rest if is_beyond and accepted else -side * math.inf
        some = max(draws // PARTS, LEAST_DRAWS)
        part, squares = draw_some(some, rewards, memory, stream)
        rewards = what_is_left(some, part, squares, rewards)
        total += part
        draws -= some
    return total + draw_some(draws, rewards, memory, stream)[0]


def pays(distance: Any, width: Any, variance: Any, rewards: Any) -> Any:
    """Whether the bound is small enough, and no reward so far from the others that tilted draws would take long."""
    is_small = distance > 0.0 and PAYS * width < distance * distance
    return is_small and width < FAR * variance and distance * (rewards.high - rewards.low) < FAR * width


def bounds(side: Any, draws: Any, rewards: Any) -> tuple[Any, Any]:
    """V, and a bound on the difference of any reward from the mean of what is left, to this side."""
    n, left = float(rewards.n), float(rewards.n - draws)
    variance = 0.5 * rewards.rss * (left / (left - 1.0) - left * left / (n * (n - 1.0)))
    furthest = rewards.high - rewards.mean if side > 0.0 else rewards.mean - rewards.low
    return variance, furthest + math.sqrt(rewards.rss * draws / (n * left))


def tilted_sum(side: Any, tilt: Any, c: Any, draws: Any, rewards: Any, memory: Any, stream: Any) -> tuple[Any, Any]:
    """Sum of draws from the tilted law, and how many times as probable they are without the tilt."""
    n, mean = rewards.n, rewards.mean
    least, most = (rewards.low, rewards.high) if side > 0.0 else (rewards.high, rewards.low)
    total, weight, sum_left, squares_left = 0.0, 1.0, 0.0, rewards.rss
    for j in range(draws):
        left = n - j
        mean_left = sum_left / left
        step = tilt * float(n - draws) / float(left - 1)
        variance = max(squares_left / left - mean_left * mean_left, 0.0)
        height = max(
            tilted_weight(step * (side * (most - mean) - mean_left), c),
            tilted_weight(step * (side * (least - mean) - mean_left), c),
        )
        at = rewards.first + j
        i = at + int(below(stream, left))
        own = tilted_weight(step * (side * (memory[i] - mean) - mean_left), c)
        while uniform(stream) * height >= own:
            i = at + int(below(stream, left))
            own = tilted_weight(step * (side * (memory[i] - mean) - mean_left), c)
        value = memory[i]
        memory[i] = memory[at]
        memory[at] = value
        total += value
        weight *= (1.0 + c * step * step * variance) / own
        x = side * (value - mean)
        sum_left -= x
        squares_left -= x * x
    return total, weight


def tilted_weight(v: Any, c: Any) -> Any:
    """The bound on exp(v)."""
    return 1.0 + v + c * v * v
