"""Live clients on a broker: groups of real consumers under churn, a row for each claim that their histories tested."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rebalance_check.impl.protocol.messages import JoinGroupRequest, JoinProtocol
from rebalance_check.impl.runtime.options import COMMON_FAULTS, SimulatedProtocol, SimulationOptions
from rebalance_check.impl.simulator import churn_schedule
from rebalance_check.integration.kits.broker.socket_coordinator import SocketCoordinator
from rebalance_check.integration.kits.broker.target import Target
from rebalance_check.integration.kits.report import KitRow
from rebalance_check.integration.live.broken_off import recorded_until_end
from rebalance_check.integration.live.clients import is_installed
from rebalance_check.integration.live.known_deviations import judge_clients
from rebalance_check.integration.live.recording import reserve
from rebalance_check.integration.live.settings import ClientName, LiveOptions, LiveProtocol
from rebalance_check.integration.live.subject import LiveSubject
from rebalance_check.integration.wire.served import lacking
from rebalance_check.model.vocabulary.errors import Error, RebalanceCheckError
from rebalance_check.model.vocabulary.progress import ProgressListener, ignore_progress
from rebalance_check.model.vocabulary.schedule import run
from rebalance_check.properties.catalogue import CATALOGUE
from rebalance_check.properties.history import read_history
from rebalance_check.properties.judgement import Judgement
from rebalance_check.properties.kinds import Invariant, Kind
from rebalance_check.properties.verdict import Held, Outcome, Untested, Violated, worst

SECTION: Final = "live clients"

GROUPS: Final = {
    LiveProtocol.EAGER: (ClientName.OURS, ClientName.KAFKA_PYTHON, ClientName.LIBRDKAFKA),
    LiveProtocol.COOPERATIVE: (ClientName.LIBRDKAFKA, ClientName.KAFKA_PYTHON),
}
"""The clients that share a group under each rebalance protocol, as far as they are installed."""

SHORT_SESSION_MS: Final = 2_500
LONG_SESSION_MS: Final = 6_000
"""Kafka allows at least this where no operator has changed ``group.min.session.timeout.ms``."""

STEPS: Final = 8


@dataclass(frozen=True, slots=True)
class LiveResult:
    """One live run: its history, the judgement unless it has no event, and why it broke off ("" where it did not)."""

    path: Path
    judgement: Judgement | None
    broke_off: str


def live_rows(target: Target, progress: ProgressListener = ignore_progress) -> Iterator[KitRow]:
    """A row per claim that a run put to the test, and one that says whether each run came to its end."""
    if reason := lacking(target.broker.served, ("CreateTopics",)):
        yield KitRow(section=SECTION, claim="each live run comes to its end", outcome=Outcome.UNTESTED, detail=reason)
        return
    session_ms = SHORT_SESSION_MS if _allows_short_sessions(target) else LONG_SESSION_MS
    results = _live_runs(target, session_ms, progress)
    rows = (_row(target, claim, results) for claim in CATALOGUE)
    yield from (row for row in rows if row is not None)
    yield _ended(target, results)


def _live_runs(target: Target, session_ms: int, progress: ProgressListener) -> list[LiveResult]:
    """The groups run side by side: most of the time they wait for processes and sessions."""
    groups = {name: tuple(filter(is_installed, clients)) for name, clients in GROUPS.items()}
    results = []
    progress("live clients", 0, len(groups))
    with ThreadPoolExecutor(len(groups), thread_name_prefix="live") as pool:
        runs = [pool.submit(_live, target, *group, session_ms) for group in groups.items() if group[1]]
        for done, one in enumerate(runs, 1):
            results.append(one.result())
            progress("live clients", done, len(groups))
    return results


def _allows_short_sessions(target: Target) -> bool:
    """Whether the broker lets a member have a session of `SHORT_SESSION_MS`."""
    request = JoinGroupRequest(
        group_id="", version=5, client_id="rebalance-check", session_timeout_ms=SHORT_SESSION_MS,
        rebalance_timeout_ms=SHORT_SESSION_MS, member_id="", group_instance_id=None, protocol_type="consumer",
        protocols=(JoinProtocol("range", b""),),
    )  # fmt: skip
    with SocketCoordinator(target.broker, f"rebalance-check-{uuid.uuid4().hex[:12]}") as coordinator:
        coordinator.expect(1)
        replies = coordinator.handle(1, request, 0)
    return all(reply.error is not Error.INVALID_SESSION_TIMEOUT for _, reply in replies)


def _live(target: Target, protocol: LiveProtocol, clients: tuple[ClientName, ...], session_ms: int) -> LiveResult:
    options = LiveOptions(
        protocol=protocol, clients=clients, session_timeout_ms=session_ms, heartbeat_interval_ms=300,
        max_poll_interval_ms=2 * session_ms,
    )  # fmt: skip
    churn = SimulationOptions(
        protocol=SimulatedProtocol(protocol.value),
        members=len(clients) + 1,
        partitions=4,
        steps=STEPS,
        faults=COMMON_FAULTS,
    )
    folder, path = reserve(target.out, f"live-{protocol.value}")
    subject = LiveSubject(target.broker, options, folder)
    try:
        broke_off = recorded_until_end(
            path, folder, lambda: run(subject, churn_schedule(target.seed, churn)), target.broker.bootstrap
        )
    except (RebalanceCheckError, OSError) as failure:
        broke_off = str(failure)
    history = [*read_history(path)] if path.exists() else []
    return LiveResult(path, judge_clients(history).judgement if history else None, broke_off)


def _row(target: Target, claim: Invariant, results: Sequence[LiveResult]) -> KitRow | None:
    said = [(each, each.judgement.verdict(claim.name)) for each in results if each.judgement is not None]
    verdict = worst([verdict for _, verdict in said]) if said else Untested("")
    if isinstance(verdict, Untested):
        return None
    shown = next(each for each, one in said if one.outcome is verdict.outcome)
    return KitRow(
        section=SECTION,
        claim=claim.name,
        kind=claim.kind,
        outcome=verdict.outcome,
        checked=sum(one.checked_events for _, one in said if isinstance(one, Held)),
        detail=str(verdict.counterexample) if isinstance(verdict, Violated) else getattr(verdict, "reason", ""),
        history=str(shown.path),
        command=target.reproduces.part("live") if isinstance(verdict, Violated) else "",
    )


def _ended(target: Target, results: Sequence[LiveResult]) -> KitRow:
    broken = [each for each in results if each.broke_off]
    claim = "each live run comes to its end"
    if not broken:
        return KitRow(section=SECTION, claim=claim, outcome=Outcome.HELD, checked=len(results), kind=Kind.LIVENESS)
    return KitRow(
        section=SECTION, claim=claim, kind=Kind.LIVENESS, outcome=Outcome.VIOLATED, checked=len(results),
        detail=broken[0].broke_off, history=str(broken[0].path), command=target.reproduces.part("live"),
    )  # fmt: skip
