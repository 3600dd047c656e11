"""The declared JSON form of the library's bandits: the class and its fields, nested ones included. No pickle."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np

from bootleader import bandits

KIND = "kind"  # names the class


class NoForm(TypeError):  # noqa: N818  (an answer, not an error of the user)
    """Raised for what has no declared form, such as a user's own bandit."""


def kinds() -> dict[str, type]:
    """Classes that have a form: the bandits of the library, and the distributions that they are made of."""
    public = {name: getattr(bandits, name) for name in bandits.__all__}
    return {name: kind for name, kind in public.items() if isinstance(kind, type) and dataclasses.is_dataclass(kind)}


def form_of(value: Any) -> Any:
    """The form of a bandit or of one of its fields, made of what JSON has.

    Raises
    ------
    NoForm
        If it has none.

    Examples
    --------
    >>> from bootleader import GaussianBandit, Uniform
    >>> form_of(GaussianBandit(Uniform(5, 7, arms=10)))
    {'kind': 'GaussianBandit', 'means': {'kind': 'Uniform', 'low': 5, 'high': 7, 'arms': 10}, 'sd': 1.0}
    """
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return float(value)
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, Sequence):
        return [form_of(part) for part in value]
    name = type(value).__name__
    kind: Any = kinds().get(name)
    if kind is None or type(value) is not kind:
        raise NoForm(f"{value!r:.200} has no declared form")
    return {KIND: name} | {field.name: form_of(getattr(value, field.name)) for field in dataclasses.fields(kind)}


def from_form(form: Any) -> Any:
    """The bandit, or whatever it is, that has this form.

    Raises
    ------
    ValueError
        If a class is not one of the library's bandits.
    TypeError
        If its fields are others.

    Examples
    --------
    >>> from_form({"kind": "BernoulliBandit", "means": [0.2, 0.8]})
    BernoulliBandit(means=(0.2, 0.8))
    """
    if isinstance(form, list):
        return [from_form(part) for part in form]
    if not isinstance(form, dict):
        return form
    fields = {name: from_form(part) for name, part in form.items() if name != KIND}
    kind = kinds().get(form.get(KIND, ""))
    if kind is None:
        raise ValueError(f"{form.get(KIND)!r} is not a bandit of this version")
    return kind(**fields)


def form_or_none(bandit: Any) -> Any:
    """A bandit's form; None if it has none."""
    try:
        return None if isinstance(bandit, str) else form_of(bandit)
    except NoForm:
        return None


def text_of(bandit: Any) -> str:
    """A bandit as it is written; a user's own bandit, once loaded from a file, is this text."""
    return bandit if isinstance(bandit, str) else repr(bandit)


def same_bandit(a: Any, b: Any) -> bool:
    """Whether two bandits are the same: by their forms, or as their own classes define it, or by their texts."""
    forms = form_or_none(a), form_or_none(b)
    if forms != (None, None):
        return bool(forms[0] == forms[1])
    return bool(a is b or text_of(a) == text_of(b) or (type(a) is type(b) and (a == b) is True))
