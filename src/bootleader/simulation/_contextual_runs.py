"""Play contextual bandits: the compiled kernel, the same rounds in Python, and users' own policies and bandits."""

from __future__ import annotations

import inspect
import math
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from bootleader._core.arm_parameters import RewardParameters
from bootleader._core.coefficient_rules import CoefficientRule, new_evidence
from bootleader._core.context_parameters import CONTEXTS, ContextParameters
from bootleader._core.linear_model import new_models
from bootleader._core.linear_rules import LinearArm, LinearRule
from bootleader._core.rng import Purpose, Stream, run_key, stream_of, stride_of
from bootleader._core.rules import SharedStatistics
from bootleader.bandits import Bandit, ContextualBandit
from bootleader.bandits.linear import FEATURE_DRAWS, LINKS, PAYS
from bootleader.policies import CONTEXTUAL_POLICIES, ContextualPolicy
from bootleader.simulation._work_stealing import Stopped, WorkStealing

if TYPE_CHECKING:
    from bootleader._core.kernels.linear import Functions
    from bootleader._core.kernels.linear_state import ContextStreams, LinearPlan
    from bootleader.simulation._block_runs import Block, Runs

PARAMETERS = 5
POLICY_RANDOMNESS, BANDIT_RANDOMNESS = 6, 9  # spawn keys of the generators of users' Python policies and bandits
RULES = tuple(policy.rule for policy in CONTEXTUAL_POLICIES)
LAWS = tuple(dict.fromkeys(rule.law for rule in RULES if isinstance(rule, LinearRule)))
COEFFICIENT_RULES = tuple((rule.draw, rule.learn) for rule in RULES if isinstance(rule, CoefficientRule))


@runtime_checkable
class PythonContextualBandit(Protocol):
    """What a user's own Python bandit with contexts must have; ``start(rng)``, if it is there, begins a new run."""

    arms: int
    dimension: int

    def features(self, t: int) -> Any:
        """The features after ``t`` rounds: one row for each arm, or one context (a vector) for all arms."""

    def means(self, t: int) -> Any:
        """The arms' means after ``t`` rounds."""

    def pay(self, arm: int, t: int, rng: np.random.Generator) -> float:
        """The reward of a pull after ``t`` rounds."""


def has_contexts(bandit: Any) -> bool:
    """Whether a bandit shows contexts."""
    if isinstance(bandit, Bandit | ContextualBandit):  # a check of a protocol takes 30 microseconds
        return isinstance(bandit, ContextualBandit)
    return isinstance(bandit, PythonContextualBandit)


def validate_pair(policy: Any, bandit: Any) -> None:
    """Raise ``TypeError`` if only one of policy and bandit knows contexts; the message says what to do."""
    contexts = has_contexts(bandit)
    if isinstance(policy, ContextualPolicy):
        if not contexts:
            raise TypeError(
                f"{policy!r} needs contexts, and {bandit!r:.200} has none: play it on a LinearBandit, or play a policy "
                "without contexts here, such as AdaptiveReBoot()"
            )
    elif contexts and (hasattr(policy, "rule") or not takes_contexts(policy)):
        raise TypeError(
            f"{policy!r} does not see contexts, and {bandit!r:.200} has them: play AdaptiveLinReBoot(), another "
            "contextual policy, or an object with start(arms, dimension, rng), pull(features) and "
            "update(arm, features, reward)"
        )


def takes_contexts(policy: Any) -> bool:
    """Whether the methods of a user's Python policy take features."""
    try:
        return len(inspect.signature(policy.pull).parameters) >= 1
    except (TypeError, ValueError):
        return True


def functions_and_plan(
    policy: ContextualPolicy, bandit: Any, rounds: int, shared: bool = True
) -> tuple[Functions, LinearPlan]:
    """What the kernel is made of, and the plan it is given. The library's own functions share one kernel, if asked."""
    from bootleader._core.kernels.linear import Functions
    from bootleader._core.kernels.linear_state import LinearPlan
    from bootleader._core.numba_bridge import canonical

    rule = policy.rule

    def group(function: Any, library: tuple[Any, ...]) -> tuple[tuple[Any, ...], int]:
        if shared and function in library:
            return library, library.index(function)
        return (canonical(function),), 0

    own = isinstance(bandit, ContextualBandit)
    if isinstance(rule, CoefficientRule):
        pairs, law = group_of_draws(rule)
        laws, learns = (tuple(column) for column in zip(*pairs, strict=True))
    else:
        (laws, law), learns = group(rule.law, LAWS), ()
    draws, draw = group(bandit.draw, FEATURE_DRAWS) if own else (FEATURE_DRAWS, 0)
    links, link = group(bandit.link, LINKS) if own else (LINKS, 0)
    pays, pay = group(bandit.pay, PAYS) if own else (PAYS, 0)
    disjoint = bool(bandit.disjoint)
    plan = LinearPlan(
        law=law,
        noise=int(rule.noise),
        params=rule.params + (0.0,) * (PARAMETERS - len(rule.params)),
        ridge=float(rule.ridge),
        unit_free=rule.unit_free,
        initial_pulls=rule.initial_pulls,
        joint=rule.joint and not disjoint,
        correlated=rule.correlated and not disjoint,
        draw=draw,
        link=link,
        pay=pay,
        changing=bandit.changing,
        disjoint=disjoint,
        horizon=rounds,
    )
    return Functions(laws, links, pays, draws, learns), plan


