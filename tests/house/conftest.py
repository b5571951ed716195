"""The source files of the checkout, parsed once, for the tests that read the code instead of running it."""

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("model", "properties", "impl", "integration", "pipeline")
COMMAND_LINE = "rebalance_check"


@dataclass(frozen=True)
class Source:
    """One Python file: its path from the root of the checkout, and what stands in it."""

    path: str
    text: str

    @property
    def package(self) -> str:
        return self.path.split("/", maxsplit=1)[0]

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text, self.path)

    @cached_property
    def imports(self) -> list[tuple[int, str]]:
        """Line and dotted name of everything that is imported, `from a import b` as `a.b`, relative ones with dots."""
        found: list[tuple[int, str]] = []
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                found += [(node.lineno, alias.name) for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                base = "." * node.level + (node.module or "")
                found += [(node.lineno, f"{base}.{alias.name}") for alias in node.names]
        return found


def python_files(folder: Path) -> Iterator[Path]:
    """Python files below ``folder``; links are not followed, so that each file is seen once, at home."""
    for path in sorted(folder.iterdir()):
        if path.is_symlink() or path.name == "__pycache__":
            continue
        if path.is_dir():
            yield from python_files(path)
        elif path.suffix == ".py":
            yield path


def read_sources(*folders: str) -> list[Source]:
    return [
        Source(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8"))
        for folder in folders
        for path in python_files(ROOT / folder)
    ]


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def product() -> list[Source]:
    """The files of the packages and of the console."""
    return read_sources(*PACKAGES, COMMAND_LINE)


@pytest.fixture(scope="session")
def everything(product: list[Source]) -> list[Source]:
    """The product, its tests and its benchmarks."""
    return product + read_sources("tests", "bench")


@pytest.fixture(scope="session")
def stdlib() -> frozenset[str]:
    return frozenset(sys.stdlib_module_names)
