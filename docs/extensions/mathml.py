"""A Markdown extension: ``$x$`` and ``$$x$$`` become MathML, which browsers draw without a script or a font file."""

from __future__ import annotations

import re
from typing import Any
from xml.etree.ElementTree import Element

from latex2mathml.converter import convert
from markdown import Markdown
from markdown.extensions import Extension
from markdown.inlinepatterns import InlineProcessor

DISPLAY = r"\$\$(.+?)\$\$"
INLINE = r"(?<![\\$\w])\$(?![\s$])([^$\n]+?)(?<!\s)\$(?![\w$])"
BEFORE_ESCAPES = 185  # Backslashes belong to the formula; code spans (190) come first.


class _Formula(InlineProcessor):
    def __init__(self, pattern: str, markdown: Markdown, display: str) -> None:
        super().__init__(pattern, markdown)
        self.compiled_re = re.compile(pattern, re.DOTALL)
        self.display = display

    def handleMatch(  # type: ignore[override]  # noqa: N802
        self, match: re.Match[str], data: str
    ) -> tuple[Element | str, int, int]:
        """Replace one formula."""
        return self.md.htmlStash.store(convert(match[1].strip(), display=self.display)), match.start(), match.end()


class MathML(Extension):
    """Register both forms."""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802
        """Add the two patterns, the longer delimiter first."""
        md.inlinePatterns.register(_Formula(DISPLAY, md, "block"), "display-formula", BEFORE_ESCAPES + 1)
        md.inlinePatterns.register(_Formula(INLINE, md, "inline"), "inline-formula", BEFORE_ESCAPES)


def makeExtension(**options: Any) -> MathML:  # noqa: N802
    """Make the extension, as Markdown asks for it."""
    return MathML(**options)
