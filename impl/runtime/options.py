"""The make-up of a simulated run, apart from its seed: one value that fits on a command line."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from typing import Final, TypeVar

from rebalance_check.impl.runtime.choices import Choices
from rebalance_check.impl.runtime.choices import read as read_choices
from rebalance_check.model.vocabulary.actions import Action, parse_action
from rebalance_check.model.vocabulary.bounds import RUN_SIZES
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.upgrade_paths import UpgradePath, path_named, path_number


class SimulatedProtocol(StrEnum):
    """The protocol that the simulated group runs; ``mixed`` lets the seed choose one of the others.

    ``status`` and ``connect-config`` are the status stores and the config stores of Connect workers without a group.
    """

    EAGER = "eager"
    COOPERATIVE = "cooperative"
    CONNECT = "connect"
    STATUS = "status"
    CONNECT_CONFIG = "connect-config"
    ELECTION = "election"
    MIXED = "mixed"


class ClusterMode(StrEnum):
    """How the workers of a simulated Connect cluster speak: ``connect.protocol`` of all of them.

    ``any`` lets the seed choose one that Kafka's workers survive; in a ``mixed`` cluster each worker has its own, which
    they do not survive (KAFKA-13816), and in an ``upgrade`` workers are restarted, one by one, from eager to
    compatible to sessioned. ``exactly-once`` is sessioned, with exactly-once support for sources (KIP-618).
    """

    EAGER = "eager"
    COMPATIBLE = "compatible"
    SESSIONED = "sessioned"
    MIXED = "mixed"
    UPGRADE = "upgrade"
    EXACTLY_ONCE = "exactly-once"
    ANY = "any"


class FaultKind(StrEnum):
    """Faults that the seed may switch on for a run. The first five concern messages, the next three processes.

    Then there are ``refusal``, a coordinator that answers retriable errors; ``look-up``, one that is not found, or not
    where a look-up says; ``wake-up``, an application that interrupts its poll; ``failover``; ``subscription`` and
    ``metadata``, consumers that change their topics, and topics that grow; ``pattern``, consumers that subscribe by a
    pattern, and topics that come and go. ``coordinator-kill``, ``coordinator-pause`` and ``coordinator-move`` concern
    the node that coordinates: another takes over, and the one that was paused answers from memory for a while when it
    runs again; ``log-tail`` is a kill that costs the last records of the log, too.

    The next four are habits of consumers and of their applications: ``callback-commit``, commits in callbacks, in
    flight while the member joins again; ``seek``, positions that move and partitions that are paused;
    ``mixed-members``, members of different versions and libraries; ``topic-of-some``, a topic that only some members
    want, which grows, vanishes and comes back, whether the leader wants it or not. So is ``long-poll``: some members
    of any group are polled once in a long while, and go on in that poll when something happens to them, or when they
    asked for it. With ``joint-start`` all members
    of a group that does not exist yet start at once; with ``look-up-break`` a connection breaks while a look-up is
    under way; with ``slow-log`` a new coordinator takes long to read its log; with ``failed-load`` it fails to read it,
    and refuses everything until another one is elected, as Kafka's Java coordinators do; with ``forgotten-log`` it
    serves as if its log were empty, as the one in Scala does. With ``failed-read`` a Connect worker's reads of the
    config topic and of the status topic fail and are tried again.

    ``loading-sync`` must be named to be drawn: a coordinator that reads its log answers a SyncGroup as Kafka's Java
    coordinators do, with an error that ends Kafka's own Java client. Without it, it answers as the one in Scala does.
    So must ``unnoticed-growth``: no operator makes a group rebalance (KIP-568) whose topic grew while its static leader
    was away, which the leader that comes back and skips its assignment (KIP-814) does not notice. So must
    ``config-outage``: now and then a Connect worker cannot read the config topic for up to a minute. One that waits for
    its own write is out of its group by then and keeps its work, and one that leads joins again without end. So must
    ``sticky-election``: a primary keeps its role while it joins again, and until it has synced there may be two. So
    must ``old-static-members``: static members speak JoinGroup v5, and once the one that led has come back, no
    member watches the topics (KAFKA-13435).
    """

    DELAY = "delay"
    DROP = "drop"
    DUPLICATE = "duplicate"
    REORDER = "reorder"
    DISCONNECT = "disconnect"
    CRASH = "crash"
    PAUSE = "pause"
    SLOW_APPLICATION = "slow-application"
    REFUSAL = "refusal"
    LOOK_UP = "look-up"
    WAKE_UP = "wake-up"
    FAILOVER = "failover"
    SUBSCRIPTION = "subscription"
    METADATA = "metadata"
    COORDINATOR_KILL = "coordinator-kill"
    COORDINATOR_PAUSE = "coordinator-pause"
    COORDINATOR_MOVE = "coordinator-move"
    LOG_TAIL = "log-tail"
    PATTERN = "pattern"
    CALLBACK_COMMIT = "callback-commit"
    SEEK = "seek"
    MIXED_MEMBERS = "mixed-members"
    TOPIC_OF_SOME = "topic-of-some"
    JOINT_START = "joint-start"
    LOOK_UP_BREAK = "look-up-break"
    SLOW_LOG = "slow-log"
    FAILED_LOAD = "failed-load"
    FORGOTTEN_LOG = "forgotten-log"
    FAILED_READ = "failed-read"
    LONG_POLL = "long-poll"
    LOADING_SYNC = "loading-sync"
    UNNOTICED_GROWTH = "unnoticed-growth"
    CONFIG_OUTAGE = "config-outage"
    STICKY_ELECTION = "sticky-election"
    OLD_STATIC_MEMBERS = "old-static-members"


E = TypeVar("E", bound=StrEnum)

NOT_SURVIVED: Final = frozenset(
    {
        FaultKind.LOADING_SYNC,
        FaultKind.UNNOTICED_GROWTH,
        FaultKind.CONFIG_OUTAGE,
        FaultKind.STICKY_ELECTION,
        FaultKind.OLD_STATIC_MEMBERS,
    }
)
"""Faults that groups of Kafka's own Java clients do not survive: see TRACK_RECORD.md."""

