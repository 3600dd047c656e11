"""Bring what programs compute into the documents.

    python docs/refresh.py results/       # figures and tables of a finished reproduction
    python docs/refresh.py gallery        # draw the pictures of the gallery again
    python docs/refresh.py notebooks      # execute the notebooks and keep their outputs

The first copies the figures that the documents show to docs/figures/. In README.md and docs/*.md it replaces the text
between ``<!-- from results: NAME -->`` and ``<!-- end -->`` by the file NAME of the results. The tables of claims are
replaced only by results of all parts that have claims.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
COPIED = ("fig1.png", "fig2-left.png", "fig2-right.png", "fig3.png", "theorem1.png", "weights.png", "beyond-fig2.png",
          "beyond-fig3.png", "robustness.png", "robustness-map.png", "tails.png", "leaderboard.png",
          "leaderboard-map.png", "drift.png", "best-arm.png", "linear.png", "linear-tuning.png")  # fmt: skip
BLOCK = re.compile(r"(<!-- from results: (?P<name>[\w.-]+) -->\n).*?(<!-- end -->)", re.DOTALL)
CLAIMS = ("claims.md", "key-claims.md")
CELL_SECONDS = 300  # a cell that takes longer is an error; the first simulation on a machine compiles


def refresh_results(results: Path) -> None:
    """Copy the figures and rewrite the tables."""
    for name in COPIED:
        if (results / name).exists():
            shutil.copyfile(results / name, DOCS / "figures" / name)
    for page in (ROOT / "README.md", *sorted(DOCS.glob("*.md"))):
        before = page.read_text(encoding="utf-8")
        after = BLOCK.sub(lambda block: _filled(block, results), before)
        if after != before:
            page.write_text(after, encoding="utf-8")
            print(f"rewrote {page.relative_to(ROOT)}")


def _filled(block: re.Match[str], results: Path) -> str:
    source = results / block["name"]
    if source.name in CLAIMS and not _has_all_claims(results):
        return block[0]
    return f"{block[1]}\n{source.read_text(encoding='utf-8')}\n{block[3]}" if source.exists() else block[0]


def _has_all_claims(results: Path) -> bool:
    from bootleader.paper import PARTS

    manifest = results / "manifest.json"  # a folder with tables of benchmarks only has none
    made = json.loads(manifest.read_text(encoding="utf-8"))["parts"] if manifest.exists() else {}
    return all(part.name in made for part in PARTS if part.by_default)


def draw_gallery() -> None:
    """Run every program of the gallery where its picture belongs."""
    for program in sorted((DOCS / "gallery").glob("*.py")):
        draw(program, program.parent)
        print(f"drew {program.stem}.png")


def draw(program: Path, folder: Path) -> None:
    """Run one program of the gallery, which writes its picture to the folder that it runs in."""
    subprocess.run([sys.executable, str(program)], cwd=folder, env={**os.environ, "MPLBACKEND": "Agg"}, check=True)


def execute_notebooks() -> None:
    """Execute every notebook and keep its outputs."""
    import nbformat

    for path in sorted((DOCS / "notebooks").glob("*.ipynb")):
        with tempfile.TemporaryDirectory() as folder:
            notebook = executed(path, Path(folder))
        nbformat.write(notebook, path)
        print(f"executed {path.name}")


def executed(path: Path, folder: Path) -> nbformat.NotebookNode:  # type: ignore[name-defined]  # noqa: F821
    """The notebook with the outputs of a run in ``folder``, without what differs from run to run."""
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    environment = {**os.environ, "MPLBACKEND": "module://matplotlib_inline.backend_inline"}  # pictures in the notebook
    client = NotebookClient(notebook, timeout=CELL_SECONDS, resources={"metadata": {"path": str(folder)}})
    client.execute(env=environment)
    notebook.metadata.pop("language_info", None)
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        if cell.cell_type == "code":  # a progress bar, with its times, goes to the error stream
            cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
    return notebook


if __name__ == "__main__":
    if sys.argv[1:] == ["gallery"]:
        draw_gallery()
    elif sys.argv[1:] == ["notebooks"]:
        execute_notebooks()
    elif len(sys.argv) == 2 and Path(sys.argv[1]).is_dir():
        refresh_results(Path(sys.argv[1]))
    else:
        sys.exit(
            "usage: python docs/refresh.py RESULTS (a folder that `bootleader reproduce` wrote) | gallery | notebooks"
        )
