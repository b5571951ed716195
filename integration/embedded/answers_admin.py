"""Answers about groups: DescribeGroups, ListGroups, DeleteGroups, from the coordinator's knowledge."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from rebalance_check.impl.protocol.messages import DescribedGroup, ListedGroup
from rebalance_check.integration.embedded.answers_cluster import GROUP_OPERATIONS
from rebalance_check.integration.embedded.paced import paced
from rebalance_check.integration.wire.kafka_python import ApiMessage, admin
from rebalance_check.model.vocabulary.errors import Error

GROUP_TYPE: Final = "classic"


async def describe_groups(request: Any, describe: Callable[[str], DescribedGroup]) -> ApiMessage:
    """Each group that the request names, as often as it names it."""
    allowed = GROUP_OPERATIONS if request.include_authorized_operations else None
    groups = [_described(describe(group_id), allowed) async for group_id in paced(request.groups)]
    return admin.DescribeGroupsResponse(groups=groups)


def _described(group: DescribedGroup, allowed: frozenset[int] | None) -> Any:
    described = admin.DescribeGroupsResponse.DescribedGroup
    member = described.DescribedGroupMember
    return described(
        error_code=int(group.error),
        group_id=group.group_id,
        group_state=group.state,
        protocol_type=group.protocol_type,
        protocol_data=group.protocol_name,
        members=[
            member(
                member_id=m.member_id,
                group_instance_id=m.group_instance_id,
                client_id=m.client_id,
                client_host=m.client_host,
                member_metadata=m.metadata,
                member_assignment=m.assignment,
            )
            for m in group.members
        ],
        authorized_operations=allowed,
    )


async def list_groups(request: Any, groups: Callable[[], Sequence[ListedGroup]]) -> ApiMessage:
    """The groups that pass the filters of v4 (states) and v5 (types); empty filters let all pass, case is ignored."""
    states = {state.lower() for state in request.states_filter or ()}
    types = {name.lower() for name in request.types_filter or ()}
    listed = admin.ListGroupsResponse.ListedGroup
    chosen = [
        listed(group_id=g.group_id, protocol_type=g.protocol_type, group_state=g.state, group_type=GROUP_TYPE)
        async for g in paced(groups())
        if (not states or g.state.lower() in states) and (not types or GROUP_TYPE in types)
    ]
    return admin.ListGroupsResponse(error_code=0, groups=chosen)


async def delete_groups(request: Any, delete: Callable[[str], Error]) -> ApiMessage:
    """Delete each group, or say why not; one that the request names twice is deleted once (``KafkaApis``: a set)."""
    result = admin.DeleteGroupsResponse.DeletableGroupResult
    return admin.DeleteGroupsResponse(
        results=[
            result(group_id=name, error_code=int(delete(name)))
            async for name in paced(dict.fromkeys(request.groups_names))
        ]
    )
