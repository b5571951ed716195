"""Status writes: which the store of a worker sends, sends again and suppresses (``KafkaStatusBackingStore``).

Check and append of a safe write are not atomic, so it may overwrite a newer status, but only one that its writer had
not read. The invariants derive a store's cache from the records that the store read, never from its own statements.
"""

from __future__ import annotations

from typing import Any, Final

from rebalance_check.model.vocabulary.events import (
    StatusAnswered,
    StatusAppended,
    StatusAttempted,
    StatusGivenUp,
    StatusRead,
    StatusSent,
    StatusSuppressed,
)
from rebalance_check.properties.engines import CHECKED, Effect, Finding, Findings, broken, cause, form
from rebalance_check.properties.kinds import Evidence, Invariant
from rebalance_check.properties.verdict import STEP
from rebalance_check.properties.views.status_stores import Stores, Write, described, is_newer, send_of


def _suppressed(event: StatusSuppressed, stores: Stores) -> Findings:
    write = stores.write
    if write is None:
        return None
    if write.attempted.safe and is_newer(write.checked, write.attempted):
        return CHECKED
    return _wrongly(
        write, event, f"suppressed {write.attempted.status} of {event.key}, though {described(write.checked)}"
    )


def _sent_unchecked(event: StatusSent, stores: Stores) -> Findings:
    write = stores.write
    if event.send != 1 or write is None or not write.attempted.safe:
        return None
    if not is_newer(write.checked, write.attempted):
        return CHECKED
    return _wrongly(write, event, f"sent {write.attempted.status} of {event.key} over {described(write.checked)}")


def _wrongly(write: Write, event: StatusSuppressed | StatusSent, did: str) -> Finding:
    attempted = write.attempted
    how = "safely" if attempted.safe else "without a check"
    return broken(
        f"{event.worker} {did}",
        (f"{event.worker} last read {described(write.checked)} for {event.key} ({STEP}).", write.checked),
        (f"at {STEP} it was asked to write {attempted.status} of {attempted.status_worker} in generation "
         f"{attempted.generation}, {how}.", attempted),
        (f"at {STEP} it {did}: contradiction.", event),
    )  # fmt: skip


SuppressedIffNewerCached: Final = Invariant(
    name="safe_status_writes.suppressed_iff_newer_cached",
    family="status",
    claim="putSafe is suppressed exactly when another worker's status of a higher generation is cached; put never is",
    source="KafkaStatusBackingStore, CacheEntry.canWriteSafely",
    premises=("every read of a store is recorded, from its start",),
    exempted_by=(StatusRead,),
    evidence=Evidence.CONCERNED,
    fold=form(
        {StatusSuppressed: _suppressed, StatusSent: _sent_unchecked}, views=(Stores,), needs=((StatusAttempted,),)
    ),
    breaks="""
        StatusAttempted(worker="w0", key="status-task-c-0", status="UNASSIGNED", status_worker="w0:8083",
                        generation=1, safe=True)
        StatusSuppressed(worker="w0", key="status-task-c-0")
    """,
    holds="""
        StatusRead(worker="w0", key="status-task-c-0", offset=0, status="RUNNING", status_worker="w1:8083",
                   generation=2)
        StatusAttempted(worker="w0", key="status-task-c-0", status="UNASSIGNED", status_worker="w0:8083",
                        generation=1, safe=True)
        StatusSuppressed(worker="w0", key="status-task-c-0")
    """,
)


def _retried(event: StatusSent, stores: Stores) -> Findings:
    """A retry follows only where nothing spoke against it when the send before it failed."""
    write = stores.write
    if event.send == 1 or write is None:
        return None
    if not write.against:
        return CHECKED
    return broken(
        f"{event.worker} retried {write.attempted.status} of {event.key} ({write.against})",
        (f"{event.worker} wrote {write.attempted.status} of {event.key} at {STEP}.", write.attempted),
        (f"by then the retry was ruled out ({write.against}, since {STEP}).", write.evidence),
        (f"the send failed retriably at {STEP}: this is when a retry is admitted or not.", write.answered),
        (f"it was sent again at {STEP}: contradiction.", event),
    )


