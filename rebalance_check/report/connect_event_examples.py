"""One example of each event of Kafka Connect, for the page ``docs/events.md``: a group `connect` of two workers."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.vocabulary import events as e
from rebalance_check.report.event_section import Section

_G: Final = "connect"
_W0, _W1 = "w0-5f", "w1-8c"
_URL: Final = "http://w0:8083/"

WORKERS: Final = Section(
    "Workers",
    "A worker of Kafka Connect owns connectors and tasks instead of partitions; the claims about owners read both. "
    "Work is named as logs name it: `sink` is a connector and `sink-0` its first task. A recorder that sees only what "
    "starts and stops needs the first four events; the others say what a worker claims, receives and does, step by "
    "step.",
    (
        e.ConnectorStarted(group=_G, source="w0", seq=8, time_ms=3100, member="w0", generation=1, connector="sink"),
        e.ConnectorStopped(group=_G, source="w0", seq=20, time_ms=9010, member="w0", generation=1, connector="sink"),
        e.TaskStarted(
            group=_G, source="w0", seq=9, time_ms=3110, member="w0", generation=1, task="sink-0", config="c4",
            connector_config="a1",
        ),
        e.TaskStopped(group=_G, source="w0", seq=21, time_ms=9020, member="w0", generation=1, task="sink-0"),
        e.WorkerConfigured(group=_G, source="w0", seq=0, member="w0", mode="sessioned", url=_URL, store="w0"),
        e.WorkerClaimed(
            group=_G, source="w0", seq=2, time_ms=4, member="w0", generation=-1, url=_URL, config_offset=12,
            claim=None, protocols=("sessioned", "compatible", "default"),
        ),
        e.ConnectAssignmentComputed(
            group=_G, source="w0", seq=4, time_ms=3010, member="w0", generation=1, member_id=_W0,
            protocol="sessioned", leader=_W0, leader_url=_URL, config_offset=12, configured=("sink", "sink-0"),
            offsets=((_W0, 12), (_W1, 12)), claims=((_W0, ()), (_W1, ())),
            assigned=((_W0, ("sink",)), (_W1, ("sink-0",))), owners=(("sink", _W0), ("sink-0", _W1)),
        ),
        e.ConnectAssignmentReceived(
            group=_G, source="w0", seq=6, time_ms=3050, member="w0", generation=1, member_id=_W0,
            protocol="sessioned", version=2, leader=_W0, leader_url=_URL, config_offset=12, assigned=("sink",),
        ),
        e.RejoinRequested(group=_G, source="w0", seq=15, time_ms=8900, member="w0", reason="connectors changed"),
        e.CoordinatorAwaited(group=_G, source="w0", seq=15, time_ms=8000, member="w0"),
        e.WorkRevocationStarted(
            group=_G, source="w0", seq=19, time_ms=9000, member="w0", generation=1, member_id=_W0, work=("sink",),
            reason="revoked",
        ),
        e.WorkRevocationEnded(
            group=_G, source="w0", seq=23, time_ms=14_000, member="w0", generation=1, member_id=_W0, work=("sink",)
        ),
        e.WorkCancelled(
            group=_G, source="w0", seq=22, time_ms=14_000, member="w0", generation=1, member_id=_W0, work="sink"
        ),
        e.CancelledWorkEnded(
            group=_G, source="w0", seq=30, time_ms=20_000, member="w0", generation=2, member_id=_W0, work="sink"
        ),
        e.AssignmentAccepted(
            group=_G, source="w0", seq=7, time_ms=3090, member="w0", generation=1, member_id=_W0, config_offset=12,
            work=("sink",),
        ),
        e.WorkStateChanged(
            group=_G, source="w0", seq=12, time_ms=5000, member="w0", generation=1, member_id=_W0, work="sink",
            state="PAUSED",
        ),
        e.PluginDrawn(
            group=_G, source="w0", seq=29, time_ms=5000, member="w0", work="sink", start_ms=12, stop_ms=30,
            fails_after_ms=9_000,
        ),
        e.PluginFailed(group=_G, source="operator", seq=2, time_ms=5500, member="w0", work="sink"),
        e.WorkerStopRequested(group=_G, source="w0", seq=30, time_ms=60_000, member="w0"),
        e.ConfigReadStarted(group=_G, source="w0", seq=31, time_ms=60_001, member="w0", isolation="read_committed"),
        e.ConfigCallStarted(group=_G, source="w0", seq=37, time_ms=60_001, member="w0", call=4, method="putSessionKey"),
        e.ConfigCallEnded(
            group=_G, source="w0", seq=38, time_ms=60_002, member="w0", call=4, method="putSessionKey",
            error="PrivilegedWriteException",
        ),
        e.ConfigTransactionEnded(
            group=_G, source="config topic", seq=5, time_ms=60_002, transactional_id="connect-cluster-connect", epoch=1,
            offset=9, outcome="committed",
        ),
        e.TopicUsed(
            group=_G, source="w0", seq=28, time_ms=5000, member="w0", generation=1, member_id=_W0, task="sink-0",
            topic="orders",
        ),
        e.TopicsReset(group=_G, source="w0", seq=29, time_ms=6000, member="w0", connector="sink"),
        e.OwnerLookedUp(
            group=_G, source="w0", seq=13, time_ms=6000, member="w0", generation=1, member_id=_W0, work="sink-0",
            url="http://w1:8083/",
        ),
        e.HerderAsked(
            group=_G, source="operator", seq=0, time_ms=4900, member="w0", request=0, operation="pause", work="sink"
        ),
        e.HerderAnswered(group=_G, source="operator", seq=1, time_ms=4950, member="w0", request=0, answer=204),
        e.HerderRequestQueued(
            group=_G, source="w0", seq=32, time_ms=4900, member="w0", number=2, operation="pause", work="sink"
        ),
        e.HerderRequestStarted(group=_G, source="w0", seq=33, time_ms=4901, member="w0", number=2),
        e.HerderRequestEnded(group=_G, source="w0", seq=34, time_ms=4950, member="w0", number=2),
        e.LeaderAsked(
            group=_G, source="w0", seq=35, time_ms=3200, member="w0", request=0, operation="write task configs",
            connector="sink", url="http://w1:8083/",
        ),
        e.LeaderAnswered(group=_G, source="w0", seq=36, time_ms=3250, member="w0", request=0, answer=204),
        e.TargetStateChanged(
            group=_G, source="w0", seq=11, time_ms=5000, member="w0", connector="sink", state="PAUSED"
        ),
        e.RestartRequested(
            group=_G, source="w0", seq=24, time_ms=15_000, member="w0", connector="sink", include_tasks=True
        ),
        e.RestartPlanned(
            group=_G, source="w0", seq=25, time_ms=15_001, member="w0", generation=1, connector="sink",
            work=("sink-0",),
        ),
        e.TaskConfigsApplied(
            group=_G, source="w0", seq=26, time_ms=16_000, member="w0", generation=1, connector="sink",
            tasks=("sink-0",),
        ),
        e.TaskConfigsGenerated(
            group=_G, source="w0", seq=10, time_ms=3200, member="w0", generation=1, connector="sink",
            connector_config="a1", tasks=(("sink-0", "c4"),), published=True, config_offset=3,
        ),
        e.SessionKeyWritten(group=_G, source="w0", seq=14, time_ms=7000, member="w0", generation=1, created_ms=7000),
        e.InternalRequestChecked(
            group=_G, source="w0", seq=30, time_ms=7100, member="w0", mode="sessioned", algorithm="HmacSHA256",
            key="9f86d081", known_key="60303ae2", refusal=403, request=4, operation="fence", connector="sink",
        ),
        e.InternalRequestAnswered(group=_G, source="w0", seq=37, time_ms=7100, member="w0", request=4, answer=403),
        e.ZombieFencingEnded(
            group=_G, source="w0", seq=27, time_ms=16_500, member="w0", generation=1, connector="source",
            transactional_ids=("connect-source-0",),
        ),
    ),
)  # fmt: skip

CONFIGS: Final = Section(
    "The config topic of Connect",
    "Workers share configurations through a compacted topic. The log records what is appended and compacted, a worker "
    "what it reads and which snapshot it takes; transactional producers record their epochs.",
    (
        e.ConfigAppended(
            group=_G, source="log", seq=0, time_ms=1, writer="w0", offset=11, key="connector-sink",
            value='{"properties":{}}',
        ),
        e.ConfigCompacted(group=_G, source="log", seq=1, time_ms=60_000, removed=(3, 4)),
        e.ConfigRead(
            group=_G, source="w0", seq=1, time_ms=2, member="w0", offset=11, key="connector-sink",
            value='{"properties":{}}',
        ),
        e.ConfigStoreStarted(group=_G, source="w0", seq=2, time_ms=2, member="w0", offset=12),
        e.ConfigReadEnded(group=_G, source="w0", seq=3, time_ms=3, member="w0", offset=12),
        e.ConfigSnapshotTaken(
            group=_G, source="w0", seq=5, time_ms=3, member="w0", offset=12, connectors=(("sink", "a1"),),
            target_states=(("sink", "STARTED"),), task_counts=(("sink", 1),), tasks=("sink-0",),
            task_configs=(("sink-0", "c4"),), generations=(("sink", 0),), applied=(("sink", "a1"),),
        ),
        e.ConfigCallbackCalled(
            group=_G, source="w0", seq=16, time_ms=8900, member="w0", callback="onTaskConfigUpdate",
            connector="sink", tasks=("sink-0",),
        ),
        e.ProducerInitialised(
            group=_G, source="w0", seq=17, time_ms=8950, member="w0", transactional_id="connect-source-0", epoch=3,
            work="source-0",
        ),
        e.ProducerFenced(
            group=_G, source="brokers", seq=0, time_ms=16_400, transactional_id="connect-source-0", epoch=3
        ),
    ),
)  # fmt: skip
