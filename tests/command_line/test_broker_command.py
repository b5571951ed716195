"""The broker as a command: it prints what happens, records it at once, judges it, and ends in good order."""

from __future__ import annotations

import json
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("kafka", reason="the embedded broker needs the extra 'brokers'")

from rebalance_check.commands import _broker_run
from rebalance_check.commands.broker import parse_topics
from rebalance_check.impl.mutants import planted
from rebalance_check.impl.protocol import messages as msg
from rebalance_check.impl.protocol.consumer_protocol import Subscription, write_subscription
from rebalance_check.integration.exchange.faults import Effect, Fault, FaultPlan
from rebalance_check.integration.wire.call import Connection
from rebalance_check.integration.wire.kafka_python import metadata
from rebalance_check.integration.wire.raw_group import RawGroup
from rebalance_check.model.vocabulary.errors import Error, RebalanceCheckError
from rebalance_check.model.vocabulary.events import ReplyObserved, RunEnded, RunStarted
from rebalance_check.properties.exit_codes import ExitCode
from rebalance_check.properties.history import HistoryWriter, read_history
from tests.command_line.broker_runs import Run, join, reply_to

Command = Callable[..., Any]


class Running:
    """The command as a process; its lines are read as they come."""

    def __init__(self, *arguments: object) -> None:
        words = [sys.executable, "-m", "rebalance_check", "broker", "--port", "0", *map(str, arguments)]
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.lines: list[str] = []

    def line(self, containing: str) -> str:
        """The next line with this text."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line.rstrip("\n"))
            if containing in line:
                return self.lines[-1]
        raise AssertionError(self.lines, self.process.stderr and self.process.stderr.read())

    def end(self, number: signal.Signals) -> tuple[int, str]:
        """Exit code and the rest of what it says."""
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=30)
        assert "Traceback" not in err, err
        return self.process.returncode, out + err


@contextmanager
def running(*arguments: object) -> Iterator[Running]:
    one = Running(*arguments)
    try:
        yield one
    finally:
        one.process.kill()
        one.process.wait()
        for stream in (one.process.stdout, one.process.stderr):
            assert stream is not None
            stream.close()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_in_good_order_when_it_is_asked_to__with_its_history(tmp_path: Path, number: signal.Signals) -> None:
    record = tmp_path / "history.jsonl"
    with running("--topics", "t:2", "--record", record, "--judge") as broker:
        bootstrap = broker.line("node 1 listens at ").split()[-1]
        broker.line("it ends with Ctrl-C")
        with RawGroup(bootstrap, "g") as group:
            joined = reply_to(group, join())
            assert joined.member_id in broker.line("joins")
            broker.line("generation 1, 1 member, led by")
            leave = msg.LeaveGroupRequest(group_id="g", version=3, members=(msg.MemberIdentity(joined.member_id),))
            assert reply_to(group, leave).error is Error.NONE
            assert f"{joined.member_id} leaves" in broker.line("leaves")
        code, rest = broker.end(number)
    assert (code, rest.splitlines()[-1].partition("(")[0]) == (0, "verdict: held ")
    history = [*read_history(record)]
    assert isinstance(history[0], RunStarted)
    assert isinstance(history[-1], RunEnded)
    assert {event.source for event in history} == {"harness", "broker", "coordinator", "wire"}


def test_what_is_unknown_closes_its_connection__with_one_line_of_warning() -> None:
    with running() as broker:
        host, port = broker.line("node 1 listens at ").split()[-1].split(":")
        for unknown in (struct.pack(">ihhih", 10, 999, 0, 1, -1), struct.pack(">ihhih", 10, 11, 99, 1, -1)):
            with socket.create_connection((host, int(port)), 10) as peer:
                peer.sendall(unknown)
                assert peer.recv(1) == b""
        code, rest = broker.end(signal.SIGTERM)
    assert code == 0
    assert [line.partition("it sent ")[2] for line in rest.splitlines() if "closing" in line] == [
        "api key 999, which is not served", "JoinGroup v99, but v0 to v9 are served",
    ]  # fmt: skip


def test_what_was_recorded_is_there_when_it_is_killed(tmp_path: Path) -> None:
    record = tmp_path / "history.jsonl"
    with running("--record", record) as broker:
        bootstrap = broker.line("node 1 listens at ").split()[-1]
        with RawGroup(bootstrap, "g") as group:
            reply_to(group, join())
            broker.end(signal.SIGKILL)
    assert [event.api for event in read_history(record) if isinstance(event, ReplyObserved)][-1] == "JoinGroup"


def test_a_port_in_use_and_a_record_that_exists_are_one_sentence(command: Command, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        answer = command("broker", "--port", port)
    assert (answer.code, answer.out) == (2, "")
    assert (
        answer.err
        == f"rebalance-check: port {port} of 127.0.0.1 is in use: choose another, or 0 for any that is free\n"
    )
    record = tmp_path / "history.jsonl"
    record.write_text("evidence")
    answer = command("broker", "--port", 0, "--record", record, "--minutes", 0.001)
    assert (answer.code, record.read_text()) == (2, "evidence")
    assert "exists already, and a record is never written over" in answer.err


def test_a_faults_file_that_cannot_be_used_is_refused_before_it_listens(command: Command, tmp_path: Path) -> None:
    faults = tmp_path / "churn.faults"
    for text, message in (
        ("# fine\nslow JoinGroup 5\n", "churn.faults:2: 'slow' in 'slow JoinGroup 5' is no verb of faults"),
        ("move Heartbeat 2\n", "the embedded broker with one node cannot do move-coordinator"),
    ):
        faults.write_text(text)
        answer = command("broker", "--port", 0, "--fault-file", faults, "--minutes", 0.001)
        assert (answer.code, answer.out) == (2, "")
        assert message in answer.err


def test_its_document_says_where_it_listened_and_what_it_judged(command: Command) -> None:
    document = command("broker", "--port", 0, "--nodes", 2, "--minutes", 0.001, "--judge", "--json").document
    assert len(document["addresses"]) == 2
    assert (document["groups"], document["verdict"], document["exit_code"]) == ([], "undecided", 12)


@pytest.mark.parametrize(
    ("text", "message"),
    [("orders", "'orders' is no topic"), ("a:0", "'a:0' is no topic"), ("no topic!:3", "is no topic: write"),
     ("a:1,a:2", "the topic 'a' is named twice")],
)  # fmt: skip
def test_topics_that_cannot_be_are_refused(text: str, message: str) -> None:
    with pytest.raises(RebalanceCheckError, match=message):
        parse_topics(text)
    assert parse_topics(" orders:3, payments:6,") == {"orders": 3, "payments": 6}


# ------------------------------------------------------------------------------------------------ in this process


def test_the_first_violation_is_printed_when_it_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Run(monkeypatch)
    with planted("heartbeat-accepts-stale-generation"), run as bootstrap, RawGroup(bootstrap, "g") as group:
        member_id = reply_to(group, join()).member_id
        assert reply_to(group, join(member_id, write_subscription(Subscription(topics=("u",))))).generation_id == 2
        beat = msg.HeartbeatRequest(group_id="g", version=3, generation_id=1, member_id=member_id)
        assert "violated" not in run.said.getvalue()
        assert reply_to(group, beat).error is not Error.ILLEGAL_GENERATION
        group.barrier()
        live = run.said.getvalue()
    assert live.count("violated: ") == 1
    assert run.code == ExitCode.SAFETY
    assert "verdict: violated: " in run.said.getvalue()


def test_faults_are_shown_with_what_struck_and_what_did_not(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = FaultPlan(
        Fault("JoinGroup", Effect.ANSWER, error=Error.NOT_COORDINATOR), Fault("Heartbeat", Effect.END_SESSION)
    )
    run = Run(monkeypatch, faults=plan)
    with run as bootstrap, RawGroup(bootstrap, "g") as group:
        assert reply_to(group, join()).error is Error.NOT_COORDINATOR
    said = run.said.getvalue()
    assert "fault answer at request 2, JoinGroup" in said
    assert "did not strike: end-session Heartbeat" in said


def test_a_disk_that_refuses_the_record_ends_the_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    class Full(HistoryWriter):
        def __call__(self, event: Any) -> None:
            if self.count:
                raise OSError(28, "No space left on device")
            super().__call__(event)

    monkeypatch.setattr(_broker_run, "HistoryWriter", Full)
    run = Run(monkeypatch, record=tmp_path / "history.jsonl")
    with run as bootstrap:
        # the broker may end before it has answered
        with Connection(bootstrap) as connection, suppress(ConnectionError):
            connection.call(metadata.MetadataRequest(topics=None), 1)
        run.thread.join(30)
    assert isinstance(run.code, OSError)
    assert len((tmp_path / "history.jsonl").read_text().splitlines()) == 1


def test_a_group_in_the_middle_of_a_rebalance_is_named_at_the_end(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    record = tmp_path / "history.jsonl"
    run = Run(monkeypatch, record=record)
    with run as bootstrap, RawGroup(bootstrap, "g") as group:
        reply_to(group, join())
        run.stop.wake()
        run.thread.join(30)
    *_, ended = read_history(record)
    assert isinstance(ended, RunEnded)
    assert ended.pending == ("g is CompletingRebalance",)
    document = json.loads(record.read_text().splitlines()[0])
    assert document["subject"] == "embedded broker"
