"""``rebalance-check mutants``: the planted defects, from the code, and the searches that find them."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import median
from typing import Any

import click

from rebalance_check.commands.console import Face, json_option
from rebalance_check.impl.mutants import MUTANTS, Mutant, Told, find_mutant
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.report.mutants_page import mutants_markdown

EXIT_NOT_CAUGHT = 10


@click.command("mutants")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option(
    "--run", is_flag=True, help="Search for each: print the shrunk counterexample and the number of its steps."
)
@click.option("--steps", is_flag=True, help="With --run: print the numbers as impl/mutants/shrunk_lengths.py has them.")
@click.option("--markdown", is_flag=True, help="Print the generated part of TRACK_RECORD.md.")
@json_option
def command(names: tuple[str, ...], run: bool, steps: bool, markdown: bool, as_json: bool) -> int:
    """List the planted defects: what each does wrong, which invariant catches it, and the command that finds it.

    With --run they are searched for, all but those that a test with a fixed story finds; exit code 10 when one of
    them is not caught by the claim it names.
    """
    face = Face(as_json)
    chosen = [find_mutant(name) for name in names] or list(MUTANTS.values())
    if markdown and (names or run):
        raise RebalanceCheckError("--markdown prints the whole table: leave names and --run away")
    if markdown:
        face.say(mutants_markdown(MUTANTS.values()).rstrip("\n"))
        return face.finish({"mutants": [_document(mutant) for mutant in chosen]}, 0)
    if steps:
        return _measure(face, chosen)
    return _search(face, chosen, by_name=bool(names)) if run else _list(face, chosen)


def _list(face: Face, mutants: Iterable[Mutant]) -> int:
    for mutant in mutants:
        face.say(f"{mutant.name}  ({mutant.where})")
        face.say(f"  what       {mutant.what}")
        face.say(f"  caught by  {mutant.caught_by}")
        if mutant.catalogue_id:
            face.say(f"  catalogue  {mutant.catalogue_id}")
        face.say(f"  command    {mutant.command}")
        face.say()
    return face.finish({"mutants": [_document(mutant) for mutant in mutants]}, 0)


def _measure(face: Face, mutants: Iterable[Mutant]) -> int:
    """The steps of every mutant of the implementation that has a search, as lines of a dictionary."""
    from rebalance_check.commands import mutant_search  # noqa: PLC0415 - needs what only a search needs

    searched = [mutant for mutant in mutants if mutant.where == "impl" and not isinstance(mutant.find, Told)]
    found = {mutant.name: mutant_search.catch(mutant) for mutant in searched}
    for name, caught in found.items():
        face.say(f'    "{name}": {caught.steps if caught is not None else None},')
    return face.finish({"steps": {name: caught.steps for name, caught in found.items() if caught is not None}}, 0)


def _search(face: Face, mutants: list[Mutant], *, by_name: bool) -> int:
    """Catch them one by one; those with a story of their own are left out, unless somebody asks for one."""
    from rebalance_check.commands import mutant_search  # noqa: PLC0415 - needs what only a search needs

    searched = [mutant for mutant in mutants if by_name or not isinstance(mutant.find, Told)]
    results: list[dict[str, Any]] = []
    for mutant in searched:
        caught = mutant_search.catch(mutant)
        results.append(mutant_search.document(mutant, caught))
        if caught is None:
            face.say(f"{mutant.name}: NOT caught by {mutant.caught_by}")
            continue
        face.say(f"{mutant.name}: caught by {mutant.caught_by}, {caught.steps} steps, {caught.seconds:.2f} s")
        for line in caught.lines if by_name else ():
            face.say(f"  {line}")
    steps = [result["steps"] for result in results if result["caught"]]
    summary = {"caught": len(steps), "searched": len(results), "median_steps": median(steps) if steps else None}
    face.say(f"{len(steps)} of {len(results)} caught; the median counterexample has {summary['median_steps']} steps")
    return face.finish({"results": results, **summary}, 0 if len(steps) == len(results) else EXIT_NOT_CAUGHT)


def _document(mutant: Mutant) -> dict[str, Any]:
    return {
        "name": mutant.name,
        "where": mutant.where,
        "what": mutant.what,
        "caught_by": mutant.caught_by,
        "catalogue_id": mutant.catalogue_id,
        "command": mutant.command,
    }
