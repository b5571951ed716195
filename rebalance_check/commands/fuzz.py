"""``rebalance-check fuzz``: seeds in, verdicts out."""

from __future__ import annotations

from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import click

from rebalance_check.commands._campaign_options import (
    CampaignOptions,
    KnownOptions,
    campaign_options,
    known_options,
    refuse_campaign_options,
)
from rebalance_check.commands._campaign_results import campaign_results
from rebalance_check.commands._ci_options import CiOptions, ci_options
from rebalance_check.commands._claim_options import ClaimOptions, claim_options
from rebalance_check.commands._console import (
    Console,
    html_option,
    json_option,
    said_at_interruption,
)
from rebalance_check.commands._fuzz_campaign import BROKER_SUBJECT, GROUPS_SUBJECT, SUBJECTS, campaign_on
from rebalance_check.commands._fuzz_limits import SeedsOfCampaign, limits_of
from rebalance_check.commands._fuzz_no_histories import fuzz_without_histories, has_histories, require_runs
from rebalance_check.commands._fuzz_options import DEFAULTS, options_of, search_options
from rebalance_check.commands._fuzz_own import subject_option
from rebalance_check.commands._fuzz_result import fuzz_document, said_at_once, show_result
from rebalance_check.commands._fuzz_seeds import CHOOSING, asked_seeds, refuse_runs
from rebalance_check.commands._minutes import Minutes
from rebalance_check.commands._rows_option import chosen_rows, rows_option
from rebalance_check.commands._upgrade_option import path_option
from rebalance_check.impl.mutants import planted
from rebalance_check.impl.runtime.options import (
    ClusterMode,
    FaultKind,
    SimulatedProtocol,
    SimulationOptions,
)
from rebalance_check.impl.scenarios.random_scenarios_wide import wide_scenario
from rebalance_check.impl.simulator import simulate as simulator
from rebalance_check.pipeline.campaign import Simulate, parse_seeds
from rebalance_check.pipeline.fuzz import ENGINES, fuzz
from rebalance_check.pipeline.scenario_runs import (
    SUBJECT,
    break_scenario,
    scenario_command,
    shrink_scenario,
)
from rebalance_check.pipeline.seed_run import replay_command
from rebalance_check.pipeline.shrink import shrink
from rebalance_check.properties.catalogue import select
from rebalance_check.properties.history import write_history
from rebalance_check.report.documents import counterexample_document
from rebalance_check.report.runs import explained
from rebalance_check.report.terminal import visible


@click.command("fuzz")
@click.option(
    "--seeds", default="0:100", metavar="FIRST:LAST",
    help="Exactly these, from FIRST up to, not including, LAST. Without it, simulated groups have their seeds chosen "
    "(--runs), and all else runs 0:100.",
)  # fmt: skip
@click.option("--runs", type=click.IntRange(min=1), metavar="N",
              help="Run so many seeds (default: 100), each round of them chosen by what the runs before it reached; "
              "with --seeds, from these.")  # fmt: skip
@subject_option(SUBJECTS,
              help=f"{SUBJECT}: no group, but random scenarios of requests, faults and time on our coordinator. "
              "With it go --seeds, --steps (lines of a scenario, default 40), --mutant, --invariant, --shrink and "
              "where runs are kept. "
              f"{BROKER_SUBJECT}: random frames at the embedded broker; with it go --seeds, --frames, --over. "
              f"{GROUPS_SUBJECT}: simulated groups on Kafka's own coordinators; it needs --broker virtual. "
              "MODULE:FUNCTION: a subject of yours, which the function makes from a seed.",
              )  # fmt: skip
@click.option("--protocol", type=click.Choice([p.value for p in SimulatedProtocol]), default=DEFAULTS.protocol.value,
              show_default=True)  # fmt: skip
@click.option("--mode", type=click.Choice([m.value for m in ClusterMode]), default=DEFAULTS.mode.value,
              show_default=True,
              help="With --protocol connect: connect.protocol of all workers, of each worker (mixed), or of workers "
              "that are restarted from eager to compatible to sessioned (upgrade); exactly-once is sessioned with "
              "KIP-618.")  # fmt: skip
@click.option("--members", type=int, default=DEFAULTS.members, show_default=True,
              help="Consumers, workers or candidates, 1 to 12.")  # fmt: skip
@click.option("--partitions", type=int, default=DEFAULTS.partitions, show_default=True,
              help="Partitions of the topic, tasks of a connector, or status keys, 1 to 24.")  # fmt: skip
@click.option(
    "--steps", type=int, default=DEFAULTS.steps, show_default=True, help="Churn actions of the disturbed phase."
)
@click.option("--faults", default="all", show_default=True, metavar="KIND,...",
              help=f"What may go wrong, of which each seed draws its own subset: {', '.join(FaultKind)}; none, common "
              "(the first 8), or all but the last five, which groups of Kafka's own do not survive "
              "(all,loading-sync).")  # fmt: skip
