"""A public function that raises says so in its docstring, and names what it raises."""

import ast
from collections.abc import Iterator
from typing import Any

Source = Any

OUR_FAULT = frozenset({"AssertionError"})
"""A fault of this project, which no caller handles."""


def public_functions(node: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """The functions and methods that a reader may call: no part of their name begins with an underscore."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef) and not child.name.startswith("_"):
            yield from public_functions(child)
        elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef) and not child.name.startswith("_"):
            yield child


def raised(node: ast.AST) -> Iterator[str]:
    """The names of the classes that a function raises itself; what nested functions raise is theirs."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            continue
        if isinstance(child, ast.Raise) and child.exc is not None:
            made = child.exc.func if isinstance(child.exc, ast.Call) else child.exc
            if isinstance(made, ast.Name) and made.id[:1].isupper():
                yield made.id
        yield from raised(child)


def silent(tree: ast.Module) -> Iterator[tuple[int, str, str]]:
    """Line, function and class of each exception that a docstring leaves out; click commands have their help."""
    for function in public_functions(tree):
        said = ast.get_docstring(function) or ""
        if function.name == "command":
            continue
        for name in sorted(set(raised(function)) - OUR_FAULT):
            if name not in said:
                yield function.lineno, function.name, name


def test_a_public_function_that_raises_says_so(product: list[Source]) -> None:
    wrong = [
        f"{source.path}:{line}: {function} raises {name}, and its docstring does not say so"
        for source in product
        for line, function, name in silent(source.tree)
    ]
    assert wrong == []


def test_a_silent_function_is_seen() -> None:
    text = "def f():\n  '''Does it.'''\n  raise E(1)\ndef g():\n  '''Raises `E`.'''\n  raise E\ndef _h():\n  raise E\n"
    assert list(silent(ast.parse(text))) == [(1, "f", "E")]