def _given_up(event: StatusGivenUp, stores: Stores) -> Findings:
    """A write is given up only for the reason that holds."""
    write = stores.write
    if write is None:
        return None
    answer = write.answered
    met_no_worker = write.attempted.safe and write.checked is not None and not write.checked.status_worker
    justified = {
        "fatal": answer is not None and answer.outcome == "fatal",
        "stopped": stores.of(event.worker).stopped,
        "exhausted": not write.against and answer is not None and answer.outcome == "retriable",
        "exception": not write.attempted.status_worker or met_no_worker,
    }
    if justified.get(event.reason, event.reason == write.against):
        return CHECKED
    holds = write.against or "nothing speaks against a retry"
    return broken(
        f"{event.worker} gave up {write.attempted.status} of {event.key} ({event.reason}), but: {holds}",
        (f"the last answer came at {STEP}.", answer),
        (f"it was given up as {event.reason} at {STEP}: contradiction.", event),
    )


RetriesAreAdmitted: Final = Invariant(
    name="safe_status_writes.retries_are_admitted",
    family="status",
    claim="a failed write is retried exactly when its entry still exists, the store's generation is its own and, if it "
    "is safe, the check still passes and no younger write of the entry was admitted",
    source="KafkaStatusBackingStore.send, the producer's callback; KAFKA-14902",
    premises=("the gate is judged at the failed answer: the retry thread may send much later without asking again",),
    exempted_by=(StatusAnswered, StatusRead),
    evidence=Evidence.CONCERNED,
    fold=form({StatusSent: _retried, StatusGivenUp: _given_up}, views=(Stores,), needs=((StatusAttempted,),)),
    breaks="""
        StatusAttempted(worker="w0", key="status-task-c-0", status="RUNNING", status_worker="w0:8083", generation=1,
                        safe=False)
        StatusSent(worker="w0", key="status-task-c-0", value="{}")
        StatusAttempted(worker="w0", key="status-task-c-1", attempt=1, status="RUNNING", status_worker="w0:8083",
                        generation=2, safe=False)
        StatusAnswered(worker="w0", key="status-task-c-0", outcome="retriable")
        StatusSent(worker="w0", key="status-task-c-0", send=2, value="{}")
    """,
    holds="""
        StatusAttempted(worker="w0", key="status-task-c-0", status="RUNNING", status_worker="w0:8083", generation=1,
                        safe=False)
        StatusSent(worker="w0", key="status-task-c-0", value="{}")
        StatusAnswered(worker="w0", key="status-task-c-0", outcome="retriable")
        StatusSent(worker="w0", key="status-task-c-0", send=2, value="{}")
    """,
)


def _record_of_a_send(event: StatusAppended) -> Effect:
    key = ("append", event.key, *send_of(event))
    did = f"{event.worker} has a record of {event.key} at {event.partition}/{event.offset}"
    return Effect(key, f"{did} that it did not send", f"{did}, at {STEP}", event)


def _answer_to_a_send(event: StatusAnswered) -> Effect:
    did = f"{event.worker} was answered on send {event.send} of attempt {event.attempt}"
    return Effect(("answer", event.key, *send_of(event)), f"{did}, which was not made", f"{did} at {STEP}", event)


def _sent_again(event: StatusSent) -> Effect | None:
    did = f"{event.worker} sent {event.key} again"
    key = ("again", event.key, *send_of(event))
    return Effect(key, f"{did} after no retriable failure", f"{did} at {STEP}", event) if event.send > 1 else None


def _send(event: StatusSent) -> list[Any]:
    return [(kind, event.key, *send_of(event)) for kind in ("append", "answer")]


def _failure(event: StatusAnswered) -> Any:
    retriable = event.outcome == "retriable"
    return ("again", event.key, event.worker, event.attempt, event.send + 1) if retriable else None


AppendsAnswerSends: Final = Invariant(
    name="safe_status_writes.appends_answer_sends",
    family="status",
    claim="every record was sent, every send becomes one record at most, and only a retriable failure is sent again",
    source="KafkaBasedLog producer settings: max.in.flight.requests.per.connection=1, retries=0",
    premises=("every send is recorded, and appends are distinguished by attempt and send",),
    exempted_by=(StatusAnswered, StatusSent),
    evidence=Evidence.CONCERNED,
    fold=cause(
        {StatusAppended: _record_of_a_send, StatusAnswered: _answer_to_a_send, StatusSent: _sent_again},
        {StatusSent: _send, StatusAnswered: _failure},
        lacks="no send, or no failure that may be retried, of that number came since",
    ),
    breaks="""
        StatusAppended(worker="w0", key="status-task-c-0", offset=0)
    """,
    holds="""
        StatusSent(worker="w0", key="status-task-c-0", value="{}")
        StatusAppended(worker="w0", key="status-task-c-0", offset=0)
    """,
)


LAWS: Final = (SuppressedIffNewerCached, RetriesAreAdmitted, AppendsAnswerSends)
"""In the order in which reports name them."""
