"""A journal of virtual Kafka, as the records of `impl.coordinator`: read from how Kafka's own classes print them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from rebalance_check.impl.coordinator.records import (
    GroupRecord,
    GroupTombstone,
    MemberRecord,
    OffsetRecord,
    OffsetTombstone,
    Record,
    TransactionMarker,
)
from rebalance_check.impl.protocol.messages import CommittedOffset
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

_GROUP: Final = re.compile(
    r"GroupMetadataKey\(group='(?P<group>.*?)'\).*?value=(?:null|.*?protocolType='(?P<type>.*?)', "
    r"generation=(?P<generation>\d+), protocol=(?P<protocol>null|'.*?'), leader=(?P<leader>null|'.*?'), "
    r"currentStateTimestamp=(?P<at>-?\d+), members=\[(?P<members>.*)\]\))"
)
_MEMBER: Final = re.compile(
    r"MemberMetadata\(memberId='(?P<id>.*?)', groupInstanceId=(?P<instance>null|'.*?'), clientId='(?P<client>.*?)', "
    r"clientHost='(?P<host>.*?)', rebalanceTimeout=(?P<rebalance>\d+), sessionTimeout=(?P<session>\d+), "
    r"subscription=\[(?P<subscription>[-\d, ]*)\], assignment=\[(?P<assignment>[-\d, ]*)\]\)"
)
_OFFSET: Final = re.compile(
    r"OffsetCommitKey\(group='(?P<group>.*?)', topic='(?P<topic>.*?)', partition=(?P<partition>\d+)\).*?"
    r"value=(?:null|.*?offset=(?P<offset>-?\d+), leaderEpoch=(?P<epoch>-?\d+), metadata='(?P<metadata>.*?)', "
    r"commitTimestamp=(?P<at>-?\d+)(?:, expireTimestamp=(?P<until>-?\d+))?)"
)


def records_in(journal: str) -> list[Record]:
    """The records in the text of a journal, a line for each; `RebalanceCheckError` for one that cannot be read."""
    return [_record(line) for line in journal.splitlines() if line]


def _record(line: str) -> Record:
    """A line is the record's offset, the producer id of its batch, and the record or a transaction's marker."""
    _, producer, text = line.split(" ", 2)
    if text in {"COMMIT", "ABORT"}:
        return TransactionMarker(int(producer), is_committed=text == "COMMIT")
    if found := _GROUP.search(line):
        return _group(found)
    if found := _OFFSET.search(line):
        return _offset(found, int(producer))
    raise RebalanceCheckError(f"this record of Kafka cannot be read: {line!r}")


def _group(found: re.Match[str]) -> Record:
    if found["generation"] is None:
        return GroupTombstone(found["group"])
    return GroupRecord(
        group_id=found["group"],
        generation=int(found["generation"]),
        protocol_type=found["type"],
        protocol_name=_nullable(found["protocol"]),
        leader=_nullable(found["leader"]),
        timestamp_ms=int(found["at"]),
        members=tuple(_members(found["members"])),
    )


def _members(text: str) -> Iterator[MemberRecord]:
    for found in _MEMBER.finditer(text):
        yield MemberRecord(
            member_id=found["id"],
            group_instance_id=_nullable(found["instance"]),
            client_id=found["client"],
            client_host=found["host"],
            rebalance_timeout_ms=int(found["rebalance"]),
            session_timeout_ms=int(found["session"]),
            subscription=_bytes(found["subscription"]),
            assignment=_bytes(found["assignment"]),
        )


def _offset(found: re.Match[str], producer_id: int) -> Record:
    group, topic, partition = found["group"], found["topic"], int(found["partition"])
    if found["offset"] is None:
        return OffsetTombstone(group, topic, partition)
    committed = CommittedOffset(topic, partition, int(found["offset"]), found["metadata"], int(found["epoch"]))
    return OffsetRecord(group, committed, int(found["at"]), _expiry(found["until"]), producer_id)


def _expiry(text: str | None) -> int | None:
    """When a commit ends by its own will: never where Kafka writes -1 or nothing."""
    return None if text is None or int(text) < 0 else int(text)


def _nullable(text: str) -> str | None:
    return None if text == "null" else text[1:-1]


def _bytes(numbers: str) -> bytes:
    """Java prints signed bytes."""
    return bytes(int(number) & 0xFF for number in numbers.split(",") if number)
