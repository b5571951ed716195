"""One run of the embedded broker as a tool: it prints, records and judges until it is asked to end."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rebalance_check.commands._console import Console, verdict_line
from rebalance_check.commands._findings import findings_in, show_findings
from rebalance_check.commands.judge import show_undecided, show_untested_in
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.integration.embedded.embedded import EmbeddedBroker
from rebalance_check.integration.exchange.fault_file import line_of
from rebalance_check.integration.exchange.faults import FaultPlan
from rebalance_check.integration.interrupts import StopRequest
from rebalance_check.integration.machine_clock import now_ms
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import Event, RunEnded, RunStarted
from rebalance_check.model.vocabulary.group_status import GroupStatus
from rebalance_check.properties.catalogue import CATALOGUE
from rebalance_check.properties.exit_codes import ExitCode
from rebalance_check.properties.history import HistoryWriter, read_history
from rebalance_check.properties.judge import Judge
from rebalance_check.report.documents import judgement_document
from rebalance_check.report.notices import notice
from rebalance_check.report.terminal import suggested, visible

SUBJECT = "embedded broker"
AT_REST = frozenset({GroupStatus.EMPTY.value, GroupStatus.STABLE.value, GroupStatus.DEAD.value})
JUDGED = tuple(invariant for invariant in CATALOGUE if invariant.name != "rebalance_completes")
"""All but the claim about runs that end with a phase without disturbances: here a person ends the run, whenever that
is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerOrder:
    """The user's order: ``broker`` are the arguments of the `EmbeddedBroker`, None for parts not wanted."""

    broker: dict[str, Any]
    faults: FaultPlan
    record: Path | None = None
    is_judged: bool = False
    minutes: float | None = None


@dataclass(slots=True)
class Watching:
    """Takes each event as it happens, in the broker's thread: on disk first, then judged, then shown."""

    console: Console
    write: HistoryWriter | None
    judge: Judge | None
    stop: StopRequest
    events: int = 0
    fault: OSError | None = None
    _found: int = 0
    _began_ms: int = field(default_factory=now_ms)

    def __call__(self, event: Event) -> None:
        """Take an event. A disk that refuses it ends the run."""
        self.events += 1
        try:
            if self.write is not None:
                self.write(event)
        except OSError as error:
            self.fault, self.write = error, None
            self.stop.wake()
        if said := notice(event):
            self.console.say(f"{(now_ms() - self._began_ms) / 1000:9.3f} s  {visible(said)}")
        if self.judge is not None:
            self._judge(self.judge, event)

    def _judge(self, judging: Judge, event: Event) -> None:
        judging.observe(event)
        if judging.found == self._found:
            return
        is_first, self._found = not self._found, judging.found
        if is_first and (found := judging.judgement().counterexamples):
            self.console.say(f"\nviolated: {found[0]}\n")


def run_broker(console: Console, order: BrokerOrder, stop: StopRequest) -> ExitCode:
    """Run the broker until ``stop`` is asked for or the time is over; the exit code is the verdict's, or 0.

    Raises: RebalanceCheckError when the broker cannot listen, or the record exists already; OSError when the record
    cannot be written.
    """
    with ExitStack() as stack:
        write = None if order.record is None else stack.enter_context(HistoryWriter(_new(order.record)))
        watching = Watching(console, write, Judge(JUDGED) if order.is_judged else None, stop)
        harness = Recorder("", "harness", now_ms, watching)
        broker = EmbeddedBroker(**order.broker, faults=order.faults, listener=watching, wire_listener=watching)
        with broker:
            addresses = broker.addresses
            harness.emit(RunStarted(subject=SUBJECT, bounds=",".join(addresses)))
            _introduce(console, broker, order)
            stop.wait(order.minutes and 60 * order.minutes)
            groups = broker.call(lambda: groups_of(broker))
        harness.emit(RunEnded(pending=tuple(f"{g['group']} is {g['state']}" for g in groups if not is_at_rest(g))))
    if watching.fault is not None:
        raise watching.fault
    return _finish(console, order, watching, {"addresses": addresses, "groups": groups})


def _new(path: Path) -> Path:
    if path.exists():
        raise RebalanceCheckError(f"{str(path)!r} exists already, and a record is never written over: name a new file")
    return path


def _introduce(console: Console, broker: EmbeddedBroker, order: BrokerOrder) -> None:
    for number, address in enumerate(broker.addresses, 1):
        console.say(f"node {number} listens at {address}")
    topics = order.broker["topics"]
    console.say(f"topics: {', '.join(f'{name} ({count})' for name, count in topics.items()) or 'none yet'}")
    for fault in order.faults.pending:
        console.say(f"fault: {visible(line_of(fault))}")
    if order.minutes is None:
        console.say("it ends with Ctrl-C, or SIGTERM")


def is_at_rest(group: Mapping[str, Any]) -> bool:
    """Whether a group of `groups_of` is in the middle of no rebalance."""
    return group["state"] in AT_REST


def groups_of(broker: EmbeddedBroker) -> list[dict[str, Any]]:
    """The groups there are, with their status and generation."""
    found = []
    for listed in broker.coordinators.list_groups():
        view = broker.coordinators.of(listed.group_id).coordinator.inspect(listed.group_id)
        found.append({"group": listed.group_id, "state": listed.state, "generation": view.generation if view else 0})
    return found


def _finish(console: Console, order: BrokerOrder, watching: Watching, about: dict[str, Any]) -> ExitCode:
    struck, pending = [*map(line_of, order.faults.struck)], [*map(line_of, order.faults.pending)]
    for line in pending:
        console.say(f"did not strike: {visible(line)}")
    if order.record is not None:
        console.say(f"history: {visible(str(order.record))} ({watching.events:,} events)")
    document = {
        **about,
        "events": watching.events,
        "history": None if order.record is None else str(order.record),
        "faults_struck": struck,
        "faults_pending": pending,
    }
    if watching.judge is None:
        return console.finish(document)
    return _show_verdict(console, order, watching.judge, document)


def _show_verdict(console: Console, order: BrokerOrder, judging: Judge, document: dict[str, Any]) -> ExitCode:
    judgement = judging.judgement()
    for found in judgement.findings:
        console.say(f"\n{found}")
        if order.record is not None:
            console.say(f"  shown by {suggested('judge', order.record, '--invariant', found.invariant)}")
    show_undecided(console, judgement)
    record = order.record
    if record is not None:
        show_findings(console, findings_in(lambda: read_history(record), judgement.events))
    show_untested_in(console, judgement)
    about = f"{judgement.could_have_failed} on {judgement.events:,} events"
    console.say(verdict_line(judgement.outcome, [found.invariant for found in judgement.findings], about))
    return console.finish({**document, **judgement_document(judgement)}, judgement.exit_code)
