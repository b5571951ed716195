"""A judge that is compiled finds what the one of Python finds; mutants are planted in Python in either case."""

import ast
import importlib
import importlib.util
import inspect
import os
import re
import shutil
import sys
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any

from rebalance_check.impl.mutants import IMPL_MUTANTS
from rebalance_check.impl.mutants.planting import edited_code
from rebalance_check.model.vocabulary.events import EVENT_TYPES
from rebalance_check.properties import judge as judging
from rebalance_check.properties.catalogue import CATALOGUE

ROOT = Path(__file__).parents[2]
SETUP = ROOT / "setup.py"


def constant(name: str) -> Any:
    """What setup.py says, which runs a build when it is imported."""
    for node in ast.parse(SETUP.read_text()).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name:
            return ast.literal_eval(node.value)
    raise AssertionError(f"setup.py has no {name}")


def test_the_judge_is_compiled_where_that_was_asked_for() -> None:
    is_compiled = not str(judging.__file__).endswith(".py")
    assert is_compiled == (os.environ.get("REBALANCE_CHECK_COMPILE") == "1"), judging.__file__


def test_what_mutants_edit_is_python() -> None:
    edited = {function.__module__ for mutant in IMPL_MUTANTS.values() for function, _ in edited_code(mutant)}
    assert all(name.startswith("rebalance_check.impl.") for name in edited), sorted(edited)
    assert not any(pattern.startswith("impl/") for pattern in constant("COMPILED"))


def test_what_is_to_be_compiled_is_there() -> None:
    found = {pattern: sorted(ROOT.glob(pattern)) for pattern in constant("COMPILED")}
    assert [pattern for pattern, paths in found.items() if not paths] == []


def test_every_claim_is_compiled_with_the_class_that_its_fold_extends() -> None:
    """Python code may extend few of the compiled classes, and most folds extend others."""
    compiled = {path for pattern in constant("COMPILED") for path in ROOT.glob(pattern)}
    folds = {type(one.start()) for one in CATALOGUE}
    paths = {kind: ROOT.joinpath(*kind.__module__.split(".")[1:]).with_suffix(".py") for kind in folds}
    assert sorted(f"{kind.__module__}.{kind.__name__}" for kind, path in paths.items() if path not in compiled) == []


def rewriter_of(folder: Path) -> Any:
    """What rewrites copies of the modules that are compiled in their place, copied to ``folder``."""
    spec = importlib.util.spec_from_file_location("setup_dataclasses", ROOT / "setup_dataclasses.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # its own dataclasses look for it there
    spec.loader.exec_module(module)
    paths = {}
    for path in sorted(path for pattern in constant("COMPILED") for path in ROOT.glob(pattern)):
        if path.name not in constant("INTERPRETED"):
            name = ".".join(("rebalance_check", *path.relative_to(ROOT).with_suffix("").parts))
            paths[name] = folder / f"{name}.py"
            shutil.copy(path, paths[name])
    return module.Rewriter(paths)


def written_out(path: Path) -> dict[str, ast.FunctionDef]:
    """The ``__init__`` of each class of a module that has one."""
    classes = [node for node in ast.parse(path.read_text()).body if isinstance(node, ast.ClassDef)]
    return {
        one.name: each
        for one in classes
        for each in one.body
        if isinstance(each, ast.FunctionDef) and each.name == "__init__"
    }


def taken(function: ast.FunctionDef) -> list[tuple[str, bool, bool]]:
    """Each parameter but self: its name, whether it is given by name alone, and whether it may be left out."""
    given = function.args
    plain = given.args[1:]
    optional = len(plain) - len(given.defaults)
    by_name = [
        (one.arg, True, default is not None) for one, default in zip(given.kwonlyargs, given.kw_defaults, strict=True)
    ]
    return [(one.arg, False, at >= optional) for at, one in enumerate(plain)] + sorted(by_name)


def taken_by(kind: type) -> list[tuple[str, bool, bool]]:
    """The same of a class, as Python has it."""
    parameters = inspect.signature(kind).parameters.values()
    found = [(one.name, one.kind is one.KEYWORD_ONLY, one.default is not one.empty) for one in parameters]
    return [one for one in found if not one[1]] + sorted(one for one in found if one[1])


def test_an_init_that_is_written_out_takes_what_that_of_the_dataclass_takes(tmp_path: Path) -> None:
    rewriter, compared = rewriter_of(tmp_path), 0
    rewriter.rewrite()
    for name, source in rewriter.sources.items():
        module = importlib.import_module(name)
        for kind, function in written_out(source.path).items():
            if is_dataclass(getattr(module, kind)):
                compared += 1
                assert taken(function) == taken_by(getattr(module, kind)), f"{name}.{kind}"
    assert compared > len(EVENT_TYPES)


def test_every_event_has_one_and_keeps_the_types_of_its_fields(tmp_path: Path) -> None:
    rewriter = rewriter_of(tmp_path)
    rewriter.rewrite()
    for kind in EVENT_TYPES.values():
        source = rewriter.sources[kind.__module__]
        assert kind.__name__ in written_out(source.path)
        assert (
            f"type.__setattr__({kind.__name__}, '__annotations__', {kind.__annotations__!r})" in source.path.read_text()
        )


def test_a_fold_that_is_compiled_needs_what_its_class_says(tmp_path: Path) -> None:
    rewriter = rewriter_of(tmp_path)
    rewriter.rewrite()
    needs = re.compile("^    needs = ", re.MULTILINE)
    left = [len(needs.findall(source.path.read_text())) for source in rewriter.sources.values()]
    assert sum(left) == 0


def test_no_class_reads_the_bookkeeping_of_another__which_belongs_to_objects_where_it_is_compiled() -> None:
    """A constant next to the class says it to both."""
    wrong = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for pattern in constant("COMPILED")
        for path in sorted(ROOT.glob(pattern))
        for one in ast.parse(path.read_text()).body
        if isinstance(one, ast.ClassDef)
        for each in one.body
        if isinstance(each, ast.Assign | ast.AnnAssign)
        for node in ast.walk(each)
        if isinstance(node, ast.Attribute) and node.attr == "bookkeeping"
    ]
    assert wrong == []
