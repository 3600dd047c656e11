"""What a simulation returns: shapes, tables, comparisons, files and figures."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest
from scipy import stats

import bootleader as bl
from bootleader.simulation._block_runs import QUANTITIES
from bootleader.simulation._result_files import FORMAT
from tests.helpers import Recorder

ATTRIBUTES = (
    "rounds",
    "over_time",
    "mean_regret",
    "standard_error",
    "final_regret",
    "pulls",
    "pulls_by_rank",
    "recommended_by_rank",
    "seconds",
)


@pytest.fixture(scope="module")
def sim() -> bl.Simulation:
    policies = {"ours": bl.ReBoot(sigma_a=1.0), "theirs": bl.ThompsonSampling(), "none": bl.FollowTheLeader()}
    return bl.simulate(policies, bl.GaussianBandit([1.0, 0.0]), rounds=300, runs=90, seed=4, checkpoints=25)


def test_shapes(sim):
    assert sim.policies == ("ours", "theirs", "none")
    assert sim.rounds.shape == (25,)
    assert sim.rounds[-1] == 300
    assert (np.diff(sim.rounds) > 0).all()
    assert sim.mean_regret.shape == sim.standard_error.shape == (3, 25)
    assert sim.final_regret.shape == (3, 90)
    assert sim.pulls.shape == (3, 2)
    assert sim.runs == 90


def test_numbers_agree_with_each_other(sim):
    np.testing.assert_allclose(sim.mean_regret[:, -1], sim.final_regret.mean(axis=1), rtol=1e-12)
    np.testing.assert_allclose(sim.standard_error[:, -1], stats.sem(sim.final_regret, axis=1), rtol=1e-9)
    np.testing.assert_allclose(sim.pulls.sum(axis=1), 300)
    # The gaps are 0 and 1, so regret counts the pulls of the second arm.
    np.testing.assert_allclose(sim.pulls[:, 1], sim.mean_regret[:, -1], rtol=1e-12)


def test_recorded_quantities_agree_with_the_rewards():
    """Regret, reward, share of best-arm pulls and recommendation, recomputed from every reward of every run."""
    means, rounds, runs = np.array([0.3, 1.0, 0.8]), 31, 12
    Recorder.clear()
    sim = bl.simulate(Recorder(), bl.GaussianBandit(means), rounds=rounds, runs=runs, seed=5, checkpoints=1)
    wanted = []
    for rewards in Recorder.runs:
        pulls = np.array([len(rewards[arm]) for arm in range(3)])
        gap_of_recommended = 1.0 - means[np.argmax([np.mean(rewards[arm]) for arm in range(3)])]
        wanted.append([
            pulls @ (1.0 - means), sum(map(sum, rewards.values())), pulls[1] / rounds, gap_of_recommended,
            float(gap_of_recommended == 0.0),
        ])  # fmt: skip
    assert len(wanted) == runs
    assert 0.0 < np.mean([row[4] for row in wanted]) < 1.0
    assert QUANTITIES == ("regret", "reward", "best_arm_share", "simple_regret", "best_arm_recommended")
    np.testing.assert_allclose(sim.over_time[0, :, 0, 0], np.mean(wanted, axis=0), rtol=1e-12)
    np.testing.assert_allclose(sim.over_time[0, :, 1, 0], stats.sem(wanted, axis=0), rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize(("rounds", "checkpoints"), [(10, 200), (10, 3), (7, 7), (1_000, 1), (999, 200)])
def test_checkpoints(rounds, checkpoints):
    sim = bl.simulate(bl.UCB1(), bl.GaussianBandit([1, 0]), rounds=rounds, runs=2, checkpoints=checkpoints)
    assert len(sim.rounds) == min(rounds, checkpoints)
    assert sim.rounds[-1] == rounds
    assert (np.diff(sim.rounds, prepend=0) > 0).all()


def test_a_single_run_has_no_standard_error(tmp_path):
    sim = bl.simulate([bl.UCB1(), bl.PHE()], bl.GaussianBandit([1, 0]), rounds=50, runs=1)
    assert np.isnan(sim.standard_error).all()
    assert np.isnan(sim.compare(0, 1).low)
    assert "PHE()" in str(sim)
    sim.plot(tmp_path / "one.png")


def test_frame_is_tidy(sim):
    frame = sim.to_frame()
    quantities = ["mean_reward", "best_arm_share", "simple_regret", "best_arm_recommended"]
    assert list(frame.columns) == ["policy", "round", "mean_regret", "standard_error", *quantities]
    assert len(frame) == 3 * 25
    assert not frame.duplicated(["policy", "round"]).any()
    for place, name in enumerate(sim.policies):
        curve = frame[frame["policy"] == name]
        np.testing.assert_array_equal(curve["round"], sim.rounds)
        np.testing.assert_array_equal(curve["mean_regret"], sim.mean_regret[place])
        np.testing.assert_array_equal(curve["standard_error"], sim.standard_error[place])
        for name in quantities:
            np.testing.assert_array_equal(curve[name], getattr(sim, name)[place])


def test_frame_of_runs(sim):
    frame = sim.to_frame(runs=True)
    assert list(frame.columns) == ["policy", "run", "final_regret"]
    assert len(frame) == 3 * 90
    for place, name in enumerate(sim.policies):
        rows = frame[frame["policy"] == name]
        np.testing.assert_array_equal(rows["run"], np.arange(90))
        np.testing.assert_array_equal(rows["final_regret"], sim.final_regret[place])


def test_latex(sim, tmp_path):
    named = bl.simulate(
        {"50 % & more_{x}": bl.UCB1(), "b": bl.PHE()}, bl.GaussianBandit([30.0, 0.0]), rounds=900, runs=20, seed=1
    )
    text = named.to_latex(tmp_path / "table.tex")
    assert (tmp_path / "table.tex").read_text() == text
    lines = text.splitlines()
    assert lines[0].startswith("% GaussianBandit(means=(30.0, 0.0), sd=1.0): 900 rounds, 20 runs, seed 1")
    assert lines[1] == r"\begin{tabular}{lrrr}"
    assert [line.count("&") for line in lines if line.endswith(r"\\")] == [3, 4, 3]  # one is in a name
    assert r"50 \% \& more\_\{x\} & " in text
    bold = [line for line in lines if r"\mathbf" in line]
    assert len(bold) == 1
    assert bold[0].startswith("b &") == (named.mean_regret[1, -1] < named.mean_regret[0, -1])
    means, errors = named.mean_regret[:, -1], named.standard_error[:, -1]
    for row, mean, error in zip(lines[5:7], means, errors, strict=True):
        found = row.split(" & $")[1].replace(r"\mathbf{", "").replace("{,}", "")
        assert float(found.split(r" \pm ")[0].rstrip("}")) == pytest.approx(mean, abs=0.06 * error)
        assert float(found.split(r" \pm ")[1].rstrip("$")) == pytest.approx(error, rel=0.05)
    assert r"\pm" not in bl.simulate(bl.UCB1(), bl.GaussianBandit([1, 0]), rounds=10, runs=1).to_latex()


def test_table(sim):
    text = str(sim)
    assert repr(sim) == text
    for words in (
        "policy",
        "mean_regret",
        "standard_error",
        "median",
        "quantile_95",
        "quantile_99",
        "seconds",
        "GaussianBandit",
        "seed 4",
    ):
        assert words in text
    for name in sim.policies:
        assert name in text
    table = sim.summary().set_index("policy")
    np.testing.assert_allclose(table["median"], np.median(sim.final_regret, axis=1))
    np.testing.assert_allclose(table["quantile_95"], np.quantile(sim.final_regret, 0.95, axis=1))
    np.testing.assert_allclose(table["quantile_99"], np.quantile(sim.final_regret, 0.99, axis=1))
    np.testing.assert_allclose(table["standard_error"], stats.sem(sim.final_regret, axis=1))
    assert f"{table.loc['ours', 'mean_regret']:.1f}" in text


@pytest.mark.parametrize(("a", "b"), [("ours", "theirs"), (0, 2), ("none", 1)])
def test_compare_is_the_paired_t_interval(sim, a, b):
    found = sim.compare(a, b)
    first, second = (sim.policies.index(x) if isinstance(x, str) else x for x in (a, b))
    wanted = stats.ttest_rel(sim.final_regret[first], sim.final_regret[second]).confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((wanted.low, wanted.high), rel=1e-9)
    assert found.difference == pytest.approx(np.mean(sim.final_regret[first] - sim.final_regret[second]))
    back = sim.compare(b, a)
    assert (back.difference, back.low, back.high) == pytest.approx((-found.difference, -found.high, -found.low))


def test_compare_names_the_better_policy(sim):
    noise = np.random.default_rng(0).normal(size=90)
    known = dataclasses.replace(sim, final_regret=np.array([noise, noise[::-1] + 5, noise[::-1]]))
    assert "ours is better" in str(known.compare("ours", "theirs"))
    assert "ours is better" in str(known.compare("theirs", "ours"))
    assert "undecided" in str(known.compare("ours", "none"))


@pytest.mark.parametrize("unknown", ["nobody", 3, -1, None, 0.0, True])
def test_compare_with_an_unknown_policy(sim, unknown):
    with pytest.raises(ValueError, match=r"'ours', 'theirs', 'none'"):
        sim.compare("ours", unknown)


def test_save_and_load(sim, tmp_path):
    path = tmp_path / "result.npz"
    sim.save(path)
    twin = bl.Simulation.load(path)
    for name in ATTRIBUTES:
        np.testing.assert_array_equal(getattr(twin, name), getattr(sim, name))
        assert getattr(twin, name).dtype == getattr(sim, name).dtype
    assert (twin.policies, twin.bandit, twin.seed) == (sim.policies, sim.bandit, sim.seed)
    assert str(twin) == str(sim)
    assert [file.name for file in tmp_path.iterdir()] == ["result.npz"]


def test_a_saved_file_holds_no_pickle(sim, tmp_path):
    path = tmp_path / "result.npz"
    sim.save(path)
    with np.load(path, allow_pickle=False) as stored:
        assert all(stored[name].dtype != object for name in stored.files)


def _foreign(tmp_path, kind):
    path = tmp_path / "foreign"
    with open(path, "wb") as file:
        if kind == "text":
            file.write(b"policy,regret\nReBoot,12\n")
        elif kind == "empty":
            pass
        elif kind == "npy":
            np.save(file, np.arange(3))
        elif kind == "npz":
            np.savez(file, x=np.arange(3))
        elif kind == "other about":
            np.savez(file, about=np.array("hello"))
        elif kind == "half":
            np.savez(file, about=np.array(json.dumps({"format": FORMAT, "policies": ["a"], "bandit": "b", "seed": 0})))
        elif kind == "pickle":
            np.savez(file, about=np.array([{"format": FORMAT}], dtype=object))
    return path


@pytest.mark.parametrize("kind", ["text", "empty", "npy", "npz", "other about", "half", "pickle"])
def test_foreign_files_are_refused(tmp_path, kind):
    path = _foreign(tmp_path, kind)
    with pytest.raises(ValueError, match="is not a saved Simulation") as caught:
        bl.Simulation.load(path)
    assert str(path) in str(caught.value)


def test_a_later_format_is_refused(tmp_path):
    path = tmp_path / "later.npz"
    with open(path, "wb") as file:
        np.savez(file, about=np.array(json.dumps({"format": 99})))
    with pytest.raises(ValueError, match="format 99"):
        bl.Simulation.load(path)


def test_a_missing_file_is_missing(tmp_path):
    with pytest.raises(FileNotFoundError):
        bl.Simulation.load(tmp_path / "nowhere.npz")


@pytest.mark.parametrize(("ending", "magic"), [("png", b"\x89PNG"), ("pdf", b"%PDF"), ("svg", b"<?xml")])
def test_plot_writes(sim, tmp_path, ending, magic):
    path = tmp_path / f"regret.{ending}"
    sim.plot(path)
    content = path.read_bytes()
    assert content.startswith(magic)
    assert len(content) > 5_000


def test_plot_is_labelled_and_legible_in_grey(sim):
    figure = sim.plot()
    (panel,) = figure.axes
    assert panel.get_xlabel() == "round"
    assert "regret" in panel.get_ylabel()
    lines = [line for line in panel.get_lines() if not line.get_label().startswith("_")]
    assert {line.get_label() for line in lines} == set(sim.policies)
    assert len({str(line.get_linestyle()) for line in lines}) == 3
    assert len(panel.collections) >= 3  # a standard error drawn for every curve
    assert "standard error" in panel.get_ylabel()
    for place, line in enumerate(lines):
        np.testing.assert_array_equal(line.get_ydata(), sim.mean_regret[place])


@pytest.mark.parametrize(("rounds", "means"), [(3, [1.0, 0.5]), (200, [0.005, 0.002]), (60, [12.0, 11.9])])
def test_tick_labels_are_the_ticks(rounds, means):
    figure = bl.simulate([bl.UCB1(), bl.EpsilonGreedy()], bl.GaussianBandit(means), rounds=rounds, runs=4).plot()
    figure.draw_without_rendering()
    for axis in (figure.axes[0].xaxis, figure.axes[0].yaxis):
        ticks = axis.get_ticklocs()
        labels = [label.get_text().replace(",", "").replace("\N{MINUS SIGN}", "-") for label in axis.get_ticklabels()]
        np.testing.assert_allclose([float(label) for label in labels], ticks, rtol=1e-9, atol=1e-12)


def test_a_bandit_of_many_means_leaves_room_for_the_curves():
    sim = bl.simulate(bl.UCB1(), bl.GaussianBandit(np.arange(300.0)), rounds=300, runs=1)
    assert len(sim.plot().axes[0].get_title(loc="left")) < 120
    assert max(map(len, str(sim).splitlines())) < 100
    assert "1 run," in str(sim)
    assert len(repr(sim.bandit)) > 1_000  # the whole of it is kept


def test_more_curves_than_colours_stay_apart():
    from bootleader.plots import COLOURS, style_of

    looks = [(style_of(place)["color"], style_of(place)["linestyle"]) for place in range(3 * len(COLOURS))]
    assert len(set(looks)) == len(looks)


def test_a_path_that_is_none(sim):
    with pytest.raises(TypeError, match="name of a file"):
        sim.plot(5)
