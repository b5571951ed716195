"""A small history in which a claim breaks, for tests of what is shown of histories."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from rebalance_check import events
from rebalance_check.model.vocabulary.events import Event


def history_with_two_owners() -> list[Event]:
    """Two members of a cooperative group; the leader m0 gives t-1 away at once instead of withholding it."""
    seen: dict[str, int] = {}

    def stamp(source: str, event: Event) -> Event:
        seen[source] = seen.get(source, -1) + 1
        return replace(event, group="g", source=source, seq=seen[source], time_ms=sum(seen.values()))

    def status(before: str, after: str, generation: int) -> Event:
        return stamp(
            "coordinator",
            events.GroupStatusChanged(incarnation=1, generation=generation, from_status=before, to_status=after),
        )

    prep, comp = "PreparingRebalance", "CompletingRebalance"
    one: dict[str, Any] = {"generation": 1, "incarnation": 1, "member_id": "a"}
    two: dict[str, Any] = {"generation": 2, "incarnation": 1}
    shares = (("a", ("t-0", "t-1")), ("b", ()))
    given = (("a", ("t-0",)), ("b", ("t-1",)))
    return [
        stamp("harness", events.RunStarted(subject="by hand", seed=7, bounds="two members")),
        stamp("m0", events.MemberStarted(member="m0", protocol="cooperative")),
        stamp("m1", events.MemberStarted(member="m1", protocol="cooperative")),
        stamp("coordinator", events.IncarnationStarted(incarnation=1, generation=0)),
        status("Empty", prep, 0),
        status(prep, comp, 1),
        stamp("m0", events.MemberJoined(member="m0", leader=True, **one)),
        status(comp, "Stable", 1),
        stamp("m0", events.PartitionsAssigned(member="m0", partitions=("t-0", "t-1"), **one)),
        stamp("m0", events.RequestSent(member="m0", api="Heartbeat", request=3, generation=1)),
        status("Stable", prep, 1),
        stamp("m0", events.RequestAnswered(member="m0", api="Heartbeat", request=3, error="REBALANCE_IN_PROGRESS")),
        status(prep, comp, 2),
        stamp(
            "m0", events.MemberJoined(member="m0", member_id="a", leader=True, owned_partitions=("t-0", "t-1"), **two)
        ),
        stamp("m1", events.MemberJoined(member="m1", member_id="b", **two)),
        stamp(
            "m0",
            events.AssignmentComputed(member="m0", member_id="a", owned_partitions=shares, assignments=given, **two),
        ),
        status(comp, "Stable", 2),
        stamp("m1", events.PartitionsAssigned(member="m1", member_id="b", partitions=("t-1",), **two)),
        stamp("harness", events.RunEnded()),
    ]
