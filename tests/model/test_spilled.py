"""A search on disk finds what one in memory finds, and goes on after a kill, a limit or a full disk and loses nothing."""

from __future__ import annotations

import errno
import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("llvmlite", reason="the extra 'explore' is not installed")

from rebalance_check.model.checker.compiler.native import Program
from rebalance_check.model.checker.interpreter import Machine
from rebalance_check.model.checker.safety import explore, shard, sorted_runs, spill_folder, spilling
from rebalance_check.model.checker.safety.batches import batch_of
from rebalance_check.model.checker.safety.limits import NO_LIMITS, Ended, Limits, resident_bytes
from rebalance_check.model.checker.safety.search import Outcome
from rebalance_check.model.checker.safety.spill_folder import NOTE, SpillFolder
from rebalance_check.model.checker.safety.spilled import SpilledSearch
from rebalance_check.model.checker.safety.workers import ParallelSearch
from rebalance_check.model.registry import MUTANTS, model_for, path_at
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from tests.model import (
    test_commits,
    test_explorer,
    test_failover,
    test_heartbeat_during_sync,
    test_message_loss,
    test_new_members,
    test_static_members,
    test_static_members_combined,
    test_timeouts,
    test_zombie_coordinator,
)
from tests.model.test_mutants import broken_at_the_end

MODULES = (
    test_explorer, test_commits, test_failover, test_heartbeat_during_sync, test_message_loss, test_new_members,
    test_static_members, test_static_members_combined, test_timeouts, test_zombie_coordinator,
)  # fmt: skip
OF_CONNECT = [
    "connect-eager?members=2&partitions=2", "connect-incremental?members=2&partitions=2",
    "connect-config?members=2&partitions=2&crashes=0", "status?members=2&partitions=1&generations=2&crashes=0&writes=2",
    "connect-exactly-once?members=2&partitions=2&crashes=0&writes=2&expiries=1",
]  # fmt: skip
PINNED = sorted({str(row[0]) for module in MODULES for row in module.COUNTS} | set(OF_CONNECT))
"""Bounds whose counts other tests pin, in memory."""

EVERY_DAY = {str(module.COUNTS[0][0]) for module in MODULES} | set(OF_CONNECT[:2])

TINY = "eager?members=1&partitions=1&generations=2&crashes=0&initial_delay=off&failovers=1"
SMALL = "eager?members=2&partitions=2&generations=3"
MIDDLE = "eager"
COUNTED = ("distinct", "generated", "cut", "depth", "frontier", "ended", "violated", "met", "fired", "complete")


@pytest.fixture(autouse=True)
def no_wait_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """A killed process leaves what it wrote to the system: only a system that fails needs the wait."""
    monkeypatch.setattr(os, "fsync", lambda _: None)


class Subject:
    """A model at bounds, compiled once, to be searched in memory and on disk."""

    def __init__(self, address: str, mutant: str = "") -> None:
        self.bounds = Bounds.from_address(address)
        self.model = model_for(self.bounds, mutant)
        self.machine = Machine(self.model, self.bounds)
        self.program = Program(self.model, self.bounds)

    def in_memory(self, *, symmetry: bool = True) -> Outcome:
        return ParallelSearch(self.program, self.machine, symmetry=symmetry, threads=1, limits=NO_LIMITS).run()

    def on_disk(
        self, path: Path, *, symmetry: bool = True, threads: int = 1, limits: Limits = NO_LIMITS, batch: int = 1,
        **options: Any,
    ) -> Outcome:  # fmt: skip
        """By default every block is a batch, so that there are many runs."""
        with SpillFolder(path) as folder:
            search = SpilledSearch(
                self.program, self.machine, folder, symmetry=symmetry, threads=threads, limits=limits,
                **{"shares": 3, "note_every_s": 0.0, **options},
            )  # fmt: skip
            search.batch = batch
            return search.run()


def assert_equal(one: Outcome, other: Outcome) -> None:
    assert {name: getattr(one, name) for name in COUNTED} == {name: getattr(other, name) for name in COUNTED}


# ------------------------------------------------------------------------------------------------ equal counts


@pytest.mark.parametrize(
    "address",
    [pytest.param(each, marks=() if each in EVERY_DAY else pytest.mark.nightly) for each in PINNED],
)
def test_a_search_on_disk_finds_what_one_in_memory_finds(address: str, tmp_path: Path) -> None:
    subject = Subject(address)
    for symmetry in (True, False):
        expected = subject.in_memory(symmetry=symmetry)
        found = subject.on_disk(tmp_path / str(symmetry), symmetry=symmetry)
        assert_equal(found, expected)
        assert found.disk_bytes > 8 * found.distinct


