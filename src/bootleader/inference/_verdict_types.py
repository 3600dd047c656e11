"""What a verdict is: arms, comparisons, and the sentences that they amount to."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

import numpy as np

from bootleader._core.validation import positive
from bootleader.inference import _sentences as words
from bootleader.inference._intervals import Bounds, Intervals, alpha_of, bounds_of, is_known, method_of
from bootleader.inference._moments import Floats, Moments
from bootleader.inference._sample_size import visits_for_guard, visits_for_pair

if TYPE_CHECKING:
    import pandas as pd

Outcome = Literal["better", "worse", "same", "not yet"]
MOST_LINES: Final = 10
MOST_ARMS: Final = 200  # of which all pairs are compared


@dataclass(frozen=True)
class ArmAnswer:
    """What is known of one arm: its interval is valid together with those of all other arms."""

    arm: str
    rewards: int
    mean: float
    low: float
    high: float
    is_ready: bool
    effective_number: float


@dataclass(frozen=True)
class Question:
    """What is asked, and of which rewards."""

    alpha: float
    bounds: Bounds | None
    maximize: bool
    margin: float | None
    unit: str
    method: str


def question_of(
    alpha: Any = 0.05, low: Any = None, high: Any = None, maximize: bool = True, margin: Any = None,
    unit: Any = "reward",
) -> Question:  # fmt: skip
    """The question, if its options are accepted."""
    if not isinstance(unit, str) or not unit.strip():
        raise ValueError(f"unit must be a word for what a reward is for, such as 'visit', got {unit!r}")
    bounds, least = bounds_of(low, high), None if margin is None else positive("margin", margin)
    return Question(alpha_of(alpha), bounds, maximize, least, unit, method_of(bounds))


class Basis(NamedTuple):
    """What all comparisons of a verdict are made from."""

    moments: Moments
    effective: Floats
    shares: Floats  # of the visits to come
    visits: int


@dataclass(frozen=True)
class Comparison:
    """The difference of two arms' means: ``arm`` less ``other``, in the rewards' own unit."""

    arm: str
    other: str
    difference: float
    low: float
    high: float
    is_ready: bool
    question: Question = field(repr=False)
    level: float = field(repr=False)  # of this comparison, corrected for the number of comparisons
    basis: Basis = field(repr=False)
    pair: Any = field(repr=False)  # the two arms' places in the basis

    @property
    def outcome(self) -> Outcome:
        """``better``, ``worse``, ``same`` (within the margin) or ``not yet``."""
        if self.low > 0.0 or self.high < 0.0:
            return "better" if (self.low > 0.0) == self.question.maximize else "worse"
        margin = self.question.margin
        return "same" if margin is not None and self.within < margin else "not yet"

    @property
    def within(self) -> float:
        """The two means differ by at most this."""
        return max(abs(self.low), abs(self.high))

    @cached_property
    def more(self) -> int | None:
        """About how many more visits until there is an answer, if the rewards stay as they seem; None: not in sight."""
        if self.outcome != "not yet":
            return 0
        moments, effective, shares, _ = self.basis
        if not self.is_ready and not (effective[self.pair] > 0.0).all():
            return None
        return visits_for_pair(
            moments.only(self.pair), effective[self.pair], shares[self.pair], self.level, self.question.bounds,
            self.question.margin,
        )  # fmt: skip

    @property
    def is_ahead(self) -> bool:
        """Whether ``arm`` has the better mean so far."""
        return (self.difference >= 0) == self.question.maximize

    @property
    def sentence(self) -> str:
        """The answer in words."""
        asked = self.question
        ahead, behind = (self.arm, self.other) if self.is_ahead else (self.other, self.arm)
        if self.outcome in ("better", "worse"):
            low, high = sorted((abs(self.low), abs(self.high)))
            return words.beats(ahead, behind, low, high, asked.unit, asked.alpha, asked.maximize)
        if self.outcome == "same":
            return words.same(self.arm, self.other, self.within, asked.alpha)
        if not self.is_ready:
            return words.waiting(self._short_of_rewards, self.more or self._visits_for_guard, asked.unit)
        within = self.within
        if asked.bounds is not None and within > 0.5 * (asked.bounds.high - asked.bounds.low):
            within = math.inf  # hardly more than the bounds say
        return words.not_yet(ahead, behind, abs(self.difference), within, self.more, self.basis.visits, asked.unit)

    @property
    def _short_of_rewards(self) -> list[str]:
        moments, effective, _, _ = self.basis
        is_short = ~is_known(moments, effective)[self.pair]
        found = [name for name, short in zip((self.arm, self.other), is_short, strict=True) if short]
        return found or [self.arm, self.other]

    @property
    def _visits_for_guard(self) -> int | None:
        moments, effective, shares, _ = self.basis
        return visits_for_guard(moments.only(self.pair), effective[self.pair], shares[self.pair])


@dataclass(frozen=True)
class Verdict:
    """The answer to "which arm is better, and may I stop?".

    Attributes
    ----------
    arms : tuple of ArmAnswer
        Each arm's interval. They are valid all together: with probability ``1 - alpha`` none of them ever excludes
        its mean.
    comparisons : tuple of Comparison
        Each pair's difference, or each arm's against the control. Valid all together likewise.
    shares : tuple of float
        Each arm's share of the visits to come, for the estimates.
    """

    arms: tuple[ArmAnswer, ...]
    comparisons: tuple[Comparison, ...]
    question: Question
    control: str | None
    visits: int
    shares: tuple[float, ...]  # of the visits to come, by arm
    about: str = ""  # what kind of means these are, where they are not plain ones

    @cached_property
    def candidates(self) -> tuple[str, ...]:
        """The arms that may still be the best: no other arm is known to beat them."""
        beaten = {c.other for c in self.comparisons if c.outcome == "better"}
        beaten |= {c.arm for c in self.comparisons if c.outcome == "worse"}
        return tuple(answer.arm for answer in self.arms if answer.arm not in beaten)

    @property
    def leader(self) -> str:
        """The arm with the best mean so far."""
        sign = 1.0 if self.question.maximize else -1.0
        return max(self.arms, key=lambda answer: sign * answer.mean if answer.rewards else -math.inf).arm

    @property
    def is_decided(self) -> bool:
        """Whether one may stop: every comparison that concerns the best arm has an answer."""
        return all(c.outcome != "not yet" for c in self._deciding)

    @property
    def _deciding(self) -> list[Comparison]:
        if self.control is not None:
            return list(self.comparisons)
        if len(self.candidates) == 1:
            return []
        rivals = set(self.candidates) - {self.leader}
        return [
            c for c in self.comparisons
            if (c.arm == self.leader and c.other in rivals) or (c.other == self.leader and c.arm in rivals)
        ]  # fmt: skip

    @property
    def more(self) -> int | None:
        """About how many more visits until the verdict is decided; None: not in sight."""
        needed = [c.more for c in self._deciding]
        return None if None in needed else max((n for n in needed if n is not None), default=0)

    @property
    def cost_of_going_on(self) -> float:
        """What the further visits would cost, in reward, against playing the leader alone, if all is as it seems."""
        best = next(answer.mean for answer in self.arms if answer.arm == self.leader)
        lost = sum(
            share * abs(best - answer.mean)
            for answer, share in zip(self.arms, self.shares, strict=True)
            if answer.rewards
        )
        return math.inf if self.more is None else self.more * lost

    @property
    def risk_of_stopping(self) -> float:
        """The most that the leader's mean can be behind another arm's: what keeping it could cost for each reward.

        Infinite while that is not known.
        """
        sign = 1.0 if self.question.maximize else -1.0
        ahead = {c.other: max(-sign * c.low, -sign * c.high) for c in self.comparisons if c.arm == self.leader}
        ahead |= {c.arm: max(sign * c.low, sign * c.high) for c in self.comparisons if c.other == self.leader}
        own = next(answer for answer in self.arms if answer.arm == self.leader)
        for answer in self.arms:  # arms that were compared with a control only
            if answer.arm not in ahead and answer is not own:
                ahead[answer.arm] = max(sign * (answer.low - own.high), sign * (answer.high - own.low))
        return max(0.0, *ahead.values())

    @property
    def sentence(self) -> str:
        """The verdict in words."""
        if len(self.comparisons) == 1:
            return self.comparisons[0].sentence
        if self.control is not None:
            return self._against_control(self.control)
        return self._best_of_many()

    def _against_control(self, control: str) -> str:
        arms: dict[str, list[str]] = {}
        for c in self.comparisons:
            arms.setdefault(c.outcome, []).append(c.arm)
        within = max((c.within for c in self.comparisons if c.outcome == "same"), default=0.0)
        return words.against_control(control, arms, within, self.more, self.question.unit, self.question.alpha)

    def _best_of_many(self) -> str:
        asked = self.question
        if len(self.candidates) == 1:
            return f"{self.candidates[0]} is the best arm: it beats every other arm, directly or by way of another " \
                   f"({words.level(asked.alpha)})"  # fmt: skip
        rest = [name for name in self.candidates if name != self.leader]
        out = len(self.arms) - len(self.candidates)
        verb = "is" if out == 1 else "are"
        ruled_out = f" ({out} of {len(self.arms)} arms {verb} ruled out: {words.level(asked.alpha)})" if out else ""
        if self.is_decided:
            within = max(c.within for c in self._deciding)
            who = words.listed(self.candidates, len(self.candidates))
            return f"{who} are the same to within {words.number(within)}{ruled_out}"
        more = self.more
        needed = f"about {words.rounded(more)} more {asked.unit}s" if more is not None else "the end is not in sight"
        return f"not yet: {needed}; {self.leader} leads; {words.listed(rest)} may still be better{ruled_out}"

    @property
    def _shown(self) -> list[Comparison]:
        """The comparisons that are worth a line each: all of few, the leader's of many, none where one says it all."""
        if len(self.comparisons) == 1:
            return []
        if len(self.comparisons) <= MOST_LINES:
            return list(self.comparisons)
        return [c for c in self.comparisons if self.leader in (c.arm, c.other)]

    def arms_frame(self) -> pd.DataFrame:
        """The arms as a table."""
        import pandas as pd

        return pd.DataFrame([vars(answer) for answer in self.arms]).set_index("arm")

    def comparisons_frame(self) -> pd.DataFrame:
        """The comparisons as a table."""
        import pandas as pd

        keys = ("arm", "other", "difference", "low", "high", "outcome", "more", "sentence")
        return pd.DataFrame([{key: getattr(c, key) for key in keys} for c in self.comparisons], columns=list(keys))

    def __str__(self) -> str:
        width = max(len(answer.arm) for answer in self.arms)
        lines = [f"{'':{width}}  {'rewards':>12}  {'mean':>12}   interval"]
        for answer in self.arms:
            scale = answer.high - answer.low if answer.is_ready else 0.0
            interval = (
                f"{words.number(answer.low, scale)} to {words.number(answer.high, scale)}"
                if answer.is_ready
                else "not yet"
            )
            lines.append(
                f"{answer.arm:{width}}  {answer.rewards:>12,}  {words.number(answer.mean, scale):>12}   {interval}"
            )
        lines += ["", *(f"- {c.sentence}" for c in self._shown)]
        lines += [self.about] if self.about else []
        return "\n".join([*lines, words.as_line(self.sentence)])


