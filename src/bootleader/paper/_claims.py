"""Claims and verdicts: pure functions from measured numbers to *holds*, *holds in part* or *does not hold*."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from bootleader.paper._regret_growth import Growth, Interval

LINEAR_FROM = 0.85  # growth exponents above this are called linear; a logarithm has 0, a straight line 1


class Verdict(StrEnum):
    """What the data say about a claim."""

    HOLDS = "holds"
    IN_PART = "holds in part"
    FAILS = "does not hold"


@dataclass(frozen=True)
class Finding:
    """A verdict with the figures it rests on, and where the claim does not hold, a sentence on what is seen instead."""

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


def otherwise(finding: Finding, instead: str) -> Finding:
    """The finding with a plain sentence on what is seen instead, which is dropped where the claim holds."""
    return replace(finding, instead="" if finding.verdict is Verdict.HOLDS else instead)


def yes_or_no(holds: bool, measured: str, instead: str = "") -> Finding:
    """Holds, or does not."""
    return otherwise(Finding(Verdict.HOLDS if holds else Verdict.FAILS, measured), instead)


def all_of(findings: Iterable[Finding]) -> Finding:
    """One finding for a claim of several parts: it holds if all do, does not if all fail, else it holds in part."""
    listed = list(findings)
    verdicts = {finding.verdict for finding in listed}
    verdict = verdicts.pop() if len(verdicts) == 1 else Verdict.IN_PART
    measured = "; ".join(finding.measured for finding in listed)
    return Finding(verdict, measured, " ".join(finding.instead for finding in listed if finding.instead))


def is_linear(name: str, growth: Growth) -> Finding:
    """Regret is linear if the whole interval of its growth exponent is above the line; undecided: in part."""
    measured = f"{name}: growth exponent {growth}"
    if growth.low > LINEAR_FROM:
        return Finding(Verdict.HOLDS, measured)
    if growth.high <= LINEAR_FROM:
        return Finding(Verdict.FAILS, measured, f"Regret of {name} is sublinear: its growth exponent is {growth}.")
    return Finding(Verdict.IN_PART, measured, _unclear(name, growth))


def is_sublinear(name: str, growth: Growth) -> Finding:
    """Regret is sublinear if the whole interval of its growth exponent is below the line; undecided: in part."""
    measured = f"{name}: growth exponent {growth}"
    if growth.low > LINEAR_FROM:
        return Finding(Verdict.FAILS, measured, f"Regret of {name} is linear: its growth exponent is {growth}.")
    if growth.high <= LINEAR_FROM:
        return Finding(Verdict.HOLDS, measured)
    return Finding(Verdict.IN_PART, measured, _unclear(name, growth))


def _unclear(name: str, growth: Growth) -> str:
    return (
        f"Whether regret of {name} is linear is undecided: its growth exponent is {growth}, on both sides of "
        f"{LINEAR_FROM:g}."
    )


def is_flat(name: str, ratio: Interval, within: float) -> Finding:
    """A ratio is flat if its interval lies within a factor of 1; not, if it lies outside; undecided: in part."""
    measured = f"{name}: {ratio}"
    if 1.0 / within <= ratio.low and ratio.high <= within:
        return Finding(Verdict.HOLDS, measured)
    if ratio.high < 1.0 / within or ratio.low > within:
        return Finding(Verdict.FAILS, measured, f"{name} is {ratio}, beyond a factor {within:g} of 1.")
    return Finding(Verdict.IN_PART, measured, _undecided(name, ratio, f"within a factor {within:g} of 1"))


def is_not_flat(name: str, ratio: Interval, within: float) -> Finding:
    """A ratio is not flat if its interval lies beyond a factor of 1."""
    flat = is_flat(name, ratio, within)
    if flat.verdict is Verdict.HOLDS:
        return Finding(Verdict.FAILS, flat.measured, f"{name} is {ratio}, within a factor {within:g} of 1.")
    return flat if flat.verdict is Verdict.IN_PART else Finding(Verdict.HOLDS, flat.measured)


def is_above(name: str, value: Interval, line: float) -> Finding:
    """A number is above a line if its whole interval is; undecided: in part."""
    measured = f"{name}: {value}"
    if value.low > line:
        return Finding(Verdict.HOLDS, measured)
    if value.high <= line:
        return Finding(Verdict.FAILS, measured, f"{name} is {value}, not above {line:g}.")
    return Finding(Verdict.IN_PART, measured, _undecided(name, value, f"above {line:g}"))


def is_below(name: str, value: Interval, line: float) -> Finding:
    """A number is below a line if its whole interval is; undecided: in part."""
    measured = f"{name}: {value}"
    if value.high < line:
        return Finding(Verdict.HOLDS, measured)
    if value.low >= line:
        return Finding(Verdict.FAILS, measured, f"{name} is {value}, not below {line:g}.")
    return Finding(Verdict.IN_PART, measured, _undecided(name, value, f"below {line:g}"))


def _undecided(name: str, value: Interval, what: str) -> str:
    return f"{name} is {value}: whether it is {what} is undecided."


def is_decreasing(name: str, at: Sequence[float], values: Sequence[float]) -> Finding:
    """Whether values fall from each point to the next; not, if they rise on most steps; else in part."""
    rises = [i for i in range(len(values) - 1) if not values[i + 1] < values[i]]
    if not rises:
        return Finding(
            Verdict.HOLDS, f"{name} falls from {values[0]:,.5g} at {at[0]:.4g} to {values[-1]:,.5g} at {at[-1]:.4g}"
        )
    share = len(rises) / (len(values) - 1)
    first = rises[0]
    measured = (
        f"{name} rises on {len(rises)} of {len(values) - 1} steps from {at[0]:g} to {at[-1]:g}, first from "
        f"{values[first]:,.6g} at {at[first]:.4g} to {values[first + 1]:,.6g} at {at[first + 1]:.4g}; at "
        f"{at[-1]:g} it is {values[-1]:,.5g}"
    )
    falls = len(values) - 1 - len(rises)
    instead = (
        f"{name} falls on {falls or 'none'} of {len(values) - 1} steps: it goes from {values[0]:,.5g} at {at[0]:.4g} "
        f"to {values[-1]:,.5g} at {at[-1]:.4g}."
    )
    return Finding(Verdict.FAILS if share > 0.5 else Verdict.IN_PART, measured, instead)
