"""Compilers and interpreters that must be there and new enough, before anything is built with them."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rebalance_check.integration.parent import ended_with_parent
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

_VERSION: Final = re.compile(r"\d+(?:\.\d+)+")


@dataclass(frozen=True, slots=True)
class Toolchain:
    """A language's tool: its ``name``, the command that it is, and the arguments with which it prints its version."""

    name: str
    command: str
    version_arguments: tuple[str, ...]

    def at_least(self, oldest: str, whose: str, folder: Path) -> str:
        """The path of the command, which ``whose`` program needs in the version ``oldest`` or a newer one.

        The version is asked for in ``folder``: a Go that fetches the one of a go.mod answers with that.

        Raises: `RebalanceCheckError` where the command is absent or older.
        """
        needs = f"{whose} needs {self.name} {oldest} or newer, and"
        install = f"install {self.name} {oldest}, and put it first on the PATH"
        found = shutil.which(self.command)
        if found is None:
            raise RebalanceCheckError(f"{needs} no {self.command!r} is on the PATH: {install}")
        said = self._version(found, folder)
        version = _VERSION.search(said)
        if version is None or _numbers(version[0]) < _numbers(oldest):
            question = " ".join((self.command, *self.version_arguments))
            raise RebalanceCheckError(f"{needs} `{question}` says {version[0] if version else repr(said)}: {install}")
        return found

    def _version(self, found: str, folder: Path) -> str:
        call = ended_with_parent([found, *self.version_arguments])
        done = subprocess.run(call, cwd=folder, capture_output=True, text=True, check=False)
        return (done.stdout or done.stderr).strip()


GO: Final = Toolchain("Go", "go", ("version",))
NODE: Final = Toolchain("Node", "node", ("--version",))


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))
