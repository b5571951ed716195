"""``rebalance-check mutants``: the planted defects, from the code."""

from __future__ import annotations

import click

from rebalance_check.face import Face, json_option
from rebalance_check.impl.mutants import MUTANTS
from rebalance_check.report.mutants_page import mutants_markdown


@click.command("mutants")
@click.option("--markdown", is_flag=True, help="Print the generated part of TRACK_RECORD.md.")
@json_option
def command(markdown: bool, as_json: bool) -> int:
    """List the planted defects: what each does wrong, which invariant catches it, and the command that finds it."""
    face = Face(as_json)
    if markdown:
        face.say(mutants_markdown(MUTANTS.values()).rstrip("\n"))
    for mutant in () if as_json or markdown else MUTANTS.values():
        face.say(f"{mutant.name}  ({mutant.where})")
        face.say(f"  what       {mutant.what}")
        face.say(f"  caught by  {mutant.caught_by}")
        if mutant.catalogue_id:
            face.say(f"  catalogue  {mutant.catalogue_id}")
        face.say(f"  command    {mutant.command}")
        face.say()
    document = [
        {
            "name": mutant.name,
            "where": mutant.where,
            "what": mutant.what,
            "caught_by": mutant.caught_by,
            "catalogue_id": mutant.catalogue_id,
            "command": mutant.command,
        }
        for mutant in MUTANTS.values()
    ]
    return face.finish({"mutants": document}, 0)
