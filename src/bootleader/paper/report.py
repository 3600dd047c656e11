"""The report: one self-contained page, and the claims tables in Markdown."""

from __future__ import annotations

import base64
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from importlib.resources import files
from typing import Any, Final

from bootleader.paper import PARTS
from bootleader.paper._claims import Judged, Verdict
from bootleader.paper._growth_exponent import HOW
from bootleader.paper._light_dark_figure import adaptive
from bootleader.paper._mathml import typeset
from bootleader.paper._report_part import Drawing, Outcome, Part

# By value: a verdict that is not listed here is shown without a colour of its own.
BADGES: Final = {"holds": "holds", "holds in part": "part", "does not hold": "fails", "undecided": "undecided"}
MARKS: Final = {"holds": "✓", "holds in part": "◐", "does not hold": "✗", "undecided": "?"}

NORMAL_LETTERS, DENSE_LETTERS = 130, 165  # of a table's row that fit the page, in normal and in small letters
NARROW_TEXT = 24  # letters of a column of text, which may be broken into lines
WIDE: Final = 2.0  # width over height of a figure that needs the whole width of the page
NUMBER: Final = r"[-−+]?(?:\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?|inf|nan)"
INTERVAL: Final = re.compile(rf"(?<![\w.]){NUMBER}(?:(?: ?%)? \[[^\[\]]*\]| %)")
VALUE: Final = re.compile(rf"^(?P<label>.*?)[:,]? (?P<value>{NUMBER}(?: ?%)?(?: \[[^\[\]]*\])?)$")
UNIT: Final = r"(?: ?(?:%|×|ms|µs|s|k|B|KiB|MiB))?"
NUMERIC: Final = re.compile(
    rf"^(?:[<>≤≥~≈×] ?)?{NUMBER}{UNIT}(?: ?(?:\||→|±|–|to) ?{NUMBER}{UNIT})*(?: [\[(][^\[\]]*[\])])?$|^[–—-]?$"
)

# The rows of the README: (where, beginning of the statement).
KEY_CLAIMS: Final = (
    ("§2.1, fig. 1", "The vanilla residual bootstrap still has linear regret"),
    ("§2.1, fig. 1", "ReBoot has sublinear regret"),
    ("§4.1, fig. 2 left", "ReBoot’s regret does not depend on the shift"),
    ("§4.1, fig. 2 left", "Giro and PHE are sensitive to the shift"),
    ("§4.2, fig. 3 (Gaussian)", "ReBoot 1.5 has sublinear and small regret"),
    ("§4.2, fig. 3 (Gaussian)", "σ_a = 1.5 is a near-optimal choice"),
    ("§2.5; abstract", "With Gaussian weights ReBoot is as efficient as TS"),
    ("§2.5", "With Gaussian weights ReBoot’s index is N("),
    ("§3.1 and appendix A", "The theorem’s constants are those that its proof"),
    ("§2.4, practical choice", "The recommended ratio r = 1.5 is supported"),
)


def render(
    parts: Sequence[Part], outcomes: dict[str, Outcome], claims: Sequence[Judged], manifest: dict[str, Any]
) -> str:
    """Return the page as text.

    Parameters
    ----------
    parts : sequence of Part
        In the order of the report.
    outcomes : dict of str to Outcome
        By the part's name.
    claims : sequence of Judged
        The rows of the claims table.
    manifest : dict
        What the results were made with.

    Returns
    -------
    str
        HTML that loads nothing: styles, script and figures are inside.
    """
    import jinja2

    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined,
        loader=jinja2.FunctionLoader(lambda name: files("bootleader.paper").joinpath(name).read_text(encoding="utf-8")),
    )  # fmt: skip
    environment.filters |= {"marked": marked, "short": short_title}
    sections = [section(part, outcomes[part.name]) for part in parts]
    part_of = {id(row): part for part in parts for row in outcomes[part.name].claims}
    tally = Counter(row.finding.verdict.value for row in claims)
    paper = [found for found in sections if not found["part"].beyond_the_paper and found["visible"]]
    return environment.get_template("report.html.j2").render(
        figures=[found for found in paper if found["drawings"]],
        tables=[found for found in paper if not found["drawings"]],
        beyond=[found for found in sections if found["part"].beyond_the_paper],
        claims=[claim_row(row, part_of.get(id(row))) for row in claims],
        visible={found["part"].name for found in sections if found["visible"]},
        claim_parts=[part for part in parts if outcomes[part.name].claims],
        tally=[(verdict.value, tally[verdict.value]) for verdict in Verdict],
        badges={verdict.value: BADGES.get(verdict.value, "undecided") for verdict in Verdict},
        marks=MARKS,
        how=HOW,
        complete=all(part in parts for part in PARTS if part.by_default),
        manifest=manifest,
    )


