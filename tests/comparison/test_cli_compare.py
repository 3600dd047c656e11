"""``bootleader compare``: what it refuses before it simulates, what it prints and draws."""

import os

import numpy as np
import pytest

from bootleader.comparison._reward_table import LARGEST

SMALL = ("--rounds", "100", "--runs", "8")
TWO_ARMS = "arm,reward\na,1\na,1.5\nb,2\nb,3\n"


@pytest.fixture(autouse=True)
def _inside(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where plots are written by default


@pytest.fixture
def nothing_is_simulated(monkeypatch):
    def simulated(*_, **__):
        raise AssertionError("simulated before everything was checked")

    monkeypatch.setattr("bootleader.comparison._ranking.simulate", simulated)


def test_compare_refuses_a_bad_file_with_one_line(cli_error, rewards_file):
    line = cli_error("compare", rewards_file("arm,reward\na,1\nb,much\n"))
    assert "line 3: reward must be a finite number" in line


def test_compare_refuses_a_file_that_is_not_there(cli_error, tmp_path):
    assert "there is no file" in cli_error("compare", str(tmp_path / "none.csv"))


@pytest.mark.parametrize(
    ("plot", "words"),
    [("x.bmp", "must end in"), ("none/x.png", "no folder none"), ("file/x.png", "no folder file"), ("d.png", "cannot")],
)
@pytest.mark.usefixtures("nothing_is_simulated")
def test_compare_refuses_a_plot_that_it_could_not_draw_before_it_simulates(
    cli_error, rewards_file, tmp_path, plot, words
):
    (tmp_path / "file").touch()
    (tmp_path / "d.png").mkdir()
    assert words in cli_error("compare", rewards_file(TWO_ARMS), "--plot", plot)


@pytest.mark.usefixtures("nothing_is_simulated")
def test_compare_refuses_a_folder_that_it_may_not_write_to_before_it_simulates(cli_error, rewards_file, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert "--no-plot" in cli_error("compare", rewards_file(TWO_ARMS))


def test_compare_prints_arms_table_and_verdict_and_draws(run_cli, rewards_file, tmp_path):
    rng = np.random.default_rng(0)
    rows = [f"{arm},{value}" for arm, mean in (("blue", 5.0), ("red", 9.0)) for value in rng.normal(mean, 1.0, 50)]
    status, out, _ = run_cli("compare", rewards_file("arm,reward\n" + "\n".join(rows) + "\n\n"),
        "--rounds", "300", "--runs", "64",
    )  # fmt: skip
    assert status == 0
    assert out.index("red") < out.index("blue")  # best arm first
    for words in ("AdaptiveReBoot", "pooled sd, ", "Best: ", "300 rounds, 64 runs", "standard_error"):
        assert words in out
    assert "drawn to rewards-regret.png" in out
    assert (tmp_path / "rewards-regret.png").read_bytes().startswith(b"\x89PNG")


def test_compare_takes_costs(run_cli, rewards_file):
    rng = np.random.default_rng(0)
    rows = [f"{arm},{value}" for arm, mean in (("slow", 9.0), ("quick", 5.0)) for value in rng.normal(mean, 1.0, 50)]
    path = rewards_file("arm,reward\n" + "\n".join(rows))
    _, out, _ = run_cli("compare", path, "--minimize", "--rounds", "300", "--runs", "64", "--no-plot")
    assert out.index("quick") < out.index("slow")
    assert "smaller rewards are better" in out
    assert out.splitlines()[1].split()[2].startswith(("4.", "5."))  # the mean, in its own sign


def test_compare_draws_to_the_file_asked_for_or_not_at_all(run_cli, rewards_file, tmp_path):
    path = rewards_file(TWO_ARMS)
    assert "drawn to curves.svg" in run_cli("compare", path, *SMALL, "--plot", "curves.svg")[1]
    assert "drawn" not in run_cli("compare", path, *SMALL, "--no-plot")[1]
    assert sorted(file.name for file in tmp_path.iterdir()) == ["curves.svg", "rewards.csv"]


def test_a_failed_drawing_keeps_the_old_plot(run_cli, rewards_file, tmp_path, monkeypatch):
    from matplotlib.figure import Figure

    (tmp_path / "rewards-regret.png").write_text("old")

    def onto_a_full_disk(self, target, **_):
        with open(target, "wb") as file:
            file.write(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Figure, "savefig", onto_a_full_disk)
    status, _, err = run_cli("compare", rewards_file(TWO_ARMS), *SMALL)
    assert status == 2
    assert "No space left" in err
    assert (tmp_path / "rewards-regret.png").read_text() == "old"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["rewards-regret.png", "rewards.csv"]


def test_compare_takes_the_names_of_the_columns(run_cli, rewards_file):
    path = rewards_file("Variant;Umsatz\nblau;1,5\nblau;2,5\nrot;3,0\nrot;4,0\n")
    status, out, _ = run_cli("compare", path, *SMALL, "--arm", "variant", "--reward", "umsatz", "--no-plot")
    assert status == 0
    assert out.splitlines()[1].split() == ["rot", "2", "3.5", "0.5"]


def test_compare_escapes_and_shortens_names(run_cli, rewards_file):
    path = rewards_file(f"arm,reward\n\x1b[31mred,1\n\u202edlog,2\n{'x' * 5_000},3\n")
    status, out, _ = run_cli("compare", path, *SMALL, "--no-plot", "--policies", "FollowTheLeader")
    assert status == 0
    assert "\\x1b[31mred" in out
    assert "\\u202edlog" in out
    assert "\x1b" not in out
    assert max(map(len, out.splitlines())) < 130


def test_compare_says_what_it_leaves_out_and_why(run_cli, rewards_file):
    _, out, _ = run_cli("compare", rewards_file(TWO_ARMS), *SMALL)
    for words in ("Giro (slow", "ResidualBootstrap (", "PHE (made for rewards in [0, 1])"):
        assert f"Left out: {words}" in out
    assert "--policies NAME,NAME compares others" in out


@pytest.mark.parametrize("text", ["arm,reward\na,1\na,1\nb,2\nb,2\n", "arm,reward\na,1\nb,2\n"])
def test_compare_without_a_spread_leaves_out_what_needs_one(run_cli, rewards_file, text):
    status, out, _ = run_cli("compare", rewards_file(text), *SMALL)
    assert status == 0
    assert "pooled sd, " not in out
    assert "ReBoot, UCB1, ThompsonSampling (needs a standard deviation" in out


def test_compare_takes_the_policies_that_are_chosen(run_cli, cli_error, rewards_file):
    path = rewards_file(TWO_ARMS)
    status, out, _ = run_cli("compare", path, *SMALL, "--policies", "PHE, ResidualBootstrap")
    assert status == 0
    assert "which is wrong here" in out
    assert "AdaptiveReBoot" not in out
    assert "Left out" not in out
    for chosen in ("Giro", "ThompsonSampling"):  # alone there is no best, and no error
        status, out, _ = run_cli("compare", path, *SMALL, "--policies", chosen)
        assert status == 0
        assert "Best" not in out
    assert "unknown policy 'Gyro'" in cli_error("compare", path, "--policies", "UCB1,Gyro")
    constant = rewards_file("arm,reward\na,1\nb,2\n")
    assert "UCB1 cannot play these rewards" in cli_error("compare", constant, "--policies", "UCB1")


def test_the_largest_rewards_are_compared_without_overflow(run_cli, rewards_file):
    path = rewards_file(f"arm,reward\na,{LARGEST}\na,-{LARGEST}\nb,{LARGEST}\nb,0\n")
    status, out, _ = run_cli("compare", path, *SMALL)
    assert status == 0
    assert "inf" not in out
    assert "nan" not in out


def test_more_arms_than_rounds_are_refused_before_the_rewards_are_grouped(cli_error, rewards_file, monkeypatch):
    monkeypatch.setattr("bootleader.comparison._reward_table._statistics", None)  # slow with a million arms
    path = rewards_file("arm,reward\n" + "".join(f"{arm},1\n" for arm in range(3000)))
    line = cli_error("compare", path, "--rounds", "2999")
    assert "has 3,000 arms" in line
    assert "rounds must be at least 3,000, got 2,999" in line
