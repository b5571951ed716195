"""``rebalance-check explore``: every state of the model within bounds."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from rebalance_check.commands._checkpoint_file import read_checkpoint, require_new_file, write_checkpoint
from rebalance_check.commands._ci_options import CiOptions, ci_options
from rebalance_check.commands._console import Console, html_option, json_option, verdict_line
from rebalance_check.commands._exploration_report import (
    coverage_text,
    exploration_document,
    outcome_of,
    print_exploration,
    write_counterexamples,
)
from rebalance_check.commands._explore_spark import SparkOptions, spark_options
from rebalance_check.commands._explore_walks import explore_by_walks
from rebalance_check.commands._model_results import model_results
from rebalance_check.commands._search_line import search_line
from rebalance_check.commands._search_options import (
    command_again,
    is_compiled,
    limit_options,
    memory_limit,
    require_own_folder,
    require_walks,
    serve_options,
    walk_options,
)
from rebalance_check.commands._upgrade_option import (
    MODE_NAMES,
    first_protocol,
    path_option,
    sized_for,
    sized_for_modes,
    was_given,
)
from rebalance_check.integration.interrupts import stop_requests
from rebalance_check.model.checker.safety import Exploration, explore
from rebalance_check.model.checker.safety.checkpoint import Checkpoint
from rebalance_check.model.checker.safety.limits import Ended, Limits
from rebalance_check.model.checker.safety.path import Path as CheckerPath
from rebalance_check.model.checker.safety.witness import found_witness
from rebalance_check.model.checker.specification import Model
from rebalance_check.model.execution import execute
from rebalance_check.model.registry import model_for
from rebalance_check.model.vocabulary.bounds import Bounds, RebalanceProtocol
from rebalance_check.model.vocabulary.upgrade_paths import path_named, path_number
from rebalance_check.properties.exit_codes import ExitCode, exit_code_of, worst_exit_code
from rebalance_check.properties.verdict import Outcome
from rebalance_check.report.pages.shown_run import ShownRun
from rebalance_check.report.paths import path_document, path_text, shown_path
from rebalance_check.report.terminal import visible

F = TypeVar("F", bound=Callable[..., Any])

GOES_ON_WITHOUT: Final = frozenset({"max_states", "max_memory", "minutes", "checkpoint", "resume", "html", "as_json"})
"""The options that a command to go on does not repeat."""

PROTOCOLS = [protocol.value for protocol in RebalanceProtocol]
SIZES = {
    "members": "Consumers, or Connect workers.",
    "partitions": "Partitions of the topic; status keys; connectors or tasks of a Connect group.",
    "generations": "The highest generation.",
    "crashes": "Processes that die.",
    "leaves": "Orderly departures.",
    "expiries": "Sessions of live members that expire (zombies).",
    "duplicates": "Requests that the network delivers a second time.",
    "deletions": "Deletions of the empty group.",
    "rolling_restarts": "Members stopped and started with the next assignors of the --upgrade.",
    "static_members": "Processes with an instance id (static members).",
    "shared_instances": "Pairs of static processes that share their instance id.",
    "losses": "Requests, replies and connections that the network loses; workers that find no coordinator.",
    "failovers": "Coordinators that die or resign, while another one loads the log.",
    "commits": "Offset commits, of members and of others.",
    "zombie_coordinators": "Coordinators that go on answering after another one took over.",
    "heartbeats_during_sync": "Heartbeats while a SyncGroup is in flight.",
    "writes": "Status writes (protocol status), calls that write configs (connect-config), or commits of task configs.",
    "failures": "Failed sends of status writes (protocol status).",
    "config_changes": "Connectors or tasks created or deleted (Connect groups).",
    "compactions": "Runs of the log cleaner (protocol connect-config).",
}


SMALL_SIZES: Final = {
    RebalanceProtocol.STATUS: {"members": 2, "partitions": 1, "generations": 2, "crashes": 0, "writes": 2},
    RebalanceProtocol.CONNECT_EAGER: {"members": 2, "partitions": 2},
    RebalanceProtocol.CONNECT_INCREMENTAL: {"members": 2, "partitions": 2},
    RebalanceProtocol.CONNECT_CONFIG: {"members": 2, "partitions": 2, "crashes": 0},
    RebalanceProtocol.CONNECT_EXACTLY_ONCE: {"members": 2, "partitions": 2, "crashes": 0, "writes": 2, "expiries": 1},
}
"""The sizes of each protocol of Connect where none is given: logs and claims make more states than a group alone."""


def size_options(**defaults: int) -> Callable[[F], F]:
    """One option per bound; the default is that of `Bounds`, unless ``defaults`` has another."""
    fields = {field.name: field.default for field in dataclasses.fields(Bounds)}

    def decorate(command: F) -> F:
        for name, what in reversed(SIZES.items()):
            default = defaults.get(name, fields[name])
            command = click.option(
                f"--{name.replace('_', '-')}", type=int, default=default, show_default=True, help=what
            )(command)
        return command

    return decorate


def chosen(sizes: dict[str, int], protocol: str, path: str | None) -> dict[str, Any]:
    """Protocol and sizes given on the command line; for Connect and on a path its own where none was given."""
    if path in MODE_NAMES:
        return sized_for_modes(path, sizes)
    if path is not None:
        upgraded = path_named(path)
        own = RebalanceProtocol(protocol) if was_given("protocol") else first_protocol(upgraded)
        return {**sized_for(upgraded, sizes), "protocol": own, "upgrade": path_number(path)}
    small = SMALL_SIZES.get(RebalanceProtocol(protocol), {})
    sizes = sizes | {name: size for name, size in small.items() if not was_given(name)}
    return {**sizes, "protocol": RebalanceProtocol(protocol)}


@click.command("explore")
@click.option(
    "--protocol",
    type=click.Choice(PROTOCOLS),
    default="eager",
    show_default=True,
    help="Those of Connect have smaller sizes by default: 2 workers and 2 items of work, for the status log 1 key.",
)
@size_options()
@click.option(
    "--initial-delay/--no-initial-delay", default=True, show_default=True, help="The first join waits for more."
)
@click.option(
    "--member-id-required/--no-member-id-required",
    default=False,
    help="The coordinator answers the first JoinGroup with MEMBER_ID_REQUIRED (KIP-394).",
)
@click.option(
    "--timeouts/--no-timeouts", default=False, help="Rebalance and sync timeouts are actions apart from session expiry."
)
@click.option(
    "--new-members/--no-new-members",
    default=False,
    help="Unused ids are given back, and members that are new may expire.",
)
@click.option(
    "--rebalance-delay/--no-rebalance-delay",
    default=True,
    show_default=True,
    help="scheduled.rebalance.max.delay.ms is above 0 (protocol connect-incremental).",
)
@click.option(
    "--task-rewrites/--no-task-rewrites",
    default=False,
    help="Each change of a connector config is followed by its task configs (protocol connect-config).",
)
@click.option(
    "--fencing/--no-fencing",
    default=False,
    help="A new leader fences its predecessor, which writes in transactions (protocol connect-config; KIP-618).",
)
@path_option("Members are upgraded from one assignor, or Connect workers from one mode, to another. "
             "The environment is then small by default: 2 or 3 members, 1 partition, no crash, every member restarted "
             "to the end.", MODE_NAMES)  # fmt: skip
@click.option("--symmetry", type=click.Choice(["on", "off"]), default="on", show_default=True,
              help="Explore one of all states that differ only in how members are named.")  # fmt: skip
@click.option("--mutant", metavar="NAME", help="Switch on a planted defect (see `rebalance-check mutants`).")
@click.option("--threads", type=int, default=2, show_default=True)
@click.option("--interpreted", is_flag=True, help="Use the interpreted model: slow, needs no extra.")
@spark_options
@limit_options
@walk_options
@click.option(
    "--liveness", is_flag=True, help="Check the liveness properties, too: what must happen once faults cease."
)
@click.option(
    "--witness",
    "goal",
    metavar="NAME",
    help="Print a shortest path to this reachable state or step; check nothing else.",
)
@html_option("Write a page with every counterexample.")
@serve_options
@click.option("--broker", metavar="BROKER",
              help="Execute every transition on a coordinator instead, and compare its answers: embedded (ours), "
              "virtual, virtual:4.3.1, virtual:3.9.2 or virtual:3.9.2-scala.")  # fmt: skip
@ci_options()
@json_option
def command(
    *, protocol: str, initial_delay: bool, member_id_required: bool, timeouts: bool, new_members: bool,
    rebalance_delay: bool, task_rewrites: bool, fencing: bool,
    path: str | None, symmetry: str, mutant: str | None, threads: int, interpreted: bool, max_states: int | None,
    max_memory: int | None, spill: Path | None, minutes: float | None, checkpoint: Path | None, resume: Path | None,
    walks: int | None, seed: int, depth: int,
    liveness: bool, goal: str | None, html: Path | None, serve: bool, port: int, broker: str | None, ci: CiOptions,
    spark: SparkOptions, as_json: bool, **sizes: int,
) -> int:  # fmt: skip
    """Check the invariants on every state of the model within bounds; print a shortest counterexample if one breaks."""
    console, on_spark = Console(as_json), spark.is_chosen
    bounds = Bounds(
        initial_delay=initial_delay,
        member_id_required=member_id_required,
        timeouts=timeouts,
        new_members=new_members,
        rebalance_delay=rebalance_delay,
        task_rewrites=task_rewrites,
        fencing=fencing,
        **chosen(sizes, protocol, path),
    )
    require_own_folder(spill, {
        "--checkpoint": checkpoint, "--resume": resume, "--walks": walks, "--liveness": liveness, "--witness": goal,
        "--serve": serve, "--broker": broker, "--interpreted": interpreted})  # fmt: skip
    seconds = None if minutes is None else 60 * minutes
    limits = Limits(states=max_states, seconds=seconds, memory=memory_limit(max_memory))
    if serve:
        from rebalance_check.commands._explore_serve import serve_explorer  # noqa: PLC0415 - needs an extra

        return serve_explorer(
            console, CheckerPath(model_for(bounds, mutant or ""), bounds, ()), port=port, broker=broker, limits=limits,
            threads=threads, symmetry=symmetry == "on", interpreted=interpreted,
            refused={
                "--checkpoint": checkpoint, "--resume": resume, "--walks": walks, "--liveness": liveness,
                "--witness": goal, "--html": html,
            },
        )  # fmt: skip
    if broker is not None:
        from rebalance_check.commands._explore_broker import explore_on_broker  # noqa: PLC0415 - needs an extra

        refused = {
            "--mutant": mutant, "--max-states": max_states, "--max-memory": max_memory, "--minutes": minutes,
            "--checkpoint": checkpoint, "--resume": resume, "--walks": walks, "--liveness": liveness, "--html": html,
        }  # fmt: skip
        return explore_on_broker(console, bounds, broker, refused, ci)
    model = model_for(bounds, mutant or "")
    defect = f", mutant {mutant}" if mutant else ""
    with stop_requests() as stop:
        limits = replace(limits, stop=stop)
        if goal is not None:
            return show_witness(console, model, bounds, goal, limits)
        if require_walks({"--checkpoint": checkpoint, "--resume": resume, "--liveness": liveness}, walks):
            console.say(f"random walks in {bounds.address()}{defect}")
            return explore_by_walks(
                console, model, bounds, walks=walks or 0, seed=seed, depth=depth, limits=limits, html=html, ci=ci
            )
        console.say(f"explore {bounds.address()}, symmetry {symmetry}{defect}")
        if on_spark:
            found, saved = spark.explore(bounds, mutant or "", symmetry=symmetry == "on", limits=limits), None
        else:
            found, saved = explore_from(
                checkpoint, resume, model, bounds, symmetry=symmetry == "on", threads=threads, limits=limits,
                spill=spill, compiled=is_compiled(interpreted, spill),
            )  # fmt: skip
    return finish(console, model, found, saved, spill or spark.work, liveness=liveness, limits=limits, html=html, ci=ci)


def explore_from(
    checkpoint: Path | None, resume: Path | None, model: Model, bounds: Bounds, **options: Any
) -> tuple[Exploration, Path | None]:
    """Explore, from the file ``resume`` if there is one; where it ends early, the file that keeps what was done."""
    path, saved, failed = checkpoint or resume, list[Path](), list[OSError]()
    if path is not None and path != resume:
        require_new_file(path)
    begun = None if resume is None else read_checkpoint(resume)
    with search_line() as line:

        def save(done: Checkpoint) -> None:
            assert path is not None
            line.writing(path)
            try:
                write_checkpoint(path, done)
                saved.append(path)
            except OSError as error:
                failed.append(error)

        found = explore(model, bounds, progress=line, resume=begun, save=None if path is None else save, **options)
    for error in failed:  # what was found is printed nevertheless
        click.echo(f"the checkpoint cannot be written: {visible(str(error))}", err=True)
    return found, saved[0] if saved else None


def finish(
    console: Console, model: Model, found: Exploration, saved: Path | None, folder: Path | None, *, liveness: bool,
    limits: Limits, html: Path | None, ci: CiOptions,
) -> int:  # fmt: skip
    """Print what the search found, judge liveness where that is asked for, and end with a verdict."""
    run = execute(found.counterexample) if found.counterexample else None
    print_exploration(console, found, run)
    document = exploration_document(found, run) | {"checkpoint": None if saved is None else str(saved)}
    paths = [shown_path(run, found.violated)] if run else []
    codes, broken, lassos = [exit_code_of(outcome_of(found))], [found.violated], list[ShownRun]()
    if liveness:
        document["liveness"], code, lassos = checked_liveness(console, model, found, limits)
        codes.append(code)
        broken += [name for name, verdict in document["liveness"]["claims"].items() if verdict == Outcome.VIOLATED]
    if html is not None:
        about = f"explore {found.bounds.address()}: {found.distinct:,} states, {found.generated:,} transitions"
        write_counterexamples(console, html, about, [*paths, *lassos])
    if found.ended is not None:
        print_early_end(console, found, found.ended, saved, folder)
    code = worst_exit_code(codes)
    ends = ExitCode.INTERRUPTED if found.ended is Ended.STOPPED else code
    ci.write(console, "explore", lambda: model_results(document), ends)
    console.say(verdict_line(code.outcome, broken, f"{found.distinct:,} states"))
    return console.finish(document, ends)


def checked_liveness(
    console: Console, model: Model, found: Exploration, limits: Limits
) -> tuple[dict[str, Any], ExitCode, list[ShownRun]]:
    """Check the liveness properties after the invariants: their document, exit code and counterexamples."""
    from rebalance_check.commands import _liveness  # noqa: PLC0415 - needs an extra, which interpreting does not
    from rebalance_check.model.checker.liveness import LivenessCheck, check_liveness  # noqa: PLC0415 - the same

    if found.ended is None:
        with search_line() as line:
            judged = check_liveness(model, found.bounds, compiled=found.compiled, limits=limits, progress=line)
    else:
        judged = LivenessCheck.without_graph(model, found.bounds, compiled=found.compiled, reached=found.distinct)
    runs = _liveness.executed(judged)
    _liveness.print_liveness(console, judged, runs)
    return _liveness.liveness_document(judged, runs), _liveness.liveness_exit_code(judged), _liveness.shown_lassos(runs)


def show_witness(console: Console, model: Model, bounds: Bounds, goal: str, limits: Limits) -> int:
    """A shortest path to a reachable state or step; 12 where these bounds, or the limits, do not reach it."""
    path, outcome = found_witness(model, bounds, goal, limits)
    if path is None:
        if outcome.ended is None:
            console.say(f"{goal} is not reached in {bounds.address()}: choose larger bounds")
        else:
            console.say(f"{goal} is not reached in {outcome.distinct:,} states; ended early, because {outcome.ended}")
        console.say(verdict_line(Outcome.UNDECIDED, [], f"not reached in {outcome.distinct:,} states"))
        code = ExitCode.INTERRUPTED if outcome.ended is Ended.STOPPED else ExitCode.UNDECIDED
        return console.finish({"goal": goal, "witness": None}, code)
    run = execute(path)
    console.say(path_text(run))
    console.say(verdict_line(Outcome.HELD, [], f"reached in {len(run.actions)} steps"))
    return console.finish({"goal": goal, "witness": path_document(run)}, ExitCode.HELD)


def explore_watched(model: Model, bounds: Bounds, **options: Any) -> Exploration:
    """Explore with a line on the terminal that shows how far it is; a signal ends it in good order."""
    with search_line() as line:
        return explore(model, bounds, progress=line, **options)


def print_early_end(
    console: Console, found: Exploration, ended: Ended, saved: Path | None, folder: Path | None
) -> None:
    """What was covered when the search ended early, and the command that goes on."""
    console.say(f"ended early, because {ended}: {coverage_text(found)}")
    if folder is not None:
        console.say(f"  go on with  {command_again(GOES_ON_WITHOUT - {'max_memory'})}")
    elif saved is not None:
        again = command_again(GOES_ON_WITHOUT, resume=str(saved))
        console.say(f"  go on with  {again}")
    elif found.depth:
        is_on_spark = click.get_current_context().params["engine"] == "spark"
        again = command_again(GOES_ON_WITHOUT, **({"work": "DIR"} if is_on_spark else {"checkpoint": "FILE"}))
        console.say(f"  to be able to go on next time  {again}")