def group_of_draws(rule: CoefficientRule) -> tuple[tuple[Any, ...], int]:
    """The pairs of draw and learn that share a kernel with those of a rule, and the place of its pair."""
    from bootleader._core.numba_bridge import canonical

    pair = rule.draw, rule.learn
    if pair in COEFFICIENT_RULES:
        return COEFFICIENT_RULES, COEFFICIENT_RULES.index(pair)
    return (tuple(map(canonical, pair)),), 0


def parts_of(rule: Any) -> tuple[Any, ...]:
    """The functions of a round that a rule has instead of the usual ones."""
    from bootleader._core.kernels import linear_draws

    return linear_draws.PARTS if isinstance(rule, CoefficientRule) else ()


def new_state(policy: ContextualPolicy, parameters: Any, noise_sd: Any, plan: LinearPlan, streams: Any) -> Any:
    """A run before the first round; streams of lists are for a run in Python."""
    from bootleader._core.kernels.linear_draws import new_coefficient_run
    from bootleader._core.kernels.linear_state import new_run

    plain = isinstance(streams.noise, list)
    if not isinstance(policy.rule, CoefficientRule):
        return new_run(parameters, noise_sd, plan, plain)
    stream = Stream(streams.noise, 0, streams.stride)
    return new_coefficient_run(parameters, noise_sd, plan, plain, policy.rule, plan.horizon, stream)


def check_functions(policy: ContextualPolicy, bandit: ContextualBandit) -> None:
    """Raise ``TypeError`` if functions that were written elsewhere cannot be compiled."""
    from bootleader._core.user_function_checks import check_compiles

    stream, array = Stream(np.zeros(1, np.uint64), 0, np.uint64(1)), np.zeros(1)
    rule = policy.rule
    if isinstance(rule, CoefficientRule):
        if (rule.draw, rule.learn) not in COEFFICIENT_RULES:
            evidence, params = new_evidence(rule, new_models(1, 1, False), 1, stream), (0.0,) * PARAMETERS
            check_compiles(rule.draw, (params, evidence, 0, 1, array, stream), f"the draw of {policy!r}", 1)
            check_compiles(rule.learn, (params, evidence, 0, array, 1.0, stream), f"learn of {policy!r}", 0)
    elif rule.law not in LAWS:
        arm, shared = LinearArm(*(1.0,) * 10), SharedStatistics(1.0, 1, 1, 1, 1.0)
        check_compiles(rule.law, ((0.0,) * PARAMETERS, arm, shared), f"the law of {policy!r}", 3)
    if bandit.draw not in FEATURE_DRAWS:
        check_compiles(bandit.draw, (array, np.zeros((1, 1)), stream), f"the features' draw of {bandit!r:.200}", 0)
    if bandit.link not in LINKS:
        check_compiles(bandit.link, (1.0,), f"the link of {bandit!r:.200}", 1)
    if bandit.pay not in PAYS:
        check_compiles(bandit.pay, (RewardParameters(1.0, 1.0, 1.0, array, 1), stream), f"pay of {bandit!r:.200}", 1)


def streams_of(seed: int, run: int, arms: int, plain: bool) -> ContextStreams:
    """The streams of a run."""
    from bootleader._core.kernels.linear_state import ContextStreams

    key = run_key(seed, run)
    states = [int(stream_of(key, int(purpose), 0)) for purpose in (Purpose.NOISE, Purpose.SPARE, CONTEXTS)]
    rewards = [int(stream_of(key, int(Purpose.REWARDS), k)) for k in range(arms)]
    stride = int(stride_of(key))
    if plain:
        return ContextStreams(stride, [states[0]], [states[1]], rewards, [states[2]])
    noise, spare, contexts = (np.array([state], np.uint64) for state in states)
    return ContextStreams(np.uint64(stride), noise, spare, np.array(rewards, np.uint64), contexts)


def known_sd(policy: ContextualPolicy, arms: int, true_sd: Any) -> npt.NDArray[np.float64]:
    """Each arm's noise sd as the policy knows it."""
    return np.array(policy.known_sd(arms, true_sd), float) * np.ones(arms)


