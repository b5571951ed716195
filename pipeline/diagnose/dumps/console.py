"""The output of ``kafka-console-consumer.sh`` for ``__consumer_offsets`` and for Connect's topics, to facts.

Sources: ``GroupMetadataMessageFormatter`` and ``OffsetsMessageFormatter`` of ``org.apache.kafka.tools.consumer``, which
put no line break between their JSON objects, so that a line holds many, and the tool's own log at its end; the older
ones in Scala (`scala_text`); and ``DefaultMessageFormatter`` with ``print.key=true`` for Connect's status and config
topics, with or without times, partitions and offsets. For these topics the lines of ``kcat -J`` are read, too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from rebalance_check.pipeline.diagnose.dumps.connect_topics import KEY_PREFIXES, connect_facts
from rebalance_check.pipeline.diagnose.dumps.record_json import json_facts
from rebalance_check.pipeline.diagnose.dumps.records import Read
from rebalance_check.pipeline.diagnose.dumps.scala_text import SIGN, scala_facts
from rebalance_check.pipeline.diagnose.dumps.shown import excerpt
from rebalance_check.pipeline.diagnose.facts import Fact, NotUnderstood, Place

JSON_RECORD: Final = re.compile(r'\{\s*"key"\s*:\s*\{\s*"(?:version|type)"\s*:')
"""The beginning of an object of the new formatters."""
CONNECT_RECORD: Final = re.compile(
    r"^(?P<head>(?:(?:CreateTime|LogAppendTime|Partition|Offset):-?\d+\s+|NoTimestampType\s+|NO_HEADERS\s+)*)"
    rf"(?P<key>(?:{'|'.join(map(re.escape, KEY_PREFIXES))})[^\t{{]*?)(?:[\t:=|,; ]+)(?P<value>\{{.*|null)$"
)
_TIME: Final = re.compile(r"\b(?:CreateTime|LogAppendTime):(\d{1,19})")
KCAT_RECORD: Final = re.compile(r'^\{"topic":".*"key":"(?:status-|connector-|task-|commit-|target-state-|session-key)')
_STATUS_ALONE: Final = re.compile(r'^(?:\S+:\d+\s+)*\{"state":"[A-Z]+",.*"worker_id":.*"generation":')
_DECODER: Final = json.JSONDecoder()


def is_console(head: str) -> bool:
    """Whether a text that begins so is the console consumer's, of one of the topics that this module reads."""
    if JSON_RECORD.search(head) is not None:
        return True
    lines = head.splitlines()
    return any(SIGN.search(line) or CONNECT_RECORD.match(line) or KCAT_RECORD.match(line) for line in lines)


def read_console(lines: Iterable[tuple[int, str]], source: str) -> Iterator[Fact | NotUnderstood]:
    """The facts of numbered lines. A record of a group in JSON has no time but that of its state."""
    for number, raw in lines:
        text = raw.rstrip("\r\n")
        if JSON_RECORD.search(text) is not None:
            yield from _objects(text, number, source)
        else:
            yield from _line(text, number, source)


def _objects(text: str, number: int, source: str) -> Iterator[Fact | NotUnderstood]:
    """The objects of a line, with any text around them."""
    at = 0
    while (found := JSON_RECORD.search(text, at)) is not None:
        begin = found.start()
        place = Place(source, number, excerpt(text[begin : begin + 400]))
        try:
            row: Any
            row, at = _DECODER.raw_decode(text, begin)
        except (ValueError, RecursionError) as error:
            yield NotUnderstood(place, f"the JSON of a record is damaged ({error})")
            at = found.end()
            continue
        if "value" not in row:
            yield NotUnderstood(place, "the JSON of a record has no value")
            continue
        yield from json_facts(row["key"], row["value"], place, None)


def _line(text: str, number: int, source: str) -> Read:
    """The facts of a line of another form; none for the tool's own lines."""
    found = CONNECT_RECORD.match(text)
    if found is not None:
        time = _TIME.search(found["head"])
        value = None if found["value"] == "null" else found["value"].encode("utf-8", "replace")
        time_ms = int(time[1]) if time is not None else None
        return connect_facts(found["key"], value, Place(source, number), time_ms) or ()
    place = Place(source, number, excerpt(text))
    facts = scala_facts(text, place)
    if facts is not None:
        return facts
    if KCAT_RECORD.match(text) is not None:
        return _of_kcat(text, place)
    if _STATUS_ALONE.match(text) is not None:
        return (NotUnderstood(place, "the status has no key: give kafka-console-consumer --property print.key=true"),)
    return ()


def _of_kcat(text: str, place: Place) -> Read:
    try:
        row = json.loads(text)
        key, payload, time_ms = row["key"], row["payload"], row.get("ts")
    except (ValueError, KeyError, RecursionError) as error:
        return (NotUnderstood(place, f"the JSON of a record is damaged ({error!r})"),)
    if not isinstance(key, str) or not isinstance(payload, str | None) or not isinstance(time_ms, int | None):
        return (NotUnderstood(place, "the JSON of a record has a key, a payload or a time of another type"),)
    value = None if payload is None else payload.encode("utf-8", "replace")
    return connect_facts(key, value, Place(place.source, place.number), time_ms) or ()
