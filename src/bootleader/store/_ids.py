"""Ids of decisions: unique over processes, threads, forks and restarts."""

from __future__ import annotations

import itertools
import os
import secrets
from typing import Any


def can_be_stored(text: Any) -> bool:
    """Whether it is a text that a database can hold: without NUL, and without half of a pair of surrogates."""
    return (
        isinstance(text, str)
        and "\0" not in text
        and (text.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in text))
    )


def new_tag() -> str:
    """A tag that no other process has."""
    return secrets.token_hex(6)


class DecisionIds:
    """A random tag for each process that opens an experiment, and a number counted up.

    Ids of one process are neighbours in the database's index, so that few of its pages change.
    """

    def __init__(self) -> None:
        self._start()

    def _start(self) -> None:
        self._process = os.getpid()
        self._tag = new_tag()
        self._numbers = itertools.count(1)

    def next(self) -> str:
        """A new id."""
        if os.getpid() != self._process:  # forked: the parent goes on with the old tag
            self._start()
        return f"{self._tag}-{next(self._numbers)}"


def tag_and_number(decision_id: str) -> tuple[str, int]:
    """The parts of an id.

    Examples
    --------
    >>> tag_and_number("6f0c-12"), tag_and_number("order 7")
    (('6f0c', 12), ('', 0))
    """
    tag, _, number = decision_id.rpartition("-")
    return (tag, int(number)) if tag and number.isdecimal() and len(number) < 20 else ("", 0)
