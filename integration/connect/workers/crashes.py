"""Workers that end by themselves: such a run breaks off, and its history says where each crash was."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from rebalance_check.integration.connect.workers.worker_start import WorkerStart
from rebalance_check.integration.live.process import MemberFailedError
from rebalance_check.integration.live.recording import renumbered
from rebalance_check.model.vocabulary.events import Event, MemberCrashed, MemberEvent


class WorkerCrashedError(MemberFailedError):
    """The process of a Connect worker ended by itself; the text has its last output."""


def require_no_crash(starts: Iterable[WorkerStart]) -> None:
    """Return when each of these workers, which were not asked to end, still runs.

    Raises: WorkerCrashedError.
    """
    for started in starts:
        if (reason := started.worker.death()) is not None:
            raise WorkerCrashedError(reason)


def with_crashes(history: Sequence[Event], crashed: Collection[str], source: str) -> list[Event]:
    """The history with a `MemberCrashed` of ``source`` behind the last event of each crashed worker.

    When a worker crashed is not known, and from then on the others worked without it.
    """
    last = {_member(event): place for place, event in enumerate(history)}
    events: list[Event] = []
    for place, event in enumerate(history):
        events.append(event)
        member = _member(event)
        if member in crashed and last[member] == place:
            crash = MemberCrashed(member=member)
            events.append(replace(crash, group=event.group, source=source, time_ms=event.time_ms))
    return list(renumbered(events))


def _member(event: Event) -> str:
    """The worker that an event is about, or that recorded it."""
    return event.member if isinstance(event, MemberEvent) else event.source
