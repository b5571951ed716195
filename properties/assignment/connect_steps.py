"""The history of a Connect group: a list of steps, written one on a line, and rounds are among them.

The same text is the input of a search, of the golden scenarios and of ``--input``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar, Final, TypeAlias

from rebalance_check.model.vocabulary.errors import RebalanceCheckError

ITSELF: Final = -1
"""The number of a connector instance among the items of its connector; tasks are numbered from 0."""

Item: TypeAlias = tuple[str, int]
"""One piece of work: a connector's name, and the number of a task or `ITSELF`."""

DEFAULT_MAX_DELAY_MS: Final = 300_000


@dataclass(frozen=True, slots=True)
class Join:
    """A worker process starts; ``claims`` are the items that it says it runs, usually none."""

    worker: str
    claims: tuple[Item, ...] = ()

    def __str__(self) -> str:
        return " ".join(["join", self.worker, *(["claiming", *map(item_name, self.claims)] if self.claims else [])])


@dataclass(frozen=True, slots=True)
class OfWorker:
    """A step that names a worker and nothing else; its line begins with the verb of its class."""

    worker: str
    verb: ClassVar[str]

    def __str__(self) -> str:
        return f"{self.verb} {self.worker}"


class Leave(OfWorker):
    """A worker process ends, and its work with it."""

    verb = "leave"


class CutOff(OfWorker):
    """A worker is no longer in the group, and its work runs on."""

    verb = "cut-off"


class Return(OfWorker):
    """A worker that was cut off joins under a new member id, claiming the work that it runs."""

    verb = "return"


class Lead(OfWorker):
    """From the next round on this worker leads, as long as it is in the group."""

    verb = "lead"


@dataclass(frozen=True, slots=True)
class Configure:
    """A connector gets this number of tasks; it is made where there is none of the name."""

    connector: str
    tasks: int

    def __str__(self) -> str:
        return f"configure {self.connector} {self.tasks}"


@dataclass(frozen=True, slots=True)
class Delete:
    """A connector and its tasks are deleted from the config topic."""

    connector: str

    def __str__(self) -> str:
        return f"delete {self.connector}"


@dataclass(frozen=True, slots=True)
class Wait:
    """Time passes."""

    milliseconds: int

    def __str__(self) -> str:
        return f"wait {self.milliseconds}"


@dataclass(frozen=True, slots=True)
class Rebalance:
    """One round of the group.

    The workers of ``missed`` do not complete it, as when their SyncGroup fails (``failed``: none completes). With
    ``behind`` a worker has read the config topic further than the leader can; with ``eager`` the group selects the
    eager protocol for this round.
    """

    missed: tuple[str, ...] = ()
    failed: bool = False
    behind: bool = False
    eager: bool = False

    def __str__(self) -> str:
        missed = ["missed", *self.missed] if self.missed else []
        flags = [name for name in ("failed", "behind", "eager") if getattr(self, name)]
        return " ".join(["round", *flags, *missed])


Step: TypeAlias = Join | Leave | CutOff | Return | Lead | Configure | Delete | Wait | Rebalance


@dataclass(frozen=True, slots=True)
class History:
    """The steps of one group, and ``scheduled.rebalance.max.delay.ms`` of its workers."""

    steps: tuple[Step, ...]
    max_delay_ms: int = DEFAULT_MAX_DELAY_MS

    @property
    def lines(self) -> tuple[str, ...]:
        """The text, one step on a line; the delay first where it is not the default."""
        delay = () if self.max_delay_ms == DEFAULT_MAX_DELAY_MS else (f"max-delay {self.max_delay_ms}",)
        return (*delay, *map(str, self.steps))


def item_name(item: Item) -> str:
    """``c1`` for the connector, ``c1-0`` for its first task."""
    connector, number = item
    return connector if number == ITSELF else f"{connector}-{number}"


def read_item(name: str) -> Item:
    """The item of such a name; a number after the last hyphen is that of a task."""
    connector, hyphen, number = name.rpartition("-")
    return (connector, int(number)) if hyphen and number.isdigit() else (name, ITSELF)


def item_names(items: Iterable[Item]) -> str:
    """Names in the order of the items, ``-`` for none."""
    return " ".join(map(item_name, items)) or "-"


def configured_items(task_counts: Mapping[str, int]) -> frozenset[Item]:
    """Every connector and task of a configuration."""
    return frozenset((name, number) for name, count in task_counts.items() for number in range(ITSELF, count))


def read_history(text: str) -> History:
    """Read the lines of a history; semicolons separate as line ends do, and empty lines mean nothing.

    Raises `RebalanceCheckError`, with the line, when one is no step.
    """
    delay, steps = DEFAULT_MAX_DELAY_MS, []
    for line in text.replace(";", "\n").splitlines():
        words = line.split()
        if not words:
            continue
        try:
            if words[0] == "max-delay":
                delay = int(words[1])
            else:
                steps.append(_read_step(words[0], words[1:]))
        except (ValueError, IndexError, StopIteration) as error:
            raise RebalanceCheckError(
                f"{line.strip()!r} is no step of a Connect group: write one like 'join w2', 'configure c1 4', "
                "'delete c1', 'wait 40', 'leave w2', 'cut-off w2', 'return w2', 'lead w2' or 'round missed w2'"
            ) from error
    return History(tuple(steps), delay)


def _read_step(verb: str, words: list[str]) -> Step:
    if verb == "join":
        return Join(words[0], tuple(map(read_item, words[2:])))
    if verb == "round":
        missed = words.index("missed") if "missed" in words else len(words)
        flags = dict.fromkeys(words[:missed], True)
        if flags.keys() - {"failed", "behind", "eager"}:
            raise ValueError(flags)
        return Rebalance(tuple(words[missed + 1 :]), **flags)
    match verb, words:
        case "configure", [connector, tasks, *_]:
            return Configure(connector, int(tasks))
        case "delete", [connector, *_]:
            return Delete(connector)
        case "wait", [milliseconds, *_]:
            return Wait(int(milliseconds))
    return next(step for step in (Leave, CutOff, Return, Lead) if step.verb == verb)(words[0])