def kernel_arguments(block: Block, runs: Runs, plan: LinearPlan, place: int, plain: bool) -> tuple[Any, ...]:
    """What the kernel is called with for one run of a block."""
    run, arms = block.first_run + place, block.bandit.arms
    parameters, streams = block.bandit.parameters_of(block.seed, run), streams_of(block.seed, run, arms, plain)
    state = new_state(block.policy, parameters, known_sd(block.policy, arms, parameters.sd), plan, streams)
    return plan, parameters, streams, state, runs.trajectory, block.checkpoints, place


class LinearPlayer:
    """A policy of the library on a user's own bandit, as an object with start, pull and update."""

    def __init__(self, policy: ContextualPolicy, bandit: Any, block: Block, run: int) -> None:
        self._policy, self._bandit, self._block, self._run = policy, bandit, block, run
        self._played = 0

    def start(self, arms: int, dimension: int, rng: Any) -> None:
        from bootleader._core.kernels.linear import plain_parts_for

        functions, plan = functions_and_plan(self._policy, self._bandit, self._block.rounds)
        self._plan = plan._replace(changing=True)
        self._parts = plain_parts_for(functions, parts_of(self._policy.rule))
        columns = 1 if plan.disjoint else arms
        empty = np.zeros(arms)
        features = np.zeros((dimension, columns))
        self._parameters = ContextParameters(features, np.zeros((1, 1)), empty, empty, np.zeros(1), empty)
        streams, sd = streams_of(self._block.seed, self._run, arms, True), known_sd(self._policy, arms, None)
        self._state = new_state(self._policy, self._parameters, sd, self._plan, streams)
        self._noise, self._spare = (Stream(states, 0, streams.stride) for states in (streams.noise, streams.spare))

    def _show(self, features: Any) -> None:
        shown = np.asarray(features, float)
        self._parameters.features[...] = shown.T if shown.ndim == 2 else shown[:, None]

    def pull(self, features: Any) -> int:
        self._show(features)
        choose = self._parts["choose_arm"]
        return int(choose(self._plan, self._state, self._parameters, self._played, self._noise, self._spare))

    def update(self, arm: int, features: Any, reward: float) -> None:
        self._show(features)
        self._played += 1
        self._parts["learn_row"](self._plan, self._state, self._parameters, arm, reward, self._played)

    def predicted(self, features: Any) -> Any:
        """The rewards that the policy predicts."""
        self._show(features)
        predict = self._parts["predict_each" if self._plan.disjoint else "predict_all"]
        predict(self._parameters.features, self._state.models, self._state.arms, self._state.scratch)
        return self._state.arms.location


class LibraryContexts:
    """One run of a library bandit, round by round in Python."""

    def __init__(self, bandit: ContextualBandit, seed: int, run: int) -> None:
        self._bandit, self._parameters = bandit, bandit.parameters_of(seed, run)
        self._streams = streams_of(seed, run, bandit.arms, True)

    def step(self, played: int) -> None:
        """Draw the features of the round after ``played`` ones."""
        bandit, run = self._bandit, self._parameters
        if bandit.changing:
            bandit.draw(run.table, run.features, Stream(self._streams.contexts, 0, self._streams.stride))
        linear = (run.coefficients @ run.features).ravel()
        self.mean = [float(bandit.link(float(value))) for value in linear]
        self.features = run.features[:, 0].copy() if bandit.disjoint else run.features.T.copy()

    def pay(self, arm: int, played: int) -> float:
        """The reward of a pull."""
        run, streams = self._parameters, self._streams
        parameters = RewardParameters(self.mean[arm], float(run.second[arm]), float(run.third[arm]), run.table, played)
        return float(self._bandit.pay(parameters, Stream(streams.rewards, arm, streams.stride)))


class PythonContexts:
    """One run of a user's Python bandit."""

    def __init__(self, bandit: Any, seed: int, run: int) -> None:
        self._bandit = bandit
        self._rng = np.random.default_rng([seed, run, BANDIT_RANDOMNESS])
        if hasattr(bandit, "start"):
            bandit.start(self._rng)

    def step(self, played: int) -> None:
        """Ask for features and means of the round after ``played`` ones."""
        bandit = self._bandit
        self.features = np.array(bandit.features(played), float)
        shapes = ((bandit.arms, bandit.dimension), (bandit.dimension,))
        if self.features.shape not in shapes or not np.isfinite(self.features).all():
            raise ValueError(
                f"{bandit!r}.features({played}) must return finite numbers, of shape {shapes[0]} (a row for each arm) "
                f"or {shapes[1]} (a context for all), got shape {self.features.shape}"
            )
        self.mean = [float(mean) for mean in bandit.means(played)]
        if len(self.mean) != bandit.arms or not all(map(math.isfinite, self.mean)):
            raise ValueError(
                f"{bandit!r}.means({played}) must return {bandit.arms} finite numbers, got {self.mean!r:.200}"
            )

    def pay(self, arm: int, played: int) -> float:
        """The reward of a pull."""
        reward = float(self._bandit.pay(arm, played, self._rng))
        if not math.isfinite(reward):
            raise ValueError(f"{self._bandit!r}.pay({arm}, {played}, rng) must return a finite number, got {reward!r}")
        return reward