@path_option("Consumers are upgraded from one assignor to another by rolling restarts.")
@click.option("--omit", default="none", metavar="INDEX,...", help="Leave out these churn actions (a shrunk run).")
@click.option(
    "--actions",
    metavar="ACTION,...",
    help="The churn, in the place of what seeds draw: StartMember m0, AdvanceClock m0 [500] (a shrunk run).",
)
@click.option("--choices", metavar="CHOICE,...",
          help="What happens to messages and threads, in the place of what seeds draw; all else is quiet (a shrunk "
              "run; none: everything is).")  # fmt: skip
@click.option("--mutant", default="", metavar="NAME",
              help="Switch on a planted defect (see `rebalance-check mutants`). Without --protocol its own search says "
              "what is not named here: seeds, protocol, mode, faults, steps.")  # fmt: skip
@click.option("--engine", type=click.Choice(ENGINES), default="local", show_default=True)
@click.option("--master", default="local[*]", show_default=True, help="The Spark master.")
@click.option("--workers", type=click.IntRange(1, 256), help="Processes of the local engine (default: one per core).")
@click.option(
    "--out", type=click.Path(path_type=Path), metavar="DIR", help="Keep the history table; resumes what is there."
)
@claim_options
@click.option("--broker", metavar="BROKER",
              help="Not the simulator but Kafka's own coordinator: virtual, virtual:3.9.2, ... With it go --seeds, "
              "--steps, --invariant, --variants, --minutes. Or a live one: local, testcontainers.")  # fmt: skip
@click.option("--frames", type=click.IntRange(min=1), default=1_000, show_default=True,
              help=f"With --subject {BROKER_SUBJECT}: frames of each seed.")  # fmt: skip
@click.option("--over", type=click.Choice(["in-process", "sockets"]), default="in-process", show_default=True,
              help=f"With --subject {BROKER_SUBJECT}: how the frames get there.")  # fmt: skip
@click.option("--wire", is_flag=True,
              help="With --broker (virtual, local, testcontainers, HOST:PORT): random requests of all group apis, in "
              "old versions, too, and answers that must be those of the embedded broker. With it go --seeds, "
              "--frames (of each seed, default 300) and --shrink.")  # fmt: skip
@click.option("--variants", type=click.IntRange(min=1), default=1, show_default=True,
              help="With --broker: how many different findings of each claim to look for.")  # fmt: skip
@click.option("--minutes", type=Minutes(zero=True), default=0.0,
              help="End after so many minutes; without --seeds and --runs, run seeds until then. With --broker: go on "
              "with further seeds until so many minutes are over.")  # fmt: skip
