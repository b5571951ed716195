"""``rebalance-check mutants``: the planted defects, from the code."""

from __future__ import annotations

import click

from rebalance_check.face import Face, json_option
from rebalance_check.impl.mutants import MUTANTS


@click.command("mutants")
@json_option
def command(as_json: bool) -> int:
    """List the planted defects: what each does wrong, which invariant catches it, and the command that finds it."""
    face = Face(as_json)
    for mutant in () if as_json else MUTANTS.values():
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
