"""Many random edits on trial, on several processes, resumable."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path

import msgspec

import rebalance_check
from random_means import KAFKA, Means
from random_trial import Reference, Trial, means_by_name, reference, try_edit
from rebalance_check.impl.mutants.random_edits import RandomEdit
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.progress import ProgressListener
from rebalance_check.pipeline.processes import Processes


class ResultsHeader(msgspec.Struct, frozen=True):
    """The first line of a file of results: the seed that the edits are drawn from, and a digest of all sources, for
    another source has other edits, and other claims another end."""

    seed: int
    packages: tuple[str, ...]
    groups: tuple[str, ...]
    sources: str


@dataclass(frozen=True, slots=True)
class RandomCampaign:
    """Edits on trial: ``minutes`` 0 for no limit, ``out`` where results are kept and gone on from."""

    edits: Sequence[RandomEdit]
    header: ResultsHeader
    workers: int
    minutes: float = 0.0
    out: Path | None = None

    def run(self, tell: Callable[[Trial], None], progress: ProgressListener) -> list[Trial]:
        """Every trial, those of the file first; ``tell`` is given each as soon as it has ended.

        Raises: RebalanceCheckError for a file of another campaign.
        """
        deadline = time.monotonic() + self.minutes * 60 if self.minutes else None
        trials = [one for one in self._kept() if one.number < len(self.edits)]
        for one in trials:
            tell(one)
        done = {one.number for one in trials}
        left = [edit for edit in self.edits if edit.number not in done]
        with Processes(self.workers) as processes:
            references = list(_references(processes, left, self.header.groups, progress)) if left else []
            tasks = ((try_edit, (edit, _coming_to(edit, references))) for edit in _until(deadline, left))
            for trial in processes.run(tasks):
                self._keep(trial)
                tell(trial)
                trials.append(trial)
                progress("edits", len(trials), len(self.edits))
        return sorted(trials, key=lambda one: one.number)

    def _kept(self) -> list[Trial]:
        if self.out is None or not self.out.exists():
            return []
        first, *lines = self.out.read_bytes().splitlines() or [b""]
        try:
            header = msgspec.json.decode(first, type=ResultsHeader)
            trials = [msgspec.json.decode(line, type=Trial) for line in lines if line.endswith(b"}")]
        except msgspec.DecodeError as error:
            raise RebalanceCheckError(f"{str(self.out)!r} is no file of results ({error}): name another") from error
        if header != self.header:
            raise RebalanceCheckError(
                f"{str(self.out)!r} has results of other sources, another seed, other packages or means: name another"
            )
        return trials

    def _keep(self, trial: Trial) -> None:
        if self.out is None:
            return
        new = not self.out.exists()
        with self.out.open("ab") as file:
            file.write(msgspec.json.encode(self.header) + b"\n" if new else b"")
            file.write(msgspec.json.encode(trial) + b"\n")


def sources_digest() -> str:
    """The digest of every source file of the package."""
    top = Path(rebalance_check.__file__).parent
    found = blake2b(digest_size=16)
    for folder in sorted({path.resolve() for path in (top, *top.iterdir()) if path.is_dir()}):
        for path in sorted(folder.rglob("*.py")):
            found.update(str(path.relative_to(folder)).encode() + path.read_bytes())
    return found.hexdigest()


def _until(deadline: float | None, edits: Sequence[RandomEdit]) -> Iterator[RandomEdit]:
    for edit in edits:
        if deadline is not None and time.monotonic() > deadline:
            return
        yield edit


def _references(
    processes: Processes, edits: Sequence[RandomEdit], groups: tuple[str, ...], progress: ProgressListener
) -> Iterator[Reference]:
    """The unedited runs, in the order in which they are repeated; a task is ten seeds of one means."""
    chosen = chosen_means(groups)
    tasks = [
        (means.name, means.seeds[first : first + 10]) for means in chosen for first in range(0, len(means.seeds), 10)
    ]
    found: list[Reference] = []
    total = sum(len(means.seeds) for means in chosen)
    for some in processes.run((references_of, (name, seeds, edits)) for name, seeds in tasks):
        found += some
        progress("unedited runs", len(found), total)
    order = {name: place for place, name in enumerate(means.name for means in chosen)}
    yield from sorted(found, key=lambda one: (order[one.means], one.seed))


def references_of(name: str, seeds: Iterable[int], edits: Sequence[RandomEdit]) -> list[Reference]:
    """The unedited runs of these seeds."""
    return [reference(name, seed, edits) for seed in seeds]


def _coming_to(edit: RandomEdit, references: Iterable[Reference]) -> list[Reference]:
    """The runs that come to an edit, without their entries for others: little travels to the processes."""
    only = frozenset({edit.number})
    return [replace(one, comes_to=only) for one in references if edit.number in one.comes_to]


def chosen_means(groups: Sequence[str]) -> list[Means]:
    """The means of these groups; where none is named, all that need no Java."""
    return [means for means in means_by_name().values() if (means.group in groups if groups else means.group != KAFKA)]


def try_alone(edit: RandomEdit, groups: Sequence[str]) -> Trial:
    """One edit on trial with its counterexample in full; unedited runs are made as they are needed."""
    seeds = ((means.name, seed) for means in chosen_means(groups) for seed in means.seeds)
    return try_edit(edit, (reference(name, seed, [edit]) for name, seed in seeds), explaining=True)
