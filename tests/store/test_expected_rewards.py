"""What is computed while a reward is written: the bits that are computed when it is needed, or nothing."""

from __future__ import annotations

import os
import threading

import pytest

import bootleader as bl
from bootleader.store._compute_thread import Background, background
from bootleader.store._experiment_writer import Writer

ARMS = ["blue", "green", "red"]


@pytest.fixture
def at_once(monkeypatch):
    """Jobs are done where they are submitted, so that a test knows when."""
    monkeypatch.setattr(background, "submit", lambda job: job())


@pytest.fixture
def button(store):
    button = store.create("button", bl.AdaptiveReBoot(), ARMS, seed=1, traffic=bl.Traffic(floor=0.02))
    for place, arm in enumerate(ARMS):
        button.learn_summary(arm, 10, 0.1 * place, 1.0)
    return button


def computed(button, monkeypatch) -> list[int]:
    """The numbers of rounds at which probabilities are computed from now on."""
    chooser, rounds = button._writer.replica().chooser, []
    compute = chooser._computed_final
    monkeypatch.setattr(chooser, "_computed_final", lambda learner: rounds.append(learner.rounds) or compute(learner))
    return rounds


def test_the_next_decision_finds_its_probabilities(button, at_once, monkeypatch):
    button.decide()
    rounds = computed(button, monkeypatch)
    for number in range(6):
        button.reward(button.decide().id, 0.3 * number)
    button.decide()
    # The first decision finds those of the decision before; each reward computes those that follow it.
    assert rounds == [31 + number for number in range(6)]
    assert button.check(), str(button.check())


def test_a_reward_of_another_process_makes_them_useless(button, store_url, at_once, monkeypatch):
    with bl.Store(store_url) as others:
        other = others.open("button")
        for number in range(4):
            mine, theirs = button.decide(), other.decide()
            rounds = computed(button, monkeypatch)
            button.reward(mine.id, 1.0 + number)
            other.reward(theirs.id, -1.0 - number)
            decision = button.decide()
            assert rounds[-1] == button._writer.replica().state.rounds  # computed again, with both rewards
            assert button.audit(decision.id).agrees
        assert len(rounds) == 1  # it is no longer tried at every reward
        assert button.check(), str(button.check())


@pytest.fixture
def abandon(button, monkeypatch):
    """Report a reward that is expected and not written."""

    def abandon(decision_id, value):
        assert button._writer._replica.is_alone
        with monkeypatch.context() as broken:
            broken.setattr(Writer, "_append_next", lambda *_: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                button.reward(decision_id, value)
        assert button._writer._replica.chooser._expected is not None

    for _ in range(6):
        button.decide()
    return abandon


def test_a_reward_that_is_not_written_changes_nothing(button, at_once, abandon):
    decision = button.decide()
    state = button._writer._replica.state.to_bytes()
    abandon(decision.id, 100.0)
    assert button._writer._replica.state.to_bytes() == state
    button.amend(decision.id, 0.5)
    assert button.audit(button.decide().id).agrees
    assert button.check(), str(button.check())


@pytest.mark.parametrize("other", ["value", "arm"])
def test_another_reward_than_the_expected_one(button, at_once, abandon, other, monkeypatch):
    """Nothing is expected of it: what was computed for the first is not taken for it."""
    decisions = {arm: button.decide(arm=arm) for arm in ARMS}
    for _ in range(6):
        button.decide()
    abandon(decisions["blue"].id, 5.0)
    with monkeypatch.context() as patch:
        patch.setattr(Writer, "_expect", lambda *_: None)
        button.reward(decisions["blue" if other == "value" else "green"].id, 6.0 if other == "value" else 5.0)
    assert button.audit(button.decide().id).agrees
    assert button.check(), str(button.check())


def test_the_expected_reward_after_another(button, at_once, abandon, monkeypatch):
    """The state is not the one that it was computed for."""
    first, second = button.decide(arm="blue"), button.decide(arm="blue")
    for _ in range(6):
        button.decide()
    abandon(first.id, 5.0)
    expected = button._writer._replica.chooser._expected
    with monkeypatch.context() as patch:
        patch.setattr(Writer, "_expect", lambda *_: None)
        button.reward(second.id, 7.0)
        button._writer._replica.chooser._expected = expected
        button.reward(first.id, 5.0)
    assert button.audit(button.decide().id).agrees
    assert button.check(), str(button.check())


@pytest.mark.parametrize("options", [{"half_life": 50.0}, {"maximize": False}, {"policy": bl.UCB1()}])
def test_every_kind_of_experiment_agrees_with_its_log(store, at_once, options):
    policy = options.pop("policy", bl.AdaptiveReBoot())
    button = store.create("button", policy, ARMS, seed=1, traffic=bl.Traffic(holdout=0.2, control="red"), **options)
    for number in range(30):
        button.reward(button.decide(unit=f"visitor-{number}").id, 0.1 * (number % 7))
    assert button.check(), str(button.check())


def test_a_job_that_fails_or_comes_too_soon_is_left_out():
    jobs, done, may_go = Background(), [], threading.Event()
    jobs.submit(lambda: 1 / 0)
    jobs.submit(lambda: None)
    while not jobs._jobs.empty():
        pass
    jobs.submit(lambda: (may_go.wait(10.0), done.append("first")))
    while not jobs._jobs.empty():
        pass
    jobs.submit(lambda: done.append("second"))
    jobs.submit(lambda: done.append("left out"))
    may_go.set()
    jobs.before_fork()  # waits for what is under way
    assert done == ["first", "second"]
    jobs.after_fork()
    jobs.submit(lambda: done.append("again"))
    jobs.before_fork()
    assert done[-1] == "again"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows does not fork")
def test_no_thread_is_forked():
    background.submit(lambda: None)
    assert background._thread is not None
    child = os.fork()
    if child == 0:
        os._exit(0 if background._thread is None and not background._lock.locked() else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert not background._lock.locked()
