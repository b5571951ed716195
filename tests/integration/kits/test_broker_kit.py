"""The broker kit: what it says of a correct broker, of one that errs, of one that goes away, and of none."""

from __future__ import annotations

import socket
from pathlib import Path
from threading import Thread

import pytest

from rebalance_check.cli import run
from rebalance_check.integration.brokers import open_broker
from rebalance_check.integration.embedded.embedded import EmbeddedBroker
from rebalance_check.integration.exchange.faults import Effect, Fault, FaultPlan
from rebalance_check.integration.kits.broker.scenario_rows import first_difference, replies_in, socket_scenarios
from rebalance_check.model.registry import path_at
from rebalance_check.model.vocabulary.errors import Error
from rebalance_check.model.vocabulary.wire_events import ReplyObserved
from rebalance_check.properties.exit_codes import ExitCode
from rebalance_check.properties.history import read_history
from rebalance_check.properties.verdict import Outcome
from tests.integration.broker_kit import conform, outcomes, violated

ALWAYS = 1_000_000
QUICK = ("transitions", "scenarios", "requests")


def always(api: str, error: Error) -> FaultPlan:
    return FaultPlan(Fault(api, Effect.ANSWER, error=error, times=ALWAYS))


def test_ours_holds_in_every_transition__scenario__and_random_request(tmp_path: Path) -> None:
    with open_broker("embedded") as broker:
        report = conform(broker, tmp_path, QUICK)

    assert violated(report) == {}
    assert report.exit_code is ExitCode.HELD
    assert outcomes(report, "scenarios") == {Outcome.HELD: len(socket_scenarios())}
    assert outcomes(report, "random requests") == {Outcome.HELD: 13}
    kinds = {"JoinGroup", "SyncGroup", "Heartbeat", "LeaveGroup", "ExpireSession", "CommitWithoutGroup", "DeleteGroup"}
    assert kinds <= {row.claim for row in report.sections["transitions of the model"] if row.checked}


def test_a_broker_that_errs_is_reported__row_by_row__and_the_run_goes_on(tmp_path: Path) -> None:
    with (
        EmbeddedBroker(faults=always("Heartbeat", Error.GROUP_ID_NOT_FOUND)) as started,
        open_broker(started.bootstrap) as broker,
    ):
        report = conform(broker, tmp_path, ("transitions", "scenarios"))

    found = violated(report)
    assert report.exit_code is ExitCode.SAFETY
    assert path_at(found["Heartbeat"].command).actions
    assert "GROUP_ID_NOT_FOUND" in found["a Heartbeat in Stable succeeds"].detail
    events = read_history(found["a Heartbeat in Stable succeeds"].history)
    replies = [event for event in events if isinstance(event, ReplyObserved) and event.api == "Heartbeat"]
    assert {event.error for event in replies} == {"GROUP_ID_NOT_FOUND"}
    assert "JoinGroup" not in found
    assert "a follower's SyncGroup waits for the leader's" not in found


def test_a_version_that_is_served_in_name_only_is_a_finding__and_an_older_one_is_spoken(tmp_path: Path) -> None:
    newest = Fault("SyncGroup", Effect.CLOSE_BEFORE, when=lambda request: request.API_VERSION == 5, times=ALWAYS)
    with EmbeddedBroker(faults=FaultPlan(newest)) as started, open_broker(started.bootstrap) as broker:
        report = conform(broker, tmp_path, ("transitions",))

    claim = "SyncGroup is answered in each version that ApiVersions names"
    assert [*violated(report)] == [claim]
    assert violated(report)[claim].detail.startswith("v5: the broker closed the connection")


def test_a_broker_that_dies_midway_is_undecided__with_what_was_judged(tmp_path: Path) -> None:
    with (
        EmbeddedBroker() as started,
        _MortalFront(started.bootstrap, connections=80) as address,
        open_broker(address) as broker,
    ):
        report = conform(broker, tmp_path, ("scenarios",))

    assert report.exit_code is not ExitCode.HELD
    assert "the broker failed in the part 'scenarios'" in report.unfinished
    assert outcomes(report, "versions") == {Outcome.HELD: 6}


def test_an_absent_broker_is_wrong_use(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        code = run(["conform", "broker", f"127.0.0.1:{unused.getsockname()[1]}"])

    assert code == ExitCode.USAGE
    assert "does not coordinate groups" in capsys.readouterr().err


@pytest.mark.parametrize("command", [("conform", "broker"), ("compare", "model", "--walks", "1")])
def test_a_broker_whose_nodes_share_the_groups_is_not_accused(
    command: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with EmbeddedBroker(nodes=3) as started:
        code = run([*command, started.bootstrap.split(",")[0]])

    assert code == ExitCode.USAGE
    assert "has 3 nodes, and each coordinates its share of the groups" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("expected", "replies"),
    [("", 0), ("waits", 0), ("NONE A", 1), ("waits; b: generation 2, leader b", 1), ("NONE; b: NONE B", 2)],
)
def test_so_many_replies_are_awaited_as_a_line_expects(expected: str, replies: int) -> None:
    assert replies_in(expected) == replies


def test_the_first_line_that_differs_is_shown_behind_those_before_it() -> None:
    lines = ["join a -> NONE", "status -> Stable", "status -> Empty"]

    assert first_difference(lines, lines) == ""
    shown = first_difference(lines, [lines[0], "status -> Dead", lines[2]])
    assert shown == "'status -> Stable' was answered 'Dead'\n  join a -> NONE"


class _MortalFront:
    """Passes connections on to a broker, and refuses all after the first so many, as a broker that died does."""

    def __init__(self, upstream: str, *, connections: int) -> None:
        host, port = upstream.split(":")
        self._upstream = host, int(port)
        self._left = connections
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._sockets: list[socket.socket] = []

    def __enter__(self) -> str:
        Thread(target=self._accept, daemon=True).start()
        return f"127.0.0.1:{self._listener.getsockname()[1]}"

    def __exit__(self, *_: object) -> None:
        self._die()

    def _accept(self) -> None:
        while self._left:
            self._left -= 1
            client, _ = self._listener.accept()
            upstream = socket.create_connection(self._upstream)
            self._sockets += [client, upstream]
            Thread(target=_pump, args=(client, upstream), daemon=True).start()
            Thread(target=_pump, args=(upstream, client), daemon=True).start()
        self._die()

    def _die(self) -> None:
        self._listener.close()
        for each in self._sockets:
            each.close()


def _pump(source: socket.socket, sink: socket.socket) -> None:
    try:
        while data := source.recv(1 << 16):
            sink.sendall(data)
    except OSError:
        pass
    finally:
        sink.close()