def pairs_of(arms: int, control: int | None) -> Any:
    if control is None:
        if arms > MOST_ARMS:
            pairs = arms * (arms - 1) // 2
            raise ValueError(
                f"{arms:,} arms have {pairs:,} pairs; give a control, to compare each arm with that one only"
            )
        return np.array(list(combinations(range(arms), 2)), np.intp)
    return np.array([(k, control) for k in range(arms) if k != control], np.intp)


def arm_answers(labels: list[str], moments: Moments, found: Intervals, effective: Floats) -> Iterable[ArmAnswer]:
    columns = (moments.count, moments.mean, found.low, found.high, found.is_ready, effective)
    for name, n, mean, low, high, ready, known in zip(labels, *(c.tolist() for c in columns), strict=True):
        yield ArmAnswer(name, int(n), mean if n else math.nan, low, high, ready, known)


def comparisons_of(
    labels: list[str], pairs: Any, found: Intervals, basis: Basis, question: Question, level: float
) -> Iterable[Comparison]:
    means = [mean if n else math.nan for mean, n in zip(basis.moments.mean.tolist(), basis.moments.count, strict=True)]
    ends = zip(pairs, pairs.tolist(), *(column.tolist() for column in found), strict=True)
    for pair, (a, b), low, high, ready in ends:
        yield Comparison(labels[a], labels[b], means[a] - means[b], low, high, ready, question, level, basis, pair)
