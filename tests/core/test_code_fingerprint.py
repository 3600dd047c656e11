"""The digest of a function: it changes with what the function computes, and with nothing else."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

from bootleader._core import rng
from bootleader._core.code_fingerprint import COMPILED_FORMS, code_digest, references
from tests.helpers import run_python

LAW = '''
import math
from typing import NamedTuple
import numpy as np

RATE = 2.0
TABLE = np.array([1.0, 2.0, 3.0])
LIMITS = (0.5, 4.0)
UNRELATED = 1

class Arm(NamedTuple):
    count: float
    mean: float

def helper(x):
    """Half of it."""
    return 0.5 * x

def unrelated(x):
    return x

def law(params, arm):
    """The law of an arm."""
    known = Arm(arm.count, arm.mean)
    # A comment.
    return known.mean + helper(params[0]) * math.sqrt(RATE / known.count) * TABLE[1] + LIMITS[0]
'''


def law_of(source: str, filename: str = "law.py") -> Any:
    """The function ``law`` of a module with this source."""
    names: dict[str, Any] = {"__name__": "module_with_a_law"}
    exec(compile(source, filename, "exec"), names)
    return names["law"]


def changed(old: str, new: str) -> str:
    assert LAW.count(old) == 1
    return LAW.replace(old, new)


@pytest.mark.parametrize(
    "source",
    [
        changed('"""The law of an arm."""', '"""Another description."""'),
        changed('"""Half of it."""', '"""Half of the number."""'),
        changed("    # A comment.\n", ""),
        changed("    # A comment.\n", "    # A longer\n\n    # comment.\n"),
        "\n" * 40 + LAW,
        changed("    known = Arm(", "    known = (Arm)("),
        changed("UNRELATED = 1", "UNRELATED = 2"),
        changed("def unrelated(x):\n    return x", "def unrelated(x):\n    return -x"),
    ],
    ids=[
        "docstring",
        "docstring of a callee",
        "no comment",
        "comment",
        "lines",
        "brackets",
        "other global",
        "other def",
    ],
)
def test_changes_that_do_not_matter_keep_the_digest(source: str) -> None:
    assert code_digest(law_of(source)) == code_digest(law_of(LAW))


def test_the_file_of_a_function_does_not_matter() -> None:
    assert code_digest(law_of(LAW, "one.py")) == code_digest(law_of(LAW, "other/two.py"))


@pytest.mark.parametrize(
    "source",
    [
        changed("+ LIMITS[0]", "+ LIMITS[0] + 0.25"),
        changed("+ helper", "- helper"),
        changed("return 0.5 * x", "return 0.25 * x"),
        changed("return 0.5 * x", "return 0.5 + x"),
        changed("RATE = 2.0", "RATE = 2.5"),
        changed("RATE = 2.0", "RATE = 2"),
        changed("[1.0, 2.0, 3.0]", "[1.0, 2.5, 3.0]"),
        changed("3.0])", "3.0], np.float32)"),
        changed("(0.5, 4.0)", "(0.75, 4.0)"),
        changed("math.sqrt(", "math.exp("),
        changed("    count: float\n    mean: float\n", "    mean: float\n    count: float\n"),
        changed("    mean: float\n", "    mean: float\n    rss: float = 0.0\n"),
    ],
    ids=[
        "constant", "operator", "constant of a callee", "operator of a callee", "global number", "type of a number",
        "table", "type of a table", "tuple", "function of a module", "order of fields", "more fields",
    ],
)  # fmt: skip
def test_changes_that_matter_change_the_digest(source: str) -> None:
    assert code_digest(law_of(source)) != code_digest(law_of(LAW))


def closure_over(content: Any) -> Callable[..., Any]:
    def inside(x: Any) -> Any:
        return x, content

    return inside


CONTENTS: list[Any] = [1.0, 2.0, 1, True, None, "1", (1.0, 2.0), (1.0, (2.0,)), np.arange(3), np.arange(3.0), math.sin]


def test_the_contents_of_a_closure_count() -> None:
    digests = [code_digest(closure_over(content)) for content in CONTENTS]
    assert len(set(digests)) == len(digests)
    assert digests == [code_digest(closure_over(content)) for content in CONTENTS]


def test_a_function_inside_a_closure_counts() -> None:
    one, same, other = (law_of(source) for source in (LAW, "\n" + LAW, changed("RATE = 2.0", "RATE = 2.5")))
    assert code_digest(closure_over(one)) == code_digest(closure_over(same))
    assert code_digest(closure_over(one)) != code_digest(closure_over(other))


def test_default_arguments_count() -> None:
    def function(x: float, factor: float = 2.0) -> float:
        return x * factor

    def with_keyword(x: float, *, factor: float = 2.0) -> float:
        return x * factor

    before = code_digest(function), code_digest(with_keyword)
    function.__defaults__, with_keyword.__kwdefaults__ = (3.0,), {"factor": 3.0}
    assert code_digest(function) != before[0]
    assert code_digest(with_keyword) != before[1]


def test_strings_that_are_not_docstrings_count() -> None:
    sources = [f"def law(x):\n    return {text!r} + x\n" for text in ("a", "b")]
    assert len({code_digest(law_of(source)) for source in sources}) == 2
    assert code_digest(lambda: "a") != code_digest(lambda: "b")


def test_nested_functions_count() -> None:
    template = "def law(x):\n    def inside(y):\n        return y + NUMBER * {}\n    return inside(x)\n"
    sources = [f"NUMBER = {number}\n" + template.format(factor) for number, factor in itertools.product((1, 2), (3, 4))]
    assert len({code_digest(law_of(source)) for source in sources}) == 4


def test_recursion_ends_and_counts() -> None:
    source = "def law(n):\n    return 1 if n == 0 else n * other(n - 1)\ndef other(n):\n    return law(n)\n"
    assert code_digest(law_of(source)) == code_digest(law_of("\n" + source))
    assert code_digest(law_of(source)) != code_digest(law_of(source.replace("return law(n)", "return law(n) + 1")))


def test_attributes_of_modules_are_followed() -> None:
    def word(stream: Any) -> Any:
        return rng.next_word(stream)

    assert rng.next_word in list(references(word))
    assert rng.mix64 in list(references(rng.next_word))


def test_a_compiled_form_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    def plain(x: float) -> float:
        return x + x

    def caller(x: float) -> float:
        return plain(x)

    def vectorised(x: float) -> float:
        return 2.0 * x

    without = code_digest(caller)
    monkeypatch.setitem(COMPILED_FORMS, plain, (vectorised,))
    assert code_digest(caller) != without


def test_numbers_and_tuples_beside_functions_count() -> None:
    def function(x: float) -> float:
        return x

    digests = [code_digest(function, *rest) for rest in ((), (1,), (2,), (1.0,), ((1, 2),), ((1,), 2), (function,))]
    assert len(set(digests)) == len(digests)


class Fields(NamedTuple):
    first: float
    second: float


class OtherFields(NamedTuple):
    second: float
    first: float


def test_fields_of_a_named_tuple_count() -> None:
    OtherFields.__qualname__ = Fields.__qualname__
    assert code_digest(Fields) != code_digest(OtherFields)


DIGESTS = """
from bootleader._core import leader_tree, rng, sampling
from bootleader._core.code_fingerprint import code_digest
from bootleader.policies import POLICIES
def weekday(name):
    return name in {"monday", "tuesday", "wednesday", "thursday", "friday"}
names = ("law", "resample", "choose")
functions = [next(getattr(policy.rule, name) for name in names if hasattr(policy.rule, name)) for policy in POLICIES]
for function in [weekday, rng.below, sampling.standard_gamma, leader_tree.leader, *functions]:
    print(function.__qualname__, code_digest(function))
"""


def test_digests_are_the_same_in_every_process() -> None:
    """With other hash seeds, so that nothing depends on the order of a set."""
    outputs = {run_python(DIGESTS, PYTHONHASHSEED=seed) for seed in ("0", "1")}
    assert len(outputs) == 1
    assert len(outputs.pop().splitlines()) > 10


def test_the_outer_one_of_nested_calls_counts() -> None:
    """Two names are loaded one after the other there."""
    source = "def outer(x):\n    return {} * x\ndef inner(x):\n    return x\ndef law(x):\n    return outer(inner(x))\n"
    assert [function.__name__ for function in references(law_of(source.format(1)))] == ["outer", "inner"]
    assert code_digest(law_of(source.format(1))) != code_digest(law_of(source.format(2)))
