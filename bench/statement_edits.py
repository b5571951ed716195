"""Whether the tests of the statements would notice: edits of the functions that rows of the statements name.

    python bench/statement_edits.py --seed 20260101            a tenth of the functions, each with one edit
    python bench/statement_edits.py --seed 20260101 --share 1  all of them

The rows stand in tests/data/statements. The seed draws the functions and an edit of each (`random_edits`); then the
tests of all rows that name the function run with the edit planted, and one of them must fail. Survivors are printed;
the exit code is 1 where more than a fifth survive, for some edits change nothing that anybody could see.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Final

import click

from rebalance_check.impl.mutants.diff import diff_of
from rebalance_check.impl.mutants.random_edits import RandomEdit, draw_edit_of

ROOT: Final = Path(__file__).parents[1]
PLUGIN: Final = "planted_edit"
SURVIVE: Final = 0.2
LONGEST_S: Final = 600


def tests_by_function() -> dict[str, list[str]]:
    """The tests of the rows that name each function."""
    sys.path.insert(0, str(ROOT))
    from tests.docs.statements import DOCUMENTS, document  # noqa: PLC0415 - the tests are no package that is installed

    found: dict[str, list[str]] = {}
    for name in DOCUMENTS:
        for row in (row for rows in document(name).values() for row in rows if row.test):
            for function in row.functions:
                found.setdefault(function, []).append(f"tests/{row.test.partition('[')[0]}")
    return {function: sorted(set(tests)) for function, tests in sorted(found.items())}


def drawn(functions: Sequence[str], seed: int, share: float) -> Iterator[tuple[str, RandomEdit]]:
    """An edit of each of a random share of the functions."""
    random = Random(seed)
    for function in random.sample(functions, max(1, round(share * len(functions)))):
        edit = draw_edit_of(f"rebalance_check.{function}", random)
        if edit is not None:
            yield function, edit


def is_noticed(edit: RandomEdit, tests: Sequence[str]) -> bool:
    """Whether one of the tests fails with the edit planted, or does not end."""
    environment = os.environ | {"PLANTED_EDIT": json.dumps([edit.edit.function, edit.edit.old, edit.edit.new])}
    environment["PYTHONPATH"] = os.pathsep.join([str(ROOT / "bench"), os.environ.get("PYTHONPATH", "")])
    call = [sys.executable, "-m", "pytest", "-q", "-x", "-p", PLUGIN, "-p", "no:cacheprovider", *tests]
    try:
        done = subprocess.run(call, cwd=ROOT, env=environment, capture_output=True, timeout=LONGEST_S, check=False)
    except subprocess.TimeoutExpired:
        return True
    if done.returncode not in {0, 1}:
        raise click.ClickException(f"{' '.join(call)} ended with {done.returncode}:\n{done.stdout.decode()}")
    return done.returncode == 1


@click.command(help=__doc__)
@click.option("--seed", type=int, required=True)
@click.option("--share", type=click.FloatRange(0, 1, min_open=True), default=0.1)
def main(seed: int, share: float) -> None:
    """Try the edits one by one."""
    tests = tests_by_function()
    survived = tried = 0
    for function, edit in drawn(list(tests), seed, share):
        tried += 1
        noticed = is_noticed(edit, tests[function])
        survived += not noticed
        click.echo(f"{'noticed ' if noticed else 'survived'}  {function}, {edit.kind}, line {edit.line}")
        if not noticed:
            click.echo(diff_of(edit.mutant).rstrip())
    click.echo(f"{tried} edits of {len(tests)} functions: {tried - survived} noticed, {survived} survived")
    sys.exit(int(survived > SURVIVE * tried))


if __name__ == "__main__":
    main()
