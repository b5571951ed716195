"""Compiled programs on disk: another program has another place, a damaged one is made anew, and old ones go."""

import os
from pathlib import Path

import pytest

pytest.importorskip("llvmlite", reason="the extra 'explore' is not installed")

from rebalance_check.model.checker.compiler import cache
from rebalance_check.model.checker.compiler.native import Program, made_from
from rebalance_check.model.checker.specification import Edit, mutated
from rebalance_check.model.classic.model import MODEL
from rebalance_check.model.vocabulary.bounds import Bounds

BOUNDS = Bounds.from_address("eager?members=1&partitions=1&generations=1&crashes=0")


@pytest.fixture(autouse=True)
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "rebalance-check"


def entries(folder: Path) -> list[Path]:
    return sorted(folder.iterdir())


def test_a_program_is_compiled_once() -> None:
    assert [Program(MODEL, BOUNDS).was_cached for _ in range(2)] == [False, True]


def test_one_line_of_the_model__a_bound__or_another_machine_makes_another_program() -> None:
    edit = Edit("rebalance_check.model.classic.parts.join_phase", "    s.generation += 1", "    s.generation += 2")
    more = Bounds.from_address("eager?members=1&partitions=1&generations=2&crashes=0")
    keys = {
        cache.key_of(made_from(MODEL, BOUNDS, "this")),
        cache.key_of(made_from(mutated(MODEL, "two-generations", edit), BOUNDS, "this")),
        cache.key_of(made_from(MODEL, more, "this")),
        cache.key_of(made_from(MODEL, BOUNDS, "another")),
    }
    assert len(keys) == 4


@pytest.mark.parametrize("damage", [b"", b"short", b"x" * 40_000])
def test_a_damaged_entry_is_made_anew(folder: Path, damage: bytes) -> None:
    Program(MODEL, BOUNDS)
    [entry] = entries(folder)
    entry.write_bytes(damage)
    assert not Program(MODEL, BOUNDS).was_cached
    assert Program(MODEL, BOUNDS).was_cached


def test_what_was_not_used_for_the_longest_time_goes(folder: Path) -> None:
    for number, name in enumerate(("first", "second", "third")):
        cache.keep(name, bytes(100))
        os.utime(folder / f"{name}{cache.SUFFIX}", (number, number))
    cache.load("first")
    cache.keep("fourth", bytes(100), most_bytes=3 * (100 + cache.DIGEST_BYTES))
    assert [entry.stem for entry in entries(folder)] == ["first", "fourth", "third"]


def test_a_cache_that_cannot_be_written_is_done_without(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder", encoding="utf-8")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert [Program(MODEL, BOUNDS).was_cached for _ in range(2)] == [False, False]


def test_the_cache_is_where_the_platform_keeps_caches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert str(cache.cache_directory()) == "/somewhere/rebalance-check"
