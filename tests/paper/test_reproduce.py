"""The reproduction at a small size: files, report, resuming, and parts that are already in the folder."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from bootleader.paper import PARTS, Size, _run_cells, reproduce
from bootleader.paper._cell_cache import CellCache
from bootleader.paper._report_part import Outcome
from bootleader.paper.parts import fig1, fig3, robustness, table1, tails
from bootleader.paper.parts import formula_checks as formulas
from bootleader.paper.report import claims_markdown
from bootleader.paper.reproduce import chosen_parts
from tests.helpers import NoWork
from tests.paper.made_results import made_results

SMALL = Size(runs=16, rounds=400, seed=1)
NAMES = ("fig1", "theorem1", "formulas")
ONLY_WHEN_NAMED = ("robustness", "linear", "leaderboard", "drift", "best-arm", "tails")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    out = tmp_path_factory.mktemp("results")
    claims = reproduce.reproduce(NAMES, out, SMALL, progress=False)
    return out, claims


class Loads(HTMLParser):
    """Everything that a browser would fetch, and every tag left open."""

    def __init__(self):
        super().__init__()
        self.fetched, self.ids, self.links = [], set(), []

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if "id" in given:
            self.ids.add(given["id"])
        self.fetched += [given[name] for name in ("src", "srcset", "data", "poster") if name in given]
        if tag == "link":
            self.fetched.append(given.get("href"))
        if tag == "a":
            self.links.append(given["href"])


def test_the_report_is_one_self_contained_page(made):
    page = (made[0] / "report.html").read_text(encoding="utf-8")
    loads = Loads()
    loads.feed(page)
    assert loads.fetched
    assert all(address.startswith("data:image/svg+xml;base64,") for address in loads.fetched)
    assert "<script src" not in page
    assert not re.search(r"@import|url\(", page)
    assert {link.removeprefix("#") for link in loads.links} <= loads.ids


def test_the_report_shows_every_claim_with_its_verdict_and_says_that_it_is_small(made):
    out, claims = made
    page = (out / "report.html").read_text(encoding="utf-8")
    assert page.count('class="badge') == len(claims)
    assert "Not full size" in page
    assert (out / "claims.md").read_text(encoding="utf-8").startswith(f"{SMALL.remark()}.\n\n| where |")
    assert "1.5 and 400 here" in page  # figure 1's horizon is the one that was played


def test_a_claim_that_does_not_hold_says_what_is_seen_instead_wherever_it_is_shown(made):
    import pandas as pd

    out, claims = made
    page = (out / "report.html").read_text(encoding="utf-8")
    table = pd.read_csv(out / "claims.csv", keep_default_na=False)
    text = (out / "claims.md").read_text(encoding="utf-8")
    sentences = [row.finding.instead for row in claims]
    assert any(sentences)
    assert all(bool(row.finding.instead) == (row.finding.verdict.value != "holds") for row in claims)
    assert list(table["instead"]) == sentences
    assert page.count('<p class="instead">') == len([words for words in sentences if words])
    assert all(f"**{words}**" in text for words in sentences if words)


def test_a_claim_links_to_the_part_that_shows_it(made):
    out, claims = made
    page = (out / "report.html").read_text(encoding="utf-8")
    assert page.count('<td data-label="Where"><a href="#') == len(claims)
    assert '<a href="#fig1">§2.1, fig. 1</a>' in page
    assert '<a href="#theorem1">§3.1, theorem 1</a>' in page
    assert '<a href="#formulas">Appendix B, lemma 4</a>' in page


def analysed(part, size, monkeypatch):
    """A part's outcome from made-up regret; table 1, which measures the memory of real runs, plays few rounds."""
    monkeypatch.setattr(table1, "HORIZONS", tuple(range(100, 1_000, 100)))
    monkeypatch.setattr(tails, "RUNS", 1_000)
    return part.analyse(size, made_results(part.cells(size), lambda cell, t: 5.0 * np.log(1.0 + t)))


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.name)
def test_figures_say_when_they_are_not_full_size_and_columns_are_snake_case(part, monkeypatch):
    def warnings(outcome):
        texts = [[text.get_text() for text in drawing.figure.texts] for drawing in outcome.drawings]
        return [[text for text in written if text.startswith("Not full size")] for written in texts]

    small = analysed(part, SMALL, monkeypatch)
    drawn = warnings(small)
    assert bool(drawn) == (part.name not in ("table1", "table2", "formulas"))
    for found in drawn:
        (words,) = found
        assert words == SMALL.remark() or part.name in ("weights", *ONLY_WHEN_NAMED)  # sizes of their own
    if drawn:
        assert warnings(analysed(part, Size(), monkeypatch)) == [[] for _ in drawn]
    frames = [*small.numbers.values(), *(table.data for table in small.tables)]
    assert frames
    for frame in frames:
        assert all(re.fullmatch("[a-z][a-z0-9]*(_[a-z0-9]+)*", column) for column in frame.columns), list(frame.columns)


