"""A program for the kits: the release that it is made of, and the command that starts it."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Protocol

from rebalance_check.integration.jvm import cache_folder, fingerprint, one_line
from rebalance_check.integration.parent import ended_with_parent
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

BUILD_TIMEOUT_S: Final = 3_600.0
"""A large crate takes half an hour on two cores."""


class Program(Protocol):
    """A program whose sources are part of this package."""

    @property
    def release(self) -> str:
        """The pinned version of the library that it is made of."""
        ...

    def command(self) -> list[str]:
        """The command that starts it; it is built if this was never done.

        Raises: `RebalanceCheckError` where it cannot be built, in one sentence.
        """
        ...


def place_in_cache(name: str, sources: Sequence[Path]) -> Path:
    """The folder for the output made of ``sources``: another one when a source is another."""
    return cache_folder() / "programs" / f"{name}-{fingerprint(sources)}"


def run_builder(name: str, call: Sequence[str], folder: Path) -> None:
    """Run a command that builds the program ``name``, in ``folder``.

    Raises: `RebalanceCheckError` with the command's output when it fails.
    """
    wrapped, shown = ended_with_parent(call), " ".join([Path(call[0]).name, *call[1:]])
    try:
        done = subprocess.run(wrapped, cwd=folder, capture_output=True, text=True, check=False, timeout=BUILD_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        raise RebalanceCheckError(
            f"{name} could not be built: `{shown}` was ended after {BUILD_TIMEOUT_S:.0f} s; build it when the machine "
            "has less to do"
        ) from None
    if done.returncode != 0:
        said = one_line(done.stderr or done.stdout) or "nothing"
        raise RebalanceCheckError(
            f"{name} could not be built: `{shown}` ended with {done.returncode} and printed {said}"
        )
