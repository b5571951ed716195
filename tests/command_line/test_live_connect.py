"""A Connect worker that ends by itself: its run breaks off, is judged up to there, and says what the worker printed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("kafka", reason="the embedded broker needs the extra 'brokers'")

from rebalance_check.integration.connect.workers import churn
from rebalance_check.integration.connect.workers.awaiting import items_of
from rebalance_check.integration.connect.workers.cluster import ConnectCluster
from rebalance_check.integration.connect.workers.crashes import with_crashes
from rebalance_check.integration.connect.workers.scenarios import CONNECTOR, Act, Scenario, source
from rebalance_check.integration.embedded.embedded import EmbeddedBroker
from rebalance_check.model.vocabulary.events import (
    Event,
    MemberCrashed,
    MemberEvent,
    MemberStarted,
    RunEnded,
    TaskStarted,
)
from rebalance_check.properties.exit_codes import ExitCode
from rebalance_check.properties.history import read_history

Command = Callable[..., Any]
LAST_WORDS = "java.lang.OutOfMemoryError: Java heap space"


@pytest.fixture
def bootstrap() -> Iterator[str]:
    with EmbeddedBroker() as broker:
        yield broker.bootstrap


def begin(cluster: ConnectCluster) -> None:
    cluster.start("w0", "w1", ours=True)
    cluster.rest().put_config(CONNECTOR, source(2))
    cluster.await_running(items_of(CONNECTOR, 2))


def crash(cluster: ConnectCluster, name: str) -> None:
    """End a worker behind the back of its cluster, as the kernel does when memory runs out."""
    started = cluster._of(name)
    started.worker.kill()
    started.place.log.write_text(f"starting\n{LAST_WORDS}\n")


def crash_while_awaited(cluster: ConnectCluster) -> None:
    begin(cluster)
    crash(cluster, "w1")
    cluster.await_running([])


def crash_at_the_end(cluster: ConnectCluster) -> None:
    begin(cluster)
    crash(cluster, "w1")


@pytest.mark.parametrize("act", [crash_while_awaited, crash_at_the_end], ids=lambda act: act.__name__)
def test_a_worker_that_crashes__ends_the_run_with_12_and_its_last_output(
    monkeypatch: pytest.MonkeyPatch, command: Command, bootstrap: str, tmp_path: Path, act: Act
) -> None:
    monkeypatch.setitem(churn.BY_NAME, "crash", Scenario(act))
    asked = ("live", "--protocol", "connect", "--scenario", "crash", "--broker", bootstrap, "--out", tmp_path)
    answer = command(*asked, "--json", "--junit", tmp_path / "verdicts.xml")
    assert answer.code == ExitCode.UNDECIDED
    (run,) = json.loads(answer.out)["histories"]
    assert run["verdict"] == "undecided"
    assert run["broke_off"] == f"worker w1 ended with exit code -9: its last lines: starting | {LAST_WORDS}"
    assert LAST_WORDS in (tmp_path / "verdicts.xml").read_text()
    history = list(read_history(run["file"]))
    assert [event.member for event in history if isinstance(event, MemberCrashed)] == ["w1"]
    assert any(isinstance(event, TaskStarted) for event in history)
    assert not any(isinstance(event, RunEnded) for event in history)


def test_a_worker_that_dies_before_it_answers__is_a_crash__and_no_wait_in_vain(
    monkeypatch: pytest.MonkeyPatch, command: Command, bootstrap: str, tmp_path: Path
) -> None:
    monkeypatch.setattr("rebalance_check.integration.connect.workers.ours.worker.MODULE", "no.module.of.ours")
    asked = ("live", "--protocol", "connect", "--clients", "ours", "--members", 1, "--steps", 1)
    answer = command(*asked, "--broker", bootstrap, "--out", tmp_path)
    assert answer.code == ExitCode.UNDECIDED
    assert "the run broke off: worker w0 ended with exit code 1: its last lines: " in answer.out
    assert "No module named 'no'" in answer.out


def test_a_crash_stands_behind_the_last_event_of_its_worker() -> None:
    started = [MemberStarted(source="harness", seq=n, member=f"w{n}", time_ms=n) for n in range(2)]
    ran = [
        TaskStarted(source=f"w{n}", seq=0, member=f"w{n}", generation=1, task="s-0", time_ms=2 + n) for n in range(2)
    ]
    assert placed(with_crashes([*started, *ran], ["w0"], "harness")) == [
        ("MemberStarted", "w0", 0), ("MemberStarted", "w1", 1), ("TaskStarted", "w0", 0), ("MemberCrashed", "w0", 2),
        ("TaskStarted", "w1", 0),
    ]  # fmt: skip


def placed(history: list[Event]) -> list[tuple[str, str, int]]:
    return [(type(event).__name__, event.member, event.seq) for event in history if isinstance(event, MemberEvent)]
