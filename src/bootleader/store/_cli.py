"""``bootleader store``: look at experiments, reward from a file, check, fold."""

from __future__ import annotations

import argparse
import math
import os
import sys
import time
from pathlib import Path
from typing import Any

EXAMPLES = """\
  bootleader store list --store sqlite:///shop.db
  bootleader store show button --store sqlite:///shop.db
  bootleader store reward rewards.csv --store postgresql://shop@db/shop --experiment button
  bootleader store log button > log.csv
  bootleader store audit 6fcece16eb74-1 --experiment button
  bootleader store export button --out button.json
  bootleader store check button
  bootleader store vacuum --experiment button --older-than 90

The variable BOOTLEADER_STORE stands in for --store. 'bootleader store ACTION --help' explains an action."""

FILES = """\

rewards.csv has a header and the columns decision and reward, and event if there are event ids. All of it counts, or
nothing; a file that is read again changes nothing."""

DAY = 86_400.0


def add_options(command: Any) -> None:
    """Add the commands and their options to the parser."""
    actions = command.add_subparsers(metavar="ACTION", required=True)

    def action(name: str, run: Any, what: str, experiment: str | None = None) -> Any:
        examples = [line for line in EXAMPLES.splitlines() if f"bootleader store {name} " in line]
        added = actions.add_parser(
            name, help=what, description=what[0].upper() + what[1:] + ".",
            epilog="\n".join(["example:", *examples, *([FILES] if name == "reward" else [])]),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )  # fmt: skip
        added.add_argument(
            "--store", default=os.environ.get("BOOTLEADER_STORE"), metavar="URL",
            help="sqlite:///file.db or postgresql://... (default: the variable BOOTLEADER_STORE)",
        )  # fmt: skip
        if experiment == "place":
            either = added.add_mutually_exclusive_group(required=True)
            either.add_argument("experiment", nargs="?", default=argparse.SUPPRESS, help="the experiment's name")
            either.add_argument("--experiment", metavar="EXPERIMENT", help="the same")
        elif experiment is not None:
            added.add_argument("--experiment", required=experiment == "required", help="the experiment's name")
        added.set_defaults(action=run)
        return added

    action("list", _list, "list the experiments")
    action("show", _show, "print what the arms earned, and which is better", "place")
    reward = action("reward", _reward, "reward decisions from a file, all of it or nothing", "required")
    reward.add_argument("file", metavar="rewards.csv", help="a CSV file with the columns decision and reward")
    for column in ("decision", "reward"):
        reward.add_argument(f"--{column}", default=column, metavar="COLUMN", help=f"default: {column}")
    reward.add_argument("--event", metavar="COLUMN", help="column of the event ids (default: event, if it is there)")
    log = action("log", _log, "print the log as CSV", "place")
    log.add_argument("--events", action="store_true", help="a row for each event instead of each decision")
    audit = action("audit", _audit, "compute a decision again from the log", "required")
    audit.add_argument("decision", help="its id")
    export = action("export", _export, "write the experiment as an agent's document", "place")
    export.add_argument("--out", metavar="FILE", help="where to write it (default: the name, with .json)")
    check = action("check", _check, "compute everything again from the log and compare", "place")
    check.add_argument("--quick", action="store_true", help="do not compute every decision again")
    vacuum = action("vacuum", _vacuum, "delete removed experiments; with --older-than, fold old events", "optional")
    vacuum.add_argument("--older-than", type=float, metavar="DAYS", help="fold what is older into a snapshot")


def store(given: argparse.Namespace) -> int:
    """Run the command."""
    from bootleader.store._errors import StoreError
    from bootleader.store.store import Store

    if not given.store:
        raise ValueError("give --store URL, such as sqlite:///shop.db, or set the variable BOOTLEADER_STORE")
    _check_file(given.store)
    try:
        with Store(given.store) as opened:
            return int(given.action(opened, given))
    except StoreError as error:
        print(f"bootleader: {error}", file=sys.stderr)
        return 2


def _check_file(url: str) -> None:
    """Raise if the file is not there: a mistyped name would make a new store."""
    if url.startswith("sqlite:"):
        from bootleader.store._sqlite_files import MEMORY, sqlite_path

        path = sqlite_path(url.removeprefix("sqlite:"))
        if path != MEMORY and not Path(path).exists():
            raise ValueError(f"there is no store {path}")


def _list(opened: Any, given: argparse.Namespace) -> int:
    for name in opened.list():
        print(name)
    return 0


def _show(opened: Any, given: argparse.Namespace) -> int:
    experiment = opened.open(given.experiment)
    print(experiment)
    print(experiment.summary().to_string())
    if experiment.half_life is None and experiment.features is None and len(experiment.arms) > 1:
        print(experiment.verdict())
    return 0


def _reward(opened: Any, given: argparse.Namespace) -> int:
    from bootleader.store._many_rewards import read_file, reward_many

    experiment = opened.open(given.experiment)
    file = read_file(given.file, given.decision, given.reward, given.event, experiment._writer.settings.reward_range)
    print(reward_many(experiment._writer, file.rewards, file.where))
    return 0


def _log(opened: Any, given: argparse.Namespace) -> int:
    opened.open(given.experiment).log(events=given.events).to_csv(sys.stdout, index=False)
    return 0


def _audit(opened: Any, given: argparse.Namespace) -> int:
    audit = opened.open(given.experiment).audit(given.decision)
    print(
        f"{audit.id}: {audit.arm}, probability {audit.probability}, {audit.origin}, {audit.events_seen:,} events seen"
    )
    print(audit.note)
    return 0 if audit.agrees else 1


def _export(opened: Any, given: argparse.Namespace) -> int:
    out = given.out or f"{given.experiment}.json"
    Path(out).write_text(opened.open(given.experiment).export().to_json(), encoding="utf-8")
    print(f"Written to {out}")
    return 0


def _check(opened: Any, given: argparse.Namespace) -> int:
    check = opened.open(given.experiment).check(decisions=not given.quick)
    print(check)
    return 0 if check else 1


def _vacuum(opened: Any, given: argparse.Namespace) -> int:
    if given.older_than is not None:
        if given.experiment is None:
            raise ValueError("--older-than folds events of an experiment: give --experiment NAME")
        if not 0.0 <= given.older_than < math.inf:
            raise ValueError(f"--older-than must be a number of days, 0 or more, got {given.older_than:g}")
        folded = opened.open(given.experiment).fold(time.time() - given.older_than * DAY)
        print(f"{folded:,} events folded into a snapshot")
    elif given.experiment is not None:
        raise ValueError(
            "give --older-than DAYS too: without it, vacuum deletes removed experiments of the whole store"
        )
    print(f"{opened.vacuum():,} events of removed experiments deleted")
    return 0
