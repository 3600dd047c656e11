"""``bootleader compare``: what it reads, what it refuses before it simulates, what it says and draws."""

import os

import numpy as np
import pytest

from bootleader.compare._compare import LARGEST, ORACLE, contenders, read_rewards, verdict
from bootleader.simulation.result import Simulation
from tests.test_cli import refused, run, written

SMALL = ("--rounds", "100", "--runs", "8")
TWO_ARMS = "arm,reward\na,1\na,1.5\nb,2\nb,3\n"


@pytest.fixture(autouse=True)
def _inside(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where plots go unless told otherwise


@pytest.fixture
def nothing_is_simulated(monkeypatch):
    def simulated(*_, **__):
        raise AssertionError("simulated before everything was checked")

    monkeypatch.setattr("bootleader.compare._compare.simulate", simulated)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ["empty", "arm and reward"]),
        ("arm,reward\n", ["no rewards"]),
        ("arm,value\na,1\nb,2\n", ["no column 'reward'", "'value'"]),
        ("reward\n1\n", ["no column 'arm'"]),
        ("arm,reward\na,1\na,2\n", ["one arm, 'a'"]),
        ("arm,reward\na,1\nb,NaN\n", ["line 3", "'NaN'"]),
        ("arm,reward\na,1\nb,inf\n", ["line 3", "'inf'"]),
        ("arm,reward\na,1\n\nb,much\nb,more\n", ["line 4", "'much'", "1 more such"]),
        ("arm,reward\na,1\nb\n", ["line 3", "reward"]),
        ("arm,reward\n,1\nb,2\n", ["line 2", "arm"]),
        ("arm,reward\na,1\nb,2,3\n", ["line 3"]),
        (b"\xff\xfe\x00", ["save it as UTF-8"]),
        ("arm,reward\nma\xf1ana,1\nb,2\n".encode("latin-1"), ["save it as UTF-8"]),
        ("\n \n\n", ["empty"]),
        ("\n\narm,reward\na,1\nb,much\n", ["line 5", "'much'"]),
        ('arm,reward\n"a\nb",1\nb,much\n', ["line 4", "'much'"]),
        ('arm,reward\na,1\n"b,2\nb,3\n', ["line 3", "check the quotes"]),
        ("arm;reward\na;1,5\nb;2,5\n", ["line 2", "'1,5'", "such as 12.7"]),
        ("arm,reward,reward\na,1,2\nb,2,3\n", ["column 'reward' more than once"]),
        ("arm,reward, arm\na,1,2\nb,2,3\n", ["column 'arm' more than once"]),
        ("arm,reward\na,1\nb,1e300\nb,-1e300\n", ["line 3", "reward must be at most 1e+100", "1 more such"]),
    ],
)
def test_compare_refuses_bad_files_and_names_the_line(capsys, tmp_path, text, words):
    line = refused(capsys, "compare", written(tmp_path, text))
    for word in words:
        assert word in line


def test_compare_refuses_a_file_that_is_not_there(capsys, tmp_path):
    assert "there is no file" in refused(capsys, "compare", str(tmp_path / "none.csv"))


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_compare_reads_the_separator_off_the_header(tmp_path, separator):
    text = "\n\nwhen,reward,arm\nnow,1.5,b\n\nthen,2,a,\n,3,b\n"
    rewards = read_rewards(written(tmp_path, text.replace(",", separator)))
    assert rewards.names == ("b", "a")
    assert [list(sample) for sample in rewards.bandit.samples] == [[1.5, 3.0], [2.0]]


@pytest.mark.parametrize(
    ("plot", "words"),
    [("x.bmp", "must end in"), ("none/x.png", "no folder none"), ("file/x.png", "no folder file"), ("d.png", "cannot")],
)
@pytest.mark.usefixtures("nothing_is_simulated")
def test_compare_refuses_a_plot_that_it_could_not_draw_before_it_simulates(capsys, tmp_path, plot, words):
    (tmp_path / "file").touch()
    (tmp_path / "d.png").mkdir()
    assert words in refused(capsys, "compare", written(tmp_path, TWO_ARMS), "--plot", plot)


