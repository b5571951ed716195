"""``rebalance-check diagnose``: the cause of a rebalance problem, from logs, dumps and topics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Final

import click

from rebalance_check.commands._ci_options import CiOptions, ci_options
from rebalance_check.commands._console import Console, write_page
from rebalance_check.commands._extras import require
from rebalance_check.commands._options import (
    FILE,
    Command,
    html_option,
    json_option,
    option,
    refuse_others,
    spark_option,
)
from rebalance_check.pipeline.diagnose.diagnosis import Diagnosis, of_sources, read_paths
from rebalance_check.pipeline.diagnose.findings.finding import Severity, Thresholds, times
from rebalance_check.pipeline.diagnose.findings.rules import RULES
from rebalance_check.pipeline.diagnose.redaction import redacted
from rebalance_check.properties.exit_codes import ExitCode
from rebalance_check.properties.verdict import Outcome
from rebalance_check.report.claim_results import ClaimResult
from rebalance_check.report.diagnosis.document import diagnosis_document
from rebalance_check.report.diagnosis.text import finding_lines, lines

_DEFAULTS: Final = Thresholds()
ON_SPARK: Final = frozenset(
    {"only", "whole", "fail_on", "storm_rebalances", "join_ms", "max_skew", "spark", "junit", "github"}
)
"""The options that go together with ``--spark``."""


@click.command("diagnose", cls=Command)
@click.argument("sources", nargs=-1, metavar="[SOURCE]...")
@option("--bootstrap", metavar="HOST:PORT", help="Read a running cluster, too; nothing is written, no group is joined.")
@option(
    "--command-config", "config", type=FILE, metavar="FILE", help="Its security settings, as Kafka's tools take them."
)
@option("--topic", "topics", multiple=True,
        help="Read this topic of the cluster, too: Connect's status and config topics; may be repeated.")  # fmt: skip
@option("--group", "only", multiple=True, help="Diagnose this group alone; may be repeated.")
@option("--timeline", "whole", is_flag=True, help="Show every row of a long timeline.")
@html_option("the answer, lanes of generations, members and owners over time, and the log lines behind them")
@option("--redact", is_flag=True, help="Replace the names of groups, topics, members, clients, instances, hosts "
        "and files, and addresses, in every output; free texts of applications stay.")  # fmt: skip
@option("--fail-on", type=click.Choice([Severity.FAULT.value, Severity.COST.value]), default=Severity.FAULT.value,
        show_default=True, help="Exit with 11 for findings that are as bad as this.")  # fmt: skip
@option("--storm-rebalances", type=click.IntRange(min=1), default=_DEFAULTS.storm_rebalances, show_default=True,
        rare=True, metavar="N", help="More rebalances in ten minutes are a storm.")  # fmt: skip
@spark_option("Read and diagnose files, folders and addresses (s3a://...)")
@option("--join-ms", type=click.IntRange(min=1), default=_DEFAULTS.join_ms, show_default=True, rare=True,
        metavar="MS", help="A longer join phase is a cost.")  # fmt: skip
@option("--max-skew", type=click.IntRange(min=0, max=2**53), metavar="MS", rare=True,
        help="The clocks of files that share no generation differ by at most so much.")  # fmt: skip
@option("--rules", "lists_rules", is_flag=True, rare=True,
        help="List the rules of all findings, with thresholds, sources and remedies, and end.")  # fmt: skip
@ci_options()
@json_option
def command(sources: tuple[str, ...], *, bootstrap: str | None, config: Path | None, topics: tuple[str, ...],
            only: tuple[str, ...], whole: bool, html: Path | None, redact: bool, fail_on: str, max_skew: int | None,
            storm_rebalances: int, join_ms: int, lists_rules: bool, spark: str | None, ci: CiOptions,
            as_json: bool) -> int:  # fmt: skip
    """Say why groups rebalance, from any mix of logs of brokers, clients and Connect workers, in files and folders.

    Each file is recognised by its content, whatever its layout; rotated and compressed files are read in order. The
    answer comes first, then a timeline, then how each source was read.

    Exits with 10 for a safety fault, 11 for a storm, a stuck group or another fault, 0 for costs and notes, 12 where no
    source says anything about a group, 2 for wrong use.
    """
    console = Console(as_json)
    if lists_rules:
        return _list_rules(console)
    limits = Thresholds(storm_rebalances=storm_rebalances, join_ms=join_ms, max_skew_ms=max_skew)
    if spark is not None:
        refuse_others("--spark", ON_SPARK)
        return _say(console, _on_spark(spark, sources, only, limits), ci, fail_on, whole=whole)
    read = read_paths([Path(one) for one in sources])
    if bootstrap is not None:
        require("kafka")
        from rebalance_check.commands._cluster_source import cluster_sources  # noqa: PLC0415 - needs an extra

        read += cluster_sources(bootstrap, config, topics, only)
    if not read:
        raise click.UsageError("Name a file, a folder, or --bootstrap HOST:PORT.")
    if redact:
        read, only = redacted(read, only)
    return _say(console, of_sources(read, only, limits), ci, fail_on, whole=whole, html=html)


def _on_spark(master: str, sources: Sequence[str], only: Sequence[str], limits: Thresholds) -> Diagnosis:
    from rebalance_check.pipeline.session import spark_session  # noqa: PLC0415 - needs an extra

    if not sources:
        raise click.UsageError("Name a file, a folder or an address.")
    with spark_session(master) as session:
        from rebalance_check.pipeline.diagnose.spark.engine import diagnose_on_spark  # noqa: PLC0415 - needs an extra

        return diagnose_on_spark(session, sources, only, limits)


def _say(
    console: Console, found: Diagnosis, ci: CiOptions, fail_on: str, *, whole: bool, html: Path | None = None
) -> int:
    for line in lines(found, whole=whole):
        console.say(line)
    if html is not None:
        from rebalance_check.report.diagnosis.page import diagnosis_page  # noqa: PLC0415 - needs the extra `report`

        write_page(console, html, diagnosis_page(found))
    code = ExitCode(found.exit_code(Severity(fail_on)))
    ci.write(console, "diagnose", lambda: results(found), code)
    console.say()
    console.say(f"diagnosis: {_summary(found)}")
    return console.finish(diagnosis_document(found), code)


def _list_rules(console: Console) -> int:
    for rule in RULES.values():
        console.say(f"{rule.name}: {rule.claim}")
        for label, text in (("threshold", rule.threshold), ("source", rule.source), ("remedy", rule.remedy)):
            console.say(f"  {label:<10}{text}")
    return console.finish({"rules": [asdict(rule) for rule in RULES.values()]})


def _summary(found: Diagnosis) -> str:
    if not found.was_read:
        return "no source says anything about a group: see which lines were not understood"
    counts = [sum(one.severity is severity for one in found.findings) for severity in Severity]
    return ", ".join(times(count, severity.value) for count, severity in zip(counts, Severity, strict=True)) + (
        f" in {times(len(found.groups), 'group')}, {times(found.generations, 'rebalance')}"
    )


def results(found: Diagnosis) -> list[ClaimResult]:
    """The findings as results for CI systems: a fault is a failure, a cost or a note passes with its text."""
    return [
        ClaimResult(
            subject=f"group {finding.group}", claim=finding.rule.name,
            outcome=Outcome.VIOLATED if finding.severity is Severity.FAULT else Outcome.HELD,
            sentence=finding.title, text="\n".join([finding.title, *finding_lines(finding)]),
        )
        for finding in found.findings
    ]  # fmt: skip
