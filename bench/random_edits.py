"""How much the invariants see: random one-place edits of the implementation, each on trial.

    python bench/random_edits.py 100 --seed 0                     the share of edits that some invariant catches
    python bench/random_edits.py 100 --seed 0 --only 7            one edit alone, with its counterexample
    python bench/random_edits.py 100 --package client --means fuzz --means faults
    python bench/random_edits.py 100 --out results                keep each result there; goes on with those there

An edit negates a guard, drops a statement, or changes a number by one. Each is run as by a user who knows nothing
of it: `fuzz` without options first, then each protocol, scenarios, assignors, the model, and (``--means kafka``)
comparisons with Kafka's own classes. The share counts edits that change any history. Survivors are printed at once, and
are no failure: the command measures the invariants.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias

import click

from random_campaign import RandomCampaign, ResultsHeader, sources_digest, try_alone
from random_means import MEANS_GROUPS
from random_trial import CAUGHT, End, Trial
from rebalance_check.commands._console import Console, said_at_interruption
from rebalance_check.impl.mutants.diff import diff_of
from rebalance_check.impl.mutants.edit_sites import EDIT_KINDS
from rebalance_check.impl.mutants.random_edits import EDITED_PACKAGES, RandomEdit, draw_edits
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.pipeline.processes import cores

Pair: TypeAlias = tuple[RandomEdit, Trial]
NameOf: TypeAlias = Callable[[RandomEdit], str]
COLUMNS: Final = ("", "drawn", "changed", "claim", "exception", "hang", "survived", "caught")


@click.command(help=__doc__)
@click.argument("count", type=click.IntRange(min=1))
@click.option("--seed", type=click.IntRange(min=0), default=0)
@click.option("--package", "packages", type=click.Choice(EDITED_PACKAGES), multiple=True)
@click.option("--means", "groups", type=click.Choice(MEANS_GROUPS), multiple=True)
@click.option("--only", type=click.IntRange(min=0), metavar="K")
@click.option("--workers", type=click.IntRange(1, 256), default=cores())
@click.option("--minutes", type=float, default=0.0)
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE")
@click.option("--json", "as_json", is_flag=True)
def main(*, count: int, seed: int, packages: tuple[str, ...], groups: tuple[str, ...], only: int | None, workers: int,
         minutes: float, out: Path | None, as_json: bool) -> None:  # fmt: skip
    if only is not None and only >= count:
        raise click.BadParameter(f"--only {only}: the edits that are drawn go from 0 to {count - 1}")
    console, edits = Console(as_json), draw_edits(count, seed, packages or EDITED_PACKAGES)
    chosen = [word for name in packages for word in ("--package", name)]
    chosen += [word for name in groups for word in ("--means", name)]
    command = " ".join(["python bench/random_edits.py", str(count), "--seed", str(seed), *chosen])
    try:
        if only is None:
            header = ResultsHeader(seed, packages, groups, sources_digest())
            _try_all(console, command, RandomCampaign(edits, header, min(workers, len(edits)), minutes, out))
        else:
            _try_one(console, f"{command} --only {only}", edits[only], groups)
    except RebalanceCheckError as error:
        sys.exit(f"{error}")


def _try_one(console: Console, command: str, edit: RandomEdit, groups: Sequence[str]) -> None:
    console.say(f"{_title(edit)}\n{diff_of(edit.mutant).rstrip()}")
    trial = try_alone(edit, groups)
    console.say(_line(trial))
    if trial.explanation:
        console.say(f"\n{trial.explanation}")
    _finish(console, {"command": command, **_described(edit), **_document(trial)}, [edit], [trial])


def _try_all(console: Console, command: str, campaign: RandomCampaign) -> None:
    edits = campaign.edits
    hint = "the same command goes on with the rest" if campaign.out else "with --out FILE results are kept"
    console.say(f"{command}: {len(edits)} edits")
    with said_at_interruption(hint), console.progress() as advance:
        trials = campaign.run(lambda trial: _tell(console, edits[trial.number], trial), advance)
    tried = [edits[trial.number] for trial in trials]
    if len(trials) < len(edits):
        console.say(f"{len(trials)} of {len(edits)} edits were tried in {campaign.minutes:g} minutes")
    kinds = [kind for kind in EDIT_KINDS if any(edit.kind == kind for edit in tried)]
    pairs = list(zip(tried, trials, strict=True))
    _table(console, "by kind of edit", kinds, pairs, lambda edit: edit.kind)
    _table(console, "by package", EDITED_PACKAGES, pairs, lambda edit: edit.package)
    _ways(console, trials)
    document = {"command": command, "trials": [_described(edit) | _document(trial) for edit, trial in pairs]}
    _finish(console, document, tried, trials)


def _tell(console: Console, edit: RandomEdit, trial: Trial) -> None:
    """A survivor, as soon as it is known."""
    if trial.end is End.SURVIVED:
        changed = f"changed {trial.changed} of {trial.runs} runs, first {trial.command}"
        console.say(f"survived: {_title(edit)}\n{_changed_lines(edit)}\n  {changed}")


def _title(edit: RandomEdit) -> str:
    return f"edit {edit.number}, {edit.kind}, {edit.path}:{edit.line} in {edit.edit.name}"


def _changed_lines(edit: RandomEdit) -> str:
    """The lines of the diff that change."""
    lines = diff_of(edit.mutant).splitlines()[2:]
    return "\n".join(f"  {line}" for line in lines if line.startswith(("-", "+")))


def _line(trial: Trial) -> str:
    if trial.end is End.SURVIVED:
        return f"survived; changed {trial.changed} of {trial.runs} runs, first {trial.command}"
    if trial.end in CAUGHT:
        what = f"{trial.claim}: {trial.detail}" if trial.end is End.CLAIM else trial.detail
        return f"caught by {trial.end} in run {trial.runs}: {what}\n  {trial.command}"
    return f"{trial.end}: {trial.runs} runs come to it"


def _ways(console: Console, trials: Iterable[Trial]) -> None:
    """The number of catches of each of the means."""
    caught = [trial for trial in trials if trial.end in CAUGHT]
    names = dict.fromkeys(trial.means for trial in sorted(caught, key=lambda one: one.number))
    rows: list[tuple[str, ...]] = [(name, str(sum(one.means == name for one in caught))) for name in names]
    console.table("caught first by", ("", "edits"), rows)


def _table(console: Console, title: str, names: Sequence[str], pairs: Sequence[Pair], name_of: NameOf) -> None:
    rows = [(name, *_figures([pair for pair in pairs if name_of(pair[0]) == name])) for name in names]
    console.table(title, COLUMNS, [*rows, ("all", *_figures(pairs))])


def _figures(pairs: Sequence[Pair]) -> tuple[str, ...]:
    ends = [trial.end for _, trial in pairs]
    caught, survived = sum(end in CAUGHT for end in ends), ends.count(End.SURVIVED)
    counts = (len(pairs), caught + survived, *(ends.count(end) for end in (End.CLAIM, End.EXCEPTION, End.HANG)))
    return (*map(str, (*counts, survived)), share(caught, caught + survived))


def share(part: int, whole: int) -> str:
    """A share in per cent; a dash of nothing."""
    return f"{100 * part / whole:.0f}%" if whole else "-"


def _described(edit: RandomEdit) -> dict[str, Any]:
    return {
        "number": edit.number, "kind": edit.kind, "package": edit.package, "file": edit.path, "line": edit.line,
        "function": edit.edit.function, "old": edit.edit.old, "new": edit.edit.new,
    }  # fmt: skip


def _document(trial: Trial) -> dict[str, Any]:
    return {
        "end": str(trial.end), "caught": trial.end in CAUGHT, "means": trial.means, "command": trial.command,
        "claim": trial.claim, "detail": trial.detail, "runs": trial.runs, "changed": trial.changed,
        "seconds": round(trial.seconds, 3),
    }  # fmt: skip


def _finish(console: Console, document: dict[str, Any], edits: Sequence[RandomEdit], trials: Sequence[Trial]) -> None:
    caught = sum(trial.end in CAUGHT for trial in trials)
    survivors = [edit.number for edit, trial in zip(edits, trials, strict=True) if trial.end is End.SURVIVED]
    changed = caught + len(survivors)
    seconds = sum(trial.seconds for trial in trials)
    console.say(f"{seconds:.0f} s of processor time for {len(trials)} edits")
    numbers = f"; survivors: {', '.join(map(str, survivors))}" if survivors else ""
    console.say(f"{caught} of {changed} edits that change a history caught, {share(caught, changed)}{numbers}")
    figures = {
        "tried": len(trials), "changed": changed, "caught_edits": caught, "survivors": len(survivors),
        "processor_seconds": round(seconds, 1),
    }  # fmt: skip
    console.finish(document | figures)


if __name__ == "__main__":
    main()
