"""Reading rewards: from files, frames and mappings; every refusal names the line, row or arm."""

import math

import numpy as np
import pandas as pd
import pytest

from bootleader.comparison import read_rewards


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
        ("arm,reward\na,1\nb,1_000\n", ["line 3", "'1_000'"]),
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
        ("arm,reward\na,'1;5'\nb,2\n", ["line 2", "such as 12.7"]),
        ("arm;reward\na;1,5\nb;2.5\n", ["decimal commas and points", "'1,5'", "'2.5'"]),
        ("arm;reward\na;1,5,0\nb;2\n", ["line 2", "'1,5,0'"]),
        ("arm\treward\na\t1,5\nb\t2\n", ["line 2", "'1,5'"]),
        ("Arm,ARM,reward\na,b,1\n", ["column 'arm' more than once"]),
        ("arm,reward,reward\na,1,2\nb,2,3\n", ["column 'reward' more than once"]),
        ("arm,reward, arm\na,1,2\nb,2,3\n", ["column 'arm' more than once"]),
        ("arm,reward\na,1\nb,1e300\nb,-1e300\n", ["line 3", "reward must be at most 1e+100", "1 more such"]),
    ],
)
def test_a_bad_file_is_refused_with_the_line(rewards_file, text, words):
    with pytest.raises(ValueError, match="rewards") as refusal:
        read_rewards(rewards_file(text))
    for word in words:
        assert word in str(refusal.value)


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_the_header_decides_the_separator(rewards_file, separator):
    text = "\n\nwhen,reward,arm\nnow,1.5,b\n\nthen,2,a,\n,3,b\n"
    rewards = read_rewards(rewards_file(text.replace(",", separator)))
    assert rewards.names == ("b", "a")
    assert [list(sample) for sample in rewards.bandit.samples] == [[1.5, 3.0], [2.0]]


@pytest.mark.parametrize(
    ("header", "arm", "reward"),
    [("Arm,REWARD", "arm", "reward"), ("variant,Revenue", "Variant", "revenue"), ("ARM,arm2,reward", "arm", "reward"),
     ("Arm,ARM,arm,reward", "arm", "reward"), (" straße ,reward", "STRASSE", "reward")],
)  # fmt: skip
def test_columns_are_found_in_any_case(rewards_file, header, arm, reward):
    fields = len(header.split(",")) - 1
    text = header + "".join(f"\n{','.join([name] * fields)},{value}" for name, value in (("a", 1), ("b", 2)))
    assert read_rewards(rewards_file(text), arm=arm, reward=reward).means == (1.0, 2.0)


def test_one_column_cannot_be_both(rewards_file):
    with pytest.raises(ValueError, match="must be different columns"):
        read_rewards(rewards_file("arm,reward\na,1\nb,2\n"), reward="ARM")


def test_decimal_commas_are_read_where_the_separator_is_a_semicolon(rewards_file):
    assert read_rewards(rewards_file("arm;reward\na;1,5\na;-2,25e1\nb;3\n")).means == (-10.5, 3.0)
    assert read_rewards(rewards_file("arm;reward\na;1.5\nb;3\n")).means == (1.5, 3.0)


def test_means_have_standard_errors():
    found = read_rewards({"a": [1.0, 2.0, 3.0, 6.0], "b": [5.0]})
    assert found.standard_errors[0] == pytest.approx(np.std([1, 2, 3, 6], ddof=1) / 2)
    assert math.isnan(found.standard_errors[1])


def test_costs_are_paid_as_negatives_and_reported_as_they_are(rewards_file):
    path = rewards_file("arm,reward\na,1\nb,2\nb,4\n")
    costs, gains = read_rewards(path, maximize=False), read_rewards(path)
    assert [list(sample) for sample in costs.bandit.samples] == [list(-sample) for sample in gains.bandit.samples]
    assert costs.means == gains.means == (1.0, 3.0)


def test_frames_and_mappings_are_read_like_files(rewards_file):
    path = rewards_file("arm,reward\na,1\nb,2\nb,4\na,7\n")
    wanted = read_rewards(path)
    for given in (pd.read_csv(path), {"a": [1, 7], "b": np.array([2.0, 4.0])}):
        found = read_rewards(given)
        assert (found.names, found.counts, found.means) == (wanted.names, wanted.counts, wanted.means)
        assert found.pooled_sd == wanted.pooled_sd


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        (pd.DataFrame({"arm": ["a", "b"]}), ValueError, "no column 'reward'"),
        (pd.DataFrame({"arm": ["a", None], "reward": [1, 2]}), ValueError, "row 1: arm must be a name"),
        (pd.DataFrame({"arm": ["a", "b"], "reward": [1, "x"]}), ValueError, "row 1: reward must be .* got 'x'"),
        (pd.DataFrame({"arm": ["a", "b"], "reward": [math.inf, 1]}), ValueError, "row 0: reward must be"),
        (pd.DataFrame({"arm": [], "reward": []}), ValueError, "no rows"),
        ({}, ValueError, "no arm"),
        ({"a": [1.0]}, ValueError, "one arm, 'a'"),
        ({"a": [1.0], "b": []}, ValueError, "arm 'b' must be at least one number"),
        ({"a": [1.0], "b": 2.0}, ValueError, "arm 'b' must be at least one number"),
        ({"a": [1.0], "b": [1.0, math.nan]}, ValueError, "arm 'b', reward 1: reward must be a finite number"),
        ({1: [1.0], "1": [2.0]}, ValueError, "must differ as text"),
        ([[1.0], [2.0]], TypeError, "rewards must be the path of a CSV file, a pandas frame"),
        (None, TypeError, "got None"),
    ],
)
def test_bad_frames_and_mappings_are_refused(given, error, words):
    with pytest.raises(error, match=words):
        read_rewards(given)


@pytest.mark.parametrize("rows", [100_000, pytest.param(1_000_000, marks=pytest.mark.slow)])
def test_a_file_of_many_rows_is_read(tmp_path, rows):
    rng = np.random.default_rng(1)
    path = tmp_path / "large.csv"
    arms = rng.integers(0, 5, rows)
    with open(path, "w") as file:
        file.write("arm,reward\n")
        np.savetxt(file, np.column_stack([arms, rng.normal(arms, 1.0)]), fmt=["%d", "%.4f"], delimiter=",")
    rewards = read_rewards(path)
    assert sum(rewards.counts) == rows
    assert dict(zip(rewards.names, rewards.means, strict=True))["4"] == pytest.approx(4.0, abs=0.02)
    assert rewards.pooled_sd == pytest.approx(1.0, abs=0.01)
