"""Imports run down: every module has a level, imports lower levels and its own group, and no import runs in a circle.

The order is computed from the code: all imports count, also those inside functions; those under ``TYPE_CHECKING``
exist for type checkers only, so they are counted apart: they may close a circle.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

# `Source` is the data class of conftest.py; test files of this project import nothing but the package itself.
Source = Any

ROOT = "rebalance_check"

FLOORS = (
    ("rebalance_check._lazy_names",),
    # The vocabulary, the model checker, the models.
    ("model.vocabulary", "model.collecting", "model.shrink", "model.in_thread", "model.version"),
    ("model.checker.layout",),
    ("model.checker.layout_source",),
    ("model.checker.layout_objects", "model.checker.specification"),
    ("model.checker.interpreter", "model.checker.mutant"),
    ("model.checker.compiler",),
    ("model.checker.walks",),
    ("model.checker.safety",),
    ("model.checker.liveness",),
    (
        "model.classic.state",
        "model.connect.status.state",
        "model.connect.workers.state",
        "model.connect.config.state",
        "model.connect.exactly_once.state",
    ),
    (
        "model.classic.parts",
        "model.connect.status.sending",
        "model.connect.status.invariants",
        "model.connect.workers.group",
        "model.connect.config.topic",
        "model.connect.config.reader",
        "model.connect.config.invariants",
        "model.connect.config.reachable",
        "model.connect.exactly_once.leader",
        "model.connect.exactly_once.tasks",
        "model.connect.exactly_once.invariants",
        "model.connect.workers.herder",
        "model.connect.workers.incremental",
        "model.connect.workers.invariants",
        "model.connect.workers.step_invariants",
        "model.connect.workers.liveness",
    ),
    ("model.classic.config", "model.classic.client", "model.classic.coordinator", "model.classic.invariants"),
    (
        "model.classic.reachable",
        "model.connect.status.store",
        "model.connect.status.races",
        "model.connect.workers.assignors",
        "model.connect.workers.disturbances",
        "model.connect.workers.reachable",
    ),
    ("model.classic.concerns", "model.classic.liveness"),
    (
        "model.classic.model",
        "model.classic.observer",
        "model.connect.status.model",
        "model.connect.workers.model",
        "model.connect.config.model",
        "model.connect.exactly_once.model",
    ),
    ("model.connect.status.subject", "model.connect.workers.observer"),
    ("model.registry", "model.execution"),
    # Invariants over events, and the judge.
    (
        "properties.malformed",
        "properties.examples",
        "properties.features",
        "properties.families",
        "properties.seen_from_outside",
        "properties.signatures",
        "properties.between",
    ),
    ("properties.verdict", "properties.history"),
    ("properties.kinds", "properties.schema", "properties.coverage", "properties.situations"),
    ("properties.views", "properties.exit_codes", "properties.completeness"),
    ("properties.engines",),
    ("properties.standstill",),
    ("properties.laws",),
    ("properties.catalogue", "properties.implication"),
    ("properties.judgement",),
    ("properties.known",),
    ("properties.listening",),
    ("properties.panel",),
    ("properties.judge",),
    ("properties.changes",),
    ("properties.falsify",),
    ("properties.argument", "properties.causality", "properties.files", "properties.incarnations"),
    ("properties.merging", "properties.file_runs"),
    # The protocol as it is implemented, without sockets, threads or clocks.
    ("impl.protocol", "impl.runtime"),
    ("impl.assignors", "impl.coordinator", "impl.connect.status"),
    ("impl.client", "impl.steered"),
    ("impl.connect",),
    ("impl.comparison", "impl.scenarios"),
    ("impl.mutants",),
    ("impl.simulator",),
    ("properties.assignment",),
    ("properties.machines",),
    # Brokers, the JVM, live clients.
    ("integration.parent", "integration.machine_clock", "integration.interrupts"),
    ("integration.wire", "integration.jvm", "integration.waiting"),
    ("integration.exchange",),
    ("integration.embedded", "integration.virtual"),
    (
        "integration.brokers",
        "integration.frame_fuzz",
        "integration.driver",
        "integration.recorders",
    ),
    ("integration.live",),
    ("integration.cluster",),
    ("integration.comparison", "integration.connect"),
    ("integration.against_kafka", "integration.acceptor"),
    ("integration.kits",),
    # Campaigns, reports, the command line.
    ("pipeline",),
    ("rebalance_check.report",),
    ("rebalance_check.commands._extras",),
    ("rebalance_check.commands._options",),
    ("rebalance_check.commands._console", "rebalance_check.commands._bounds_options"),
    ("rebalance_check.pytest_plugin",),
    ("rebalance_check.commands",),
    ("rebalance_check.cli",),
    ("rebalance_check.__main__",),
)
"""From the lowest to the highest. A floor has groups, which do not import each other."""

CHECKER = "model.checker"
NOT_FOR_THE_CHECKER = ("model.registry", "model.classic", "model.connect")
"""The models, their mutants and the names of both: the checker takes a model, whichever it is."""


@dataclass(frozen=True)
class Import:
    """One import of the product: which module imports which, where, and whether type checkers alone see it."""

    module: str
    line: int
    target: str
    for_types: bool

    def __str__(self) -> str:
        return f"{self.module}:{self.line} imports {self.target}"


def module_of(source: Source) -> str:
    """``model.classic.run``; the package itself is called by its own name."""
    parts = source.path.removesuffix(".py").split("/")
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_of(source: Source, modules: set[str]) -> Iterator[Import]:
    """The imports of one file that name a module of the product."""
    for_types = {
        id(inner)
        for node in ast.walk(source.tree)
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")
        for inner in ast.walk(node)
    }
    for node in ast.walk(source.tree):
        if isinstance(node, ast.ImportFrom):
            names = [(f"{node.module}.{alias.name}", str(node.module)) for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [(alias.name, alias.name) for alias in node.names]
        else:
            continue
        for candidates in names:
            target = next((known for name in candidates if (known := known_as(name, modules))), None)
            if target is not None:
                yield Import(module_of(source), node.lineno, target, id(node) in for_types)


def known_as(name: str, modules: set[str]) -> str | None:
    """The module that a dotted name of the package stands for, as `module_of` calls it; None for anything else."""
    if name != ROOT and not name.startswith(f"{ROOT}."):
        return None
    return next((known for known in (name.removeprefix(f"{ROOT}."), name) if known in modules), None)


def all_imports(product: list[Source]) -> list[Import]:
    modules = {module_of(source) for source in product}
    return [each for source in product for each in imports_of(source, modules)]


def place_of(module: str) -> tuple[int, str] | None:
    """Floor and group of a module: of all groups that it belongs to the one that is named most exactly."""
    places = [
        (len(group), floor, group)
        for floor, groups in enumerate(FLOORS)
        for group in groups
        if f"{module}.".startswith(f"{group}.")
    ]
    return max(places)[1:] if places else None


def runs_up(each: Import) -> bool:
    """Whether an import names a higher floor, or another group of its own floor; packages themselves stand nowhere."""
    here, there = place_of(each.module), place_of(each.target)
    return here is not None and there is not None and here != there and here[0] <= there[0]


def circles(imports: list[Import]) -> list[tuple[str, ...]]:
    """Modules that import each other, directly or by way of others."""
    edges: dict[str, set[str]] = {}
    for each in imports:
        edges.setdefault(each.module, set()).add(each.target)
        edges.setdefault(each.target, set())
    reach = {module: reachable(module, edges) for module in edges}
    return sorted({tuple(sorted(x for x in reach[m] if m in reach[x])) for m in edges if m in reach[m]})


def reachable(start: str, edges: dict[str, set[str]]) -> set[str]:
    """The modules that one imports, directly or by way of others."""
    found, todo = set[str](), [*edges[start]]
    while todo:
        module = todo.pop()
        if module not in found:
            found.add(module)
            todo += edges[module]
    return found


def knows_a_model(each: Import) -> bool:
    """Whether the checker imports what it is to be handed."""
    return is_in(each.module, CHECKER) and any(is_in(each.target, name) for name in NOT_FOR_THE_CHECKER)


def is_in(module: str, package: str) -> bool:
    return f"{module}.".startswith(f"{package}.")


@pytest.fixture(scope="module")
def imports(product: list[Source]) -> list[Import]:
    """The imports of the product that happen when it runs."""
    return [each for each in all_imports(product) if not each.for_types]


def test_every_module_stands_on_a_floor(product: list[Source]) -> None:
    packages = {module_of(source) for source in product if source.path.endswith("__init__.py")}
    assert [m for s in product if (m := module_of(s)) not in packages and place_of(m) is None] == []


def test_no_import_runs_up(imports: list[Import]) -> None:
    assert [str(each) for each in imports if runs_up(each)] == []


def test_no_import_runs_in_a_circle(imports: list[Import]) -> None:
    assert circles(imports) == []


def test_an_import_for_type_checkers_does_not_run_up_either(product: list[Source]) -> None:
    """In a circle it may run: two modules of one group may name each other's types."""
    assert [str(each) for each in all_imports(product) if each.for_types and runs_up(each)] == []


