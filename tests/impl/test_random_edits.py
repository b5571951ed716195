"""Random edits: each kind at its place, drawn alike from a seed, and all of them can be planted."""

from __future__ import annotations

import ast
import subprocess
import sys
from enum import Enum

import pytest

from rebalance_check.impl.mutants import planted
from rebalance_check.impl.mutants.edit import source_of
from rebalance_check.impl.mutants.edit_sites import EDIT_KINDS, EditKind, Surroundings, sites_of
from rebalance_check.impl.mutants.planting import edited_code
from rebalance_check.impl.mutants.random_edits import EDITED_PACKAGES, draw_edits, modules_of
from rebalance_check.model.vocabulary.errors import RebalanceCheckError


class Colour(Enum):
    """Two of a kind."""

    RED = 1
    GREEN = 2


NAMES = {"Colour": Colour, "LEAST": 1, "MOST": 9, "NAME": "n"}
PACKAGE = ("coordinator",)
FIELDS = {"old": "int", "new": "int", "name": "str"}


def edits_of(body: str) -> set[tuple[EditKind, str, str]]:
    """Kind, text before and text after of each edit of a function with this body and the parameters a, b (both int)
    and c."""
    source = f"def f(self, a: int, b: int, c):\n    'Says what.'\n    {body}\n    return c\n"
    (function,) = ast.parse(source).body
    assert isinstance(function, ast.FunctionDef)
    lines = source.splitlines()

    def segment(node: ast.AST) -> str:
        return ast.get_source_segment(source, node) or ""

    around = Surroundings(NAMES, FIELDS, {"a": "int", "b": "int"}, segment)
    return {
        (site.kind, lines[site.span.line - 1][site.span.column : site.span.end_column], text)
        for site in sites_of(function, around)
        for text in site.texts
    }


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("if c: pass", {("negated guard", "c", "not (c)")}),
        ("if not c: pass", {("negated guard", "not c", "(c)")}),
        ("if a == b: pass", {("comparison swapped", "a == b", "a != b")}),
        ("d = [x for x in c if x]", {("negated guard", "x", "not (x)")}),
        ("while a < b: pass", {("comparison swapped", "a < b", "a <= b"), ("comparison swapped", "a < b", "a >= b")}),
        ("c(a and (b or c))", {
            ("and/or", "a and (b or c)", "a or (b or c)"), ("and/or", "b or c", "b and c"),
            ("dropped condition", "a and (b or c)", "a"), ("dropped condition", "a and (b or c)", "(b or c)"),
            ("dropped condition", "b or c", "b"), ("dropped condition", "b or c", "c"),
            ("dropped statement", "c(a and (b or c))", "pass"),
        }),
        ("x = 3", {("off by one", "3", "4"), ("off by one", "3", "2")}),
        ("x = a + b", {("plus/minus", "a + b", "a - b")}),
        ("x = a + 'b'", set()),
        ("x += a", {("plus/minus", "x += a", "x -= a"), ("dropped statement", "x += a", "pass")}),
        ("x = True", {("swapped constant", "True", "False")}),
        ("x = Colour.RED", {("swapped constant", "Colour.RED", "Colour.GREEN")}),
        ("x = LEAST", {("swapped constant", "LEAST", "MOST")}),
        ("x = self.old", {("wrong attribute", "self.old", "self.new")}),
        ("x = self.name", set()),
        ("x = max(a, b)", {("opposite function", "max", "min"), ("swapped argument", "a, b", "b, a")}),
        ("x = c(a, 'text')", set()),
        ("x = replace(c, a=a, b=b)", {
            ("dropped keyword", "replace(c, a=a, b=b)", "replace(c, b=b)"),
            ("dropped keyword", "replace(c, a=a, b=b)", "replace(c, a=a)"),
        }),
        ("self.x = c", {("dropped statement", "self.x = c", "pass")}),
        ("a = c", {("dropped statement", "a = c", "pass")}),
        ("x = c", set()),
        ("if c: return", {("negated guard", "c", "not (c)"), ("early exit dropped", "return", "pass")}),
        ("raise ValueError(a, b)", set()),
        ("assert a == b", set()),
        ("x = f'{a + b}'", set()),
    ],
)  # fmt: skip
def test_the_edits_of_a_statement(body: str, expected: set[tuple[EditKind, str, str]]) -> None:
    assert edits_of(body) == expected


def test_an_edit_in_a_nested_function_belongs_to_the_outer_one__and_has_the_lines_of_its_own_statement() -> None:
    (function,) = ast.parse("def f():\n    def g():\n        return 3\n    return g\n").body
    assert isinstance(function, ast.FunctionDef)
    (site,) = sites_of(function, Surroundings({}, {}, {}, ast.unparse))
    assert (site.first, site.last, site.texts) == (3, 3, ("4", "2"))


def test_the_lines_of_a_guard_are_not_those_behind_it() -> None:
    (function,) = ast.parse("def f(a):\n    if (\n        a\n    ):\n        a()\n        a()\n    return a\n").body
    assert isinstance(function, ast.FunctionDef)
    guard = next(site for site in sites_of(function, Surroundings({}, {}, {}, ast.unparse)))
    assert (guard.kind, guard.first, guard.last) == ("negated guard", 2, 4)


def test_a_seed_decides_the_edits__and_more_of_them_begin_alike() -> None:
    drawn = draw_edits(30, 7, PACKAGE)
    assert drawn == draw_edits(60, 7, PACKAGE)[:30]
    assert drawn != draw_edits(30, 8, PACKAGE)


@pytest.mark.parametrize("hash_seed", ["2"])
def test_the_edits_of_a_seed_are_the_same_under_another_hash_seed(hash_seed: str) -> None:
    text = (
        "from rebalance_check.impl.mutants.random_edits import draw_edits; print(draw_edits(20, 7, ('coordinator',)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": hash_seed}
    )
    assert done.stdout.strip() == str(draw_edits(20, 7, PACKAGE))


def test_every_edit_that_is_drawn_can_be_planted__and_most_kinds_occur() -> None:
    drawn = draw_edits(250, 1)
    for edit in drawn:
        assert all(function.__code__ != code for function, code in edited_code(edit.mutant))
    assert {edit.kind for edit in drawn} >= set(EDIT_KINDS) - {"dropped keyword", "opposite function"}
    assert {edit.package for edit in drawn} == set(EDITED_PACKAGES)


def test_an_edit_says_where_it_stands() -> None:
    for edit in draw_edits(40, 2):
        line = source_of(edit.edit.module).splitlines()[edit.line - 1].strip()
        assert line in edit.edit.old
        assert edit.first <= edit.line <= edit.last


def test_only_the_chosen_packages_are_edited() -> None:
    assert {edit.package for edit in draw_edits(20, 1, ("assignors",))} == {"assignors"}


def test_a_package_that_is_harness_is_refused() -> None:
    with pytest.raises(RebalanceCheckError, match="'simulator' is no package that is edited: choose from coordinator"):
        modules_of("simulator")


def test_what_is_drawn_is_planted_and_gone_again() -> None:
    (edit,) = draw_edits(1, 3, ("assignors",))
    before = [(function, function.__code__) for function, _ in edited_code(edit.mutant)]
    with planted(edit.mutant):
        assert all(function.__code__ is not code for function, code in before)
    assert all(function.__code__ is code for function, code in before)
