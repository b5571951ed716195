"""``rebalance-check explore``: every state of the model within bounds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Final

import click

from rebalance_check.commands._bounds_options import bounds_options, chosen_bounds
from rebalance_check.commands._ci_options import CiOptions, ci_options
from rebalance_check.commands._console import Console, verdict_line
from rebalance_check.commands._explore_found import finish, finish_walks, show_addresses
from rebalance_check.commands._extras import needs
from rebalance_check.commands._options import (
    FOLDER,
    Command,
    html_option,
    json_option,
    minutes_option,
    option,
    refuse_others,
    seed_option,
    was_given,
    workers_option,
)
from rebalance_check.commands._search_line import search_line
from rebalance_check.commands._search_memory import is_compiled, memory_limit, parsed_size
from rebalance_check.integration.interrupts import stop_requests
from rebalance_check.model.checker.safety import explore
from rebalance_check.model.checker.safety.limits import Ended, Limits
from rebalance_check.model.checker.safety.random_walks import DEFAULT_DEPTH, random_walks
from rebalance_check.model.checker.safety.witness import found_witness
from rebalance_check.model.checker.specification import Model
from rebalance_check.model.execution import execute
from rebalance_check.model.registry import model_for, mutant_named
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.properties.exit_codes import ExitCode
from rebalance_check.properties.verdict import Outcome
from rebalance_check.report.paths import path_document, path_text

MODEL: Final = frozenset({"protocol", "bounds", "path", "mutant"})
LIMITS: Final = frozenset({"max_states", "max_memory", "minutes"})
CI: Final = frozenset({"junit", "github"})
SEARCH: Final = MODEL | LIMITS | CI | {"workers", "html"}


@click.command("explore", cls=Command)
@click.argument("addresses", nargs=-1, metavar="[ADDRESS]...")
@bounds_options
@option("--mutant", default="", metavar="NAME", help="Switch on a planted defect (see `rebalance-check mutants`), "
        "in the bounds that show it where no bound is named.")  # fmt: skip
@option("--liveness", is_flag=True, callback=needs("networkx"),
        help="Check the liveness properties, too: what must happen once faults cease.")  # fmt: skip
@option("--witness", "goal", metavar="NAME",
        help="Print a shortest path to this reachable state or step; check nothing else.")  # fmt: skip
@option("--walks", type=click.IntRange(min=1), metavar="N",
        help="Take N random walks instead of exploring every state, where the bounds are too large.")  # fmt: skip
@option(
    "--steps",
    type=click.IntRange(min=1),
    metavar="N",
    default=DEFAULT_DEPTH,
    show_default=True,
    help="Actions of a walk, at most.",
)
@seed_option
@minutes_option("End, undecided,")
@option("--max-memory", callback=parsed_size, metavar="SIZE",
        help="End, undecided, before the process has more memory than this, such as 2GiB.  "
        "[default: 90% of what is free]")  # fmt: skip
@option("--spill", type=FOLDER, metavar="DIR",
        help="Keep in files of this folder what memory is not enough for, instead of ending; they are removed at the "
        "end.")  # fmt: skip
@html_option("every counterexample")
@option("--interpreted", is_flag=True, rare=True, help="Use the interpreted model: slow, needs no extra.")
@option("--max-states", type=click.IntRange(min=1), rare=True, metavar="N",
        help="End, undecided, after so many distinct states.")  # fmt: skip
@workers_option(default=2, show_default=True)
@ci_options(rare=True)
@json_option
def command(
    *, addresses: tuple[str, ...], protocol: str, bounds: str, path: str | None, mutant: str,
    liveness: bool, goal: str | None, walks: int | None, steps: int, seed: int, minutes: float | None,
    max_memory: int | None, spill: Path | None, html: Path | None, interpreted: bool, max_states: int | None,
    workers: int, ci: CiOptions, as_json: bool,
) -> int:  # fmt: skip
    """Check the invariants on every state of the model within bounds; print a shortest counterexample if one breaks.

    With ADDRESS, as a counterexample prints it, show that path of the model instead.
    """
    console = Console(as_json)
    refuse_others(*_job(addresses, goal, walks, spill))
    if addresses:
        return show_addresses(console, addresses, ci)
    chosen = bounds_of_search(mutant) or chosen_bounds(protocol, bounds, path)
    model = model_for(chosen, mutant)
    limits = Limits(states=max_states, seconds=minutes and 60 * minutes, memory=memory_limit(max_memory))
    with stop_requests() as stop:
        limits = replace(limits, stop=stop)
        if goal is not None:
            return show_witness(console, model, chosen, goal, limits)
        defect = f", mutant {mutant}" if mutant else ""
        if walks is not None:
            console.say(f"random walks in {chosen.address()}{defect}")
            with console.progress() as progress:
                walked = random_walks(model, chosen, walks, seed=seed, depth=steps, limits=limits, progress=progress)
            return finish_walks(console, walked, html, ci)
        console.say(f"explore {chosen.address()}{defect}")
        with search_line() as line:
            found = explore(
                model, chosen, progress=line, threads=workers, limits=limits, spill=spill,
                compiled=is_compiled(interpreted, spill),
            )  # fmt: skip
        return finish(console, model, found, liveness=liveness, limits=limits, html=html, ci=ci)


def _job(
    addresses: tuple[str, ...], goal: str | None, walks: int | None, spill: Path | None
) -> tuple[str, frozenset[str]]:
    """The kind of work, and the options that have to do with it."""
    if addresses:
        return "ADDRESS", CI
    if goal is not None:
        return "--witness", MODEL | LIMITS | {"goal", "interpreted"}
    if walks is not None:
        return "--walks", MODEL | LIMITS | CI | {"walks", "steps", "seed", "html", "interpreted"}
    if spill is not None:
        return "--spill", SEARCH | {"spill"}
    return "a search of all states", SEARCH | {"liveness", "interpreted"}


def bounds_of_search(mutant: str) -> Bounds | None:
    """The bounds in which a mutant is caught, where the command line names no bound."""
    return mutant_named(mutant).bounds if mutant and not any(map(was_given, ("protocol", "bounds", "path"))) else None


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