def test_the_checker_knows_no_model_and_no_mutant(product: list[Source]) -> None:
    assert [str(each) for each in all_imports(product) if knows_a_model(each)] == []


def test_no_module_of_the_product_is_imported_by_a_string(product: list[Source]) -> None:
    """The package loads a public name's module when it is used, the command line a sub-command's when it is called, and
    an edit of a mutant names its function."""
    by_name = ("rebalance_check/_lazy_names.py:", "rebalance_check/cli.py:", "impl/mutants/edit.py:")
    found = [
        f"{source.path}:{node.lineno}"
        for source in product
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func) in {"importlib.import_module", "__import__"}
    ]
    assert [where for where in found if not where.startswith(by_name)] == []


@pytest.mark.parametrize(
    ("path", "text", "broken"),
    [
        ("model/vocabulary/x.py", f"from {ROOT}.model.registry import MUTANTS", {"up"}),
        ("model/checker/safety/x.py", f"def f():\n    from {ROOT}.model.registry import MUTANTS", {"up", "checker"}),
        ("model/checker/walks.py", f"from {ROOT}.model.classic import liveness", {"up", "checker"}),
        ("model/classic/parts/x.py", f"import {ROOT}.model.classic.state", set()),
        ("model/classic/client.py", f"from {ROOT}.model.classic.coordinator import leave", {"up"}),
        ("impl/coordinator/x.py", f"from {ROOT}.impl.client.core import Core", {"up"}),
        ("impl/simulator/x.py", f"from {ROOT}.impl.client.core import Core", set()),
    ],
)
def test_the_computation_can_fail(path: str, text: str, broken: set[str], product: list[Source]) -> None:
    modules = {module_of(source) for source in product}
    found = list(imports_of(type(product[0])(path, text), modules))
    assert len(found) == 1
    assert {"up"} & broken == {"up" for each in found if runs_up(each)}
    assert {"checker"} & broken == {"checker" for each in found if knows_a_model(each)}


def test_a_circle_is_seen__and_an_import_for_types_does_not_count(product: list[Source]) -> None:
    source = type(product[0])
    one = source("impl/a.py", f"from {ROOT}.impl.b import f")
    other = source(
        "impl/b.py", f"if TYPE_CHECKING:\n    from {ROOT}.impl.c import g\ndef f():\n    import {ROOT}.impl.c"
    )
    third = source("impl/c.py", f"from {ROOT}.impl import a")
    found = all_imports([one, other, third])
    assert circles(found) == [("impl.a", "impl.b", "impl.c")]
    assert [each.for_types for each in found] == [False, True, False, False]
    assert circles([each for each in found if each.module != "impl.c"]) == []
