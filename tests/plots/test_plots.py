"""Plots: the numbers that are drawn, and what a reader sees of them."""

import re

import numpy as np
import pytest
from matplotlib.figure import Figure
from scipy import stats

import bootleader as bl
from bootleader.plots import (
    Curve,
    PanelOptions,
    PanelText,
    curves_figure,
    curves_of,
    family_styles,
    relative_curves,
    spread,
    style_of,
    write,
)
from bootleader.plots._axes import LABEL_GAP
from bootleader.plots._curve_data import band_in_words

ROUNDS = np.arange(10, 1_001, 10)


@pytest.fixture
def per_run():
    rng = np.random.default_rng(0)
    growth = np.array([1.0, 2.0, 30.0])[:, None, None] * np.log(ROUNDS)
    return growth * rng.gamma(5.0, 0.2, (3, 40, 1))


@pytest.fixture
def curves(per_run):
    return curves_of(["ReBoot(a=1)", "ReBoot(a=2)", "UCB1()"], ROUNDS, *moments(per_run), runs=40)


def moments(per_run):
    return per_run.mean(axis=1), stats.sem(per_run, axis=1)


def test_bands(per_run):
    mean, error = moments(per_run)
    one = curves_of("ABC", ROUNDS, mean, error, runs=40)["B"]
    np.testing.assert_allclose(one.high - one.mean, error[1])
    interval = curves_of("ABC", ROUNDS, mean, error, runs=40, band="95%")["B"]
    low, high = stats.t.interval(0.95, 39, loc=mean[1], scale=error[1])
    np.testing.assert_allclose([interval.low, interval.high], [low, high])
    spread_out = curves_of("ABC", ROUNDS, mean, error, runs=40, band=(0.1, 0.9), per_run=per_run)["C"]
    np.testing.assert_allclose(spread_out.low, np.quantile(per_run[2], 0.1, axis=0))
    assert band_in_words((0.05, 0.95)) == "5 % to 95 % of runs"


@pytest.mark.parametrize("band", ["sd", (0.9, 0.1), (0.1,), (-0.1, 0.5), ("a", "b"), None, 0.95])
def test_bad_bands_are_refused(band, per_run):
    with pytest.raises(ValueError, match='band must be "se", "95%" or two quantiles'):
        curves_of("ABC", ROUNDS, *moments(per_run), runs=40, band=band, per_run=per_run)


def test_quantiles_need_every_run(per_run):
    with pytest.raises(ValueError, match='keep="curves"'):
        curves_of("ABC", ROUNDS, *moments(per_run), runs=40, band=(0.1, 0.9))


def test_relative_curves_are_ratios(curves):
    found = relative_curves(curves, "ReBoot(a=1)")
    np.testing.assert_array_equal(found["ReBoot(a=1)"].mean, 1.0)
    np.testing.assert_allclose(found["UCB1()"].mean, curves["UCB1()"].mean / curves["ReBoot(a=1)"].mean)
    with pytest.raises(ValueError, match="relative_to must be one of 'ReBoot"):
        relative_curves(curves, "none")
    zero = Curve(ROUNDS, np.zeros(100), np.zeros(100))
    with pytest.raises(ValueError, match="positive regret"):
        relative_curves({"zero": zero}, "zero")


def test_rounds_without_regret_are_left_out_of_ratios():
    late = Curve(ROUNDS, np.maximum(ROUNDS - 500.0, 0.0), np.ones(100))
    assert relative_curves({"late": late}, "late")["late"].x[0] == 510


def test_a_family_has_shades_of_one_colour(curves):
    from matplotlib.colors import rgb_to_hsv, to_rgb

    styles = family_styles(["ReBoot(a=1)", "UCB1()", "ReBoot(a=2)", "ReBoot(a=3)", "PHE 2.1"])
    hues = {name: rgb_to_hsv(to_rgb(style["color"]))[0] for name, style in styles.items()}
    brightness = [sum(to_rgb(styles[f"ReBoot(a={n})"]["color"])) for n in (1, 2, 3)]
    assert hues["ReBoot(a=1)"] == pytest.approx(hues["ReBoot(a=3)"], abs=0.02)
    assert brightness == sorted(brightness, reverse=True)
    assert (styles["UCB1()"], styles["PHE 2.1"]) == (style_of(1), style_of(2))


@pytest.mark.parametrize("labels", ["end", "legend"])
@pytest.mark.parametrize("yscale", ["linear", "log"])
@pytest.mark.parametrize("xscale", ["linear", "log"])
def test_every_combination_is_drawn_and_named(curves, xscale, yscale, labels):
    figure = curves_figure(curves, PanelText("A title", "below it"), PanelOptions(xscale, yscale, labels))
    (panel,) = figure.axes
    figure.draw_without_rendering()
    assert (panel.get_xscale(), panel.get_yscale()) == (xscale, yscale)
    assert panel.get_title(loc="left") == "A title"
    texts = [text.get_text() for text in panel.texts]
    assert "below it" in texts
    listed = [text.get_text() for legend in figure.legends for text in legend.get_texts()]
    assert set(curves) <= set(texts if labels == "end" else listed)
    if labels == "legend":
        assert listed[0] == "UCB1()"  # from the highest curve to the lowest


