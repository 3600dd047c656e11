"""The command line: results, one-line errors, exit statuses, and a quick start."""

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import bootleader as bl
from bootleader import cli
from tests.helpers import run_python


def test_help_imports_nothing_heavy():
    code = (
        "import sys; from bootleader import cli\n"
        "try: cli.main(['--help'])\n"
        "except SystemExit: pass\n"
        "heavy = {'numba', 'matplotlib', 'pandas', 'scipy', 'distributed', 'jinja2'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    assert "reproduce" in run_python(code)


def test_an_error_inside_another_library_is_not_shown_as_the_users(monkeypatch):
    """Only errors that the library raises about its input become one line; others keep their traceback."""

    def foreign(given):
        import json

        json.loads("{")

    def ours(given):
        bl.ReBoot(sigma_a=-1.0)

    for command, is_shown in ((foreign, False), (ours, True)):
        given = cli.parser().parse_args(["policies"])
        given.command = command
        monkeypatch.setattr(cli, "parser", lambda given=given: type("P", (), {"parse_args": lambda self, _: given})())
        if is_shown:
            assert cli.main(["policies"]) == 2
        else:
            with pytest.raises(ValueError, match="Expecting"):
                cli.main(["policies"])
        monkeypatch.undo()


COMMANDS = next(action.choices for action in cli.parser()._actions if isinstance(action.choices, dict))


def test_the_commands_are_known():
    assert {"reproduce", "compare", "bound", "policies"} <= set(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself_with_examples(capsys, command):
    with pytest.raises(SystemExit) as left:
        cli.main([command, "--help"])
    assert left.value.code == 0
    out = capsys.readouterr().out
    assert f"  bootleader {command}" in out
    assert "?." not in out


def test_version(capsys):
    with pytest.raises(SystemExit) as left:
        cli.main(["--version"])
    assert left.value.code == 0
    assert capsys.readouterr().out == f"bootleader {bl.__version__}\n"


def test_the_package_is_the_command(capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["bootleader", "--version"])
    with pytest.raises(SystemExit) as left:
        runpy.run_module("bootleader", run_name="__main__")
    assert left.value.code == 0
    assert capsys.readouterr().out == f"bootleader {bl.__version__}\n"


def test_bound_prints_the_theorems_numbers(run_cli):
    status, out, _ = run_cli("bound", "--means", "1,0.5,0", "--sigma-a", "1.7", "--rounds", "10000")
    assert status == 0
    for number in ("1.6736", "2,718.91", "75,158.4", "55.3", "says nothing yet"):
        assert number in out


@pytest.mark.parametrize("means", ["1,x", "", "1;0"])
def test_bound_refuses_means_that_are_not_numbers(capsys, means):
    with pytest.raises(SystemExit) as left:
        cli.main(["bound", "--means", means])
    assert left.value.code == cli.USER_ERROR


def test_bound_refuses_what_the_theorem_excludes(cli_error):
    assert "above 1.5 times the sd" in cli_error("bound", "--means", "1,0", "--sigma-a", "1.5")


@pytest.mark.parametrize("means", ["-1,-1.5", "-.5,-1"])
def test_bound_takes_means_that_begin_with_a_minus(run_cli, means):
    status, out, _ = run_cli("bound", "--means", means)
    assert status == 0
    assert out == run_cli("bound", "--means", "0.5,0")[1]  # a shift changes nothing


def test_bound_without_sigma_a_takes_it_relative_to_the_sd(run_cli):
    status, out, _ = run_cli("bound", "--means", "1,0", "--sd", "2")
    assert status == 0
    assert out == run_cli("bound", "--means", "1,0", "--sd", "2", "--sigma-a", "3.4")[1]
    assert "3.4" in out.splitlines()[0]


def test_a_negative_number_is_the_options_before_it_and_no_one_elses(cli_error):
    assert "sd must be" in cli_error("bound", "--means", "1,0", "--sd", "-1e3")
    assert "there is no file -1.csv" in cli_error("compare", "--", "-1.csv")


def test_policies_lists_each_once_with_its_parameters(run_cli):
    status, out, _ = run_cli("policies")
    assert status == 0
    for name in ("ReBoot", "AdaptiveReBoot", "StudentThompson", "ThompsonSampling", "Giro", "PHE", "UCB1"):
        assert sum(line == name for line in out.splitlines()) == 1
    assert "sigma_a (required, such as 1.5), weights='gaussian'" in out
    assert "parameters: a=2.1" in out


def grouped(out):
    """Group -> names of its policies, in the order of the list."""
    groups = {}
    for block in re.split("^Must know ", out, flags=re.MULTILINE)[1:]:
        heading, *lines = block.splitlines()
        groups[heading.removesuffix(":")] = [line for line in lines if line and not line.startswith(" ")]
    return groups


def test_policies_are_grouped_by_what_they_must_know(run_cli):
    groups = grouped(run_cli("policies")[1])
    assert next(iter(groups)) == "nothing"
    assert "AdaptiveReBoot" in groups["nothing"]
    assert "PHE" in groups["the range of the rewards"]
    family = groups["the family of the rewards, and its sd if Gaussian"]
    assert sorted(family) == ["BayesUCB", "IMED", "KLMaillardSampling", "KLUCB"]
    assert "ThompsonSampling" in groups["the standard deviation of the rewards"]
    assert groups["what the policy that it plays must know and how fast the rewards change"] == ["Discounted"]


def test_the_groups_of_the_policies_are_those_of_the_leaderboard(run_cli):
    """In the documents too: each row of the table says what its policy must know."""
    groups = grouped(run_cli("policies")[1])
    listed = {name: knowledge for knowledge, names in groups.items() for name in names}
    for page in ("leaderboard.md", "which-policy.md"):
        text = (Path(__file__).parent.parent / "docs" / page).read_text(encoding="utf-8")
        table = text.partition("<!-- from results: leaderboard.md -->")[2].partition("<!-- end -->")[0]
        rows = [[cell.strip() for cell in line.split("|")[1:3]] for line in table.strip().splitlines()[2:]]
        assert len(rows) > 25
        assert {name: listed[name] for name, _ in rows} == dict(rows)


def test_a_policy_says_when_its_example_must_know_something_else(run_cli):
    _, out, _ = run_cli("policies")
    entries = dict(block.split("\n", 1) for block in out.split("\n\n") if "parameters: " in block)
    assert "it must know the range of the rewards" in entries["KLUCB"]
    assert "it must know the standard deviation of the rewards and a prior of the means" in entries["ThompsonSampling"]
    assert "with these parameters" not in entries["UCB1"]


def test_reproduce_lists_its_parts(run_cli):
    status, out, _ = run_cli("reproduce", "--list")
    assert status == 0
    listed = [line.split()[0] for line in out.splitlines()]
    assert listed[:4] == ["fig1", "fig2-left", "fig2-right", "fig3"]
    assert "robustness" in listed
    lines = dict(zip(listed, out.splitlines(), strict=True))
    assert "500 runs of 10,000 rounds" in lines["fig1"]
    assert "2,000 runs of 2,000 rounds" in lines["best-arm"]
    assert "2,000 runs of 10,000 to 50,000 rounds; " in lines["leaderboard"]


def test_reproduce_says_that_a_small_job_is_small(run_cli, tmp_path):
    status, out, _ = run_cli("reproduce", "fig1", "--runs", "8", "--rounds", "200", "--out", str(tmp_path / "x"))
    assert status == 0
    assert "Not full size: 8 runs of 200 rounds" in out


def test_reproduce_names_the_full_size_of_the_part(run_cli, tmp_path, monkeypatch):
    from bootleader.paper import reproduce

    monkeypatch.setattr(reproduce, "reproduce", lambda *_, **__: [])
    _, out, _ = run_cli("reproduce", "best-arm", "--quick", "--out", str(tmp_path))
    assert "Not full size: 400 runs of 200 rounds (full size: 2,000 runs of 2,000 rounds)." in out
    _, out, _ = run_cli("reproduce", "best-arm", "--runs", "500", "--rounds", "10000", "--out", str(tmp_path))
    assert "Not full size: 500 runs of 10,000 rounds (full size: 2,000 runs of 2,000 rounds)." in out
    _, out, _ = run_cli("reproduce", "best-arm", "--runs", "2000", "--rounds", "2000", "--out", str(tmp_path))
    assert "Not full size" not in out
    _, out, _ = run_cli("reproduce", "fig1", "drift", "best-arm", "--quick", "--out", str(tmp_path))
    assert (
        "Not full size: fig1, drift: 100 runs of 1,000 rounds (full size: 500 runs of 10,000 rounds); best-arm:" in out
    )


def test_reproduce_suggests_the_nearest_part(cli_error):
    assert "unknown part 'leaderbord', did you mean 'leaderboard'? The parts are fig1" in cli_error(
        "reproduce", "leaderbord"
    )
    assert "did you mean" not in cli_error("reproduce", "zzz")


def test_reproduce_refuses_unknown_parts(cli_error, tmp_path):
    out = tmp_path / "results"
    line = cli_error("reproduce", "fig9", "--out", str(out))
    assert "'fig9'" in line
    assert "fig2-left" in line
    assert not out.exists()


@pytest.mark.parametrize("option", [("--runs", "0"), ("--rounds", "ten"), ("--seed", "-1"), ("--workers", "0")])
def test_reproduce_refuses_bad_sizes(capsys, option):
    with pytest.raises(SystemExit) as left:
        cli.main(["reproduce", "--list", *option])
    assert left.value.code == cli.USER_ERROR
    assert option[1] in capsys.readouterr().err


def test_reproduce_notices_a_folder_that_it_cannot_write_before_it_simulates(cli_error, monkeypatch):
    from bootleader.paper import reproduce

    def started(*_, **__):
        raise AssertionError("started before the folder was checked")

    monkeypatch.setattr(reproduce, "reproduce", started)
    assert "cannot write to the folder /proc/results" in cli_error("reproduce", "--out", "/proc/results")


IN_ONE_PROCESS = """
from bootleader.cli import main
statuses = [main(["policies"]), main(["reproduce", "--list"]), main(["compare", "σ.csv"])]
assert statuses == [0, 0, 2], statuses
main(["--help"])
"""


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "utf-8"])
def test_a_console_in_any_encoding_is_enough(encoding):
    environment = os.environ | {"PYTHONIOENCODING": encoding, "PYTHONUTF8": "1"}
    finished = subprocess.run([sys.executable, "-c", IN_ONE_PROCESS], capture_output=True, check=False, env=environment)
    assert finished.returncode == 0, finished.stderr
    assert b"Traceback" not in finished.stderr
    text = (finished.stdout + finished.stderr).decode(encoding)
    assert "usage: bootleader" in text
    assert "?" not in text
    assert ("sigma.csv" if encoding != "utf-8" else "σ.csv") in text


