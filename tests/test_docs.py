"""The documents are true: their code runs, their links resolve, and the API reference has every public name."""

from __future__ import annotations

import itertools
import json
import re
import runpy
import shutil
import sys
from pathlib import Path
from types import ModuleType

import markdown
import pytest

import bootleader.random
from tests.helpers import import_file, run_python

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
FROM_ROOT = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")]
PAGES = [page for page in (*FROM_ROOT, *sorted(DOCS.rglob("*.md"))) if page.exists()]
PROGRAMS = sorted((DOCS / "gallery").glob("*.py"))
NOTEBOOKS = sorted((DOCS / "notebooks").glob("*.ipynb"))
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)")
FILE = re.compile(r"(?<![\w/.])((?:[\w-]+/)+[\w-]+\.(?:py|md|ya?ml|toml))\b")
BASES = (ROOT, DOCS, DOCS / "api", ROOT / "src" / "bootleader")
EXAMPLES = {
    "src/bootleader/policies/plain_noise.py",
    "src/bootleader/bandits/families/uniform_rewards.py",
}  # of new files


build = import_file(DOCS / "build.py", "docs_build")
refresh = import_file(DOCS / "refresh.py", "docs_refresh")
mathml = import_file(DOCS / "extensions" / "mathml.py", "docs_mathml")
rst_roles = import_file(DOCS / "extensions" / "rst_roles.py", "docs_rst_roles")


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def blocks_of(page: Path) -> list[tuple[int, str]]:
    """(line, code) of the page's Python blocks."""
    text = page.read_text(encoding="utf-8")
    return [(text.count("\n", 0, found.start(1)), found.group(1)) for found in BLOCK.finditer(text)]


@pytest.mark.parametrize("page", [page for page in PAGES if blocks_of(page)], ids=name_of)
def test_the_code_of_a_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    module = ModuleType(f"page_{page.stem}")
    monkeypatch.setitem(sys.modules, module.__name__, module)  # a dataclass looks its module up
    for line, code in blocks_of(page):
        exec(compile("\n" * line + code, str(page), "exec"), module.__dict__)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_the_links_of_a_page_resolve(page):
    missing = [
        target for target in LINK.findall(page.read_text(encoding="utf-8")) if not (page.parent / target).exists()
    ]
    assert missing == []


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_the_files_that_a_page_names_exist(page):
    named = {path for path in FILE.findall(page.read_text(encoding="utf-8")) if path not in EXAMPLES}
    assert [path for path in sorted(named) if not any((base / path).exists() for base in BASES)] == []


def test_the_runner_finds_code():
    assert len(blocks_of(DOCS / "custom-policy.md")) >= 2


