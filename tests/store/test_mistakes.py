"""Mistakes that users make: the documented exception, with what to do about it, and nothing written."""

from __future__ import annotations

import copy
import math
import os
import pickle
import random
import time
from pathlib import Path

import pytest

import bootleader as bl
from bootleader import StoreError
from bootleader.store import _sqlite_files


def refusal(call, *args, **options) -> tuple[str, str]:
    with pytest.raises(StoreError) as caught:
        call(*args, **options)
    return caught.value.reason, str(caught.value)


def test_files_that_cannot_be_a_store(tmp_path):
    assert refusal(bl.Store, f"sqlite:///{tmp_path}/missing/store.db") == (
        "unavailable",
        f"SQLite cannot use '{tmp_path}/missing/store.db': there is no folder '{tmp_path}/missing': create it",
    )
    assert "it is a folder" in refusal(bl.Store, f"sqlite:///{tmp_path}")[1]
    (tmp_path / "text.db").write_text("not a database, " * 500)
    assert refusal(bl.Store, f"sqlite:///{tmp_path}/text.db")[0] == "damaged"
    assert "its name is too long" in refusal(bl.Store, f"sqlite:///{tmp_path}/{'x' * 300}.db")[1]


def test_a_file_that_is_reached_by_a_link(tmp_path):
    """SQLite keeps its log beside the file, not beside the link; a commit that another process may see syncs it."""
    for folder in ("real", "linked"):
        (tmp_path / folder).mkdir()
    (tmp_path / "real" / "shop.db").touch()
    (tmp_path / "linked" / "shop.db").symlink_to(tmp_path / "real" / "shop.db")
    url = f"sqlite:///{tmp_path}/linked/shop.db"
    with bl.Store(url) as store, bl.Store(url) as other:
        button = store.create("button", bl.AdaptiveReBoot(), ["a", "b"])
        assert other.open("button").reward(button.decide().id, 1.0) == bl.Receipt.COUNTED
        assert button.check(), str(button.check())


def test_a_unit_that_is_too_long_for_an_index(store):
    button = store.create("button", bl.AdaptiveReBoot(), ["a", "b"], traffic=bl.Traffic(sticky=True))
    with pytest.raises(ValueError, match="at most 2,000 bytes in UTF-8"):
        button.decide(unit="\N{GRINNING FACE}" * 501)
    rng = random.Random(1)  # letters that cannot be compressed
    longest = "".join(chr(rng.randrange(0x20000, 0x2A6DF)) for _ in range(500))
    assert button.decide(unit=longest).arm == button.decide(unit=longest).arm
    assert len(button.log()) == 2


def test_a_file_that_cannot_be_written(tmp_path, monkeypatch):
    """By its access rights, which do not bind an administrator: so the answer of the system is replaced."""
    monkeypatch.setattr(_sqlite_files.os, "access", lambda path, mode: mode != os.W_OK)
    cause = _sqlite_files.cause_of(tmp_path / "shop.db", ValueError("readonly"))
    assert cause == f"'{tmp_path}' cannot be written to (readonly): the file and its folder must be writable"


def test_a_network_file_system_is_refused(tmp_path, monkeypatch):
    mounts = f"disk / ext4 rw 0 0\nserver:/export {tmp_path} nfs4 rw 0 0\nlocal {tmp_path}/here ext4 rw 0 0\n"
    monkeypatch.setattr(Path, "read_text", lambda self, **_: mounts)
    (tmp_path / "here").mkdir()
    assert _sqlite_files.network_file_system(tmp_path / "here" / "shop.db") is None
    reason, message = refusal(bl.Store, f"sqlite:///{tmp_path}/shop.db")
    assert reason == "unavailable"
    assert "network file system (nfs4)" in message
    assert "PostgreSQL" in message


@pytest.mark.parametrize(
    "url", ["", "shop.db", "sqlite:/shop.db", "sqlite://server/shop.db", "sqlite:////tmp/", "sqlite:///shop.db?mode=ro"]
)
def test_urls_of_another_kind(url):
    with pytest.raises(ValueError, match="url must be like"):
        bl.Store(url)


def test_a_url_of_postgres_that_cannot_be_right(server):
    """Waiting does not help: these are refused at once, though the timeout is long."""
    url = server.new_database()
    with pytest.raises(ValueError, match="url must be like"):
        bl.Store("postgresql://localhost/shop?nonsense=1")
    for wrong in (url.replace("/postgres?", "/no_such_database?"), url.replace("//postgres:", "//nobody:")):
        reason, message = refusal(bl.Store, wrong, timeout=3600.0)
        assert reason == "unavailable"
        assert "Check user, password, host and database" in message


def test_a_store_in_memory_ends_when_it_is_closed():
    store = bl.Store("sqlite://")
    button = store.create("button", bl.UCB1(), ["a", "b"])
    store.close()
    for call in (button.decide, store.list):
        assert refusal(call) == ("unavailable", "a store in memory ends when it is closed: give it a file")


