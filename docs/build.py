"""Build the documentation site: ``python docs/build.py`` writes ``site/index.html``.

Pages are copied to ``build/docs`` first. Links that work on the repository's web page become links that work on the
site, notebooks and gallery programs become pages, and CONTRIBUTING and CHANGELOG are added. Then the site is built
strictly: a broken link, a missing anchor or a name that the API does not have is an error. Last, every built page is
searched for anything that a browser would load from another host, and for files that are not there.
"""

from __future__ import annotations

import ast
import base64
import importlib
import json
import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
STAGED = ROOT / "build" / "docs"
SITE = ROOT / "site"
COPIED = (".md", ".png", ".svg", ".css", ".js", ".csv")
FROM_ROOT = ("CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")  # those that exist
ROW = re.compile(r"^\|[^`\n]*$", re.MULTILINE)  # of a table, without code
INTERVAL = re.compile(r"\[(-?[\d.,e+-]+), (-?[\d.,e+-]+)\](?!\()")
NAMES_OF = re.compile(r"^::: names of (?P<package>[\w.]+)$", re.MULTILINE)
REFERENCE = re.compile(r"^::: bootleader\.((?:random\.)?\w+)$", re.MULTILINE)
ROOT_LINK = re.compile(r"\]\((?:\.\./)+(?P<name>CONTRIBUTING|CHANGELOG|SECURITY)\.md")


def main() -> int:
    stage()
    failed = build()
    found = [
        f"{page.relative_to(SITE)}: {problem}" for page in sorted(SITE.rglob("*.html")) for problem in problems_of(page)
    ]
    print(*found, sep="\n", end="\n" if found else "", file=sys.stderr)
    if not failed and not found:
        print(f"wrote {SITE / 'index.html'}")
    return 1 if failed or found else 0


def build() -> bool:
    """Build the staged pages. Return whether it failed."""
    shutil.rmtree(SITE, ignore_errors=True)
    paths = [str(DOCS / "extensions"), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths)), "NO_COLOR": "1"}
    command = [sys.executable, "-m", "zensical", "build", "--strict", "--clean"]
    done = subprocess.run(command, cwd=ROOT, env=environment, check=False, capture_output=True, text=True)
    if done.returncode:
        print(done.stdout, done.stderr, file=sys.stderr)
    return done.returncode != 0


# Staging -------------------------------------------------------------------------------------------------------------


def stage() -> None:
    """Write every page of the site to ``build/docs``."""
    shutil.rmtree(STAGED, ignore_errors=True)
    for source in sorted(DOCS.rglob("*")):
        name = source.relative_to(DOCS)
        if source.name == "README.md":
            continue  # for readers of the repository
        if source.suffix == ".md":
            _write(STAGED / name, for_the_site(api_page(source), len(name.parts) - 1))
        elif source.suffix == ".ipynb":
            _write(STAGED / name.with_suffix(".md"), notebook_page(source, STAGED / name.parent))
        elif source.suffix in COPIED:
            (STAGED / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, STAGED / name)
    for name in FROM_ROOT:
        if (ROOT / name).exists():
            text = (ROOT / name).read_text(encoding="utf-8").replace("](docs/", "](")
            _write(STAGED / name.lower(), text)
    _write(STAGED / "gallery.md", gallery_page())


def api_page(source: Path) -> str:
    """A page with ``::: names of PACKAGE`` replaced by the package's public names that no other page describes."""
    text = source.read_text(encoding="utf-8")
    if not NAMES_OF.search(text):
        return text
    elsewhere = {name for page in source.parent.glob("*.md") for name in REFERENCE.findall(page.read_text("utf-8"))}

    def references(found: re.Match[str]) -> str:
        names = importlib.import_module(found["package"]).__all__
        return "\n\n".join(f"::: bootleader.{name}" for name in names if name not in elsewhere)

    return NAMES_OF.sub(references, text)


