"""``rebalance-check convert``: histories of an older format, rewritten into the present one."""

from __future__ import annotations

from pathlib import Path

import click

from rebalance_check.commands._console import Console, json_option
from rebalance_check.model.vocabulary.events import FORMAT
from rebalance_check.properties.convert import convert_file
from rebalance_check.report.terminal import visible


@click.command("convert")
@click.argument("histories", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="HISTORY...")
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Write the converted histories there, under their own names; "
    "without it each is replaced, whole or not at all.",
)
@json_option
def command(histories: tuple[Path, ...], out: Path | None, as_json: bool) -> int:
    """Rewrite histories of format 1, whose fields bore other names, into the present format."""
    console = Console(as_json)
    if out is not None:
        if len({path.name for path in histories}) < len(histories):
            raise click.UsageError("two histories have the same name: convert them into different folders")
        out.mkdir(parents=True, exist_ok=True)
    files = []
    for path in histories:
        target = path if out is None else out / path.name
        changed = convert_file(path, target)
        console.say(f"{visible(str(target))}: format {FORMAT}, {changed} lines changed")
        files.append({"file": str(target), "changed": changed})
    return console.finish({"format": FORMAT, "files": files})