@pytest.mark.parametrize(("symmetry", "distinct", "generated"), [(True, 37_487, 115_457), (False, 222_846, 686_311)])
def test_threads_shares_and_batches_change_nothing(
    symmetry: bool, distinct: int, generated: int, tmp_path: Path
) -> None:
    subject = Subject(MIDDLE)
    several: list[dict[str, Any]] = [{"threads": 2, "shares": 5}, {"batch": 1 << 20, "shares": 2}]
    for number, options in enumerate(several):
        found = subject.on_disk(tmp_path / str(number), symmetry=symmetry, **options)
        assert (found.distinct, found.generated, found.depth, found.complete) == (distinct, generated, 46, True)


def test_what_is_found_has_the_same_origins_each_time(tmp_path: Path) -> None:
    subject = Subject(SMALL)
    subject.on_disk(tmp_path / "one")
    subject.on_disk(tmp_path / "other", threads=2, batch=1 << 20)
    for share in range(3):
        for file in ("parents", "labels"):
            ours, theirs = (tmp_path / name / f"{share:03d}" / file for name in ("one", "other"))
            assert ours.read_bytes() == theirs.read_bytes() != b""


@pytest.mark.parametrize("name", ["generation-is-reused", "leader-does-not-withhold"])
@pytest.mark.parametrize("symmetry", [True, False])
def test_the_counterexample_of_a_mutant_is_as_short__and_replays(
    name: str, symmetry: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spilling, "FIRST_IN_MEMORY", 1)
    bounds = MUTANTS[name].bounds
    model = model_for(bounds, name)
    expected = explore(model, bounds, symmetry=symmetry)
    for _ in ("searched", "read from the folder"):
        found = explore(model, bounds, symmetry=symmetry, spill=tmp_path)
        assert found.violated == expected.violated == MUTANTS[name].caught_by
        assert found.counterexample is not None
        assert expected.counterexample is not None
        assert len(found.counterexample.actions) == len(expected.counterexample.actions)
        assert broken_at_the_end(found.counterexample) == found.violated
        assert path_at(found.counterexample.address()) == found.counterexample
        assert found.disk_bytes > 0


def test_a_search_that_memory_holds_leaves_nothing_on_disk(tmp_path: Path) -> None:
    bounds = Bounds.from_address(SMALL)
    found = explore(model_for(bounds), bounds, spill=tmp_path / "new")
    assert (found.distinct, found.generated, found.complete, found.disk_bytes) == (844, 1874, True, 0)
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["lock"]


# ------------------------------------------------------------------------------------------------ killed


class Killed(BaseException):
    """The process has come to its end."""


class Operations:
    """Counts what a search does to its files, and lets it be killed before the nth."""

    def __init__(self, most: int | None = None) -> None:
        self.count, self.most = 0, most

    def before(self, operation: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*arguments: Any, **options: Any) -> Any:
            self.count += 1
            if self.most is not None and self.count > self.most:
                raise Killed
            return operation(*arguments, **options)

        return counted


@contextmanager
def operations(most: int | None = None) -> Iterator[Operations]:
    """What a search does to its files, killed after so many writes, waits for the disk, renames and removals."""
    counter = Operations(most)
    with pytest.MonkeyPatch.context() as patch:
        for module in (shard, sorted_runs):
            patch.setattr(module, "write", counter.before(sorted_runs.write))
        patch.setattr(spill_folder, "synchronise", counter.before(spill_folder.synchronise))
        for name in ("replace", "unlink", "write_text"):
            patch.setattr(Path, name, counter.before(getattr(Path, name)))
        yield counter


