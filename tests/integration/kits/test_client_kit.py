"""Programs under the client kit on the embedded broker: one that is correct, and many that are not."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from rebalance_check.integration.embedded.embedded import EmbeddedBroker
from rebalance_check.integration.exchange.fault_file import faults_in
from rebalance_check.integration.exchange.proxy import RecordingProxy
from rebalance_check.integration.kits.client.trial import NeverConnectedError
from rebalance_check.integration.kits.client.verdicts import ScenarioResult
from rebalance_check.integration.kits.report import KitReport, KitRow
from rebalance_check.model.vocabulary.events import RunEnded, RunStarted
from rebalance_check.model.vocabulary.wire_events import ProcessEnded, ProcessSignalled, ReplyObserved, RequestObserved
from rebalance_check.properties.exit_codes import ExitCode
from rebalance_check.properties.history import read_history
from rebalance_check.properties.judge import judge
from rebalance_check.properties.verdict import Outcome
from tests.integration.client_kit import OURS, PLACES, PROGRAMS, outcomes, tried


@pytest.fixture(scope="module")
def correct(tmp_path_factory: pytest.TempPathFactory) -> tuple[KitReport, Path]:
    """A correct consumer that members join, leave, and restart as static members; and where its histories are."""
    out = tmp_path_factory.mktemp("correct")
    return tried(OURS, out, "joins", "static", "unknown-member-id"), out


def test_a_correct_consumer_breaks_no_claim(correct: tuple[KitReport, Path]) -> None:
    report, _ = correct
    assert report.unfinished == ""
    assert report.violated == ()
    assert report.exit_code is ExitCode.HELD
    held = {claim for claim, outcome in outcomes(report).items() if outcome is Outcome.HELD}
    assert held >= {
        "wire_rejoins_when_rebalancing",
        "wire_leaves_on_close",
        "wire_commits_what_it_owns",
        "wire_heartbeats_keep_the_session",
        "wire_static_restart",
        "wire_required_member_id_is_used",
        "wire_claims_are_the_assignment",
        "wire_generation_is_the_last",
        "wire_skipped_assignment_is_empty",
    }


def test_each_scenario_has_a_whole_history(correct: tuple[KitReport, Path]) -> None:
    _, out = correct
    for name in ("joins", "static", "unknown-member-id"):
        events = list(read_history(out / f"{name}.jsonl"))
        assert isinstance(events[0], RunStarted)
        assert isinstance(events[-1], RunEnded)
        assert {event.group for event in events} == {events[0].group}
        assert {event.process for event in events if isinstance(event, RequestObserved)} == {"p0", "p1", "p2"}
        assert sum(isinstance(event, ProcessEnded) for event in events) >= 3
        assert (out / f"{name}.raw" / "p0.log").exists()


def test_dynamic_members_have_no_instance_id_and_static_ones_have(correct: tuple[KitReport, Path]) -> None:
    _, out = correct
    assert instances(read_history(out / "joins.jsonl")) == {""}
    assert instances(read_history(out / "static.jsonl")) == {"i-p0", "i-p1"}


def instances(events: Any) -> set[str]:
    return {event.instance_id for event in events if isinstance(event, RequestObserved) and event.api == "JoinGroup"}


def signals(path: Path) -> list[tuple[str, str]]:
    return [(e.process, e.signal) for e in read_history(path) if isinstance(e, ProcessSignalled)]


def test_a_seed_chooses_the_same_members_and_no_scenario_begins_when_the_time_is_over(
    correct: tuple[KitReport, Path], tmp_path: Path
) -> None:
    _, out = correct
    report = tried(OURS, tmp_path, "joins", "kill", minutes=0.001)
    assert signals(tmp_path / "joins.jsonl")[0] == signals(out / "joins.jsonl")[0]
    assert report.unfinished == "0.001 minutes were over, so these were left out: kill"
    assert report.exit_code is ExitCode.UNDECIDED


def test_a_program_that_ends_at_once_never_connected(tmp_path: Path) -> None:
    usage = (sys.executable, "-c", "import sys; sys.exit('usage: consume --help')", *PLACES)
    with pytest.raises(
        NeverConnectedError, match=r"never connected to the broker: p0 ended with exit code 1: .*usage: consume --help"
    ):
        tried(usage, tmp_path, "joins")


def test_a_program_that_connects_to_nothing_never_connected(tmp_path: Path) -> None:
    idle = (sys.executable, "-c", "import signal; signal.pause()", *PLACES)
    with pytest.raises(NeverConnectedError, match="never connected to the broker: one generation of p0: not within"):
        tried(idle, tmp_path, "joins", patience_s=0.3)


def test_a_program_that_connects_and_never_joins_leaves_all_undecided(tmp_path: Path) -> None:
    script = "import signal, socket, sys; _ = socket.create_connection(sys.argv[1].split(':')); signal.pause()"
    report = tried((sys.executable, "-c", script, *PLACES), tmp_path, "joins", "kill", patience_s=1.0)
    assert report.exit_code is ExitCode.UNDECIDED
    assert "p0 never joined; it sent nothing; no process joined in joins, so these were left out" in report.unfinished
    assert set(outcomes(report).values()) == {Outcome.UNTESTED}


def test_a_program_that_dies_midway_is_judged_up_to_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRASH", "1")
    report = tried(OURS, tmp_path, "joins")
    assert report.exit_code is ExitCode.UNDECIDED
    assert "p0 ended with exit code 1: its last lines:" in report.unfinished
    assert "out of cheese; it was not asked to end" in report.unfinished
    assert outcomes(report)["wire_required_member_id_is_used"] is Outcome.HELD
    assert isinstance(list(read_history(tmp_path / "joins.jsonl"))[-1], RunEnded)


def test_a_violation_is_reported_at_once_and_its_history_shows_it(tmp_path: Path) -> None:
    """kafka-python claims partitions of which it has learned that they are lost (TRACK_RECORD.md)."""
    seen: list[tuple[ScenarioResult, Sequence[KitRow]]] = []
    words = (sys.executable, str(PROGRAMS / "kafka_python_consumer.py"), *PLACES)
    report = tried(words, tmp_path, "unknown-member-id", listener=lambda *found: seen.append(found))
    assert report.exit_code is ExitCode.SAFETY
    broken = next(row for row in report.violated if row.claim == "wire_lost_partitions_are_not_claimed")
    assert (broken.history, broken.command) == (str(tmp_path / "unknown-member-id.jsonl"), "again unknown-member-id")
    assert broken.claim in {row.claim for _, rows in seen for row in rows}
    assert judge(broken.history, broken.claim).exit_code is ExitCode.SAFETY


def test_a_broker_that_dies_midway_leaves_the_rest_undecided(tmp_path: Path) -> None:
    with EmbeddedBroker() as broker, ExitStack() as dying:
        dying.enter_context(proxied := RecordingProxy(broker.bootstrap))
        bootstrap = proxied.bootstrap_for("kit")
        report = tried(OURS, tmp_path, "joins", "kill", broker=bootstrap, listener=lambda *_: dying.close())
    assert report.unfinished.startswith("kill: the broker failed (")
    assert report.exit_code is ExitCode.UNDECIDED
    assert outcomes(report)["wire_leaves_on_close"] is Outcome.HELD


def test_the_faults_of_a_file_strike_in_a_scenario_of_their_own(tmp_path: Path) -> None:
    """The coordinator is driven from inside, too: a member whose session ends is no member any more."""
    text = "answer Heartbeat ILLEGAL_GENERATION process=p0\nend-session Heartbeat process=p1 nth=2\n"
    report = tried(OURS, tmp_path, faults=lambda: faults_in(text, "faults"))
    assert report.unfinished == ""
    assert report.violated == ()
    replies = [event for event in read_history(tmp_path / "faults.jsonl") if isinstance(event, ReplyObserved)]
    struck = {(reply.process, reply.fault, reply.error) for reply in replies if reply.fault}
    assert struck == {("p0", "answer", "ILLEGAL_GENERATION"), ("p1", "end-session", "UNKNOWN_MEMBER_ID")}
