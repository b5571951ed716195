"""One example of each event, for the page ``docs/events.md``; each section of that page is one tuple.

The examples belong to small runs: a consumer group `orders` of two members, a scenario of one client, a status store.
Those of Kafka Connect stand in `connect_event_examples`.
"""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary import events as e
from rebalance_check.report.connect_event_examples import CONFIGS, WORKERS
from rebalance_check.report.event_section import Section

_G: Final = "orders"
_IDS: Final = ("m0-5f", "m1-8c")


RUN: Final = Section(
    "The run",
    "The harness that starts and ends a run records these. A recorder of a production system needs two of them: "
    "`RunStarted` at the beginning and `RunEnded` at an orderly end, without which no claim about something that must "
    "happen can be judged.",
    (
        e.RunStarted(group=_G, source="harness", seq=0, subject="order-service"),
        e.TopicsDescribed(group=_G, source="harness", seq=1, partitions=("orders-0", "orders-1")),
        e.RunEnded(group=_G, source="harness", seq=3, time_ms=60_000),
        e.HealEnded(group=_G, source="harness", seq=1, time_ms=50_000, missing=("m1",)),
        e.RunSettled(group=_G, source="harness", seq=2, time_ms=55_000),
    ),
)

COORDINATOR: Final = Section(
    "The group at its coordinator",
    "The coordinator of the group records these when its state changes. `incarnation` counts how often the group was "
    "created or loaded, and `generation` is the group's generation then. What happens to whole nodes, the harness "
    "records that causes it.",
    (
        e.NodeChanged(group=_G, source="harness", seq=4, time_ms=20_000, node=1, change="killed"),
        e.CoordinatorElected(group=_G, source="harness", seq=5, time_ms=20_800, node=2, incarnation=1),
        e.IncarnationStarted(
            group=_G, source="coordinator", seq=0, time_ms=0, incarnation=0, generation=0, status="Empty", max_size=100
        ),
        e.IncarnationEnded(group=_G, source="coordinator", seq=30, time_ms=20_000, incarnation=0, generation=2),
        e.GroupStatusChanged(
            group=_G, source="coordinator", seq=3, time_ms=5, incarnation=0, generation=0,
            from_status="Empty", to_status="PreparingRebalance",
        ),
        e.MemberAdded(group=_G, source="coordinator", seq=2, time_ms=5, incarnation=0, generation=0, member_id=_IDS[0]),
        e.MemberRemoved(
            group=_G, source="coordinator", seq=25, time_ms=19_000, incarnation=0, generation=1, member_id=_IDS[1],
            reason="session expired",
        ),
        e.GenerationStarted(
            group=_G, source="coordinator", seq=6, time_ms=3005, incarnation=0, generation=1, members=_IDS,
            leader=_IDS[0], protocol="range",
        ),
        e.GroupMetadataWritten(
            group=_G, source="coordinator", seq=9, time_ms=3010, incarnation=0, generation=1, members=_IDS
        ),
        e.GroupMetadataAppended(
            group=_G, source="coordinator", seq=10, time_ms=3012, incarnation=0, generation=1, members=_IDS, offset=17,
            assignments=((_IDS[0], "orders-0"), (_IDS[1], "orders-1")),
        ),
        e.GroupDeleted(
            group=_G, source="coordinator", seq=40, time_ms=90_000, incarnation=1, generation=3, status="Empty"
        ),
        e.LogTailLost(group=_G, source="harness", seq=6, time_ms=20_500, records=2),
    ),
)  # fmt: skip

