"""Laws by which a contextual bandit draws its features, and its coefficients."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bootleader._core.rng import UNIT, uniform
from bootleader._core.sampling import standard_normal
from bootleader._core.validation import real, whole
from bootleader.bandits.contextual import no_draw

Floats = npt.NDArray[np.float64]


def _unit_vectors(uniforms: Floats, arms: int, dimension: int) -> Floats:
    """Unit vectors along U(0, 1)^d, one column for each arm."""
    rows = uniforms.reshape(arms, dimension) + UNIT
    return np.ascontiguousarray((rows / np.linalg.norm(rows, axis=1, keepdims=True)).T)


class FeatureLaw:
    """Base of the laws of features."""

    arms: int
    dimension: int
    disjoint: bool = False  # one context for all arms
    changing: bool = False  # drawn in every round

    @property
    def draw(self) -> Callable[..., None]:
        """How features are drawn in a round."""
        return no_draw

    @property
    def uniforms(self) -> int:
        """Uniform random numbers that the law needs at the start of a run."""
        return 0

    def start(self, uniforms: Floats) -> tuple[Floats, Floats]:
        """The features at the start of a run (d x K, or d x 1), and the table that the draw reads."""
        return np.zeros((self.dimension, 1 if self.disjoint else self.arms)), np.zeros(1)


@dataclass(frozen=True)
class FixedFeatures(FeatureLaw):
    """Unit vectors along U(0, 1)^d that every run draws once for each arm.

    Parameters
    ----------
    arms : int
        Number of arms, at least 2.
    dimension : int
        Number of features.

    Attributes
    ----------
    disjoint : bool
        Whether there is one context for all arms.
    changing : bool
        Whether features are drawn in every round.

    Raises
    ------
    ValueError
        If a number is too small.

    Examples
    --------
    >>> FixedFeatures(arms=100, dimension=5)
    FixedFeatures(arms=100, dimension=5)
    """

    arms: int
    dimension: int

    def __post_init__(self) -> None:
        whole("arms", self.arms, 2)
        whole("dimension", self.dimension, 1)

    @property
    def uniforms(self) -> int:
        """Uniform random numbers that the law needs: one for each entry."""
        return self.arms * self.dimension

    def start(self, uniforms: Floats) -> tuple[Floats, Floats]:
        """Compute the features of a run.

        Parameters
        ----------
        uniforms : array
            As many numbers as :attr:`uniforms` says.

        Returns
        -------
        tuple of arrays
            The features (d x K) and a table that is not used.
        """
        return _unit_vectors(uniforms, self.arms, self.dimension), np.zeros(1)


def random_features(table: Any, features: Any, stream: Any) -> None:
    """Columns N(nu_k, spread^2 I), scaled to length 1; the table holds the spread and nu."""
    d, arms = features.shape
    spread = table[0]
    for j in range(d):
        for k in range(arms):
            features[j, k] = table[1 + j * arms + k] + spread * standard_normal(stream)
    for k in range(arms):
        square = 0.0
        for j in range(d):
            square += features[j, k] * features[j, k]
        scale = 1.0 / math.sqrt(square) if square > 0.0 else 0.0
        for j in range(d):
            features[j, k] *= scale


@dataclass(frozen=True)
class RandomFeatures(FeatureLaw):
    """Features that change in every round: N(nu_k, I / (2 K)) scaled to length 1.

    The centres nu_k are unit vectors along U(0, 1)^d, drawn once a run.

    Parameters
    ----------
    arms : int
        Number of arms, at least 2.
    dimension : int
        Number of features.

    Attributes
    ----------
    disjoint : bool
        Whether there is one context for all arms.
    changing : bool
        Whether features are drawn in every round.

    Raises
    ------
    ValueError
        If a number is too small.

    Examples
    --------
    >>> RandomFeatures(arms=100, dimension=5).changing
    True
    """

    arms: int
    dimension: int
    changing = True

    def __post_init__(self) -> None:
        whole("arms", self.arms, 2)
        whole("dimension", self.dimension, 1)

    @property
    def draw(self) -> Callable[..., None]:
        """How features are drawn in a round."""
        return random_features

    @property
    def uniforms(self) -> int:
        """Uniform random numbers that the law needs: one for each entry of the centres."""
        return self.arms * self.dimension

    def start(self, uniforms: Floats) -> tuple[Floats, Floats]:
        """Draw the centres of a run.

        Parameters
        ----------
        uniforms : array
            As many numbers as :attr:`uniforms` says.

        Returns
        -------
        tuple of arrays
            Room for the features (d x K), and the table of spread and centres.
        """
        centres = _unit_vectors(uniforms, self.arms, self.dimension)
        return np.zeros((self.dimension, self.arms)), np.concatenate([[math.sqrt(0.5 / self.arms)], centres.ravel()])


def gaussian_context(table: Any, features: Any, stream: Any) -> None:
    """One context: normals with a common part; the table has intercept, common share and whether the length is 1."""
    d = features.shape[0]
    first, common, unit_length = int(table[0]), table[1], table[2]
    shared = math.sqrt(common) * standard_normal(stream) if common > 0.0 else 0.0
    own = math.sqrt(1.0 - common)
    square = 0.0
    for j in range(first, d):
        features[j, 0] = shared + own * standard_normal(stream)
        square += features[j, 0] * features[j, 0]
    if first == 1:
        features[0, 0] = 1.0
    if unit_length > 0.0 and square > 0.0:
        for j in range(first, d):
            features[j, 0] /= math.sqrt(square)


@dataclass(frozen=True)
class GaussianContexts(FeatureLaw):
    """A context in every round, the same for all arms: N(0, I), scaled to length 1 by default.

    Parameters
    ----------
    arms : int
        Number of arms, at least 2.
    dimension : int
        Number of features, the intercept included.
    unit_length : bool
        Whether contexts are scaled to length 1.
    correlation : float
        Correlation of every two features, from 0 to 1: nearly 1 gives nearly collinear ones.
    intercept : bool
        Whether the first feature is the number 1.

    Attributes
    ----------
    disjoint : bool
        Whether there is one context for all arms.
    changing : bool
        Whether features are drawn in every round.

    Raises
    ------
    ValueError
        If a number is out of its range.

    Examples
    --------
    >>> GaussianContexts(arms=10, dimension=5).disjoint
    True
    """

    arms: int
    dimension: int
    unit_length: bool = True
    correlation: float = 0.0
    intercept: bool = False
    disjoint = True
    changing = True

    def __post_init__(self) -> None:
        whole("arms", self.arms, 2)
        whole("dimension", self.dimension, 2 if self.intercept else 1)
        real("correlation", self.correlation, "a number from 0 to 1", low=0.0, open_low=False, high=1.0)

    @property
    def draw(self) -> Callable[..., None]:
        """How a context is drawn."""
        return gaussian_context

    def start(self, uniforms: Floats) -> tuple[Floats, Floats]:
        """Set up a run.

        Parameters
        ----------
        uniforms : array
            Not used.

        Returns
        -------
        tuple of arrays
            Room for the context (d x 1), and the table of options.
        """
        options = (float(self.intercept), float(self.correlation), float(self.unit_length))
        return np.zeros((self.dimension, 1)), np.array(options)


def segment_context(table: Any, features: Any, stream: Any) -> None:
    """One context: a 1 at the visitor's segment, after an intercept if there is one; the table has the shares."""
    d = features.shape[0]
    first = int(table[0])
    left = uniform(stream)
    chosen = first
    for j in range(first, d):
        if left < table[1 + j]:  # shares added up from the last segment to this one
            chosen = j
        features[j, 0] = 0.0
    if first == 1:
        features[0, 0] = 1.0
    features[chosen, 0] = 1.0


