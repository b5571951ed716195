"""Records of ``__consumer_offsets`` as the formatters in Scala print them for the console consumer, up to Kafka 3.9.

Sources: ``GroupMetadataManager.GroupMetadataMessageFormatter`` and ``OffsetsMessageFormatter``: a record is a line of
``G::GroupMetadata(...)`` or ``[G,T,P]::OffsetAndMetadata(...)``. They leave out leader, subscriptions and assignments.
"""

from __future__ import annotations

import re
from typing import Final

from rebalance_check.pipeline.diagnose.dumps.records import Read
from rebalance_check.pipeline.diagnose.facts import (
    GroupDeleted,
    GroupRecorded,
    NotUnderstood,
    OffsetRecorded,
    Place,
    RecordedMember,
)

GROUP: Final = re.compile(
    r"^(?P<group>.*?)::GroupMetadata\(groupId=.*?, generation=(?P<generation>-?\d{1,10}), "
    r"protocolType=(?:Some\((?P<type>[^)]*)\)|None), currentState=(?P<state>\w+), members=\w*(?P<members>\(.*\))\)"
)
COMMIT: Final = re.compile(
    r"^\[(?P<group>.*),(?P<topic>[\w.-]+),(?P<partition>\d+)\]::"
    r"(?:OffsetAndMetadata\(offset=(?P<offset>-?\d{1,19}), .*?commitTimestamp=(?P<time>\d{1,19})"
    r"|\[OffsetMetadata\[(?P<old_offset>-?\d{1,19}),.*?CommitTime (?P<old_time>\d{1,19}))"
)
DELETED_COMMIT: Final = re.compile(r"^\[(?P<group>.*),(?P<topic>[\w.-]+),(?P<partition>\d+)\]::NULL$")
DELETED_GROUP: Final = re.compile(r"^(?P<group>.+)::NULL$")
MEMBER: Final = re.compile(
    r"MemberMetadata\(memberId=(?P<member>[^,]*), (?:groupInstanceId=(?:Some\((?P<instance>[^)]*)\)|None), )?"
    r"clientId=(?P<client>[^,]*), clientHost=(?P<host>[^,]*), sessionTimeoutMs=(?P<session>\d{1,10}), "
    r"rebalanceTimeoutMs=(?P<rebalance>\d{1,10}), supportedProtocols=List\((?P<protocols>[^)]*)\)"
)
SIGN: Final = re.compile(r"::(?:GroupMetadata\(groupId=|OffsetAndMetadata\(offset=|\[OffsetMetadata\[|NULL$)")
"""A text that each of these lines has."""


def scala_facts(text: str, place: Place) -> Read | None:
    """The facts of a line; None where it is of another form."""
    if SIGN.search(text) is None:
        return None
    if (found := COMMIT.match(text)) is not None:
        offset, time = found["offset"] or found["old_offset"], found["time"] or found["old_time"]
        return (OffsetRecorded(place=place, time_ms=int(time), group=found["group"], partition=_partition(found),
                               offset=int(offset)),)  # fmt: skip
    if (found := DELETED_COMMIT.match(text)) is not None:
        of = {"group": found["group"], "partition": _partition(found)}
        return (OffsetRecorded(place=place, time_ms=None, offset=None, **of),)
    if (found := DELETED_GROUP.match(text)) is not None:
        return (GroupDeleted(place=place, time_ms=None, group=found["group"]),)
    if (found := GROUP.match(text)) is not None:
        return _group(found, place)
    return (NotUnderstood(place, "a record of a group or of a commit, in a form that is not known"),)


def _partition(found: re.Match[str]) -> str:
    return f"{found['topic']}-{found['partition']}"


def _group(found: re.Match[str], place: Place) -> Read:
    """A record holds the bytes of one protocol, so that each member shows the selected one, and no other."""
    rows = list(MEMBER.finditer(found["members"]))
    protocols = {row["protocols"] for row in rows}
    recorded = GroupRecorded(
        place=place, time_ms=None, group=found["group"], generation=int(found["generation"]), leader="",
        protocol=protocols.pop() if len(protocols) == 1 else "", protocol_type=found["type"] or "",
        members=tuple(_member(row) for row in rows),
    )  # fmt: skip
    missing = found["members"].count("MemberMetadata(") - len(rows)
    if not missing:
        return (recorded,)
    return (recorded, NotUnderstood(place, f"{missing} members are in a form that is not known"))


def _member(row: re.Match[str]) -> RecordedMember:
    return RecordedMember(
        member=row["member"], instance=row["instance"] or "", client=row["client"], host=row["host"].removeprefix("/"),
        session_timeout_ms=int(row["session"]), rebalance_timeout_ms=int(row["rebalance"]),
    )  # fmt: skip
