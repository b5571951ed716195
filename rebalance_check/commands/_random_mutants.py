"""What ``rebalance-check mutants --random`` says: survivors at once, tables by kind and package, and the share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, TypeAlias

from rebalance_check.commands._console import Console, said_at_interruption
from rebalance_check.commands._random_campaign import RandomCampaign, ResultsHeader, sources_digest, try_alone
from rebalance_check.commands._random_options import RandomOptions
from rebalance_check.commands._random_trial import CAUGHT, End, Trial
from rebalance_check.impl.mutants.diff import diff_of
from rebalance_check.impl.mutants.edit_sites import EDIT_KINDS
from rebalance_check.impl.mutants.random_edits import EDITED_PACKAGES, RandomEdit
from rebalance_check.pipeline.processes import cores
from rebalance_check.properties.exit_codes import ExitCode

Pair: TypeAlias = tuple[RandomEdit, Trial]
NameOf: TypeAlias = Callable[[RandomEdit], str]
COLUMNS: Final = ("", "drawn", "changed", "claim", "exception", "hang", "survived", "caught")


def random_mutants(console: Console, options: RandomOptions) -> int:
    """Show one edit, try one, or try all. A survivor is no failure: the command measures the invariants."""
    edits = options.edits()
    if options.show is not None:
        edit = edits[options.show]
        console.say(f"{_title(edit)}\n{diff_of(edit.mutant).rstrip()}")
        return console.finish(_described(edit))
    if options.only is not None:
        return _try_one(console, options, edits[options.only])
    return _try_all(console, options, edits)


def _try_one(console: Console, options: RandomOptions, edit: RandomEdit) -> int:
    console.say(f"{_title(edit)}\n{diff_of(edit.mutant).rstrip()}")
    trial = try_alone(edit, options.groups)
    console.say(_line(trial))
    if trial.explanation:
        console.say(f"\n{trial.explanation}")
    document = {"command": f"{options.command} --only {edit.number}", **_described(edit), **_document(trial)}
    return _finish(console, document, [edit], [trial])


def _try_all(console: Console, options: RandomOptions, edits: Sequence[RandomEdit]) -> int:
    header = ResultsHeader(options.seed, options.packages, options.groups, sources_digest())
    workers = min(options.workers or cores(), len(edits))
    campaign = RandomCampaign(edits, header, workers, options.minutes, options.out)
    hint = "the same command goes on with the rest" if options.out else "with --out FILE results are kept"
    console.say(f"{options.command}: {len(edits)} edits")
    with said_at_interruption(hint), console.progress() as advance:
        trials = campaign.run(lambda trial: _tell(console, edits[trial.number], trial), advance)
    tried = [edits[trial.number] for trial in trials]
    if len(trials) < len(edits):
        console.say(f"{len(trials)} of {len(edits)} edits were tried in {options.minutes:g} minutes")
    kinds = [kind for kind in EDIT_KINDS if any(edit.kind == kind for edit in tried)]
    pairs = list(zip(tried, trials, strict=True))
    _table(console, "by kind of edit", kinds, pairs, lambda edit: edit.kind)
    _table(console, "by package", EDITED_PACKAGES, pairs, lambda edit: edit.package)
    _ways(console, trials)
    document = {
        "command": options.command,
        "trials": [_described(edit) | _document(trial) for edit, trial in pairs],
    }
    return _finish(console, document, tried, trials)


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
    """Which means caught how many."""
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


def _finish(console: Console, document: dict[str, Any], edits: Sequence[RandomEdit], trials: Sequence[Trial]) -> int:
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
    return console.finish(document | figures, ExitCode.HELD)
