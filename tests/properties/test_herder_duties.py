"""What herders do of themselves: apply what they read, verify tasks, read on, ask for rounds, and answer others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pytest

from rebalance_check.model.vocabulary.events import (
    AssignmentAccepted,
    ConfigCallbackCalled,
    ConfigCallEnded,
    ConfigCallStarted,
    ConfigReadEnded,
    ConfigSnapshotTaken,
    ConnectAssignmentReceived,
    Event,
    HerderRequestEnded,
    HerderRequestQueued,
    HerderRequestStarted,
    InternalRequestAnswered,
    InternalRequestChecked,
    LeaderAnswered,
    LeaderAsked,
    MemberCrashed,
    MemberJoined,
    MembershipLost,
    MemberStarted,
    PluginDrawn,
    ProducerInitialised,
    RejoinRequested,
    RequestSent,
    RestartPlanned,
    RunEnded,
    RunStarted,
    TargetStateChanged,
    TaskConfigsGenerated,
    TaskStarted,
    WorkerClaimed,
    WorkerConfigured,
    WorkRevocationStarted,
    WorkStateChanged,
    ZombieFencingEnded,
)
from rebalance_check.properties.catalogue import select
from rebalance_check.properties.judge import judge
from rebalance_check.properties.verdict import Outcome

History = Callable[..., list[Event]]
RUN: Final = RunStarted(subject="simulator", punctual=True)
END: Final = RunEnded(time_ms=900)
OF_W0: Final[dict[str, Any]] = {"member": "w0"}
IN_A_ROUND: Final[dict[str, Any]] = {"member": "w0", "generation": 1, "member_id": "a"}


def start(*, exactly_once: bool = False) -> tuple[Event, ...]:
    configured = WorkerConfigured(
        **OF_W0, mode="sessioned", exactly_once=exactly_once, scheduled_rebalance_max_delay_ms=3_000
    )
    return (RUN, MemberStarted(**OF_W0), configured)


def received(revoked: tuple[str, ...] = (), *, leader: str = "b", **fields: Any) -> Event:
    given: dict[str, Any] = {"protocol": "sessioned", "leader": leader, "leader_url": "u", "config_offset": 3, **fields}
    return ConnectAssignmentReceived(**IN_A_ROUND, revoked=revoked, **given)


def accepted(*work: str) -> Event:
    return AssignmentAccepted(**IN_A_ROUND, config_offset=3, work=work)


def joined() -> Event:
    return MemberJoined(**IN_A_ROUND, leader=False, protocol="sessioned")


def called(callback: str, at_ms: int = 0) -> Event:
    return ConfigCallbackCalled(**OF_W0, callback=callback, connector="c", time_ms=at_ms)


def snapshot(state: str = "STARTED", generation: int = 0, pending: tuple[str, ...] = ()) -> Event:
    return ConfigSnapshotTaken(
        **OF_W0,
        offset=3,
        connectors=(("c", "x"),),
        target_states=(("c", state),),
        generations=(("c", generation),),
        pending_fencing=pending,
    )


def queued(number: int, operation: str, work: str) -> Event:
    return HerderRequestQueued(**OF_W0, number=number, operation=operation, work=work)


def started(number: int) -> Event:
    return HerderRequestStarted(**OF_W0, number=number)


def ended(number: int, *, refused: bool = False) -> Event:
    return HerderRequestEnded(**OF_W0, number=number, refused=refused)


def rejoins(reason: str, at_ms: int = 0) -> Event:
    return RejoinRequested(**OF_W0, reason=reason, time_ms=at_ms)


def changed(state: str, work: str = "c") -> Event:
    return WorkStateChanged(**IN_A_ROUND, work=work, state=state)


def read(error: str = "", at_ms: int = 0) -> Event:
    return ConfigCallEnded(**OF_W0, call=1, method="refresh", error=error, time_ms=at_ms)


def reads(at_ms: int) -> Event:
    return ConfigCallStarted(**OF_W0, call=2, method="refresh", time_ms=at_ms)


def revocation(reason: str) -> Event:
    return WorkRevocationStarted(**IN_A_ROUND, work=("c",), reason=reason)


def checked(operation: str = "write task configs", refusal: int = 0) -> Event:
    return InternalRequestChecked(**OF_W0, mode="sessioned", request=0, operation=operation, connector="c",
                                  refusal=refusal)  # fmt: skip


def answers(status: int) -> Event:
    return InternalRequestAnswered(**OF_W0, request=0, answer=status)


CLAIMED: Final = WorkerClaimed(**IN_A_ROUND, url="u", config_offset=3, claim=())
RECONFIGURED: Final = rejoins("connectors or tasks were reconfigured")
TARGET: Final = "onConnectorTargetStateChange"
COMMIT: Final = "onTaskConfigUpdate"
TIMED_OUT: Final = "TimeoutException"
SETTLED: Final = (*start(), received(), accepted())
DRAWN: Final = PluginDrawn(**OF_W0, work="c-0")
PRODUCER: Final = ProducerInitialised(**OF_W0, transactional_id="connect-c-0", epoch=0, work="c-0")
RUNS: Final = TaskStarted(**IN_A_ROUND, task="c-0")
FAILS: Final = changed("FAILED", "c-0")
READ: Final = ConfigReadEnded(**OF_W0, offset=3, outcome="ok")
UNREAD: Final = ConfigReadEnded(**OF_W0, offset=3, outcome="timeout")
TO_START: Final = (*start(exactly_once=True), received(assigned=("c-0",)), snapshot(), accepted("c-0"), DRAWN)
ASKS: Final = LeaderAsked(**OF_W0, request=0, operation="fence", connector="c", url="u")
GRANTED: Final = (*TO_START, ASKS, LeaderAnswered(**OF_W0, request=0, answer=204))
FENCES: Final = (*TO_START, queued(0, "fence", "c"), started(0), READ)
FENCED: Final = ZombieFencingEnded(**IN_A_ROUND, connector="c")
VERIFIES: Final = (*GRANTED, PRODUCER, queued(1, "verify task", "c-0"), started(1))
FIVE: Final = tuple(event for number in range(5) for event in (read(TIMED_OUT, number * 2_000),))
DRAWN_C: Final = PluginDrawn(**OF_W0, work="c")
OWNS: Final = (*start(), received(assigned=("c",)), snapshot(), accepted("c"), DRAWN_C)
PAUSED: Final = (*start(), received(), snapshot("PAUSED"), accepted("c"), DRAWN_C)
STOPPED: Final = (*start(), received(), snapshot("STOPPED"), accepted("c"), DRAWN_C)
HYPHENATED: Final = (
    *start(),
    received(),
    ConfigSnapshotTaken(**OF_W0, offset=3, connectors=(("a-b", "x"),), target_states=(("a-b", "PAUSED"),)),
    accepted("a-b"),
    PluginDrawn(**OF_W0, work="a-b"),
)
RESUMED: Final = TargetStateChanged(**OF_W0, connector="c", state="STARTED")
ASKED: Final = TaskConfigsGenerated(**IN_A_ROUND, connector="c", connector_config="x", tasks=(), published=False)
LEADS: Final = (*start(), joined(), received(leader="a"), snapshot(), accepted())
FOLLOWS: Final = (*start(), joined(), received(), snapshot(), accepted())
UNREADABLE: Final = rejoins("the config topic could not be read", 60)
LOST: Final = MembershipLost(**IN_A_ROUND, reason="taking too long to read the log")
WRITTEN: Final = ConfigCallEnded(**OF_W0, call=1, method="putTaskConfigs")

HELD: Final[dict[str, tuple[str, tuple[Event, ...]]]] = {
    "a target state is applied": (
        "read_changes_are_applied",
        (*SETTLED, called(TARGET), TargetStateChanged(**OF_W0, connector="c", state="PAUSED"), END),
    ),
    "configs are looked at": ("read_changes_are_applied", (*SETTLED, called(COMMIT), snapshot(), END)),
    "a restart is planned": (
        "read_changes_are_applied",
        (*SETTLED, called("onRestartRequest"), RestartPlanned(**IN_A_ROUND, connector="c", work=()), END),
    ),
    "the target of an unknown connector": (
        "read_changes_are_applied", (*SETTLED, called(TARGET), ConfigSnapshotTaken(**OF_W0, offset=4), END)
    ),
    "fenced by the leader, and verified": ("verified_tasks_start", (*VERIFIES, READ, RUNS)),
    "fenced by itself": ("verified_tasks_start", (*FENCES, FENCED, PRODUCER)),
    "nothing to fence": ("verified_tasks_start", (*FENCES, snapshot(), PRODUCER)),
    "not fenced": ("verified_tasks_start", (*TO_START, ASKS, LeaderAnswered(**OF_W0, request=0, answer=409), FAILS)),
    "outdated": ("verified_tasks_start", (*VERIFIES, called(COMMIT), READ, snapshot(generation=1), FAILS)),
    "not read": ("verified_tasks_start", (*VERIFIES, UNREAD, FAILS)),
    "it stops before": (
        "verified_tasks_start", (*GRANTED, PRODUCER, queued(1, "verify task", "c-0"), ended(1, refused=True), FAILS)
    ),
    "read in time": ("unread_configs_are_read_first", (*SETTLED, read(TIMED_OUT), reads(60), read(), CLAIMED)),
    "given up at last": (
        "unread_configs_are_read_first", (*SETTLED, *FIVE, read(TIMED_OUT, 10_000), revocation("back-off"))
    ),
    "read at once when given up": (
        "unread_configs_are_read_first",
        (*SETTLED, *FIVE, read(TIMED_OUT, 10_000), revocation("back-off"), reads(10_000)),
    ),
    "a read of a request": (
        "unread_configs_are_read_first",
        (*SETTLED, queued(0, "verify task", "c-0"), started(0), read(TIMED_OUT), ended(0), CLAIMED),
    ),
    "it leaves": (
        "unread_configs_are_read_first",
        (*FOLLOWS, read(TIMED_OUT), LOST, UNREADABLE, reads(60), read(), CLAIMED),
    ),
    "it had lost its membership": (
        "unread_configs_are_read_first", (*FOLLOWS, LOST, read(TIMED_OUT), reads(60), read(), CLAIMED)
    ),
    "a round for what was revoked": (
        "rounds_have_a_reason", (*start(), received(("c",)), accepted(), rejoins("work was revoked"), CLAIMED)
    ),
    "a delay is over": (
        "rounds_have_a_reason", (*start(), received(delay_ms=5), rejoins("the scheduled rebalance is due", 5))
    ),
    "a round for a commit": (
        "rounds_have_a_reason", (*SETTLED, called(COMMIT), RECONFIGURED)
    ),
    "an eager worker stops all": (
        "rounds_have_a_reason",
        (*start(), received(protocol="default"), accepted(), called(COMMIT), RECONFIGURED, revocation("eager join")),
    ),
    "it waits, and is resumed": ("only_started_work_runs", (*PAUSED, changed("PAUSED"), RESUMED, changed("RUNNING"))),
    "a running connector is asked": (
        "only_started_work_runs", (*start(), received(), snapshot(), accepted("c"), DRAWN_C, changed("RUNNING"), ASKED)
    ),
    "a connector is started anew": (
        "read_changes_are_applied", (*OWNS, called("onConnectorConfigUpdate"), snapshot(), DRAWN_C, END)
    ),
    "the leader writes": ("workers_get_true_answers", (*LEADS, checked(), WRITTEN, answers(204))),
    "a follower does not": ("workers_get_true_answers", (*FOLLOWS, checked(), answers(409))),
}  # fmt: skip

VIOLATED: Final[dict[str, tuple[str, tuple[Event, ...]]]] = {
    "a target state waits": ("read_changes_are_applied", (*SETTLED, called(TARGET), END)),
    "a target state waits though configs are looked at": (
        "read_changes_are_applied", (*SETTLED, called(TARGET), snapshot(), RunEnded(time_ms=30_000))
    ),
    "a connector is not started anew": (
        "read_changes_are_applied", (*OWNS, called("onConnectorConfigUpdate"), snapshot(), RunEnded(time_ms=30_000))
    ),
    "a commit waits": ("read_changes_are_applied", (*SETTLED, called(COMMIT), END)),
    "a restart waits": ("read_changes_are_applied", (*SETTLED, called("onRestartRequest"), END)),
    "a producer without fencing": ("verified_tasks_start", (*TO_START, PRODUCER)),
    "a producer though it is refused": (
        "verified_tasks_start", (*TO_START, ASKS, LeaderAnswered(**OF_W0, request=0, answer=409), PRODUCER)
    ),
    "a producer before the end of a fencing": ("verified_tasks_start", (*FENCES, snapshot(pending=("c",)), PRODUCER)),
    "a start without a producer": ("verified_tasks_start", (*TO_START, RUNS)),
    "a start that is not verified": ("verified_tasks_start", (*GRANTED, PRODUCER, RUNS)),
    "a start with unread configs": ("verified_tasks_start", (*VERIFIES, UNREAD, RUNS)),
    "a start with old configs": ("verified_tasks_start", (*VERIFIES, called(COMMIT), READ, RUNS)),
    "it fails though it is verified": ("verified_tasks_start", (*VERIFIES, READ, snapshot(), FAILS)),
    "it fails though it is granted": ("verified_tasks_start", (*GRANTED, FAILS)),
    "it joins unread": ("unread_configs_are_read_first", (*SETTLED, read(TIMED_OUT), CLAIMED)),
    "it reads at once": ("unread_configs_are_read_first", (*SETTLED, read(TIMED_OUT), reads(59))),
    "it stays in its group": (
        "unread_configs_are_read_first", (*FOLLOWS, read(TIMED_OUT), UNREADABLE)
    ),
    "it stays, and reads again": ("unread_configs_are_read_first", (*FOLLOWS, read(TIMED_OUT), reads(60))),
    "it gives up at once": ("unread_configs_are_read_first", (*SETTLED, read(TIMED_OUT), revocation("back-off"))),
    "it forgets the round": ("rounds_have_a_reason", (*start(), received(("c",)), accepted(), CLAIMED)),
    "it forgets the round, and serves": (
        "rounds_have_a_reason", (*start(), received(("c",)), accepted(), queued(0, "pause", "c"), started(0))
    ),
    "nothing was revoked": ("rounds_have_a_reason", (*SETTLED, rejoins("work was revoked"))),
    "no assignment failed": ("rounds_have_a_reason", (*SETTLED, rejoins("the assignment failed"))),
    "a delay that runs": (
        "rounds_have_a_reason", (*start(), received(delay_ms=5), rejoins("the scheduled rebalance is due", 4))
    ),
    "the topic was read": (
        "rounds_have_a_reason", (*SETTLED, read(), rejoins("the config topic could not be read"))
    ),
    "nothing changed": ("rounds_have_a_reason", (*SETTLED, RECONFIGURED)),
    "an incremental worker stops all": ("rounds_have_a_reason", (*SETTLED, revocation("eager join"))),
    "a paused connector runs": ("only_started_work_runs", (*PAUSED, changed("RUNNING"))),
    "a paused connector with a hyphen in its name runs": (
        "only_started_work_runs", (*HYPHENATED, changed("RUNNING", "a-b"))
    ),
    "a stopped connector runs": ("only_started_work_runs", (*STOPPED, changed("RUNNING"))),
    "a connector that does not run is asked": (
        "only_started_work_runs", (*start(), received(), snapshot(), accepted("c"), DRAWN_C, changed("FAILED"), ASKED)
    ),
    "a paused connector is asked": (
        "only_started_work_runs",
        (*start(), received(), snapshot("PAUSED"), accepted(), DRAWN, changed("RUNNING"), ASKED),
    ),
    "a follower says that it wrote": ("workers_get_true_answers", (*FOLLOWS, checked(), WRITTEN, answers(204))),
    "nothing is written": ("workers_get_true_answers", (*LEADS, checked(), answers(204))),
    "the leader says that it does not lead": ("workers_get_true_answers", (*LEADS, checked(), answers(409))),
    "it knows the connector": ("workers_get_true_answers", (*LEADS, checked(), answers(404))),
    "the connector is not stopped": ("workers_get_true_answers", (*LEADS, checked(), answers(400))),
}  # fmt: skip

SILENT: Final[dict[str, tuple[str, tuple[Event, ...]]]] = {
    "it joins": ("read_changes_are_applied", (*SETTLED, called(TARGET), rejoins("why"), END)),
    "no exactly-once support": ("verified_tasks_start", (*start(), DRAWN, PRODUCER)),
    "another process has not failed": (
        "unread_configs_are_read_first",
        (*SETTLED, read(TIMED_OUT), MemberCrashed(**OF_W0), *start()[1:], CLAIMED),
    ),
    "a heartbeat is sent by another thread": (
        "rounds_have_a_reason",
        (*start(), received(("c",)), accepted(), RequestSent(**OF_W0, api="Heartbeat", request=0, generation=1)),
    ),
    "a task may be drawn before it is paused": (
        "only_started_work_runs",
        (*start(), received(), PluginDrawn(**OF_W0, work="c-0"), snapshot("PAUSED"), accepted(), changed("RUNNING")),
    ),
    "refused on arrival": ("workers_get_true_answers", (*LEADS, checked(refusal=503), answers(503))),
}  # fmt: skip


@pytest.mark.parametrize(("claim", "events"), HELD.values(), ids=HELD)
def test_a_history_holds(history: History, claim: str, events: tuple[Event, ...]) -> None:
    judgement = judge(history(*events), select((claim,)))
    assert judgement.verdict(claim).outcome is Outcome.HELD, judgement.counterexamples


@pytest.mark.parametrize(("claim", "events"), VIOLATED.values(), ids=VIOLATED)
def test_a_history_breaks_its_claim(history: History, claim: str, events: tuple[Event, ...]) -> None:
    judgement = judge(history(*events), select((claim,)))
    assert judgement.verdict(claim).outcome is Outcome.VIOLATED


@pytest.mark.parametrize(("claim", "events"), SILENT.values(), ids=SILENT)
def test_the_premises_are_asked_for(history: History, claim: str, events: tuple[Event, ...]) -> None:
    assert judge(history(*events), select((claim,))).counterexamples == ()