REPLIES: Final = Section(
    "Requests and replies at the coordinator",
    "A coordinator that serves requests records which of them it parks and what it replies. `request` numbers the "
    "requests that reach this coordinator, so that a reply names the request that it belongs to.",
    (
        e.RequestParked(
            group=_G, source="coordinator", seq=4, time_ms=5, incarnation=0, generation=0, api="JoinGroup", request=1,
            member_id=_IDS[0], protocols=("range",), rebalance_timeout_ms=300_000, session_timeout_ms=45_000,
            metadata="5f1d9c2a",
        ),
        e.JoinGroupReplied(
            group=_G, source="coordinator", seq=7, time_ms=3005, incarnation=0, generation=1, request=1, error="NONE",
            member_id=_IDS[0], reply_generation=1, assigned_member_id=_IDS[0], leader=_IDS[0], protocol="range",
            listed_members=_IDS, protocols=("range",),
        ),
        e.SyncGroupReplied(
            group=_G, source="coordinator", seq=11, time_ms=3012, incarnation=0, generation=1, request=3, error="NONE",
            member_id=_IDS[0], request_generation=1, assignment="orders-0",
        ),
        e.HeartbeatReplied(
            group=_G, source="coordinator", seq=13, time_ms=6012, incarnation=0, generation=1, request=5, error="NONE",
            member_id=_IDS[0], request_generation=1,
        ),
        e.LeaveGroupReplied(
            group=_G, source="coordinator", seq=33, time_ms=59_000, incarnation=1, generation=3, request=40,
            error="NONE", member_id=_IDS[0],
        ),
        e.OffsetCommitReplied(
            group=_G, source="coordinator", seq=14, time_ms=7000, incarnation=0, generation=1, request=6,
            error="ILLEGAL_GENERATION", member_id=_IDS[1], request_generation=0,
        ),
    ),
)  # fmt: skip

SCENARIO: Final = Section(
    "A scenario at a coordinator under test",
    "The runner of scenarios ([scenarios](scenarios.md)) records what any client and any administrator can see: "
    "requests, replies, and what DescribeGroups shows after each step.",
    (
        e.CoordinatorConfigured(group=_G, source="harness", seq=1, max_size=100, offsets_retention_ms=604_800_000),
        e.StepStarted(group=_G, source="harness", seq=2, step="advance 3000"),
        e.RequestIssued(
            group=_G, source="harness", seq=3, client="c0", api="JoinGroup", request=0, version=9,
            session_timeout_ms=45_000, rebalance_timeout_ms=300_000,
        ),
        e.ReplyReceived(
            group=_G, source="harness", seq=4, request=0, error="MEMBER_ID_REQUIRED", assigned_member_id="c0-1"
        ),
        e.GroupDescribed(group=_G, source="harness", seq=5, time_ms=3000, status="PreparingRebalance", generation=0),
    ),
)  # fmt: skip

REQUESTS: Final = Section(
    "Requests of a member",
    "A client that can see its own protocol records each request when it sends it and when it processes the reply. "
    "`request` numbers those of one member.",
    (
        e.RequestSent(
            group=_G, source="m0", seq=1, time_ms=4, member="m0", api="JoinGroup", request=0, metadata="5f1d9c2a",
            protocols=("range",),
        ),
        e.RequestAnswered(
            group=_G, source="m0", seq=2, time_ms=3006, member="m0", api="JoinGroup", request=0, error="NONE",
            generation=1, leader="m0", protocol="range", members=(("m0", ()), ("m1", ())),
        ),
        e.LookUpSent(group=_G, source="m0", seq=9, time_ms=20_700, member="m0", request=17),
        e.LookUpAnswered(group=_G, source="m0", seq=10, time_ms=20_704, member="m0", request=17, error="NONE", node=2),
    ),
)  # fmt: skip

