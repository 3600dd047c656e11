"""``bootleader store``, and rewards from a file."""

from __future__ import annotations

import json

import pytest

import bootleader as bl
from tests.store.test_experiment import reason_of


@pytest.fixture
def button(store):
    return store.create("button", bl.ReBoot(sigma_a=1.5), ["blue", "green"], seed=1)


def write(path, rows, header="decision,reward,event") -> str:
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return str(path)


def test_a_file_counts_once_or_not_at_all(store_url, button, run_cli, tmp_path):
    ids = [button.decide().id for _ in range(4)]
    file = write(tmp_path / "rewards.csv", [f"{key},{place}.5,order-{place}" for place, key in enumerate(ids[:3])])
    command = ("store", "reward", file, "--store", store_url, "--experiment", "button")
    status, out, _ = run_cli(*command)
    assert (status, out.strip()) == (0, "3 rewards counted, 0 counted before")
    assert run_cli(*command)[1].strip() == "0 rewards counted, 3 counted before"
    assert button.summary()["pulls"].sum() == 3
    good = f"{ids[3]},1.0,order-9"
    for bad, said in [
        (f"{ids[0]},9.0,order-0", "already has reward"),
        ("made-up,1.0,order-7", "line 3 of"),
        ("\nmade-up,1.0,order-7", "line 4 of"),
        (f"{ids[3]},nothing,order-7", "reward must be a number, got 'nothing'"),
        (f"{ids[3]},nan,order-7", "line 3"),
        (f"{ids[3]}", "too few columns"),
        (f"{ids[3]},1,234.50,order-7", "line 3 of"),
        (f"{ids[3]},1,order-7,50", "it has 4 fields, and the header 3: quote what has a separator"),
        (f"{ids[0]},0.5,order-9", "was used for"),
        (f"{ids[0]},0.5,order-1", "was used for"),
        (f"{ids[3]},2.0,order-9", "already has"),
    ]:
        file = write(tmp_path / "bad.csv", [good, bad])
        status, _, err = run_cli("store", "reward", file, "--store", store_url, "--experiment", "button")
        assert status == 2, bad
        assert said in err
        assert "nothing was counted" in err or "line" in err
        assert button.summary()["pulls"].sum() == 3
    (tmp_path / "bad.csv").write_bytes(b"decision,reward\n" + ids[3].encode() + b",1,B\xe4r")
    status, _, err = run_cli("store", "reward", file, "--store", store_url, "--experiment", "button")
    assert (status, "UTF-8" in err) == (2, True)
    file = write(tmp_path / "other.csv", [f"7;{ids[3]};"], header="Umsatz;Besuch;event")
    options = ("--decision", "besuch", "--reward", "umsatz")
    assert run_cli("store", "reward", file, "--store", store_url, "--experiment", "button", *options)[0] == 0
    assert button.log()["reward"].tolist() == [0.5, 1.5, 2.5, 7.0]
    assert button.check()


def test_many_rewards_at_once(button):
    ids = [button.decide().id for _ in range(3)]
    assert str(button.reward_many([(ids[0], 1.0), (ids[1], 2.0, "e1"), (ids[1], 2.0, "e1")])) == (
        "2 rewards counted, 1 counted before"
    )
    assert reason_of(button.reward_many, [(ids[2], 1.0), (ids[0], 5.0)]) == "conflict"
    with pytest.raises(TypeError, match="reward 2"):
        button.reward_many([(ids[2], 1.0), (5, 5.0)])
    assert button.summary()["pulls"].sum() == 2


def test_another_process_rewards_while_a_file_is_read(button, monkeypatch):
    ids = [button.decide().id for _ in range(3)]
    backend = button._writer.backend
    append = backend.append_many

    def overtaken(*args):
        monkeypatch.undo()
        button.reward(ids[1], 2.0, event="e1")
        append(*args)

    monkeypatch.setattr(backend, "append_many", overtaken)
    imported = button.reward_many([(ids[0], 1.0, "e0"), (ids[1], 2.0, "e1"), (ids[2], 3.0, "e2")])
    assert (imported.counted, imported.repeated) == (2, 1)
    assert button.check()


