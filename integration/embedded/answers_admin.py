"""Answers about groups: DescribeGroups, ListGroups, DeleteGroups, from what the coordinator tells."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from rebalance_check.impl.protocol.messages import DescribedGroup, ListedGroup
from rebalance_check.integration.wire.kafka_python import ApiMessage, admin
from rebalance_check.model.vocabulary.errors import Error

GROUP_TYPE: Final = "classic"


def describe_groups(request: Any, describe: Callable[[str], DescribedGroup]) -> ApiMessage:
    """Each group asked for."""
    return admin.DescribeGroupsResponse(groups=[_described(describe(group_id)) for group_id in request.groups])


def _described(group: DescribedGroup) -> Any:
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
    )


def list_groups(request: Any, groups: Sequence[ListedGroup]) -> ApiMessage:
    """The groups that pass the filters of v4 (states) and v5 (types); empty filters let all pass, case is ignored."""
    states = {state.lower() for state in request.states_filter or ()}
    types = {name.lower() for name in request.types_filter or ()}
    listed = admin.ListGroupsResponse.ListedGroup
    chosen = [
        listed(group_id=g.group_id, protocol_type=g.protocol_type, group_state=g.state, group_type=GROUP_TYPE)
        for g in groups
        if (not states or g.state.lower() in states) and (not types or GROUP_TYPE in types)
    ]
    return admin.ListGroupsResponse(error_code=0, groups=chosen)


def delete_groups(request: Any, delete: Callable[[str], Error]) -> ApiMessage:
    """Delete each group, or say why not."""
    result = admin.DeleteGroupsResponse.DeletableGroupResult
    return admin.DeleteGroupsResponse(
        results=[result(group_id=name, error_code=int(delete(name))) for name in request.groups_names]
    )
