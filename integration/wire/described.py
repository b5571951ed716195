"""A group in a DescribeGroups response of kafka-python, as `impl.protocol.messages` has it."""

from __future__ import annotations

from typing import Any

from rebalance_check.impl.protocol.messages import DescribedGroup, DescribedMember
from rebalance_check.integration.wire.replies import error_from_wire


def described_group(group: Any) -> DescribedGroup:
    """One group of the response; the response must be of v5 or lower, which shows a group that is not there as Dead."""
    return DescribedGroup(
        error=error_from_wire(group.error_code),
        group_id=group.group_id,
        state=group.group_state,
        protocol_type=group.protocol_type,
        protocol_name=group.protocol_data,
        members=tuple(
            DescribedMember(
                member_id=m.member_id,
                group_instance_id=m.group_instance_id,
                client_id=m.client_id,
                client_host=m.client_host,
                metadata=bytes(m.member_metadata),
                assignment=bytes(m.member_assignment),
            )
            for m in group.members
        ),
    )
