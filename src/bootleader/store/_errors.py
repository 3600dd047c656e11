"""The one exception of a store."""

from __future__ import annotations

from typing import Literal

Reason = Literal["unknown", "conflict", "removed", "exists", "unavailable", "damaged", "folded", "version"]


class StoreError(Exception):
    """What a store raises when a call could not be done.

    Nothing was changed, but for one reason: after ``"unavailable"`` the call may or may not have been done, because the
    database can stop between a commit and its answer. Make it again. Whatever has an event id counts once, and so does
    ``reward``. Before an arm is added, paused, resumed or removed again, look at ``arms`` and ``paused``.

    Arguments that are not accepted raise ``TypeError`` or ``ValueError``, as everywhere in the library. All else that
    can go wrong, in the database too, is this exception.

    Attributes
    ----------
    reason : str
        ``"unknown"``: no such experiment, arm or decision. ``"conflict"``: the decision has another reward, or the
        event id was used for something else. ``"removed"``: the experiment was removed. ``"exists"``: the name is in
        use. ``"unavailable"``: the database does not answer, is locked for too long or is full. ``"damaged"``: a row
        does not match its checksum. ``"folded"``: the events were folded into a snapshot. ``"version"``: another
        version of the library wrote it.

    Examples
    --------
    >>> from bootleader import Store
    >>> try:
    ...     Store("sqlite://").open("button")
    ... except StoreError as error:
    ...     print(error.reason, "-", error)
    unknown - there is no experiment 'button' in this store
    """

    def __init__(self, message: str, reason: Reason) -> None:
        super().__init__(message)
        self.reason: Reason = reason

    def __reduce__(self) -> tuple[type[StoreError], tuple[str, Reason]]:
        return type(self), (str(self), self.reason)


def removed() -> StoreError:
    """What to raise when an experiment is gone."""
    return StoreError("the experiment was removed from the store", "removed")


class DuplicateKey(Exception):  # noqa: N818  (no error of the caller's)
    """What was to be written has to be made anew; internal, always handled.

    A row with one of the unique keys is in the log, another process has folded, or the connection is a new one.

    Attributes
    ----------
    may_be_own : bool
        Whether the row may be that of the same call, whose first attempt was committed without an answer.
    """

    def __init__(self, may_be_own: bool = False) -> None:
        super().__init__()
        self.may_be_own = may_be_own
