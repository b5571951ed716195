"""The parts of a Connect cluster without Java: the journal and the log as events, signatures, settings, controls."""

import re
import threading
from pathlib import Path
from typing import Any

import pytest

from rebalance_check.impl.protocol.connect_protocol import ConnectMode
from rebalance_check.integration.connect.config import tail
from rebalance_check.integration.connect.config.snapshot import seen_by_rest
from rebalance_check.integration.connect.workers.churn import ConnectRun
from rebalance_check.integration.connect.workers.controls import Controls, Operation
from rebalance_check.integration.connect.workers.journal import is_task, running, worker_events
from rebalance_check.integration.connect.workers.ours.worker import OurWorker
from rebalance_check.integration.connect.workers.rest import ConnectRest, is_signed, signature_headers
from rebalance_check.integration.connect.workers.settings import ClusterNames, ConnectConfig, worker_properties
from rebalance_check.integration.connect.workers.what_ran import what_ran
from rebalance_check.integration.connect.workers.worker import WorkerPlace
from rebalance_check.model.vocabulary.config_events import ProducerInitialised
from rebalance_check.model.vocabulary.connect_events import (
    AssignmentAccepted,
    CancelledWorkEnded,
    ConnectAssignmentReceived,
    ConnectorStarted,
    TaskStarted,
    TaskStopped,
    WorkCancelled,
)
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import Event, MemberJoined, MembershipLost, RequestAnswered

WORKER = "[Worker clientId=connect-127.0.0.1:1, groupId=g]"
JOINED = (
    f"INFO WorkerCoordinator {WORKER} Successfully joined group with generation "
    "Generation{generationId=4, memberId='m-1', protocol='sessioned'}"
)
ASSIGNED = (
    f"INFO DistributedHerder {WORKER} Joined group at generation 4 with protocol version 2 and got assignment: "
    "Assignment{error=0, leader='m-2', leaderUrl='http://127.0.0.1:2/', offset=7, connectorIds=[s], "
    "taskIds=[s-0, s-2], revokedConnectorIds=[], revokedTaskIds=[s-1], delay=2000} with rebalance delay: 2000"
)
ACCEPTED = f"INFO DistributedHerder {WORKER} Starting connectors and tasks using config offset 7"
SECOND_NS = 1_000_000_000
EPOCH = 1795348800  # 2026-11-22 12:00:00 UTC, of the lines below


def events(folder: Path, log: list[tuple[int, str]], journal: list[str]) -> list[Event]:
    """The events of a worker whose log has these lines, each with a second after noon, and whose journal these."""
    (folder / "log").write_text("".join(f"2026-11-22 12:00:{at:02d},000 {text}\n" for at, text in log))
    (folder / "journal").write_text("".join(f"{line}\n" for line in journal))
    return [event for _stamp, event in worker_events("w0", "g", folder / "journal", folder / "log", -EPOCH * SECOND_NS)]


def at(second: float) -> int:
    """A time in the journal: seconds after noon."""
    return int(second * SECOND_NS)


def test_the_log_says_what_a_worker_joined_and_was_assigned(tmp_path: Path) -> None:
    found = events(tmp_path, [(1, JOINED), (2, ASSIGNED), (3, ACCEPTED)], [f"{at(2.5)}\tstarted\ts-0\t1"])
    membership: dict[str, Any] = {"member": "w0", "generation": 4, "member_id": "m-1"}
    assert found == [
        MemberJoined(**membership, protocol="sessioned"),
        ConnectAssignmentReceived(
            **membership, protocol="sessioned", leader="m-2", leader_url="http://127.0.0.1:2/", config_offset=7,
            delay_ms=2000, assigned=("s", "s-0", "s-2"), revoked=("s-1",),
        ),
        TaskStarted(**membership, task="s-0"),
        AssignmentAccepted(**membership, config_offset=7, work=("s", "s-2")),
    ]  # fmt: skip


def test_consumers_of_sinks_log_joins_that_are_not_the_workers(tmp_path: Path) -> None:
    assert events(tmp_path, [(1, JOINED.replace("WorkerCoordinator", "ConsumerCoordinator"))], []) == []


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (f"INFO WorkerCoordinator {WORKER} Member m-1 sending LeaveGroup request to coordinator 127.0.0.1:9 (id: 1) "
         "due to worker poll timeout has expired.", "worker poll timeout has expired"),
        (f"INFO WorkerCoordinator {WORKER} Resetting generation and member id due to: encountered UNKNOWN_MEMBER_ID "
         "from HEARTBEAT response", "UNKNOWN_MEMBER_ID"),
    ],
)  # fmt: skip
def test_a_membership_that_ends_says_why(tmp_path: Path, text: str, reason: str) -> None:
    lost = [event for event in events(tmp_path, [(1, JOINED), (2, text)], []) if isinstance(event, MembershipLost)]
    assert [(event.reason, event.generation) for event in lost] == [(reason, 4)]


