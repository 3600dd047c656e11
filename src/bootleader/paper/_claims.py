"""Claims and verdicts: pure functions from measured numbers to a verdict with the figures that it rests on."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from bootleader.paper._bootstrap_intervals import Interval
from bootleader.paper._growth_exponent import LINEAR_FROM, Growth


class Verdict(StrEnum):
    """What the data say about a claim.

    A claim of several parts holds in part if some of its parts hold and some do not. A claim is undecided if its
    interval lies on both sides of the line, or if what it rests on cannot be computed.
    """

    HOLDS = "holds"
    IN_PART = "holds in part"
    FAILS = "does not hold"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Finding:
    """A verdict with the figures it rests on; unless the claim holds, a sentence on what is seen instead."""

    verdict: Verdict
    measured: str
    instead: str = ""


@dataclass(frozen=True)
class Claim:
    """A statement of the paper: where it stands, in our words, and how it is tested here."""

    where: str
    statement: str
    test: str


@dataclass(frozen=True)
class Judged:
    """A row of the claims table."""

    claim: Claim
    finding: Finding


def judged(where: str, statement: str, test: str, finding: Finding) -> Judged:
    """A row of the claims table."""
    return Judged(Claim(where, statement, test), finding)


def explained(finding: Finding, instead: str) -> Finding:
    """The finding with a sentence on what is seen instead, or without one if the claim holds."""
    return replace(finding, instead="" if finding.verdict is Verdict.HOLDS else instead)


def holds_if(holds: bool, measured: str, instead: str = "", *, numbers: Iterable[float]) -> Finding:
    """Holds or does not; undecided if one of the numbers that the comparison rests on is NaN.

    ``numbers`` has no default: comparisons with NaN are false, and a false comparison is not a finding.
    """
    if any(math.isnan(number) for number in numbers):
        return Finding(Verdict.UNDECIDED, measured, "A number that this rests on cannot be computed.")
    return explained(Finding(Verdict.HOLDS if holds else Verdict.FAILS, measured), instead)


def joint_verdict(verdicts: Iterable[Verdict]) -> Verdict:
    """The verdict on a claim of several parts.

    It holds if all parts hold, does not hold if none does, and otherwise holds in part. If that depends on parts that
    are undecided, or if there are no parts, the claim is undecided.

    Examples
    --------
    >>> str(joint_verdict([Verdict.HOLDS, Verdict.UNDECIDED]))
    'undecided'
    >>> str(joint_verdict([Verdict.HOLDS, Verdict.FAILS, Verdict.UNDECIDED]))
    'holds in part'
    """
    found = set(verdicts)
    decided = found - {Verdict.UNDECIDED}
    possible = [decided] if decided == found else [decided | {Verdict.HOLDS}, decided | {Verdict.FAILS}]
    joint = {next(iter(parts)) if len(parts) == 1 else Verdict.IN_PART for parts in possible}
    return joint.pop() if found and len(joint) == 1 else Verdict.UNDECIDED


def all_of(findings: Iterable[Finding]) -> Finding:
    """One finding for a claim of several parts, with the figures and sentences of them all."""
    parts = list(findings)
    verdict = joint_verdict(part.verdict for part in parts)
    measured = "; ".join(part.measured for part in parts)
    sentences = " ".join(part.instead for part in parts if part.instead)
    return Finding(verdict, measured, sentences)


def _compared(name: str, value: Interval, measured: str, holds: bool, fails: str, undecided: str) -> Finding:
    """The finding on an interval: ``fails`` is empty unless it lies wholly on the wrong side of the line."""
    if not value.is_computed:
        return Finding(Verdict.UNDECIDED, measured, f"{name} cannot be computed: {value}.")
    if holds:
        return Finding(Verdict.HOLDS, measured)
    return Finding(Verdict.FAILS if fails else Verdict.UNDECIDED, measured, fails or undecided)


def is_linear(name: str, growth: Growth) -> Finding:
    """Regret is linear if the whole interval of its growth exponent is above the line."""
    sublinear = f"Regret of {name} is sublinear: its growth exponent is {growth}."
    return _compared_growth(name, growth, growth.low > LINEAR_FROM, sublinear if growth.high <= LINEAR_FROM else "")


def is_sublinear(name: str, growth: Growth) -> Finding:
    """Regret is sublinear if the whole interval of its growth exponent is at or below the line."""
    linear = f"Regret of {name} is linear: its growth exponent is {growth}."
    return _compared_growth(name, growth, growth.high <= LINEAR_FROM, linear if growth.low > LINEAR_FROM else "")


def _compared_growth(name: str, growth: Growth, holds: bool, fails: str) -> Finding:
    undecided = (
        f"Whether regret of {name} is linear is undecided: its growth exponent is {growth}, on both sides of "
        f"{LINEAR_FROM:g}."
    )
    return _compared(
        f"The growth exponent of {name}", growth, f"{name}: growth exponent {growth}", holds, fails, undecided
    )


def is_flat(name: str, ratio: Interval, within: float) -> Finding:
    """A ratio is flat if its interval lies within a factor of 1, and is not if it lies outside."""
    fails = f"{name} is {ratio}, beyond a factor {within:g} of 1." if _beyond(ratio, within) else ""
    return _compared_factor(name, ratio, within, _inside(ratio, within), fails)


def is_not_flat(name: str, ratio: Interval, within: float) -> Finding:
    """A ratio is not flat if its interval lies beyond a factor of 1."""
    fails = f"{name} is {ratio}, within a factor {within:g} of 1." if _inside(ratio, within) else ""
    return _compared_factor(name, ratio, within, _beyond(ratio, within), fails)


def _inside(ratio: Interval, within: float) -> bool:
    return 1.0 / within <= ratio.low and ratio.high <= within


def _beyond(ratio: Interval, within: float) -> bool:
    return ratio.high < 1.0 / within or ratio.low > within


def _compared_factor(name: str, ratio: Interval, within: float, holds: bool, fails: str) -> Finding:
    undecided = _undecided(name, ratio, f"within a factor {within:g} of 1")
    return _compared(name, ratio, f"{name}: {ratio}", holds, fails, undecided)


def is_above(name: str, value: Interval, line: float, instead: str = "") -> Finding:
    """A number is above a line if its whole interval is; ``instead`` replaces the sentence if it is not."""
    fails = (instead or f"{name} is {value}, not above {line:g}.") if value.high <= line else ""
    undecided = instead or _undecided(name, value, f"above {line:g}")
    return _compared(name, value, f"{name}: {value}", value.low > line, fails, undecided)


def is_below(name: str, value: Interval, line: float, instead: str = "") -> Finding:
    """A number is below a line if its whole interval is; ``instead`` replaces the sentence if it is not."""
    fails = (instead or f"{name} is {value}, not below {line:g}.") if value.low >= line else ""
    undecided = instead or _undecided(name, value, f"below {line:g}")
    return _compared(name, value, f"{name}: {value}", value.high < line, fails, undecided)


def _undecided(name: str, value: Interval, what: str) -> str:
    return f"{name} is {value}: whether it is {what} is undecided."


def is_decreasing(name: str, at: Sequence[float], values: Sequence[float]) -> Finding:
    """Values fall from each point to the next; not, if they rise on most steps; otherwise in part."""
    if any(math.isnan(value) for value in values):
        return Finding(Verdict.UNDECIDED, f"{name} is not a number at some points", f"{name} cannot be computed.")
    steps = len(values) - 1
    rises = [i for i in range(steps) if not values[i + 1] < values[i]]
    if not rises:
        return Finding(
            Verdict.HOLDS, f"{name} falls from {values[0]:,.5g} at {at[0]:.4g} to {values[-1]:,.5g} at {at[-1]:.4g}"
        )
    first = rises[0]
    measured = (
        f"{name} rises on {len(rises)} of {steps} steps from {at[0]:g} to {at[-1]:g}, first from "
        f"{values[first]:,.6g} at {at[first]:.4g} to {values[first + 1]:,.6g} at {at[first + 1]:.4g}; at "
        f"{at[-1]:g} it is {values[-1]:,.5g}"
    )
    instead = (
        f"{name} falls on {steps - len(rises) or 'none'} of {steps} steps: it goes from {values[0]:,.5g} at "
        f"{at[0]:.4g} to {values[-1]:,.5g} at {at[-1]:.4g}."
    )
    return Finding(Verdict.FAILS if len(rises) > 0.5 * steps else Verdict.IN_PART, measured, instead)
