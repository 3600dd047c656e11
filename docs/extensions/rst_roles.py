"""A griffe extension: the reStructuredText in docstrings becomes Markdown.

Docstrings are numpydoc, so that ``help()`` and other tools read them. The site is Markdown. Mathematics becomes
``$...$``, and a role such as ``:meth:`pull` `` becomes code.
"""

from __future__ import annotations

import re
from textwrap import dedent
from typing import Any

import griffe

MATH_BLOCK = re.compile(
    r"^(?P<indent> *)\.\. math::(?P<first>.*)\n(?P<rest>(?:(?P=indent) +\S.*\n|[ ]*\n(?=(?P=indent) +\S))*)",
    re.MULTILINE,
)
MATH_ROLE = re.compile(r":math:`([^`]+)`")
OTHER_ROLE = re.compile(r":(?:py:)?(?:attr|class|data|exc|func|meth|mod|obj):`~?([^`]+)`")


def markdown_of(text: str) -> str:
    r"""The docstring with formulas and roles as Markdown.

    Examples
    --------
    >>> markdown_of(r"See :meth:`pull` and :math:`\bar Y`.")
    'See `pull` and $\\bar Y$.'
    """
    text = MATH_BLOCK.sub(_display, text + "\n").rstrip("\n")
    text = MATH_ROLE.sub(lambda found: f"${' '.join(found[1].split())}$", text)
    return OTHER_ROLE.sub(r"`\1`", text)


def _display(found: re.Match[str]) -> str:
    lines = [found["first"], *dedent(found["rest"]).splitlines()]
    return f"{found['indent']}$${' '.join(line.strip() for line in lines if line.strip())}$$\n"


class RstRoles(griffe.Extension):
    """Rewrite every docstring as it is loaded."""

    def on_object(self, *, obj: griffe.Object, **options: Any) -> None:
        """Rewrite the docstring of one object."""
        if obj.docstring:
            obj.docstring.value = markdown_of(obj.docstring.value)