def test_an_answer_that_ends_a_membership_is_an_event(tmp_path: Path) -> None:
    why = "encountered ILLEGAL_GENERATION from JOIN_GROUP response"
    text = f"INFO WorkerCoordinator {WORKER} Resetting generation due to: {why}"
    answered = [e for e in events(tmp_path, [(1, JOINED), (2, text)], []) if isinstance(e, RequestAnswered)]
    assert [(event.api, event.error) for event in answered] == [("JoinGroup", "ILLEGAL_GENERATION")]


def test_work_that_is_cancelled_ends_later__its_successor_runs_on(tmp_path: Path) -> None:
    log = [(2, "ERROR Worker Graceful stop of task s-0 failed.")]
    journal = [f"{at(1)}\tstarted\ts-0\t1", f"{at(3)}\tstarted\ts-0\t2", f"{at(4)}\tstopped\ts-0\t1"]
    kinds = [type(event) for event in events(tmp_path, log, journal)]
    assert kinds == [TaskStarted, WorkCancelled, TaskStarted, CancelledWorkEnded]
    assert running(tmp_path / "journal") == {"s-0": 1}


def test_work_that_was_not_cancelled_stops(tmp_path: Path) -> None:
    journal = [f"{at(1)}\tstarted\ts\t1", f"{at(1)}\tstarted\ts-0\t2", f"{at(2)}\tstopped\ts-0\t2"]
    assert [type(event) for event in events(tmp_path, [], journal)] == [ConnectorStarted, TaskStarted, TaskStopped]


def test_a_producer_that_fences_is_an_event(tmp_path: Path) -> None:
    ids = [("g-s-0", 3, "s-0"), ("connect-cluster-g", 0, "")]
    begin = "INFO TransactionManager [Producer clientId=c, transactionalId="
    log = [(1, f"{begin}{name}] ProducerId set to 5 with epoch {epoch}") for name, epoch, _work in ids]
    assert events(tmp_path, log, []) == [
        ProducerInitialised(member="w0", transactional_id=name, epoch=epoch, work=work) for name, epoch, work in ids
    ]


def test_a_line_that_was_cut_off_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "journal").write_text("1\tstarted\ts\t1\n2\tstop")
    assert running(tmp_path / "journal") == {"s": 1}


@pytest.mark.parametrize("line", ["nonsense", "x\tstarted\ts\t1", "1\tstarted\ts\t-", "1\tran\ts\t1", "1\tstarted\ts"])
def test_a_damaged_journal_is_refused(tmp_path: Path, line: str) -> None:
    (tmp_path / "journal").write_text(f"{line}\n")
    with pytest.raises(RebalanceCheckError, match="none of a journal"):
        running(tmp_path / "journal")


def test_what_ran_is_numbered_anew() -> None:
    history = [
        MemberJoined(member="w0", generation=1, source="w0", seq=0),
        ConnectorStarted(member="w0", generation=1, connector="s", source="w0", seq=1),
    ]
    assert [(type(event), event.seq) for event in what_ran(history)] == [(ConnectorStarted, 0)]


def test_a_signature_covers_the_body_and_nothing_else() -> None:
    headers = signature_headers(b"key", "HmacSHA256", b"[]")
    assert headers == {
        "X-Connect-Authorization": "jPPVhLrEIHDkTySaVQkQvQB30YqcxipUxZxnWEWL8Bo=",
        "X-Connect-Request-Signature-Algorithm": "HmacSHA256",
    }
    assert is_signed(b"key", "HmacSHA256", b"[]", headers["X-Connect-Authorization"])
    assert not is_signed(b"key", "HmacSHA256", b"[{}]", headers["X-Connect-Authorization"])
    with pytest.raises(RebalanceCheckError, match="'HmacMD2' is no MAC"):
        signature_headers(b"key", "HmacMD2", b"")


def test_the_settings_of_a_worker_are_kafkas() -> None:
    config = ConnectConfig(mode=ConnectMode.EAGER, rebalance_timeout_ms=7_000, more={"client.id": "mine"})
    lines = worker_properties(ClusterNames("g"), "127.0.0.1:9", 8083, config).splitlines()
    wanted = {"connect.protocol=eager", "rebalance.timeout.ms=7000", "group.id=g", "config.storage.topic=g-configs",
              "listeners=http://127.0.0.1:8083", "client.id=mine"}  # fmt: skip
    assert wanted <= set(lines)


