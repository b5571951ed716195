"""Whether the tests of the statements would notice: edits of the functions that rows of the statements name.

    python bench/statement_edits.py --seed 20260101            a tenth of the functions
    python bench/statement_edits.py --seed 20260101 --share 1  all of them

The rows stand in tests/data/statements. The seed draws the functions and up to three edits of each (`random_edits`), as
some edits change nothing that anybody could see. The tests of all rows that name the function run with an edit planted,
and one of them must fail. Survivors are printed; the exit code is 1 where more than a tenth of the functions survive
all their edits.
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
TRIES: Final = 3
SURVIVE: Final = 0.1
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


def drawn(functions: Sequence[str], seed: int, share: float) -> Iterator[tuple[str, list[RandomEdit]]]:
    """A random share of the functions, each with its edits; those that no edit fits are passed over."""
    random = Random(seed)
    for function in random.sample(functions, max(1, round(share * len(functions)))):
        edits = [draw_edit_of(f"rebalance_check.{function}", random) for _ in range(TRIES)]
        if found := [edit for edit in edits if edit is not None]:
            yield function, found


def passes(tests: Sequence[str], edit: RandomEdit | None = None) -> bool:
    """Whether the tests pass, with the edit planted if there is one; tests that do not end do not pass."""
    call = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
    environment = dict(os.environ)
    if edit is not None:
        call += ["-p", PLUGIN]
        environment["PLANTED_EDIT"] = json.dumps([edit.kind, edit.edit.function, edit.edit.old, edit.edit.new])
        environment["PYTHONPATH"] = os.pathsep.join([str(ROOT / "bench"), os.environ.get("PYTHONPATH", "")])
    try:
        done = subprocess.run(call, cwd=ROOT, env=environment, capture_output=True, timeout=LONGEST_S, check=False)
    except subprocess.TimeoutExpired:
        return False
    if done.returncode not in {0, 1}:
        raise click.ClickException(f"{' '.join(call)} ended with {done.returncode}:\n{done.stdout.decode()}")
    return done.returncode == 0


@click.command(help=__doc__)
@click.option("--seed", type=int, required=True)
@click.option("--share", type=click.FloatRange(0, 1, min_open=True), default=0.1)
def main(seed: int, share: float) -> None:
    """Try the edits one by one."""
    tests = tests_by_function()
    chosen = list(drawn(list(tests), seed, share))
    concerned = sorted({test for function, _ in chosen for test in tests[function]})
    if not passes(concerned):
        raise click.ClickException(f"the tests fail without any edit: run pytest {' '.join(concerned)}")
    survived = [function for function, edits in chosen if not is_noticed(function, edits, tests[function])]
    click.echo(f"{len(chosen)} of {len(tests)} functions were edited, and {len(survived)} survived")
    sys.exit(int(len(survived) > SURVIVE * len(chosen)))


def is_noticed(function: str, edits: Sequence[RandomEdit], tests: Sequence[str]) -> bool:
    """Whether the tests notice one of the edits; those before it are shown."""
    for edit in edits:
        if not passes(tests, edit):
            click.echo(f"noticed   {function}, {edit.kind}, line {edit.line}")
            return True
        click.echo(f"survived  {function}, {edit.kind}, line {edit.line}\n{diff_of(edit.mutant).rstrip()}")
    return False


if __name__ == "__main__":
    main()