def test_the_runner_reports_an_error(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("text\n\n```python\nx = 1\n```\n\n```python\nassert x == 2\n```\n")
    (first_line, first), (second_line, second) = blocks_of(page)
    assert (first_line, second_line) == (3, 7)
    namespace: dict[str, object] = {}
    exec(first, namespace)
    with pytest.raises(AssertionError):
        exec(second, namespace)


# Figures in sentences -------------------------------------------------------------------------------------------------


def tables_of(*names: str) -> str:
    """All generated tables of these pages."""
    return "".join(found[0] for name in names for found in refresh.BLOCK.finditer((DOCS / name).read_text("utf-8")))


@pytest.mark.parametrize(
    ("page", "heading"),
    [
        ("which-policy.md", "## In short"),
        ("which-policy.md", "How to read it:"),
        ("where-it-loses.md", "What the losses have in common:"),
        ("best-arm.md", "- Uniform pulls"),
    ],
)
def test_the_numbers_of_a_recommendation_are_in_the_tables(page, heading):
    """So that a recommendation is noticed whose figures are those of an earlier table."""
    section = (DOCS / page).read_text(encoding="utf-8").split(heading)[1].split("\n## ")[0]
    tables = tables_of("which-policy.md", "where-it-loses.md", "leaderboard.md", "drift.md", "best-arm.md")
    known = set(re.findall(r"\d+\.\d+", tables))
    quoted = re.findall(r"\d+\.\d+", re.sub("`[^`]*`", "", section))
    assert quoted
    assert [number for number in quoted if number not in known] == []


@pytest.mark.parametrize("name", ["drift", "best-arm"])
def test_a_page_states_the_runs_and_rounds_of_its_part(name):
    from bootleader.paper import PARTS, Size

    (part,) = (part for part in PARTS if part.name == name)
    page = " ".join((DOCS / f"{name}.md").read_text(encoding="utf-8").split())
    assert part.size_in_words(Size()) in page


def test_the_bars_of_speed_are_those_of_the_benchmark():
    from benchmarks.rivals import bar_of, everyone

    rows = [[cell.strip() for cell in row.split("|")[1:-1]] for row in tables_of("speed.md").splitlines()]
    bars = {row[0]: row[2] for row in rows if len(row) == 3}
    for policy in everyone():
        bar = bar_of(policy)
        assert bars[str(policy)].startswith(f"≤ {bar:g}: " if bar is not None else ""), policy
        assert bool(bars[str(policy)]) == (bar is not None)


# The site -------------------------------------------------------------------------------------------------------------


def test_the_api_reference_has_every_public_name_once():
    written = [
        name for page in sorted((DOCS / "api").glob("*.md")) for name in build.REFERENCE.findall(build.api_page(page))
    ]
    public = [name for name in bootleader.__all__ if not name.startswith("__")]
    assert sorted(written) == sorted([*public, *(f"random.{name}" for name in bootleader.random.__all__)])


NEW_CLASSES = {  # the examples of CONTRIBUTING, in the order of its blocks
    "PlainNoise": ("policies", "plain_noise"),
    "UniformBandit": ("bandits", "families/uniform_rewards"),
}


def test_a_new_class_is_public_by_its_file_and_the_registry(tmp_path):
    """In a copy of the package: two files change for a class, the rows of the tests are the third."""
    shutil.copytree(ROOT / "src" / "bootleader", tmp_path / "bootleader", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(DOCS / "api", tmp_path / "api")
    for block, (name, (kind, file)) in enumerate(NEW_CLASSES.items()):
        package = tmp_path / "bootleader" / kind
        (package / f"{file}.py").write_text(blocks_of(ROOT / "CONTRIBUTING.md")[block][1], encoding="utf-8")
        registry = (package / "__init__.py").read_text(encoding="utf-8")
        registry = registry.replace("__all__ = [", f'__all__ = [\n    "{name}",')
        module = f"bootleader.{kind}.{file.replace('/', '.')}"
        (package / "__init__.py").write_text(f"from {module} import {name}\n{registry}", encoding="utf-8")
    listed = run_python(
        "import sys; from pathlib import Path; sys.path.insert(0, sys.argv[1]); sys.path.append(sys.argv[2])\n"
        "import build, bootleader; assert sys.argv[1] in bootleader.__file__\n"
        "print(*dir(bootleader))\n"
        "for kind in sys.argv[3:]: print(build.api_page(Path(sys.argv[1], 'api', kind + '.md')))",
        str(tmp_path),
        str(DOCS),
        *(kind for kind, _ in NEW_CLASSES.values()),
    )
    names, pages = listed.split("\n", 1)
    for name in NEW_CLASSES:
        assert name in names.split()
        assert f"::: bootleader.{name}\n" in pages


def test_the_navigation_has_every_page():
    listed = set(re.findall(r"[\w/-]+\.md", (ROOT / "mkdocs.yml").read_text(encoding="utf-8")))
    staged = {page.relative_to(DOCS).with_suffix(".md").as_posix() for page in (*DOCS.rglob("*.md"), *NOTEBOOKS)}
    root = {page.name.lower() for page in FROM_ROOT[1:] if page.exists()}
    assert listed == (staged - {"gallery/README.md"}) | {"gallery.md"} | root


@pytest.mark.parametrize(
    ("html", "found"),
    [
        ('<script src="https://cdn.example/x.js"></script>', ["loads https://cdn.example/x.js"]),
        ('<link rel="stylesheet" href="//fonts.example/a.css">', ["loads //fonts.example/a.css"]),
        ('<img src="http://example/p.png">', ["loads http://example/p.png"]),
        ('<img src="figures/fig1.png"><a href="page.html#top">', ["figures/fig1.png is missing"]),
        ('<a href="https://example.org">a link</a><a href="#here">', []),
    ],
)
def test_the_build_finds_what_is_loaded_from_elsewhere_or_missing(tmp_path, html, found):
    page = tmp_path / "page.html"
    page.write_text(html)
    assert build.problems_of(page) == found


def test_links_to_root_pages_and_notebooks_are_rewritten_for_the_site():
    text = "[a](../CONTRIBUTING.md#rules) [b](notebooks/an_agent.ipynb) [c](https://example.org/x.ipynb)"
    expected = "[a](contributing.md#rules) [b](notebooks/an_agent.md) [c](https://example.org/x.ipynb)"
    assert build.for_the_site(text, 0) == expected


def test_docstrings_become_markdown():
    text = "See :meth:`pull`, :math:`s+2`.\n\n.. math:: a +\n          b\n\nMore."
    assert rst_roles.markdown_of(text) == "See `pull`, $s+2$.\n\n$$a + b$$\n\nMore."


@pytest.mark.parametrize(
    ("text", "formulas"),
    [("$s_1$ and $$s^2$$", 2), ("`$s$` is code", 0), ("from $5 to $6", 0), (r"$\sigma_a > 1.5\,\mathrm{sd}$:", 1)],
)
def test_formulas_become_mathml(text, formulas):
    page = markdown.Markdown(extensions=[mathml.MathML()]).convert(text)
    assert page.count("<math") == formulas
    assert ("$" in page) == (formulas == 0)


# Gallery and notebooks ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.stem)
def test_a_program_of_the_gallery_draws_its_picture(program, tmp_path, monkeypatch):
    """In this process and with fewer runs: what is drawn here is not kept."""

    def small(function):
        return lambda *given, **options: function(*given, **{**options, "runs": min(options["runs"], 8)})

    monkeypatch.chdir(tmp_path)
    for name in ("simulate", "sweep"):
        monkeypatch.setattr(bootleader, name, small(getattr(bootleader, name)))
    runpy.run_path(str(program), run_name="__main__")
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
    assert [path.name for path in tmp_path.iterdir()] == [f"{program.stem}.png"]
    assert program.with_suffix(".png").exists(), "python docs/refresh.py gallery"


def test_the_gallery_page_has_every_program():
    page = build.gallery_page()
    assert len(PROGRAMS) >= 6
    for program in PROGRAMS:
        assert f"(gallery/{program.stem}.png)" in page
        assert program.read_text(encoding="utf-8").splitlines()[-1] in page


def kinds_of_outputs(cells):
    """Of each cell. What it prints may come in one part or in several, by how busy the machine is."""
    kinds = [[output["output_type"] for output in cell.get("outputs", ())] for cell in cells]
    return [[kind for kind, _ in itertools.groupby(each)] for each in kinds]


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda notebook: notebook.stem)
@pytest.mark.long
@pytest.mark.filterwarnings("default")  # of the notebook machinery; warnings of the notebook's code are in its output
def test_a_notebook_executes(notebook, tmp_path):
    executed = refresh.executed(notebook, tmp_path)  # raises if a cell does
    stored = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    assert kinds_of_outputs(executed.cells) == kinds_of_outputs(stored)
    assert any("image/png" in output.get("data", {}) for cell in stored for output in cell.get("outputs", ())) or (
        notebook.stem == "an_agent"
    )