def test_the_commands(store_url, button, run_cli, tmp_path, monkeypatch):
    monkeypatch.setenv("BOOTLEADER_STORE", store_url)
    monkeypatch.chdir(tmp_path)
    decision = button.decide()
    button.reward(decision.id, 3.0)
    button.decide()
    assert run_cli("store", "list")[1] == "button\n"
    shown = run_cli("store", "show", "button")[1]
    assert "blue" in shown
    assert "ReBoot" in shown
    assert decision.id in run_cli("store", "log", "button")[1]
    assert run_cli("store", "log", "button", "--events")[1].count("\n") == 5
    status, out, _ = run_cli("store", "audit", decision.id, "--experiment", "button")
    assert status == 0
    assert "come out as they were" in out
    assert run_cli("store", "check", "button")[0] == 0
    assert run_cli("store", "check", "--experiment", "button", "--quick")[0] == 0
    with pytest.raises(SystemExit):
        run_cli("store", "check")
    assert run_cli("store", "export", "button")[0] == 0
    assert json.loads((tmp_path / "button.json").read_text())["rounds"] == 1
    assert "2 events folded" in run_cli("store", "vacuum", "--experiment", "button", "--older-than", "0")[1]
    button._writer.backend.write(lambda execute: execute("UPDATE bootleader_events SET crc = 1", ()))
    assert run_cli("store", "check", "button")[0] == 1


def test_mistakes_on_the_command_line(run_cli, tmp_path, monkeypatch):
    monkeypatch.delenv("BOOTLEADER_STORE", raising=False)
    assert run_cli("store", "list")[0] == 2
    missing = f"sqlite:///{tmp_path}/shop.db"
    status, _, err = run_cli("store", "list", "--store", missing)
    assert status == 2
    assert "there is no store" in err
    assert not list(tmp_path.iterdir())
    with bl.Store(missing) as store:
        store.create("button", bl.UCB1(), ["a"])
    assert "no experiment 'other'" in run_cli("store", "show", "other", "--store", missing)[2]
    file = write(tmp_path / "rewards.csv", ["a,1"], header="id,reward")
    status, _, err = run_cli("store", "reward", file, "--store", missing, "--experiment", "button")
    assert (status, "column 'decision'" in err) == (2, True)
    assert run_cli("store", "vacuum", "--store", missing, "--older-than", "3")[0] == 2
    for given, said in (
        (("--older-than", "-90", "--experiment", "button"), "must be a number of days, 0 or more"),
        (("--experiment", "button"), "give --older-than DAYS too"),
    ):
        status, _, err = run_cli("store", "vacuum", "--store", missing, *given)
        assert (status, said in err) == (2, True)
    file = write(tmp_path / "rewards.csv", ["a,1,2"], header="decision,reward,reward")
    status, _, err = run_cli("store", "reward", file, "--store", missing, "--experiment", "button")
    assert (status, "must have one column 'reward'" in err) == (2, True)


def test_a_file_whose_answer_was_lost(server, monkeypatch):
    """The connection breaks after the commit; the file is written again, and the answer is the first one's."""
    import psycopg

    with bl.Store(server.new_database()) as store:
        button = store.create("button", bl.AdaptiveReBoot(), ["blue", "green"])
        ids = [button.decide().id for _ in range(3)]
        button.reward(ids[0], 1.0)
        backend = button._writer.backend
        check_fold, broken = backend.check_fold, []
        with_statements = backend._with_statements

        def lost(work, **options):
            def lose(statements):
                done = work(statements)
                if broken == ["in the file"]:
                    broken.append("lost")
                    raise psycopg.OperationalError("the connection was lost")
                return done

            return with_statements(lose, **options)

        def in_file(*args):
            if not broken:
                broken.append("in the file")
            return check_fold(*args)

        monkeypatch.setattr(backend, "check_fold", in_file)
        monkeypatch.setattr(backend, "_with_statements", lost)
        receipt = button.reward_many([(decision, 1.0) for decision in ids])
        assert broken == ["in the file", "lost"]
        assert (receipt.counted, receipt.repeated) == (2, 1)
        assert button.summary()["pulls"].sum() == 3
