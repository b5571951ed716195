"""An operator's work at the broker while the clients run; none of it passes the recording proxy."""

from __future__ import annotations

from typing import Final

from rebalance_check.impl.protocol import messages as msg
from rebalance_check.integration.wire.call import Connection
from rebalance_check.integration.wire.kafka_python import admin, errors, metadata
from rebalance_check.integration.wire.requests import request_to_wire
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

TIMEOUT_MS: Final = 10_000
CREATE_PARTITIONS_VERSION: Final = 1
FIND_VERSION: Final = 2
GROUP_KEY_TYPE: Final = 0
LEAVE_VERSION: Final = 3
"""The first version of LeaveGroup by which anybody may remove a member."""


def add_partitions(bootstrap: str, topic: str, count: int) -> None:
    """Let the topic have ``count`` partitions from here on.

    Raises: RebalanceCheckError when the broker refuses, or closes the connection.
    """
    wanted = admin.CreatePartitionsRequest.CreatePartitionsTopic(name=topic, count=count, assignments=None)
    request = admin.CreatePartitionsRequest(topics=[wanted], timeout_ms=TIMEOUT_MS, validate_only=False)
    try:
        with Connection(first_of(bootstrap)) as broker:
            result = broker.call(request, CREATE_PARTITIONS_VERSION).results[0]
    except OSError as fault:
        raise RebalanceCheckError(f"the broker does not add partitions to {topic} ({fault}): see its log") from fault
    if result.error_code:
        name = errors.for_code(result.error_code).__name__
        raise RebalanceCheckError(f"the broker refuses to add partitions to {topic}: {name}")


def remove_member(bootstrap: str, group: str, member_id: str) -> None:
    """Remove a member from its group, as Kafka's ``Admin.removeMembersFromConsumerGroup`` does.

    A member that is gone already stays so.
    """
    with Connection(coordinator_of(bootstrap, group)) as broker:
        leave = msg.LeaveGroupRequest(
            group_id=group, version=LEAVE_VERSION, members=(msg.MemberIdentity(member_id),), client_id="operator"
        )
        broker.call(request_to_wire(leave), LEAVE_VERSION)


def coordinator_of(bootstrap: str, group: str) -> str:
    """The address of the node that coordinates the group."""
    with Connection(first_of(bootstrap)) as broker:
        found = broker.call(metadata.FindCoordinatorRequest(key=group, key_type=GROUP_KEY_TYPE), FIND_VERSION)
    return f"{found.host}:{found.port}"


def first_of(bootstrap: str) -> str:
    """The first of several addresses."""
    return bootstrap.partition(",")[0]
