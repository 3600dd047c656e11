"""Fields of a document, each checked as it is read."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any


def refuse(why: str) -> ValueError:
    """The error that a document is refused with."""
    return ValueError(f"the document is refused: {why}")


class Fields:
    """An object of a document; every key must be read exactly once."""

    def __init__(self, body: Any, where: str) -> None:
        if not isinstance(body, dict):
            raise refuse(f"{where} must be an object, got {body!r}")
        self._body, self._left, self.where = body, set(body), where

    def value(self, key: str) -> Any:
        """Whatever is there."""
        if key not in self._left:
            raise refuse(f"{self.where} lacks {key!r}")
        self._left.remove(key)
        return self._body[key]

    def absent(self, key: str) -> bool:
        """Whether the key is there with nothing in it; it is then read."""
        if self._body.get(key, 0) is None:
            self.value(key)
            return True
        return False

    def text(self, key: str) -> str:
        """A string."""
        value = self.value(key)
        if not isinstance(value, str):
            raise self._wrong(key, "a string", value)
        return value

    def boolean(self, key: str) -> bool:
        """True or false."""
        value = self.value(key)
        if not isinstance(value, bool):
            raise self._wrong(key, "true or false", value)
        return value

    def whole(self, key: str, at_least: int = 0) -> int:
        """A whole number."""
        value = self.value(key)
        if type(value) is not int or value < at_least:
            raise self._wrong(key, f"a whole number of at least {at_least}", value)
        return value

    def word(self, key: str) -> int:
        """64 bits, written as 16 hexadecimal digits."""
        value = self.value(key)
        if not isinstance(value, str) or len(value) != 16 or not set(value) <= set("0123456789abcdef"):
            raise self._wrong(key, "16 hexadecimal digits", value)
        return int(value, 16)

    def real(
        self, key: str, *, at_least: float = -math.inf, above: float = -math.inf, at_most: float = math.inf
    ) -> float:
        """A finite number."""
        value = self.value(key)
        if type(value) not in (int, float):
            raise self._wrong(key, "a number", value)
        if not (math.isfinite(value) and at_least <= value <= at_most and value > above):
            low = f" above {above:g}" if above > -math.inf else f" of at least {at_least:g}" * (at_least > -math.inf)
            high = f" and at most {at_most:g}" if at_most < math.inf else ""
            raise self._wrong(key, f"a finite number{low}{high}", value)
        return float(value)

    def reals(self, key: str) -> list[float]:
        """A list of finite numbers."""
        value = self.value(key)
        if not isinstance(value, list) or not all(type(x) in (int, float) and math.isfinite(x) for x in value):
            raise self._wrong(key, "a list of finite numbers", value)
        return [float(x) for x in value]

    def texts(self, key: str) -> list[str]:
        """A list of distinct strings."""
        value = self.value(key)
        if not isinstance(value, list) or not all(isinstance(x, str) for x in value) or len(set(value)) < len(value):
            raise self._wrong(key, "a list of distinct strings", value)
        return value

    def inner(self, key: str) -> Fields:
        """An object inside this one."""
        return Fields(self.value(key), key)

    def items(self, key: str) -> Iterator[Fields]:
        """The objects of a list."""
        value = self.value(key)
        if not isinstance(value, list):
            raise self._wrong(key, "a list", value)
        for place, item in enumerate(value):
            yield Fields(item, f"{key}[{place}]")

    def rows(self, key: str, length: int) -> Iterator[Fields]:
        """The rows of a list of equally long lists; a row's fields are called "0", "1", ..."""
        value = self.value(key)
        if not isinstance(value, list) or not all(isinstance(row, list) and len(row) == length for row in value):
            raise self._wrong(key, f"a list of lists of {length}", value)
        for place, row in enumerate(value):
            yield Fields({str(column): cell for column, cell in enumerate(row)}, f"{key}[{place}]")

    def done(self) -> None:
        """Refuse whatever was not asked for."""
        if self._left:
            raise refuse(f"{self.where} has a field {min(self._left)!r} that version 1 does not know")

    def _wrong(self, key: str, accepted: str, value: Any) -> ValueError:
        return refuse(f"{key!r} of {self.where} must be {accepted}, got {value!r:.100}")