def test_clocks_and_policies_of_another_kind():
    with pytest.raises(TypeError, match="clock must be a function"):
        bl.Store("sqlite://", clock=3)
    with pytest.raises(TypeError, match="policies must be classes"):
        bl.Store("sqlite://", policies=[bl.UCB1()])
    store = bl.Store("sqlite://", clock=lambda: math.nan)
    with pytest.raises(ValueError, match="time of the clock"):
        store.create("button", bl.UCB1(), ["a"])
    assert store.list() == []


def test_rewards_of_another_shape(memory):
    button = memory.create("button", bl.UCB1(), ["a", "b"], seed=1)
    decision = button.decide().id
    for rewards in ("abc", None, 3):
        with pytest.raises(TypeError, match="rewards must be tuples"):
            button.reward_many(rewards)
    for row in ((decision,), (decision, 1.0, "e", "f"), decision, None):
        with pytest.raises(TypeError, match="reward 1: it must be decision's id, value"):
            button.reward_many([row])
    assert button.summary()["pulls"].sum() == 0


def test_a_verdict_without_arms(memory):
    with pytest.raises(ValueError, match="at least two arms, got 0"):
        memory.create("button", bl.UCB1(), []).verdict()


@pytest.mark.parametrize("text", ["a\0b", "\ud800", "a\udfff"])
def test_ids_that_no_database_holds_are_unknown(store, text):
    button = store.create("button", bl.AdaptiveReBoot(), ["a", "b"], seed=1)
    button.reward(button.decide().id, 1.0)
    for call in (button.audit, button.withdraw, store.open, store.remove):
        assert refusal(call, text)[0] == "unknown"
    for call in (button.reward, button.amend, button.add):
        assert refusal(call, text, 1.0)[0] == "unknown"
    assert refusal(button.reward_many, [(text, 1.0)])[0] == "unknown"
    with pytest.raises(ValueError, match="unit must have no control characters"):
        button.decide(unit=text)
    with pytest.raises(ValueError, match="event must have no control characters"):
        button.reward(button.decide().id, 1.0, event=text)
    assert button.check(), str(button.check())


def test_units_that_agents_take(store):
    """A space that does not break, and an emoji of several parts."""
    rules = bl.Traffic(sticky=True)
    agent = bl.Agent(bl.AdaptiveReBoot(), ["a", "b"], seed=1, traffic=rules)
    units = ["J\N{NO-BREAK SPACE}D", "\N{MAN}\N{ZERO WIDTH JOINER}\N{WOMAN}"]
    arms = [agent.decide(unit=unit).arm for unit in units]
    button = store.import_agent("button", agent)
    assert [button.decide(unit=unit).arm for unit in units] == arms
    assert button.check(), str(button.check())


def test_an_agent_with_a_unit_that_no_database_holds(store):
    agent = bl.Agent(bl.AdaptiveReBoot(), ["a", "b"], seed=1, traffic=bl.Traffic(sticky=True))
    agent.decide(unit="a\0b")
    with pytest.raises(ValueError, match="unit must have no control characters"):
        store.import_agent("button", agent)
    assert store.list() == []


@pytest.mark.parametrize("now", [1e11, 1e13, -1e10])
def test_a_clock_that_shows_no_date(store_url, now):
    with bl.Store(store_url, clock=lambda: now) as store:
        button = store.create("button", bl.AdaptiveReBoot(), ["a", "b"], seed=1)
        decision = button.decide()
        log = button.log()
        assert log["id"].tolist() == [decision.id]
        assert list(button.open_decisions) == [decision.id]
        assert log["time"].isna().all() or abs(log["time"].iloc[0].timestamp() - now) < 1.0
        assert button.check(), str(button.check())


def test_a_number_of_a_file_is_plain(memory, tmp_path):
    from bootleader.store._many_rewards import read_file

    path = tmp_path / "rewards.csv"
    path.write_text("decision,reward\na-1,1_000\n")
    with pytest.raises(ValueError, match=r"line 2 of .* reward must be a number, got '1_000'"):
        read_file(str(path), "decision", "reward", None, (-math.inf, math.inf))


def test_a_folder_that_may_not_be_entered(tmp_path, monkeypatch):
    """An administrator may enter all: so the answers of the system are replaced."""
    monkeypatch.setattr(_sqlite_files.os, "access", lambda path, mode: mode != os.X_OK)
    monkeypatch.setattr(_sqlite_files.os.path, "exists", lambda path: Path(path) == tmp_path)
    monkeypatch.setattr(_sqlite_files.os.path, "isdir", lambda path: Path(path) == tmp_path)
    cause = _sqlite_files.cause_of(tmp_path / "in" / "shop.db", ValueError("cannot open"))
    assert cause == f"the folder '{tmp_path}' may not be entered: check its permissions"


