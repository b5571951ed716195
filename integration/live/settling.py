"""Has a healed group settled? Asked of the coordinator, not of the clients."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from rebalance_check.impl.codecs.consumer_protocol import read_assignment
from rebalance_check.integration.cluster.broker import Broker
from rebalance_check.integration.wire.call import Connection
from rebalance_check.integration.wire.kafka_python import ApiMessage, admin, errors

CHECK_S: Final = 0.1
SETTLED_CHECKS: Final = 8
"""Settled means: nothing pending and nothing changed at so many checks in a row."""

DESCRIBE_VERSION: Final = 4


Ask = Callable[[ApiMessage, int], Any]
"""Sends a request at a version to the group's coordinator and returns the answer; None when nobody answers."""


@contextmanager
def asking(broker: Broker, group: str) -> Iterator[Ask]:
    """How to ask the coordinator of ``group``, which in a cluster may be another node every time."""
    if broker.cluster is not None:
        cluster = broker.cluster
        yield lambda request, version: cluster.ask_coordinator(group, request, version)
    else:
        with Connection(broker.bootstrap) as connection:
            yield connection.call


def await_settled(broker: Broker, group: str, *, members: int, partitions: int, timeout_s: float) -> tuple[str, ...]:
    """Wait until the group is Stable with ``members`` members that own all ``partitions`` partitions, and stays so.

    What is still pending when the time is over is returned, as sentences; nothing when all is well.
    """
    deadline = time.monotonic() + timeout_s
    unchanged, before = 0, None
    with asking(broker, group) as ask:
        while True:
            answer = ask(admin.DescribeGroupsRequest(groups=[group]), DESCRIBE_VERSION)
            described = None if answer is None else answer.groups[0]
            pending = tuple(_pending(described, members, partitions))
            now = [(m.member_id, bytes(m.member_assignment)) for m in described.members] if described else []
            unchanged = unchanged + 1 if not pending and now == before else 0
            before = now
            if unchanged >= SETTLED_CHECKS:
                return ()
            if time.monotonic() >= deadline:
                return pending or ("the group rebalances for ever",)
            time.sleep(CHECK_S)


def _pending(group: ApiMessage | None, members: int, partitions: int) -> Iterator[str]:
    wanted = "Stable" if members else "Empty"
    if group is None:
        yield "no node coordinates the group"
    elif group.error_code:
        yield f"the coordinator answers {errors.for_code(group.error_code).__name__}"
    elif group.group_state != wanted:
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
