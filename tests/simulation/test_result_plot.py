"""Pictures of a simulation: each shows the numbers that it says, and options are checked."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure
from scipy import stats

import bootleader as bl
from bootleader.plots._notebook_figure import ShownFigure

POLICIES = [bl.ReBoot(sigma_a=1.0), bl.UCB1(), bl.ReBoot(sigma_a=2.0)]


@pytest.fixture(scope="module")
def sim() -> bl.Simulation:
    bandit = bl.GaussianBandit(bl.Uniform(0.0, 1.0, arms=4))
    return bl.simulate(POLICIES, bandit, rounds=300, runs=50, seed=4, checkpoints=30, keep="curves")


def curves_in(figure):
    (panel,) = figure.axes
    return {line.get_label(): line for line in panel.get_lines() if not line.get_label().startswith("_")}


def bands_in(figure):
    """The lower and the upper edge of each band (checkpoint x 2)."""
    from matplotlib.collections import PolyCollection

    (panel,) = figure.axes
    paths = [found.get_paths()[0] for found in panel.collections if isinstance(found, PolyCollection)]
    edges = []
    for path in paths:
        at: dict[float, list[float]] = {}
        for x, y in path.vertices:
            at.setdefault(float(x), []).append(float(y))
        edges.append(np.array([[min(at[x]), max(at[x])] for x in sorted(at)]))
    return edges


@pytest.mark.parametrize("what", ["regret", "best_arm_share", "simple_regret"])
def test_a_quantity_over_time(sim, what):
    figure = sim.plot(what=what)
    found = curves_in(figure)
    wanted = {"regret": sim.mean_regret}.get(what, getattr(sim, what, None))
    assert list(found) == list(sim.policies)
    for place, name in enumerate(sim.policies):
        np.testing.assert_array_equal(found[name].get_xdata(), sim.rounds)
        np.testing.assert_array_equal(found[name].get_ydata(), wanted[place])
    assert "± 1 standard error" in figure.axes[0].get_ylabel()
    quantity = ["regret", "reward", "best_arm_share", "simple_regret"].index(what)
    mean, error = sim.over_time[1, quantity]
    np.testing.assert_allclose(bands_in(figure)[1], np.transpose([mean - error, mean + error]))


def test_bands(sim):
    mean, error = sim.mean_regret[1], sim.standard_error[1]
    reach = stats.t.ppf(0.975, 49) * error
    np.testing.assert_allclose(bands_in(sim.plot(band="95%"))[1], np.transpose([mean - reach, mean + reach]))
    figure = sim.plot(band=(0.25, 0.75))
    np.testing.assert_allclose(bands_in(figure)[1], np.quantile(sim.curves[1], [0.25, 0.75], axis=0).T)
    assert "25 % to 75 % of runs" in figure.axes[0].get_ylabel()


def test_quantile_bands_need_curves(sim):
    without = bl.simulate(POLICIES, sim.bandit, rounds=20, runs=3)
    with pytest.raises(ValueError, match=r'keep="curves"'):
        without.plot(band=(0.1, 0.9))
    with pytest.raises(ValueError, match=r"of the regret alone.*'se' or '95%'"):
        sim.plot(what="simple_regret", band=(0.1, 0.9))


def test_pulls_by_rank(sim):
    figure = sim.plot(what="pulls_by_rank", yscale="log")
    (panel,) = figure.axes
    assert "rank" in panel.get_xlabel()
    for place, line in enumerate(curves_in(figure).values()):
        np.testing.assert_array_equal(line.get_xdata(), [1, 2, 3, 4])
        np.testing.assert_array_equal(line.get_ydata(), sim.pulls_by_rank[place])
        assert line.get_marker() == "o"
    assert bands_in(figure) == []
    low, high = panel.get_ylim()
    assert low < sim.pulls_by_rank.min()
    assert high > sim.pulls_by_rank.max()


def test_a_log_axis_shows_a_falling_curve_to_its_end(sim):
    (panel,) = sim.plot(what="simple_regret", yscale="log").axes
    assert panel.get_ylim()[0] < sim.simple_regret[sim.simple_regret > 0.0].min()


def test_some_policies_look_as_in_the_picture_of_all(sim):
    every, some = curves_in(sim.plot()), curves_in(sim.plot(policies=["ReBoot(sigma_a=2.0)", 1]))
    assert list(some) == ["ReBoot(sigma_a=2.0)", "UCB1()"]
    for name, line in some.items():
        assert (line.get_color(), line.get_linestyle()) == (every[name].get_color(), every[name].get_linestyle())
    with pytest.raises(ValueError, match="unknown policy 'nobody'"):
        sim.plot(policies=["nobody"])


def test_a_policy_to_divide_by_need_not_be_drawn(sim):
    figure = sim.plot(relative_to="UCB1()", policies=[0], what="best_arm_share")
    line = curves_in(figure)["ReBoot(sigma_a=1.0)"]
    at = sim.best_arm_share[1] > 0.0
    np.testing.assert_array_equal(line.get_ydata(), sim.best_arm_share[0][at] / sim.best_arm_share[1][at])
    assert "relative to UCB1()" in figure.axes[0].get_title(loc="left")


def test_title(sim):
    (panel,) = sim.plot(title="Mine").axes
    assert panel.get_title(loc="left") == "Mine"
    assert "over 50 runs" in sim.plot().axes[0].get_title(loc="left")


@pytest.mark.parametrize(
    ("option", "accepted"),
    [
        ({"what": "reward"}, "'regret', 'best_arm_share', 'simple_regret', 'pulls_by_rank'"),
        ({"xscale": "cube"}, "'linear', 'log'"),
        ({"labels": "none"}, "'end', 'legend'"),
        ({"band": "99%"}, '"95%"'),
        ({"relative_to": 7}, "unknown policy 7"),
    ],
)
def test_options_are_checked(sim, option, accepted):
    with pytest.raises(ValueError, match=accepted):
        sim.plot(**option)


def test_on_given_axes(sim):
    figure = Figure()
    left, right = figure.subplots(1, 2)
    assert sim.plot(ax=left) is figure
    assert left.get_lines()
    assert not right.get_lines()


def test_a_notebook_shows_the_figure(sim):
    assert sim.plot()._repr_png_().startswith(b"\x89PNG")


def test_the_figure_is_pyplots_if_pyplot_is_there(sim):
    import matplotlib

    before = matplotlib.get_backend()
    import matplotlib.pyplot as plt

    plt.switch_backend("agg")
    try:
        figure = sim.plot()
        assert plt.gcf() is figure
        assert isinstance(figure, ShownFigure)
        plt.close("all")
        sim.plot(ax=Figure().subplots())
        assert plt.get_fignums() == []
    finally:
        plt.close("all")
        plt.switch_backend(before)


def test_a_figure_that_is_written_is_not_kept_by_pyplot(sim, tmp_path):
    import matplotlib.pyplot as plt

    plt.close("all")
    sim.plot(tmp_path / "a.png")
    assert plt.get_fignums() == []
