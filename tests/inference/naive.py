"""Slow, obvious twins of the compiled formulas: they share no code with the library.

Wealth is multiplied up reward by reward, mixtures are integrated, regions are searched on grids.
"""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import numpy as np
from scipy import integrate, optimize

SIZES = [2e-4 * 1.5**j for j in range(58)]


def _weights() -> list[float]:
    places = [math.log(size / 0.2) / 1.8 for size in SIZES]
    raw = [math.exp(-(place**2) / 2) + 0.1 / (1 + place**2) for place in places]
    return [value / sum(raw) for value in raw]


WEIGHTS = _weights()


def student_e(rewards, m, c2):
    """The Student mixture by its definition: a ratio of marginal likelihoods, scale integrated out under 1/sigma.

    The effect size (mu - m) / sigma has the prior N(0, c2); given it, the likelihood is integrated over sigma.
    """
    d = np.asarray(rewards, float) - m
    n = len(d)
    square, total = float(d @ d), float(d.sum())

    def log_likelihood(effect):
        # log of the integral over sigma of sigma^-(n+1) exp(-sum (d/sigma - effect)^2 / 2), with u = 1/sigma.
        peak = (effect * total + math.sqrt((effect * total) ** 2 + 4 * square * (n - 1))) / (2 * square)

        def exponent(u):
            return (n - 1) * math.log(u) - 0.5 * (u * u * square - 2 * u * effect * total + n * effect * effect)

        top = exponent(peak)
        width = 1 / math.sqrt((n - 1) / peak**2 + square)
        low, high = max(peak - 12 * width, 1e-300), peak + 12 * width
        value = integrate.quad(lambda u: math.exp(exponent(u) - top), low, high, epsabs=0, epsrel=1e-12, limit=200)[0]
        return top + math.log(value)

    null = log_likelihood(0.0)
    sd = math.sqrt(c2)

    def integrand(effect):
        prior = math.exp(-0.5 * effect * effect / c2) / (sd * math.sqrt(2 * math.pi))
        return prior * math.exp(log_likelihood(effect) - null)

    best = total / math.sqrt(n * square)
    return integrate.quad(integrand, -9 * sd, 9 * sd, points=[0.0, best], epsabs=0, epsrel=1e-9, limit=400)[0]


def betting_log_e(rewards, m):
    """The wealth of the mixture of all bets on rewards in [0, 1], multiplied up reward by reward."""
    total = mpmath.mpf(0)
    for size, weight in zip(SIZES, WEIGHTS, strict=True):
        up = down = mpmath.mpf(1)
        for x in rewards:
            up *= (1 + size * x) / (1 + size * m)
            down *= (1 + size * (1 - x)) / (1 + size * (1 - m))
        total += weight * (up + down) / 2
    return float(mpmath.log(total))


def betting_log_e_from_moments(rewards):
    """A function of m: the same, each bet's growth the larger of the chord's and the parabola's sum, in 40 digits."""
    with mpmath.workdps(40):
        terms = [
            (weight / 2, mpmath.mpf(size), max(_chord(xs, size), _parabola(xs, size)), is_up)
            for size, weight in zip(SIZES, WEIGHTS, strict=True)
            for xs, is_up in ((list(rewards), True), ([1 - x for x in rewards], False))
        ]

    def log_e(m):
        total = mpmath.mpf(0)
        for weight, size, growth, is_up in terms:
            total += weight * mpmath.e ** (growth - len(rewards) * mpmath.log(1 + size * (m if is_up else 1 - m)))
        return float(mpmath.log(total))

    return log_e


def _chord(xs, size):
    return sum(mpmath.mpf(x) for x in xs) * mpmath.log(1 + mpmath.mpf(size))


def _parabola(xs, size):
    """The sum over x of the parabola that touches log(1 + size x) at the mean and meets it at 0."""
    size = mpmath.mpf(size)
    mean = sum(mpmath.mpf(x) for x in xs) / len(xs)
    if mean == 0:
        return mpmath.mpf(0)
    value, slope = mpmath.log(1 + size * mean), size / (1 + size * mean)
    curvature = (0 - value + slope * mean) / mean**2
    return sum(value + slope * (x - mean) + curvature * (x - mean) ** 2 for x in xs)