@known_options
@campaign_options
@click.option("--history", type=click.Path(path_type=Path), metavar="FILE", help="Write a failing run there.")
@click.option("--shrink", "shrinking", is_flag=True, help="Make each failing run as small as it gets.")
@html_option("Write a page with every run, and the first ones with their lanes and steps.")
@rows_option
@ci_options(sarif=True)
@json_option
def command(*, seeds: str, runs: int | None, engine: str, master: str, workers: int | None, out: Path | None,
            claims: ClaimOptions, subject: str, broker: str | None, known: KnownOptions, ends: CampaignOptions,
            history: Path | None, shrinking: bool, html: Path | None, ci: CiOptions,
            as_json: bool, **sizes: Any) -> int:  # fmt: skip
    """Simulate seeds, judge every run, and explain the shortest run that broke each claim.

    With --subject coordinator, a seed is a random scenario on our own coordinator. By default it is judged by all
    invariants but the family `expectations`, which some coordinators of Kafka break, and ours as they do.

    With --subject broker, each seed is random frames of all apis and versions, well-formed and not, to a new embedded
    broker. It must answer or refuse each, serve a well-behaved client meanwhile, and list its groups at the end.

    With --broker virtual, random scenarios run on Kafka's own coordinator and on ours: their replies are compared after
    each line, and Kafka's are judged by invariants that need no comparison. Then both walk through the model
    (`conformance`), which predicts every reply. With a live broker, the same scenarios run on it and on the virtual
    Kafka of its release, and must have the same replies.

    With --subject groups --broker virtual:4.3.1 (3.9.2, 3.9.2-scala), the simulated members of a seed meet Kafka's own
    coordinator in the place of ours; all other options are those of the simulator.

    With --subject MODULE:FUNCTION it is a system of yours: the function takes a seed and returns a subject, whose
    members start, stop, crash and pause as the seed says. With it go --seeds, --members, --partitions, --steps,
    --faults (those that the subject's actions cover), --shrink, the claims and where runs are kept.
    """
    console = Console(as_json)
    ci.require_files(history, "add --history FILE")
    require_runs(html, subject, broker)
    if sizes["wire"] or not has_histories(subject, broker):
        refuse_campaign_options(known, ends, "frames, requests and scenarios on a broker")
        refuse_runs(runs)
        return fuzz_without_histories(
            console, ci=ci, broker=broker, seeds=parse_seeds(seeds), claims=claims, sizes=sizes, shrinking=shrinking
        )
    minutes = sizes.pop("minutes")
    for other in ("variants", "frames", "over", "wire"):
        del sizes[other]
    options = search_options(options_of(**sizes))
    asked = asked_seeds(seeds, runs, minutes, subject, options)
    campaign = campaign_on(subject, broker, asked, options, claims)
    options, header, simulate = campaign.options, campaign.header, campaign.simulate
    console.say(visible(header))
    corpus = SeedsOfCampaign(ends.corpus, campaign)
    resumable = said_at_interruption("the same command goes on with the rest") if out is not None else nullcontext()
    with resumable, console.progress() as advance:
        result = fuzz(
            asked.seeds, options, engine=engine, out=out, invariants=campaign.names, simulate=simulate,
            subject=campaign.subject, master=master, workers=workers, require_tested=claims.require_tested,
            list_runs=html is not None, known=known.listed, strict=known.strict, progress=advance,
            first=() if out is not None or engine != "local" else corpus.seeds, limits=limits_of(ends, minutes),
            on_finding=said_at_once(console, campaign, stops=ends.stop_at_first),
        )  # fmt: skip
    corpus.keep(console, result)
    explain_own = partial(explain_run, simulate=simulate, replayed=campaign.replayed)
    explain = explain_scenario if subject == SUBJECT else explain_own
    found = [explain(run.seed, options, run.counterexample.invariant, shrinking, run) for run in result.first_causes]
    if html is not None:
        from rebalance_check.commands._campaign_pages import page_of_seeds, write_campaign  # noqa: PLC0415 - needs an extra

        write_campaign(console, html, page_of_seeds(result, campaign))
    show_result(console, result, [text for text, _ in found], options.faults if subject in CHOOSING else ())
    if history is not None and result.first_causes:
        write_history(history, result.first_causes[0].history)
        console.say(f"history of seed {result.first_causes[0].seed}: {visible(str(history))}")
    shown = [(text, str(one["replay"])) for text, one in found]
    ci.write(console, "fuzz", lambda: campaign_results(header, result, shown, history), result.exit_code)
    document = fuzz_document(result) | {"counterexamples": [one for _, one in found]}
    return console.finish(document, result.exit_code)


def explain_run(
    seed: int,
    options: SimulationOptions,
    name: str,
    shrinking: bool,
    run: Any,
    *,
    simulate: Simulate = simulator,
    replayed: str = "",
) -> tuple[str, dict[str, Any]]:
    """One failing run as text and as a document, shrunk first if that was asked for.

    ``replayed`` is what the command that replays it says of the subject.
    """
    history, found, replay, unfinished = run.history, run.counterexample, replay_command(seed, options), ""
    if shrinking:
        small = shrink(seed, options, select([name])[0], simulate=simulate)
        history, found, replay, unfinished = small.history, small.counterexample, small.replay, small.unfinished
    replay = f"{replay} {replayed}".rstrip()
    text, _, _ = explained(history, found, replay, context=chosen_rows())
    text += f"\n  {unfinished}" if unfinished else ""
    return text, {"seed": seed, "replay": replay, "events": len(history), **(counterexample_document(found) or {})}


def explain_scenario(
    seed: int, options: SimulationOptions, name: str, shrinking: bool, run: Any
) -> tuple[str, dict[str, Any]]:
    """One failing scenario as text and as a document, shrunk first if that was asked for."""
    history, found, lines = run.history, run.counterexample, wide_scenario(seed, steps=options.steps)
    (invariant,) = select([name])
    with planted(options.mutant):
        broken = break_scenario(lines, [invariant], seed)
        if broken is not None and shrinking:
            broken = shrink_scenario(broken, invariant, seed)
    if broken is not None:
        history, found, lines = broken.history, broken.counterexample, list(broken.lines)
    replay = scenario_command(seed, options)
    text, _, _ = explained(history, found, replay, context=chosen_rows())
    unfinished = f"\n  {broken.unfinished}" if broken is not None and broken.unfinished else ""
    scenario = "\n".join(f"  {line}" for line in lines) + unfinished
    document = {"seed": seed, "replay": replay, "events": len(history), "scenario": lines}
    return f"{text}\n\nscenario\n{scenario}", document | (counterexample_document(found) or {})
