"""Events as lines for a person who watches a broker: who joins, which generations there are, who leaves."""

from __future__ import annotations

from rebalance_check.model.vocabulary.events import (
    CoordinatorMoved,
    Event,
    GenerationStarted,
    GroupDeleted,
    GroupStatusChanged,
    IncarnationStarted,
    MemberAdded,
    MemberRemoved,
    ReplyObserved,
)
from rebalance_check.model.vocabulary.group_status import GroupStatus

LEFT = "left"
"""The reason of a MemberRemoved that the member asked for."""


def notice(event: Event) -> str:
    """The meaning of an event to a person, on one line; "" for an event that says nothing new about a group."""
    said = _said(event)
    return f"{event.group}: {said}" if said else ""


def _said(event: Event) -> str:
    match event:
        case IncarnationStarted(incarnation=0):
            return "the group begins"
        case IncarnationStarted():
            return f"the group goes on at another coordinator, in generation {event.generation}"
        case MemberAdded():
            return f"{event.member_id} joins{_instance(event.instance_id)}"
        case GenerationStarted():
            return f"generation {event.generation}, {_generation(event)}"
        case GroupStatusChanged(to_status=GroupStatus.STABLE):
            return f"generation {event.generation} is stable"
        case MemberRemoved(reason=reason):
            return f"{event.member_id} {'leaves' if reason == LEFT else f'is removed: {reason}'}"
        case GroupDeleted():
            return "the group is deleted"
        case CoordinatorMoved():
            return f"node {event.node} coordinates the group from here on"
        case ReplyObserved(fault=fault) if fault:
            return f"fault {fault} at request {event.request}, {event.api}"
    return ""


def _instance(instance_id: str) -> str:
    return f" as instance {instance_id}" if instance_id else ""


def _generation(event: GenerationStarted) -> str:
    if not event.members:
        return "without members"
    count = len(event.members)
    members = f"{count} member{'s' if count > 1 else ''}"
    return f"{members}, led by {event.leader}{f', protocol {event.protocol}' if event.protocol else ''}"
