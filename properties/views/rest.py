"""Looks at a settled group, one after the other: what its members said before, say now, and what the group shows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from rebalance_check.model.vocabulary.events import (
    CoordinatorRested,
    Event,
    GenerationStarted,
    GroupRested,
    MemberCrashed,
    MemberEvent,
    MemberLeft,
    MemberRested,
    MemberStarted,
    SubscriptionChanged,
    TopicsDescribed,
)
from rebalance_check.properties.kinds import Handler, Memory

APART_MS: Final = 5_000
"""Two looks that are less apart, in ms, say nothing about what must have changed meanwhile."""


@dataclass(slots=True)
class Look:
    """One look: the processes that run, by name, the group, and the coordinator where it was looked into."""

    members: dict[str, MemberRested] = field(default_factory=dict)
    group: GroupRested | None = None
    coordinator: CoordinatorRested | None = None


class Looks(Memory):
    """The present look and the one before it, and what the processes wished before.

    ``started`` is how each process was configured, ``wishes`` the event with its last subscription, ``topics`` the
    partitions that exist, ``formed`` the incarnations of the group in which all members joined anew.
    """

    def __init__(self) -> None:
        handlers: dict[type[Event], Handler] = {
            MemberStarted: self.on_started,
            MemberLeft: self.on_ended,
            MemberCrashed: self.on_ended,
            SubscriptionChanged: self.on_subscription,
            TopicsDescribed: self.on_topics,
            GenerationStarted: self.on_generation,
            MemberRested: self.on_member,
            GroupRested: self.on_group,
            CoordinatorRested: self.on_coordinator,
        }
        super().__init__(handlers)
        self.started: dict[str, MemberStarted] = {}
        self.wishes: dict[str, MemberStarted | SubscriptionChanged] = {}
        self.topics: TopicsDescribed | None = None
        self.formed: set[int] = set()
        self.now = Look()
        self.before = Look()

    def on_started(self, event: MemberStarted) -> None:
        """A process starts with these wishes."""
        self.started[event.member] = event
        self.wishes.pop(event.member, None)
        if event.topics:
            self.wishes[event.member] = event

    def on_ended(self, event: MemberEvent) -> None:
        """A process that ended wishes nothing."""
        self.started.pop(event.member, None)
        self.wishes.pop(event.member, None)

    def on_subscription(self, event: SubscriptionChanged) -> None:
        """It wants other topics from here on."""
        self.wishes[event.member] = event

    def on_topics(self, event: TopicsDescribed) -> None:
        """Other partitions exist from here on."""
        self.topics = event

    def on_generation(self, event: GenerationStarted) -> None:
        """Every member of the incarnation joined with all that it wants."""
        self.formed.add(event.incarnation)

    def on_member(self, event: MemberRested) -> None:
        """The first member after a look at the group begins the next look."""
        if self.now.group is not None or event.member in self.now.members:
            self.before, self.now = self.now, Look()
        self.now.members[event.member] = event

    def on_group(self, event: GroupRested) -> None:
        """The group as everybody sees it."""
        if self.now.group is not None:
            self.before, self.now = self.now, Look()
        self.now.group = event

    def on_coordinator(self, event: CoordinatorRested) -> None:
        """The group from inside."""
        self.now.coordinator = event

    def earlier(self, event: MemberRested) -> MemberRested | None:
        """The same member in the same generation at the look before, if that was long enough ago."""
        before = self.before.members.get(event.member)
        is_same = before is not None and (before.generation, before.member_id) == (event.generation, event.member_id)
        return before if before is not None and is_same and event.time_ms - before.time_ms >= APART_MS else None