MEMBERS: Final = Section(
    "Members",
    "A member process records what happens to it. Its source is the process, so a restarted process goes on counting "
    "where it stopped, or has another name.",
    (
        e.MemberStarted(
            group=_G, source="m0", seq=0, member="m0", protocol="eager", client="kafka-python", assignors=("range",)
        ),
        e.MemberCrashed(group=_G, source="m1", seq=6, time_ms=9000, member="m1"),
        e.MemberLeft(group=_G, source="m0", seq=12, time_ms=59_000, member="m0"),
        e.MemberPaused(group=_G, source="m0", seq=7, time_ms=8000, member="m0"),
        e.MemberResumed(group=_G, source="m0", seq=8, time_ms=8500, member="m0"),
        e.SubscriptionChanged(group=_G, source="m0", seq=9, time_ms=8600, member="m0", topics=("orders", "returns")),
        e.CoordinatorFound(group=_G, source="m0", seq=10, time_ms=20_900, member="m0", node=2),
        e.CoordinatorLost(group=_G, source="m0", seq=9, time_ms=20_100, member="m0"),
        e.MetadataReceived(
            group=_G, source="m0", seq=13, time_ms=21_000, member="m0", partitions=("orders-0", "orders-1")
        ),
        e.ConnectionBroken(group=_G, source="m0", seq=14, time_ms=21_500, member="m0"),
        e.ApplicationBusy(group=_G, source="m0", seq=15, time_ms=22_000, member="m0", polled_ms=21_800, busy_ms=30_000),
        e.RecordsDelivered(group=_G, source="m0", seq=16, time_ms=52_000, member="m0", partitions=("orders-0",)),
        e.ListenerCalled(
            group=_G, source="m0", seq=16, time_ms=52_500, member="m0", callback="onPartitionsRevoked",
            partitions=("orders-0",),
        ),
        e.RebalanceEnforced(group=_G, source="m0", seq=16, time_ms=53_000, member="m0"),
        e.CallbackStarted(
            group=_G, source="m0", seq=17, time_ms=53_001, member="m0", callback="onJoinPrepare", generation=1,
            member_id=_IDS[0], protocol="range",
        ),
        e.CallbackEnded(group=_G, source="m0", seq=18, time_ms=53_002, member="m0", callback="onJoinPrepare"),
        e.MemberClosing(group=_G, source="m0", seq=19, time_ms=58_000, member="m0"),
        e.MemberJoined(
            group=_G, source="m0", seq=3, time_ms=3006, member="m0", generation=1, member_id=_IDS[0], leader=True,
            protocol="range",
        ),
        e.AssignmentComputed(
            group=_G, source="m0", seq=4, time_ms=3008, member="m0", generation=1, member_id=_IDS[0],
            protocol="range",
            assignments=((_IDS[0], ("orders-0",)), (_IDS[1], ("orders-1",))),
        ),
        e.PartitionsAssigned(
            group=_G, source="m0", seq=5, time_ms=3013, member="m0", generation=1, member_id=_IDS[0],
            partitions=("orders-0",),
        ),
        e.PartitionsRevoked(
            group=_G, source="m0", seq=11, time_ms=58_000, member="m0", generation=1, member_id=_IDS[0],
            partitions=("orders-0",),
        ),
        e.PartitionsLost(
            group=_G, source="m1", seq=5, time_ms=8900, member="m1", generation=1, member_id=_IDS[1],
            partitions=("orders-1",),
        ),
        e.AssignmentCompleted(
            group=_G, source="m0", seq=6, time_ms=3013, member="m0", generation=1, member_id=_IDS[0],
            owned=("orders-0",),
        ),
        e.MembershipLost(
            group=_G, source="m1", seq=4, time_ms=8900, member="m1", generation=1, member_id=_IDS[1],
            reason="UNKNOWN_MEMBER_ID",
        ),
        e.OffsetCommitted(
            group=_G, source="m0", seq=7, time_ms=7001, member="m0", generation=1, member_id=_IDS[0],
            partition="orders-0", offset=42, error="NONE",
        ),
    ),
)  # fmt: skip

_STATUS: Final = "status-task-sink-0"

