"""``rebalance-check run``: the whole job at small bounds."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import click

from rebalance_check.commands import _compare_model as of_model
from rebalance_check.commands._ci_options import CiOptions, ci_options
from rebalance_check.commands._console import Console, verdict_line, write_page
from rebalance_check.commands._exploration_report import exploration_document, outcome_of
from rebalance_check.commands._extras import EXTRAS
from rebalance_check.commands._fuzz_result import fuzz_document
from rebalance_check.commands._options import Command, html_option, json_option, option
from rebalance_check.commands._search_line import search_line
from rebalance_check.impl.runtime.options import SimulationOptions
from rebalance_check.integration.brokers import open_broker
from rebalance_check.integration.comparison.to_model.schedules import walks
from rebalance_check.model.checker.safety import explore
from rebalance_check.model.execution import execute
from rebalance_check.model.registry import model_for
from rebalance_check.model.vocabulary.bounds import Bounds, RebalanceProtocol
from rebalance_check.pipeline.campaign import parse_seeds
from rebalance_check.pipeline.fuzz import fuzz
from rebalance_check.pipeline.seed_run import replay_command as seed_command
from rebalance_check.pipeline.session import java_available
from rebalance_check.properties.exit_codes import ExitCode, exit_code_of, worst_exit_code
from rebalance_check.properties.verdict import Outcome
from rebalance_check.report.claim_results import ClaimResult
from rebalance_check.report.documents import counterexample_document
from rebalance_check.report.pages.shown_run import ShownRun
from rebalance_check.report.paths import path_text, shown_path
from rebalance_check.report.runs import explained
from rebalance_check.report.shown_histories import shown_seed
from rebalance_check.report.terminal import visible

EXPLORED: Final = (
    Bounds(protocol=RebalanceProtocol.EAGER, members=3, partitions=2, generations=3, crashes=1),
    Bounds(protocol=RebalanceProtocol.COOPERATIVE, members=3, partitions=2, generations=3, crashes=1),
    Bounds(protocol=RebalanceProtocol.STATUS, members=2, partitions=1, generations=2, crashes=0, writes=2),
)
"""The bounds that are exhausted: seconds each, also where they are compiled first."""

TABLE_SEEDS: Final = 40

WALKED: Final = Bounds(members=3, partitions=2, generations=4, crashes=2, leaves=1, expiries=1, initial_delay=False)


@dataclass(slots=True)
class Part:
    """One part of the job: the work, figures in words, the exit code it would have alone, and its document.

    ``shown`` are the runs that broke a claim, for a page.
    """

    name: str
    what: str
    figures: str
    code: ExitCode
    document: dict[str, Any]
    findings: list[str] = field(default_factory=list)
    seconds: float = 0.0
    shown: list[ShownRun] = field(default_factory=list)

    def result(self) -> ClaimResult:
        """The part as one result, for CI systems."""
        text = "\n\n".join([*self.findings, self.figures])
        return ClaimResult(subject="run", claim=f"{self.name} {self.what}", outcome=self.code.outcome, text=text)


@click.command("run", cls=Command)
@option("--seeds", default="0:200", show_default=True, metavar="FIRST:LAST", help="The seeds to fuzz.")
@option("--walks", type=click.IntRange(1, 1_000_000), default=60, show_default=True, metavar="N",
        help="Take N random walks through the model, per protocol, on the broker.")  # fmt: skip
@option("--broker", default="embedded", show_default=True, help="The broker to compare with; see `live --help`.")
@html_option("every part of the job, and the runs that broke a claim")
@ci_options()
@json_option
def command(*, seeds: str, walks: int, broker: str, html: Path | None, ci: CiOptions, as_json: bool) -> int:
    """Explore small bounds, fuzz some seeds, compare a broker with the model, judge a small table; print one verdict.

    Takes a few minutes at most. It leaves out a part whose library is not installed, and says so; where there is no
    Java, the table is made by processes of this machine.
    """
    console, numbers = Console(as_json), parse_seeds(seeds)  # refused before the first minute is spent
    open_broker(broker)  # refuses a text without a broker; nothing starts before it is entered
    console.say(visible(f"run: seeds {seeds}, {walks} walks per protocol on {broker}"))
    done = [timed(console, each) for each in parts(console, numbers, walks, broker)]
    if html is not None:
        write_parts(console, html, done)
    return finish(console, done, ci)


def parts(console: Console, seeds: range, count: int, broker: str) -> Iterator[Callable[[], Part]]:
    """The parts of the job for which everything is installed; the others are named."""
    for bounds in EXPLORED:
        yield partial(explored, bounds)
    if is_installed(console, "networkx", "liveness"):
        for bounds in EXPLORED:
            if model_for(bounds).liveness:
                yield partial(live_in, bounds)
    yield partial(campaign, console, "fuzz", seeds, "local", None)
    for protocol in ("eager", "cooperative"):
        yield partial(compared, console, broker, protocol, count)
    if is_installed(console, "pyarrow", "table"):
        yield partial(tabled, console, seeds[:TABLE_SEEDS])


def is_installed(console: Console, library: str, part: str) -> bool:
    """Whether a library is there; where it is not, the user reads which part is left out."""
    if find_spec(library) is not None:
        return True
    console.say(f"  left out  {part}: it needs {library}, which is not installed: "
                f"pip install 'rebalance-check[{EXTRAS[library]}]'")  # fmt: skip
    return False


def timed(console: Console, work: Callable[[], Part]) -> Part:
    """Do one part, and print its outcome at once."""
    started = time.monotonic()
    part = work()
    part.seconds = time.monotonic() - started
    for finding in part.findings:
        console.say(f"\n{finding}\n")
    console.say(f"  {part.code.outcome:<9} {part.name} {part.what}: {part.figures} ({part.seconds:.0f} s)")
    return part


def explored(bounds: Bounds) -> Part:
    """Exhaust one bound of the model."""
    with search_line() as line:
        compiled = find_spec("llvmlite") is not None
        found = explore(model_for(bounds), bounds, compiled=compiled, progress=line)
    figures = f"{found.distinct:,} states, {found.generated:,} transitions, {found.states_per_second:,.0f} states/s"
    run = execute(found.counterexample) if found.counterexample else None
    findings = [path_text(run, found.violated)] if run else []
    document = exploration_document(found, run)
    part = Part("explore", str(bounds.protocol), figures, exit_code_of(outcome_of(found)), document, findings)
    part.shown = [shown_path(run, found.violated)] if run else []
    return part


def live_in(bounds: Bounds) -> Part:
    """Check the liveness properties of the model at one bound."""
    from rebalance_check.commands import _liveness  # noqa: PLC0415 - needs an extra
    from rebalance_check.model.checker.liveness import check_liveness  # noqa: PLC0415 - the same

    with search_line() as line:
        found = check_liveness(model_for(bounds), bounds, compiled=find_spec("llvmlite") is not None, progress=line)
    figures = f"{found.states:,} states, {found.steps:,} steps, {found.components:,} fair terminal components"
    runs = _liveness.executed(found)
    code, document = _liveness.liveness_exit_code(found), _liveness.liveness_document(found, runs)
    part = Part("liveness", str(bounds.protocol), figures, code, document, _liveness.findings(runs))
    part.shown = _liveness.shown_lassos(runs)
    return part


def tabled(console: Console, seeds: range) -> Part:
    """Make a small history table and judge it, with Spark where there is a Java for it."""
    spark = java_available() and find_spec("pyspark") is not None
    with tempfile.TemporaryDirectory(prefix="rebalance-check-run-") as folder:
        part = campaign(console, "table", seeds, "spark" if spark else "local", Path(folder) / "table")
    if not spark:
        missing = "no PySpark" if java_available() else "no Java"
        part.what += f" ({missing}: local engine)"
        console.say(f"  {missing} was found, so the table is made and judged by the local engine instead of Spark")
    return part


def campaign(console: Console, name: str, seeds: range, engine: str, out: Path | None) -> Part:
    """One campaign of the pipeline."""
    options = SimulationOptions()
    with console.progress() as advance:
        result = fuzz(seeds, options, engine=engine, out=out, progress=advance)
    findings = [
        explained(run.history, run.counterexample, seed_command(run.seed, options))[0] for run in result.first_causes
    ]
    figures = f"{result.runs:,} runs, {result.events:,} events, {len(result.failing_seeds)} failing seeds"
    document = fuzz_document(result) | {
        "counterexamples": [
            {"seed": run.seed, **(counterexample_document(run.counterexample) or {})} for run in result.first_causes
        ]
    }
    part = Part(name, f"{engine}, seeds {seeds.start}:{seeds.stop}", figures, result.exit_code, document, findings)
    part.shown = [shown_seed(run, seed_command(run.seed, options)) for run in result.first_causes]
    return part


def compared(console: Console, broker: str, protocol: str, count: int) -> Part:
    """Take walks through the model on the broker, and judge the histories."""
    bounds = replace(WALKED, protocol=RebalanceProtocol(protocol))
    with tempfile.TemporaryDirectory(prefix="rebalance-check-run-") as folder, open_broker(broker) as opened:
        result = of_model.replay_watched(console, opened, list(walks(bounds, count)), Path(folder))
        judged = of_model.judge_replayed(result)
        differences = of_model.compared_by(result)
        document = of_model.replay_document(differences, judged)
    code = ExitCode.SAFETY if result.differences else of_model.safety_of(judged)
    figures = f"{result.schedules} schedules, {result.requests:,} requests, {len(result.differences)} differences"
    findings = [f"{one}\n  again: {of_model.command_of(one.start.schedule, broker)}" for one in result.differences[:3]]
    return Part("compare", f"{protocol} model and {result.broker}", figures, code, document, findings)


def write_parts(console: Console, html: Path, done: list[Part]) -> None:
    """A page with every part, and after it the runs that broke a claim in it."""
    from rebalance_check.report.pages.run_pages import ListedRun, run_page  # noqa: PLC0415 - needs an extra

    runs: list[ListedRun] = []
    for part in done:
        runs.append(ListedRun(f"{part.name} {part.what}", part.code.outcome, note=part.figures))
        runs += [ListedRun.of(run) for run in part.shown]
    write_page(console, html, run_page(runs, [f"run: {sum(part.seconds for part in done):.0f} s"]))


def finish(console: Console, done: list[Part], ci: CiOptions) -> int:
    """The summary, and the worst verdict."""
    code = worst_exit_code(part.code for part in done)
    console.say()
    console.table(
        "",
        ("part", "of", "result", "seconds", "verdict"),
        [(s.name, s.what, s.figures, f"{s.seconds:.1f}", s.code.outcome) for s in done],
    )
    ci.write(console, "run", lambda: [part.result() for part in done], code)
    broken = [part.name for part in done if part.code.outcome is Outcome.VIOLATED]
    held = sum(part.code.outcome is Outcome.HELD for part in done)
    about = f"{held} of {len(done)} parts held, {sum(part.seconds for part in done):.0f} s"
    console.say(f"\n{verdict_line(code.outcome, broken, about)}")
    document = {
        "verdict": code.outcome,
        "seconds": round(sum(part.seconds for part in done), 1),
        "parts": [
            {"name": s.name, "of": s.what, "verdict": s.code.outcome, "seconds": round(s.seconds, 1), **s.document}
            for s in done
        ],
    }
    return console.finish(document, code)
