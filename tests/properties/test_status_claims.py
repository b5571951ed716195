"""Each claim of safe status writes: a history that holds it, and the smallest that breaks it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

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
from rebalance_check.properties.catalogue import CATALOGUE, select
from rebalance_check.properties.judge import judge
from rebalance_check.properties.kinds import Invariant
from rebalance_check.properties.status.catalogue import SafeStatusWrites
from rebalance_check.properties.status.violations import SafeStatusWritesViolated
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


def read(offset: int, status: str, generation: int = -1, *, of: str = "", by: str = "w0", key: str = KEY) -> Event:
    return StatusRead(
        worker=by, key=key, partition=0, offset=offset, status=status, status_worker=of, generation=generation
    )


def ignored(offset: int, status: str, generation: int, *, of: str, by: str = "w0", key: str = KEY) -> Event:
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
RETRIED: tuple[Event, ...] = (answered(0, "retriable"), sent(0, 2))
OTHER_WROTE: tuple[Event, ...] = (
    wrote(0, "RUNNING", 2, worker="w1"), sent(0, worker="w1"), appended(0, 0, worker="w1"),
    answered(0, "ok", worker="w1"),
)  # fmt: skip

BROKEN: dict[str, list[tuple[Event, ...]]] = {
    "explained_overwrite": [
        (NEWER, STALE, sent(0), appended(0, 1)),
        (STALE, sent(0), NEWER, *RETRIED, appended(0, 1, send=2)),
    ],
    "quiescent_safety": [(*OTHER_WROTE, NEWER, STALE, sent(0), appended(0, 1))],
    "no_self_reordering": [(wrote(0, "FAILED", 1, safe=True), sent(0), wrote(1, "RUNNING", 1), *RETRIED)],
    "suppression_was_read": [(STALE, SUPPRESSED), (read(0, "RUNNING", 1, of="w1"), STALE, SUPPRESSED)],
    "no_resurrection_by_retry": [
        (wrote(0, "RUNNING", 1), sent(0), read(0, "DESTROYED"), *RETRIED),
        (wrote(0, "RUNNING", 1), sent(0), read(0, "DESTROYED", key=CONNECTOR), *RETRIED),
    ],
    "stale_unassigned_ignored": [(read(0, "RUNNING", 6, of="w1"), read(1, "UNASSIGNED", 6, of="w1"))],
    "readers_converge": [
        (read(0, "RUNNING", 1, of="w0"), ignored(0, "PAUSED", 1, of="w0", by="w1")),
        (read(0, "RUNNING", 1, of="w0"), ignored(0, "RUNNING", 1, of="w0", by="w1")),
    ],
    "cache_follows_reads": [
        (StatusQueried(worker="w0", key=KEY, status="RUNNING", status_worker="w0", generation=1),),
        (NEWER, StatusQueried(worker="w0", key=KEY, status="")),
        (
            NEWER,
            read(1, "DESTROYED", key=CONNECTOR),
            StatusQueried(worker="w0", key=KEY, status="RUNNING", status_worker="w1", generation=2),
        ),
        (NEWER, ignored(1, "UNASSIGNED", 3, of="w1")),
    ],
    "lists_follow_reads": [
        (StatusesListed(worker="w0", kind="tasks", connector="c", names=("c-0",)),),
        (NEWER, StatusesListed(worker="w0", kind="tasks", connector="c")),
        (NEWER, StatusesListed(worker="w0", kind="tasks", connector="d", names=("c-0",))),
        (USED, StatusesListed(worker="w0", kind="topics", connector="c")),
        (USED, StatusesListed(worker="w0", kind="topics", connector="d", names=("t",))),
        (wrote(0, "RUNNING", 1, key=CONNECTOR), StatusesListed(worker="w0", kind="connectors")),
        (NEWER, StatusesListed(worker="w0", kind="connectors", names=("c",))),
    ],
    "appends_answer_sends": [
        (appended(0, 0),),
        (sent(0), appended(0, 0), appended(0, 1)),
        (sent(0), sent(1), appended(0, 0), appended(1, 0)),
        (sent(0), sent(0, 2)),
        (sent(0), answered(0, "ok"), sent(0, 2)),
        (sent(0), sent(0)),
        (answered(0, "ok"),),
    ],
    "suppressed_iff_newer_cached": [
        (NEWER, STALE, sent(0)),
        (STALE, SUPPRESSED),
        (NEWER, wrote(0, "RUNNING", 1), SUPPRESSED),
        (NEWER, wrote(0, "UNASSIGNED", 2, safe=True), SUPPRESSED),
    ],
    "retries_are_admitted": [
        (wrote(0, "RUNNING", 1), sent(0), wrote(1, "RUNNING", 2, key=CONNECTOR), *RETRIED),
        (wrote(0, "RUNNING", 1), sent(0), answered(0, "retriable"), gave_up(0, "deleted")),
        (wrote(0, "RUNNING", 1), sent(0), answered(0, "retriable"), gave_up(0, "fatal")),
    ],
    "flush_waits": [(sent(0), *FLUSH)],
}
"""The claim's name without its family, and histories that break it."""

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
    return next(invariant for invariant in SafeStatusWrites if invariant.name == f"safe_status_writes.{name}")


