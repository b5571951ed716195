"""What everything that runs Java shares: the tools of a JDK, and the cache of what was fetched or compiled."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Final

from rebalance_check.model.errors import RebalanceCheckError

JARS_SETTING: Final = "REBALANCE_CHECK_KAFKA_JARS"
"""The environment variable with the folder of a release's jars, or of a folder for each release."""


def java_tool(name: str, whose: str, oldest: int) -> str:
    """The path of ``java`` or ``javac``: below JAVA_HOME, or on the PATH.

    `RebalanceCheckError` when there is none; it says that ``whose`` needs a JDK of Java ``oldest``.
    """
    home = os.environ.get("JAVA_HOME")
    found = (shutil.which(name, path=f"{home}/bin") if home else None) or shutil.which(name)
    if found is None:
        raise RebalanceCheckError(
            f"{whose} needs a JDK of Java {oldest} or later, and there is no {name!r} on the PATH: install one, or set "
            "JAVA_HOME"
        )
    return found


def cache_folder() -> Path:
    """Where this package keeps what it can make again."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "rebalance-check"


def settle(partial: Path, folder: Path) -> None:
    """Give a finished folder its place; if another process was faster, its work is as good."""
    try:
        partial.rename(folder)
    except OSError:
        shutil.rmtree(partial, ignore_errors=True)
        if not folder.is_dir():
            raise
