"""Requests that look like a mistake and are none: each was seen in a real client."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from rebalance_check.model.vocabulary.events import Event, ReplyObserved, RequestObserved
from rebalance_check.properties.judge import judge
from rebalance_check.properties.laws.by_kip import WireClaims
from rebalance_check.properties.verdict import Outcome

History = Callable[..., list[Event]]

SESSION_MS = 6_000


def sent(request: int, api: str, *, time_ms: int = 0, member_id: str = "m", generation: int = -1) -> RequestObserved:
    return RequestObserved(
        connection=1, process="p0", request=request, api=api, version=5, member_id=member_id, time_ms=time_ms,
        request_generation=generation, session_timeout_ms=SESSION_MS if api == "JoinGroup" else 0,
        rebalance_timeout_ms=SESSION_MS if api == "JoinGroup" else 0, protocol_type="consumer", protocols=("range",),
    )  # fmt: skip


def got(request: int, api: str, error: str = "NONE", *, time_ms: int = 0, generation: int = -1) -> ReplyObserved:
    return ReplyObserved(
        connection=1, process="p0", request=request, api=api, error=error, time_ms=time_ms,
        reply_generation=generation, assigned_member_id="m" if api == "JoinGroup" else "",
    )  # fmt: skip


def anonymous(request: int, *, time_ms: int = 0) -> RequestObserved:
    """A JoinGroup without a member id."""
    return sent(request, "JoinGroup", member_id="", time_ms=time_ms)


SETTLED: list[Event] = [
    anonymous(1), got(1, "JoinGroup", generation=1),
    sent(2, "SyncGroup", generation=1), got(2, "SyncGroup"),
]  # fmt: skip

NOT_ANSWERED_FOR_A_SESSION: list[Event] = [
    *SETTLED,
    sent(3, "Heartbeat", generation=1),
    anonymous(4, time_ms=SESSION_MS + 1),
]  # fmt: skip
"""librdkafka takes its membership as lost when its session timeout has passed without a reply."""

HEARTBEAT_CROSSES_A_REFUSED_COMMIT: list[Event] = [
    *SETTLED,
    sent(3, "OffsetCommit", generation=1), sent(4, "Heartbeat", generation=1),
    got(3, "OffsetCommit", "UNKNOWN_MEMBER_ID"), got(4, "Heartbeat"),
    anonymous(5),
]  # fmt: skip
"""aiokafka: the heartbeat was sent before the commit was refused, so that its reply restores nothing."""


def cooperative(request: int, *owned: str) -> RequestObserved:
    """A JoinGroup of a cooperative consumer that claims ``owned``."""
    return replace(
        sent(request, "JoinGroup"),
        protocols=("cooperative-sticky",),
        topics=("t",),
        subscription_version=1,
        owned=owned,
    )


OWNS_ONE: list[Event] = [
    cooperative(1), got(1, "JoinGroup", generation=1),
    sent(2, "SyncGroup", generation=1), replace(got(2, "SyncGroup"), assignment=("t-0",)),
    sent(3, "Heartbeat", generation=1), got(3, "Heartbeat", "REBALANCE_IN_PROGRESS"),
]  # fmt: skip

REFUSED_FOR_AN_OLD_GENERATION: list[Event] = [
    *OWNS_ONE,
    cooperative(4, "t-0"), got(4, "JoinGroup", generation=2),
    replace(sent(5, "OffsetCommit", generation=1), connection=2),
    replace(got(5, "OffsetCommit", "ILLEGAL_GENERATION"), connection=2),
    cooperative(6),
]  # fmt: skip
"""sarama: it speaks for the generation before while its SyncGroup is lost, is refused, and takes all as lost."""

REFUSED_AT_ONCE: list[Event] = [
    *SETTLED,
    *(sent(number, "Heartbeat", generation=1) for number in range(3, 20)),
    *(got(number, "Heartbeat", "NOT_COORDINATOR") for number in range(3, 20)),
]
"""A member of ours on a loaded machine: heartbeats wait for their replies while the coordinator moves."""

ALLOWED = {
    "heartbeats that were on their way when the first was refused": REFUSED_AT_ONCE,
    "claims dropped after a refusal for an old generation": REFUSED_FOR_AN_OLD_GENERATION,
    "member id dropped after a silent session": NOT_ANSWERED_FOR_A_SESSION,
    "heartbeat that crosses a refused commit": HEARTBEAT_CROSSES_A_REFUSED_COMMIT,
}

SOONER: list[Event] = [*SETTLED, anonymous(3, time_ms=SESSION_MS - 1)]
HEARTBEAT_AFTER_A_REFUSED_COMMIT: list[Event] = [
    *SETTLED,
    sent(3, "OffsetCommit", generation=1), got(3, "OffsetCommit", "UNKNOWN_MEMBER_ID"),
    sent(4, "Heartbeat", generation=1), got(4, "Heartbeat"),
    anonymous(5),
]  # fmt: skip
"""It went on as the same member, and was accepted."""

CLAIMS_LESS_WITHOUT_CAUSE: list[Event] = [
    *OWNS_ONE,
    replace(sent(7, "Fetch"), partitions=("t-0",)), got(7, "Fetch"),
    cooperative(4, "t-0"), got(4, "JoinGroup", generation=2),
    cooperative(5),
]  # fmt: skip

REFUSED_AGAIN_AND_AGAIN: list[Event] = [
    *SETTLED,
    *(
        event
        for number in range(3, 20)
        for event in (sent(number, "Heartbeat", generation=1), got(number, "Heartbeat", "NOT_COORDINATOR"))
    ),
]

NOT_ALLOWED = {
    "heartbeats that are repeated at once": (REFUSED_AGAIN_AND_AGAIN, "wire_pauses_after_refusals"),
    "claims dropped without cause": (CLAIMS_LESS_WITHOUT_CAUSE, "wire_claims_are_the_assignment"),
    "member id dropped without cause": (SOONER, "wire_member_id_is_kept"),
    "member id dropped after it was used again": (HEARTBEAT_AFTER_A_REFUSED_COMMIT, "wire_member_id_is_kept"),
}


@pytest.mark.parametrize("case", ALLOWED)
def test_what_a_client_may_do_is_no_violation(case: str, history: History) -> None:
    judged = judge(history(*ALLOWED[case]), WireClaims)
    assert [found.invariant for found in judged.counterexamples] == []


@pytest.mark.parametrize("case", NOT_ALLOWED)
def test_what_differs_from_it_a_little_is_one(case: str, history: History) -> None:
    events, claim = NOT_ALLOWED[case]
    judged = judge(history(*events), WireClaims)
    assert judged.verdict(claim).outcome is Outcome.VIOLATED
