"""The command line. Each command imports what it needs when it runs, so that ``--help`` is quick."""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

from bootleader._core.console import degrade
from bootleader._core.files import writable_folder
from bootleader._core.printable_text import printable
from bootleader._version import __version__

USER_ERROR, INTERRUPTED = 2, 130
LONGEST_ERROR = 1_000  # characters


def main(arguments: Sequence[str] | None = None) -> int:
    """Run ``bootleader``.

    Parameters
    ----------
    arguments : sequence of str, optional
        Command and options; by default those of the process.

    Returns
    -------
    int
        Exit status: 0, 2 for an error of the user's, 130 after an interruption.
    """
    for stream in (sys.stdout, sys.stderr):
        degrade(stream)
    given = parser().parse_args(_with_negative_numbers(sys.argv[1:] if arguments is None else arguments))
    try:
        return int(given.command(given))
    except KeyboardInterrupt:
        print(f"\n{given.stopped}", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # the reader of the output has closed it, as `head` does
        sys.stderr.close()
        return 0
    except (ValueError, OSError) as error:
        if isinstance(error, ValueError) and not _is_ours(error):
            raise  # an error in the program, not in what the user gave: the traceback is wanted
        print(f"bootleader: {printable(' '.join(str(error).split()), LONGEST_ERROR)}", file=sys.stderr)
        return USER_ERROR


def _is_ours(error: BaseException) -> bool:
    """Whether an error was raised by a line of this package, not inside another library."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and trace.tb_frame.f_globals.get("__name__", "").partition(".")[0] == "bootleader"


def _with_negative_numbers(arguments: Sequence[str]) -> list[str]:
    """Join ``--means -1,0`` into ``--means=-1,0``: argparse takes what begins with a minus for an option.

    Examples
    --------
    >>> _with_negative_numbers(["bound", "--means", "-1,0", "--sd", "2"])
    ['bound', '--means=-1,0', '--sd', '2']
    """
    joined: list[str] = []
    for argument in arguments:
        if joined and re.fullmatch("--[a-z-]+", joined[-1]) and re.match(r"-\.?\d", argument):
            joined[-1] += f"={argument}"
        else:
            joined.append(argument)
    return joined


def parser() -> argparse.ArgumentParser:
    """Return the parser: the commands and their options."""
    top = argparse.ArgumentParser(
        prog="bootleader",
        description="Bandit algorithms that explore by bootstrapping residuals.",
        epilog="'bootleader COMMAND --help' explains a command, with examples.",
    )
    top.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")
    commands = top.add_subparsers(metavar="COMMAND", required=True)
    _add_reproduce(commands)
    _add_compare(commands)
    _add_answer(commands)
    _add_store(commands)
    _add_bound(commands)
    _add_policies(commands)
    return top


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: Any, **__: Any) -> None:
        print(f"bootleader {__version__}")
        parser.exit()


def _command(commands: Any, name: str, run: Callable[[argparse.Namespace], int], what: str, examples: str) -> Any:
    command = commands.add_parser(
        name, help=what, description=what[0].upper() + what[1:] + ".", epilog=f"examples:\n{examples}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    command.set_defaults(command=run, stopped="Stopped.")
    return command


def _whole(low: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        try:
            value = int(text.replace("_", "").replace(",", ""))
        except ValueError:
            value = low - 1
        if value < low:
            raise argparse.ArgumentTypeError(f"must be a whole number of at least {low}, got {text!r}")
        return value

    return parse


def _add_reproduce(commands: Any) -> None:
    command = _command(
        commands, "reproduce", _reproduce, "make every figure and table of the paper and test its claims",
        "  bootleader reproduce --out results/\n"
        "  bootleader reproduce --quick\n"
        "  bootleader reproduce fig3 --runs 100 --rounds 2000\n"
        "  bootleader reproduce robustness leaderboard --out results/\n"
        "  bootleader reproduce tails --device cuda\n"
        "  bootleader reproduce --list",
    )  # fmt: skip
    command.add_argument(
        "parts",
        nargs="*",
        metavar="PART",
        help="parts to make (default: those of the paper, some 3 minutes on two cores)",
    )
    command.add_argument("--out", default="results", metavar="FOLDER", help="where to write (default: results)")
    command.add_argument("--runs", type=_whole(8), help="runs (default: each part's full size, which --list shows)")
    command.add_argument("--rounds", type=_whole(200), help="rounds (default: each part's full size)")
    command.add_argument("--seed", type=_whole(0), default=0, help="seed of all randomness (default: 0)")
    command.add_argument(
        "--quick", action="store_true", help="a small version of everything, marked as such, in about a minute"
    )
    command.add_argument(
        "--list", action="store_true", help="list the parts, their full size and how long they take, and exit"
    )
    command.add_argument("--workers", type=_whole(1), metavar="N", help="threads (default: one per core)")
    command.add_argument("--dask", metavar="ADDRESS", help="simulate on a Dask cluster, such as tcp://host:8786")
    command.add_argument(
        "--device", choices=("cpu", "cuda"), default="cpu", help="where to simulate: cuda is an NVIDIA GPU"
    )
    command.set_defaults(stopped="Stopped. Finished simulations are kept: the same command continues from there.")


def _reproduce(given: argparse.Namespace) -> int:
    from bootleader.paper import PARTS, Size

    if given.list:
        for part in PARTS:
            marks = " (beyond the paper)" * part.beyond_the_paper + " (only when named)" * (not part.by_default)
            about = "; ".join(words for words in (part.size_in_words(Size()), part.takes) if words)
            print(f"{part.name:12} {part.title}{marks}{': ' * bool(about)}{about}")
        return 0
    from bootleader.paper._report_part import not_full_size
    from bootleader.paper.reproduce import chosen_parts, reproduce

    parts = chosen_parts(given.parts)
    writable_folder(given.out)  # noticed now, not after the simulations
    size = Size(given.runs, given.rounds, given.seed, given.quick)
    if given.device == "cuda" and given.dask is None:
        from bootleader._core.cuda.device import require

        try:
            require()
        except RuntimeError as error:
            raise ValueError(str(error).replace('device="cuda"', "--device cuda")) from None
    with _dask(given.dask) as executor:
        claims = reproduce(given.parts, given.out, size, workers=given.workers, executor=executor, device=given.device)
    width = max((len(row.finding.verdict) for row in claims), default=0)
    for row in claims:
        print(f"{row.finding.verdict:{width}}  {row.claim.statement}  ({row.claim.where})")
    if remark := not_full_size(parts, size):
        print(f"{remark}. Figures and verdicts of another size are a trial only.")
    print(f"Written to {given.out}. Open {Path(given.out) / 'report.html'} in a browser.")
    return 0


@contextlib.contextmanager
def _dask(address: str | None) -> Iterator[Any]:
    """Yield a Dask cluster's executor, or None."""
    if address is None:
        yield None
        return
    try:
        from distributed import Client as AnyClient
    except ImportError:
        raise ValueError("--dask needs the package distributed: pip install 'bootleader[dask]'") from None
    connect: Any = AnyClient
    try:
        client = connect(address, timeout=10)
    except (OSError, ValueError) as error:
        raise ValueError(f"no Dask scheduler answers at {address!r}: {error}") from None
    with client:
        yield client.get_executor()


def _add_compare(commands: Any) -> None:
    command = _command(
        commands, "compare", _compare, "simulate the policies on observed rewards, to see which would do best",
        "  bootleader compare rewards.csv\n"
        "  bootleader compare visits.csv --arm variant --reward revenue\n"
        "  bootleader compare rewards.csv --rounds 20000 --runs 1000 --plot regret.svg\n"
        "  bootleader compare latencies.csv --reward ms --minimize\n"
        "  bootleader compare rewards.csv --policies AdaptiveReBoot,UCB1,Giro --no-plot\n\n"
        "The file has a header and one observed reward per line. Fields are separated by commas, semicolons or\n"
        "tabs; with semicolons a decimal comma is accepted. 'bootleader policies' lists the policies.",
    )  # fmt: skip
    command.add_argument("rewards", metavar="rewards.csv", help="a CSV file with a column of arms and one of rewards")
    command.add_argument("--arm", default="arm", metavar="COLUMN", help="column of the arms (default: arm, any case)")
    command.add_argument(
        "--reward", default="reward", metavar="COLUMN", help="column of the rewards (default: reward, any case)"
    )
    command.add_argument(
        "--minimize", action="store_true", help="smaller rewards are better: costs, latencies (default: larger ones)"
    )
    command.add_argument("--rounds", type=_whole(2), default=10_000, help="rounds per run (default: 10,000)")
    command.add_argument("--runs", type=_whole(2), default=500, help="runs (default: 500)")
    command.add_argument("--seed", type=_whole(0), default=0, help="seed of all randomness (default: 0)")
    command.add_argument(
        "--policies", type=_names, default=[], metavar="NAME,NAME", help="what to compare (default: all that suit)"
    )
    plot = command.add_mutually_exclusive_group()
    plot.add_argument(
        "--plot", metavar="FILE", help="where to draw the regret: .png, .svg or .pdf (default: rewards-regret.png)"
    )
    plot.add_argument("--no-plot", action="store_true", help="draw nothing")


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _compare(given: argparse.Namespace) -> int:
    from bootleader.comparison import compare

    plot = None if given.no_plot else _writable(given.plot or f"{Path(given.rewards).stem}-regret.png")
    ranking = compare(
        given.rewards, policies=given.policies, minimize=given.minimize, arm=given.arm, reward=given.reward,
        rounds=given.rounds, runs=given.runs, seed=given.seed, progress=sys.stderr.isatty(),
    )  # fmt: skip
    print(ranking)
    if ranking.left_out:
        print("--policies NAME,NAME compares others.")
    if plot:
        ranking.plot(plot)
        print(f"Regret curves drawn to {plot}")
    return 0


def _writable(plot: str) -> str:
    """Return the plot's file; raise now, not after the simulation, if it could not be written."""
    if not plot.endswith((".png", ".svg", ".pdf")):
        raise ValueError(f"--plot must end in .png, .svg or .pdf, got {plot!r}")
    path = Path(plot)
    if not path.parent.is_dir():
        raise ValueError(f"cannot draw to {plot}: there is no folder {path.parent}")
    if path.is_dir() or not os.access(path if path.exists() else path.parent, os.W_OK):
        raise ValueError(f"cannot write to {plot}; --plot FILE names another file, --no-plot draws nothing")
    return plot


def _add_answer(commands: Any) -> None:
    from bootleader.inference import _cli

    command = _command(
        commands,
        "answer",
        _answer,
        "answer from a log which arm is better, and whether one may stop",
        _cli.EXAMPLES,
    )
    _cli.add_options(command)


def _answer(given: argparse.Namespace) -> int:
    from bootleader.inference import _cli

    if (given.log is None) == (given.store is None) or (given.store is None) != (given.experiment is None):
        raise ValueError("give either a CSV file, or --store URL together with --experiment NAME")
    if given.log is not None:
        return _cli.answer(given, _cli.read_log(given.log), Path(given.log).name)
    from bootleader.store._errors import StoreError
    from bootleader.store.store import Store

    try:
        with Store(given.store) as store:
            experiment = store.open(given.experiment)
            frame = experiment.log()
    except StoreError as error:
        raise ValueError(str(error)) from None
    given.minimize = not experiment.maximize
    frame = frame[frame["reward"].notna()]
    return _cli.answer(given, frame if frame["holdout"].any() else frame.drop(columns="holdout"), given.experiment)


def _add_store(commands: Any) -> None:
    from bootleader.store import _cli

    what = "look at experiments in a database, reward from a file, check"
    _cli.add_options(_command(commands, "store", _cli.store, what, _cli.EXAMPLES))


def _add_bound(commands: Any) -> None:
    command = _command(
        commands, "bound", _bound, "print the regret theorem's numbers for a Gaussian bandit",
        "  bootleader bound --means 1,0.5,0\n"
        "  bootleader bound --means 1,0.5,0 --sigma-a 1.7 --rounds 100000\n"
        "  bootleader bound --means -2,-3 --sd 2",
    )  # fmt: skip
    command.add_argument("--means", type=_numbers, required=True, metavar="1,0.5,0", help="the arms' means")
    command.add_argument("--sigma-a", type=float, help="exploration aid unit, above 1.5 sd (default: 1.7 sd)")
    command.add_argument("--rounds", type=_whole(1), default=10_000, help="horizon T (default: 10,000)")
    command.add_argument("--sd", type=float, default=1.0, help="standard deviation of the rewards (default: 1)")


def _numbers(text: str) -> list[float]:
    try:
        return [float(number) for number in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"must be numbers with commas between, such as 1,0.5,0; got {text!r}"
        ) from None


def _bound(given: argparse.Namespace) -> int:
    from bootleader.theory import bound

    print(bound(given.means, given.sigma_a, given.rounds, given.sd))
    return 0


def _add_policies(commands: Any) -> None:
    _command(commands, "policies", _policies, "list the policies with their parameters", "  bootleader policies")


def _policies(given: argparse.Namespace) -> int:
    from bootleader.paper._required_knowledge import as_informed, required_knowledge
    from bootleader.policies import POLICIES
    from bootleader.policies.base import in_words

    examples = list({type(policy): policy for policy in reversed(POLICIES)}.values())[::-1]
    groups: dict[str, list[Any]] = {}
    for example in sorted(examples, key=lambda policy: len(as_informed(policy).must_know)):
        groups.setdefault(required_knowledge(example), []).append(example)
    for knowledge, members in groups.items():
        print(f"Must know {knowledge}:\n")
        for example in members:
            kind = type(example)
            summary = (kind.__doc__ or "").strip().splitlines()[0]
            print(f"{kind.__name__}\n    {summary}\n    parameters: {_parameters(example)}")
            if (as_shown := in_words(example.must_know)) != knowledge:
                print(f"    with these parameters it must know {as_shown}")
            print(f"    {example.reference}\n")
    return 0


def _parameters(policy: Any) -> str:
    required = {field.name for field in fields(policy) if field.default is MISSING}
    shown = (
        f"{name} (required, such as {value!r})" if name in required else f"{name}={value!r}"
        for name, value in policy.parameters.items()
    )  # fmt: skip
    return ", ".join(shown) or "none"


if __name__ == "__main__":
    sys.exit(main())
