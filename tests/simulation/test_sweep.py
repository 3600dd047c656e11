"""Sweeps: every cell is the simulation that ``simulate`` gives, and frame and heat map show its numbers."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import bootleader as bl
from bootleader.simulation import _task_schedule
from bootleader.simulation._task_schedule import LEAST_WORK, TASK_DRAWS, Piece, packed

SIZE = {"rounds": 60, "runs": 40, "seed": 5}
SIGMAS, GAPS = [0.5, 1.0, 2.0], [0.1, 1.0]


def make(sigma_a, gap):
    return {"ReBoot": bl.ReBoot(sigma_a), "UCB1": bl.UCB1()}, bl.GaussianBandit([gap, 0.0])


@pytest.fixture(scope="module")
def swept() -> bl.Sweep:
    return bl.sweep(make, sigma_a=SIGMAS, gap=GAPS, **SIZE)


def test_every_cell_is_its_simulation(swept):
    assert len(swept) == 6
    assert [tuple(cell.values()) for cell, _ in swept] == list(itertools.product(SIGMAS, GAPS))
    for cell, sim in swept:
        alone = bl.simulate(*make(**cell), checkpoints=1, **SIZE)
        assert sim.policies == alone.policies
        assert sim.bandit == alone.bandit
        for name in ("over_time", "final_regret", "pulls", "pulls_by_rank", "recommended_by_rank"):
            np.testing.assert_array_equal(getattr(sim, name), getattr(alone, name))
    np.testing.assert_array_equal(
        swept.simulation(sigma_a=1.0, gap=0.1).final_regret,
        bl.simulate(*make(1.0, 0.1), **SIZE).final_regret,
    )


@pytest.mark.parametrize("least_work", [0.0, 1e5, 1e12])
def test_how_cells_are_packed_into_tasks_changes_nothing(swept, monkeypatch, least_work):
    monkeypatch.setattr(_task_schedule, "LEAST_WORK", least_work)
    again = bl.sweep(make, sigma_a=SIGMAS, gap=GAPS, n_jobs=2, **SIZE)
    for a, b in zip(swept.simulations, again.simulations, strict=True):
        np.testing.assert_array_equal(a.over_time, b.over_time)
        np.testing.assert_array_equal(a.final_regret, b.final_regret)


def test_small_pieces_share_tasks_and_large_ones_do_not():
    def sizes(draws, width):
        pieces = [Piece(number, 0, 0, [], work) for number, work in enumerate(draws)]
        tasks = packed(pieces, width)
        assert [piece for task in tasks for piece in task.pieces] == pieces  # all of them, in order
        return [len(task.pieces) for task in tasks]

    assert sizes([2.0 * LEAST_WORK] * 3, 2) == [1, 1, 1]
    assert sizes([LEAST_WORK / 4] * 10, 2) == [4, 4, 2]
    assert sizes([LEAST_WORK / 4, 2.0 * LEAST_WORK, LEAST_WORK / 4, LEAST_WORK / 4], 2) == [1, 1, 2]
    # A hundred workers: tasks so long that they are all busy while the scheduler submits one to each.
    many = sizes([LEAST_WORK] * 1_000, 100)
    assert set(many[:-1]) == {100 * TASK_DRAWS // LEAST_WORK}
    # Little work in all: not a single long task.
    assert len(sizes([LEAST_WORK / 4] * 40, 1_000)) >= 8


def test_the_progress_counts_every_run():
    ended = []
    bl.sweep(make, sigma_a=SIGMAS, gap=GAPS, progress=ended.append, **SIZE)
    assert sum(ended) == 6 * 2 * 40


def test_one_progress_bar(capfd):
    bl.sweep(make, sigma_a=SIGMAS, gap=GAPS, progress=True, **SIZE)
    assert "480/480" in capfd.readouterr().err


def test_options_reach_the_cells():
    found = bl.sweep(make, sigma_a=[1.0], gap=[1.0], keep="curves", checkpoints=[10, 30], delay=2, **SIZE)
    (sim,) = found.simulations
    assert sim.curves.shape == (2, 40, 3)
    assert sim.rounds.tolist() == [10, 30, 60]
    assert sim.delay is not None


def test_frame(swept):
    frame = swept.to_frame()
    assert list(frame.columns[:5]) == ["sigma_a", "gap", "policy", "mean_regret", "standard_error"]
    assert len(frame) == 12
    assert not frame.duplicated(["sigma_a", "gap", "policy"]).any()
    for row in frame.itertuples():
        regret = bl.simulate(*make(row.sigma_a, row.gap), **SIZE)[row.policy].final_regret[0]
        assert row.mean_regret == pytest.approx(regret.mean(), rel=1e-12)
        assert row.standard_error == pytest.approx(regret.std(ddof=1) / np.sqrt(40), rel=1e-9)
        assert row.median == pytest.approx(np.median(regret))
        assert row.quantile_95 == pytest.approx(np.quantile(regret, 0.95))
        assert row.best_arm_share == pytest.approx(1.0 - regret.mean() / row.gap / 60)
    assert "6 cells" in repr(swept)


def numbers_in(figure):
    return np.array([float(text.get_text().replace(",", "")) for text in figure.axes[0].texts])


def test_heat_map(swept):
    figure = swept.heat_map(policy="ReBoot")
    panel = figure.axes[0]
    assert (panel.get_xlabel(), panel.get_ylabel()) == ("sigma_a", "gap")
    assert [label.get_text() for label in panel.get_xticklabels()] == ["0.5", "1.0", "2.0"]
    wanted = [[swept.simulation(sigma_a=s, gap=g).mean_regret[0, -1] for s in SIGMAS] for g in GAPS]
    np.testing.assert_allclose(panel.images[0].get_array(), wanted, rtol=1e-12)
    np.testing.assert_allclose(numbers_in(figure), np.ravel(wanted), rtol=5e-3)
    across = swept.heat_map(policy="ReBoot", x="gap")
    np.testing.assert_array_equal(across.axes[0].images[0].get_array(), np.transpose(wanted))


def test_a_heat_map_of_very_many_cells_is_a_small_picture():
    from bootleader.plots import heat_map

    table = np.arange(120.0 * 90).reshape(90, 120)
    figure = heat_map(table, [str(row) for row in range(90)], [str(column) for column in range(120)])
    width, height = figure.get_size_inches()
    assert width < 15
    assert height < 12
    panel = figure.axes[0]
    assert len(panel.texts) == 0
    assert [label.get_text() for label in panel.get_xticklabels()][:3] == ["0", "8", "16"]
    assert len(panel.get_yticks()) <= 20


def test_axes_show_four_digits():
    found = bl.sweep(make, sigma_a=[0.1 + 0.2, 1.0 / 3.0], gap=[1.0, 10_000.0], **SIZE)
    panel = found.heat_map(policy="UCB1").axes[0]
    assert [label.get_text() for label in panel.get_xticklabels()] == ["0.3", "0.3333"]
    assert [label.get_text() for label in panel.get_yticklabels()] == ["1.0", "10000.0"]


def test_heat_map_of_ratios_and_of_other_values(swept):
    ratios = swept.heat_map(policy="ReBoot", relative_to="UCB1", value="quantile_95").axes[0].images[0].get_array()
    quantiles = np.quantile(swept.simulation(sigma_a=2.0, gap=0.1).final_regret, 0.95, axis=1)
    assert ratios[0, 2] == pytest.approx(quantiles[0] / quantiles[1])
    shares = swept.heat_map(policy="UCB1", value="best_arm_share").axes[0].images[0].get_array()
    assert shares[1, 0] == swept.simulation(sigma_a=0.5, gap=1.0).best_arm_share[1, -1]


def test_rows_are_policies_if_one_parameter_is_left(swept, tmp_path):
    figure = swept.heat_map(tmp_path / "map.png", gap=1.0)
    assert (tmp_path / "map.png").read_bytes().startswith(b"\x89PNG")
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["ReBoot", "UCB1"]
    wanted = np.transpose([swept.simulation(sigma_a=s, gap=1.0).mean_regret[:, -1] for s in SIGMAS])
    np.testing.assert_array_equal(figure.axes[0].images[0].get_array(), wanted)


def test_policies_that_carry_the_parameter_in_their_names():
    found = bl.sweep(
        lambda sigma_a: ([bl.ReBoot(sigma_a), bl.UCB1()], bl.GaussianBandit([1, 0])), sigma_a=SIGMAS, **SIZE
    )
    figure = found.heat_map()
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["ReBoot", "UCB1"]
    figure.axes[0].figure.draw_without_rendering()


def test_a_heat_map_of_too_much_or_nothing(swept):
    with pytest.raises(ValueError, match="policy must name one policy of every cell, such as 'ReBoot', got None"):
        swept.heat_map()
    with pytest.raises(ValueError, match="relative_to must name one policy"):
        swept.heat_map(policy="UCB1", relative_to="PHE")
    with pytest.raises(ValueError, match="x must be one of 'sigma_a', 'gap', got 'sd'"):
        swept.heat_map(x="sd")
    with pytest.raises(ValueError, match=r"gap must be one of 0.1, 1.0, got 3"):
        swept.heat_map(gap=3)
    with pytest.raises(ValueError, match="unknown parameter 'sd'"):
        swept.heat_map(sd=3)
    with pytest.raises(ValueError, match="'mean_regret'"):
        swept.heat_map(policy="ReBoot", value="regret")
    with pytest.raises(ValueError, match="two axes"):
        swept.heat_map(policy="ReBoot", sigma_a=1.0, gap=1.0)
    with pytest.raises(ValueError, match="two axes"):
        swept.heat_map(policy="ReBoot", x="gap", y="gap")
    with pytest.raises(ValueError, match=r"3 cells have gap=0\.1; give sigma_a too"):
        swept.simulation(gap=0.1)


def test_three_parameters_need_a_value_of_one():
    found = bl.sweep(
        lambda a, b, c: (bl.ReBoot(a), bl.GaussianBandit([b, 0.0], sd=c)),
        a=[1, 2],
        b=[1, 2],
        c=[1, 2],
        rounds=9,
        runs=2,
    )
    with pytest.raises(ValueError, match=r"give a value of c, as in c=\.\.\."):
        found.heat_map()
    found.heat_map(c=2)
    found.heat_map(x="c", y="a", b=1)


@pytest.mark.parametrize(
    ("values", "error", "words"),
    [
        ({}, ValueError, "at least one parameter"),
        ({"sigma_a": 1.0, "gap": [1.0]}, TypeError, r"sigma_a must be a list of values.*got 1.0"),
        ({"sigma_a": "abc", "gap": [1.0]}, TypeError, "sigma_a must be a list"),
        ({"sigma_a": [], "gap": [1.0]}, ValueError, "sigma_a must have at least one value"),
        ({"sigma_a": [1.0, 1.0], "gap": [1.0]}, ValueError, "values of sigma_a must differ"),
        ({"sigma_a": [1.0], "gap": [1.0], "sd": [1.0]}, TypeError, "sd"),
    ],
)
def test_parameters_are_checked(values, error, words):
    with pytest.raises(error, match=words):
        bl.sweep(make, **SIZE, **values)


def test_an_error_names_its_cell():
    with pytest.raises(ValueError, match="sigma_a must be") as caught:
        bl.sweep(make, sigma_a=[1.0, -1.0], gap=[0.5], **SIZE)
    assert "in the cell sigma_a=-1.0, gap=0.5 of the sweep" in caught.value.__notes__
    with pytest.raises(TypeError, match="make must return policies and a bandit"):
        bl.sweep(lambda gap: bl.UCB1(), gap=[1.0], **SIZE)


def test_numpy_values_are_plain_numbers():
    found = bl.sweep(make, sigma_a=np.linspace(0.5, 1.0, 2), gap=np.array([1, 2]), **SIZE)
    assert found.parameters == {"sigma_a": (0.5, 1.0), "gap": (1, 2)}
    assert all(type(value) in (float, int) for values in found.parameters.values() for value in values)