def cases() -> list[Any]:
    return [
        pytest.param(name, events, id=f"{name}-{number}")
        for name, histories in BROKEN.items()
        for number, events in enumerate(histories)
    ]


@pytest.mark.parametrize(("name", "events"), cases())
def test_each_claim__its_smallest_counterexample__is_violated(
    history: History, name: str, events: tuple[Event, ...]
) -> None:
    claim = named(name)
    verdict = judge(history(*events), [claim]).verdict(claim.name)
    assert isinstance(verdict, Violated)
    assert verdict.counterexample.events
    assert issubclass(claim.violation, SafeStatusWritesViolated)
    with pytest.raises(claim.violation, match=claim.name):
        judge(history(*events), [claim]).check()


@pytest.mark.parametrize("events", HOLDING, ids=range(len(HOLDING)))
def test_every_claim__a_sound_history__is_not_violated(history: History, events: tuple[Event, ...]) -> None:
    judgement = judge(history(*events), SafeStatusWrites)
    assert judgement.counterexamples == ()


def test_every_claim_has_a_history_that_breaks_it() -> None:
    assert {invariant.name for invariant in SafeStatusWrites} == {f"safe_status_writes.{name}" for name in BROKEN}


def test_every_claim_has_an_exception_of_its_own() -> None:
    assert len({invariant.violation for invariant in SafeStatusWrites}) == len(SafeStatusWrites)


def test_the_family_is_in_the_catalogue_and_can_be_selected() -> None:
    assert select(["safe_status_writes"]) == SafeStatusWrites
    assert set(SafeStatusWrites) <= set(CATALOGUE)


def test_a_hole_in_the_history__is_undecided(history: History) -> None:
    events = history(NEWER, STALE, SUPPRESSED)
    del events[1]
    assert judge(events, SafeStatusWrites).outcome is Outcome.UNDECIDED


def test_a_send_without_its_call__is_undecided(history: History) -> None:
    verdict = judge(history(sent(7)), [named("retries_are_admitted")]).verdict(
        "safe_status_writes.retries_are_admitted"
    )
    assert isinstance(verdict, Undecided)
    assert "attempt 7 of w0 is not in the history" in verdict.reason


def test_a_counterexample_names_the_reads_and_the_writes_that_contradict(history: History) -> None:
    claim = named("explained_overwrite")
    verdict = judge(history(NEWER, STALE, sent(0), appended(0, 1)), [claim]).verdict(claim.name)
    assert isinstance(verdict, Violated)
    assert verdict.counterexample.headline == (
        "w0 overwrote RUNNING of w1 in generation 2, which it had read, by UNASSIGNED of status-task-c-0"
    )
    assert [type(event) for event in verdict.counterexample.events] == [StatusRead, StatusAttempted, StatusAppended]


def test_a_pass_counts_what_it_observed(history: History) -> None:
    claim = named("flush_waits")
    assert judge(history(*FLUSH), [claim]).verdict(claim.name) == Held(checked_events=1)  # that flush returned
