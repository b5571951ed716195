"""Libraries and the extras that bring them, and the question for one before the work begins."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any, Final

import click

EXTRAS: Final = {
    "numpy": "explore",
    "llvmlite": "explore",
    "networkx": "explore",
    "hypothesis": "hypothesis",
    "kafka": "brokers",
    "testcontainers": "brokers",
    "docker": "brokers",
    "pyarrow": "tables",
    "pyspark": "spark",
    "py4j": "spark",
    "pandas": "spark",
    "jinja2": "report",
    "junitparser": "report",
    "prometheus_client": "prometheus",
}
"""The extra that brings each library."""


def require(library: str) -> None:
    """Check that a library is there, without importing it.

    Raises: ModuleNotFoundError, which the command line turns into a sentence that names the extra.
    """
    if find_spec(library) is None:
        raise ModuleNotFoundError(f"No module named {library!r}", name=library)


def needs(library: str) -> Any:
    """The callback of an option that asks for ``library`` as soon as it is given, before anything runs."""

    def asked(_context: click.Context, _option: click.Parameter, value: Any) -> Any:
        if value:
            require(library)
        return value

    return asked
