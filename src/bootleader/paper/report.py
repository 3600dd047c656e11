"""The report: one self-contained page, and the claims table in Markdown."""

from __future__ import annotations

import base64
import io
from collections import Counter
from collections.abc import Iterable, Sequence
from importlib.resources import files
from typing import Any

from bootleader.paper import PARTS
from bootleader.paper._claims import Judged, Verdict
from bootleader.paper._growth_exponent import HOW
from bootleader.paper._report_part import Drawing, Outcome, Part

BADGES = {Verdict.HOLDS: "holds", Verdict.IN_PART: "part", Verdict.FAILS: "fails", Verdict.UNDECIDED: "undecided"}
MARKS = {
    Verdict.HOLDS: "✓ holds",
    Verdict.IN_PART: "◐ holds in part",
    Verdict.FAILS: "✗ does not hold",
    Verdict.UNDECIDED: "? undecided",
}


def render(
    parts: Sequence[Part], outcomes: dict[str, Outcome], claims: Sequence[Judged], manifest: dict[str, Any]
) -> str:
    """The page as text."""
    import jinja2

    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined,
        loader=jinja2.FunctionLoader(lambda name: files("bootleader.paper").joinpath(name).read_text(encoding="utf-8")),
    )  # fmt: skip
    environment.filters["marked"] = marked
    sections: list[dict[str, Any]] = [
        {
            "part": part,
            "drawings": [(drawing, inline(drawing)) for drawing in outcomes[part.name].drawings],
            "tables": outcomes[part.name].tables,
        }
        for part in parts
    ]
    shown_in = {
        id(row): part.name
        for part in parts
        if outcomes[part.name].drawings or outcomes[part.name].tables
        for row in outcomes[part.name].claims
    }
    tally = Counter(row.finding.verdict for row in claims)
    return environment.get_template("report.html.j2").render(
        paper=[section for section in sections if not section["part"].beyond_the_paper],
        beyond=[section for section in sections if section["part"].beyond_the_paper],
        claims=[(row, shown_in.get(id(row))) for row in claims],
        tally=[(MARKS[verdict], BADGES[verdict], tally[verdict]) for verdict in Verdict],
        badges=BADGES,
        marks=MARKS,
        how=HOW,
        complete=all(part in parts for part in PARTS if part.by_default),
        manifest=manifest,
    )


def marked(text: Any) -> Any:
    """Text as HTML, the paper's symbols set as symbols."""
    import markupsafe

    return markupsafe.Markup(str(markupsafe.escape(text)).replace("σ_a", "σ<sub>a</sub>"))


def inline(drawing: Drawing) -> str:
    """A figure as a data address, so that the page needs no other file."""
    from bootleader.plots import write_to

    buffer = io.BytesIO()
    write_to(drawing.figure, buffer)
    return "data:image/svg+xml;base64," + base64.b64encode(buffer.getvalue()).decode()


def claims_markdown(claims: Sequence[Judged]) -> str:
    """The claims table for a README: what the paper says, what was measured, and the verdict."""
    rows = [(row.claim.where, row.claim.statement, _seen(row), MARKS[row.finding.verdict]) for row in claims]
    return markdown(("where", "the paper says", "measured", "verdict"), rows)


def _seen(row: Judged) -> str:
    return f"{row.finding.measured}. **{row.finding.instead}**" if row.finding.instead else row.finding.measured


def markdown(header: Iterable[Any], rows: Iterable[Iterable[Any]]) -> str:
    r"""A table in Markdown.

    Examples
    --------
    >>> print(markdown(["a", "b"], [[1, "x|y"]]), end="")
    | a | b |
    |---|---|
    | 1 | x\|y |
    """
    names = list(header)
    lines = [names, *rows]
    written = ["| " + " | ".join(_escaped(entry) for entry in line) + " |" for line in lines]
    return "\n".join([written[0], "|---" * len(names) + "|", *written[1:]]) + "\n"


def _escaped(entry: Any) -> str:
    return str(entry).replace("|", "\\|").replace("\n", " ")
