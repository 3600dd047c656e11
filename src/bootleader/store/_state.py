"""The state of an experiment: a function of the set of events in its log, whatever the order they are applied in."""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Sequence
from typing import Any, Final

from bootleader._core.printable_text import shown
from bootleader.agent._contextual_core import needs_constant
from bootleader.agent.features import Features
from bootleader.store._arm_tally import ArmTally, OpenDecisions
from bootleader.store._errors import StoreError
from bootleader.store._events import Event, Kind, Side, checksum_of_core, core_matches
from bootleader.store._exact_sums import ExactMoments, ExactSums, FadingSums
from bootleader.store._model_sums import LoggedContext, ModelSums, vector_of
from bootleader.store._settings import Settings

# Of a snapshot. What users named is JSON in it: msgpack has no integers beyond 64 bits, and no half surrogates.
FORMAT: Final = 4
WITH_MODELS: Final = 5
HOLDOUT, ELSEWHERE = int(Side.HOLDOUT), int(Side.ELSEWHERE)
DECISION, CHANGE, ASSIGNMENT = int(Kind.DECISION), int(Kind.CHANGE), int(Kind.ASSIGNMENT)
VALUES: Final = frozenset({Kind.REWARD, Kind.AMENDMENT, Kind.ADDITION, Kind.WITHDRAWAL})
MANY: Final = 40  # values from which on it is faster to add them together
CHECKSUM_BYTES: Final = 16  # of a snapshot
Row = Sequence[Any]  # seq, the core columns, detail, context


def _checksum(packed: bytes, beside: Sequence[str]) -> bytes:
    texts = "".join(f"{text}\0" for text in beside).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(packed + texts, digest_size=CHECKSUM_BYTES).digest()


