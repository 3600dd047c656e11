"""A store: experiments in a database."""

from __future__ import annotations

import builtins
import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from bootleader._core.printable_text import shown
from bootleader._core.validation import positive, real
from bootleader.agent._decisions import DEFAULT_AGE
from bootleader.agent._learner_factory import known_sds
from bootleader.agent._validation import named_arms
from bootleader.agent.features import Features
from bootleader.agent.traffic import Traffic
from bootleader.policies import Policy
from bootleader.policies.contextual import ContextualPolicy
from bootleader.store._backend import Backend, Found
from bootleader.store._errors import DuplicateKey, StoreError
from bootleader.store._events import EXPERIMENT, Core, Event, Kind, Rest, new_event
from bootleader.store._experiment_writer import Writer
from bootleader.store._rewards import checked_id
from bootleader.store._settings import Settings
from bootleader.store.experiment import Experiment

if TYPE_CHECKING:
    from bootleader.agent.agent import Agent


class Store:
    """Experiments in a database, for many processes.

    Parameters
    ----------
    url : str
        ``sqlite:///shop.db`` (a path), ``sqlite:////var/shop.db`` (an absolute path), ``sqlite://`` (in memory, for
        this process only) or ``postgresql://...``, which needs ``pip install 'bootleader[postgres]'``. The tables are
        created, or brought up to date, when the store is opened.
    timeout : float
        Seconds to wait for a locked, stopped or unreachable database, each time that a call uses it, before
        :class:`StoreError` is raised. A thread may first wait as long for other threads of its process.
    policies : iterable of types, optional
        Policy classes of your own that experiments may have.
    max_lag : float
        Seconds that a decision may lag behind the other processes where they append all the time: it is then made from
        what was read so long ago at most. 0 reads the log before every decision.
    clock : callable
        Returns the time in seconds since 1970. Times are stored with the events; the only thing that depends on them is
        when an arm without rewards is tried again because its first decisions are older than ``max_age``.

    Raises
    ------
    StoreError
        If the database cannot be opened, or a newer version of the library made its tables.
    TypeError, ValueError
        If the URL is of another kind, or another argument is not what is described here.

    Examples
    --------
    >>> import bootleader as bl
    >>> store = Store("sqlite://")
    >>> button = store.create("button", bl.AdaptiveReBoot(), arms=["blue", "green", "red"])
    >>> store.list()
    ['button']
    >>> store.open("button").decide().probability
    0.3333333333333333
    """

    def __init__(
        self,
        url: str,
        *,
        timeout: float = 30.0,
        policies: Iterable[type[Policy]] = (),
        max_lag: float = 0.05,
        clock: Callable[[], float] = time.time,
    ) -> None:
        if not isinstance(url, str):
            raise TypeError(f"url must be a string, such as sqlite:///shop.db, got {shown(url)}")
        if not callable(clock):
            raise TypeError(f"clock must be a function that returns seconds since 1970, got {shown(clock)}")
        if isinstance(policies, type) or not isinstance(policies, Iterable):
            raise TypeError(f"policies must be a list of classes of policies, got {shown(policies)}")
        self._policies = tuple(policies)
        for kind in self._policies:
            if not (isinstance(kind, type) and issubclass(kind, Policy | ContextualPolicy)):
                raise TypeError(f"policies must be classes of policies, got {shown(kind)}")
        _import_all()
        self._backend = backend_of(url, positive("timeout", timeout))
        self._given_clock = clock
        self._clock = clock if clock is time.time else self._checked_time
        self._max_lag = real("max_lag", max_lag, "a number of seconds, 0 or more", low=0.0, open_low=False)

    def _checked_time(self) -> float:
        """The time, or ``TypeError`` or ``ValueError`` if the clock returns none."""
        # Minus zero is zero: SQLite does not keep its sign, and a checksum would.
        return real("the time of the clock", self._given_clock(), "a finite number of seconds") + 0.0

    def __reduce__(self) -> NoReturn:
        raise TypeError("a store cannot be copied or pickled: make a Store of the same URL in the other process")

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections of this process; the next call opens new ones. A store in memory ends."""
        self._backend.close()

    def create(
        self,
        name: str,
        policy: Policy | ContextualPolicy,
        arms: Iterable[str] | Mapping[str, Any],
        *,
        seed: int | None = None,
        maximize: bool = True,
        half_life: float | None = None,
        features: Features | None = None,
        traffic: Traffic | None = None,
        max_age: float = DEFAULT_AGE,
        probabilities: bool = True,
    ) -> Experiment:
        """Create an experiment.

        Parameters
        ----------
        name : str
            A name that no experiment of the store has.
        policy : Policy or ContextualPolicy
            What chooses the arm, such as ``AdaptiveReBoot()``; with ``features``, such as ``AdaptiveLinReBoot()``.
        arms : list of str, or dict
            The arms' names; as a dict, with metadata.
        seed : int, optional
            Keys all random numbers, together with the name and the decision's id. By default drawn and stored.
        maximize : bool
            Whether rewards are gains (True) or costs.
        half_life : float, optional
            In rounds: a reward counts half as much when so many rewards have come since its *decision*.
        features : Features, optional
            What is known of each choice, for a contextual policy. :meth:`Experiment.decide` then takes a context.
        traffic : Traffic, optional
            Rules beside the policy.
        max_age : float
            Seconds after which an open decision no longer keeps an arm without rewards from being tried again. Rewards
            are accepted at any age.
        probabilities : bool
            False leaves out the probabilities of choices, for very many arms. The choice is then made by drawn indices.

        Returns
        -------
        Experiment
            Ready for decisions.

        Raises
        ------
        StoreError
            With reason ``"exists"`` if the name is in use.
        TypeError, ValueError
            If an argument is not what is described here.
        """
        settings = Settings.of(policy, seed, maximize, half_life, traffic, max_age, probabilities, features)
        named = named_arms(arms)
        settings.check_traffic(named)
        sds = known_sds(settings.policy, len(named)) if named else []
        rows = [
            {"name": arm, "metadata": metadata, "noise_sd": sd}
            for (arm, metadata), sd in zip(named.items(), sds, strict=True)
        ]
        return self._created(name, settings, {"change": "create", "arms": rows}, [])

    def _created(self, name: str, settings: Settings, change: dict[str, Any], more: Sequence[Event]) -> Experiment:
        name = checked_id("name", name)
        now = self._clock()
        detail = json.dumps(change, allow_nan=False)
        # What an agent has learnt is as of its round: with a half-life it would fade again from round 0 on.
        first = new_event(
            Core(Kind.CHANGE, EXPERIMENT, 1, round=change.get("rounds", 0), time=now), Rest(detail=detail)
        )
        text = settings.to_json()
        try:
            found = self._backend.create(name, text, [first, *more], now)
        except DuplicateKey as error:
            made = self._backend.find(name) if error.may_be_own else None  # the answer to a commit may have been lost
            if made is None or (made.settings, made.created) != (text, now):
                raise StoreError(
                    f"there is an experiment {shown(name)} already: open it, or remove it", "exists"
                ) from None
            found = made
        return self._experiment(found, settings)

    def open(self, name: str) -> Experiment:
        """Open an experiment, in any process.

        Parameters
        ----------
        name : str
            Its name.

        Returns
        -------
        Experiment
            The same as every other process has.

        Raises
        ------
        StoreError
            With reason ``"unknown"`` if there is none of this name.
        ValueError
            If it plays a policy class of your own that was not given as ``Store(url, policies=[...])``.
        """
        found = self._find(name)
        return self._experiment(found, Settings.from_json(found.settings, self._policies))

    def _find(self, name: str) -> Found:
        found = self._backend.find(name) if isinstance(name, str) else None
        if found is None:
            raise StoreError(f"there is no experiment {shown(name)} in this store", "unknown")
        return found

    def _experiment(self, found: Found, settings: Settings) -> Experiment:
        return Experiment(Writer(self._backend, found, settings, self._clock, self._max_lag))

    def remove(self, name: str) -> None:
        """Remove an experiment. Workers that still decide for it get :class:`StoreError`.

        Parameters
        ----------
        name : str
            Its name, which is free again.

        Raises
        ------
        StoreError
            With reason ``"unknown"`` if there is none of this name.
        """
        self._backend.remove(self._find(name).id, self._clock())

    def vacuum(self) -> int:
        """Delete the events of removed experiments, so that the space of deleted rows can be used again.

        SQLite makes the file smaller at once; PostgreSQL uses the space again after its autovacuum.

        Returns
        -------
        int
            Number of events that were deleted.
        """
        return self._backend.purge()

    def import_agent(self, name: str, agent: Agent, *, traffic: Traffic | None = None) -> Experiment:
        """Create an experiment that goes on where an agent of one process is.

        Parameters
        ----------
        name : str
            A name that no experiment of the store has.
        agent : Agent
            Its policy, arms, moments and decisions are taken over; its open decisions can be rewarded here.
        traffic : Traffic, optional
            Rules beside the policy; by default the agent's.

        Returns
        -------
        Experiment
            Ready for decisions.

        Raises
        ------
        StoreError
            With reason ``"exists"`` if the name is in use.
        TypeError, ValueError
            If an argument is not what is described here, or a store cannot play the agent's policy.
        """
        from bootleader.store._agent_conversion import imported

        settings, change, events = imported(agent, traffic)
        settings.check_traffic([arm["name"] for arm in change["arms"] if arm.get("active", False)])
        return self._created(name, settings, change, events)

    def list(self) -> builtins.list[str]:
        """The names of the experiments.

        Returns
        -------
        list of str
            In the order of their creation.
        """
        return self._backend.names()


def _import_all() -> None:
    """Import what calls would import: a child that is forked meanwhile could never import it."""
    import bootleader.agent._schema  # noqa: F401


def backend_of(url: str, timeout: float) -> Backend:
    """The database of a URL."""
    scheme, colon, rest = url.partition(":")
    if scheme == "sqlite" and colon:
        from bootleader.store._sqlite import SqliteBackend
        from bootleader.store._sqlite_files import sqlite_path

        return SqliteBackend(sqlite_path(rest), timeout)
    if scheme in ("postgresql", "postgres"):
        from bootleader.store._postgres import PostgresBackend

        return PostgresBackend(url, timeout)
    raise ValueError(
        f"url must be like sqlite:///shop.db, sqlite:////var/shop.db or postgresql://..., got {shown(url)}"
    )