def test_end_labels_do_not_overlap_and_stay_on_the_panel():
    x = np.arange(1, 11)
    crowded = {f"policy {n}": Curve(x, x * (1.0 + 0.001 * n), 0.0 * x) for n in range(8)}
    crowded["high"] = Curve(x, 50.0 * x, 0.0 * x)
    (panel,) = curves_figure(crowded).axes
    heights = sorted(text.get_position()[1] for text in panel.texts)
    assert min(np.diff(heights)) >= LABEL_GAP - 1e-9
    assert heights[0] >= 0.0
    assert heights[-1] <= 1.0


def test_labels_move_no_more_than_needed():
    assert spread({"a": 0.2, "b": 0.8}, 0.1) == {"a": 0.2, "b": 0.8}


def test_an_axis_of_the_users_is_drawn_on(curves):
    figure = Figure()
    left, right = figure.subplots(1, 2)
    assert curves_figure(curves, options=PanelOptions(labels="legend"), ax=right) is figure
    assert not left.lines
    assert len(right.lines) >= 3
    assert right.get_legend() is not None


@pytest.mark.parametrize("option", [{"xscale": "cubic"}, {"yscale": None}, {"labels": "middle"}])
def test_bad_options_are_named(curves, option):
    (name,) = option
    with pytest.raises(ValueError, match=f"{name} must be one of"):
        curves_figure(curves, options=PanelOptions(**option))


def test_a_pdf_has_type_42_fonts_and_the_same_numbers_give_the_same_file(curves, tmp_path):
    for name in ("a.pdf", "b.pdf", "a.svg", "b.svg"):
        write(curves_figure(curves, PanelText("Mean regret")), tmp_path / name)
    written = (tmp_path / "a.pdf").read_bytes()
    assert b"/Type3" not in written
    assert re.search(rb"/Subtype /(CIDFontType2|TrueType)", written)
    for ending in ("pdf", "svg"):
        assert (tmp_path / f"a.{ending}").read_bytes() == (tmp_path / f"b.{ending}").read_bytes()


def test_one_checkpoint_is_a_point():
    (panel,) = curves_figure({"A": Curve([5], [1.0], [0.1])}).axes
    assert panel.lines[0].get_marker() == "o"


@pytest.fixture(scope="module")
def sim():
    policies = [bl.ReBoot(sigma_a=1.0), bl.ReBoot(sigma_a=2.0), bl.UCB1()]
    return bl.simulate(policies, bl.GaussianBandit([1.0, 0.0]), rounds=500, runs=16, seed=1)


def test_a_simulation_draws_the_policies_asked_for(sim):
    (panel,) = sim.plot(policies=["UCB1()", 0], yscale="log", band="95%", title="Mine").axes
    assert [line.get_label() for line in panel.lines if not line.get_label().startswith("_")] == [
        "UCB1()",
        "ReBoot(sigma_a=1.0)",
    ]
    assert panel.get_title(loc="left") == "Mine"
    assert panel.get_ylabel() == "mean regret, 95 % interval (log scale)"


def test_a_simulation_is_drawn_relative_to_a_policy(sim):
    (panel,) = sim.plot(relative_to="UCB1()").axes
    drawn = {line.get_label(): line.get_ydata() for line in panel.lines}
    np.testing.assert_allclose(drawn["UCB1()"], 1.0)
    np.testing.assert_allclose(drawn["ReBoot(sigma_a=1.0)"][-1], sim.mean_regret[0, -1] / sim.mean_regret[2, -1])
    assert panel.get_title(loc="left") == "Mean regret relative to UCB1() over 16 runs"
    with pytest.raises(ValueError, match="unknown policy 'none'"):
        sim.plot(relative_to="none")
    with pytest.raises(ValueError, match="unknown policy 3"):
        sim.plot(policies=[3])


def test_regret_of_zero_has_a_label_on_a_log_axis():
    x = np.arange(1, 11)
    (panel,) = curves_figure(
        {"none": Curve(x, 0.0 * x, 0.0 * x), "some": Curve(x, 1.0 * x, 0.1 * x)}, options=PanelOptions(yscale="log")
    ).axes
    heights = {text.get_text(): text.get_position()[1] for text in panel.texts}
    assert heights["none"] == pytest.approx(0.0, abs=0.01)
    assert heights["some"] > 0.5