def test_the_remark_names_both_sizes():
    assert SMALL.remark() == "Not full size: 16 runs of 400 rounds (full size: 500 runs of 10,000 rounds)"
    assert Size().remark() == ""


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.name)
def test_a_part_says_when_its_cells_are_not_those_of_the_full_size(part):
    assert part.remark(Size(seed=3)) == ""
    remark = part.remark(Size(quick=True))
    assert bool(remark) == (part.name not in ("table1", "formulas"))  # their size does not change
    if remark:
        assert remark == f"{part.size_in_words(Size(quick=True))} (full size: {part.size_in_words(Size())})"


def test_the_size_of_a_part_is_that_of_its_cells():
    sizes = {part.name: part.size_in_words(Size()) for part in PARTS}
    assert sizes["fig1"] == SMALL.in_words().replace("16", "500").replace("400", "10,000")  # T/2 and T/4 are not named
    assert sizes["weights"] == "500 runs of 2,500 rounds, 2,000 runs of 1,000 rounds"
    assert sizes["leaderboard"] == "2,000 runs of 10,000 to 50,000 rounds"
    assert sizes["table2"] == "timed runs of up to 10,000 rounds"
    assert sizes["formulas"] == ""


def test_the_documentation_lists_every_part_with_its_size_and_how_long_it_takes():
    page = (Path(__file__).parents[2] / "docs" / "reproduction.md").read_text(encoding="utf-8")
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in page.splitlines() if line.startswith("| `")]
    expected = [[f"`{part.name}`", part.size_in_words(Size()), part.takes] for part in PARTS]
    assert [[name, size, takes] for name, _, size, takes in rows] == expected
    assert all(part.takes for part in PARTS if not part.by_default)


def test_files_beside_the_report(made):
    names = {path.name for path in made[0].iterdir()}
    wanted = {"fig1.svg", "fig1.png", "fig1.csv", "theorem1.svg", "theorem1.csv", "claims.csv", "claims.md"}
    assert wanted | {"manifest.json", "report.html", "cells"} <= names
    assert not [name for name in names if "unfinished" in name]


def test_manifest(made):
    manifest = json.loads((made[0] / "manifest.json").read_text())
    assert manifest["seed"] == 1
    assert manifest["size"] == {"runs": 16, "rounds": 400, "quick": False, "full": False}
    assert set(manifest["parts"]) == set(NAMES)
    assert manifest["parts"]["fig1"]["simulation_processor_seconds"] > 0
    assert manifest["machine"]["cores"] >= 1
    assert manifest["command"].startswith(
        f"bootleader reproduce {' '.join(NAMES)} --runs 16 --rounds 400 --seed 1 --out "
    )
    assert str(made[0]) in manifest["command"]


