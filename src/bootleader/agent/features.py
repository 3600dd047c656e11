"""What a program knows of each choice: named features, and how they become a vector of numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from operator import is_, itemgetter
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from bootleader._core.printable_text import shown
from bootleader.agent._validation import NUMBERS, boolean

LARGEST_FEATURE: Final = 1e50  # squares, and products with a reward, over 2^53 rows stay finite
MOST_COLUMNS: Final = 1000
NUMBER: Final = "number"
FLAG: Final = "flag"
INTERCEPT: Final = "intercept"

Kind = tuple[str, ...] | str  # the categories, or "number", or "flag"
Values = tuple[Any, ...]  # a checked context: a category, a float or a bool for each feature


class Features:
    """The features that a context has, by name: numbers, flags and categories.

    A category becomes one number for each of its values: 1 for the present one, 0 for the others. A flag becomes 0
    or 1. Policies without an intercept of their own (all but :class:`AdaptiveLinReBoot`) get a constant 1 as well.

    Parameters
    ----------
    features : mapping, optional
        The features as a mapping, for names that are no Python identifiers.
    of_arms : bool
        Whether every arm has features of its own, such as its price. All arms then share their coefficients, and a
        context is a mapping of arm to features.
    intercept : bool
        Whether a constant is added for policies whose model has none. Rewards that are far from 0 need it.
    **more : type or list of str
        The features by name: ``float`` (or ``int``) for a number, ``bool`` for a flag, or the list of categories.

    Raises
    ------
    TypeError, ValueError
        If a feature is not what is described here.

    Examples
    --------
    >>> features = Features(device=["mobile", "desktop"], visits=float)
    >>> features.terms
    ['device=mobile', 'device=desktop', 'visits']
    >>> features.vector({"device": "desktop", "visits": 3})
    array([0., 1., 3.])
    >>> features.vector({"device": "tablet", "visits": 3})
    Traceback (most recent call last):
        ...
    ValueError: feature 'device' must be one of 'mobile', 'desktop', got 'tablet'; new categories: add_category()
    """

    __slots__ = ("_columns", "_kinds", "_names", "_numbers", "dimension", "intercept", "of_arms")

    def __init__(
        self,
        features: Mapping[str, Any] | None = None,
        /,
        *,
        of_arms: bool = False,
        intercept: bool = True,
        **more: Any,
    ) -> None:
        if features is not None and not isinstance(features, Mapping):
            raise TypeError(f"features must be a mapping of name to kind, got {shown(features)}")
        given = {**(features or {}), **more}
        if len(given) < len(features or {}) + len(more):
            raise ValueError("a feature is given twice")
        if not given:
            raise ValueError("give at least one feature, such as Features(visits=float)")
        self.intercept, self.of_arms = boolean("intercept", intercept), boolean("of_arms", of_arms)
        self._kinds: dict[str, Kind] = {_name(name): _kind(name, kind) for name, kind in given.items()}
        self._lay_out()

    def _lay_out(self) -> None:
        self._names = tuple(self._kinds)
        self._columns: list[tuple[str, Kind, int, dict[str, int]]] = []
        start = 0
        for name, kind in self._kinds.items():
            levels = {level: start + place for place, level in enumerate(kind)} if isinstance(kind, tuple) else {}
            self._columns.append((name, kind, start, levels))
            start += max(1, len(levels))
        self.dimension = start
        # All values at once, if there are numbers only (and two at least: of one, itemgetter makes no tuple).
        only_numbers = len(self._names) > 1 and all(kind == NUMBER for kind in self._kinds.values())
        self._numbers = itemgetter(*self._names) if only_numbers else None
        if start > MOST_COLUMNS:
            raise ValueError(f"features must make at most {MOST_COLUMNS} numbers, got {start}")

    # What there is -------------------------------------------------------------------------------------------------

    @property
    def terms(self) -> list[str]:
        """The names of the numbers that a context becomes."""
        return [
            f"{name}={level}" if levels else name
            for name, _, _, levels in self._columns
            for level in (levels or {name: 0})
        ]

    @property
    def kinds(self) -> dict[str, Kind]:
        """The features: name to categories, ``"number"`` or ``"flag"``."""
        return dict(self._kinds)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Features):
            return NotImplemented
        mine, its = ((one.intercept, one.of_arms, list(one._kinds.items())) for one in (self, other))
        return mine == its

    def __hash__(self) -> int:
        return hash((self.intercept, self.of_arms, tuple(self._kinds.items())))

    def __repr__(self) -> str:
        words = {NUMBER: "float", FLAG: "bool"}
        parts = [
            f"{name!r}: {list(kind) if isinstance(kind, tuple) else words[kind]}" for name, kind in self._kinds.items()
        ]
        options = ", of_arms=True" * self.of_arms + ", intercept=False" * (not self.intercept)
        return f"Features({{{', '.join(parts)}}}{options})"

    def with_category(self, feature: str, category: str) -> tuple[Features, int]:
        """The same features with one more category, and the place of its number in the vector.

        Parameters
        ----------
        feature : str
            Name of a feature that has categories.
        category : str
            The new one.

        Returns
        -------
        tuple of Features and int
            These features stay as they are.

        Raises
        ------
        LookupError
            If there is no such feature.
        ValueError
            If it has no categories, or has this one.
        """
        kind = self._kinds.get(feature) if isinstance(feature, str) else None
        if kind is None:
            raise LookupError(f"feature must be one of {_listed(self._names)}, got {shown(feature)}")
        if not isinstance(kind, tuple):
            raise ValueError(f"feature {shown(feature)} is a {kind} and has no categories")
        if category in kind:
            raise ValueError(f"feature {shown(feature)} has the category {shown(category)} already")
        more = Features(
            {**self._kinds_as_given(), feature: [*kind, category]}, of_arms=self.of_arms, intercept=self.intercept
        )
        return more, next(levels[category] for name, _, _, levels in more._columns if name == feature)

    def _kinds_as_given(self) -> dict[str, Any]:
        types = {NUMBER: float, FLAG: bool}
        return {name: types.get(kind, kind) if isinstance(kind, str) else kind for name, kind in self._kinds.items()}

    # Contexts ------------------------------------------------------------------------------------------------------

    def checked(self, context: Any, known: Values | None = None) -> Values:
        """A context's values in the order of the features, or raise.

        Parameters
        ----------
        context : mapping
            A value for each feature, and nothing else.
        known : tuple, optional
            Values that were checked before, such as those of the last choice: if these are the same objects they are
            not checked again.

        Returns
        -------
        tuple
            A category, a float or a bool for each feature.

        Raises
        ------
        TypeError, ValueError
            If a feature is missing or unknown, or its value is not of its kind.
        """
        if context.__class__ is not dict and not isinstance(context, Mapping):
            raise TypeError(f"context must be a mapping with {_listed(self._names)}, got {shown(context)}")
        if len(context) != len(self._names):
            raise self._mismatch(context)
        if self._numbers is not None:
            try:
                numbers: Values = self._numbers(context)
            except KeyError:
                raise self._mismatch(context) from None
            if known is not None and all(map(is_, numbers, known)):
                return known
            if {*map(type, numbers)} == {float} and sum(map(abs, numbers)) <= LARGEST_FEATURE:  # not NaN
                return numbers
        values = []
        for name, kind, _, levels in self._columns:
            try:
                value = context[name]
            except KeyError:
                raise self._mismatch(context) from None
            if levels:
                if value.__class__ is not str or value not in levels:
                    raise _not_a_category(name, value, levels)
            elif kind == NUMBER:
                if value.__class__ is not float or not -LARGEST_FEATURE <= value <= LARGEST_FEATURE:
                    value = _number(name, value)
            elif not isinstance(value, bool | np.bool_):
                raise TypeError(f"feature {shown(name)} must be True or False, got {shown(value)}")
            else:
                value = bool(value)
            values.append(value)
        return tuple(values)

    def encoded(self, values: Values, constant: bool = False) -> npt.NDArray[np.float64]:
        """The vector of a checked context.

        Parameters
        ----------
        values : tuple
            What :meth:`checked` returns.
        constant : bool
            Whether to put a 1 at the end.

        Returns
        -------
        array of float
            As many numbers as :attr:`terms`, and the constant.
        """
        if self._numbers is not None:
            return np.array((*values, 1.0) if constant else values)
        vector = [0.0] * self.dimension
        for (_, _, start, levels), value in zip(self._columns, values, strict=True):
            if levels:
                vector[levels[value]] = 1.0
            else:
                vector[start] = value
        if constant:
            vector.append(1.0)
        return np.array(vector, float)

    def vector(self, context: Mapping[str, Any]) -> npt.NDArray[np.float64]:
        """The numbers that a context becomes.

        Parameters
        ----------
        context : mapping
            A value for each feature, and nothing else.

        Returns
        -------
        array
            One number for each of :attr:`terms`.

        Raises
        ------
        TypeError, ValueError
            If the context is not one of these features.
        """
        return self.encoded(self.checked(context))

    def _mismatch(self, context: Mapping[str, Any]) -> ValueError:
        missing = [name for name in self._names if name not in context]
        if missing:
            return ValueError(f"the context lacks the feature {shown(missing[0])}; it needs {_listed(self._names)}")
        unknown = next(name for name in context if name not in self._kinds)
        return ValueError(f"the context has an unknown feature {shown(unknown)}; there are {_listed(self._names)}")

    # Documents -----------------------------------------------------------------------------------------------------

    def as_plain(self) -> list[list[Any]]:
        """The features as plain JSON data.

        Returns
        -------
        list of lists
            Name and kind of each.
        """
        return [[name, list(kind) if isinstance(kind, tuple) else kind] for name, kind in self._kinds.items()]

    @classmethod
    def from_plain(cls, plain: Sequence[Sequence[Any]], intercept: bool, of_arms: bool = False) -> Features:
        """The features that :meth:`as_plain` describes.

        Parameters
        ----------
        plain : sequence of pairs
            Name and kind of each feature.
        intercept : bool
            Whether there is an intercept.
        of_arms : bool
            Whether every arm has features of its own.

        Returns
        -------
        Features
            As they were.

        Raises
        ------
        TypeError, ValueError
            If it does not describe features.
        """
        types: dict[Any, Any] = {NUMBER: float, FLAG: bool}
        given: dict[str, Any] = {}
        for name, kind in plain:
            if name in given:
                raise ValueError(f"the feature {shown(name)} is given twice")
            given[name] = types.get(kind, kind) if isinstance(kind, str) else kind
        return cls(given, of_arms=of_arms, intercept=intercept)


def _name(name: Any) -> str:
    if not isinstance(name, str) or not name:
        raise TypeError(f"a feature's name must be a string that is not empty, got {shown(name)}")
    if name in (INTERCEPT, "of_arms"):
        raise ValueError(f"a feature cannot be named {name!r}")
    return str(name)


def _kind(name: str, kind: Any) -> Kind:
    if kind in (float, int):
        return NUMBER
    if kind is bool:
        return FLAG
    accepted = "float, bool or a list of categories"
    if isinstance(kind, str | set | frozenset) or not isinstance(kind, Sequence):
        raise TypeError(f"feature {shown(name)} must be {accepted}, got {shown(kind)}")
    if not kind or any(not isinstance(level, str) or not level for level in kind):
        raise TypeError(f"the categories of {shown(name)} must be strings that are not empty, got {shown(kind)}")
    if len(set(kind)) < len(kind):
        raise ValueError(f"the categories of {shown(name)} must be distinct, got {shown(kind)}")
    return tuple(str(level) for level in kind)


def _number(name: str, value: Any) -> float:
    accepted = f"a finite number from {-LARGEST_FEATURE:g} to {LARGEST_FEATURE:g}"
    if not isinstance(value, NUMBERS):
        raise TypeError(f"feature {shown(name)} must be {accepted}, got {shown(value)}")
    try:
        number = float(value)
    except (OverflowError, ValueError):
        number = float("nan")
    if not -LARGEST_FEATURE <= number <= LARGEST_FEATURE:
        raise ValueError(f"feature {shown(name)} must be {accepted}, got {shown(value)}")
    return number


def _not_a_category(name: str, value: Any, levels: Mapping[str, int]) -> Exception:
    kind = ValueError if isinstance(value, str) else TypeError
    return kind(
        f"feature {shown(name)} must be one of {_listed(levels)}, got {shown(value)}; new categories: add_category()"
    )


def _listed(names: Any) -> str:
    words = [shown(name) for name in names]
    return ", ".join(words[:10]) + (", ..." if len(words) > 10 else "")
