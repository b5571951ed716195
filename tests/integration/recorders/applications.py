"""Recorded applications as processes of their own, in one group on a broker; what they recorded is judged."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rebalance_check import OffsetCommitted
from rebalance_check.integration.brokers import Broker
from rebalance_check.integration.kits.client.feeding import Feeder
from rebalance_check.integration.live.settling import await_settled
from rebalance_check.integration.live.topics import create_topic
from rebalance_check.integration.parent import ended_with_parent
from rebalance_check.integration.waiting import NotYet, await_until
from rebalance_check.properties.history import scan_history

PROGRAMS = Path(__file__).parent / "programs"
SETTLED_S, ENDED_S = 60.0, 60.0


def python_app(library: str) -> list[str]:
    """How the application on a library is started, without its arguments."""
    return [sys.executable, str(PROGRAMS / f"{library}_app.py")]


@dataclass
class Group:
    """Applications that share a group, by member; each writes ``MEMBER.jsonl`` in ``folder``."""

    broker: Broker
    folder: Path
    partitions: int = 4
    group: str = field(default_factory=lambda: f"g{uuid.uuid4().hex[:8]}")
    running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    def start(self, member: str, command: list[str], *more: str) -> None:
        """Start an application, or start it again."""
        history = self.folder / f"{member}.jsonl"
        call = [*command, self.broker.bootstrap, self.group, self.group, member, str(history), *more]
        with (self.folder / f"{member}.log").open("ab") as log:
            self.running[member] = subprocess.Popen(
                ended_with_parent(call), stdin=subprocess.PIPE, stdout=log, stderr=log,
                env=os.environ | {"PYTHONFAULTHANDLER": "1"},
            )  # fmt: skip

    def settle(self, *, partitions: int | None = None) -> None:
        """Wait until the group holds all that run, and its partitions have owners."""
        found = await_settled(
            self.broker, self.group, members=sorted(self.running), timeout_s=SETTLED_S,
            partitions=self.partitions if partitions is None else partitions,
        )  # fmt: skip
        assert found.pending == (), f"{found.pending}\n{self.said()}"

    def await_commits(self, *members: str) -> None:
        """Wait until each of them has had a further commit accepted."""
        had = {member: self._commits(member) for member in members}

        def probe() -> NotYet | bool:
            waiting = [member for member in members if self._commits(member) == had[member]]
            return NotYet(f"{waiting} committed nothing\n{self.said()}") if waiting else True

        await_until(probe, timeout_s=SETTLED_S, pause_s=0.1, otherwise="a commit is awaited")

    def _commits(self, member: str) -> int:
        path = self.folder / f"{member}.jsonl"
        events = scan_history(path) if path.exists() else iter(())
        return sum(isinstance(event, OffsetCommitted) and event.error == "NONE" for event in events)

    def kill(self, member: str) -> None:
        """End it without a word."""
        process = self.running.pop(member)
        process.kill()
        process.wait()
        assert process.stdin is not None
        process.stdin.close()

    def kill_all(self) -> None:
        """End all without a word: enough where what they recorded up to now breaks an invariant."""
        for member in sorted(self.running):
            self.kill(member)

    def send(self, member: str, number: signal.Signals) -> None:
        """Send it a signal."""
        self.running[member].send_signal(number)

    def stop(self, member: str) -> None:
        """Ask it to leave, and wait until it has."""
        process = self.running.pop(member)
        assert process.stdin is not None
        process.stdin.close()
        try:
            assert process.wait(ENDED_S) == 0, self.said()
        except subprocess.TimeoutExpired:
            self._kill_with_stacks(process)
            raise AssertionError(f"{member} did not end within {ENDED_S:g} s\n{self.said()}") from None

    def _kill_with_stacks(self, process: subprocess.Popen[bytes]) -> None:
        """End it, after it has written to its log where its threads stand."""
        process.send_signal(signal.SIGABRT)
        process.wait()

    def begin_with_a_kill(self, command: list[str], *more: str) -> None:
        """Three join, m1 is killed, and comes back."""
        for member in ("m0", "m1", "m2"):
            self.start(member, command, *more)
        self.settle()
        self.kill("m1")
        self.settle()
        self.start("m1", command, *more)
        self.settle()

    def end(self) -> None:
        """Stop all."""
        for member in sorted(self.running):
            self.stop(member)

    def said(self) -> str:
        """The output of the applications."""
        return "\n".join(f"{path.name}:\n{path.read_text(errors='replace')}" for path in self.folder.glob("*.log"))

    def judged(self, *options: str) -> dict[str, Any]:
        """The document of ``rebalance-check judge`` on all files together."""
        files = [str(path) for path in sorted(self.folder.glob("*.jsonl"))]
        call = [sys.executable, "-m", "rebalance_check.cli", "judge", *files, "--json", *options]
        done = subprocess.run(call, capture_output=True, text=True, check=False, env=os.environ | {"COLUMNS": "120"})
        document: dict[str, Any] = json.loads(done.stdout)
        assert done.returncode == document["exit_code"], done.stderr
        return document


@contextmanager
def group_on(broker: Broker, folder: Path, partitions: int = 4) -> Iterator[Group]:
    """A group with a topic of its name, which gets records all the time; no application outlives it."""
    group = Group(broker, folder, partitions)
    create_topic(broker.bootstrap, group.group, partitions)
    with Feeder(broker.bootstrap) as feeder:
        feeder.feed(group.group, partitions)
        try:
            yield group
        finally:
            group.kill_all()