ALL_FAULTS: Final = tuple(kind for kind in FaultKind if kind not in NOT_SURVIVED)
"""Faults that a group must survive."""

COMMON_FAULTS: Final = tuple(FaultKind)[:8]
"""Faults of messages and processes alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulationOptions:
    """The size of the simulated environment and the faults that may strike it.

    ``steps`` counts the churn actions of the disturbed phase (stores have several small ones for each), ``faults``
    lists the kinds that the seed may draw, ``omit`` leaves out churn actions by their index. A shrunk run is written as
    its ``actions`` (``StartMember m0``), in the place of those that the seed draws, and its ``choices``
    (`impl.runtime.choices`), all others being quiet; None draws either. ``upgrade`` names an upgrade path
    (`model.vocabulary.upgrade_paths`) that consumers are restarted along (the protocol is then that of its first list),
    ``mode`` says how Connect workers speak, ``mutant`` names the planted defect (`rebalance_check.impl.mutants`), empty
    for none. ``members`` are consumers, Connect workers or candidates of an election, ``partitions`` are tasks for
    Connect, keys for the status store, and one more than the tasks of a connector for the config store; an election has
    one primary. Names are taken for protocol, mode and faults,
    too; `RebalanceCheckError` when there is no such name, or a size is out of range.
    """

    protocol: SimulatedProtocol = SimulatedProtocol.MIXED
    members: int = 3
    partitions: int = 4
    steps: int = 12
    faults: tuple[FaultKind, ...] = ALL_FAULTS
    omit: tuple[int, ...] = ()
    actions: tuple[str, ...] | None = None
    choices: tuple[str, ...] | None = None
    upgrade: str = ""
    mode: ClusterMode = ClusterMode.ANY
    mutant: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "protocol", _named(SimulatedProtocol, self.protocol, "protocol"))
        object.__setattr__(self, "mode", _named(ClusterMode, self.mode, "mode"))
        object.__setattr__(self, "faults", tuple(_named(FaultKind, kind, "fault") for kind in self.faults))
        if self.upgrade:
            path_number(self.upgrade)
        for name, (low, high) in {**RUN_SIZES, "steps": (0, 10_000)}.items():
            value = getattr(self, name)
            if not low <= value <= high:
                raise RebalanceCheckError(f"{name} is {value}: choose a number from {low} to {high}")
        if (least := min(self.omit, default=0)) < 0:
            raise RebalanceCheckError(f"omit names action {least}: actions are counted from 0")
        read_choices(self.choices or ())
        if (most := max((action.member for action in self.written_actions), default=0)) >= self.members:
            raise RebalanceCheckError(f"an action is about m{most}, and there are {self.members} members: name fewer")

    @property
    def written_actions(self) -> tuple[Action, ...]:
        """``actions``, parsed."""
        return tuple(map(parse_action, self.actions or ()))

    def given_choices(self) -> Choices | None:
        """The choices of one run, where they are given."""
        return None if self.choices is None else Choices(read_choices(self.choices))

    def summary(self) -> str:
        """As `command_line`, without the part that a shrunk run spells out."""
        return replace(self, omit=(), actions=None, choices=None).command_line()

    @property
    def upgrade_path(self) -> UpgradePath | None:
        """The path that members are upgraded along, None for none."""
        return path_named(self.upgrade) if self.upgrade else None

    def command_line(self) -> str:
        """The options of ``rebalance-check fuzz`` that say the same, without those that keep their default.

        With a mutant the protocol is named in any case: without one the command takes the options of its search.
        """
        words: list[str] = []
        for field in fields(self):
            value = getattr(self, field.name)
            if value != field.default or (field.name == "protocol" and self.mutant):
                words += [f"--{field.name}", _written(value)]
        return shlex.join(words)


def _written(value: object) -> str:
    """A value of an option, as a command line has it."""
    if not isinstance(value, tuple):
        return str(value)
    return "common" if value == COMMON_FAULTS else ",".join(map(str, value)) or "none"


def _named(kind: type[E], name: str, what: str) -> E:
    """The value of an enum by its name, as it stands on a command line or in JSON."""
    if isinstance(name, kind):
        return name
    try:
        return kind(name)
    except ValueError:
        raise RebalanceCheckError(f"{name!r} is no {what}: choose from {', '.join(kind)}") from None
