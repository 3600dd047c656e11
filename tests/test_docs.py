"""Every Python block of the pages runs, in order, in one namespace a page."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)")


def blocks_of(page: Path) -> list[tuple[int, str]]:
    """(line, code) of the page's Python blocks."""
    text = page.read_text(encoding="utf-8")
    return [(text.count("\n", 0, found.start(1)), found.group(1)) for found in BLOCK.finditer(text)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_code_of_a_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    module = ModuleType(f"page_{page.stem}")
    monkeypatch.setitem(sys.modules, module.__name__, module)  # a dataclass looks its module up
    for line, code in blocks_of(page):
        exec(compile("\n" * line + code, str(page), "exec"), module.__dict__)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_links_of_a_page_lead_somewhere(page):
    missing = [
        target for target in LINK.findall(page.read_text(encoding="utf-8")) if not (page.parent / target).exists()
    ]
    assert missing == []


def test_the_runner_finds_code():
    assert len(blocks_of(ROOT / "docs" / "custom-policy.md")) >= 2


def test_the_runner_sees_an_error(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("text\n\n```python\nx = 1\n```\n\n```python\nassert x == 2\n```\n")
    (first_line, first), (second_line, second) = blocks_of(page)
    assert (first_line, second_line) == (3, 7)
    namespace: dict[str, object] = {}
    exec(first, namespace)
    with pytest.raises(AssertionError):
        exec(second, namespace)
