"""Has a healed group settled? Asked of the coordinator, not of the clients."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

from rebalance_check.impl.protocol.consumer_protocol import read_assignment
from rebalance_check.impl.protocol.leader_election import PROTOCOL_TYPE as ELECTION
from rebalance_check.impl.protocol.leader_election import read_election
from rebalance_check.integration.brokers.open import Broker
from rebalance_check.integration.waiting import ask_until
from rebalance_check.integration.wire.call import Connection
from rebalance_check.integration.wire.kafka_python import ApiMessage, admin, errors
from rebalance_check.model.vocabulary.group_status import GroupStatus

CHECK_S: Final = 0.1
SETTLED_CHECKS: Final = 8
"""Settled means: nothing pending and nothing changed at so many checks in a row."""

DESCRIBE_VERSION: Final = 4


Ask = Callable[[ApiMessage, int], Any]
"""Sends a request at a version to the group's coordinator and returns the answer; None when no broker answers."""


@contextmanager
def asking(broker: Broker, group: str) -> Iterator[Ask]:
    """How to ask the coordinator of ``group``, which in a cluster may be another node every time."""
    if broker.cluster is not None:
        cluster = broker.cluster
        yield lambda request, version: cluster.ask_coordinator(group, request, version)
    else:
        with Connection(broker.bootstrap) as connection:
            yield connection.call


class Unsettled(NamedTuple):
    """The reasons that are still pending, as sentences, and the members that are missing from the group."""

    pending: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


FOREVER: Final = Unsettled(("the group rebalances for ever",))


def await_settled(
    broker: Broker, group: str, *, members: Collection[str], partitions: int, timeout_s: float
) -> Unsettled:
    """Wait until the group is Stable with ``members``, who own all ``partitions`` partitions, and stays so.

    Members are known by their client ids. Reasons that are still pending when the time is over are returned.
    """
    unchanged, before = 0, None
    with asking(broker, group) as ask:

        def check() -> Unsettled:
            nonlocal unchanged, before
            answer = ask(admin.DescribeGroupsRequest(groups=[group]), DESCRIBE_VERSION)
            described = None if answer is None else answer.groups[0]
            found = unsettled(described, members, partitions)
            now = [(m.member_id, bytes(m.member_assignment)) for m in described.members] if described else []
            unchanged = unchanged + 1 if not found.pending and now == before else 0
            before = now
            return found

        found = ask_until(check, lambda _: unchanged >= SETTLED_CHECKS, timeout_s=timeout_s, pause_s=CHECK_S)
    return found if found.pending or unchanged >= SETTLED_CHECKS else FOREVER


def unsettled(group: ApiMessage | None, members: Collection[str], partitions: int) -> Unsettled:
    """The reasons why the described group is not at rest. A missing member is one thing; whether those that are there
    have come to rest without it is another, and is said apart."""
    if group is None:
        return Unsettled(("no node coordinates the group",))
    if group.error_code:
        return Unsettled((f"the coordinator answers {errors.for_code(group.error_code).__name__}",))
    missing = tuple(sorted(set(members) - {member.client_id for member in group.members}))
    absent = tuple(f"{name} runs, and the group does not hold it" for name in missing)
    return Unsettled((*absent, *_of_those_present(group, len(members) - len(missing), partitions)), missing)


def _of_those_present(group: ApiMessage, members: int, partitions: int) -> Iterator[str]:
    wanted = GroupStatus.STABLE if members else GroupStatus.EMPTY
    if group.group_state != wanted:
        yield f"the group is {group.group_state}, not {wanted}"
    elif len(group.members) != members:
        yield f"the group has {len(group.members)} members, not {members}"
    elif members:
        things, read = ("roles", _roles) if group.protocol_type == ELECTION else ("partitions", _partitions)
        wanted_things = 1 if group.protocol_type == ELECTION else partitions
        owned: list[tuple[str, int]] = [one for member in group.members for one in read(member)]
        if len(owned) != wanted_things or len(set(owned)) != wanted_things:
            yield f"{len(set(owned))} of {wanted_things} {things} are assigned, {len(owned)} times in all"


def _partitions(member: Any) -> list[tuple[str, int]]:
    data = bytes(member.member_assignment)
    return [(tp.topic, tp.partition) for tp in read_assignment(data).partitions] if data else []


def _roles(member: Any) -> list[tuple[str, int]]:
    data = bytes(member.member_assignment)
    return [("primary", 0)] if data and read_election(data).master == member.member_id else []