def test_parts_that_are_already_there_stay_as_they_were_and_are_not_played_again(made, monkeypatch):
    out, claims = made
    before = {name: (out / name).read_bytes() for name in ("fig1.csv", "fig1.svg", "theorem1.csv", "theorem1.svg")}
    monkeypatch.setattr(_run_cells, "play", lambda *_: pytest.fail("a finished cell was played again"))
    again = reproduce.reproduce(["fig1"], out, SMALL, progress=False)
    assert again == claims[: len(again)]
    assert {name: (out / name).read_bytes() for name in before} == before
    assert 'id="theorem1"' in (out / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(("others", "shown"), [((), True), ((fig3.PART,), False)])
def test_a_part_without_cells_is_shown_if_all_default_parts_are(made, monkeypatch, others, shown):
    monkeypatch.setattr(reproduce, "PARTS", (fig1.PART, formulas.PART, *others))
    results = made_results(fig1.PART.cells(SMALL), lambda cell, t: 1.0)
    parts = reproduce.shown_parts([fig1.PART], SMALL, CellCache(made[0] / "cells"), results)
    assert parts == ([fig1.PART, formulas.PART] if shown else [fig1.PART])


def test_claims_as_markdown_have_one_row_each(made):
    lines = claims_markdown(made[1]).splitlines()
    assert len(lines) == 2 + len(made[1])
    assert all(line.count("|") - line.count("\\|") == 5 for line in lines)


def test_parts_are_chosen_by_name_and_some_only_when_named():
    assert [part.name for part in chosen_parts([])] == [p.name for p in PARTS if p.name not in ONLY_WHEN_NAMED]
    assert [part.name for part in chosen_parts(["robustness", "fig1"])] == ["fig1", "robustness"]
    with pytest.raises(ValueError, match="unknown part 'fig4'"):
        chosen_parts(["fig4"])


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.name)
def test_every_part_names_its_cells_without_playing_them(part):
    full, small = part.cells(Size()), part.cells(SMALL)
    assert len({cell.key for cell in full}) == len(set(full))
    if not any(cell.timed for cell in full):
        assert not set(full) & set(small)


def test_full_size_is_the_papers():
    largest = max(fig3.PART.cells(Size()), key=lambda cell: cell.cost)
    assert (largest.runs, largest.rounds) == (500, 10_000)


def test_robustness_has_every_case_in_both_units_without_giro():
    cells = robustness.PART.cells(Size())
    assert len(cells) == 2 * 14 * 12
    assert all(cell.runs == 2_000 for cell in cells)
    assert not any(type(cell.policy).__name__ == "Giro" for cell in cells)


def test_equivariant_policies_do_as_well_in_any_unit():
    from bootleader import AffineBandit, simulate

    for name in ("gauss2", "bern10", "revenue5", "student-t3", "exp10"):
        bandit = robustness.SUITE[name].bandit
        settings = {"rounds": 200, "runs": 8}
        plain = simulate(robustness.ADAPTIVE, bandit, **settings)
        other = simulate(robustness.ADAPTIVE, AffineBandit(bandit, 1000.0, -1e6), **settings)
        assert other.final_regret == pytest.approx(1000.0 * plain.final_regret, rel=1e-6), name


def test_a_claim_on_nothing_is_undecided_wherever_it_is_shown(tmp_path):
    import pandas as pd

    nothing = made_results(fig1.PART.cells(SMALL), lambda cell, t: 0.0)
    claims = fig1.judge(SMALL, nothing)
    reproduce.write_claims(claims, tmp_path, SMALL.remark())
    assert set(pd.read_csv(tmp_path / "claims.csv")["verdict"]) == {"undecided"}
    assert (tmp_path / "claims.md").read_text(encoding="utf-8").count("undecided |") == len(claims)
    seconds = {"fig1": {"simulation_processor_seconds": 0.0, "analysis_seconds": 0.0}}
    manifest = reproduce.describe(SMALL, [fig1.PART], seconds, 0.0, None, None) | {"command": ""}
    page = reproduce.render([fig1.PART], {"fig1": Outcome(claims=claims)}, claims, manifest)
    assert page.count('class="badge undecided"') == len(claims)


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs a folder that even root cannot write to")
def test_a_folder_that_cannot_be_written_to_is_noticed_before_anything_is_simulated(monkeypatch):
    monkeypatch.setattr(_run_cells, "simulate", lambda *_, **__: pytest.fail("something was simulated"))
    with pytest.raises(ValueError, match="cannot write to the folder /proc"):
        reproduce.reproduce(["fig1"], "/proc", SMALL, executor=NoWork(), progress=False)


def test_a_cell_folder_that_cannot_be_written_to_is_noticed_before_anything_is_simulated(tmp_path, monkeypatch):
    monkeypatch.setattr(_run_cells, "simulate", lambda *_, **__: pytest.fail("something was simulated"))
    (tmp_path / "cells").write_text("a file where the folder should be")
    with pytest.raises(ValueError, match=r"cannot write to the folder .*cells"):
        reproduce.reproduce(["fig1"], tmp_path, SMALL, executor=NoWork(), progress=False)