def test_a_search_that_is_killed_anywhere_goes_on_and_loses_nothing(tmp_path: Path) -> None:
    subject = Subject(TINY)
    expected = subject.in_memory()
    with operations() as all_of_them:
        assert_equal(subject.on_disk(tmp_path / "whole"), expected)
    total, killed = all_of_them.count, 0
    for most in range(0, total, total // 20):  # how often a note is written depends on the machine, and so does the end
        with operations(most), suppress(Killed):
            subject.on_disk(tmp_path / str(most))
            continue
        killed += 1
        assert_equal(subject.on_disk(tmp_path / str(most), note_every_s=3600.0), expected)
    assert killed > 10


CHILD = """
import os, signal, sys
os.fsync = lambda _: None
from pathlib import Path
from tests.model.test_spilled import MIDDLE, Subject, operations

class Deadly(BaseException):
    def __init__(self):
        os.kill(os.getpid(), signal.SIGKILL)

import tests.model.test_spilled as here
here.Killed = Deadly
subject = Subject(MIDDLE)
with operations(int(sys.argv[2])):
    subject.on_disk(Path(sys.argv[1]), threads=2)
"""


def test_a_process_that_is_killed_while_threads_write_goes_on_and_loses_nothing(tmp_path: Path) -> None:
    subject = Subject(MIDDLE)
    for most in (200, 900, 2500):
        done = subprocess.run(
            [sys.executable, "-c", CHILD, str(tmp_path / "search"), str(most)],
            cwd=Path(__file__).parents[2],
            check=False,
        )
        assert done.returncode == -signal.SIGKILL
        depth = json.loads((tmp_path / "search" / NOTE).read_text().partition("\n")[2])["shards"][0]["depth"]
        assert depth > 1
    assert_equal(subject.on_disk(tmp_path / "search", threads=2), subject.in_memory())


# ------------------------------------------------------------------------------------------------ ended early


class After:
    """A ``stop`` that says yes when it is asked for the nth time."""

    def __init__(self, times: int) -> None:
        self.left = times

    def __call__(self) -> bool:
        self.left -= 1
        return self.left < 0


@pytest.mark.parametrize(
    ("limits", "why"),
    [
        (lambda number: Limits(states=100 * number), Ended.STATES),
        (lambda number: Limits(stop=After(8 * number)), Ended.STOPPED),
    ],
)
def test_a_search_in_pieces_ends_like_one_that_was_not_interrupted(
    limits: Callable[[int], Limits], why: Ended, tmp_path: Path
) -> None:
    subject = Subject(SMALL)
    states = 0
    for number in (1, 2, 3):
        found = subject.on_disk(tmp_path, limits=limits(number))
        assert (found.ended, found.complete, found.frontier > 0) == (why, False, True)
        assert states <= found.distinct < 844
        states = found.distinct
    assert states > 1
    assert_equal(subject.on_disk(tmp_path), subject.in_memory())


@pytest.fixture
def small_files() -> Iterator[Callable[[int], None]]:
    """Limits the size of the files that this process writes; 0 is no limit."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    yield lambda size: resource.setrlimit(resource.RLIMIT_FSIZE, (size or before[0], before[1]))
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_full_disk_ends_the_search__which_goes_on_when_there_is_space(
    small_files: Callable[[int], None], tmp_path: Path
) -> None:
    subject = Subject(MIDDLE)
    for size in (40_000, 80_000):
        small_files(size)
        found = subject.on_disk(tmp_path, note_every_s=3600.0, threads=2)
        small_files(0)
        assert found.ended is Ended.DISK
        assert 0 < found.distinct < 37_487
    assert_equal(subject.on_disk(tmp_path), subject.in_memory())


def test_a_note_that_finds_no_space_ends_the_search__which_goes_on_from_the_note_before(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    subject = Subject(SMALL)
    subject.on_disk(tmp_path, limits=Limits(states=300))
    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_text", full)
        assert subject.on_disk(tmp_path).ended is Ended.DISK
    assert_equal(subject.on_disk(tmp_path), subject.in_memory())


# ------------------------------------------------------------------------------------------------ refused


def begun(path: Path, *, within_level: bool = False) -> Path:
    """A folder with the beginning of a search, which ended where every level was complete or within a level."""
    with pytest.MonkeyPatch.context() as patch:
        if within_level:
            patch.setattr(shard.Shard, "absorb", full_at(shard.Shard.absorb, 7))
        found = Subject(SMALL).on_disk(path, limits=Limits(states=300))
    assert found.ended is (Ended.DISK if within_level else Ended.STATES)
    return path


def full_at(absorb: Callable[..., None], depth: int) -> Callable[..., None]:
    """A share that finds the disk full when it absorbs this level."""

    def absorbed(share: shard.Shard, *arguments: Any) -> None:
        if share.depth == depth:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        absorb(share, *arguments)

    return absorbed


def changed(text: str) -> str:
    """A note in which one digit differs."""
    return text[:-10] + text[-10:].replace("0", "1")


def test_a_folder_of_another_search_is_refused(tmp_path: Path) -> None:
    begun(tmp_path)
    with pytest.raises(
        RebalanceCheckError, match=r"holds another search: its bounds is 'eager\?members=2&partitions=2"
    ):
        Subject(TINY).on_disk(tmp_path)
    with pytest.raises(RebalanceCheckError, match="its symmetry is True, and here it is False"):
        Subject(SMALL).on_disk(tmp_path, symmetry=False)
    with pytest.raises(RebalanceCheckError, match="its shares is 3, and here it is 4"):
        Subject(SMALL).on_disk(tmp_path, shares=4)
    assert Subject(SMALL).on_disk(tmp_path).complete


def test_a_folder_of_another_format_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun(tmp_path)
    monkeypatch.setattr(spill_folder, "FORMAT", spill_folder.FORMAT + 1)
    with pytest.raises(RebalanceCheckError, match="holds another search: its format of the files is "):
        Subject(SMALL).on_disk(tmp_path)


def test_a_folder_with_anything_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "letter").touch()
    with pytest.raises(RebalanceCheckError, match="holds no search, but has 'letter': name a folder that is empty"):
        Subject(SMALL).on_disk(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["letter"]


@pytest.mark.parametrize("damage", [lambda _: "", lambda text: text[: len(text) // 2], changed, lambda _: "x\n[]"])
def test_a_damaged_note_is_refused(damage: Callable[[str], str], tmp_path: Path) -> None:
    note = begun(tmp_path) / NOTE
    note.write_text(damage(note.read_text()))
    with pytest.raises(
        RebalanceCheckError, match=r"is damaged \(search.json: .*\): it cannot go on; remove the folder"
    ):
        Subject(SMALL).on_disk(tmp_path)


@pytest.mark.parametrize("name", ["parents", "labels", "fingerprints", "level", "candidates"])
def test_a_file_that_is_missing_or_too_short_is_refused(name: str, tmp_path: Path) -> None:
    begun(tmp_path, within_level=name == "candidates")
    path = next(path for path in sorted(tmp_path.glob(f"*/{name}*")) if path.stat().st_size)
    os.truncate(path, path.stat().st_size - 4)
    with pytest.raises(
        RebalanceCheckError, match=rf"is damaged \({path.parent.name}/{path.name} has \d+ bytes of \d+\)"
    ):
        Subject(SMALL).on_disk(tmp_path)
    path.unlink()
    with pytest.raises(RebalanceCheckError, match="has 0 bytes of "):
        Subject(SMALL).on_disk(tmp_path)


def test_two_processes_do_not_search_in_one_folder(tmp_path: Path) -> None:
    with SpillFolder(tmp_path), pytest.raises(RebalanceCheckError, match="another process searches in "):
        Subject(SMALL).on_disk(tmp_path)


def test_a_limit_of_memory_bounds_a_batch__and_is_refused_where_it_is_too_low() -> None:
    batches = [batch_of(Limits(memory=resident_bytes() + (mib << 20)), 2) for mib in (200, 400, 1 << 20)]
    assert 0 < batches[0] < batches[1] < batches[2] == 1 << 25
    with pytest.raises(RebalanceCheckError, match="and a search on disk with 2 threads needs "):
        batch_of(Limits(memory=resident_bytes() + (64 << 20)), 2)


def test_what_a_search_on_disk_cannot_do_is_refused(tmp_path: Path) -> None:
    bounds = Bounds.from_address(TINY)
    with pytest.raises(RebalanceCheckError, match="only the compiled explorer keeps states on disk"):
        explore(model_for(bounds), bounds, compiled=False, spill=tmp_path)
    with pytest.raises(RebalanceCheckError, match="has no checkpoints: leave out one of the two"):
        explore(model_for(bounds), bounds, save=lambda _: None, spill=tmp_path)


def test_a_note_appears_when_all_that_it_names_is_on_the_disk(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    waited = list[Path]()
    monkeypatch.setattr(spill_folder, "synchronise", waited.append)
    with SpillFolder(tmp_path) as folder:
        folder.write({}, {"shards": []}, [tmp_path / "000" / "parents", tmp_path / "000" / "labels"])
    shares = [tmp_path / "000" / "parents", tmp_path / "000" / "labels", tmp_path / "000"]
    assert waited == [*shares, tmp_path / f"{NOTE}.part", tmp_path]
