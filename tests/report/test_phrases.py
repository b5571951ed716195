"""Events in a few words: what passed on the wire is named by the process and the api, not by the first fields."""

from __future__ import annotations

import pytest

from rebalance_check import events
from rebalance_check.model.vocabulary.events import Event
from rebalance_check.report.phrases import phrase

REQUEST = events.RequestObserved(connection=3, process="p1", request=7, api="Heartbeat", version=4, client_id="c")
REPLY = events.ReplyObserved(connection=3, process="p1", request=7, api="JoinGroup", reply_generation=2)


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (REQUEST, "RequestObserved p1 Heartbeat"),
        (REPLY, "ReplyObserved p1 JoinGroup NONE g2"),
        (events.ReplyObserved(connection=3, request=7, api="Heartbeat", error="NOT_COORDINATOR", fault="error"),
         "ReplyObserved Heartbeat NOT_COORDINATOR (error)"),
        (events.MemberJoined(member="m0", generation=2, leader=True), "MemberJoined m0 g2 leader"),
        (events.ProcessSignalled(process="p0", signal="pause"), "ProcessSignalled p0 pause"),
    ],
)  # fmt: skip
def test_a_phrase__says_who_did_what(event: Event, words: str) -> None:
    assert phrase(event) == words


def test_a_phrase__is_short() -> None:
    long = phrase(events.PartitionsAssigned(member="m0", generation=1, partitions=("topic-0",) * 40))
    assert len(long) <= 88
    assert long.endswith("...")


COMPUTED = events.AssignmentComputed(
    member="m0", generation=2, protocol="range", owned_partitions=(("m1-2", ("t-2", "t-1")), ("m2-3", ())),
    assignments=(("m1-2", ("t-1",)), ("m2-3", ("t-2",))),
)  # fmt: skip


def test_a_phrase__names_its_fields() -> None:
    started = events.MemberStarted(member="m0", session_timeout_ms=10_000, rebalance_timeout_ms=9)
    assert phrase(started) == "MemberStarted m0 rebalance_timeout_ms=9 session_timeout_ms=10000"


def test_a_phrase__begins_with_what_is_needed__and_shows_of_a_table_what_is_asked_for() -> None:
    assert phrase(COMPUTED, {"t-2"}).startswith(
        "AssignmentComputed m0 g2 owned_partitions=m1-2(t-2,t-1) assignments=m2-3(t-2) "
    )


def test_a_phrase__leaves_out_what_is_not_needed() -> None:
    assert phrase(COMPUTED, {"range"}, only=True) == "AssignmentComputed m0 g2 protocol=range"
