"""The runs of ``rebalance-check live``: how each is set up, made, recorded and judged."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from rebalance_check.commands._claim_options import ClaimOptions
from rebalance_check.commands._console import Console, said_at_interruption
from rebalance_check.commands._fuzz_result import entry_document
from rebalance_check.commands._judged import Judged
from rebalance_check.commands.judge import show_judged
from rebalance_check.impl.protocol.connect_protocol import ConnectMode
from rebalance_check.impl.runtime.options import COMMON_FAULTS, SimulatedProtocol, SimulationOptions
from rebalance_check.impl.simulator import churn_schedule
from rebalance_check.integration.brokers import Broker
from rebalance_check.integration.connect.workers.churn import ConnectRun, WorkerKind, run_connect
from rebalance_check.integration.live.broken_off import recorded_until_end
from rebalance_check.integration.live.clients import require_installed
from rebalance_check.integration.live.known_deviations import KnownDeviation, KnownFinding, judge_clients
from rebalance_check.integration.live.nodes import with_coordinator_faults
from rebalance_check.integration.live.recording import reserve
from rebalance_check.integration.live.settings import ClientName, LiveOptions, LiveProtocol
from rebalance_check.integration.live.status_stores import StatusRun, run_status_stores
from rebalance_check.integration.live.subject import LiveSubject
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import Event
from rebalance_check.model.vocabulary.schedule import run
from rebalance_check.pipeline.limits import NO_LIMITS, Limits, Watch
from rebalance_check.properties.exit_codes import ExitCode, worst_exit_code
from rebalance_check.properties.history import read_history
from rebalance_check.properties.known import NOTHING_KNOWN, KnownEntry, KnownFindings
from rebalance_check.properties.verdict import Outcome, worst_outcome
from rebalance_check.report.claim_results import RUN_ENDS, ClaimResult
from rebalance_check.report.documents import judgement_document
from rebalance_check.report.terminal import visible

STATUS: Final = "status"
CONNECT: Final = "connect"


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveRuns:
    """The runs: ``status`` stores or consumers of a protocol, how large, how often disturbed, where histories go."""

    protocol: str
    members: int
    partitions: int
    steps: int
    clients: tuple[ClientName, ...]
    nodes: int
    out: Path
    claims: ClaimOptions
    path: str = ""
    assignors: tuple[str, ...] = ()
    workers: tuple[WorkerKind, ...] = (WorkerKind.JAVA,)
    mode: ConnectMode = ConnectMode.SESSIONED
    scenario: str = ""
    broker: str = ""
    known: KnownFindings = NOTHING_KNOWN

    def __post_init__(self) -> None:
        """Sizes and claims that do not serve are refused before a broker is started."""
        _ = self.claims.invariants()
        if self.protocol == CONNECT:
            _ = self.connect
            require_one_node(self.nodes, "Connect workers")
        elif self.protocol == STATUS:
            _ = self.stores
            require_one_node(self.nodes, "status stores")
        else:
            _ = self.churn, self.settings
            for client in self.clients:
                require_installed(client)

    @property
    def stores(self) -> StatusRun:
        """The run of status stores."""
        return StatusRun(workers=self.members, writes=self.steps)

    @property
    def connect(self) -> ConnectRun:
        """The run of Connect workers."""
        return ConnectRun(
            workers=self.workers, mode=self.mode, members=self.members, steps=self.steps, scenario=self.scenario
        )

    @property
    def churn(self) -> SimulationOptions:
        """The disturbances of the consumers."""
        return SimulationOptions(
            protocol=SimulatedProtocol(self.protocol),
            members=self.members,
            partitions=self.partitions,
            steps=self.steps,
            faults=COMMON_FAULTS,
            upgrade=self.path,
        )

    @property
    def name(self) -> str:
        """The beginning of the names of the run's files."""
        return self.connect.name if self.protocol == CONNECT else self.path or self.protocol

    @property
    def settings(self) -> LiveOptions:
        """How the consumers are set up."""
        protocol = LiveProtocol(self.protocol)
        settings = LiveOptions(
            protocol=protocol,
            clients=self.clients,
            upgrade=self.path,
            assignors=self.assignors,
        )
        return settings.for_cluster() if self.nodes > 1 else settings

    def history(self, broker: Broker, seed: int, folder: Path) -> Iterable[Event]:
        """The events of one run, when it is over; until then the raw recordings grow in ``folder``."""
        if self.protocol == CONNECT:
            return run_connect(broker, self.broker, seed, self.connect, folder)
        if self.protocol == STATUS:
            return run_status_stores(broker.bootstrap, seed, self.stores, folder)
        subject = LiveSubject(broker, self.settings, folder)
        schedule = churn_schedule(seed, self.churn)
        return run(subject, with_coordinator_faults(schedule) if broker.cluster else schedule)


def require_one_node(nodes: int, what: str) -> None:
    """Refuse a cluster.

    Raises: RebalanceCheckError for more than one node.
    """
    if nodes > 1:
        raise RebalanceCheckError(f"{what} run on one node, and --nodes is {nodes}: leave it out, or choose consumers")


