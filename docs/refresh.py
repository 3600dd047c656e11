"""Bring figures and tables of a finished reproduction into the documents.

    python docs/refresh.py results/

copies the figures that the documents show to docs/figures/, and rewrites, in README.md and docs/*.md, whatever stands
between ``<!-- from results: NAME -->`` and ``<!-- end -->`` with the file NAME of the results.
"""

import re
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COPIED = ("fig1.png", "fig2-left.png", "fig2-right.png", "fig3.png", "theorem1.png", "weights.png", "beyond-fig2.png",
          "beyond-fig3.png", "robustness.png", "robustness-map.png")  # fmt: skip
BLOCK = re.compile(r"(<!-- from results: (?P<name>[\w.-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def main(results: Path) -> None:
    figures = ROOT / "docs" / "figures"
    figures.mkdir(exist_ok=True)
    for name in COPIED:
        if (results / name).exists():
            shutil.copyfile(results / name, figures / name)
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        before = page.read_text(encoding="utf-8")
        after = BLOCK.sub(lambda block: _filled(block, results), before)
        if after != before:
            page.write_text(after, encoding="utf-8")
            print(f"rewrote {page.relative_to(ROOT)}")


def _filled(block: re.Match[str], results: Path) -> str:
    source = results / block["name"]
    return f"{block[1]}\n{source.read_text(encoding='utf-8')}\n{block[3]}" if source.exists() else block[0]


if __name__ == "__main__":
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_dir():
        sys.exit("usage: python docs/refresh.py RESULTS (a folder that `bootleader reproduce` wrote)")
    main(Path(sys.argv[1]))