STATUS: Final = Section(
    "The status store",
    "A store of statuses that workers share through a log records each write on its way (`attempt` numbers the calls "
    "of one worker, `send` the sends of one attempt) and each read.",
    (
        e.StatusAttempted(
            group="connect", source="w0", seq=0, worker="w0", key=_STATUS, attempt=0, status="RUNNING", generation=1,
            safe=False, status_worker="w0",
        ),
        e.StatusSuppressed(group="connect", source="w0", seq=6, worker="w0", key=_STATUS, attempt=1),
        e.StatusSent(group="connect", source="w0", seq=1, worker="w0", key=_STATUS, attempt=0, send=1, value="RUNNING"),
        e.StatusAppended(
            group="connect", source="log", seq=0, worker="w0", key=_STATUS, attempt=0, send=1, partition=0, offset=7
        ),
        e.StatusAnswered(
            group="connect", source="w0", seq=2, worker="w0", key=_STATUS, attempt=0, send=1, outcome="ok"
        ),
        e.StatusGivenUp(group="connect", source="w0", seq=7, worker="w0", key=_STATUS, attempt=2, reason="superseded"),
        e.StatusRead(
            group="connect", source="w0", seq=3, worker="w0", key=_STATUS, partition=0, offset=7, status="RUNNING",
            status_worker="w0", generation=1,
        ),
        e.StatusIgnored(
            group="connect", source="w0", seq=4, worker="w0", key=_STATUS, partition=0, offset=8, reason="malformed"
        ),
        e.StatusQueried(
            group="connect", source="w0", seq=5, worker="w0", key=_STATUS, status="RUNNING", status_worker="w0",
            generation=1,
        ),
        e.StatusesListed(
            group="connect", source="w0", seq=6, worker="w0", kind="tasks", connector="sink", names=("sink-0", "sink-1")
        ),
        e.StatusStoreStarting(group="connect", source="w0", seq=11, worker="w0/2", ends=(8, 0)),
        e.StatusStoreStarted(group="connect", source="w0", seq=12, worker="w0/2"),
        e.StatusFlushStarted(group="connect", source="w0", seq=8, worker="w0"),
        e.StatusFlushed(group="connect", source="w0", seq=9, worker="w0"),
        e.StatusStoreStopped(group="connect", source="w0", seq=10, worker="w0"),
    ),
)  # fmt: skip

WIRE: Final = Section(
    "The wire",
    "A recorder between clients and brokers observes connections, requests and replies; the harness records what it "
    "did to the clients' processes. Nothing here comes from inside a client.",
    (
        e.ProcessStarted(group=_G, source="harness", seq=6, process="p0"),
        e.ProcessSignalled(group=_G, source="harness", seq=7, time_ms=4_000, process="p0", signal="terminate"),
        e.ProcessEnded(group=_G, source="harness", seq=8, time_ms=4_200, process="p0", exit_status=0),
        e.CoordinatorMoved(group=_G, source="wire", seq=9, time_ms=3_000, node=2),
        e.ConnectionOpened(group=_G, source="wire", seq=0, process="p0", connection=1, node=1),
        e.ConnectionClosed(
            group=_G, source="wire", seq=10, time_ms=4_100, process="p0", connection=1, closed_by="client"
        ),
        e.RequestObserved(
            group=_G, source="wire", seq=1, time_ms=10, process="p0", connection=1, request=1, api="JoinGroup",
            version=9, client_id="orders-0", member_id=_IDS[0], session_timeout_ms=10_000, rebalance_timeout_ms=60_000,
            protocol_type="consumer", protocols=("range",), topics=("orders",), subscription_version=3,
        ),
        e.ReplyObserved(
            group=_G, source="wire", seq=2, time_ms=12, process="p0", connection=1, request=1, api="JoinGroup",
            reply_generation=1, assigned_member_id=_IDS[0], leader=_IDS[0], protocol="range", members=((_IDS[0], ""),),
        ),
    ),
)  # fmt: skip

SECTIONS: Final = (RUN, COORDINATOR, REPLIES, SCENARIO, REQUESTS, MEMBERS, WORKERS, CONFIGS, STATUS, WIRE)
"""The sections of the page, in its order."""
