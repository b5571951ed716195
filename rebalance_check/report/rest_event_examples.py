"""One example of each event about a group at rest, for the page ``docs/events.md``."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary import events as e
from rebalance_check.report.event_section import Section

_G: Final = "orders"
_ID: Final = "m0-5f"

REST: Final = Section(
    "A group at rest",
    "An observer records these while a group is settled, and once more some seconds later: each process says what it "
    "holds, then the group is described, then the coordinator says what it keeps. The simulator sees all of it, and "
    "reads all fields of a new group, too.",
    (
        e.MemberRested(
            group=_G, source="m0", seq=20, time_ms=60_000, member="m0", generation=2, member_id=_ID, state="STABLE",
            protocol="range", offers=("range",), session_timeout_ms=45_000, rebalance_timeout_ms=300_000,
            topics=("orders",), joined_topics=("orders",), known=("orders-0", "orders-1"),
            owned=("orders-0", "orders-1"), positions=(("orders-0", 600), ("orders-1", 590)),
            reads=True, commit_interval_ms=5_000, in_flight=(("Heartbeat", 1),),
        ),
        e.GroupRested(
            group=_G, source="harness", seq=7, time_ms=60_000, status="Stable", protocol_type="consumer",
            protocol="range", instances=((_ID, ""),), topics=((_ID, ("orders",)),),
            assignments=((_ID, ("orders-0", "orders-1")),),
        ),
        e.CoordinatorRested(
            group=_G, source="coordinator", seq=41, time_ms=60_000, incarnation=0, generation=2, leader=_ID,
            offers=((_ID, ("range",)),), timeouts=((_ID, 45_000, 300_000),), supported=(("range", 1),),
            subscribed=("orders",), timers=(("session", _ID, 43_000),),
            committed=(("orders-0", 580), ("orders-1", 570)),
        ),
        e.RestingStateRead(
            group=_G, source="harness", seq=8, time_ms=60_000, subject="m0", role="leader",
            state=(("assigned_from", "orders: 2"), ("pending_revocation", "nothing")),
        ),
    ),
)  # fmt: skip