def section(part: Part, outcome: Outcome) -> dict[str, Any]:
    """Return what the template needs of a part: its figures inline and its tables with their columns classified."""
    drawings = []
    for drawing in outcome.drawings:
        width, height = drawing.figure.get_size_inches()
        drawings.append({"drawing": drawing, "source": inline(drawing), "wide": bool(width > WIDE * height)})
    tables = [
        {
            "table": table,
            "columns": list(zip(map(str, table.shown.columns), numeric_columns(table.shown), strict=True)),
            "rows": list(table.shown.itertuples(index=False, name=None)),
            "kind": table_kind(table.shown),
        }
        for table in outcome.tables
    ]
    wide = bool(tables) or any(found["wide"] for found in drawings)
    return {"part": part, "drawings": drawings, "tables": tables, "wide": wide, "visible": bool(drawings or tables)}


def claim_row(row: Judged, part: Part | None) -> dict[str, Any]:
    """Return a claim with its measured figures taken apart: a label, and a value to be aligned."""
    return {
        "claim": row.claim,
        "verdict": row.finding.verdict.value,
        "measured": [measured_piece(piece) for piece in row.finding.measured.split("; ")],
        "instead": row.finding.instead,
        "part": part.name if part else "",
    }


def measured_piece(text: str) -> tuple[str, str]:
    """Return (label, value) of a measured figure; the value is empty if the text does not end in one.

    Examples
    --------
    >>> measured_piece("ReBoot 1.5: growth exponent 0.14 [0.12, 0.17]")
    ('ReBoot 1.5: growth exponent', '0.14 [0.12, 0.17]')
    >>> measured_piece("in units of s: 1 to many")
    ('in units of s: 1 to many', '')
    """
    found = VALUE.match(text)
    if found is None or not ("[" in found["value"] or text[len(found["label"])] == ":"):
        return text, ""
    return found["label"], found["value"]


def numeric_columns(frame: Any) -> list[bool]:
    """Return for each column whether it holds numbers, to be aligned on the right."""
    columns = [[str(value) for value in frame.iloc[:, place]] for place in range(frame.shape[1])]
    return [all(NUMERIC.match(text.strip()) for text in texts) and any(texts) for texts in columns]


def table_kind(frame: Any) -> str:
    """Return how a table is shown on a wide page: as it is, in smaller letters, or with every row as a block."""
    widths = [max(len(str(value)) for value in frame.iloc[:, place]) for place in range(frame.shape[1])]
    wrapped = [
        width if numeric else min(width, NARROW_TEXT)
        for width, numeric in zip(widths, numeric_columns(frame), strict=True)
    ]
    letters = sum(wrapped) + 2 * len(wrapped)
    return "" if letters <= NORMAL_LETTERS else "dense" if letters <= DENSE_LETTERS else "stacked"


def short_title(part: Part) -> str:
    """Return the beginning of a part's title: "Figure 3" of "Figure 3. Three reward shapes"."""
    return part.title.split(".")[0]


def marked(text: Any) -> Any:
    """Return text as HTML: formulas typeset, an estimate and its interval, or a percentage, kept on one line."""
    import markupsafe

    done, position = [], 0
    written = str(text)
    for found in INTERVAL.finditer(written):
        done.append(typeset(written[position : found.start()]))
        done.append(f'<span class="nb">{markupsafe.escape(found[0].replace("-", "−"))}</span>')
        position = found.end()
    done.append(typeset(written[position:]))
    return markupsafe.Markup("".join(done))


def inline(drawing: Drawing) -> str:
    """Return a figure as a data address, so that the page needs no other file."""
    return "data:image/svg+xml;base64," + base64.b64encode(adaptive(drawing.svg).encode("utf-8")).decode("ascii")


def claims_markdown(claims: Sequence[Judged]) -> str:
    """Return the claims table in Markdown: what the paper says, what was measured, and the verdict."""
    rows = [(row.claim.where, row.claim.statement, _seen(row), verdict_mark(row)) for row in claims]
    return markdown(("where", "the paper says", "measured", "verdict"), rows)


def key_claims_markdown(claims: Sequence[Judged]) -> str:
    """Return the ten rows of :data:`KEY_CLAIMS` that are among the claims, for the README."""
    chosen = []
    for where, beginning in KEY_CLAIMS:
        chosen += [row for row in claims if row.claim.where == where and row.claim.statement.startswith(beginning)]
    return claims_markdown(chosen)


def verdict_mark(row: Judged) -> str:
    """Return a verdict with its sign."""
    verdict = row.finding.verdict.value
    return f"{MARKS.get(verdict, '')} {verdict}".strip()


def _seen(row: Judged) -> str:
    return f"{row.finding.measured}. **{row.finding.instead}**" if row.finding.instead else row.finding.measured


def markdown(header: Iterable[Any], rows: Iterable[Iterable[Any]]) -> str:
    r"""Return a table in Markdown.

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
