"""Features: what a context must be, and the vector that it becomes."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

import bootleader as bl
from bootleader.agent.features import MOST_COLUMNS

FEATURES = bl.Features(device=["mobile", "desktop"], visits=float, member=bool)
VISIT = {"device": "desktop", "visits": 3, "member": True}


def test_a_context_becomes_a_vector() -> None:
    assert FEATURES.terms == ["device=mobile", "device=desktop", "visits", "member"]
    assert FEATURES.dimension == 4
    np.testing.assert_array_equal(FEATURES.vector(VISIT), [0.0, 1.0, 3.0, 1.0])
    np.testing.assert_array_equal(FEATURES.encoded(FEATURES.checked(VISIT), True), [0.0, 1.0, 3.0, 1.0, 1.0])


@pytest.mark.parametrize("value", [2.5, 2, np.float32(2.5), np.int64(2), Decimal("2.5"), True, -1e50])
def test_numbers_of_every_kind(value: Any) -> None:
    for features in (bl.Features(x=float), bl.Features(x=float, y=float)):
        context = dict.fromkeys(features, value)
        assert features.vector(context)[0] == float(value)


@pytest.mark.parametrize(
    ("change", "error", "says"),
    [
        ({"device": "tablet"}, ValueError, "'device' must be one of 'mobile', 'desktop', got 'tablet'"),
        ({"device": 1}, TypeError, "'device' must be one of"),
        ({"device": None}, TypeError, "'device' must be one of"),
        ({"visits": math.nan}, ValueError, "'visits' must be a finite number"),
        ({"visits": math.inf}, ValueError, "'visits' must be a finite number"),
        ({"visits": 1e51}, ValueError, "1e\\+50"),
        ({"visits": "3"}, TypeError, "'visits' must be a finite number"),
        ({"visits": None}, TypeError, "'visits' must be a finite number"),
        ({"visits": 10**400}, ValueError, "'visits' must be a finite number"),
        ({"member": 1}, TypeError, "'member' must be True or False"),
        ({"hour": 3.0}, ValueError, "unknown feature 'hour'"),
    ],
)
def test_a_bad_value_is_named(change: dict[str, Any], error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        FEATURES.checked({**VISIT, **change})


@pytest.mark.parametrize("features", [FEATURES, bl.Features(device=float, visits=float, member=float)], ids=str)
def test_a_missing_feature_is_named(features: bl.Features) -> None:
    context = {"device": 1.0, "visits": 1.0} if features is not FEATURES else {"device": "mobile", "visits": 1.0}
    with pytest.raises(ValueError, match="lacks the feature 'member'"):
        features.checked(context)
    with pytest.raises(ValueError, match="lacks the feature 'member'"):
        features.checked({**context, "other": 1.0})
    with pytest.raises(TypeError, match="mapping"):
        features.checked([1.0, 2.0])


@pytest.mark.parametrize("bad", [math.nan, math.inf, "1", None])
def test_numbers_alone_are_checked_as_carefully(bad: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="'b' must be a finite number"):
        bl.Features(a=float, b=float).checked({"a": 1.0, "b": bad})


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ("mobile", TypeError),
        ([], TypeError),
        ([""], TypeError),
        ([1, 2], TypeError),
        (["a", "a"], ValueError),
        ({"a", "b"}, TypeError),
        (complex, TypeError),
        (None, TypeError),
        ([str(k) for k in range(MOST_COLUMNS + 1)], ValueError),
    ],
    # Not ids=str: the text of a set depends on the hash seed, and parallel workers must collect the same tests.
    ids=["text", "empty", "empty text", "numbers", "twice", "set", "type", "none", "too many"],
)
def test_a_bad_kind_is_refused(kind: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        bl.Features(x=kind)


def test_names_and_options_are_checked() -> None:
    for wrong in ({"": float}, {1: float}, {}, [("x", float)]):
        with pytest.raises((TypeError, ValueError)):
            bl.Features(wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="twice"):
        bl.Features({"x": float}, x=float)
    with pytest.raises(TypeError, match="intercept"):
        bl.Features({"x": float}, intercept=1)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="intercept"):
        bl.Features({"intercept": float})


def test_features_are_values() -> None:
    same = bl.Features({"device": ("mobile", "desktop"), "visits": int, "member": bool})
    assert same == FEATURES
    assert hash(same) == hash(FEATURES)
    assert eval(repr(FEATURES), {"Features": bl.Features}) == FEATURES
    assert bl.Features.from_plain(FEATURES.as_plain(), True) == FEATURES
    assert bl.Features(x=float) != bl.Features(x=float, intercept=False)
    assert list(FEATURES) == ["device", "visits", "member"]


def test_a_new_category_takes_the_place_after_the_others() -> None:
    more, place = FEATURES.with_category("device", "tablet")
    assert place == 2
    assert more.terms[:3] == ["device=mobile", "device=desktop", "device=tablet"]
    assert FEATURES.dimension == 4
    for feature, category, error in (
        ("x", "a", LookupError),
        ("visits", "a", ValueError),
        ("device", "mobile", ValueError),
    ):
        with pytest.raises(error):
            FEATURES.with_category(feature, category)
