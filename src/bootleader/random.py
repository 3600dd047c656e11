"""Random variables for laws, rules and reward draws of your own: they run compiled and in plain Python alike.

Each takes the ``stream`` that the function was given, last::

    from bootleader.random import standard_normal, uniform

    def draw(arm, stream):
        return arm.first + arm.second * standard_normal(stream)

``exp``, ``log``, ``log1p`` and ``power`` are those of ``math``, but give the same bits on every system and on a GPU.

Given a parameter that is not a number they return one that is not: none of them loops for ever.
"""

from bootleader._core.elementary import exp, log, log1p, power
from bootleader._core.rng import below, uniform
from bootleader._core.sampling import (
    binomial,
    poisson,
    standard_beta,
    standard_exponential,
    standard_gamma,
    standard_normal,
)

__all__ = [
    "below",
    "binomial",
    "exp",
    "log",
    "log1p",
    "poisson",
    "power",
    "standard_beta",
    "standard_exponential",
    "standard_gamma",
    "standard_normal",
    "uniform",
]