def for_the_site(text: str, depth: int) -> str:
    """Point links at what the site has, and keep intervals in tables on one line.

    Examples
    --------
    >>> for_the_site("[a](../../CONTRIBUTING.md#x) [b](../notebooks/n.ipynb)", 1)
    '[a](../contributing.md#x) [b](../notebooks/n.md)'
    """
    text = ROW.sub(lambda row: INTERVAL.sub("[\\1,\N{NO-BREAK SPACE}\\2]", row[0]), text)
    text = text.replace("](gallery/README.md", "](gallery.md")
    text = ROOT_LINK.sub(lambda found: f"]({'../' * depth}{found['name'].lower()}.md", text)
    return re.sub(r"(\]\([^)\s:]+)\.ipynb", r"\1.md", text)


def notebook_page(source: Path, folder: Path) -> str:
    """A notebook as a page. Its pictures are written to ``folder``."""
    parts = [f"*This page is the notebook [{source.name}]({source.name}); `make test` executes it.*"]
    cells = json.loads(source.read_text(encoding="utf-8"))["cells"]
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, folder / source.name)
    for place, cell in enumerate(cells):
        text = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(for_the_site(text, 1))
        elif cell["cell_type"] == "code":
            parts.append(f"```python\n{text}\n```")
            for turn, output in enumerate(cell["outputs"]):
                parts.append(_output(output, folder / f"{source.stem}-{place}-{turn}.png"))
    title, *rest = parts[1:]
    return "\n\n".join([title, parts[0], *rest]) + "\n"


def _output(output: dict[str, Any], picture: Path) -> str:
    data = output.get("data", {})
    if "image/png" in data:
        picture.write_bytes(base64.b64decode("".join(data["image/png"])))
        return f"![Output of the cell above]({picture.name})"
    if "text/html" in data:
        table = re.sub(r"<style.*?</style>", "", "".join(data["text/html"]), flags=re.DOTALL)
        return '<div class="frame">' + re.sub(r"\n\s*", "", table.replace(' border="1"', "")) + "</div>"
    text = "".join(output.get("text", data.get("text/plain", ""))).rstrip()
    return f"```{{ .text .output }}\n{text}\n```"


def gallery_page() -> str:
    """Every program of the gallery under its picture. A program's docstring is the heading and the words."""
    parts = ["# Gallery", "Each picture is made by the program below it. `make test` runs every program."]
    for source in sorted((DOCS / "gallery").glob("*.py")):
        code = source.read_text(encoding="utf-8")
        title, _, words = (ast.get_docstring(ast.parse(code)) or source.stem).partition("\n")
        program = code.split('"""\n', 2)[-1].strip()
        parts += [f"## {title.rstrip('.')}", words.strip(), f"![{title}](gallery/{source.stem}.png)"]
        parts.append(f'```python title="{source.name}"\n{program}\n```')
    return "\n\n".join(filter(None, parts)) + "\n"


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


# Checks --------------------------------------------------------------------------------------------------------------


class _Addresses(HTMLParser):
    """Collect what a browser loads, and where a reader may go."""

    def __init__(self) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.linked: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Look at the attributes of one tag."""
        values = dict(attributes)
        loaded = [values.get("src"), values.get("srcset"), values.get("data"), values.get("poster")]
        if tag == "link" and values.get("rel") not in ("canonical", "next", "prev", "edit", "alternate"):
            loaded.append(values.get("href"))
        self.loaded += filter(None, loaded)
        self.linked += filter(None, [values.get("href") if tag == "a" else None])


def problems_of(page: Path) -> list[str]:
    """What a built page loads from other hosts, and what it loads or links to that is not there."""
    parser = _Addresses()
    parser.feed(page.read_text(encoding="utf-8"))
    outside = [address for address in parser.loaded if re.match(r"(?:https?:)?//", address)]
    inside = [
        address for address in (*parser.loaded, *parser.linked) if not re.match(r"[a-z]+:|/|#", address)
    ]  # an absolute path, as in the page for errors, needs a server
    missing = [address for address in inside if not (page.parent / unquote(urlsplit(address).path)).exists()]
    return [f"loads {address}" for address in outside] + [f"{address} is missing" for address in missing]


if __name__ == "__main__":
    sys.exit(main())
