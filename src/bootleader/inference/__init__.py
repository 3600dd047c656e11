"""Answers one may act on: intervals valid at any time, verdicts, off-policy evaluation."""

from bootleader.inference._confidence_sequence import (
    ConfidenceSequence,
    confidence_sequence,
    confidence_sequences,
    over_time,
)
from bootleader.inference._moments import Moments
from bootleader.inference._off_policy import Evaluation, evaluate
from bootleader.inference._verdict import holdout_verdict, verdict, verdict_of_moments
from bootleader.inference._verdict_types import Comparison, Verdict

__all__ = [
    "Comparison",
    "ConfidenceSequence",
    "Evaluation",
    "Moments",
    "Verdict",
    "confidence_sequence",
    "confidence_sequences",
    "evaluate",
    "holdout_verdict",
    "over_time",
    "verdict",
    "verdict_of_moments",
]
