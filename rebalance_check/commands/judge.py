"""``rebalance-check judge``: histories in, verdicts out."""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import click

from rebalance_check.commands._ci_options import CiOptions, ci_options
from rebalance_check.commands._claim_options import ClaimOptions, claim_options, known_findings, known_option
from rebalance_check.commands._console import Console, show_untested, verdict_line
from rebalance_check.commands._falsify_option import changes_document, falsify_option, show_changes
from rebalance_check.commands._findings import findings_documents, show_findings
from rebalance_check.commands._judged import Judged, Refused
from rebalance_check.commands._kafka_option import (
    CLAIM,
    acceptance_document,
    acceptances,
    kafka_option,
    outcome_of,
    show_acceptance,
)
from rebalance_check.commands._options import (
    Command,
    chosen_rows,
    html_option,
    json_option,
    option,
    refuse_others,
    spark_option,
    verbose_option,
)
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.progress import ProgressListener
from rebalance_check.properties.exit_codes import ExitCode, exit_code_of, worst_exit_code
from rebalance_check.properties.file_runs import runs_of_files
from rebalance_check.properties.files import judge_file, readable_events
from rebalance_check.properties.history import scan_history
from rebalance_check.properties.judgement import Judgement
from rebalance_check.properties.merging import HistoryPart, MergedHistory
from rebalance_check.properties.verdict import (
    Outcome,
    Untested,
    could_have_failed,
    names_by_reason,
    outcome_over_groups,
    worst_outcome,
)
from rebalance_check.report.claim_results import ClaimResult, unread_result
from rebalance_check.report.documents import judgement_document
from rebalance_check.report.runs import explained
from rebalance_check.report.terminal import suggested, visible

OF_FOLDERS: Final = frozenset(
    {"names", "exclude", "without", "require_tested", "html", "spark", "known", "junit", "github"}
)
OF_FILES: Final = OF_FOLDERS - {"spark", "known"} | {"separate", "max_skew", "falsifies", "as_kafka", "sarif_file"}


@click.command("judge", cls=Command)
@click.argument("histories", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="HISTORY...")
@claim_options
@option("--separate", is_flag=True, help="Judge each file as a run of its own.")
@option("--max-skew", type=click.IntRange(min=0, max=2**53), metavar="MS",
        help="The clocks of files of one run differ by at most so much, and order what lies further "
        "apart.")  # fmt: skip
@falsify_option
@kafka_option
@known_option
@html_option("every run, its verdict, lanes and steps")
@spark_option("Judge a folder")
@ci_options(sarif=True)
@verbose_option()
@json_option
def command(histories: tuple[Path, ...], claims: ClaimOptions, *, known: Path | None, ci: CiOptions,
            html: Path | None, spark: str | None, separate: bool, max_skew: int | None, falsifies: bool,
            as_kafka: bool, as_json: bool) -> int:  # fmt: skip
    """Judge recorded histories (JSON lines; `rebalance-check schema`), or a folder of `fuzz --out`.

    Files of one run are merged, in the order that generations, member ids, requests and replies give; claims resting on
    another order are undecided.

    Exits with 0 when the tested claims held, 10 when a safety invariant is violated, 11 when a liveness invariant is, 2
    when a file or a line cannot be read, 12 undecided: also when nothing was tested, and, with --require-tested, when
    any claim was not. It is the first of 10, 11, 2, 12, 0 that applies.
    """
    console = Console(as_json)
    _ = claims.invariants()  # refused before a file is opened
    if any(path.is_dir() for path in histories):
        from rebalance_check.commands._judge_table import judge_folder  # noqa: PLC0415 - needs the extra `tables`

        refuse_others("the folder of a campaign", OF_FOLDERS)
        return judge_folder(console, histories, claims, known=known_findings(known), spark=spark, ci=ci, html=html)
    refuse_others("history files", OF_FILES)
    judged, refused = judge_files(console, histories, claims, separate=separate, max_skew=max_skew)
    if falsifies:
        judged = [one.falsified() for one in judged]
    for one in judged:
        show_judged(console, one)
    for bad in refused:
        console.say(visible(f"{bad.path}: not judged: {bad.fault}"))
    if html is not None:
        from rebalance_check.commands._history_pages import write_histories  # noqa: PLC0415 - needs an extra

        write_histories(console, html, judged)
    accepted = [*acceptances(judged)] if as_kafka else []
    for acceptance in accepted:
        show_acceptance(console, acceptance)
    code = worst_exit_code([exit_code_of_files(judged, refused), *(exit_code_of(outcome_of(one)) for one in accepted)])
    ci.write(console, "judge", lambda: results_of_files(judged, refused), code)
    console.say(verdict_of(judged, len(refused), [outcome_of(one) for one in accepted]))
    document = judged_document(judged, refused)
    if as_kafka:
        document[CLAIM] = [acceptance_document(one) for one in accepted]
    return console.finish(document, code)


def judge_files(
    console: Console,
    paths: Sequence[Path],
    claims: ClaimOptions,
    *,
    separate: bool = False,
    max_skew: int | None = None,
) -> tuple[list[Judged], list[Refused]]:
    """Judge each run; a file that cannot be read hides no verdict on another.

    Raises: RebalanceCheckError when no file can be judged, or nothing says whether files are of one run.
    """
    refused = [] if len(paths) == 1 else [fault for path in paths if (fault := _refused(path))]
    rest = [path for path in paths if path not in {one.path for one in refused}]
    runs = [(path,) for path in rest] if separate or len(rest) == 1 else runs_of_files(rest)
    judged: list[Judged] = []
    with console.progress() as advance:
        for run in runs:
            try:
                judged.append(_judge_run(run, claims, max_skew, advance))
            except RebalanceCheckError as fault:
                refused += [Refused(path, str(fault)) for path in run]
            except Exception as fault:  # one file's verdict is there though we fail on another
                if len(runs) == 1:
                    raise
                console.notice("".join(traceback.format_exception(fault)))
                said = f"this is a fault of rebalance-check ({type(fault).__name__}: {fault}): please report it"
                refused += [Refused(path, said, ExitCode.OUR_FAULT) for path in run]
    if len(paths) > 1 and judged:
        console.say(f"{len(rest)} files, {len(runs)} {'run' if len(runs) == 1 else 'runs'}")
    if not judged:
        raise RebalanceCheckError("; ".join(one.fault for one in refused))
    return judged, refused


