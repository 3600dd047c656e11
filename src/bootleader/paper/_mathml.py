"""Formulas in plain text, as the claims write them, to MathML: ``2(s+2)σ_a²`` becomes italic letters with indices.

The claims are also printed to consoles and CSV files, so they are written in plain text. This module finds the
formulas in such a text and typesets them; what it does not recognise stays as it is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape
from typing import Final

FUNCTIONS: Final = ("log2", "log", "exp", "min", "max")
NAMES: Final = ("PRSS", "RSS")
SUPERSCRIPTS: Final = {"²": "2", "³": "3"}
SUBSCRIPTS: Final = {"₀": "0", "₁": "1", "₂": "2", "ₙ": "n", "ₖ": "k"}
RELATIONS: Final = "=<>≤≥"
OPERATORS: Final = "+−·×/±" + RELATIONS
BRACKETS: Final = {"(": ")", "[": "]", "{": "}"}
GREEK: Final = "ΔΦΣΩαβγδεθλμπσφχψω"
NUMBER: Final = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?(?:e[+-]?\d+)?")
WORD: Final = re.compile(r"[A-Za-z\u0391-\u03c9Ȳ]+")
PRODUCTS: Final = ("aT", "KT", "sȲ")  # letters side by side that are not a word
BREAK: Final = "\0"  # stands for the start of a relation's <mo> until the formula's length is known
LONGEST_LINE: Final = 16  # characters of a formula that is never broken
PROSE: Final = "aABCI"  # letters of prose ("Appendix B"): formulas only beside an operator or an index


@dataclass(frozen=True)
class _Piece:
    """MathML of a part of a formula, the position after it, and whether it is mathematics beyond doubt."""

    markup: str
    end: int
    strong: bool
    variable: bool = True


def typeset(text: str) -> str:
    """Return the text as HTML, its formulas as MathML.

    Parameters
    ----------
    text : str
        Plain text.

    Returns
    -------
    str
        Escaped HTML.

    Examples
    --------
    >>> typeset("grows with T & more")
    'grows with <math><mi>T</mi></math> &amp; more'
    >>> typeset("r²")
    '<math><msup><mi>r</mi><mn>2</mn></msup></math>'
    """
    done: list[str] = []
    plain = position = 0
    while position < len(text):
        found = _formula(text, position) if _may_start(text, position) else None
        if found is None:
            position += 1
            continue
        done += [escape(text[plain:position], quote=False), found.markup]
        plain = position = found.end
    done.append(escape(text[plain:], quote=False))
    return "".join(done)


def _may_start(text: str, at: int) -> bool:
    return not text[at].isspace() and (at == 0 or not (text[at - 1].isalnum() or text[at - 1] in "_.’'-²/%"))


def _formula(text: str, at: int) -> _Piece | None:
    """The longest formula that starts here, or None. A long one may break before its relations."""
    if text[at] in BRACKETS and not _opens_formula(text, at):
        return None
    found = _expression(text, at)
    if found is None or not found.variable:
        return None
    source = text[at : found.end]
    if source in PROSE or (not found.strong and len(source) == 1 and not _stands_alone(text, at)):
        return None
    if found.end < len(text) and (text[found.end].isalnum() or text[found.end] in "_-’'"):
        return None
    broken = '</math> <math><mo lspace="0">' if len(source) > LONGEST_LINE else "<mo>"
    return _Piece(f"<math>{found.markup.replace(BREAK, broken)}</math>", found.end, True)


def _opens_formula(text: str, at: int) -> bool:
    """Whether a bracket belongs to a formula: an exponent or an operator follows it."""
    group = _group(text, at)
    return group is not None and bool(re.match(r"²|³|\^|\s?[/·×]", text[group.end :]))


def _stands_alone(text: str, at: int) -> bool:
    after = text[at + 1 : at + 3]
    return not re.match(r"\.\w", after)


def _expression(text: str, at: int, inside: bool = False) -> _Piece | None:
    """Terms joined by operators or written side by side; inside brackets also by commas."""
    first = _term(text, at) or _signed(text, at)
    if first is None:
        return None
    parts, end = [first.markup], first.end
    strong, variable = first.strong, first.variable
    while True:
        joined = re.match(rf"\s?([{OPERATORS}{',;' if inside else ''}])\s?", text[end:])
        following = _term(text, end + joined.end()) or _signed(text, end + joined.end()) if joined else None
        if joined is not None and following is not None:
            sign = joined[1]
            parts.append(f"{BREAK if sign in RELATIONS and not inside else '<mo>'}{escape(sign)}</mo>")
            strong, variable = True, variable or following.variable
        else:
            following = _beside(text, end)
            if following is None:
                return _Piece("".join(parts), end, strong, variable)
            strong, variable = True, True
        parts.append(following.markup)
        end = following.end


def _beside(text: str, at: int) -> _Piece | None:
    """A factor written beside the one before it; after a space only what cannot be a word."""
    if at >= len(text):
        return None
    if not text[at].isspace():
        return None if text[at] in "," or text[at].isdigit() else _term(text, at)
    following = _term(text, at + 1)
    if following is None or not (following.strong and following.variable) or "_{" in text[at + 1 : following.end]:
        return None
    powered = text[following.end - 1] in SUPERSCRIPTS
    return following if powered or text[at + 1] not in "(" else None


def _signed(text: str, at: int) -> _Piece | None:
    if at < len(text) and text[at] == "−":
        term = _term(text, at + 1)
        return term and _Piece(f"<mo>−</mo>{term.markup}", term.end, term.strong, term.variable)
    return None


def _term(text: str, at: int) -> _Piece | None:
    """A number, symbol, function or bracket, with its indices."""
    base = _base(text, at)
    return None if base is None else _indexed(text, base)


def _base(text: str, at: int) -> _Piece | None:
    if at >= len(text):
        return None
    character = text[at]
    if number := NUMBER.match(text, at):
        return _Piece(f"<mn>{number[0]}</mn>", number.end(), False, False)
    if character in BRACKETS:
        return _group(text, at)
    if character == "√":
        root = re.compile(r"\d*[π]?").match(text, at + 1)
        if root is not None and root[0]:
            inner = "".join(f"<m{'n' if c.isdigit() else 'i'}>{c}</m{'n' if c.isdigit() else 'i'}>" for c in root[0])
            return _Piece(f"<msqrt>{inner}</msqrt>", root.end(), True)
        return None
    if re.compile(r"inf\b").match(text, at):
        return _Piece("<mi>∞</mi>", at + 3, False, False)
    if character == "Σ":
        return _Piece("<mo>∑</mo>", at + 1, True)
    if character == "·" and text[at - 1 : at] == "(":
        return _Piece("<mo>·</mo>", at + 1, True)
    for name in (*FUNCTIONS, *NAMES):
        if text.startswith(name, at) and not text[at + len(name) : at + len(name) + 1].isalpha():
            return _named(text, at, name)
    return _symbol(text, at)


def _named(text: str, at: int, name: str) -> _Piece | None:
    """A function with its argument, or a name of several letters."""
    end = at + len(name)
    head = f'<mi mathvariant="normal">{name}</mi>'
    if name == "log2":
        head = '<msub><mi mathvariant="normal">log</mi><mn>2</mn></msub>'
    if name in NAMES:
        return _Piece(head, end, True)
    space = end < len(text) and text[end] == " "
    argument = _term(text, end + space)
    return None if argument is None else _Piece(f"{head}<mspace width='.17em'/>{argument.markup}", argument.end, True)


def _symbol(text: str, at: int) -> _Piece | None:
    word = WORD.match(text, at)
    if word is None:
        return None
    letters = word[0]
    if letters.startswith("Ȳ"):
        return _Piece('<mover accent="true"><mi>Y</mi><mo>¯</mo></mover>', at + 1, True)
    greek = letters[0] in GREEK
    if len(letters) > 1 and not greek and not letters.startswith(PRODUCTS):
        return None
    end = at + 1
    if letters[0] == "C" and end < len(text) and text[end] in "12":
        return _Piece(f"<msub><mi>C</mi><mn>{text[end]}</mn></msub>", end + 1, True)
    symbol = _Piece(f"<mi>{letters[0]}</mi>", end, greek)
    if text[end : end + 1] not in ("(", "[") or (greek and letters[0] != "Φ"):
        return symbol
    argument = _group(text, end)
    return None if argument is None else _Piece(symbol.markup + argument.markup, argument.end, True)


def _group(text: str, at: int) -> _Piece | None:
    """A bracket whose whole content is a formula."""
    if at >= len(text) or text[at] not in BRACKETS:
        return None
    inner = _expression(text, at + 1, inside=True)
    closing = BRACKETS[text[at]]
    if inner is None or text[inner.end : inner.end + 1] != closing:
        return None
    fence = '<mo stretchy="false">'
    markup = f"{fence}{text[at]}</mo>{inner.markup}{fence}{closing}</mo>"
    return _Piece(f"<mrow>{markup}</mrow>", inner.end + 1, inner.strong, inner.variable)


def _indexed(text: str, base: _Piece) -> _Piece:
    """The term with the subscripts and superscripts that follow it."""
    lower = upper = ""
    end = base.end
    while end < len(text):
        rest = text[end:]
        if rest[0] in SUPERSCRIPTS and not upper:
            upper, end = f"<mn>{SUPERSCRIPTS[rest[0]]}</mn>", end + 1
        elif rest[0] in SUBSCRIPTS and not lower:
            lower, end = _letters(SUBSCRIPTS[rest[0]]), end + 1
        elif not lower and (index := re.match(r"_(?:\{([^{}]+)\}|([A-Za-z0-9])(?![A-Za-z0-9]))", rest)):
            lower, end = _letters(index[1] or index[2]), end + index.end()
        elif rest[0] == "^" and not upper and (power := _term_without_index(text, end + 1)) is not None:
            upper, end = power.markup, power.end
        else:
            break
    if not (lower or upper):
        return base
    kind = "msubsup" if lower and upper else "msub" if lower else "msup"
    return _Piece(f"<{kind}>{base.markup}{lower}{upper}</{kind}>", end, True)


def _term_without_index(text: str, at: int) -> _Piece | None:
    found = _base(text, at)
    if found is not None and text[at : at + 1] == "(":  # the bracket only groups the exponent
        return _Piece(found.markup.replace('<mo stretchy="false">(</mo>', "", 1)[::-1].replace(
            '<mo stretchy="false">)</mo>'[::-1], "", 1)[::-1], found.end, True)  # fmt: skip
    return found


def _letters(index: str) -> str:
    inner = "".join(
        f"<mn>{c}</mn>" if c.isdigit() else f"<mo>{c}</mo>" if c == "," else f"<mi>{escape(c)}</mi>" for c in index
    )
    return inner if len(index) == 1 else f"<mrow>{inner}</mrow>"
