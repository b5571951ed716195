"""The members of a group record: their bytes by the protocol of the group, consumers and Connect workers.

Sources: ``ConsumerProtocol`` and ``IncrementalCooperativeConnectProtocol``, by way of `impl.protocol`. The bytes of
other protocol types stay unread: they are their clients' own.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final
from urllib.parse import urlsplit

from rebalance_check.impl.protocol.connect_protocol import PROTOCOL_TYPE as CONNECT
from rebalance_check.impl.protocol.connect_protocol import VERSION_OF, read_connect_assignment, read_worker_state
from rebalance_check.impl.protocol.consumer_protocol import PROTOCOL_TYPE as CONSUMER
from rebalance_check.impl.protocol.consumer_protocol import read_assignment, read_subscription
from rebalance_check.impl.protocol.topic_partition import TopicPartition
from rebalance_check.impl.protocol.wire import MalformedBytes
from rebalance_check.model.vocabulary.ids import NO_GENERATION
from rebalance_check.pipeline.diagnose.facts import RecordedMember

_EAGER: Final = VERSION_OF["default"]
_GENERATION_SINCE: Final = 2
"""The version of a subscription with a place for the generation of its claim (KIP-792)."""


def with_bytes(
    member: RecordedMember, protocol_type: str, subscription: bytes | None, assignment: bytes | None
) -> tuple[RecordedMember, str]:
    """The member with its subscription and its assignment, and why a part of them is unreadable; empty if none is.

    None stands for a part that the member has already.
    """
    if protocol_type not in {CONSUMER, CONNECT}:
        return member, ""
    subscribe, assign = (_subscribed, _assigned) if protocol_type == CONSUMER else (_worker, _given_work)
    wrong = []
    for name, read, data in (("subscription", subscribe, subscription), ("assignment", assign, assignment)):
        try:
            member = member if data is None else read(member, data)
        except MalformedBytes as error:
            wrong.append(f"the {name} of {member.member}: {error}")
            if protocol_type == CONNECT:
                break  # an assignment is understood by the claim
    return member, "; ".join(wrong)


def partition_names(partitions: tuple[TopicPartition, ...]) -> tuple[str, ...]:
    """Partitions as ``topic-partition``."""
    return tuple(each.name for each in partitions)


def _subscribed(member: RecordedMember, data: bytes) -> RecordedMember:
    found = read_subscription(data)
    claim = NO_GENERATION if found.generation is None else found.generation
    version = int.from_bytes(data[:2], "big")
    return replace(
        member,
        topics=found.topics,
        owned=partition_names(found.owned),
        claimed_generation=claim if version >= _GENERATION_SINCE else None,
    )


def _assigned(member: RecordedMember, data: bytes) -> RecordedMember:
    """No bytes: the leader's assignment left the member out."""
    partitions = read_assignment(data).partitions if data else ()
    return replace(member, assignment=partition_names(partitions))


def _worker(member: RecordedMember, data: bytes) -> RecordedMember:
    found = read_worker_state(data)
    return replace(member, worker=_host_and_port(found.url), owned=found.allocation.names)


def _given_work(member: RecordedMember, data: bytes) -> RecordedMember:
    """The work after the round: since KIP-415 an assignment has only the work to add and the work to give up.

    It has no bytes where nothing changes.
    """
    if not data:
        return replace(member, assignment=member.owned)
    found = read_connect_assignment(data)
    kept = () if found.version == _EAGER else tuple(each for each in member.owned if each not in found.revoked_names)
    return replace(member, assignment=(*kept, *(each for each in found.names if each not in kept)))


def _host_and_port(url: str) -> str:
    """``host:port`` of a worker's URL, as its statuses have it."""
    try:
        return urlsplit(url).netloc or url
    except ValueError:
        return url
