"""Numbers too large for a float, and text with control characters."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

import bootleader as bl
from bootleader._core.printable_text import printable, shown
from bootleader._core.validation import LARGEST_WHOLE, positive, real, whole

HUGE = 10**400


@pytest.mark.parametrize(
    "build",
    [
        lambda x: bl.ReBoot(sigma_a=x),
        lambda x: bl.AdaptiveReBoot(ratio=x),
        lambda x: bl.UCB1(sd=x),
        lambda x: bl.PHE(a=x),
        lambda x: bl.Giro(a=x),
        lambda x: bl.EpsilonGreedy(x),
        lambda x: bl.ThompsonSampling(prior_mean=x),
        lambda x: bl.ThompsonSampling(prior_sd=x),
        lambda x: bl.ThompsonSampling(noise_sd=x),
        lambda x: bl.ThompsonSampling(noise_sd=(1.0, x)),
        lambda x: bl.GaussianBandit([x, 0.0]),
        lambda x: bl.GaussianBandit([0.0, 1.0], sd=x),
        lambda x: bl.BernoulliBandit([0.1, x]),
        lambda x: bl.StudentTBandit([0.0, 1.0], df=x),
        lambda x: bl.EmpiricalBandit([[x, 1.0], [0.0, 1.0]]),
        lambda x: bl.AffineBandit(bl.BernoulliBandit([0.1, 0.2]), scale=x),
        lambda x: bl.Uniform(0, x, arms=2),
        lambda x: bl.Agent(bl.UCB1(), ["a"], max_age=x),
        lambda x: bl.Agent(bl.UCB1(), ["a"], max_open=x),
        lambda x: bl.simulate(bl.UCB1(), bl.GaussianBandit([0.0, 1.0]), rounds=x, runs=2),
        lambda x: bl.simulate(bl.UCB1(), bl.GaussianBandit([0.0, 1.0]), rounds=2, runs=x),
    ],
)
@pytest.mark.parametrize("value", [HUGE, -HUGE, 10**5000], ids=["1e400", "-1e400", "1e5000"])
def test_a_number_too_large_for_a_float_is_a_value_error(build: Any, value: int) -> None:
    with pytest.raises(ValueError, match="must") as caught:
        build(value)
    assert len(str(caught.value)) < 400


def test_a_fraction_too_large_for_a_float_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="at most"):
        real("x", Fraction(HUGE))


def test_whole_numbers_have_a_limit() -> None:
    assert whole("n", LARGEST_WHOLE, 0) == LARGEST_WHOLE
    with pytest.raises(ValueError, match="which is more than"):
        whole("n", LARGEST_WHOLE + 1, 0)


def test_a_scale_whose_square_is_zero_is_refused() -> None:
    assert positive("sd", 1e-80) == 1e-80
    with pytest.raises(ValueError, match="at least 1e-80"):
        positive("sd", 1e-200)


def test_names_are_shown_escaped_and_shortened() -> None:
    assert printable("Größe 3 €") == "Größe 3 €"
    assert printable("\x1b[2Jx\u202ey\ud800\n") == "\\x1b[2Jx\\u202ey\\ud800\\n"
    assert printable("a" * 41) == "a" * 37 + "..."
    assert len(shown("y" * 10**6)) == 100
    assert shown("\x1b") == "'\\x1b'"
