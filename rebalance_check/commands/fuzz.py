"""``rebalance-check fuzz``: seeds in, verdicts out."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import click

from rebalance_check.commands._bounds_options import path_option
from rebalance_check.commands._campaign_results import campaign_results
from rebalance_check.commands._ci_options import CiOptions, ci_options
from rebalance_check.commands._claim_options import ClaimOptions, claim_options, known_findings, known_option
from rebalance_check.commands._console import Console, said_at_interruption
from rebalance_check.commands._extras import needs
from rebalance_check.commands._fuzz_campaign import (
    FuzzCampaign,
    asked_seeds,
    campaign_on,
    draws_groups,
    subject_option,
)
from rebalance_check.commands._fuzz_options import DEFAULTS, options_of, search_options
from rebalance_check.commands._fuzz_result import fuzz_document, said_at_once, show_result
from rebalance_check.commands._options import (
    FILE,
    Command,
    chosen_rows,
    html_option,
    json_option,
    minutes_option,
    option,
    out_option,
    spark_option,
    stop_option,
    verbose_option,
    workers_option,
)
from rebalance_check.impl.runtime.options import ClusterMode, FaultKind, SimulatedProtocol
from rebalance_check.pipeline.fuzz import fuzz
from rebalance_check.pipeline.limits import Limits
from rebalance_check.pipeline.session import LOCAL_MASTER
from rebalance_check.pipeline.shrink import shrink
from rebalance_check.properties.catalogue import select
from rebalance_check.properties.history import write_history
from rebalance_check.report.documents import counterexample_document
from rebalance_check.report.runs import explained
from rebalance_check.report.terminal import visible


@click.command("fuzz", cls=Command)
@option("--seeds", metavar="FIRST:LAST",
        help="From FIRST up to, not including, LAST; without it 0:100.")  # fmt: skip
@minutes_option("Without --seeds, run seeds until then; end")
@option("--protocol", type=click.Choice([p.value for p in SimulatedProtocol]), default=DEFAULTS.protocol.value,
        show_default=True, help="The members' protocol; mixed: the seed decides.")  # fmt: skip
@option("--mode", type=click.Choice([m.value for m in ClusterMode]), default=DEFAULTS.mode.value, show_default=True,
        help="With --protocol connect: connect.protocol of all workers, of each worker (mixed), or of workers "
        "that are restarted from eager to compatible to sessioned (upgrade); exactly-once is sessioned with "
        "KIP-618.")  # fmt: skip
@option("--members", type=int, metavar="N", default=DEFAULTS.members, show_default=True,
        help="Consumers, workers or candidates, 1 to 12.")  # fmt: skip
@option("--partitions", type=int, metavar="N", default=DEFAULTS.partitions, show_default=True,
        help="Partitions of the topic, tasks of a connector, or status keys, 1 to 24.")  # fmt: skip
@option(
    "--steps",
    type=int,
    metavar="N",
    default=DEFAULTS.steps,
    show_default=True,
    help="Churn actions of the disturbed phase.",
)
@option("--faults", default="all", show_default=True, metavar="KIND,...",
        help=f"The kinds of faults, of which each seed draws its own subset: {', '.join(FaultKind)}; none, common "
        "(the first 8), or all but the last five, which groups of Kafka's own do not survive "
        "(all,loading-sync).")  # fmt: skip
@subject_option(
    "Whose group it is. simulator: members and coordinator are ours. virtual, virtual:3.9.2, ...: our "
                "members on Kafka's own coordinator, in virtual time. MODULE:FUNCTION: a subject of yours, which the "
                "function makes of a seed, and whose members start, stop, crash and pause as the seed says.",
)  # fmt: skip
@option("--mutant", default="", metavar="NAME",
        help="Switch on a planted defect (see `rebalance-check mutants`). Without --protocol its own search says "
        "what is not named here: seeds, protocol, mode, faults, steps.")  # fmt: skip
@claim_options
@option("--shrink", "shrinking", is_flag=True, help="Make each failing run as small as it gets.")
@known_option
@out_option("the history table", callback=needs("pyarrow"))
@html_option("every run, and the first ones with their lanes and steps")
@path_option("Consumers are upgraded from one assignor to another by rolling restarts.", rare=True)
@option("--omit", rare=True, default="none", metavar="INDEX,...", help="Leave out these churn actions (a shrunk run).")
@option("--actions", rare=True, metavar="ACTION,...",
        help="The churn, in the place of what seeds draw: StartMember m0, AdvanceClock m0 [500] (a shrunk "
        "run).")  # fmt: skip
@option("--choices", rare=True, metavar="CHOICE,...",
        help="The fate of messages and threads, in the place of what seeds draw; all else is quiet (a shrunk "
        "run; none: everything is).")  # fmt: skip
@stop_option
@option("--record", rare=True, type=FILE, metavar="FILE", help="Write the history of a failing run.")
@workers_option()
@spark_option("Simulate and judge")
@ci_options(rare=True)
@verbose_option(rare=True)
@json_option
def command(*, seeds: str | None, minutes: float | None, spark: str | None, workers: int | None,
            out: Path | None, claims: ClaimOptions, subject: str, known: Path | None, stop_at_first: bool,
            record: Path | None, shrinking: bool, html: Path | None, ci: CiOptions, as_json: bool,
            **sizes: Any) -> int:  # fmt: skip
    """Simulate groups under churn and faults, judge every run, and explain the shortest run that broke each invariant.

    A seed is one run, the same on every machine. The command that repeats a run stands below its explanation.
    """
    console, listed = Console(as_json), known_findings(known)
    options = search_options(options_of(**sizes))
    asked = asked_seeds(seeds, minutes, options)
    campaign = campaign_on(subject, asked, options, claims)
    console.say(visible(campaign.header))
    resumable = said_at_interruption("the same command goes on with the rest") if out is not None else nullcontext()
    with resumable, console.progress() as advance:
        result = fuzz(
            asked, campaign.options, engine="spark" if spark else "local", out=out, invariants=campaign.names,
            simulate=campaign.simulate, subject=campaign.subject, master=spark or LOCAL_MASTER, workers=workers,
            require_tested=claims.require_tested, list_runs=html is not None, known=listed, progress=advance,
            limits=Limits(stop_at_first, minutes and 60 * minutes),
            on_finding=said_at_once(console, campaign, stops=stop_at_first),
        )  # fmt: skip
    found = [explain_run(campaign, run, shrinking) for run in result.first_causes]
    if html is not None:
        from rebalance_check.commands._campaign_pages import page_of_seeds, write_campaign  # noqa: PLC0415 - needs an extra

        write_campaign(console, html, page_of_seeds(result, campaign))
    faults = campaign.options.faults if draws_groups(subject) else ()
    show_result(console, result, [text for text, _ in found], faults)
    if record is not None and result.first_causes:
        write_history(record, result.first_causes[0].history)
        console.say(f"history of seed {result.first_causes[0].seed}: {visible(str(record))}")
    shown = [(text, str(one["replay"])) for text, one in found]
    ci.write(console, "fuzz", lambda: campaign_results(campaign.header, result, shown, record), result.exit_code)
    document = fuzz_document(result) | {"counterexamples": [one for _, one in found]}
    return console.finish(document, result.exit_code)


def explain_run(campaign: FuzzCampaign, run: Any, shrinking: bool) -> tuple[str, dict[str, Any]]:
    """One failing run as text and as a document, shrunk first if that was asked for."""
    seed, options, unfinished = run.seed, campaign.options, ""
    history, found, replay = run.history, run.counterexample, campaign.command(seed)
    if shrinking:
        (broken,) = select([found.invariant])
        small = shrink(seed, options, broken, simulate=campaign.simulate)
        history, found, unfinished = small.history, small.counterexample, small.unfinished
        replay = f"{small.replay} {campaign.replayed}".rstrip()
    text, _, _ = explained(history, found, replay, context=chosen_rows())
    text += f"\n  {unfinished}" if unfinished else ""
    return text, {"seed": seed, "replay": replay, "events": len(history), **(counterexample_document(found) or {})}
