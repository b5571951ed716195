"""The command of a client under test, with the places that the kit fills in."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rebalance_check.model.vocabulary.errors import RebalanceCheckError

PLACEHOLDERS: Final = {
    "{bootstrap}": "the address of the broker, HOST:PORT",
    "{group}": "the group.id",
    "{topic}": "the topic to subscribe to",
    "{instance}": "the group.instance.id of a static member",
    "{member}": "the name of the process, such as p0, for a client.id or a log",
}
"""The placeholders in the arguments of a command, and the meaning of each.

Where members are dynamic, an argument with ``{instance}`` is left out, and so is the option before it: of
``--instance {instance}`` both, of ``-X group.instance.id={instance}`` both, of ``--instance={instance}`` that one.
"""

INSTANCE: Final = "{instance}"
REQUIRED: Final = ("{bootstrap}", "{group}", "{topic}")


@dataclass(frozen=True, slots=True)
class ClientCommand:
    """The command line that starts one member of the group, not yet filled in.

    Raises: RebalanceCheckError when it lacks a placeholder of `REQUIRED`, or names no program of this machine.
    """

    words: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.words:
            raise RebalanceCheckError("no command is given: write the client's command behind --")
        missing = [each for each in REQUIRED if not self.has(each)]
        if missing:
            raise RebalanceCheckError(
                f"the command {self} has no {missing[0]}: write it where the program takes {PLACEHOLDERS[missing[0]]}"
            )
        if shutil.which(self.words[0]) is None:
            raise RebalanceCheckError(f"there is no program {self.words[0]!r}: check its path, or install it")

    def has(self, placeholder: str) -> bool:
        """Whether the placeholder stands in the command."""
        return any(placeholder in word for word in self.words)

    def filled(self, *, bootstrap: str, group: str, topic: str, instance: str, member: str) -> list[str]:
        """The command line of one process, of a dynamic member where ``instance`` is ""; other braces stay."""
        values = dict(zip(PLACEHOLDERS, (bootstrap, group, topic, instance, member), strict=True))
        words = self.words if instance else without_instance(self.words)
        return [_filled(word, values) for word in words]

    def __str__(self) -> str:
        return shlex.join(self.words)


def without_instance(words: Sequence[str]) -> list[str]:
    """The words without those that have ``{instance}``, and without each option whose value is such a word."""
    kept: list[str] = []
    for word in words:
        if INSTANCE not in word:
            kept.append(word)
        elif kept and kept[-1].startswith("-") and not word.startswith("-"):
            kept.pop()
    return kept


def _filled(word: str, values: Mapping[str, str]) -> str:
    for placeholder, value in values.items():
        word = word.replace(placeholder, value)
    return word
