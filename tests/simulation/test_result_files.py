"""Saved simulations: everything comes back, the bandit as an object; damaged files are refused."""

from __future__ import annotations

import json
import zipfile

import numpy as np
import pytest

import bootleader as bl
from bootleader.simulation._bandit_json import form_of, from_form, kinds, same_bandit
from tests.oracle.cases import BANDIT_CASES

BANDITS = [
    bl.GaussianBandit([1.0, 0.5], sd=[1.0, 2.0]),
    bl.GaussianBandit(bl.Uniform(5, 7, arms=4), sd=bl.LogUniform(0.1, 10)),
    bl.LogisticBandit([0.1, 0.2 + 0.1]),
    bl.StudentTBandit([1.0, 0.0], df=3.5, sd=2.0),
    bl.ExponentialBandit([1.0, 2.0], shift=-3.0),
    bl.BernoulliBandit(bl.Uniform(0.2, 0.4, arms=3)),
    bl.RevenueBandit([1.0, 2.0]),
    bl.EmpiricalBandit([[1.0, 2.0], [0.1, 1 / 3, 9.0]]),
    bl.AffineBandit(bl.BernoulliBandit([0.02, 0.03]), scale=100),
    bl.AffineBandit(bl.AffineBandit(bl.EmpiricalBandit([[1.0], [0.0]]), shift=2.0), scale=2.0),
    bl.Piecewise([(bl.BernoulliBandit([0.2, 0.8]), 10), (bl.GaussianBandit([0.8, 0.2]), 10)]),
    bl.Drifting(bl.GaussianBandit([1.0, 0.0]), sd=0.01),
    bl.Seasonal(bl.GaussianBandit([1.0, 0.0]), amplitude=0.5, period=100),
    bl.GaussianBandit(bl.Normal(0.0, 1.0, arms=3)),
    bl.BernoulliBandit(bl.Beta(2.0, 3.0, arms=3)),
]
CASES = {f"{place} {type(bandit).__name__}": bandit for place, bandit in enumerate(BANDITS)} | {
    f"case {case.id}": case.bandit for case in BANDIT_CASES
}


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "sim.npz"
    bandit = bl.BernoulliBandit([0.2, 0.8])
    sim = bl.simulate(
        [bl.UCB1(), bl.PHE()], bandit, rounds=40, runs=6, seed=2**64 - 1, first_run=7, keep="curves", delay=[1, 2, 9]
    )
    sim.save(path)
    return sim, path


@pytest.mark.parametrize("bandit", CASES.values(), ids=CASES)
def test_a_bandits_form_is_json_and_gives_the_bandit_back(bandit):
    twin = from_form(json.loads(json.dumps(form_of(bandit))))
    assert type(twin) is type(bandit)
    assert repr(twin) == repr(bandit)
    assert same_bandit(twin, bandit)
    runs = np.arange(3, dtype=np.uint64)
    for a, b in zip(twin.parameters_of(1, runs), bandit.parameters_of(1, runs), strict=True):
        np.testing.assert_array_equal(a, b)


def test_every_bandit_of_the_library_is_tried():
    public = {kind for kind in (getattr(bl, name) for name in bl.__all__) if isinstance(kind, type)}
    bandits = {kind for kind in public if issubclass(kind, bl.Bandit) and kind is not bl.Bandit}
    assert bandits <= {type(bandit) for bandit in CASES.values()}
    assert bandits <= set(kinds().values())


def test_bandits_that_differ_are_not_the_same():
    for place, bandit in enumerate(BANDITS):
        assert [same_bandit(bandit, other) for other in BANDITS].index(True) == place
    assert not same_bandit(bl.EmpiricalBandit([[1.0], [2.0]]), bl.EmpiricalBandit([[1.0], [3.0]]))  # the same text


def test_everything_comes_back(saved):
    sim, path = saved
    twin = bl.Simulation.load(path)
    for name in (
        "rounds",
        "over_time",
        "final_regret",
        "pulls",
        "pulls_by_rank",
        "seconds",
        "curves",
        "recommended",
        "means",
    ):
        np.testing.assert_array_equal(getattr(twin, name), getattr(sim, name), err_msg=name)
    assert twin.bandit == sim.bandit
    assert isinstance(twin.bandit, bl.BernoulliBandit)
    assert (twin.policies, twin.seed, twin.first_run) == (sim.policies, sim.seed, sim.first_run)
    assert str(twin) == str(sim)
    more = bl.simulate(
        {"more": bl.EpsilonGreedy()}, twin.bandit, rounds=40, runs=6, seed=2**64 - 1, first_run=7, delay=[1, 2, 9]
    )
    assert (twin | more).policies == (*sim.policies, "more")  # the delay came back too