def test_an_error_is_one_short_printable_line(cli_error):
    line = cli_error("compare", "\x1b[2J\u202e" + "x" * 5_000)
    assert line.isprintable()
    assert len(line) < 1_100


def test_reproduce_says_when_it_cannot_write(cli_error, tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    assert str(blocked) in cli_error("reproduce", "formulas", "--out", str(blocked))


def test_interruption_says_how_to_go_on(run_cli, tmp_path, monkeypatch):
    from bootleader.paper import reproduce

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(reproduce, "reproduce", interrupted)
    status, _, err = run_cli("reproduce", "--out", str(tmp_path))
    assert status == cli.INTERRUPTED
    assert "the same command continues" in err


def test_interrupted_comparison_does_not_claim_to_have_kept_anything(run_cli, rewards_file, tmp_path, monkeypatch):
    from bootleader.comparison import _ranking

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(_ranking, "simulate", interrupted)
    monkeypatch.chdir(tmp_path)
    status, _, err = run_cli("compare", rewards_file("arm,reward\na,1\nb,2\n"))
    assert status == cli.INTERRUPTED
    assert err.split() == ["Stopped."]


def test_dask_that_is_not_installed_is_explained(cli_error, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert "pip install 'bootleader[dask]'" in cli_error("reproduce", "--out", str(tmp_path), "--dask", "tcp://h:1")
