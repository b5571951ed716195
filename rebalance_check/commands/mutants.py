"""``rebalance-check mutants``: the planted defects, from the code, and the searches that find them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from statistics import median
from typing import Any

import click

from rebalance_check.commands._console import Console, said_at_interruption, verdict_line
from rebalance_check.commands._options import Command, json_option, minutes_option, option, over_after
from rebalance_check.impl.mutants import MUTANTS, Mutant, find_mutant
from rebalance_check.impl.mutants.diff import diff_of
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.properties.exit_codes import ExitCode
from rebalance_check.properties.verdict import Outcome
from rebalance_check.report.field_bugs_page import field_bugs_markdown
from rebalance_check.report.mutants_page import mutants_markdown


@click.command("mutants", cls=Command)
@click.argument("names", nargs=-1, metavar="[NAME]...")
@option("--run", is_flag=True, help="Search for each: print the shrunk counterexample and the number of its steps.")
@option("--diff", is_flag=True, help="Print the edits of each to the source, as a unified diff.")
@option("--markdown", is_flag=True, help="Print the page of planted defects.")
@option("--field-bugs", is_flag=True, help="Print the page of defects of the field.")
@minutes_option("With --run: begin no search")
@json_option
def command(
    *, names: tuple[str, ...], run: bool, field_bugs: bool, diff: bool, markdown: bool, minutes: float | None,
    as_json: bool,
) -> int:  # fmt: skip
    """List the planted defects: the fault of each, which invariant catches it, and the command that finds it.

    With --run they are searched for; exit code 10 when one of them is not caught by the claim it names.
    """
    console = Console(as_json)
    chosen = [find_mutant(name) for name in names] or list(MUTANTS.values())
    if (markdown or field_bugs) and (names or run):
        raise RebalanceCheckError("--markdown and --field-bugs print whole tables: leave names and --run away")
    if markdown:
        console.say(mutants_markdown(MUTANTS.values()).rstrip("\n"))
        return console.finish({"mutants": [_document(mutant) for mutant in chosen]})
    if field_bugs:
        page = field_bugs_markdown(MUTANTS.values())
        console.say(page.rstrip("\n"))
        return console.finish({"page": page})
    if diff:
        return _diffs(console, chosen)
    return _search(console, chosen, over_after(minutes), by_name=bool(names)) if run else _list(console, chosen)


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


def _search(console: Console, mutants: list[Mutant], is_over: Callable[[], bool], *, by_name: bool) -> int:
    """Catch them one by one until time ends."""
    from rebalance_check.commands import _mutant_search  # noqa: PLC0415 - needs the libraries of a search

    results: list[dict[str, Any]] = []

    def so_far() -> str:
        return f"{len(results)} of {len(mutants)} are searched for, {sum(one['caught'] for one in results)} caught"

    for mutant in mutants:
        if results and is_over():
            console.say(f"{len(results)} of {len(mutants)} were searched for when --minutes ended")
            break
        with said_at_interruption(so_far):
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