class Own(bl.BernoulliBandit):
    """A bandit of a user's own."""


def test_a_bandit_of_your_own_comes_back_as_its_text(tmp_path):
    sim = bl.simulate(bl.UCB1(), Own([0.2, 0.8]), rounds=20, runs=2)
    sim.save(tmp_path / "own.npz")
    twin = bl.Simulation.load(tmp_path / "own.npz")
    assert twin.bandit == repr(Own([0.2, 0.8]))
    assert str(twin) == str(sim)
    with pytest.raises(ValueError, match=r"as a text only.*Own\(means=\(0.2, 0.8\)\)"):
        twin.means  # noqa: B018
    more = bl.simulate({"more": bl.PHE()}, Own([0.2, 0.8]), rounds=20, runs=2)
    assert len(twin | more) == 2


@pytest.mark.parametrize(
    "form", [{"kind": "os.system", "command": "true"}, {"kind": "Policy"}, {"means": [0, 1]}, {"kind": ["a"]}]
)
def test_a_file_names_no_other_class(saved, tmp_path, form):
    _, path = saved
    with np.load(path) as stored:
        arrays = dict(stored)
    about = json.loads(str(arrays["about"]))
    arrays["about"] = np.array(json.dumps(about | {"bandit_form": form}))
    np.savez(tmp_path / "other.npz", **arrays)
    with pytest.raises(ValueError, match="is not a saved Simulation"):
        bl.Simulation.load(tmp_path / "other.npz")


@pytest.mark.parametrize("name", ["rounds", "over_time", "final_regret", "curves"])
def test_arrays_of_another_size_are_refused(saved, tmp_path, name):
    _, path = saved
    with np.load(path) as stored:
        arrays = dict(stored)
    arrays[name] = arrays[name][..., :1]
    np.savez(tmp_path / "other.npz", **arrays)
    with pytest.raises(ValueError, match="is not a saved Simulation"):
        bl.Simulation.load(tmp_path / "other.npz")


@pytest.mark.parametrize(
    "header", [b"{'descr'", b"{'descr': '<f8', 'fortran_order': False, 'shape': (3,", b"(((", b"\xff"]
)
def test_a_damaged_header_is_refused(tmp_path, header):
    """NumPy reads headers with Python's parser: it raises SyntaxError and tokenize.TokenError."""
    path = tmp_path / "header.npz"
    padded = header.ljust(117) + b"\n"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("about.npy", b"\x93NUMPY\x01\x00" + len(padded).to_bytes(2, "little") + padded + b"\0" * 24)
    with pytest.raises(ValueError, match="is not a saved Simulation"):
        bl.Simulation.load(path)


def test_a_flipped_byte_is_a_value_error_or_harmless(saved, tmp_path):
    """Every 7th byte of the file flipped in turn: the documented exception, or the same numbers."""
    sim, path = saved
    content = path.read_bytes()
    damaged, refused = tmp_path / "damaged.npz", 0
    for place in range(0, len(content), 7):
        damaged.write_bytes(content[:place] + bytes([content[place] ^ 0x41]) + content[place + 1 :])
        try:
            twin = bl.Simulation.load(damaged)
        except ValueError:
            refused += 1
        else:
            np.testing.assert_array_equal(twin.final_regret, sim.final_regret)
    assert refused > len(content) // 7 // 2


def test_the_old_file_stays_if_the_new_one_cannot_be_written(saved, tmp_path, monkeypatch):
    sim, path = saved
    target = tmp_path / "sim.npz"
    target.write_bytes(path.read_bytes())

    def full(*arguments, **arrays):
        raise OSError("no space left")

    monkeypatch.setattr(np, "savez_compressed", full)
    with pytest.raises(OSError, match="no space"):
        sim.save(target)
    assert target.read_bytes() == path.read_bytes()
    assert [file.name for file in tmp_path.iterdir()] == ["sim.npz"]
