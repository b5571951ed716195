"""``rebalance-check invariants``: the catalogue, from the code."""

from __future__ import annotations

import click

from rebalance_check.commands._console import Console
from rebalance_check.commands._options import Command, json_option, option
from rebalance_check.properties.catalogue import select
from rebalance_check.report.catalogue_page import catalogue_markdown, names_of, needs_text
from rebalance_check.report.documents import invariant_document


@click.command("invariants", cls=Command)
@click.argument("names", nargs=-1)
@option("--markdown", is_flag=True, help="Print the page of invariants.")
@json_option
def command(names: tuple[str, ...], markdown: bool, as_json: bool) -> int:
    """List the invariants, with their claims, sources and premises; NAMES are names or families (default: all)."""
    console = Console(as_json)
    chosen = select(names)
    if markdown:
        click.echo(catalogue_markdown(chosen), nl=False, err=as_json)
    elif not as_json:
        for invariant in chosen:
            console.say(f"{invariant.name}  ({invariant.kind}, {invariant.family})")
            console.say(f"  claim    {invariant.claim}")
            console.say(f"  source   {invariant.source}")
            for number, premise in enumerate(invariant.premises):
                console.say(f"  {'' if number else 'premises':<8} {premise}")
            console.say(f"  needs    {needs_text(invariant)}")
            if invariant.exempted_by:
                console.say(f"  exempted by {names_of(invariant.exempted_by)}")
            if invariant.relies_on:
                console.say(f"  relies on {', '.join(sorted(invariant.relies_on))}")
            console.say()
    return console.finish({"invariants": [invariant_document(i) for i in chosen]})
