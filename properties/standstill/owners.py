"""The owners of partitions, connectors and tasks, or the last ones, and the fate of the last assignment."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, TypeAlias

from rebalance_check.model.vocabulary.events import (
    AssignmentCompleted,
    AssignmentComputed,
    ConnectAssignmentComputed,
    ConnectorStarted,
    ConnectorStopped,
    Event,
    GenerationEvent,
    GenerationStarted,
    MemberCrashed,
    MemberEvent,
    MemberLeft,
    MemberRemoved,
    MemberStarted,
    PartitionsAssigned,
    PartitionsLost,
    PartitionsRevoked,
    TaskStarted,
    TaskStopped,
)
from rebalance_check.properties.verdict import STEP, Because

_GAINED: Final = (PartitionsAssigned, AssignmentCompleted, ConnectorStarted, TaskStarted)
_ENDED: Final = (MemberCrashed, MemberLeft, MemberStarted)
Computed: TypeAlias = AssignmentComputed | ConnectAssignmentComputed


def things_of(event: Event) -> tuple[str, ...]:
    """The partitions, connectors or tasks that a member comes to hold or gives up with this event."""
    match event:
        case PartitionsAssigned() | PartitionsRevoked() | PartitionsLost():
            return event.partitions
        case AssignmentCompleted():
            return event.owned
        case ConnectorStarted() | ConnectorStopped():
            return (event.connector,)
        case TaskStarted() | TaskStopped():
            return (event.task,)
        case _:
            return ()


def why_owned_wrongly(things: Sequence[str], events: Sequence[Event]) -> Iterator[Because]:
    """The owner of each of ``things``, or its last one, and the fate of the last assignment."""
    holders: dict[str, dict[str, Event]] = {thing: {} for thing in things}
    given_up: dict[str, Event] = {}
    for event in events:
        for thing in things if isinstance(event, _ENDED) else holders.keys() & set(things_of(event)):
            if isinstance(event, _GAINED):
                holders[thing].setdefault(event.member, event)
            elif isinstance(event, MemberEvent) and holders[thing].pop(event.member, None) is not None:
                given_up[thing] = event
    for event, names in _by_event((thing, at) for thing in things for at in holders[thing].values()):
        yield Because(f"{_member(event)} has had {names} since {STEP}{_generation(event)}.", event)
    for event, names in _by_event((thing, at) for thing, at in given_up.items() if not holders[thing]):
        yield Because(f"{_end_of_ownership(event, names)}, and no member has had {names} since.", event)
    yield from _last_assignment(things, events)


def _by_event(pairs: Iterable[tuple[str, Event]]) -> Iterator[tuple[Event, str]]:
    """Each event once, with all its things as a text."""
    found: dict[int, tuple[Event, list[str]]] = {}
    for thing, event in pairs:
        found.setdefault(id(event), (event, []))[1].append(thing)
    return ((event, ", ".join(sorted(names))) for event, names in found.values())


def _end_of_ownership(event: Event, names: str) -> str:
    if isinstance(event, _ENDED):
        return f"{event.member}, which has {names}, {'dies' if isinstance(event, MemberCrashed) else 'ends'} at {STEP}"
    return f"{_member(event)} {'loses' if isinstance(event, PartitionsLost) else 'gives up'} {names} at {STEP}"


def _member(event: Event) -> str:
    return event.member if isinstance(event, MemberEvent) else event.source


def _generation(event: Event) -> str:
    return f", in generation {event.generation}" if isinstance(event, GenerationEvent) else ""


def _last_assignment(things: Sequence[str], events: Sequence[Event]) -> Iterator[Because]:
    """The members that should have got ``things``, and their fate; whether a generation began after it."""
    at = next((at for at in range(len(events) - 1, -1, -1) if isinstance(events[at], Computed)), None)
    if at is not None:
        computed = events[at]
        assert isinstance(computed, Computed)
        yield Because(_in_words(computed, things), computed)
        for member_id in sorted({who for who, share in _shares(computed) if set(share) & set(things)}):
            yield from _fate(member_id, computed, events, at)
    started = next((event for event in reversed(events) if isinstance(event, GenerationStarted)), None)
    if started is not None:
        yield Because(f"no generation begins after {started.generation}, which began at {STEP}.", started)


def _shares(computed: Computed) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return computed.assignments if isinstance(computed, AssignmentComputed) else computed.assigned


def _in_words(computed: Computed, things: Sequence[str]) -> str:
    given = [f"{thing} to {who}" for who, share in _shares(computed) for thing in share if thing in things]
    says = ", ".join(given) if given else f"{', '.join(things)} to nobody"
    leader = f"computed by {computed.member} for generation {computed.generation} at {STEP}"
    return f"the last assignment, {leader}, gives {says}."


def _fate(member_id: str, computed: Computed, events: Sequence[Event], at: int) -> Iterator[Because]:
    """The fate of a member that the assignment gave something: it was removed, or it never took it over."""
    for event in events[at:]:
        if isinstance(event, MemberRemoved) and event.member_id == member_id:
            yield Because(f"the coordinator removes {member_id} at {STEP}: {event.reason}.", event)
            return
    own = [e for e in events if isinstance(e, GenerationEvent) and e.member_id == member_id]
    if own and not any(isinstance(e, _GAINED) and e.generation >= computed.generation for e in own):
        yield Because(f"{own[-1].member} ({member_id}) takes no assignment over after {STEP}.", own[-1])
