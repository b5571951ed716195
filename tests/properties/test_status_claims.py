"""Each claim of safe status writes: a history that holds it, and the smallest that breaks it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from rebalance_check.model.vocabulary.events import (
    Event,
    StatusAnswered,
    StatusAppended,
    StatusAttempted,
    StatusesListed,
    StatusFlushed,
    StatusFlushStarted,
    StatusGivenUp,
    StatusIgnored,
    StatusQueried,
    StatusRead,
    StatusSent,
    StatusSuppressed,
)
from rebalance_check.properties.judge import judge
from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.laws.status import LAWS
from rebalance_check.properties.verdict import Held, Outcome, Undecided, Violated

History = Callable[..., list[Event]]
KEY = "status-task-c-0"
CONNECTOR = "status-connector-c"


def wrote(
    attempt: int, status: str, generation: int, *, worker: str = "w0", safe: bool = False, key: str = KEY
) -> Event:
    return StatusAttempted(
        worker=worker, key=key, attempt=attempt, status=status, generation=generation, safe=safe, status_worker=worker
    )


def sent(attempt: int, send: int = 1, *, worker: str = "w0", value: str | None = "v", key: str = KEY) -> Event:
    return StatusSent(worker=worker, key=key, attempt=attempt, send=send, value=value)


def appended(attempt: int, offset: int, send: int = 1, *, worker: str = "w0", key: str = KEY) -> Event:
    return StatusAppended(source="log", worker=worker, key=key, attempt=attempt, send=send, partition=0, offset=offset)


def answered(attempt: int, outcome: str, send: int = 1, *, worker: str = "w0", key: str = KEY) -> Event:
    return StatusAnswered(worker=worker, key=key, attempt=attempt, send=send, outcome=outcome)


def read(offset: int, status: str, generation: int = -1, *, of: str = "", by: str = "w0", key: str = KEY) -> StatusRead:
    return StatusRead(
        worker=by, key=key, partition=0, offset=offset, status=status, status_worker=of, generation=generation
    )


def ignored(offset: int, status: str, generation: int, *, of: str, by: str = "w0", key: str = KEY) -> StatusIgnored:
    return StatusIgnored(
        worker=by, key=key, partition=0, offset=offset, reason="stale unassigned", status=status, status_worker=of,
        generation=generation,
    )  # fmt: skip


def gave_up(attempt: int, reason: str) -> Event:
    return StatusGivenUp(worker="w0", key=KEY, attempt=attempt, reason=reason)


NEWER = read(0, "RUNNING", 2, of="w1")
STALE = wrote(0, "UNASSIGNED", 1, safe=True)
TOPIC = "status-topic-t:connector-c"
USED = read(0, "TOPIC", key=TOPIC)
SUPPRESSED = StatusSuppressed(worker="w0", key=KEY, attempt=0)
FLUSH = (StatusFlushStarted(worker="w0"), StatusFlushed(worker="w0"))
CALL = (wrote(0, "RUNNING", 1),)
RETRIED: tuple[Event, ...] = (answered(0, "retriable"), sent(0, 2))
OTHER_WROTE: tuple[Event, ...] = (
    wrote(0, "RUNNING", 2, worker="w1"), sent(0, worker="w1"), appended(0, 0, worker="w1"),
    answered(0, "ok", worker="w1"),
)  # fmt: skip

BROKEN: dict[str, list[tuple[Event, ...]]] = {
    "readers_converge": [
        (read(0, "RUNNING", 1, of="w0"), ignored(0, "PAUSED", 1, of="w0", by="w1")),
        (read(0, "RUNNING", 1, of="w0"), ignored(0, "RUNNING", 1, of="w0", by="w1")),
    ],
    "cache_follows_reads": [
        (NEWER, StatusQueried(worker="w0", key=KEY, status="")),
        (
            NEWER,
            read(1, "DESTROYED", key=CONNECTOR),
            StatusQueried(worker="w0", key=KEY, status="RUNNING", status_worker="w1", generation=2),
        ),
        (NEWER, ignored(1, "UNASSIGNED", 3, of="w1")),
        (NEWER, replace(ignored(1, "RUNNING", 3, of="w1"), reason="echo of an own write")),
    ],
    "appends_answer_sends": [
        (*CALL, sent(0), appended(0, 0), appended(0, 1)),
        (*CALL, sent(0), sent(0, 2)),
        (*CALL, sent(0), answered(0, "ok"), sent(0, 2)),
        (*CALL, sent(0), answered(0, "ok"), answered(0, "ok")),
        (*CALL, answered(0, "ok")),
    ],
    "suppressed_iff_newer_cached": [
        (NEWER, STALE, sent(0)),
        (read(0, "RUNNING", 1, of="w1"), STALE, SUPPRESSED),
        (NEWER, wrote(0, "RUNNING", 1), SUPPRESSED),
        (NEWER, wrote(0, "UNASSIGNED", 2, safe=True), SUPPRESSED),
    ],
    "retries_are_admitted": [
        (wrote(0, "FAILED", 1, safe=True), sent(0), wrote(1, "RUNNING", 1), *RETRIED),
        (wrote(0, "RUNNING", 1), sent(0), read(0, "DESTROYED"), *RETRIED),
        (wrote(0, "RUNNING", 1), sent(0), read(0, "DESTROYED", key=CONNECTOR), *RETRIED),
        (wrote(0, "RUNNING", 1), sent(0), answered(0, "retriable"), gave_up(0, "deleted")),
        (wrote(0, "RUNNING", 1), sent(0), answered(0, "retriable"), gave_up(0, "fatal")),
    ],
}
"""By invariant the histories that break it in another way than its declaration shows."""

HOLDING: list[tuple[Event, ...]] = [
    (USED, StatusQueried(worker="w0", key=TOPIC, status="TOPIC"),
     StatusesListed(worker="w0", kind="topics", connector="c", names=("t",))),
    (USED, read(1, "DESTROYED", key=CONNECTOR), StatusQueried(worker="w0", key=TOPIC, status="TOPIC")),
    (NEWER, wrote(0, "RUNNING", 1, key=CONNECTOR), sent(0, key=CONNECTOR), answered(0, "ok", key=CONNECTOR),
     StatusesListed(worker="w0", kind="connectors", names=("c",)),
     StatusesListed(worker="w0", kind="tasks", connector="c", names=("c-0",))),
    (wrote(0, "RUNNING", 1), sent(0), appended(0, 0), answered(0, "ok"), read(0, "RUNNING", 1, of="w0")),
    (NEWER, STALE, SUPPRESSED),
    (NEWER, ignored(1, "UNASSIGNED", 2, of="w1")),
    (wrote(0, "RUNNING", 1), sent(0), answered(0, "retriable"), sent(0, 2), appended(0, 0, 2), answered(0, "ok", 2)),
    # an overwrite that is explained: the newer status was appended, and not yet read
    (*OTHER_WROTE, STALE, sent(0), appended(0, 1), answered(0, "ok")),
    # an unsafe write is bound by nothing but its generation and tombstones
    (NEWER, wrote(0, "RUNNING", 1), sent(0), wrote(1, "PAUSED", 1), sent(1), answered(0, "retriable"), sent(0, 2),
     answered(1, "ok"), answered(0, "ok", 2)),
    (sent(0), StatusFlushStarted(worker="w0"), answered(0, "retriable"), StatusFlushed(worker="w0")),
    (wrote(0, "RUNNING", 1), sent(0), read(0, "DESTROYED"), answered(0, "retriable"), gave_up(0, "deleted")),
    (read(0, "RUNNING", 1, of="w0"), read(1, "DESTROYED", key=CONNECTOR),
     StatusQueried(worker="w0", key=KEY, status="")),
    # compaction removed offset 0: a later record of its key exists
    (*OTHER_WROTE[:3], wrote(1, "PAUSED", 2, worker="w1"), sent(1, worker="w1"), appended(1, 1, worker="w1"),
     answered(0, "ok", worker="w1"), answered(1, "ok", worker="w1"), read(1, "PAUSED", 2, of="w1")),
]  # fmt: skip


def named(name: str) -> Invariant:
    return next(invariant for invariant in LAWS if invariant.name == f"safe_status_writes.{name}")


@pytest.mark.parametrize(("name", "events"), [(name, each) for name, several in BROKEN.items() for each in several])
def test_a_store_that_does_otherwise__is_found(history: History, name: str, events: tuple[Event, ...]) -> None:
    invariant = named(name)
    assert isinstance(judge(history(*events), [invariant]).verdict(invariant.name), Violated)


@pytest.mark.parametrize("events", HOLDING, ids=range(len(HOLDING)))
def test_every_claim__a_sound_history__is_not_violated(history: History, events: tuple[Event, ...]) -> None:
    judgement = judge(history(*events), LAWS)
    assert judgement.counterexamples == ()


EXCUSED: list[tuple[Event, ...]] = [
    # one store has not read the record that the other took before
    (read(1, "UNASSIGNED", 1, of="w0", by="w1"), read(0, "RUNNING", 1, of="w0"), ignored(1, "UNASSIGNED", 1, of="w0")),
    # the tombstone of the connector stands in another partition, and one store has read it before
    (read(0, "RUNNING", 1, of="w0"), read(0, "RUNNING", 1, of="w0", by="w1"),
     replace(read(0, "DESTROYED", key=CONNECTOR, by="w1"), partition=1), read(1, "UNASSIGNED", 1, of="w0", by="w1"),
     ignored(1, "UNASSIGNED", 1, of="w0")),
]  # fmt: skip


@pytest.mark.parametrize("events", EXCUSED)
def test_what_stores_leave_out__may_differ_for_a_reason(history: History, events: tuple[Event, ...]) -> None:
    verdict = judge(history(*events), [named("readers_converge")]).verdict("safe_status_writes.readers_converge")
    assert not isinstance(verdict, Violated)


def test_a_hole_in_the_history__is_undecided(history: History) -> None:
    events = history(NEWER, STALE, SUPPRESSED)
    del events[1]
    assert judge(events, LAWS).outcome is Outcome.UNDECIDED


def test_a_send_without_its_call__is_undecided(history: History) -> None:
    verdict = judge(history(sent(7)), [named("retries_are_admitted")]).verdict(
        "safe_status_writes.retries_are_admitted"
    )
    assert isinstance(verdict, Undecided)
    assert "attempt 7 of w0 is not in the history" in verdict.reason


def test_a_counterexample_names_the_reads_and_the_writes_that_contradict(history: History) -> None:
    claim = named("suppressed_iff_newer_cached")
    verdict = judge(history(NEWER, STALE, sent(0)), [claim]).verdict(claim.name)
    assert isinstance(verdict, Violated)
    assert verdict.counterexample.headline == (
        "w0 sent UNASSIGNED of status-task-c-0 over RUNNING of w1 in generation 2"
    )
    assert [type(event) for event in verdict.counterexample.events] == [StatusRead, StatusAttempted, StatusSent]


def test_a_pass_counts_what_it_observed(history: History) -> None:
    claim = named("flush_waits")
    assert judge(history(*CALL, *FLUSH), [claim]).verdict(claim.name) == Held(checked_events=1)  # that flush returned
