"""The output of ``kafka-dump-log.sh``, with ``--offsets-decoder`` for ``__consumer_offsets``, to facts.

Sources: ``DumpLogSegments`` and ``OffsetsMessageParser`` of 3.x and 4.x, which print JSON; ``GroupMetadataManager``'s
``formatRecordKeyAndValue`` of 2.x to 3.2, which prints ``group_metadata::group=G`` and ``offset_commit::group=G,...``.
Without a decoder the keys and values of Connect's topics are printed as they are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from rebalance_check.pipeline.diagnose.dumps.connect_topics import connect_facts, is_connect_key
from rebalance_check.pipeline.diagnose.dumps.record_json import json_facts
from rebalance_check.pipeline.diagnose.dumps.records import Read
from rebalance_check.pipeline.diagnose.dumps.segments import STRANGE_KEYS, partition_of
from rebalance_check.pipeline.diagnose.dumps.shown import excerpt
from rebalance_check.pipeline.diagnose.dumps.transactions import OpenTransactions
from rebalance_check.pipeline.diagnose.facts import (
    Fact,
    GroupDeleted,
    GroupRecorded,
    NotUnderstood,
    OffsetRecorded,
    Place,
    RecordedMember,
)

DUMPING: Final = re.compile(r"^Dumping (?P<path>\S.*)$")
BATCH: Final = re.compile(r"^baseOffset: -?\d+ ")
RECORD: Final = re.compile(r"^(?:\| )?offset: (?P<offset>\d{1,19}) (?P<rest>.*)$")
_TIME: Final = re.compile(r"\b(?:CreateTime|LogAppendTime): (?P<time>\d{1,19}) ")
_PRODUCER: Final = re.compile(r"\bproducerId: (?P<producer>\d{1,19}) ")
_TRANSACTIONAL: Final = re.compile(r"\bisTransactional: true\b")
_MARKER: Final = re.compile(r"\bendTxnMarker: (?P<end>COMMIT|ABORT)\b")
_KEY: Final = " key: "
_PAYLOAD: Final = " payload: "
_DELETED: Final = "<DELETE>"
_OLD_COMMIT: Final = re.compile(r"^offset_commit::group=(?P<group>.*),partition=(?P<partition>[^,]+-\d+)$")
_OLD_OFFSET: Final = re.compile(r"^offset=(?P<offset>\d{1,19})")
_OLD_GROUP: Final = re.compile(r"^group_metadata::group=(?P<group>.*)$")
_OLD_MEMBER: Final = re.compile(r"(?P<member>[^{},=\[\]]+)=\[(?P<partitions>[^\[\]]*)\](?::[0-9A-F]*)?")


def is_dump_log(head: str) -> bool:
    """Whether a text that begins so is an output of ``kafka-dump-log.sh``."""
    lines = head.splitlines()
    return any(RECORD.match(line) and (_KEY in line or _MARKER.search(line)) for line in lines) or any(
        BATCH.match(line) and " magic: " in line for line in lines
    )


def read_dump_log(lines: Iterable[tuple[int, str]], source: str) -> Iterator[Fact | NotUnderstood]:
    """The facts of numbered lines; several dumps may follow one another.

    Commits of a transaction come where its marker stands, and not at all if it is aborted.
    """
    reading = _Reading(source, partition_of(source))
    for number, raw in lines:
        yield from reading.on_line(number, raw.rstrip("\r\n"))
    yield from reading.open.left(Place(source, reading.last))


@dataclass(slots=True)
class _Reading:
    """The state of one reading: the partition being dumped, and the transaction of the present batch."""

    source: str
    partition: int | None
    open: OpenTransactions = field(default_factory=OpenTransactions)
    producer: int | None = None
    last: int = 0
    strange: int = 0

    def on_line(self, number: int, text: str) -> Iterable[Fact | NotUnderstood]:
        """The facts of a line."""
        self.last = number
        if BATCH.match(text):
            found = _PRODUCER.search(text) if _TRANSACTIONAL.search(text) else None
            self.producer = int(found["producer"]) if found is not None else None
            return ()
        record = RECORD.match(text)
        if record is None:
            if dumping := DUMPING.match(text):
                self.partition = partition_of(dumping["path"])
            return ()
        rest = record["rest"]
        if marker := _MARKER.search(rest):
            return self.open.end(-1 if self.producer is None else self.producer, committed=marker["end"] == "COMMIT")
        if _KEY not in rest:
            return ()
        facts = self._on_record(Place(self.source, number, excerpt(text)), rest)
        if self.producer is None:
            return facts
        self.open.hold(self.producer, facts)
        return ()

    def _on_record(self, place: Place, rest: str) -> Read:
        head, _, body = rest.partition(_KEY)
        time = _TIME.search(head + " ")
        time_ms = int(time["time"]) if time is not None else None
        if body.startswith("{"):
            return self._on_json(place, time_ms, body)
        key, _, payload = body.partition(_PAYLOAD)
        value = payload if _PAYLOAD in body and payload != _DELETED else None
        if is_connect_key(key) and "{" not in key:  # else the line is damaged, and its value stands in the key
            return connect_facts(key, None if value is None else value.encode("utf-8", "replace"), place, time_ms) or ()
        found = _old(key, value, place, time_ms, self.partition)
        return self._strange(key, place) if found is None else found

    def _strange(self, key: str, place: Place) -> Read:
        """A record of another topic, or without the decoder: the first are noted."""
        self.strange += 1
        if self.strange > STRANGE_KEYS:
            return ()
        why = f"no known topic has the key {excerpt(key)[:40]!r}; give kafka-dump-log --offsets-decoder"
        return (NotUnderstood(place, why),)

    def _on_json(self, place: Place, time_ms: int | None, body: str) -> Read:
        try:
            key, end = _DECODER.raw_decode(body)
            payload = body[end:].removeprefix(_PAYLOAD)
            value = None if payload in {"", _DELETED, "null"} else json.loads(payload)
        except (ValueError, RecursionError) as error:
            return (NotUnderstood(place, f"the JSON of the record is damaged ({error})"),)
        return json_facts(key, value, place, time_ms, self.partition)


_DECODER: Final = json.JSONDecoder()


def _old(key: str, value: str | None, place: Place, time_ms: int | None, partition: int | None) -> Read | None:
    """A record as releases before 3.3 print it; None where the key is of another form."""
    if found := _OLD_COMMIT.match(key):
        offset = _OLD_OFFSET.match(value or "")
        if value is not None and offset is None:
            return (NotUnderstood(place, "the commit has no offset"),)
        of: dict[str, Any] = {"group": found["group"], "partition": found["partition"]}
        return (OffsetRecorded(place=place, time_ms=time_ms, offset=int(offset[1]) if offset else None, **of),)
    if found := _OLD_GROUP.match(key):
        if value is None:
            return (GroupDeleted(place=place, time_ms=time_ms, group=found["group"]),)
        return _old_group(found["group"], value, place, time_ms, partition)
    return None


def _old_group(group: str, value: str, place: Place, time_ms: int | None, partition: int | None) -> Read:
    """A group without its leader, its timeouts and its subscriptions, which that form leaves out."""
    try:
        fields = json.loads(value)
        generation, texts = int(fields["generationId"]), [str(fields.get(name) or "") for name in _OLD_TEXTS]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        return (NotUnderstood(place, f"the JSON of the group is damaged ({error!r})"),)
    protocol_type, protocol, assignment = texts
    members = tuple(
        RecordedMember(member=each["member"].strip(), assignment=_names(each["partitions"]))
        for each in _OLD_MEMBER.finditer(assignment)
    )
    return (
        GroupRecorded(
            place=place, time_ms=time_ms, group=group, generation=generation, leader="", protocol=protocol,
            protocol_type=protocol_type, members=members, partition=partition,
        ),
    )  # fmt: skip


_OLD_TEXTS: Final = ("protocolType", "protocol", "assignment")


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())