def with_aside(log_e):
    """Log of 1/4 + 3/4 E."""
    return float(mpmath.log(mpmath.mpf(1) / 4 + mpmath.mpf(3) / 4 * mpmath.e ** mpmath.mpf(float(log_e))))


def interval(log_e, inside, level, low, high):
    """The ends of {m: log E(m) < level} by bisection from a point inside; ``low`` and ``high`` if not reached."""
    ends = []
    for outside in (low, high):
        if log_e(outside) < level:
            ends.append(outside)
        else:
            ends.append(optimize.brentq(lambda m: float(log_e(m)) - level, inside, outside, xtol=1e-13))
    return tuple(ends)


def largest_difference(log_e_a, log_e_b, level, box_a, box_b, inside_a):
    """The largest m_a - m_b with log E_a(m_a) + log E_b(m_b) <= level: for each m_b the largest m_a, by bisection."""

    def negative(m_b):
        left = level - float(log_e_b(m_b))
        if float(log_e_a(inside_a)) > left:
            return math.inf
        if float(log_e_a(box_a[1])) <= left:
            return m_b - box_a[1]
        return m_b - optimize.brentq(lambda m: float(log_e_a(m)) - left, inside_a, box_a[1], xtol=1e-14)

    grid = np.linspace(*box_b, 400)
    place = int(np.argmin([negative(m_b) for m_b in grid]))
    around = grid[max(place - 1, 0)], grid[min(place + 1, len(grid) - 1)]
    found = optimize.minimize_scalar(negative, bounds=around, method="bounded", options={"xatol": 1e-12})
    return -min(found.fun, negative(grid[place]))


def exact_moments(rewards):
    """Count, mean, RSS and fourth central sum in fractions, rounded once."""
    ys = [Fraction(float(y)) for y in rewards]
    n = len(ys)
    mean = sum(ys) / n
    d = [y - mean for y in ys]
    return n, float(mean), float(sum(x**2 for x in d)), float(sum(x**4 for x in d))


def known_arms(rewards_of_arms):
    """Whether each arm has 400 rewards, and 50 effective ones by its own kurtosis and by the mean over all deviations.

    The kurtosis of all arms together is the mean of their kurtoses, weighted by their residual sums of squares.
    """
    found = [exact_moments(rewards) if len(rewards) else (0, 0.0, 0.0, 0.0) for rewards in rewards_of_arms]
    kurtoses = [n * fourth / rss**2 if rss > 0 else math.nan for n, _, rss, fourth in found]
    varied = [(rss, kurtosis) for (_, _, rss, _), kurtosis in zip(found, kurtoses, strict=True) if rss > 0]
    together = sum(rss * kurtosis for rss, kurtosis in varied) / sum(rss for rss, _ in varied) if varied else math.nan
    return [
        n >= 400 and rss > 0 and n / kurtosis >= 50 and n / together >= 50
        for (n, _, rss, _), kurtosis in zip(found, kurtoses, strict=True)
    ]


# Off-policy estimators, as the Open Bandit Pipeline 0.5 defines them (InverseProbabilityWeighting,
# SelfNormalizedInverseProbabilityWeighting, DoublyRobust), row by row.


def obp_ipw(action, reward, pscore, action_dist):
    terms = [reward[i] * action_dist[i][action[i]][0] / pscore[i] for i in range(len(reward))]
    return math.fsum(terms) / len(terms)


def obp_snipw(action, reward, pscore, action_dist):
    weights = [action_dist[i][action[i]][0] / pscore[i] for i in range(len(reward))]
    mean = math.fsum(weights) / len(weights)
    return math.fsum(reward[i] * weights[i] / mean for i in range(len(reward))) / len(reward)


def obp_dr(action, reward, pscore, action_dist, estimated_rewards):
    terms = []
    for i in range(len(reward)):
        q = [row[0] for row in estimated_rewards[i]]
        pi = [row[0] for row in action_dist[i]]
        weight = pi[action[i]] / pscore[i]
        terms.append(weight * (reward[i] - q[action[i]]) + math.fsum(p * x for p, x in zip(pi, q, strict=True)))
    return math.fsum(terms) / len(terms)