@dataclass(frozen=True)
class SegmentContexts(FeatureLaw):
    """Visitors of some segments: in every round the context is 1 at the visitor's segment and 0 elsewhere.

    Parameters
    ----------
    arms : int
        Number of arms, at least 2.
    shares : sequence of float
        Share of the visitors that each segment has, above 0; scaled so that they add up to 1.
    intercept : bool
        Whether the number 1 comes before the segments, so that the features are collinear.

    Attributes
    ----------
    disjoint : bool
        Whether there is one context for all arms.
    changing : bool
        Whether features are drawn in every round.
    dimension : int
        Number of features.

    Raises
    ------
    ValueError
        If there are fewer than 2 arms, or a share is not above 0.

    Examples
    --------
    >>> SegmentContexts(arms=4, shares=[0.7, 0.3]).dimension
    2
    """

    arms: int
    shares: tuple[float, ...]
    intercept: bool = False
    disjoint = True
    changing = True

    def __post_init__(self) -> None:
        whole("arms", self.arms, 2)
        shares = tuple(real("shares", share, "numbers above 0", low=0.0) for share in self.shares)
        if not shares:
            raise ValueError(f"shares must hold at least one number, got {self.shares!r}")
        object.__setattr__(self, "shares", shares)

    @property
    def dimension(self) -> int:  # type: ignore[override]
        """Number of features."""
        return len(self.shares) + int(self.intercept)

    @property
    def draw(self) -> Callable[..., None]:
        """How a visitor's segment is drawn."""
        return segment_context

    def start(self, uniforms: Floats) -> tuple[Floats, Floats]:
        """Set up a run.

        Parameters
        ----------
        uniforms : array
            Not used.

        Returns
        -------
        tuple of arrays
            Room for the context (d x 1), and the table of shares.
        """
        shares = np.array([0.0] * int(self.intercept) + list(self.shares))
        upper = np.cumsum(shares[::-1])[::-1] / shares.sum()
        return np.zeros((self.dimension, 1)), np.concatenate([[float(self.intercept)], upper])
