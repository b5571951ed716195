"""The rules of the house hold in every file: who imports whom, how long things are, and what is never called."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

# `Source` is the data class of conftest.py; test files of this project import nothing but the package itself.
Source = Any

PACKAGES = frozenset({"model", "properties", "impl", "integration", "pipeline"})
COMMAND_LINE = "rebalance_check"

MAY_IMPORT = {
    "model": {"model"},
    "properties": {"model", "properties"},
    "impl": {"model", "impl"},
    "integration": {"model", "properties", "impl", "integration"},
    "pipeline": {"model", "properties", "impl", "pipeline"},
    COMMAND_LINE: PACKAGES | {COMMAND_LINE},
}
MACHINES = "properties/machines/"
"""Hypothesis machines hold the implementation against the model, so they may import both."""

MAY_IMPORT_FROM_OUTSIDE = {
    "model": {"numpy", "llvmlite", "networkx"},
    "properties": {"msgspec", "hypothesis", "numpy"},
    "impl": {"msgspec"},
    "integration": {"msgspec", "kafka", "confluent_kafka", "aiokafka", "testcontainers", "docker"},
    "pipeline": {"msgspec", "numpy", "pyspark", "pyarrow", "py4j"},
    COMMAND_LINE: {"click", "rich", "msgspec", "jinja2", "markupsafe", "junitparser", "prometheus_client", "pytest"},
}

FILE_LIMIT, TEST_FILE_LIMIT, FUNCTION_LIMIT, LINE_LIMIT = 500, 600, 70, 120

BANNED_EVERYWHERE = {
    "time.time": "the wall clock jumps: take a clock that is handed down, or time.monotonic at the edge",
    "datetime.now": "take a clock that is handed down",
    "datetime.utcnow": "take a clock that is handed down",
    "datetime.today": "take a clock that is handed down",
    "date.today": "take a clock that is handed down",
    "os.urandom": "draw from the random.Random that is handed down",
    "uuid.uuid1": "draw from the random.Random that is handed down",
}
BANNED_INSIDE = {
    "time.monotonic": "time comes from the clock that is handed in",
    "time.sleep": "nothing in here waits: advance the clock that is handed in",
    "time.perf_counter": "speed is measured by the caller",
    "uuid.uuid4": "draw from the random.Random that is handed down",
    "open": "no I/O in here: the caller reads and writes",
    "print": "no output in here: return data, the console prints",
}
INSIDE = ("model/", "impl/")
"""The pure packages: no clock, no I/O, no randomness of their own."""

MAY_BREAK = {
    ("model/checker/safety/", "time.perf_counter"): "a search reports its own speed and progress",
    ("model/checker/liveness/", "time.perf_counter"): "a check reports its own speed",
}
RANDOM_OF_A_SEED = {"Random"}


def dotted(node: ast.expr) -> str:
    """``a.b.c`` of an attribute chain; empty for anything else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and (base := dotted(node.value)):
        return f"{base}.{node.attr}"
    return ""


