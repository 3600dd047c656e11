"""What a user must know to use a policy: the groups of the leaderboard and of ``bootleader policies``."""

from __future__ import annotations

from typing import Final

from bootleader.paper._contenders import UNIT_INTERVAL, Facts, informed
from bootleader.policies import Knowledge, Policy
from bootleader.policies.base import IN_WORDS, in_words

OF_A_FAMILY: Final = f"{IN_WORDS[Knowledge.FAMILY]}, and its sd if Gaussian"
OF_ANOTHER_POLICY: Final = "what the policy that it plays must know"
# Facts about rewards that every policy takes.
_FACTS: Final = Facts(sd=0.5, family="bernoulli", reward_range=UNIT_INTERVAL, rounds=10_000)


def as_informed(policy: Policy) -> Policy:
    """The policy with parameters of the kind that the leaderboard gives it.

    Examples
    --------
    >>> from bootleader import MOSS, ThompsonSampling
    >>> as_informed(MOSS()), as_informed(ThompsonSampling())
    (MOSS(horizon=10000, sd=0.5), ThompsonSampling(prior_sd=float('inf'), noise_sd=0.5))
    """
    return informed(policy, _FACTS) or policy


def required_knowledge(policy: Policy) -> str:
    """What a user must know to use a policy of this type, in words; the parameters of the example do not matter.

    A policy that is made for a family of rewards needs the family. Thompson sampling has the flat prior and MOSS the
    horizon, as on the leaderboard. A policy that plays another one needs what that one does.

    Examples
    --------
    >>> from bootleader import KLUCB, PHE, Discounted, ReBoot, ThompsonSampling
    >>> required_knowledge(PHE()), required_knowledge(ThompsonSampling())
    ('the range of the rewards', 'the standard deviation of the rewards')
    >>> required_knowledge(KLUCB()) == required_knowledge(KLUCB("gaussian"))
    True
    >>> required_knowledge(Discounted(ReBoot(sigma_a=1.5), half_life=500))
    'what the policy that it plays must know and how fast the rewards change'
    """
    if "family" in policy.parameters:
        return OF_A_FAMILY
    played = policy.parameters.get("policy")
    if isinstance(played, Policy):
        own = tuple(known for known in policy.must_know if known not in played.must_know)
        return f"{OF_ANOTHER_POLICY} and {in_words(own)}"
    return in_words(as_informed(policy).must_know)


def knowledge_kind(policy: Policy) -> str:
    """The kind of knowledge by which the leaderboard is divided: nothing, sd, prior, family or range."""
    if "family" in policy.parameters:
        return "family"
    must_know = as_informed(policy).must_know
    for known in (Knowledge.RANGE, Knowledge.PRIOR, Knowledge.SD):
        if known in must_know:
            return str(known.value)
    return "nothing"
