"""Text from outside, made safe and short enough to show."""

from __future__ import annotations

from typing import Any, Final

LONGEST_NAME: Final = 40
LONGEST_VALUE: Final = 100


def printable(text: str, longest: int = LONGEST_NAME) -> str:
    r"""A name as it may be shown: control and bidirectional characters escaped, long names shortened.

    Parameters
    ----------
    text : str
        Any string, such as an arm's name that came from a file.
    longest : int
        Largest number of characters of the result.

    Returns
    -------
    str
        Printable characters only.

    Examples
    --------
    >>> print(printable("blue"), printable("\x1b[31mred"), printable("a" * 100, longest=8))
    blue \x1b[31mred aaaaa...
    """
    escaped = "".join(char if char.isprintable() else _escaped(char) for char in text[: longest + 1])
    return escaped if len(escaped) <= longest else escaped[: longest - 3] + "..."


def _escaped(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")


def shown(value: Any, longest: int = LONGEST_VALUE) -> str:
    """The repr of a value, shortened: what an error message says it was given.

    Parameters
    ----------
    value : object
        Anything, however large.
    longest : int
        Largest number of characters of the result.

    Examples
    --------
    >>> shown("x"), shown(10**200, longest=10), shown(10**10000)
    ("'x'", '1000000...', 'a whole number of 33,220 bits')
    """
    if isinstance(value, str | bytes):
        value = value[: longest + 1]
    try:
        text = repr(value)
    except ValueError:  # Python does not print whole numbers of more than 4,300 digits
        bits = value.bit_length() if isinstance(value, int) else 0
        return f"a whole number of {bits:,} bits" if bits else f"a {type(value).__name__}"
    return printable(text, longest)
