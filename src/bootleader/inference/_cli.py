"""``bootleader answer``: the verdict on a log in a file or a store, as a table, a sentence and a page."""

from __future__ import annotations

import argparse
import csv
import re
from pathlib import Path
from typing import Any

EXAMPLES = """\
  bootleader answer log.csv
  bootleader answer clicks.csv --low 0 --high 1 --unit visit --control blue
  bootleader answer latencies.csv --minimize --out latencies.html
  bootleader answer log.csv --drift --floor 0.05
  bootleader answer log.csv --evaluate green
  bootleader answer --store sqlite:///shop.db --experiment button

log.csv has the columns arm and reward, in the order of the decisions, and probability (with which the arm was chosen)
for --drift and --evaluate; with a column holdout, also what the bandit brought over the control is answered."""
TRUTH = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False, "": False}
SEPARATORS = ",;\t"
LONGEST_LINE = 2_000  # characters


def add_options(command: Any) -> None:
    """Add the options of the command to its parser."""
    command.add_argument("log", nargs="?", metavar="log.csv", help="a CSV file with the columns arm and reward")
    command.add_argument("--store", metavar="URL", help="instead of a file: sqlite:///file.db or postgresql://...")
    command.add_argument("--experiment", metavar="NAME", help="with --store: whose log is read")
    command.add_argument("--low", type=float, help="no reward can be less; with --high the answer is exact")
    command.add_argument("--high", type=float, help="no reward can be more")
    command.add_argument("--alpha", type=float, default=0.05, help="allowed chance of ever being wrong (default: 0.05)")
    command.add_argument("--control", metavar="ARM", help="compare each arm with this one only")
    command.add_argument("--minimize", action="store_true", help="smaller rewards are better: costs, latencies")
    command.add_argument("--margin", type=float, help="arms that differ by less count as the same")
    command.add_argument("--unit", default="reward", help="what a row is, for the sentences, such as visit")
    command.add_argument("--drift", action="store_true", help="arms may have changed: answer from the probabilities")
    command.add_argument("--floor", type=float, help="least probability of any arm in any row; for --drift")
    command.add_argument("--evaluate", metavar="ARM", help="what playing this arm alone would have earned")
    page = command.add_mutually_exclusive_group()
    page.add_argument("--out", metavar="FILE", help="where to write the page (default: log-answer.html)")
    page.add_argument("--no-page", action="store_true", help="write no page")


def answer(given: argparse.Namespace, frame: Any, name: str) -> int:
    """Run the command on a log that has been read; ``name`` is for the page."""
    from bootleader._core.printable_text import printable
    from bootleader._core.validation import counted
    from bootleader.inference._answer_page import page
    from bootleader.inference._log_reader import log_of
    from bootleader.inference._off_policy import evaluate
    from bootleader.inference._verdict import holdout_verdict, verdict

    stem = re.sub(r"[^\w.-]+", "-", Path(name).stem)
    out = None if given.no_page else _writable(given.out or f"{stem}-answer.html")
    options = {"low": given.low, "high": given.high, "alpha": given.alpha, "maximize": not given.minimize}
    found = verdict(
        frame, control=given.control, margin=given.margin, unit=given.unit, drift=given.drift, floor=given.floor,
        **options,
    )  # fmt: skip
    print("\n".join(printable(line, LONGEST_LINE) for line in str(found).splitlines()))
    brought = None
    if "holdout" in frame:
        brought = holdout_verdict(frame, unit=given.unit, **options)
        print(f"\nOver the holdout: {brought.sentence}.")
    if given.evaluate is not None:
        print(f"\n{evaluate(frame, given.evaluate, low=given.low, high=given.high, alpha=given.alpha)}")
    if out is not None:
        log = log_of(frame)
        rows = log if log.holdout is None else log.only(~log.holdout)
        title = f"{name}: {counted(rows.rounds, given.unit)}, {counted(len(rows.names), 'arm')}"
        out.write_text(page(found, rows, title, brought), encoding="utf-8")
        print(f"Page written to {out}")
    return 0


def read_log(path: str) -> Any:
    """A CSV file as a DataFrame; arms are text. Fields are separated by commas, semicolons or tabs."""
    import pandas as pd

    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            header = next((line for line in file if line.strip()), "")
            separator = max(SEPARATORS, key=header.count)
            names = [name.strip() for name in next(csv.reader([header], delimiter=separator), [])]
        frame = pd.read_csv(
            path, sep=separator, encoding="utf-8-sig", dtype={name: str for name in names if name == "arm"},
            skipinitialspace=True, keep_default_na=False, na_values={"reward": [""], "probability": [""], "arm": [""]},
        )  # fmt: skip
    except FileNotFoundError:
        raise ValueError(f"there is no file {path}") from None
    except IsADirectoryError:
        raise ValueError(f"{path} is a folder, not a CSV file") from None
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not UTF-8 text; save it as UTF-8 (in a spreadsheet: CSV UTF-8)") from None
    except (pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        raise ValueError(f"{path} cannot be read as CSV: {error}") from None
    frame.columns = [str(name).strip() for name in frame.columns]
    if "holdout" in frame:
        words = frame["holdout"].astype(str).str.strip().str.lower()
        frame["holdout"] = words.map(TRUTH)
        if frame["holdout"].isna().any():
            raise ValueError(f"{path}: holdout must be true or false, got {words[frame['holdout'].isna()].iloc[0]!r}")
    return frame


def _writable(name: str) -> Path:
    path = Path(name)
    if path.suffix not in (".html", ".htm"):
        raise ValueError(f"--out must end in .html, got {name!r}")
    if not path.parent.is_dir():
        raise ValueError(f"cannot write {name}: there is no folder {path.parent}")
    return path