@pytest.mark.usefixtures("nothing_is_simulated")
def test_compare_refuses_a_folder_that_it_may_not_write_to_before_it_simulates(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert "--no-plot" in refused(capsys, "compare", written(tmp_path, TWO_ARMS))


def test_compare_prints_arms_table_and_verdict_and_draws(capsys, tmp_path):
    rng = np.random.default_rng(0)
    rows = [f"{arm},{value}" for arm, mean in (("blue", 5.0), ("red", 9.0)) for value in rng.normal(mean, 1.0, 50)]
    status, out, _ = run(
        capsys, "compare", written(tmp_path, "arm,reward\n" + "\n".join(rows) + "\n\n"),
        "--rounds", "300", "--runs", "64",
    )  # fmt: skip
    assert status == 0
    assert out.index("red") < out.index("blue")  # best arm first
    for words in ("AdaptiveReBoot (told nothing)", "told the pooled sd", "Best: ", "300 rounds, 64 runs"):
        assert words in out
    assert "drawn to rewards-regret.png" in out
    assert (tmp_path / "rewards-regret.png").read_bytes().startswith(b"\x89PNG")


def test_compare_takes_costs(capsys, tmp_path):
    rng = np.random.default_rng(0)
    rows = [f"{arm},{value}" for arm, mean in (("slow", 9.0), ("quick", 5.0)) for value in rng.normal(mean, 1.0, 50)]
    path = written(tmp_path, "arm,reward\n" + "\n".join(rows))
    _, out, _ = run(capsys, "compare", path, "--minimize", "--rounds", "300", "--runs", "64", "--no-plot")
    assert out.index("quick") < out.index("slow")
    assert "smaller rewards are better" in out
    assert out.splitlines()[1].split()[2].startswith(("4.", "5."))  # the mean, in its own sign
    costs, gains = read_rewards(path, maximize=False), read_rewards(path)
    assert [list(sample) for sample in costs.bandit.samples] == [list(-sample) for sample in gains.bandit.samples]


def test_compare_draws_where_it_is_told_or_not_at_all(capsys, tmp_path):
    path = written(tmp_path, TWO_ARMS)
    assert "drawn to curves.svg" in run(capsys, "compare", path, *SMALL, "--plot", "curves.svg")[1]
    assert "drawn" not in run(capsys, "compare", path, *SMALL, "--no-plot")[1]
    assert sorted(file.name for file in tmp_path.iterdir()) == ["curves.svg", "rewards.csv"]


def test_compare_says_what_it_leaves_out_and_why(capsys, tmp_path):
    _, out, _ = run(capsys, "compare", written(tmp_path, TWO_ARMS), *SMALL)
    (line,) = (line for line in out.splitlines() if line.startswith("Left out: "))
    for words in ("Giro (reads its whole history", "ResidualBootstrap (", "PHE (made for rewards in [0, 1])"):
        assert words in line
    assert "UCB1" not in line


@pytest.mark.parametrize("text", ["arm,reward\na,1\na,1\nb,2\nb,2\n", "arm,reward\na,1\nb,2\n"])
def test_compare_without_a_spread_leaves_out_what_needs_one(capsys, tmp_path, text):
    status, out, _ = run(capsys, "compare", written(tmp_path, text), *SMALL)
    assert status == 0
    assert "pooled sd" not in out
    assert "ReBoot, UCB1, ThompsonSampling (no arm has two different rewards" in out


def test_compare_takes_the_policies_that_are_chosen(capsys, tmp_path):
    path = written(tmp_path, TWO_ARMS)
    status, out, _ = run(capsys, "compare", path, *SMALL, "--policies", "PHE, ResidualBootstrap")
    assert status == 0
    assert "as these are not" in out
    assert "AdaptiveReBoot" not in out
    assert "Left out" not in out
    for chosen in ("Giro", "ThompsonSampling"):  # alone there is no best, and no error
        status, out, _ = run(capsys, "compare", path, *SMALL, "--policies", chosen)
        assert status == 0
        assert "Best" not in out
    assert "unknown policy 'Gyro'" in refused(capsys, "compare", path, "--policies", "UCB1,Gyro")
    constant = written(tmp_path, "arm,reward\na,1\nb,2\n")
    assert "UCB1 cannot play these rewards" in refused(capsys, "compare", constant, "--policies", "UCB1")


def test_the_best_is_a_policy_that_can_be_run():
    final = np.array([[1.0, 1.1, 0.9], [5.0, 5.1, 4.9], [9.0, 9.2, 9.1]])
    mean = final.mean(axis=1, keepdims=True)
    simulation = Simulation(
        (ORACLE, "usual", "worse"), np.array([10]), mean, np.zeros((3, 1)), final, np.zeros((3, 2)), np.zeros(3), "", 0
    )
    best, oracle = verdict(simulation).splitlines()
    assert best.startswith("Best: usual. worse is next, with 4.1 more regret")
    assert "nobody can run: 1 regret against 5" in oracle


def test_only_the_oracle_is_told_what_nobody_knows(tmp_path):
    policies = contenders(read_rewards(written(tmp_path, TWO_ARMS)))
    assert [name for name, policy in policies.items() if "oracle" in policy.parameters.values()] == [ORACLE]


def test_the_largest_rewards_are_compared_without_overflow(capsys, tmp_path):
    path = written(tmp_path, f"arm,reward\na,{LARGEST}\na,-{LARGEST}\nb,{LARGEST}\nb,0\n")
    status, out, _ = run(capsys, "compare", path, *SMALL)
    assert status == 0
    assert "inf" not in out
    assert "nan" not in out


def test_more_arms_than_rounds_are_refused_early_by_the_options_name(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr("bootleader.compare._compare._grouped", None)  # a million arms take long to sort out
    path = written(tmp_path, "arm,reward\n" + "".join(f"{arm},1\n" for arm in range(3000)))
    line = refused(capsys, "compare", path, "--rounds", "2999")
    assert "has 3,000 arms" in line
    assert "--rounds must be at least that, got 2,999" in line


def test_a_file_of_a_million_rows_is_read(tmp_path):
    rng = np.random.default_rng(1)
    path = tmp_path / "large.csv"
    arms = rng.integers(0, 5, 1_000_000)
    with open(path, "w") as file:
        file.write("arm,reward\n")
        np.savetxt(file, np.column_stack([arms, rng.normal(arms, 1.0)]), fmt=["%d", "%.4f"], delimiter=",")
    rewards = read_rewards(path)
    assert sum(rewards.counts) == 1_000_000
    assert dict(zip(rewards.names, rewards.means, strict=True))["4"] == pytest.approx(4.0, abs=0.02)
    assert rewards.pooled_sd == pytest.approx(1.0, abs=0.01)
