"""The report: what it says, and how a browser shows it, wide and narrow, light and dark."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bootleader.paper import PARTS, Part, Size
from bootleader.paper._cell_cache import Results
from bootleader.paper._claims import Claim, Finding, Judged, Verdict
from bootleader.paper._light_dark_figure import BACKGROUND, CONTRAST, ON_CELLS, adaptive, contrast, dark_variant
from bootleader.paper._mathml import typeset
from bootleader.paper._report_part import Drawing, Outcome, Table
from bootleader.paper.report import KEY_CLAIMS, MARKS, key_claims_markdown, marked, numeric_columns, render
from bootleader.plots import Curve, ratio_map, regret_panels, style_of
from bootleader.plots._regret_ratios import ON_CELLS as plots_on_cells
from tests.browser import Browser

ROOT = Path(__file__).resolve().parents[2]
WIDTHS = (1400, 420)
LONG = "E exp(u χ²₁) = (1 − u)^(−1/2) with u = (3/2r)², and s ≥ 256 r² (σ/Δ)² log T"
SEEN = " ".join(f"{'word ' * n}is 2.345 [1.234, 3.456]." for n in range(12))  # an interval at many places of a line
MANIFEST = {
    "bootleader": "0.0", "python": "3", "libraries": {"numpy": "2"}, "seed": 0, "command": "x",
    "machine": {"processor": "p", "cores": 2, "runs_played_on": "2 threads"},
    "size": {"runs": 8, "rounds": 200, "quick": False, "full": False},
    "parts": {"first": {"cells": 1, "largest": {"runs": 8, "rounds": 200}, "simulation_processor_seconds": 1.0,
                        "analysis_seconds": 0.1}},
}  # fmt: skip


def figure(panels):
    x = np.arange(1, 50)
    curves = {name: Curve(x, np.log(1.0 + x) * (place + 1), np.full(49, 0.1)) for place, name in enumerate("AB")}
    return regret_panels({f"panel {n}": curves for n in range(panels)}, {n: style_of(p) for p, n in enumerate("AB")})


def invented():
    """Parts with a figure of each kind, a wide table, and claims of every verdict, long and short."""

    def table(columns):
        """A table so wide that it needs smaller letters, or rows that become blocks."""
        values = {f"policy number {n}": ["1.25 [1.01, 1.49]", "1,234.5 [1,000, 1,500]"] for n in range(columns)}
        frame = pd.DataFrame({"case": ["Gaussian", "exponential"], **values})
        return Table(name=f"t{columns}", title="A table", shown=frame, data=frame)

    map_ = ratio_map({"map": {row: dict.fromkeys("abcdef", 2.0) for row in ("one", "two")}}, "ratio")
    claims = [
        Judged(
            Claim(f"§{place}, fig. 1", f"{LONG} ({place}).", f"Test {place}: {LONG}."),
            Finding(verdict, f"ReBoot 1.5: R(1.5) / R({place}): 1.234 [1.123, 1.345]; {LONG}", SEEN),
        )
        for place in range(3)
        for verdict in Verdict
    ]  # fmt: skip
    outcomes = {
        "first": Outcome([Drawing("first", figure(1), "A caption with σ_a.")], [], {}, claims[:5]),
        "second": Outcome([Drawing("second", figure(3), "Wide.")], [], {}, claims[5:]),
        "third": Outcome([], [table(3), table(6), table(12)], {}, []),
        "fourth": Outcome([Drawing("fourth", map_, "Map.")], [], {}, []),
    }
    parts = [
        Part(name, f"Part {name}. Its title", lambda size: [], lambda size, results: Outcome(), name == "fourth")
        for name in outcomes
    ]
    return parts, outcomes, claims


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """Invented parts, and the real claims and table that need no simulation."""
    parts, outcomes, claims = invented()
    real = next(part for part in PARTS if part.name == "formulas")
    outcomes["formulas"] = real.analyse(Size(runs=8, rounds=200), Results())
    path = tmp_path_factory.mktemp("report") / "report.html"
    claims = [*claims, *outcomes["formulas"].claims]
    path.write_text(render([*parts, real], outcomes, claims, MANIFEST), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def browser():
    with Browser() as found:
        yield found


@pytest.mark.browser
@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_is_cut_off(browser, page, width, dark):
    browser.open(page, width, dark=dark)
    assert browser.evaluate("document.documentElement.scrollWidth") <= width
    wider = browser.evaluate(
        "[...document.querySelectorAll('main *, header *')].filter(e => !e.closest('.frame, thead, math')"
        f" && e.getBoundingClientRect().right > {width} + 0.5).map(e => e.outerHTML.slice(0, 200))"
    )
    assert wider == []
    cut = browser.evaluate(
        "[...document.querySelectorAll('td, p, h2, h3, .alone, .filters')]"
        ".filter(e => e.scrollWidth > e.clientWidth + 1).map(e => e.outerHTML.slice(0, 200))"
    )
    assert cut == []


@pytest.mark.browser
@pytest.mark.parametrize("width", WIDTHS)
def test_an_interval_stays_on_one_line(browser, page, width):
    browser.open(page, width)
    heights = browser.evaluate("[...document.querySelectorAll('.nb')].map(e => e.getClientRects().length)")
    assert len(heights) > 20
    assert set(heights) == {1}


@pytest.mark.browser
@pytest.mark.parametrize("width", WIDTHS)
def test_counts_and_figures_come_before_claims(browser, page, width):
    browser.open(page, width)
    tops = [
        browser.evaluate(f"document.querySelector('{what}').getBoundingClientRect().top")
        for what in (".tally", "figure img", "#claims")
    ]
    assert tops == sorted(tops)
    assert tops[0] < 900  # on the first screen
    assert tops[1] < 1200


def shown(browser):
    return browser.evaluate(
        "[...document.querySelectorAll('.claims tbody tr')].filter(e => e.offsetHeight > 0)"
        ".map(e => [e.dataset.verdict, e.dataset.part])"
    )


@pytest.mark.browser
def test_claims_are_filtered_by_verdict_and_part(browser, page):
    browser.open(page, 1400)
    everything = shown(browser)
    parts = {part for _, part in everything}
    assert {"first", "second", "formulas"} == parts
    click = "document.querySelector('.filters button[data-verdict=\"{}\"]').click()"
    browser.evaluate(click.format("does not hold"))
    assert shown(browser) == [row for row in everything if row[0] == "does not hold"]
    browser.evaluate(click.format("holds"))
    wanted = [row for row in everything if row[0] in ("does not hold", "holds")]
    assert shown(browser) == wanted
    select = "(s => {{ s.value = '{}'; s.dispatchEvent(new Event('change')); }})(document.querySelector('select'))"
    browser.evaluate(select.format("first"))
    assert shown(browser) == [row for row in wanted if row[1] == "first"]
    assert browser.evaluate("document.querySelector('output').textContent").startswith(f"{len(shown(browser))} of ")
    browser.evaluate("document.querySelector('[data-all]').click()")
    assert shown(browser) == everything
    browser.evaluate("document.querySelector('.tally a[data-verdict=\"holds in part\"]').click()")
    assert shown(browser) == [row for row in everything if row[0] == "holds in part"]


@pytest.mark.browser
def test_numbers_are_aligned_on_the_right(browser, page):
    browser.open(page, 1400)
    columns = browser.evaluate(
        "[...document.querySelectorAll('#third table:first-of-type tbody tr:first-child td')]"
        ".map(e => getComputedStyle(e).textAlign)"
    )
    assert columns[0] == "start"
    assert set(columns[1:]) == {"right"}


@pytest.mark.browser
def test_no_request_leaves_the_page_and_nothing_fails(browser, page):
    browser.requests.clear()
    browser.errors.clear()
    browser.open(page, 1400)
    browser.evaluate("new Promise(done => setTimeout(done, 200))")
    assert [address[:80] for address in browser.requests if not address.startswith(("data:", "file:"))] == []
    assert sum(address.startswith("file:") for address in browser.requests) == 1
    assert browser.errors == []


@pytest.mark.browser
def test_the_page_follows_dark_mode(browser, page):
    colours = []
    for dark in (False, True):
        browser.open(page, 1400, dark=dark)
        colours.append(browser.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert colours == ["rgb(255, 255, 255)", f"rgb{tuple(bytes.fromhex(BACKGROUND[1:]))}"]


def test_dark_colours_have_contrast_and_keep_pictures_apart():
    for colour in ("#0072b2", "#003f66", "#d55e00", "#000000", "#222222", "#b00020", "#6b4c9a"):
        assert contrast(dark_variant(colour)) >= CONTRAST - 0.05
    assert adaptive('<svg><path style="fill: #ffffff"/></svg>').count("#ffffff") == 1  # its definition
    assert plots_on_cells == ON_CELLS
    assert 'style="fill: #202020"' in adaptive('<svg><g style="fill: #202020"/></svg>')


@pytest.mark.parametrize(
    ("text", "formulas"),
    [
        ("as efficient as TS, an offset of 1.5", []),
        ("ε-greedy, ReBoot’s, e.g. this", []),
        ("σ_a = 1.5 is", ["σ a = 1.5"]),
        ("O(KT) time, Giro O(aT²).", ["O ( K T )", "O ( a T 2 )"]),
        ("at most Σ Δ [6 + (C1 + C2/Δ²) log T] for", ["∑ Δ [ 6 + ( C 1 + C 2 / Δ 2 ) log T ]"]),
        ("is (RSS + PRSS)/(s+2)², so", ["( RSS + PRSS ) / ( s + 2 ) 2"]),
        ("N(offset, 1) and N(0, 1)", ["N ( 0 , 1 )"]),
        ("a_{k,s,1} is at most 1/T", ["a k , s , 1", "1 / T"]),
        ("s = 885 a_{k,s,3} is", ["s = 885", "a k , s , 3"]),
        ("exp(−(t/8) min{1, t/n})", ["exp ( − ( t / 8 ) min { 1 , t / n } )"]),
    ],
)
def test_formulas_are_found_and_prose_is_left_alone(text, formulas):
    found = re.findall("<math>(.*?)</math>", typeset(text))
    assert [" ".join(re.sub("<[^>]+>", " ", markup).split()) for markup in found] == formulas
    shown = re.sub("<[^>]+>", "", typeset(text))
    assert re.sub("[^a-zA-Z]", "", shown) == re.sub("[^a-zA-Z]", "", text)  # nothing is lost


def test_markup_in_a_text_is_escaped():
    assert str(marked("<script>1 [0, 2]</script> & σ")) == (
        "&lt;script&gt;1 [0, 2]&lt;/script&gt; &amp; <math><mi>σ</mi></math>"
    ).replace("1 [0, 2]", '<span class="nb">1 [0, 2]</span>')


@pytest.mark.parametrize("value", ["1.5 [1.2, 1.8]", "0.15 % [0.03, 0.44]", "95 %", "1,234 [1,000, inf]", "nan [0, 0]"])
def test_what_must_stay_on_one_line_is_found(value):
    assert str(marked(f"about {value}, at most")) == f'about <span class="nb">{value}</span>, at most'


def test_columns_of_numbers_are_recognised():
    frame = pd.DataFrame({"a": ["x", "1"], "b": ["1.5 [1, 2]", "–"], "c": [1, 2.5], "d": ["0.1 ms | 30 ms", "2 ms"]})
    assert numeric_columns(frame) == [False, True, True, True]


def test_every_verdict_has_a_mark():
    assert {verdict.value for verdict in Verdict} <= set(MARKS)


def test_key_claims_are_chosen_by_where_and_statement():
    finding = Finding(Verdict.HOLDS, "m")
    rows = [Judged(Claim(where, f"{beginning} and so on.", "t"), finding) for where, beginning in KEY_CLAIMS]
    other = replace(rows[0], claim=Claim("elsewhere", "Another claim.", "t"))
    table = key_claims_markdown([other, *reversed(rows)])
    assert len(table.splitlines()) == 2 + len(KEY_CLAIMS) == 12
    assert table.splitlines()[2].startswith(f"| {KEY_CLAIMS[0][0]} | {KEY_CLAIMS[0][1]}")


def test_the_readmes_claims_are_ten_of_those_in_the_documents():
    pages = [(ROOT / name).read_text(encoding="utf-8").splitlines() for name in ("README.md", "docs/claims.md")]
    readme, documents = ([line for line in page if line.startswith(("| §", "| abs", "| App"))] for page in pages)
    assert len(readme) == len(KEY_CLAIMS) == 10
    for (where, beginning), row in zip(KEY_CLAIMS, readme, strict=True):
        assert row.startswith(f"| {where} | {beginning}")
        assert documents.count(row) == 1
