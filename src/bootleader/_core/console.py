"""Output that a console in any encoding can show."""

from __future__ import annotations

import codecs
from typing import Any, Final

ERRORS: Final = "bootleader.plain"  # name of the codec error handler

# Replacements for the characters that our own output uses. Everything else is written as an escape.
PLAIN: Final = {
    "σ": "sigma", "Δ": "Delta", "Φ": "Phi", "χ": "chi", "Σ": "sum", "ε": "eps", "β": "beta", "√": "sqrt", "π": "pi",
    "Ȳ": "Ybar", "²": "^2", "₁": "_1", "ₙ": "_n", "≤": "<=", "≥": ">=", "×": "x", "·": "*", "±": "+-", "−": "-",
    "–": "-", "—": "-", "…": "...", "‘": "'", "’": "'", "“": '"', "”": '"', "§": "sec. ", "∞": "inf", "✓": "+",
    "✗": "x", "◐": "~", "é": "e", "ö": "o", "ü": "u", "ä": "a", "á": "a",
}  # fmt: skip


def degrade(stream: Any) -> None:
    """Make a text stream replace what its encoding cannot hold, where it would raise.

    A console in cp1252 or ASCII then shows ``sigma_a`` for ``σ_a`` and an escape for a name in another script.

    Parameters
    ----------
    stream : text stream
        Usually ``sys.stdout``. One that is in UTF-8, or cannot be reconfigured, stays as it is.
    """
    encoding = str(getattr(stream, "encoding", None) or "utf-8")
    if hasattr(stream, "reconfigure") and not encoding.lower().replace("-", "").startswith("utf"):
        stream.reconfigure(errors=ERRORS)


def _plain(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lost = error.object[error.start : error.end]
    return "".join(PLAIN.get(c) or c.encode("unicode_escape").decode("ascii") for c in lost), error.end


codecs.register_error(ERRORS, _plain)