def calls(source: Source) -> Iterator[tuple[int, str]]:
    """Line and name of every call; only the last two parts (``datetime.datetime.now`` is ``datetime.now``)."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Call) and (name := dotted(node.func)):
            yield node.lineno, ".".join(name.split(".")[-2:])


def test_imports_go_one_way(product: list[Source]) -> None:
    wrong = [
        f"{source.path}:{line}: {source.package} may not import {name}"
        for source in product
        for line, name in source.imports
        if name.startswith(f"{COMMAND_LINE}.")
        for target in [name.split(".")[1] if name.split(".")[1] in PACKAGES else COMMAND_LINE]
        if target not in MAY_IMPORT[source.package] | ({"impl"} if source.path.startswith(MACHINES) else set())
    ]
    assert wrong == []


def test_no_package_is_imported_bare_and_nothing_relative(everything: list[Source]) -> None:
    wrong = [
        f"{source.path}:{line}: write rebalance_check.{name.lstrip('.')}"
        for source in everything
        for line, name in source.imports
        if name.startswith(".") or name.split(".")[0] in PACKAGES
    ]
    assert wrong == []


def test_a_package_imports_only_the_libraries_it_declared(product: list[Source], stdlib: frozenset[str]) -> None:
    wrong = [
        f"{source.path}:{line}: {source.package} does not use {name}"
        for source in product
        for line, name in source.imports
        for top in [name.split(".")[0]]
        if top not in stdlib
        and top not in {COMMAND_LINE, "__future__"}
        and top not in MAY_IMPORT_FROM_OUTSIDE[source.package]
    ]
    assert wrong == []


def test_files_and_functions_stay_short(everything: list[Source]) -> None:
    wrong = []
    for source in everything:
        limit = TEST_FILE_LIMIT if source.package == "tests" else FILE_LIMIT
        if (lines := source.text.count("\n")) > limit:
            wrong.append(f"{source.path}: {lines} lines, the limit is {limit}")
        for node in ast.walk(source.tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno is not None:
                length = node.end_lineno - node.lineno + 1
                if length > FUNCTION_LIMIT:
                    wrong.append(f"{source.path}:{node.lineno}: {node.name} has {length} lines, not {FUNCTION_LIMIT}")
    assert wrong == []


def banned_calls(source: Source) -> Iterator[str]:
    banned = BANNED_EVERYWHERE | (BANNED_INSIDE if source.path.startswith(INSIDE) else {})
    for line, name in calls(source):
        allowed = any(source.path.startswith(where) and name == call for where, call in MAY_BREAK)
        if name in banned and not allowed:
            yield f"{source.path}:{line}: {name}: {banned[name]}"


def test_no_wall_clock_and_no_hidden_input(product: list[Source]) -> None:
    assert [wrong for source in product for wrong in banned_calls(source)] == []


def test_randomness_comes_from_a_seeded_random_that_is_handed_down(everything: list[Source]) -> None:
    wrong = [
        f"{source.path}:{line}: {name} uses the random numbers that all modules share"
        for source in everything
        for line, name in source.imports
        if name.startswith("random.") and name.split(".")[1] not in RANDOM_OF_A_SEED
    ]
    wrong += [
        f"{source.path}:{line}: {name} uses the random numbers that all modules share"
        for source in everything
        for line, name in calls(source)
        if re.fullmatch(r"random\.[a-z]\w*", name) and shared_random(source)
    ]
    assert wrong == []


def shared_random(source: Source) -> bool:
    """Whether the name ``random`` is the module in this file, and not a `random.Random` that was handed down."""
    return any(name == "random" for _, name in source.imports)


@pytest.mark.parametrize("name", ["utils", "helpers", "misc", "common"])
def test_no_file_is_named_after_nothing(name: str, everything: list[Source]) -> None:
    assert [source.path for source in everything if Path(source.path).stem == name] == []


def test_nothing_is_left_to_do(product: list[Source]) -> None:
    left = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|X" + r"XX)\b|Not" + r"Implemented")
    wrong = [
        f"{source.path}:{number}: {line.strip()}"
        for source in product
        for number, line in enumerate(source.text.splitlines(), start=1)
        if left.search(line)
    ]
    assert wrong == []


def test_every_silenced_warning_says_why(everything: list[Source]) -> None:
    silenced = re.compile(r"#\s*(noqa(?P<codes>:\s*[A-Z0-9, ]+)?|type: ignore(\[[\w, -]+\])?)(?P<reason>.*)")
    wrong = [
        f"{source.path}:{number}: {line.strip()}"
        for source in everything
        for number, line in enumerate(source.text.splitlines(), start=1)
        if (match := silenced.search(line)) and not re.match(r" *(- |# )(?!see above)\w.*\w{2,}", match["reason"])
    ]
    assert wrong == []


def test_no_path_of_one_machine_stands_in_the_project(root: Path) -> None:
    machine = re.compile(r"(?<![\w.:}$-])/(ro" + r"ot|wo" + r"rk|home/\w+|Users)/")
    suffixes = {".py", ".md", ".toml", ".ini", ".json", ".jinja", ".js", ".css", ".txt", ".sh", ".svg", ".yml"}
    wrong = []
    for path in sorted(root.rglob("*")):
        parts = path.relative_to(root).parts
        if path.suffix not in suffixes or not path.is_file() or hidden(parts):
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            if machine.search(line):
                wrong.append(f"{'/'.join(parts)}:{number}: {line.strip()[:100]}")
    assert wrong == []


def hidden(parts: tuple[str, ...]) -> bool:
    """Whether a path is of a tool (``.tox``, ``build``, an egg-info) and not of the project; ``.ci`` is ours."""
    return any((p.startswith(".") and p != ".ci") or p in {"build", "dist"} or p.endswith(".egg-info") for p in parts)


def test_lines_of_java_are_as_short_as_those_of_python(root: Path) -> None:
    """ruff sees to the lines of Python."""
    sources = [path for path in sorted(root.rglob("*.java")) if not hidden(path.relative_to(root).parts)]
    assert sources, "the sources of the helpers in Java are not seen"
    wrong = [
        f"{path.relative_to(root)}:{number}: {len(line)} characters"
        for path in sources
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if len(line) > LINE_LIMIT
    ]
    assert wrong == []


def test_every_module_says_what_it_is_for(product: list[Source]) -> None:
    assert [source.path for source in product if not ast.get_docstring(source.tree)] == []


def test_the_rules_see_what_they_forbid(tmp_path: Path, product: list[Source]) -> None:
    """The harness can fail: a file that breaks each rule is seen by the functions above."""
    kind = type(product[0])
    bad = kind(
        "model/bad.py", "import time, random\nfrom datetime import datetime\ntime.time()\ndatetime.now()\nopen('x')\n"
    )
    assert len(list(banned_calls(bad))) == 3
    assert shared_random(bad)
    assert list(banned_calls(kind("model/checker/safety/bad.py", "import time\ntime.perf_counter()\n"))) == []
    assert [name for _, name in kind("model/x.py", "import a.b\nfrom ..c import d\n").imports] == ["a.b", "..c.d"]
