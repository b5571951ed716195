"""What a group waits for at its coordinator: the status that it stays in, and the members that it awaits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rebalance_check.model.vocabulary.group_status import GroupStatus
from rebalance_check.properties.standstill.members import LastOfMember
from rebalance_check.properties.verdict import STEP, Because
from rebalance_check.properties.views.coordinator import Incarnation


def why_group_waits(group: Incarnation, members: Mapping[str, LastOfMember]) -> Iterator[Because]:
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
