"""The reasons why a run came to no rest, put together from its last events."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from rebalance_check.model.vocabulary.events import Event, RunEnded, TopicsDescribed
from rebalance_check.model.vocabulary.group_status import GroupStatus
from rebalance_check.properties.standstill.exchanges import why_member_waits
from rebalance_check.properties.standstill.loops import Loop, loop_of_group, loop_of_member
from rebalance_check.properties.standstill.members import LastOfMember, last_of_members
from rebalance_check.properties.standstill.owners import things_of, why_owned_wrongly
from rebalance_check.properties.verdict import STEP, Because
from rebalance_check.properties.views.coordinator import Incarnation

_WORD = re.compile(r"[\w.-]+")


def loops_of(events: Sequence[Event]) -> list[Loop]:
    """The loops that members are in when ``events`` end; that of the group only where no member is in one."""
    members = last_of_members(events).values()
    found = [loop for member in members if (loop := loop_of_member(member, events))]
    of_group = None if found else loop_of_group(events)
    return [of_group] if of_group else found


def why_no_rest(
    ended: RunEnded, events: Sequence[Event], group: Incarnation | None, is_punctual: bool
) -> Iterator[Because]:
    """The waits of the members that the run names, the group at its coordinator, and the things without an owner.

    ``is_punctual`` says that all sources have one clock. A run that names no member is about all that run.
    """
    words, members = set(_WORD.findall(" ".join(ended.pending or ()))), last_of_members(events)
    end_ms = ended.time_ms if is_punctual else None
    looping = set()
    for loop in loops_of(events):
        looping.add(loop.who)
        yield Because(loop.sentence, loop.turn[0])
    named = [member for member in members.values() if member.name in words]
    for member in named or [member for member in members.values() if member.is_running]:
        if member.name not in looping:
            yield from why_member_waits(member, events, end_ms)
            yield from _untimed(ended, member.name, f"no timer of {member.name} is armed")
    if group is not None and group.changed is not None:
        yield _why_group_waits(group, group.changed, members)
    for phase, awaited in (("join", "JoinGroups"), ("sync", "SyncGroups")):
        yield from _untimed(ended, phase, f"the coordinator has no timer that ends its wait for {awaited}")
    known = {thing for event in events for thing in _named_in(event)}
    if known & words:
        yield from why_owned_wrongly(sorted(known & words), events)


def _named_in(event: Event) -> tuple[str, ...]:
    return event.partitions if isinstance(event, TopicsDescribed) else things_of(event)


def _untimed(ended: RunEnded, name: str, sentence: str) -> Iterator[Because]:
    if name in ended.untimed:
        yield Because(f"{sentence} at {STEP}: only something from outside can end this.", ended)


def _why_group_waits(group: Incarnation, changed: Event, members: Mapping[str, LastOfMember]) -> Because:
    """Since when the group has its status, and whose request would end it."""
    waits = ""
    if group.status == GroupStatus.PREPARING_REBALANCE:
        waits = _awaited("JoinGroup", set(group.members) - set(group.joins), members)
    elif group.status == GroupStatus.COMPLETING_REBALANCE:
        waits = _awaited("SyncGroup", set(group.members) - set(group.syncs), members)
    return Because(f"the group has been {group.status} since {STEP}{waits}.", changed)


def _awaited(api: str, awaited: set[str], members: Mapping[str, LastOfMember]) -> str:
    names = {member.member_id: member.name for member in members.values() if member.is_running and member.member_id}
    if not awaited:
        return f", although it waits for no {api}"
    said = [f"{one} ({names.get(one, 'which no running member uses')})" for one in sorted(awaited)]
    return f" and waits for the {api} of {', '.join(said)}"
