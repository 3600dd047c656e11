"""``bootleader answer``: table, sentence, page, errors."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

import bootleader as bl
from bootleader.cli import main


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_log(path, means=(0.0, 1.0), rounds=800, **columns):
    rng = np.random.default_rng(0)
    arm = np.arange(rounds) % len(means)
    frame = pd.DataFrame({"arm": [f"<arm {a}> & co" for a in arm], "reward": rng.normal(np.take(means, arm))})
    for name, values in columns.items():
        frame[name] = values
    frame.to_csv(path, index=False)
    return frame


class Page(HTMLParser):
    """Collects what a page would load, and its text."""

    def __init__(self, text):
        super().__init__()
        self.links, self.words, self.open = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.links += [value for name, value in attrs if name in ("src", "href", "xlink:href", "action")]
        assert tag != "script"

    def handle_data(self, data):
        self.words.append(data)


def test_table_sentence_and_page(folder, capsys):
    write_log(folder / "log.csv")
    assert main(["answer", "log.csv", "--unit", "visit"]) == 0
    out = capsys.readouterr().out
    assert "<arm 1> & co beats <arm 0> & co by 0.8" in out
    text = (folder / "log-answer.html").read_text(encoding="utf-8")
    page = Page(text)
    assert page.links == []
    assert not re.search(r"url\(|@import|https?://", text)
    words = " ".join(page.words)
    for wanted in (
        "You may stop",
        "<arm 1> & co beats",
        "Who got the traffic",
        "What it would cost to go on",
        "biased",
    ):
        assert wanted in words
    assert "<arm 1>" not in text  # names are escaped everywhere
    assert text.count("<svg") >= 4


def test_many_arms_and_no_answer_yet(folder, capsys):
    write_log(folder / "log.csv", means=np.linspace(0, 0.1, 12), rounds=600)
    assert main(["answer", "log.csv", "--out", "page.html"]) == 0
    assert "Not yet" in capsys.readouterr().out
    assert "Not yet" in (folder / "page.html").read_text(encoding="utf-8")


def test_options(folder, capsys):
    log = write_log(folder / "log.csv", probability=0.5, holdout=["yes", "no"] * 400)
    log["reward"] = (log["reward"] > 0.5).astype(int)
    log.assign(holdout=False).to_csv("clicks.csv", index=False, sep=";")
    options = ["--low", "0", "--high", "1", "--control", "<arm 0> & co", "--drift", "--floor", "0.5", "--no-page"]
    assert main(["answer", "clicks.csv", *options, "--evaluate", "<arm 1> & co"]) == 0
    out = capsys.readouterr().out
    assert "may have drifted" in out
    assert "SNIPS" in out
    write_log(folder / "log.csv", (0.0, 1.0, 1.5, 2.0), 1_600, holdout=["yes", "no", "no", "no"] * 400)
    assert main(["answer", "log.csv", "--minimize", "--no-page"]) == 0
    assert "Over the holdout: the control (holdout) beats the bandit" in capsys.readouterr().out
    assert not (folder / "log-answer.html").exists()


@pytest.mark.parametrize(
    ("content", "options", "words"),
    [
        (None, [], "there is no file log.csv"),
        ("", [], "log.csv cannot be read as CSV"),
        ("arm,gain\na,1\n", [], "columns arm and reward"),
        ("arm,reward\na,1\nb,x\n", [], "reward must hold numbers"),
        ("arm,reward\na,1\nb,\n", [], "got nan in row 1"),
        ("arm,reward\na,1\n,2\n", [], "got none in row 1"),
        ("arm,reward\na,1\nb,2\n", ["--low", "0"], "both or not at all"),
        ("arm,reward\na,1\nb,2\n", ["--out", "page.txt"], "--out must end in .html"),
        ("arm,reward\na,1\nb,2\n", ["--out", "nowhere/page.html"], "there is no folder nowhere"),
        ("arm,reward\na,1\nb,2\n", ["--drift", "--floor", "0.1"], "column probability"),
        ("arm,reward,probability\na,1,1\nb,2,1\n", ["--drift"], "not without a floor"),
        ("arm,reward,holdout\na,1,maybe\nb,2,no\n", [], "holdout must be true or false, got 'maybe'"),
    ],
)
def test_errors(folder, capsys, content, options, words):
    if content is not None:
        (folder / "log.csv").write_text(content)
    assert main(["answer", "log.csv", *options]) == 2
    assert words in capsys.readouterr().err
    assert not list(folder.glob("*.html"))


def test_numbers_as_arm_names_stay_text(folder, capsys):
    (folder / "log.csv").write_text("arm,reward\n" + "007,1\n8,2\n" * 20)
    assert main(["answer", "log.csv", "--no-page", "--low", "0", "--high", "9"]) == 0
    assert "007" in capsys.readouterr().out


def test_control_characters_in_names_do_not_reach_the_terminal(folder, capsys):
    (folder / "log.csv").write_text("arm,reward\n" + "\x1b[31mred,1\nblue,2\n" * 20)
    assert main(["answer", "log.csv", "--no-page", "--low", "0", "--high", "9"]) == 0
    assert "\x1b" not in capsys.readouterr().out


@pytest.mark.browser
def test_the_page_in_a_browser(folder):
    from tests.browser import Browser

    write_log(folder / "log.csv", means=np.linspace(0, 1, 10), rounds=3_000)
    assert main(["answer", "log.csv"]) == 0
    with Browser() as browser:
        for width, dark in ((420, False), (1_400, True)):
            browser.open(folder / "log-answer.html", width, dark=dark)
            overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
            assert browser.evaluate(overflow) <= 0, width
            background = browser.evaluate("getComputedStyle(document.body).backgroundColor")
            assert background == ("rgb(13, 17, 23)" if dark else "rgb(255, 255, 255)")
        assert [url for url in browser.requests if not url.startswith("file:")] == []
        assert browser.errors == []


def test_a_store_is_answered_like_its_log(folder, capsys):
    with bl.Store("sqlite:///shop.db") as store:
        button = store.create("a button", bl.AdaptiveReBoot(), ["blue", "green"], seed=1, maximize=False)
        rng = np.random.default_rng(0)
        for _ in range(1_000):
            decision = button.decide(arm="blue" if rng.random() < 0.5 else "green", probability=0.5)
            button.reward(decision.id, rng.normal(5.0 if decision.arm == "blue" else 3.0))
        button.decide()  # without a reward: not in the answer
    assert main(["answer", "--store", "sqlite:///shop.db", "--experiment", "a button", "--unit", "visit"]) == 0
    out = capsys.readouterr().out
    assert "green beats blue" in out.lower()
    assert (folder / "a-button-answer.html").read_text(encoding="utf-8").count("1,000 visits") >= 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "either a CSV file, or --store"),
        (["log.csv", "--store", "sqlite:///shop.db"], "either a CSV file, or --store"),
        (["--store", "sqlite:///shop.db"], "--experiment NAME"),
        (["--store", "sqlite:///shop.db", "--experiment", "none"], "none"),
    ],
)
def test_what_to_answer_is_said_clearly(folder, capsys, words, message):
    bl.Store("sqlite:///shop.db").close()
    assert main(["answer", *words]) == 2
    assert message in capsys.readouterr().err
