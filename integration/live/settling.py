"""Has a healed group settled? Asked of the coordinator, not of the clients."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, Final

from rebalance_check.impl.codecs.consumer_protocol import read_assignment
from rebalance_check.integration.wire.call import Connection
from rebalance_check.integration.wire.kafka_python import ApiMessage, admin

CHECK_S: Final = 0.1
SETTLED_CHECKS: Final = 8
"""Settled means: nothing pending and nothing changed at so many checks in a row."""

DESCRIBE_VERSION: Final = 4


def await_settled(bootstrap: str, group: str, *, members: int, partitions: int, timeout_s: float) -> tuple[str, ...]:
    """Wait until the group is Stable with ``members`` members that own all ``partitions`` partitions, and stays so.

    What is still pending when the time is over is returned, as sentences; nothing when all is well.
    """
    deadline = time.monotonic() + timeout_s
    unchanged, before = 0, None
    with Connection(bootstrap) as broker:
        while True:
            described = broker.call(admin.DescribeGroupsRequest(groups=[group]), DESCRIBE_VERSION).groups[0]
            pending = tuple(_pending(described, members, partitions))
            now = [(m.member_id, bytes(m.member_assignment)) for m in described.members]
            unchanged = unchanged + 1 if not pending and now == before else 0
            before = now
            if unchanged >= SETTLED_CHECKS:
                return ()
            if time.monotonic() >= deadline:
                return pending or ("the group rebalances for ever",)
            time.sleep(CHECK_S)


def _pending(group: ApiMessage, members: int, partitions: int) -> Iterator[str]:
    wanted = "Stable" if members else "Empty"
    if group.group_state != wanted:
        yield f"the group is {group.group_state}, not {wanted}"
    elif len(group.members) != members:
        yield f"the group has {len(group.members)} members, not {members}"
    elif members:
        owned: list[tuple[str, int]] = [tp for member in group.members for tp in _partitions(member)]
        if len(owned) != partitions or len(set(owned)) != partitions:
            yield f"{len(set(owned))} of {partitions} partitions are assigned, {len(owned)} times in all"


def _partitions(member: Any) -> list[tuple[str, int]]:
    data = bytes(member.member_assignment)
    return [(tp.topic, tp.partition) for tp in read_assignment(data).partitions] if data else []
