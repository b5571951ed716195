"""``rebalance-check schema``: the JSON Schema of histories."""

from __future__ import annotations

import click
import msgspec

from rebalance_check.commands._console import Console
from rebalance_check.commands._options import Command, json_option, option
from rebalance_check.model.vocabulary.events import EVENT_TYPES, FORMAT
from rebalance_check.properties.schema import event_schema, schema_text
from rebalance_check.report.events_page import events_markdown


@click.command("schema", cls=Command)
@click.argument("event", required=False, metavar="[EVENT]")
@option("--markdown", is_flag=True, help="Print the page of events.")
@json_option
def command(event: str | None, markdown: bool, as_json: bool) -> int:
    """Print the JSON Schema of a line of a history, or of the one EVENT that is named, such as MemberJoined."""
    console = Console(as_json)
    text = schema_text() if event is None else schema_text(event_schema(event))
    if markdown:
        click.echo(events_markdown(), nl=False, err=as_json)
    elif not as_json:
        click.echo(text, nl=False)
    names = list(EVENT_TYPES) if event is None else [event]
    return console.finish({"format": FORMAT, "events": names, "schema": msgspec.json.decode(text)})
