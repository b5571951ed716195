"""The last deeds of each member, as its own events show them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    CoordinatorFound,
    CoordinatorLost,
    Event,
    GenerationEvent,
    MemberCrashed,
    MemberEvent,
    MemberLeft,
    MemberStarted,
    RequestAnswered,
    RequestSent,
)

UPKEEP: Final = frozenset({Api.HEARTBEAT, Api.OFFSET_COMMIT, Api.OFFSET_FETCH})
"""Requests that a member sends while nothing happens in its group."""


@dataclass(slots=True)
class LastOfMember:
    """The last that is known of one member process.

    ``begun`` is its start, None where that lies before the events at hand; ``ended`` its crash or its leaving, if it
    is down. ``sent`` is its last request, ``answer`` the reply to that. ``coordinator`` says that it found or lost its
    coordinator. ``member_id`` and ``instance_id`` are how the coordinator knows it. ``exchanges`` are its requests and
    replies since it started.
    """

    name: str
    begun: MemberStarted | None = None
    ended: MemberCrashed | MemberLeft | None = None
    sent: RequestSent | None = None
    answer: RequestAnswered | None = None
    coordinator: CoordinatorFound | CoordinatorLost | None = None
    member_id: str = ""
    instance_id: str = ""
    exchanges: list[RequestSent | RequestAnswered] = field(default_factory=list)

    @property
    def is_running(self) -> bool:
        """Whether the process runs, as far as the events show."""
        return self.ended is None

    @property
    def last(self) -> Event | None:
        """The last event of the member that is known."""
        return self.answer or self.sent or self.coordinator or self.begun

    def take(self, event: Event) -> None:
        """The next event of the member."""
        match event:
            case MemberCrashed() | MemberLeft():
                self.ended = event
            case RequestSent():
                self.sent, self.answer = event, None
                self.exchanges.append(event)
            case RequestAnswered():
                self._answered(event)
            case CoordinatorFound() | CoordinatorLost():
                self.coordinator = event
        if isinstance(event, GenerationEvent):
            self.member_id = event.member_id or self.member_id

    def _answered(self, event: RequestAnswered) -> None:
        self.exchanges.append(event)
        if self.sent is not None and event.request == self.sent.request:
            self.answer = event


def last_of_members(events: Iterable[Event]) -> dict[str, LastOfMember]:
    """The state of each member process at the end of ``events``, by name, sorted."""
    found: dict[str, LastOfMember] = {}
    for event in events:
        if not isinstance(event, MemberEvent | RequestSent | RequestAnswered):
            continue
        if isinstance(event, MemberStarted):
            found[event.member] = LastOfMember(event.member, event, instance_id=event.group_instance_id)
        elif event.member not in found:
            found[event.member] = LastOfMember(event.member)
        found[event.member].take(event)
    return dict(sorted(found.items()))