def test_a_heartbeat_interval_of_a_session_is_refused() -> None:
    with pytest.raises(RebalanceCheckError, match="choose a shorter heartbeat interval"):
        ConnectConfig(session_timeout_ms=500)


def test_a_control_is_a_file_while_it_holds(tmp_path: Path) -> None:
    controls = Controls(tmp_path / "controls")
    with controls.blocked(Operation.POLL, "s-0"), controls.failing(Operation.START, "s", "w1"):
        assert {path.name for path in controls.folder.iterdir()} == {"block.poll.s-0", "fail.start.s@w1"}
        controls.clear()
    assert list(controls.folder.iterdir()) == []


def test_names_of_tasks_end_with_a_number() -> None:
    assert [name for name in ("s-0", "my-sink-12", "s", "my-sink") if is_task(name)] == ["s-0", "my-sink-12"]


def test_a_log_of_slf4j_simple_is_read_like_one_of_log4j(tmp_path: Path) -> None:
    """Its lines have a dash behind the class: jars that Maven fetched come with it."""
    log4j = [(1, JOINED), (2, ASSIGNED), (3, ACCEPTED)]
    simple = [(at, re.sub(r"^(INFO \w+) ", r"\1 - ", line)) for at, line in log4j]
    assert simple != log4j
    assert events(tmp_path, simple, []) == events(tmp_path, log4j, []) != []


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (ConnectConfig(exactly_once=True), "exactly.once.source.support is enabled, and the worker w0 is one of ours"),
        (ConnectConfig(more={"tasks.most": "1"}), "one of ours, which does not know tasks.most"),
    ],
)
def test_a_worker_of_ours_refuses_settings_that_it_does_not_have(
    tmp_path: Path, config: ConnectConfig, message: str
) -> None:
    place = WorkerPlace("w0", tmp_path / "00-w0", tmp_path / "controls", 1)
    with pytest.raises(RebalanceCheckError, match=message):
        OurWorker(place, ClusterNames("connect-1"), "127.0.0.1:1", 8083, config)


def test_a_snapshot_seen_by_rest_has_the_texts_of_the_config_topic(monkeypatch: pytest.MonkeyPatch) -> None:
    config = {"name": "s/1", "topic": "größe"}
    answers = {
        "/connectors?expand=info": {"s/1": {"info": {"config": config, "tasks": [{"connector": "s/1", "task": 0}]}}},
        "/connectors/s%2F1/tasks": [{"id": {"connector": "s/1", "task": 0}, "config": config}],
    }
    monkeypatch.setattr(ConnectRest, "ask", lambda _, __, path: answers[path])
    seen = seen_by_rest(ConnectRest("http://w:8083"), "w0", 9, "STARTED")
    text = '{"name":"s/1","topic":"größe"}'
    assert (seen.connectors, seen.task_configs) == ((("s/1", text),), (("s/1-0", text),))
    assert (seen.tasks, seen.task_counts, seen.offset) == (("s/1-0",), (("s/1", 1),), 9)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"workers": ()}, "no kind of worker is named: choose from java, ours"),
        ({"steps": -1}, "steps is -1: choose a number from 0 on"),
        ({"members": 0}, "members is 0: choose a number from 1 to 8"),
        ({"scenario": "none"}, "'none' is no scenario: choose from "),
    ],
)
def test_a_run_of_workers_refuses_what_cannot_be_run(options: dict[str, Any], message: str) -> None:
    with pytest.raises(RebalanceCheckError, match=message):
        ConnectRun(**options)


def test_a_topic_that_is_not_read_to_its_end_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Events missing from the history would else go unnoticed."""
    go_on = threading.Event()

    class Consumer:
        def __init__(self, **_: Any) -> None: ...

        def assign(self, _: Any) -> None: ...

        def poll(self, **_: Any) -> dict[str, Any]:
            go_on.wait()
            return {}

    monkeypatch.setattr(tail, "KafkaConsumer", Consumer)
    monkeypatch.setattr(tail, "JOIN_TIMEOUT_S", 0.05)
    opened = tail.TopicTail("127.0.0.1:1", "configs", lambda *_: None)
    with pytest.raises(RebalanceCheckError, match=r"'configs' was not read to its end within 0\.05 s"):
        opened.close()
    go_on.set()
