"""Names from outside do not control the terminal."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bootleader._core.printable_text import printable

HOSTILE = ["\x1b[2J", "a\u202eb", "\u2066x", "new\nline", "\r", "\x07", "\x9b31m", "\ud800", "\u200b", "\x00"]


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_characters_are_escaped(name):
    shown = printable(name)
    assert shown.isprintable()
    assert "\\" in shown


@given(st.text(), st.integers(5, 60))
def test_any_name_is_printable_and_short(name, longest):
    shown = printable(name, longest)
    assert shown.isprintable()
    assert len(shown) <= longest


@given(st.text(st.characters(categories=["L", "N"]), max_size=40))
def test_plain_names_are_unchanged(name):
    assert printable(name) == name