class Shape:
    """A user's bandit as the planner sees it: whether it shows one context, from its first features."""

    def __init__(self, bandit: Any, features: Any) -> None:
        self.arms, self.disjoint, self.changing = bandit.arms, np.ndim(features) == 1, True


def play_in_python(block: Block, runs: Runs, policy: Any, threads: WorkStealing) -> npt.NDArray[np.int64]:
    """Play a user's own policy or bandit; ``policy`` is a copy for this block."""
    bandit, pulls = block.bandit, np.zeros((block.bandit.arms, block.runs), np.int64)
    for place in range(block.runs):
        run = block.first_run + place
        own = not isinstance(bandit, ContextualBandit)
        world = PythonContexts(bandit, block.seed, run) if own else LibraryContexts(bandit, block.seed, run)
        world.step(0)
        player = policy
        if isinstance(policy, ContextualPolicy):
            player = LinearPlayer(policy, Shape(bandit, world.features), block, run)
        player.start(bandit.arms, bandit.dimension, np.random.default_rng([block.seed, run, POLICY_RANDOMNESS]))
        _play_run(block, runs, player, world, place, pulls[:, place], threads)
    return pulls


def _play_run(block: Block, runs: Runs, player: Any, world: Any, place: int, pulls: Any, threads: WorkStealing) -> None:
    regret = reward_sum = best_pulls = 0.0
    mark, sums, arms = 0, np.zeros(block.bandit.arms), block.bandit.arms
    for played in range(block.rounds):
        if threads.stopping:
            raise Stopped
        if played > 0:
            world.step(played)
        arm = player.pull(world.features)
        if isinstance(arm, bool) or not isinstance(arm, int | np.integer) or not 0 <= arm < arms:
            raise ValueError(f"{player!r}.pull(features) must return an arm from 0 to {arms - 1}, got {arm!r}")
        reward, best = world.pay(int(arm), played), max(world.mean)
        pulls[arm] += 1
        sums[arm] += reward
        regret += best - world.mean[arm]
        reward_sum += reward
        best_pulls += world.mean[arm] == best
        player.update(int(arm), world.features, reward)
        if played + 1 == block.checkpoints[mark]:
            known = player.predicted(world.features) if hasattr(player, "predicted") else sums / np.maximum(pulls, 1)
            recommended, recorded, at = int(np.argmax(known)), runs.trajectory, (mark, place)
            recorded.regret[at], recorded.reward[at], recorded.best_pulls[at] = regret, reward_sum, best_pulls
            recorded.simple_regret[at], recorded.recommended[at] = best - world.mean[recommended], recommended
            mark += 1


def play_contexts(
    block: Block, runs: Runs, threads: WorkStealing, one_by_one: Callable[..., Any], copied: Callable[[Any], Any]
) -> tuple[npt.NDArray[np.int64], float]:
    """Play a block of a bandit with contexts: pulls (arm x run) and processor seconds."""
    from bootleader._core.kernels.linear import kernel_for, plain_parts_for

    policy, bandit = block.policy, block.bandit
    if not (isinstance(policy, ContextualPolicy) and isinstance(bandit, ContextualBandit)):
        began = time.thread_time()
        own = block if isinstance(bandit, ContextualBandit) else _with_own_bandit(block, copied(bandit))
        return play_in_python(own, runs, copied(policy), threads), time.thread_time() - began
    functions, plan = functions_and_plan(policy, bandit, block.rounds)
    if block.compiled:
        check_functions(policy, bandit)
    own_parts = parts_of(policy.rule)
    if block.compiled:
        kernel = kernel_for(functions, own_parts)
    else:
        kernel = plain_parts_for(functions, own_parts)["advance_linear"]

    def arguments_of(place: int, streams: Any, before: Any) -> tuple[Any, ...]:
        return kernel_arguments(block, runs, plan, place, not block.compiled)

    played: tuple[npt.NDArray[np.int64], float] = one_by_one(
        kernel, arguments_of, block, runs.streams, threads, range(block.runs)
    )
    return played


def _with_own_bandit(block: Block, bandit: Any) -> Block:
    from dataclasses import replace

    return replace(block, bandit=bandit)