class State:
    """Arms and their tallies.

    Attributes
    ----------
    rounds : int
        Number of rewards outside the holdout, of all arms that ever were, and of those in summaries. With a half-life
        rewards fade by it: then a summary takes no rounds, and a withdrawal leaves them as they are.
    sides : list of ExactSums, or None
        Rewards of the bandit's choices and of the holdout, where there is one.
    changes : int
        Number of changes of the experiment so far.
    events : int
        Number of events applied.
    version : int
        Grows with every batch of events; what is computed from the state remembers it.
    features : Features or None
        What a context has, with the categories that came later.
    shared : ModelSums or None
        Where the arms have features of their own and share a model.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.needed = settings.learner().initial_pulls
        self.arms: list[ArmTally] = []
        self.rounds = self.changes = self.events = self.version = 0
        holds_out = settings.holds_out
        self.sides: list[ExactSums] | None = [ExactSums(), ExactSums()] if holds_out else None
        self.features, self.shared = settings.features, None
        if self.features is not None:
            self.constant = needs_constant(settings.policy, self.features)
            self.shared = self._new_model() if self.features.of_arms else None
        self._simple = self.features is None and (
            settings.half_life is None and not settings.keeps_history and not holds_out
        )
        self.arms_to_refresh: set[int] = set()  # arms whose moments changed since they were last computed
        self.lacking: set[int] = set()  # arms whose ``waiting`` is kept
        self.reload: set[int] = set()  # arms that lack first rewards again, and whose ``waiting`` has to be read

    @property
    def playing(self) -> list[ArmTally]:
        """The arms that were not removed."""
        return [arm for arm in self.arms if not arm.removed]

    def named(self, name: Any) -> ArmTally:
        """An arm by its name, or ``StoreError``."""
        for arm in self.arms:
            if arm.name == name and not arm.removed:
                return arm
        gone = any(arm.name == name for arm in self.arms)
        known = ", ".join(shown(arm.name) for arm in self.playing[:10]) or "(there are none)"
        raise StoreError(
            f"arm {shown(name)} was removed" if gone else f"arm must be one of {known}, got {shown(name)}", "unknown"
        )

    def _new_model(self) -> ModelSums:
        assert self.features is not None
        return ModelSums(self.features.dimension + self.constant, self.settings.half_life)

    # Apply ---------------------------------------------------------------------------------------------------------

    def apply(self, rows: Sequence[Row]) -> None:
        """Take in events that were not applied before."""
        if not rows:
            return
        changes = sorted((row for row in rows if row[1] == CHANGE), key=lambda row: int(row[3]))  # by version
        for row in changes:
            self._check(row)
            *_, round_, _, _, _, detail, _ = row
            self._change(json.loads(detail), int(round_))
        added: dict[int, list[float]] = {}
        arms, lacking = self.arms, self.lacking
        simple = self._simple
        rounds, others = 0, False
        for row in rows:
            _, kind, decision, version, arm, old, value, round_, side, time, crc, _, context = row
            try:
                if checksum_of_core((kind, decision, version, arm, old, value, round_, side, time), context) != crc:
                    self._check(row)
            except (TypeError, AttributeError, struct.error):
                self._check(row)
            if not -1 <= arm < len(arms):
                raise StoreError(f"event {row[0]} is of an arm that no event adds: restore the log", "damaged")
            if kind == DECISION:
                tally = arms[arm]
                tally.decisions += 1
                if arm in lacking and side != HOLDOUT:
                    tally.waiting.add(decision, time)  # type: ignore[union-attr]
            elif old is None and value is not None and simple and kind in VALUES:  # nearly all
                rounds += 1
                if arm in added:
                    added[arm].append(value)
                else:
                    added[arm] = [value]
                arms[arm].rewarded += 1
                if arm in lacking:
                    arms[arm].waiting.drop(decision)  # type: ignore[union-attr]
            elif kind in VALUES:
                rounds += self._value(arms[arm], row)
                others = True
            elif kind not in (CHANGE, ASSIGNMENT):
                raise StoreError(
                    f"event {row[0]} is of kind {kind!r}, which this version of the library does not know: update it",
                    "version",
                )
        for arm, values in added.items():
            sums = arms[arm].sums
            assert isinstance(sums, ExactSums)
            if len(values) < MANY:
                for value in values:
                    sums.add(value)
            else:
                sums.add_many(values)
            self.arms_to_refresh.add(arm)
        self.rounds += rounds
        self.events += len(rows)
        if changes or added or others or lacking:  # decisions alone change no choice
            self.version += 1
        for arm in [arm for arm in lacking if arms[arm].sums.number >= self.needed]:
            arms[arm].waiting = None
            lacking.discard(arm)

    def apply_own(self, event: Event, sums: ExactSums | None = None) -> None:
        """Take in a decision, or the first reward of one, that this process has made: it need not be checked.

        ``sums`` are those of the arm with the reward, if they are known.
        """
        if self.lacking or not self._simple:
            self.apply([(event.seq, *event[1:11], event.detail, event.context)])
            return
        tally = self.arms[event.arm]
        if event.kind == DECISION:
            tally.decisions += 1
        else:
            if sums is None:
                assert isinstance(tally.sums, ExactSums)
                assert event.value is not None
                tally.sums.add(event.value)
            else:
                tally.sums = sums
            tally.rewarded += 1
            self.rounds += 1
            self.arms_to_refresh.add(event.arm)
            self.version += 1
        self.events += 1

    def _value(self, tally: ArmTally, row: Row) -> int:
        """Apply an event that changes a reward; return by how much it changes the number of rounds."""
        _, _, decision, _, arm, old, value, round_, side, *_ = row
        change = int(value is not None) - int(old is not None)
        tally.rewarded += change
        if tally.waiting is not None and change > 0:
            tally.waiting.drop(decision)
        if old == value:
            return 0
        for amount, sign in ((old, -1), (value, 1)):
            if amount is not None:
                if self.sides is not None and side != ELSEWHERE:
                    self.sides[side].add(amount, sign)
                if side != HOLDOUT:
                    tally.add(amount, round_, sign)
                    if self.features is not None:
                        self._change_model(tally, row, amount, sign)
        self.arms_to_refresh.add(arm)
        if tally.waiting is None and tally.sums.number < self.needed:
            self.reload.add(arm)
        if side == HOLDOUT or (change < 0 and self.settings.half_life is not None):
            return 0
        return change

    def _change_model(self, tally: ArmTally, row: Row, amount: float, sign: int) -> None:
        """Add a reward to the model that it belongs to, or take it back."""
        assert self.features is not None
        model = tally.model if self.shared is None else self.shared
        assert model is not None
        context = LoggedContext.of(row[12])
        model.add(context, vector_of(self.features, context.values, self.constant), amount, int(row[7]), sign)

    @staticmethod
    def _check(row: Row) -> None:
        if not core_matches(row[1:11], row[12]):
            raise StoreError(
                f"event {row[0]} of decision {shown(row[2])} does not match its checksum: it was changed after it was "
                "written. The rest can be read with log() and check()",
                "damaged",
            )

    def _change(self, change: dict[str, Any], round_: int) -> None:
        """Apply a change of the experiment."""
        self.changes += 1
        for arm in change.get("arms", ()):
            tally = ArmTally(
                len(self.arms), arm["name"], arm["metadata"], arm["noise_sd"],
                arm.get("later", change["change"] != "create"),
                self.settings,
            )  # fmt: skip
            tally.active, tally.removed = arm.get("active", True), arm.get("removed", False)
            tally.model = self._new_model() if self.features is not None and self.shared is None else None
            self.lacking.add(tally.number)
            self.arms.append(tally)
        match change["change"]:
            case "create" | "add_arm":
                self.rounds += change.get("rounds", 0)
            case "pause_arm" | "resume_arm":
                self.arms[change["arm"]].active = change["change"] == "resume_arm"
            case "remove_arm":
                self.arms[change["arm"]].removed = True
            case "learn_summary":
                if self.settings.half_life is None:
                    self.rounds += change["number"]
            case "add_category":
                self._widen(change["feature"], change["category"])
            case other:
                raise StoreError(
                    f"a change {shown(other)} of the experiment is not known to this version of the library: update it",
                    "version",
                )
        for arm, number, history, *moments in change.get("learnt", ()):
            for value in history:
                self.arms[arm].add(value, round_, 1)
            if not history:
                self.arms[arm].add_moments(number, ExactMoments(*moments), round_)
            self.arms_to_refresh.add(arm)
        for side, (number, *moments) in enumerate(change.get("sides", ())):
            if self.sides is not None:
                self.sides[side].add_moments(number, ExactMoments(*moments))
        for arm, number, plain in change.get("models", ()):
            model = self.shared if arm is None else self.arms[arm].model
            assert model is not None
            model.add_model(number, plain, round_)

    def _widen(self, feature: str, category: str) -> None:
        """Take in a new category of a feature."""
        assert self.features is not None
        self.features, place = self.features.with_category(feature, category)
        for model in (self.shared, *(arm.model for arm in self.arms)):
            if model is not None:
                model.widen(place)

    # Snapshots -----------------------------------------------------------------------------------------------------

    def to_bytes(self, *beside: str) -> bytes:
        """The state as a snapshot keeps it, with a checksum of it and of the texts that are kept beside it."""
        import msgspec

        body: list[Any] = [
            self.rounds, self.changes, self.events,
            None if self.sides is None else [side.to_plain() for side in self.sides],
            [
                [
                    json.dumps([arm.name, arm.metadata]), arm.noise_sd, arm.later, arm.active, arm.removed,
                    arm.decisions, arm.rewarded, arm.sums.to_plain(), arm.history,
                    None if arm.waiting is None else sorted(arm.waiting.when.items()),
                ]
                for arm in self.arms
            ],
        ]  # fmt: skip
        if self.features is not None:
            models = [None if arm.model is None else arm.model.to_plain() for arm in self.arms]
            body.append(
                [json.dumps(self.features.as_plain()), None if self.shared is None else self.shared.to_plain(), models]
            )
        packed = msgspec.msgpack.encode([FORMAT if self.features is None else WITH_MODELS, body])
        return _checksum(packed, beside) + packed

    @classmethod
    def from_bytes(cls, blob: bytes, settings: Settings, *beside: str) -> State | None:
        """The state of a snapshot, or None if it, or a text beside it, is damaged or of another version."""
        import msgspec

        packed = blob[CHECKSUM_BYTES:]
        if _checksum(packed, beside) != blob[:CHECKSUM_BYTES]:
            return None
        number, body = msgspec.msgpack.decode(packed)
        if number != (FORMAT if settings.features is None else WITH_MODELS):
            return None
        state = cls(settings)
        state.rounds, state.changes, state.events, sides, arms, *contexts = body
        state.sides = None if sides is None else [ExactSums.from_plain(side) for side in sides]
        for place, (text, noise_sd, later, *rest) in enumerate(arms):
            name, metadata = json.loads(text)
            tally = ArmTally(place, name, metadata, noise_sd, later, settings)
            tally.active, tally.removed, tally.decisions, tally.rewarded, sums, tally.history, waiting = rest
            half_life = settings.half_life
            tally.sums = ExactSums.from_plain(sums) if half_life is None else FadingSums.from_plain(sums, half_life)
            tally.waiting = None if waiting is None else OpenDecisions((decision, time) for decision, time in waiting)
            state.arms.append(tally)
            state.arms_to_refresh.add(place)
            if waiting is not None:
                state.lacking.add(place)
        for part in contexts:
            state._restore_models(*part)
        state.version = 1
        return state

    def _restore_models(self, features: str, shared: Any, models: Sequence[Any]) -> None:
        given, half_life = self.settings.features, self.settings.half_life
        assert given is not None
        self.features = Features.from_plain(json.loads(features), given.intercept, given.of_arms)
        self.shared = None if shared is None else ModelSums.from_plain(shared, half_life)
        for arm, model in zip(self.arms, models, strict=True):
            arm.model = None if model is None else ModelSums.from_plain(model, half_life)
