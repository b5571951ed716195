"""A subject that other people wrote: an exception, or a returned value that is no event, becomes one sentence."""

from __future__ import annotations

import reprlib
import traceback
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, TypeVar

from rebalance_check.model.vocabulary.actions import Action, ActionKind
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import Event, RunStarted
from rebalance_check.model.vocabulary.schedule import Subject

T = TypeVar("T")

PARTS: Final = ("name", "actions", "open", "perform", "close")
"""The members of a `Subject`."""


def guarded_call(what: str, call: Callable[[], T]) -> T:
    """The result of ``call``; ``what`` names it in errors.

    Raises: RebalanceCheckError when it raises anything: names the exception and the line.
    """
    try:
        return call()
    except RebalanceCheckError:
        raise
    except Exception as fault:
        last = traceback.extract_tb(fault.__traceback__)[-1]
        raise RebalanceCheckError(
            f"{what} raised {type(fault).__name__}: {fault} ({Path(last.filename).name}, line {last.lineno}): mend it, "
            "a subject that fails gives no verdict"
        ) from fault


class GuardedSubject:
    """``made``, which ``origin`` returned for a seed, behind the interface of a `Subject`.

    Raises: RebalanceCheckError when it is no subject, cannot start a member, raises, or returns something else than
    events.
    """

    def __init__(self, origin: str, made: Any, without: tuple[str, ...] = ()) -> None:
        missing = [part for part in PARTS if not hasattr(made, part)]
        if missing:
            raise RebalanceCheckError(
                f"{origin} returned {reprlib.repr(made)}, which is no subject, as it has no {', '.join(missing)}: "
                "return an object with name, actions, open, perform and close"
            )
        subject: Subject = made
        if ActionKind.START_MEMBER not in subject.actions:
            raise RebalanceCheckError(
                f"the subject of {origin} understands {', '.join(sorted(subject.actions)) or 'no action'}: churn "
                "begins with StartMember, so put ActionKind.START_MEMBER into its actions"
            )
        self._subject = subject
        self._origin = origin
        self._without = tuple(dict.fromkeys((*without, *getattr(subject, "without", ()))))

    @property
    def name(self) -> str:
        """The subject's own name."""
        return self._subject.name

    @property
    def actions(self) -> frozenset[ActionKind]:
        """The kinds of action it understands."""
        return frozenset(self._subject.actions)

    @property
    def without(self) -> tuple[str, ...]:
        """The features and events that its coordinator lacks, by its own word or the user's, as `judge` takes them."""
        return self._without

    def open(self, bounds: Bounds, seed: int) -> Sequence[Event]:
        """See `Subject`. Its RunStarted names its gaps, so that every later judge of the history knows it."""
        events = self._events("open", lambda: self._subject.open(bounds, seed))
        return [replace(one, without=self._without) if isinstance(one, RunStarted) else one for one in events]

    def perform(self, action: Action) -> Sequence[Event]:
        """See `Subject`."""
        return self._events(f"perform({action})", lambda: self._subject.perform(action))

    def close(self) -> Sequence[Event]:
        """See `Subject`."""
        return self._events("close", self._subject.close)

    def _events(self, method: str, call: Callable[[], Any]) -> list[Event]:
        what = f"{method} of the subject of {self._origin}"
        returned = guarded_call(what, call)
        events = guarded_call(what, lambda: list(returned)) if hasattr(returned, "__iter__") else [returned]
        wrong = [one for one in events if not isinstance(one, Event)]
        if wrong:
            raise RebalanceCheckError(
                f"{what} returned {reprlib.repr(wrong[0])} where a list of events is needed: return [] if nothing was "
                "observed"
            )
        return events
