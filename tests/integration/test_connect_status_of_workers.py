"""The deeds of a Java worker's status store, as its log and the status topic show them."""

import pytest

from rebalance_check.integration.connect.status.store_log import StatusTopic, TopicRecord, status_events
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import (
    Event,
    StatusAnswered,
    StatusAppended,
    StatusAttempted,
    StatusIgnored,
    StatusRead,
    StatusSent,
    StatusStoreStarted,
    StatusStoreStopped,
)

NAME = "g-status"
STORE = "TRACE KafkaStatusBackingStore"


def value(state: str, generation: int) -> str:
    return f'{{"state":"{state}","trace":null,"worker_id":"h:1","generation":{generation}}}'


def handed(key: str) -> str:
    return (
        f"TRACE KafkaProducer [Producer clientId=g-statuses] Attempting to append record ProducerRecord(topic={NAME}, "
        f"partition=null, headers=RecordHeaders(headers = [], isReadOnly = false), key={key}, value=[B@1, "
        "timestamp=null) with callback c to topic t"
    )


def produced(base: int) -> str:
    return f"TRACE ProducerBatch Successfully produced messages to {NAME}-0 with base offset {base}."


def received(item: str, state: str, generation: int) -> str:
    shown = f"Status{{id={item}, state={state}, workerId='h:1', generation={generation}}}"
    return f"{STORE} Received task {item} status update {shown}"


def events(lines: list[str], records: dict[int, TopicRecord]) -> list[Event]:
    return [event for _, event in status_events("w0", StatusTopic(NAME, records), enumerate(lines))]


RUNNING = TopicRecord("status-task-c-0", value("RUNNING", 2))
UNASSIGNED = TopicRecord("status-task-c-0", value("UNASSIGNED", 2))
REMOVED = TopicRecord("status-connector-c", None)


def test_a_send_is_matched_with_its_record() -> None:
    assert events([handed(RUNNING.key), produced(4)], {4: RUNNING}) == [
        StatusAttempted(
            worker="w0", key=RUNNING.key, attempt=0, status="RUNNING", status_worker="h:1", generation=2, safe=False
        ),
        StatusSent(worker="w0", key=RUNNING.key, attempt=0, send=1, value=RUNNING.value),
        StatusAppended(worker="w0", key=RUNNING.key, attempt=0, send=1, partition=0, offset=4),
        StatusAnswered(worker="w0", key=RUNNING.key, attempt=0, send=1, outcome="ok"),
    ]


def test_a_batch_of_several_sends_ends_where_another_begins() -> None:
    lines = [handed(RUNNING.key), handed(UNASSIGNED.key), handed(REMOVED.key), produced(0), produced(2)]
    found = events(lines, {0: RUNNING, 1: UNASSIGNED, 2: REMOVED})
    assert [event.offset for event in found if isinstance(event, StatusAppended)] == [0, 1, 2]
    assert [event.safe for event in found if isinstance(event, StatusAttempted)] == [False, True, False]


def test_two_threads_that_send_at_one_time_may_be_appended_in_the_other_order() -> None:
    found = events([handed(RUNNING.key), handed(REMOVED.key), produced(0)], {0: REMOVED, 1: RUNNING})
    assert sorted(event.offset for event in found if isinstance(event, StatusAppended)) == [0, 1]


def test_a_send_that_two_batches_pass_over_was_not_appended() -> None:
    lines = [handed(RUNNING.key), handed(REMOVED.key), produced(0), handed(REMOVED.key), produced(2),
             handed(RUNNING.key), produced(4)]  # fmt: skip
    found = events(lines, {0: REMOVED, 2: REMOVED, 4: RUNNING})
    order = [type(event) for event in found if isinstance(event, StatusSent | StatusAppended)]
    assert order == [StatusSent, StatusAppended] * 3, "the send of record 4 is the one behind the second batch"


def test_what_others_appended_between_two_batches_is_not_the_workers() -> None:
    found = events(
        [handed(RUNNING.key), handed(REMOVED.key), produced(0), produced(2)], {0: RUNNING, 1: UNASSIGNED, 2: REMOVED}
    )
    assert [event.offset for event in found if isinstance(event, StatusAppended)] == [0, 2]


def test_a_send_that_was_not_appended_is_left_out() -> None:
    assert events([handed(RUNNING.key)], {}) == []
    found = events([handed(RUNNING.key), handed(REMOVED.key), produced(0)], {0: REMOVED})
    assert {event.key for event in found if isinstance(event, StatusSent)} == {REMOVED.key}


def test_a_send_that_is_repeated_for_a_new_batch_is_one() -> None:
    again = f"TRACE KafkaProducer x Retrying append due to new batch creation for topic {NAME} partition 0."
    found = events([handed(RUNNING.key), again, handed(RUNNING.key), produced(0)], {0: RUNNING, 1: RUNNING})
    assert [event.offset for event in found if isinstance(event, StatusAppended)] == [0]


def test_a_tombstone_is_of_the_generation_of_the_worker() -> None:
    joined = "INFO DistributedHerder Joined group at generation 7 with protocol version 2 and got assignment"
    attempted, *_ = events([joined, handed(REMOVED.key), produced(0)], {0: REMOVED})
    assert isinstance(attempted, StatusAttempted)
    assert (attempted.status, attempted.generation) == ("DESTROYED", 7)


def test_the_statuses_of_topics_are_read_and_not_written() -> None:
    record = TopicRecord("status-topic-t:connector-c", '{"topic":{}}')
    used = f"{STORE} Received topic status update TopicStatus{{topic='t', connector='c', task=1, discoverTimestamp=5}}"
    unused = f"{STORE} Removing status for topic t and connector c"
    first, second = events(
        [handed(record.key), produced(0), used, unused], {0: record, 1: TopicRecord(record.key, None)}
    )
    assert isinstance(first, StatusRead)
    assert isinstance(second, StatusRead)
    assert dict(first.usage) == {"name": "t", "connector": "c", "task": "1", "discoverTimestamp": "5"}
    assert (second.status, second.offset) == ("DESTROYED", 1)


def test_what_is_read_has_the_offset_of_its_record() -> None:
    lines = [received("c-0", "RUNNING", 2), received("c-0", "UNASSIGNED", 2), f"{STORE} Ignoring stale status S"]
    lines.append(f"{STORE} Removing status for connector c")
    first, second, third = events(lines, {0: RUNNING, 3: UNASSIGNED, 5: REMOVED})
    assert first == StatusRead(
        worker="w0", key=RUNNING.key, partition=0, offset=0, status="RUNNING", status_worker="h:1", generation=2
    )
    assert isinstance(second, StatusIgnored)
    assert (second.offset, second.reason) == (3, "stale unassigned")
    assert isinstance(third, StatusRead)
    assert (third.offset, third.status) == (5, "DESTROYED")


def test_a_read_of_what_the_topic_does_not_hold_is_an_error() -> None:
    with pytest.raises(RebalanceCheckError, match="w0 read a record of status-task-c-0"):
        events([received("c-0", "RUNNING", 2)], {0: REMOVED})


def test_a_store_starts_and_stops() -> None:
    lines = [f"INFO KafkaBasedLog {does} KafkaBasedLog for topic {NAME}" for does in ("Started", "Stopped")]
    assert [type(event) for event in events(lines, {})] == [StatusStoreStarted, StatusStoreStopped]
