"""Rewards that are linear in features, with noise of several kinds."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from bootleader._core.context_parameters import CONTEXTS, ContextParameters
from bootleader._core.elementary import exp
from bootleader._core.rng import Stream, uniform
from bootleader._core.sampling import standard_normal
from bootleader._core.validation import one_of, real
from bootleader.bandits.base import Scale, validated_log_sd, validated_sd
from bootleader.bandits.coefficient_laws import CoefficientLaw, GradedCoefficients, UnitCoefficients
from bootleader.bandits.contextual import ContextualBandit, Floats, identity, no_draw
from bootleader.bandits.families.gaussian import gaussian_draw
from bootleader.bandits.families.student_t import student_draw
from bootleader.bandits.feature_laws import FeatureLaw, gaussian_context, random_features, segment_context

EXAMPLES: Final = 64  # contexts over which the sd of a reward's noise is averaged, where it depends on the context


def clipped(linear: Any) -> Any:
    """The linear mean, between 0 and 1."""
    return 0.0 if linear < 0.0 else 1.0 if linear > 1.0 else linear


def logistic(linear: Any) -> Any:
    """The logistic function of the linear mean."""
    return 1.0 / (1.0 + exp(-linear)) if linear > -700.0 else 0.0


def not_negative(linear: Any) -> Any:
    """The linear mean, 0 where it is negative."""
    return linear if linear > 0.0 else 0.0


def click(arm: Any, stream: Any) -> Any:
    """1 with probability first, else 0."""
    return 1.0 if uniform(stream) < arm.first else 0.0


def payment(arm: Any, stream: Any) -> Any:
    """Nothing, or with probability third a lognormal amount, so that the mean is first; second is its log sd."""
    pays = uniform(stream) < arm.third
    normal = standard_normal(stream)
    if not pays or arm.first <= 0.0:
        return 0.0
    return arm.first / arm.third * exp(arm.second * normal - 0.5 * arm.second * arm.second)


LINKS: Final = (identity, clipped, logistic, not_negative)
PAYS: Final = (gaussian_draw, student_draw, click, payment)
FEATURE_DRAWS: Final = (no_draw, random_features, gaussian_context, segment_context)
KINDS: Final[dict[str, tuple[Any, Any]]] = {
    "gaussian": (identity, gaussian_draw),
    "student": (identity, student_draw),
    "bernoulli": (clipped, click),
    "logistic": (logistic, click),
    "revenue": (not_negative, payment),
}
Rows = tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class LinearBandit(ContextualBandit):
    r"""Rewards with mean :math:`x'\theta` and noise: features x of each arm, or a context x for all arms.

    With features of each arm (numbers of your own, ``FixedFeatures`` or ``RandomFeatures``) the arms share one vector
    of coefficients. With a context (``GaussianContexts`` or ``SegmentContexts``) every arm has coefficients of its own.

    Parameters
    ----------
    features : FixedFeatures, RandomFeatures, GaussianContexts, SegmentContexts, or arm x feature numbers
        The law of the features, or fixed features: one row for each arm.
    coefficients : UnitCoefficients, UniformCoefficients, GradedCoefficients, or numbers, optional
        The law by which every run draws its coefficients, or the coefficients: one vector if the arms share it, one row
        for each arm with a context. By default ``UnitCoefficients`` or, with a context, ``GradedCoefficients``.
    noise : {"gaussian", "student", "bernoulli", "logistic", "revenue"}
        What is paid: mean plus Gaussian or Student noise; a click whose chance is the mean, clipped to [0, 1], or the
        logistic function of it; nothing or, with probability ``conversion``, a lognormal amount.
    sd : float or sequence of float
        Standard deviation of Gaussian or Student noise: one number, or one per arm.
    df : float
        Degrees of freedom of Student noise, above 2.
    conversion : float
        Probability that a visitor pays, for revenue.
    sigma : float
        Standard deviation of the log amount, for revenue.

    Raises
    ------
    TypeError
        If ``features`` or ``coefficients`` is neither a law nor numbers.
    ValueError
        If shapes do not fit together, or a number is out of its range.

    Examples
    --------
    >>> from bootleader import FixedFeatures, GaussianContexts
    >>> LinearBandit(FixedFeatures(arms=100, dimension=5), sd=0.1**0.5).arms
    100
    >>> shop = LinearBandit(GaussianContexts(arms=2, dimension=2), coefficients=[[1.0, 0.5], [0.5, 1.0]])
    >>> shop.disjoint, shop.parameters_of(seed=0, run=0).coefficients.tolist()
    (True, [[1.0, 0.5], [0.5, 1.0]])
    """

    features: FeatureLaw | Rows
    coefficients: CoefficientLaw | Rows | tuple[float, ...] | None = None
    noise: str = "gaussian"
    sd: Scale = 1.0
    df: float = 3.0
    conversion: float = 0.05
    sigma: float = 1.0

    def __post_init__(self) -> None:
        if not isinstance(self.features, FeatureLaw):
            object.__setattr__(self, "features", _rows("features", self.features, "one row for each arm", 2))
        if self.coefficients is None:
            law = GradedCoefficients() if self.disjoint else UnitCoefficients()
            object.__setattr__(self, "coefficients", law)
        elif not isinstance(self.coefficients, CoefficientLaw):
            object.__setattr__(self, "coefficients", self._validated(self.coefficients))
        one_of("noise", self.noise, tuple(KINDS))
        object.__setattr__(self, "sd", validated_sd(self.sd, self.arms))
        real("df", self.df, "a finite number above 2 (the sd is infinite below)", low=2.0)
        real("conversion", self.conversion, "a probability above 0, at most 1", low=0.0, high=1.0)
        validated_log_sd(self.sigma)

    def _validated(self, given: Any) -> Any:
        if self.disjoint:
            rows = _rows("coefficients", given, "one row for each arm", 2)
            if len(rows) != self.arms:
                raise ValueError(f"coefficients must have one row for each of {self.arms} arms, got {len(rows)} rows")
            width = len(rows[0])
        else:
            (rows,) = _rows("coefficients", [given], "a vector of numbers", 1)  # type: ignore[assignment]
            width = len(rows)
        if width != self.dimension:
            raise ValueError(f"coefficients must have one number for each of {self.dimension} features, got {width}")
        return rows

    @property
    def arms(self) -> int:
        return self.features.arms if isinstance(self.features, FeatureLaw) else len(self.features)

    @property
    def dimension(self) -> int:
        return self.features.dimension if isinstance(self.features, FeatureLaw) else len(self.features[0])

    @property
    def disjoint(self) -> bool:
        return isinstance(self.features, FeatureLaw) and self.features.disjoint

    @property
    def changing(self) -> bool:
        return isinstance(self.features, FeatureLaw) and self.features.changing

    @property
    def draw(self) -> Callable[..., None]:
        return self.features.draw if isinstance(self.features, FeatureLaw) else no_draw

    @property
    def link(self) -> Callable[..., float]:
        return KINDS[self.noise][0]  # type: ignore[no-any-return]

    @property
    def pay(self) -> Callable[..., float]:
        return KINDS[self.noise][1]  # type: ignore[no-any-return]

    @property
    def reward_range(self) -> tuple[float, float]:
        return {"bernoulli": (0.0, 1.0), "logistic": (0.0, 1.0), "revenue": (0.0, math.inf)}.get(
            self.noise, (-math.inf, math.inf)
        )

    @property
    def uniforms(self) -> int:
        return self._feature_uniforms + self._coefficient_uniforms

    @property
    def _rows(self) -> int:
        return self.arms if self.disjoint else 1

    @property
    def _feature_uniforms(self) -> int:
        return self.features.uniforms if isinstance(self.features, FeatureLaw) else 0

    @property
    def _coefficient_uniforms(self) -> int:
        law = self.coefficients
        return law.uniforms(self._rows, self.dimension) if isinstance(law, CoefficientLaw) else 0

    def parameters_from(self, uniforms: Floats) -> ContextParameters:
        first, second = np.split(uniforms, [self._feature_uniforms])
        if isinstance(self.features, FeatureLaw):
            features, table = self.features.start(first)
        else:
            features, table = np.ascontiguousarray(np.array(self.features).T), np.zeros(1)
        if isinstance(self.coefficients, CoefficientLaw):
            coefficients = self.coefficients.start(second, self._rows, self.dimension)
        else:
            coefficients = np.array(self.coefficients).reshape(self._rows, self.dimension)
        sd, arms = np.array(self.sd, float) * np.ones(self.arms), self.arms
        columns = {
            "gaussian": (sd, np.zeros(arms)),
            "student": (sd * math.sqrt((self.df - 2.0) / self.df), np.full(arms, float(self.df))),
            "revenue": (np.full(arms, float(self.sigma)), np.full(arms, float(self.conversion))),
        }.get(self.noise, (np.zeros(arms), np.zeros(arms)))
        made = ContextParameters(features, np.ascontiguousarray(coefficients), *columns, table, sd)
        return made if self.noise in ("gaussian", "student") else made._replace(sd=self._average_sd(made))

    def _average_sd(self, run: ContextParameters) -> Floats:
        """Root of each arm's average variance over contexts, where the variance depends on the mean."""
        shown = [run.features]
        if self.changing:
            stream = Stream([CONTEXTS], 0, 0x9E3779B97F4A7C15)
            shown = []
            for _ in range(EXAMPLES):
                shown.append(np.zeros_like(run.features))
                self.draw(run.table, shown[-1], stream)
        linear = np.array([run.coefficients @ x for x in shown]).reshape(len(shown), self.arms)
        mean = np.vectorize(self.link, otypes=[float])(linear)
        variance = mean * (1.0 - mean)
        if self.noise == "revenue":
            variance = mean**2 * (math.exp(self.sigma**2) / self.conversion - 1.0)
        return np.asarray(np.sqrt(np.maximum(variance.mean(axis=0), 1e-12)))


def _rows(name: str, given: Any, what: str, fewest: int) -> Rows:
    if isinstance(given, str) or not isinstance(given, Sequence | np.ndarray):
        raise TypeError(f"{name} must be a law, such as FixedFeatures(arms=100, dimension=5), or {what}; got {given!r}")
    rows = []
    for row in given:
        if isinstance(row, str) or not isinstance(row, Sequence | np.ndarray) or len(row) == 0:
            raise TypeError(f"{name} must be {what}, got {row!r}")
        rows.append(tuple(real(name, number) for number in row))
    if len(rows) < fewest:
        raise ValueError(f"{name} must be {what}, at least {fewest}, got {len(rows)}")
    if len({len(row) for row in rows}) > 1:
        raise ValueError(f"rows of {name} must have the same length, got {sorted({len(row) for row in rows})}")
    return tuple(rows)
