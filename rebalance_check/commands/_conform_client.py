"""``rebalance-check conform client``: any consumer program, run as a group, judged by what crosses the wire."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import click

from rebalance_check.commands._console import Console, said_at_interruption
from rebalance_check.commands._falsify_option import falsify_option
from rebalance_check.commands._findings import findings_in, show_findings
from rebalance_check.commands._kit_report import KitFiles, finish_kit, kit_file_options
from rebalance_check.commands._options import (
    FILE,
    Command,
    json_option,
    minutes_option,
    option,
    out_option,
    seed_option,
)
from rebalance_check.integration.exchange.fault_file import read_faults
from rebalance_check.integration.exchange.faults import FaultPlan
from rebalance_check.integration.kits.adapters.ready import ADAPTERS, adapter
from rebalance_check.integration.kits.client.kit import ClientKit
from rebalance_check.integration.kits.client.placeholders import INSTANCE, ClientCommand
from rebalance_check.integration.kits.client.run import ClientRun
from rebalance_check.integration.kits.client.scenarios import FAULTS, SCENARIOS, chosen_scenarios
from rebalance_check.integration.kits.client.verdicts import ScenarioResult, chosen_kips
from rebalance_check.integration.kits.report import KitRow
from rebalance_check.model.vocabulary.progress import ProgressListener
from rebalance_check.pipeline.diagnose.findings.finding import Severity
from rebalance_check.properties.history import read_history
from rebalance_check.properties.laws.by_kip import BY_KIP
from rebalance_check.report.terminal import suggested, visible

_READY = ", ".join(each.name for each in ADAPTERS)
_WIDTH = max(map(len, SCENARIOS))

TIMINGS_MS = {"session_ms": 6_000, "heartbeat_ms": 500, "rebalance_ms": 10_000}
"""Those of ready clients: the shortest session that a broker allows by default, so that a run takes little time."""

BROKER_HELP = "embedded, local (jars and java), testcontainers (Docker), or the HOST:PORT of a running broker."


@click.command("client", cls=Command)
@option("--adapter", "ready", default="", metavar="NAME",
              help=f"A ready client ({_READY}), with COMMAND as further arguments.")  # fmt: skip
@option("--protocol", type=click.Choice(["eager", "cooperative"]), default="eager", show_default=True,
              help="The rebalance protocol of a ready client.")  # fmt: skip
@option("--broker", default="embedded", show_default=True, help=BROKER_HELP)
@option("--members", type=click.IntRange(min=2), metavar="N", default=3, show_default=True,
              help="Processes of a group; most scenarios start one more for a while.")  # fmt: skip
@minutes_option("Begin no scenario", default=10.0)
@seed_option
@option("--kip", "kips", multiple=True, metavar="NAME",
              help=f"Judge the claims of this KIP alone: {', '.join(BY_KIP)}; default: all.")  # fmt: skip
@option("--scenario", "scenarios", multiple=True, metavar="NAME",
              help=f"Run this scenario alone: {', '.join(SCENARIOS)}; default: all.")  # fmt: skip
@option("--fault-file", type=FILE, metavar="FILE",
              help="Run a scenario in which the faults of this file strike, and those that are named.")  # fmt: skip
@option("--patience", rare=True, type=click.FloatRange(min=0.1), default=30.0, show_default=True, metavar="SECONDS",
              help="How long to wait for what the client has to do, besides its session timeout.")  # fmt: skip
@out_option("histories and the output of the client", default=Path(".rebalance-check/conform"))
@falsify_option
@kit_file_options
@json_option
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="[-- COMMAND...]")
def command(*, ready: str, protocol: str, broker: str, members: int, minutes: float, seed: int,
            kips: tuple[str, ...], scenarios: tuple[str, ...], fault_file: Path | None, patience: float, out: Path,
            falsifies: bool, files: KitFiles, as_json: bool, words: tuple[str, ...]) -> int:  # fmt: skip
    """Run COMMAND, any consumer program, as several processes of one group, and judge what crosses the wire.

    In its arguments {bootstrap}, {group} and {topic} are replaced for each process, and {member} and {instance} (the
    group.instance.id of a static member) where they stand. The program consumes the topic in the group until SIGTERM.

    Exit codes: 0 held, 10 or 11 violated, 12 the client hung or died midway, 2 it never connected.
    """
    console = Console(as_json)
    subject = client_subject(ready, protocol, words)
    if fault_file is not None:
        read_faults(fault_file)  # a file that cannot be read is refused before anything starts
    run = ClientRun(
        command=subject.command,
        subject=subject.name,
        scenarios=chosen_scenarios(
            scenarios, is_static=subject.command.has(INSTANCE), has_faults=fault_file is not None
        ),
        kips=chosen_kips(kips, BY_KIP),
        out=out,
        broker=broker,
        members=members,
        minutes=minutes,
        seed=seed,
        patience_s=patience,
        faults=FaultPlan if fault_file is None else partial(read_faults, fault_file),
    )
    count = f"{len(run.scenarios)} of {len(SCENARIOS)} scenarios"
    console.say(visible(f"{subject.name} on {broker}: {count}, histories in {out}"))
    with console.progress() as advance:
        shown = _Shown(console, len(run.scenarios), advance)
        kept = said_at_interruption(lambda: f"{shown.done} scenarios are judged above; histories are kept in {out}")
        with kept:
            report = ClientKit(run, partial(_again, run, subject, fault_file), shown, falsifies).report()
    return finish_kit(console, "conform client", report, files)


class ClientSubject(NamedTuple):
    """The program on trial: the command, its name in reports, and the ``words`` that name it on our command line."""

    command: ClientCommand
    name: str
    words: tuple[str, ...]


def client_subject(ready: str, protocol: str, words: tuple[str, ...]) -> ClientSubject:
    """The ready client of that name, built if need be, with these words as further arguments; or else their command.

    Raises: RebalanceCheckError when the client or the command cannot be run.
    """
    behind = ("--", *words) if words else ()
    if not ready:
        given = ClientCommand(words)
        return ClientSubject(given, str(given), behind)
    found = adapter(ready)
    own = found.command(protocol, static=found.static_members, **TIMINGS_MS)
    named = ("--adapter", ready, "--protocol", protocol, *behind)
    return ClientSubject(ClientCommand((*own, *words)), f"{found.title}, {protocol}", named)


def _again(run: ClientRun, subject: ClientSubject, faults: Path | None, scenario: str) -> str:
    """The command that runs one scenario again."""
    what = ("--fault-file", faults) if scenario == FAULTS.name and faults else ("--scenario", scenario)
    settings = ("--broker", run.broker, "--members", run.members, "--seed", run.seed)
    return suggested("conform", "client", *settings, *what, *subject.words)


class _Shown:
    """Says the outcome of each scenario as soon as it is judged."""

    def __init__(self, console: Console, scenarios: int, advance: ProgressListener) -> None:
        self._console = console
        self._scenarios = scenarios
        self._advance = advance
        self.done = 0

    def __call__(self, result: ScenarioResult, violated: Sequence[KitRow]) -> None:
        self.done += 1
        self._advance("scenarios", self.done, self._scenarios)
        events = f"{result.judgement.events:,} events in {result.seconds:.1f} s"
        self._console.say(f"  {result.name:<{_WIDTH}}  {result.judgement.outcome}, {events}")
        if result.cut:
            self._console.say(f"    cut short: {result.cut}")
        findings = findings_in(lambda: read_history(result.path), result.judgement.events)
        show_findings(self._console, [one for one in findings if one.severity is Severity.FAULT])
        for row in violated:
            self._console.say(f"    violated: {row.claim} ({row.section}): {row.headline}")
