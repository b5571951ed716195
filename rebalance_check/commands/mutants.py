"""``rebalance-check mutants``: the planted defects, from the code, and the searches that find them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import median
from typing import Any

import click
from click.core import ParameterSource

from rebalance_check.commands._console import Console, json_option, verdict_line
from rebalance_check.commands._minutes import Minutes, over_after
from rebalance_check.commands._random_options import MEANS_GROUPS, RandomOptions
from rebalance_check.impl.mutants import MUTANTS, Mutant, find_mutant
from rebalance_check.impl.mutants.diff import diff_of
from rebalance_check.impl.mutants.random_edits import EDITED_PACKAGES
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.properties.exit_codes import ExitCode
from rebalance_check.properties.verdict import Outcome
from rebalance_check.report.field_bugs_page import field_bugs_markdown
from rebalance_check.report.mutants_page import mutants_markdown


@click.command("mutants")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option(
    "--run", is_flag=True, help="Search for each: print the shrunk counterexample and the number of its steps."
)
@click.option("--steps", is_flag=True, help="With --run: print the numbers as impl/mutants/shrunk_lengths.py has them.")
@click.option(
    "--finds", is_flag=True, help="Search for each: print seeds and seconds as impl/mutants/finds.json has them."
)
@click.option("--field-bugs", is_flag=True, help="Print docs/field-bugs.md.")
@click.option("--diff", is_flag=True, help="Print what each changes in the source, as a unified diff.")
@click.option("--markdown", is_flag=True, help="Print the generated part of TRACK_RECORD.md.")
@click.option("--random", "count", type=click.IntRange(min=1), metavar="N",
              help="Draw N one-place edits of the implementation that nobody planted, and try each.")  # fmt: skip
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="With --random: draw by it.")
@click.option("--package", "packages", type=click.Choice(EDITED_PACKAGES), multiple=True,
              help="With --random: edit only this package (repeatable).")  # fmt: skip
@click.option("--means", "groups", type=click.Choice(MEANS_GROUPS), multiple=True,
              help="With --random: look by this alone (repeatable); default: all.")  # fmt: skip
@click.option("--only", type=click.IntRange(min=0), metavar="K", help="With --random: try edit K alone, and explain.")
@click.option("--show", type=click.IntRange(min=0), metavar="K", help="With --random: print edit K, and try none.")
@click.option("--workers", type=click.IntRange(1, 256), help="With --random: processes (default: one per core).")
@click.option(
    "--minutes",
    type=Minutes(zero=True),
    default=0.0,
    help="With --random or --run: begin no edit, or no search, after this time.",
)
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
              help="With --random: keep each result there; goes on with what is there.")  # fmt: skip
@json_option
def command(
    *, names: tuple[str, ...], run: bool, steps: bool, finds: bool, field_bugs: bool, diff: bool, markdown: bool,
    as_json: bool, count: int | None, minutes: float, **drawn: Any,
) -> int:  # fmt: skip
    """List the planted defects: what each does wrong, which invariant catches it, and the command that finds it.

    With --run they are searched for; exit code 10 when one of them is not caught by the claim it names.

    With --random they are edits that nobody chose: a guard negated, a statement dropped, a number off by one. Each is
    run by what a user has who knows nothing of it: `fuzz` without options first, then each protocol, scenarios,
    assignors, and the model. The share counts edits that change any history. Survivors are printed at once.
    """
    console = Console(as_json)
    if count is not None:
        from rebalance_check.commands import _random_mutants  # noqa: PLC0415 - needs what only a search needs

        _refuse_listing(names, run=run, steps=steps, finds=finds, field_bugs=field_bugs, diff=diff, markdown=markdown)
        return _random_mutants.random_mutants(console, RandomOptions(count=count, minutes=minutes, **drawn))
    _refuse_drawn(may_end=run)
    chosen = [find_mutant(name) for name in names] or list(MUTANTS.values())
    if markdown and (names or run):
        raise RebalanceCheckError("--markdown prints the whole table: leave names and --run away")
    if markdown:
        console.say(mutants_markdown(MUTANTS.values()).rstrip("\n"))
        return console.finish({"mutants": [_document(mutant) for mutant in chosen]})
    if finds:
        from rebalance_check.commands._mutant_finds import finds_json  # noqa: PLC0415 - needs what only a search needs

        console.say(finds_json(chosen))
        return console.finish({})
    if field_bugs:
        page = field_bugs_markdown(MUTANTS.values())
        console.say(page.rstrip("\n"))
        return console.finish({"page": page})
    if diff:
        return _diffs(console, chosen)
    if steps:
        return _measure(console, chosen)
    return _search(console, chosen, over_after(minutes), by_name=bool(names)) if run else _list(console, chosen)


def _refuse_listing(names: tuple[str, ...], **flags: bool) -> None:
    wrong = [*names, *(f"--{name.replace('_', '-')}" for name, chosen in flags.items() if chosen)]
    if wrong:
        raise RebalanceCheckError(
            f"--random draws edits that have no name, and {wrong[0]} is about planted ones: leave one out"
        )


def _refuse_drawn(*, may_end: bool) -> None:
    """Options of --random do nothing without it; a search may have an end, too."""
    context = click.get_current_context()
    of_random = ("seed", "packages", "groups", "only", "show", "workers", "out")
    for name in of_random if may_end else (*of_random, "minutes"):
        if context.get_parameter_source(name) is not ParameterSource.DEFAULT:
            option = {"packages": "package", "groups": "means"}.get(name, name)
            raise RebalanceCheckError(f"--{option} goes with --random N: add it, or leave --{option} out")


def _list(console: Console, mutants: Iterable[Mutant]) -> int:
    for mutant in mutants:
        console.say(f"{mutant.name}  ({mutant.where})")
        console.say(f"  what       {mutant.what}")
        console.say(f"  caught by  {mutant.caught_by}")
        if mutant.catalogue_id:
            console.say(f"  catalogue  {mutant.catalogue_id}")
        console.say(f"  command    {mutant.command}")
        console.say()
    return console.finish({"mutants": [_document(mutant) for mutant in mutants]})


def _diffs(console: Console, mutants: Iterable[Mutant]) -> int:
    diffs = {mutant.name: diff_of(mutant) for mutant in mutants}
    for text in diffs.values():
        console.say(text.rstrip("\n"))
    return console.finish({"diffs": diffs})


def _measure(console: Console, mutants: Iterable[Mutant]) -> int:
    """The steps of every mutant of the implementation, as lines of a dictionary."""
    from rebalance_check.commands import _mutant_search  # noqa: PLC0415 - needs what only a search needs

    searched = [mutant for mutant in mutants if mutant.where == "impl"]
    found = {mutant.name: _mutant_search.catch(mutant) for mutant in searched}
    for name, caught in found.items():
        console.say(f'    "{name}": {caught.steps if caught is not None else None},')
    return console.finish({"steps": {name: caught.steps for name, caught in found.items() if caught is not None}})


def _search(console: Console, mutants: list[Mutant], is_over: Callable[[], bool], *, by_name: bool) -> int:
    """Catch them one by one until time ends."""
    from rebalance_check.commands import _mutant_search  # noqa: PLC0415 - needs what only a search needs

    results: list[dict[str, Any]] = []
    for mutant in mutants:
        if results and is_over():
            console.say(f"{len(results)} of {len(mutants)} were searched for when --minutes ended")
            break
        caught = _mutant_search.catch(mutant)
        results.append(_mutant_search.document(mutant, caught))
        if caught is None:
            console.say(f"{mutant.name}: NOT caught by {mutant.caught_by}")
            continue
        console.say(f"{mutant.name}: caught by {mutant.caught_by}, {caught.steps} steps, {caught.seconds:.2f} s")
        for line in caught.lines if by_name else ():
            console.say(f"  {line}")
    steps = [result["steps"] for result in results if result["caught"]]
    summary = {"caught": len(steps), "searched": len(results), "median_steps": median(steps) if steps else None}
    console.say(f"{len(steps)} of {len(results)} caught; the median counterexample has {summary['median_steps']} steps")
    missed = [result["name"] for result in results if not result["caught"]]
    outcome = Outcome.VIOLATED if missed else Outcome.HELD
    console.say(verdict_line(outcome, missed, f"{len(steps)} of {len(results)} mutants caught"))
    return console.finish(
        {"results": results, **summary}, ExitCode.HELD if len(steps) == len(results) else ExitCode.SAFETY
    )


def _document(mutant: Mutant) -> dict[str, Any]:
    return {
        "name": mutant.name,
        "where": mutant.where,
        "what": mutant.what,
        "caught_by": mutant.caught_by,
        "catalogue_id": mutant.catalogue_id,
        "command": mutant.command,
    }
