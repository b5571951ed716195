"""The goal that a scenario waits for is read from the events of the wire alone."""

from __future__ import annotations

from itertools import count
from typing import Any

from rebalance_check.integration.kits.client.lacking import lacking
from rebalance_check.integration.kits.client.placeholders import ClientCommand
from rebalance_check.integration.kits.client.view import GroupView, Spoken
from rebalance_check.model.vocabulary.wire_events import (
    ConnectionOpened,
    ProcessEnded,
    ProcessStarted,
    ReplyObserved,
    RequestObserved,
)


class Wire:
    """Lets a view observe requests with their replies."""

    def __init__(self) -> None:
        self.view = GroupView()
        self._numbers = count(1)

    def asks(self, process: str, api: str, **fields: Any) -> int:
        number = next(self._numbers)
        fields = {"version": 9, **fields}
        self.view.observe(RequestObserved(connection=1, process=process, request=number, api=api, **fields))
        return number

    def is_answered(self, process: str, number: int, api: str, **fields: Any) -> None:
        self.view.observe(ReplyObserved(connection=1, process=process, request=number, api=api, **fields))

    def passes(self, process: str, api: str, request: dict[str, Any] | None = None, **reply: Any) -> None:
        self.is_answered(process, self.asks(process, api, **(request or {})), api, **reply)

    def joins(self, process: str, generation: int, **reply: Any) -> None:
        found = {"reply_generation": generation, "assigned_member_id": f"{process}-id", "leader": "p0-id", **reply}
        self.passes(process, "JoinGroup", {"session_timeout_ms": 3000, "subscription_version": 3}, **found)

    def syncs(self, process: str, generation: int, *assignment: str) -> None:
        self.passes(process, "SyncGroup", {"request_generation": generation}, assignment=assignment)

    def beats(self, process: str, generation: int, **reply: Any) -> None:
        self.passes(process, "Heartbeat", {"request_generation": generation}, **reply)


def settled() -> Wire:
    wire = Wire()
    for process in ("p0", "p1"):
        wire.view.observe(ConnectionOpened(connection=1, process=process, node=1))
        wire.joins(process, 4)
        wire.syncs(process, 4, f"t-{process[1]}")
        wire.beats(process, 4)
    return wire


def test_a_group_is_settled_when_each_member_beats_in_the_newest_generation() -> None:
    wire = settled()
    assert wire.view.is_settled(("p0", "p1"))
    assert wire.view.generation == 4
    assert wire.view.session_timeout_ms == 3000
    assert wire.view.assigned() == {"t-0", "t-1"}
    assert wire.view.leader(("p0", "p1")) == "p0"
    assert wire.view.spoken == Spoken(9, 3)


def test_a_member_that_joins_anew_unsettles_its_group() -> None:
    wire = settled()
    number = wire.asks("p1", "JoinGroup", member_id="p1-id")
    assert wire.view.of("p1").is_parked
    assert not wire.view.is_settled(("p0", "p1"))
    assert "p1 waits for the reply to its JoinGroup" in wire.view.described()
    wire.is_answered("p1", number, "JoinGroup", reply_generation=5)
    assert not wire.view.of("p1").is_parked
    assert not wire.view.is_settled(("p0",)), "p0 is in generation 4"


def test_an_error_that_the_client_never_saw_is_none() -> None:
    wire = settled()
    wire.beats("p0", 4, error="UNKNOWN_MEMBER_ID", fault="drop-reply")
    assert wire.view.of("p0").errors == set()


def test_a_process_that_is_started_again_begins_anew() -> None:
    wire = settled()
    wire.view.observe(ProcessEnded(process="p1", exit_status=0))
    assert wire.view.of("p1").ended
    wire.view.observe(ProcessStarted(process="p1", run=2))
    assert not wire.view.is_settled(("p1",))
    assert "p1 has not connected" in wire.view.described()
    wire.view.observe(ConnectionOpened(connection=7, process="p1", node=1))
    wire.asks("p1", "Metadata")
    assert "p1 never joined; it sent Metadata 1x" in wire.view.described()


def test_what_a_client_is_too_old_for_is_said() -> None:
    command = ClientCommand(("env", "{bootstrap}", "{group}", "{topic}"))
    assert lacking(Spoken(2, 0), command) == {
        "KIP-345": "the client's JoinGroup is v2 at most, and this needs v5",
        "KIP-394": "the client's JoinGroup is v2 at most, and this needs v4",
        "KIP-429": "the client's subscription is v0 at most, and this needs v1",
        "KIP-792": "the client's subscription is v0 at most, and this needs v2",
        "KIP-814": "the client's JoinGroup is v2 at most, and this needs v9",
    }
    assert lacking(Spoken(9, 3), command) == {"KIP-345": "the command has no {instance}, so no member is static"}
    assert lacking(Spoken(9, 3), ClientCommand((*command.words, "{instance}"))) == {}
