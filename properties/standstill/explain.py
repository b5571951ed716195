"""The reasons why a run came to no rest, put together from its last events."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from rebalance_check.model.vocabulary.events import Event, RunEnded, TopicsDescribed
from rebalance_check.model.vocabulary.group_status import GroupStatus
from rebalance_check.properties.standstill.exchanges import why_member_waits
from rebalance_check.properties.standstill.loops import Loop, loop_of_group, loop_of_member
from rebalance_check.properties.standstill.members import LastOfMember, last_of_members
from rebalance_check.properties.standstill.owners import things_of, why_owned_wrongly
from rebalance_check.properties.verdict import STEP, Because
from rebalance_check.properties.views.coordinator import Incarnation

_WORD = re.compile(r"[\w.-]+")


@dataclass(frozen=True, slots=True)
class Standstill:
    """The knowledge of a run that came to no rest when it ended.

    ``events`` are its last ones, ``group`` the group at its coordinator (None where that records nothing),
    ``is_punctual`` says that all sources have one clock.
    """

    ended: RunEnded
    events: Sequence[Event]
    group: Incarnation | None
    is_punctual: bool
    members: Mapping[str, LastOfMember] = field(init=False)
    words: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "members", last_of_members(self.events))
        object.__setattr__(self, "words", frozenset(_WORD.findall(" ".join(self.ended.pending or ()))))

    @property
    def stuck(self) -> list[LastOfMember]:
        """The members that the end of the run names, or all that run where it names none of them."""
        named = [member for member in self.members.values() if member.name in self.words]
        return named or [member for member in self.members.values() if member.is_running]

    @property
    def loops(self) -> list[Loop]:
        """The loops that members are in; that of the group only where no member is in one."""
        found = [loop for member in self.members.values() if (loop := loop_of_member(member, self.events))]
        of_group = None if found else loop_of_group(self.events)
        return [of_group] if of_group else found

    @property
    def unowned(self) -> list[str]:
        """The partitions, connectors and tasks that the end of the run names."""
        known: set[str] = set()
        for event in self.events:
            known.update(event.partitions if isinstance(event, TopicsDescribed) else things_of(event))
        return sorted(known & self.words)

    def reasons(self, loops: Iterable[Loop]) -> Iterator[Because]:
        """Why the run came to no rest: loops, the waiting of each stuck member, the group, things without an owner."""
        looping = set()
        end_ms = self.ended.time_ms if self.is_punctual else None
        for loop in loops:
            looping.add(loop.who)
            yield Because(loop.sentence, loop.since)
        for member in self.stuck:
            if member.name not in looping:
                yield from why_member_waits(member, self.events, end_ms)
                yield from self._untimed(member.name, f"no timer of {member.name} is armed")
        if self.group is not None:
            yield from _why_group_waits(self.group, self.members)
        for phase, awaited in (("join", "JoinGroups"), ("sync", "SyncGroups")):
            yield from self._untimed(phase, f"the coordinator has no timer that ends its wait for {awaited}")
        if self.unowned:
            yield from why_owned_wrongly(self.unowned, self.events)

    def _untimed(self, name: str, sentence: str) -> Iterator[Because]:
        if name in self.ended.untimed:
            yield Because(f"{sentence} at {STEP}: only something from outside can end this.", self.ended)


def _why_group_waits(group: Incarnation, members: Mapping[str, LastOfMember]) -> Iterator[Because]:
    """Since when the group has its status, and whose request would end it."""
    if group.changed is None:
        return
    waits = ""
    if group.status == GroupStatus.PREPARING_REBALANCE:
        waits = _awaited("JoinGroup", set(group.members) - set(group.joins), members)
    elif group.status == GroupStatus.COMPLETING_REBALANCE:
        waits = _awaited("SyncGroup", set(group.members) - set(group.syncs), members)
    yield Because(f"the group has been {group.status} since {STEP}{waits}.", group.changed)


def _awaited(api: str, awaited: set[str], members: Mapping[str, LastOfMember]) -> str:
    names = {member.member_id: member.name for member in members.values() if member.is_running and member.member_id}
    if not awaited:
        return f", although it waits for no {api}"
    said = [f"{one} ({names.get(one, 'which no running member uses')})" for one in sorted(awaited)]
    return f" and waits for the {api} of {', '.join(said)}"