def _refused(path: Path) -> Refused | None:
    """Why not a single event of the file can be read."""
    try:
        next(readable_events(path), None)
    except RebalanceCheckError as fault:
        return Refused(path, str(fault))
    return None


def _judge_run(
    paths: tuple[Path, ...], claims: ClaimOptions, max_skew: int | None, advance: ProgressListener
) -> Judged:
    invariants, require_tested = claims.invariants(), claims.require_tested
    if len(paths) == 1:
        return Judged(paths[0], judge_file(paths[0], invariants, advance, require_tested=require_tested))
    merged = MergedHistory([HistoryPart(str(path), tuple(scan_history(path))) for path in paths], max_skew)
    return Judged(paths[0], merged.judge(invariants, require_tested=require_tested), paths, merged)


def results_of_files(judged: Sequence[Judged], refused: Sequence[Refused]) -> list[ClaimResult]:
    """The result of each claim on each file, for CI systems."""
    unread = [unread_result(str(bad.path), bad.fault) for bad in refused]
    return [result for one in judged for result in one.results()] + unread


def exit_code_of_files(judged: Sequence[Judged], refused: Sequence[Refused]) -> ExitCode:
    """The worst of all files."""
    return worst_exit_code([*(one.exit_code for one in judged), *(one.exit_code for one in refused)])


def judged_document(judged: Sequence[Judged], refused: Sequence[Refused]) -> dict[str, Any]:
    """The JSON form: the worst judgement, then each file; ``faults`` has the unreadable input."""
    worst = max(judged, key=lambda one: list(Outcome).index(one.outcome))
    return judgement_document(worst.judgement) | {
        "events": sum(one.judgement.events for one in judged),
        "histories": [
            {"file": one.name, "files": [str(path) for path in one.files], **judgement_document(one.judgement)}
            | ({"diagnosis": findings_documents(found)} if (found := one.findings()) else {})
            | ({"falsified_by": changes_document(one.changes)} if one.changes else {})
            for one in judged
        ],
        "faults": [one.fault for one in refused] + [line.fault for one in judged for line in one.judgement.unread],
    }


def verdict_of(judged: Sequence[Judged], refused: int = 0, as_kafka: Sequence[Outcome] = ()) -> str:
    """The last line on histories: the invariants that any of them breaks, and how many could have failed in any.

    ``as_kafka`` are the outcomes of their groups at the reference coordinator.
    """
    judgements = [one.judgement for one in judged]
    broken = [found.invariant for judgement in judgements for found in judgement.findings]
    broken += [CLAIM] if Outcome.VIOLATED in as_kafka else []
    found = outcomes_over_histories(judgements)
    events = sum(judgement.events for judgement in judgements)
    histories = f" of {len(judged)} histories" if len(judged) > 1 else ""
    missing = f"; {refused} not judged" if refused else ""
    about = f"{could_have_failed(found)} on {events:,} events{histories}{missing}"
    return verdict_line(worst_outcome([*(one.outcome for one in judged), *as_kafka]), broken, about)


def outcomes_over_histories(judgements: Sequence[Judgement]) -> list[Outcome]:
    """For each invariant, the outcome over all histories; untested only where it is so in all."""
    each: dict[str, list[Outcome]] = {}
    for judgement in judgements:
        for invariant, verdict in judgement.verdicts.items():
            each.setdefault(invariant.name, []).append(verdict.outcome)
    return [outcome for outcomes in each.values() if (outcome := outcome_over_groups(outcomes)) is not None]


def show_judged(console: Console, one: Judged) -> None:
    """The verdict on one history, then every counterexample, then the undecided claims."""
    judgement = one.judgement
    console.say(f"{visible(one.name)}: {one.outcome} ({judgement.could_have_failed} on {judgement.events} events)")
    if judgement.counterexamples:
        history = one.events()
        for found in judgement.findings:
            again = suggested("judge", *one.files, "--invariant", found.invariant)
            text, _, _ = explained(history, found, again, context=chosen_rows())
            console.say(f"\n{text}\n")
    show_changes(console, one.changes)
    show_unread(console, judgement)
    show_undecided(console, judgement)
    show_findings(console, one.findings())
    show_untested_in(console, judgement)


def show_unread(console: Console, judgement: Judgement) -> None:
    """The lines that could not be read: the first of them in full, the others as a number."""
    for line in judgement.unread:
        console.say(f"  cannot be read: {visible(line.fault)}")
    if judgement.unread_count > len(judgement.unread):
        console.say(f"  cannot be read: {judgement.unread_count - len(judgement.unread):,} more lines")


def show_untested_in(console: Console, judgement: Judgement) -> None:
    """The invariants that nothing in a history could have broken."""
    untested = {i: v.reason for i, v in judgement.verdicts.items() if isinstance(v, Untested)}
    show_untested(console, untested, required=judgement.require_tested)


def show_undecided(console: Console, judgement: Judgement) -> None:
    """Each reason for which something is undecided, after the names of the invariants."""
    for reason, names in names_by_reason(judgement.undecided).items():
        console.say(f"  undecided: {', '.join(names)}: {visible(reason)}")
