"""Rows of the tables of clients: facts from the named parts of a sentence, and the parts that a line leaves out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any, Final

from rebalance_check.pipeline.diagnose.facts import AssignmentComputed, ClientFact, Fact, RequestRefused
from rebalance_check.pipeline.diagnose.logs.templates import Fields, Make, Template, nothing, template

MOST_GROUPS: Final = 1_000
"""The groups, or consumers, of one log whose state a reader keeps."""
SAME_MS: Final = 50
"""Two lines about one failed request are so close."""


def says(kind: Callable[..., Fact], *names: str, numbers: tuple[str, ...] = (), **fixed: Any) -> Make:
    """A fact of a client whose fields are the parts of the message with the same names; a missing number is None."""

    def make(fields: Fields, at: dict[str, Any]) -> Iterable[Fact]:
        values: dict[str, Any] = {name: fields.get(name, "") for name in ("client", "group", *names)}
        values |= {name: number(fields.get(name)) for name in numbers}
        return (kind(**values, **fixed, **at),)

    return make


def quiet(sentences: str) -> Iterator[Template]:
    """Rows for sentences that state nothing a diagnosis needs, or that another line states: one in each line."""
    for line in sentences.strip().splitlines():
        yield template(line.strip(), re.escape(line.strip()), nothing)


def number(text: str | None) -> int | None:
    """A number of a log line; None where there is none, or where it is no number of Kafka's."""
    return int(text) if text is not None and re.fullmatch(r"-?\d{1,19}", text) else None


def repeats(fact: Fact, before: Fact | None) -> bool:
    """Whether a line is about the same failed request as the one before: clients write one for each partition."""
    if not (isinstance(fact, RequestRefused) and isinstance(before, RequestRefused)):
        return False
    close = fact.time_ms is not None and before.time_ms is not None and fact.time_ms - before.time_ms <= SAME_MS
    return close and (fact.request, fact.error, fact.group) == (before.request, before.error, before.group)


def with_generation(fact: AssignmentComputed, generation: int | None) -> AssignmentComputed:
    """The leader's assignment belongs to the generation that its client joined last."""
    return fact if fact.generation is not None else replace(fact, generation=generation)


def file_name(source: str) -> str:
    """The name of a source without folder and suffix: it stands for a client id that no line shows.

    The name of a process behind it, in brackets, stays: a file may have several.
    """
    path, bracket, process = source.partition("[")
    name = PurePosixPath(path.replace("\\", "/")).name
    return (name.split(".log")[0] if ".log" in name[1:] else PurePosixPath(name).stem) + bracket + process


@dataclass(slots=True)
class Known:
    """The client, group and member that earlier lines have named: put into facts whose lines leave them out."""

    client: str = ""
    group: str = ""
    member: str = ""
    instance: str = ""

    def into(self, fact: Fact) -> Fact:
        """The fact with its missing fields."""
        group = fact.group or self.group
        if not isinstance(fact, ClientFact):
            return replace(fact, group=group)
        return replace(
            fact, group=group, client=fact.client or self.client or file_name(fact.place.source),
            member=fact.member or self.member, instance=fact.instance or self.instance,
        )  # fmt: skip

    def learn(self, fact: Fact) -> None:
        """Keep the member id and the instance id of a fact that has them."""
        if isinstance(fact, ClientFact):
            self.member = fact.member or self.member
            self.instance = fact.instance or self.instance