def test_what_is_printed_of_an_experiment_needs_no_database(tmp_path):
    store = bl.Store(f"sqlite:///{tmp_path}/shop.db")
    button = store.create("button", bl.AdaptiveReBoot(), ["blue", "green"])
    store.close()
    (tmp_path / "shop.db").rename(tmp_path / "away.db")
    (tmp_path / "shop.db").mkdir()
    with pytest.raises(StoreError):
        button.arms  # noqa: B018
    assert repr(button) == "Experiment('button', AdaptiveReBoot())"


class Own(bl.UCB1):
    """A policy that the store is not told of."""


def test_a_policy_of_ones_own_that_was_not_given(tmp_path):
    url = f"sqlite:///{tmp_path}/shop.db"
    bl.Store(url).create("button", Own(), ["blue", "green"])
    with pytest.raises(ValueError, match=r"'Own' is a policy of your own, .* Store\(url, policies=\[Own\]"):
        bl.Store(url).open("button")
    assert bl.Store(url, policies=[Own]).open("button").decide().arm in {"blue", "green"}


def test_an_agent_is_imported_with_traffic_that_fits_its_arms(memory):
    agent = bl.Agent(bl.AdaptiveReBoot(), ["blue", "green", "red"])
    agent.pause_arm("red")
    with pytest.raises(ValueError, match="control must be one of the active arms, got 'black'"):
        memory.import_agent("button", agent, traffic=bl.Traffic(holdout=0.1, control="black"))
    with pytest.raises(ValueError, match="control must be one of the active arms, got 'red'"):
        memory.import_agent("button", agent, traffic=bl.Traffic(holdout=0.1, control="red"))
    with pytest.raises(ValueError, match="floor"):
        memory.import_agent("button", agent, traffic=bl.Traffic(floor=0.6))
    assert memory.list() == []
    button = memory.import_agent("button", agent, traffic=bl.Traffic(floor=0.4))  # for the two that are active
    assert button.decide().probability >= 0.4


def test_a_feature_that_is_not_there(memory):
    features = bl.Features(device=["mobile", "desktop"])
    page = memory.create("page", bl.AdaptiveLinReBoot(), ["short", "long"], features=features)
    with pytest.raises(ValueError, match="feature must be one of 'device', got 'colour'"):
        page.add_category("colour", "red")


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickle.dumps])
def test_stores_and_experiments_are_not_copied(tmp_path, copied):
    """A copy would close the file of the other one."""
    url = f"sqlite:///{tmp_path}/shop.db"
    store = bl.Store(url)
    button = store.create("button", bl.AdaptiveReBoot(), ["blue", "green"])
    button.decide()
    with pytest.raises(TypeError, match=r"open it by its name in the other process, Store\(url\).open\('button'\)"):
        copied(button)
    with pytest.raises(TypeError, match="a Store of the same URL"):
        copied(store)
    with (tmp_path / "other.txt").open("w") as other:
        button.decide()
        store.close()
        other.write("still open")


def test_a_time_in_milliseconds_folds_nothing(memory):
    button = memory.create("button", bl.AdaptiveReBoot(), ["blue", "green"])
    for _ in range(5):
        button.reward(button.decide().id, 1.0)
    for before, error in ((time.time() * 1000.0, ValueError), ("yesterday", TypeError), (math.nan, ValueError)):
        with pytest.raises(error, match="before must be"):
            button.fold(before)
    assert len(button.log(events=True)) == 11


@pytest.mark.parametrize("url", ["sqlite:///", "sqlite", "sqlite:///a\0b", "sqlite:/shop.db"])
def test_a_url_without_a_file_is_no_store_in_memory(url):
    """Such as one whose file comes from a variable that is not set."""
    with pytest.raises(ValueError, match="url must be like") as caught:
        bl.Store(url)
    assert "sqlite" in str(caught.value).partition("got")[2]


def test_policies_are_a_list():
    with pytest.raises(TypeError, match="policies must be a list of classes"):
        bl.Store("sqlite://", policies=bl.UCB1)


def test_what_a_conflict_advises(memory):
    button = memory.create("button", bl.AdaptiveReBoot(), ["blue", "green"])
    decision = button.decide().id
    button.reward(decision, 45.0, event="order-1")
    for call, said in (
        (lambda: button.reward(decision, 46.0), "add.. adds a part, amend.. replaces the value"),
        (
            lambda: button.reward(decision, 45.0, event="order-2"),
            "got reward 45.0 by event 'order-2'; add.. adds a part",
        ),
        (lambda: button.add(decision, 3.0, event="order-1"), "got addition 3.0; give each event an id of its own"),
        (lambda: button.reward(decision, 46.0, event="order-1"), "got reward 46.0; give each event an id of its own"),
    ):
        with pytest.raises(StoreError, match=said) as caught:
            call()
        assert caught.value.reason == "conflict"
    button.withdraw(decision)
    with pytest.raises(StoreError, match=r"it was withdrawn: amend.. gives the decision another"):
        button.reward(decision, 46.0)
    assert button.reward(decision, 45.0, event="order-1") == bl.Receipt.REPEATED
