"""A herder's queue, what a worker asks its leader for, and session keys: when each is served, repeated or renewed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

import pytest

from rebalance_check.model.vocabulary.events import (
    AssignmentAccepted,
    ConfigCallbackCalled,
    ConfigRead,
    ConfigStoreStarted,
    ConnectAssignmentReceived,
    Event,
    HerderAnswered,
    HerderAsked,
    HerderRequestEnded,
    HerderRequestQueued,
    HerderRequestStarted,
    InternalRequestAnswered,
    InternalRequestChecked,
    LeaderAnswered,
    LeaderAsked,
    MemberCrashed,
    MemberJoined,
    MemberPaused,
    MemberStarted,
    RejoinRequested,
    RequestSent,
    RestartPlanned,
    RunEnded,
    RunStarted,
    SessionKeyWritten,
    TaskConfigsGenerated,
    TaskStopped,
    WorkerConfigured,
)
from rebalance_check.properties.catalogue import select
from rebalance_check.properties.judge import judge
from rebalance_check.properties.verdict import Outcome

History = Callable[..., list[Event]]
RUN: Final = RunStarted(subject="simulator", punctual=True)
URL: Final = "http://w0/"
LEADER: Final = "http://w1/"
TTL_MS: Final = 60_000


def start(*, exactly_once: bool = False) -> tuple[Event, ...]:
    return (
        RUN,
        MemberStarted(member="w0"),
        WorkerConfigured(
            member="w0", mode="sessioned", url=URL, exactly_once=exactly_once, session_key_ttl_ms=TTL_MS
        ),
    )  # fmt: skip


def received(leader: str = "b", url: str = LEADER, protocol: str = "sessioned") -> Event:
    return ConnectAssignmentReceived(
        member="w0", generation=1, member_id="a", protocol=protocol, leader=leader, leader_url=url, config_offset=3
    )


def joined() -> Event:
    return MemberJoined(member="w0", generation=1, member_id="a", leader=True, protocol="sessioned")


def accepted(at_ms: int = 0) -> Event:
    return AssignmentAccepted(member="w0", generation=1, member_id="a", config_offset=3, work=(), time_ms=at_ms)


def queued(number: int = 0, delay_ms: int = 0, operation: str = "reconfigure", at_ms: int = 0) -> Event:
    return HerderRequestQueued(
        member="w0", number=number, operation=operation, work="c", delay_ms=delay_ms, time_ms=at_ms
    )


def started(number: int = 0, at_ms: int = 0) -> Event:
    return HerderRequestStarted(member="w0", number=number, time_ms=at_ms)


def ended(number: int = 0, at_ms: int = 0, *, refused: bool = False) -> Event:
    return HerderRequestEnded(member="w0", number=number, refused=refused, time_ms=at_ms)


def generated(*, published: bool = True) -> Event:
    return TaskConfigsGenerated(
        member="w0", generation=1, connector="c", connector_config="x", tasks=(), published=published
    )


def asks(url: str = LEADER, request: int = 0, operation: str = "write task configs") -> Event:
    return LeaderAsked(member="w0", request=request, operation=operation, connector="c", url=url)


def answer(status: int, request: int = 0) -> Event:
    return LeaderAnswered(member="w0", request=request, answer=status)


def looks(number: int = 0) -> tuple[Event, ...]:
    """The herder looks at task configs, and asks its leader to write them."""
    return (started(number), generated(), asks(request=number), ended(number))


def key_read(created_ms: int = 0, at_ms: int = 0) -> tuple[Event, Event]:
    value = f'{{"key":"aa","algorithm":"HmacSHA256","creation-timestamp":{created_ms}}}'
    return (
        ConfigRead(member="w0", offset=4, key="session-key", value=value, time_ms=at_ms),
        ConfigCallbackCalled(member="w0", callback="onSessionKeyUpdate", connector="", time_ms=at_ms),
    )


def key_written(at_ms: int, created_ms: int | None = None) -> Event:
    created_ms = at_ms if created_ms is None else created_ms
    return SessionKeyWritten(member="w0", generation=1, member_id="a", created_ms=created_ms, time_ms=at_ms)


ASKED: Final = HerderAsked(member="w0", request=0, operation="pause", work="c")
ANSWERED: Final = HerderAnswered(member="w0", request=0, answer=204)
CHECKED: Final = InternalRequestChecked(member="w0", mode="eager", request=0, operation="fence", connector="c")
INTERNAL: Final = InternalRequestAnswered(member="w0", request=0, answer=204)
UNSIGNED: Final = replace(CHECKED, mode="sessioned", refusal=400)
REFUSED: Final = replace(INTERNAL, answer=400)
FENCE: Final = queued(operation="fence")
PAUSE: Final = queued(operation="pause")
BEAT: Final = RequestSent(member="w0", api="Heartbeat", request=9, generation=1, time_ms=900)
LEADS: Final = (*start(), received("a", URL), joined(), accepted())
SETTLED: Final = (*start(), received(), accepted())
END: Final = RunEnded(time_ms=900)
LATE: Final = RunEnded(time_ms=70_000)

HELD: Final[dict[str, tuple[str, tuple[Event, ...]]]] = {
    "one after the other": (
        "herder_queues_are_in_order", (*start(), queued(), queued(1), started(), ended(), started(1), ended(1))
    ),
    "a later one that is due before": (
        "herder_queues_are_in_order", (*start(), queued(0, 250), queued(1), started(1), ended(1), started(0, 250))
    ),
    "it stops": ("herder_queues_are_in_order", (*start(), queued(0, 250), ended(refused=True))),
    "another process begins anew": (
        "herder_queues_are_in_order",
        (*start(), queued(), started(), MemberCrashed(member="w0"), *start()[1:], queued(), started()),
    ),
    "an operator is answered": (
        "served_requests_are_answered_once", (*start(), ASKED, PAUSE, started(), ANSWERED, ended())
    ),
    "another worker is answered": (
        "served_requests_are_answered_once", (*start(), CHECKED, FENCE, started(), INTERNAL, ended())
    ),
    "refused first, then answered": (
        "served_requests_are_answered_once", (*start(), ASKED, PAUSE, ended(refused=True), ANSWERED)
    ),
    "an unsigned request is refused": ("served_requests_are_answered_once", (*start(), UNSIGNED, REFUSED, ASKED, END)),
    "served in time": ("due_requests_are_served", (*SETTLED, queued(0, 250), started(0, 255), ended(0, 255), END)),
    "it failed, and is repeated": (
        "reconfigurations_are_retried", (*start(), queued(), *looks(), answer(409), queued(1, 250))
    ),
    "the pause doubles": (
        "reconfigurations_are_retried",
        (*start(), queued(), *looks(), answer(409), queued(1, 250), *looks(1), answer(500, 1), queued(2, 500)),
    ),
    "the leader could not write": (
        "reconfigurations_are_retried", (*start(), queued(), started(), generated(), queued(1, 250), ended())
    ),
    "the leader is asked": ("leaders_are_asked", (*start(), received(), asks())),
    "the first key": ("session_keys_are_renewed_in_time", (*LEADS, key_written(0))),
    "a key expired": (
        "session_keys_are_renewed_in_time", (*LEADS, key_written(0), *key_read(), key_written(TTL_MS), LATE)
    ),
    "a key that was read before the store had started": (
        "session_keys_are_renewed_in_time",
        (*start(), key_read()[0], ConfigStoreStarted(member="w0", offset=5), *LEADS[3:], key_written(TTL_MS)),
    ),
}  # fmt: skip

VIOLATED: Final[dict[str, tuple[str, tuple[Event, ...]]]] = {
    "before its time": ("herder_queues_are_in_order", (*start(), queued(0, 250), started(0, 249))),
    "twice": ("herder_queues_are_in_order", (*start(), queued(), started(), ended(), started())),
    "out of turn": ("herder_queues_are_in_order", (*start(), queued(), queued(1), started(1))),
    "during another": ("herder_queues_are_in_order", (*start(), queued(), queued(1), started(), started(1))),
    "the end of another": ("herder_queues_are_in_order", (*start(), queued(), queued(1), started(), ended(1))),
    "it refuses what it served": (
        "herder_queues_are_in_order", (*start(), queued(), started(), ended(), ended(refused=True))
    ),
    "no answer": ("served_requests_are_answered_once", (*start(), ASKED, PAUSE, started(), ended())),
    "no answer to another worker": (
        "served_requests_are_answered_once", (*start(), CHECKED, FENCE, started(), ended())
    ),
    "two answers": ("served_requests_are_answered_once", (*start(), ASKED, ANSWERED, ANSWERED)),
    "an unsigned request has no answer": ("served_requests_are_answered_once", (*start(), UNSIGNED, ASKED)),
    "an unsigned request has none at last": ("served_requests_are_answered_once", (*start(), UNSIGNED, END)),
    "an unsigned request has another answer": (
        "served_requests_are_answered_once", (*start(), UNSIGNED, replace(REFUSED, answer=204))
    ),
    "it sleeps on": ("due_requests_are_served", (*SETTLED, queued(0, 250), END)),
    "heartbeats go on": ("due_requests_are_served", (*SETTLED, queued(), BEAT)),
    "late": ("due_requests_are_served", (*SETTLED, queued(0, 250), started(0, 256))),
    "nothing failed": ("reconfigurations_are_retried", (*start(), queued(), *looks(), answer(204), queued(1, 250))),
    "another pause": ("reconfigurations_are_retried", (*start(), queued(), *looks(), answer(409), queued(1, 500))),
    "the pause stays": (
        "reconfigurations_are_retried",
        (*start(), queued(), *looks(), answer(409), queued(1, 250), *looks(1), answer(500, 1), queued(2, 250)),
    ),
    "nothing was to be written": (
        "reconfigurations_are_retried",
        (*start(), queued(), started(), generated(published=False), queued(1, 250)),
    ),
    "not repeated": ("reconfigurations_are_retried", (*start(), queued(), *looks(), answer(409), END)),
    "not repeated at once": (
        "reconfigurations_are_retried", (*start(), queued(), queued(1), *looks(), answer(409), started(1))
    ),
    "another worker is asked": ("leaders_are_asked", (*start(), received(), asks("http://w2/"))),
    "it asks itself": ("leaders_are_asked", (*start(), received("a", URL), asks(URL))),
    "a key in an eager group": (
        "session_keys_are_renewed_in_time", (*start(), received("a", URL, "default"), key_written(0))
    ),
    "a key too many": ("session_keys_are_renewed_in_time", (*LEADS, *key_read(), key_written(TTL_MS - 1))),
    "a key of another time": ("session_keys_are_renewed_in_time", (*LEADS, key_written(5, 4))),
    "no first key": ("session_keys_are_renewed_in_time", (*LEADS, END)),
    "an expired key stays": ("session_keys_are_renewed_in_time", (*LEADS, key_written(0), *key_read(), LATE)),
}  # fmt: skip

SILENT: Final[dict[str, tuple[str, tuple[Event, ...]]]] = {
    "another subject, in order": (
        "herder_queues_are_in_order", (RunStarted(subject="java", punctual=True), *start()[1:], started())
    ),
    "an unsigned request, and the worker dies": (
        "served_requests_are_answered_once", (*start(), UNSIGNED, MemberCrashed(member="w0"), END)
    ),
    "it succeeded": ("reconfigurations_are_retried", (*start(), queued(0, 0), *looks(), answer(204), queued(1))),
    "it joins": (
        "due_requests_are_served", (*SETTLED, RejoinRequested(member="w0", reason="why"), queued(), END)
    ),
    "it stands still": ("due_requests_are_served", (*SETTLED, MemberPaused(member="w0"), queued(), END)),
    "its leader may have lost its privilege": (
        "due_requests_are_served", (*start(exactly_once=True), received(), accepted(), queued(), END)
    ),
    "it stops work": (
        "due_requests_are_served",
        (
            *SETTLED, RestartPlanned(member="w0", generation=1, connector="c", work=("c-0",)), queued(),
            TaskStopped(member="w0", generation=1, task="c-0", time_ms=900),
        ),
    ),
    "it serves another": ("due_requests_are_served", (*SETTLED, queued(), started(), queued(1), END)),
    "its assignment is not known": ("leaders_are_asked", (*start(), asks())),
    "a fence of its own": ("leaders_are_asked", (*start(), received("a", URL), asks(URL, operation="fence"))),
    "a follower's key expires": ("session_keys_are_renewed_in_time", (*SETTLED, *key_read(), LATE)),
}  # fmt: skip


def outcome_of(history: History, claim: str, events: tuple[Event, ...]) -> Outcome:
    return judge(history(*events), select([claim])).verdict(claim).outcome


@pytest.mark.parametrize("name", HELD)
def test_what_is_right_holds(history: History, name: str) -> None:
    assert outcome_of(history, *HELD[name]) is Outcome.HELD


@pytest.mark.parametrize("name", VIOLATED)
def test_what_is_wrong_is_violated(history: History, name: str) -> None:
    assert outcome_of(history, *VIOLATED[name]) is Outcome.VIOLATED


@pytest.mark.parametrize("name", SILENT)
def test_what_no_observer_can_know_is_not_accused(history: History, name: str) -> None:
    assert outcome_of(history, *SILENT[name]) is not Outcome.VIOLATED