@dataclass(frozen=True, slots=True)
class LiveJudged(Judged):
    """A live run that was judged: ``known`` violations are left out of its verdicts, and ``broke_off`` says why it
    stopped early (empty: it did not)."""

    known: tuple[KnownFinding, ...] = ()
    broke_off: str = ""

    @property
    def outcome(self) -> Outcome:
        """The run's outcome: at best undecided, where it broke off."""
        own = self.judgement.outcome
        return worst_outcome([own, Outcome.UNDECIDED]) if self.broke_off else own

    @property
    def exit_code(self) -> ExitCode:
        """The exit code that stands for it."""
        own = self.judgement.exit_code
        return worst_exit_code([own, ExitCode.UNDECIDED]) if self.broke_off else own

    def results(self) -> list[ClaimResult]:
        """The result of each claim, with the known facts on it, and that of a run that broke off."""
        found = [replace(each, notes=self._notes(each.claim)) for each in Judged.results(self)]
        if self.broke_off:
            subject, text = self.name, self.broke_off
            found.append(ClaimResult(subject=subject, claim=RUN_ENDS, outcome=Outcome.UNDECIDED, text=text))
        return found

    def _notes(self, claim: str) -> tuple[str, ...]:
        return tuple(f"{known} ({known.deviation.reason})" for known in self.known if known.deviation.claim == claim)


def live_runs(
    console: Console, broker: Broker, runs: LiveRuns, seeds: Sequence[int], limits: Limits = NO_LIMITS
) -> list[LiveJudged]:
    """Run and judge each seed in turn, until ``limits`` end that; when it is interrupted, the judged runs are shown."""
    watch = Watch(limits)
    judged: list[LiveJudged] = []

    def so_far() -> str:
        for one in judged:
            show_live(console, one)
        found = f"{sum(map(_found, judged))} found something"
        return f"{len(judged)} runs are judged, {found}; histories are kept in {runs.out}"

    with said_at_interruption(so_far), console.progress() as advance:
        for number, seed in enumerate(seeds):
            advance("live runs", number, len(seeds))
            judged.append(live_run(broker, runs, seed))
            say_first(console, judged)
            watch.note(is_new=_found(judged[-1]))
            if watch.is_over:
                break
    return judged


def _found(one: LiveJudged) -> bool:
    return bool(one.judgement.counterexamples)


def say_first(console: Console, judged: Sequence[LiveJudged]) -> None:
    """Say at once that the last run is the first in which something new was found."""
    *before, last = judged
    found = last.judgement.findings
    if found and not any(one.judgement.counterexamples for one in before):
        console.notice(f"first finding: {visible(last.name)}: {found[0].invariant}: {visible(found[0].headline)}")


def live_run(broker: Broker, runs: LiveRuns, seed: int) -> LiveJudged:
    """One run: its history is on disk before it is judged, up to where it broke off or was interrupted.

    Raises: RebalanceCheckError or OSError when the run failed before a member had started.
    """
    folder, path = reserve(runs.out, f"{runs.name}-{seed}")
    broke_off = recorded_until_end(path, folder, lambda: runs.history(broker, seed, folder), broker.bootstrap)
    invariants, require_tested = runs.claims.invariants(), runs.claims.require_tested
    found = judge_clients(read_history(path), invariants, require_tested=require_tested, listed=runs.known)
    return LiveJudged(path, found.judgement, known=found.known, broke_off=broke_off)


def show_live(console: Console, one: LiveJudged) -> None:
    """The verdict on one run, then why it broke off, then its clients' known findings."""
    show_judged(console, one)
    if one.broke_off:
        console.say(f"  the run broke off: {visible(one.broke_off)}")
    for known in one.known:
        console.say(f"  {visible(str(known))}")
        console.say(f"    {visible(known.deviation.reason)}")


def live_document(broker: Broker, judged: Sequence[LiveJudged], known: KnownFindings) -> dict[str, Any]:
    """The JSON form of live runs."""
    worst = max(judged, key=lambda one: list(Outcome).index(one.outcome))
    return {
        **judgement_document(worst.judgement),
        "verdict": worst.outcome.value,
        "broker": broker.name,
        "runs": len(judged),
        "events": sum(one.judgement.events for one in judged),
        "histories": [_history_document(one) for one in judged],
        "known_not_seen": [entry_document(entry) for entry in not_seen(known, judged)],
    }


def not_seen(known: KnownFindings, judged: Iterable[LiveJudged]) -> list[KnownEntry]:
    """The entries of the user's list that account for nothing in these runs."""
    seen = [found.deviation for one in judged for found in one.known]
    return [entry for entry in known.entries if entry not in seen]


def _history_document(one: LiveJudged) -> dict[str, Any]:
    return {
        "file": str(one.path),
        **judgement_document(one.judgement),
        "verdict": one.outcome.value,
        "broke_off": one.broke_off or None,
        "known": [known_document(known) for known in one.known],
    }


def known_document(known: KnownFinding) -> dict[str, Any]:
    """The JSON form of a violation that is known; client and releases are null where the user's list has it."""
    deviation = known.deviation
    built_in = deviation if isinstance(deviation, KnownDeviation) else None
    return {
        "invariant": deviation.claim,
        "of": deviation.of,
        "client": built_in and built_in.client.value,
        "releases": built_in and sorted(built_in.releases),
        "reason": deviation.reason,
        "headline": known.counterexample.headline,
    }
