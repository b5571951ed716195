"""Bounds: how large a run of the model is explored, and how many faults may happen in it.

Every fault has a budget; actions that lead back to convergence have none. So the state space is finite, and each
proof is for every run with at most that many faults, in any order and at any time.

A bound is a number of a state's dimension or of a budget; both change the state space, so an address of bounds
(`Bounds.address`) belongs to every figure and every counterexample. `model.classic.state.sizes` says how the model's
state follows from them.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any, Final, Self

from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.upgrade_paths import PATHS, path_number, path_numbered
from rebalance_check.model.vocabulary.worker_modes import (
    MODE_PATHS,
    WorkerMode,
    mode_path_number,
    mode_path_numbered,
)


class RebalanceProtocol(StrEnum):
    """How a member treats its partitions while it rebalances (KIP-429), or a protocol of Kafka Connect."""

    EAGER = "eager"
    COOPERATIVE = "cooperative"
    STATUS = "status"
    CONNECT_EAGER = "connect-eager"
    CONNECT_INCREMENTAL = "connect-incremental"
    CONNECT_CONFIG = "connect-config"
    CONNECT_EXACTLY_ONCE = "connect-exactly-once"


GROUP_PROTOCOLS: Final = frozenset({RebalanceProtocol.EAGER, RebalanceProtocol.COOPERATIVE})
"""The protocols of `model.classic`, which a group coordinator can be held to."""

OFF, ON = "off", "on"
"""How an address writes a switch, and the upgrade path that is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """The size of a run and its budgets of faults, all counts; see `address` for how they are written.

    ``generations`` is the highest generation explored (for the status protocol: of a worker). ``crashes`` counts
    processes that die, ``leaves`` orderly departures, ``expiries`` sessions of *live* members that expire (zombies),
    ``duplicates`` requests that the network delivers a second time, later, ``deletions`` removals of the empty group.
    ``initial_delay`` says whether the first rebalance of an empty group waits for a timer
    (``group.initial.rebalance.delay.ms`` > 0), ``member_id_required`` whether the coordinator answers the first
    JoinGroup of a member with MEMBER_ID_REQUIRED (KIP-394, JoinGroup v4 and later).

    Concerns of their own, each off by default; off, the model is as if there were none. ``timeouts``: the rebalance and
    the sync timeout are actions apart from the end of a session, which otherwise stands for them. ``losses``: how many
    requests, replies and connections the network loses. ``upgrade``: the number of an upgrade path
    (`model.vocabulary.upgrade_paths.PATHS`; off, members have one assignor, that of the protocol), on which
    ``rolling_restarts`` members may be stopped and started with the next list of assignors. ``failovers``: how often
    another coordinator takes over; duplicates of requests do not outlive one, so it goes with no ``duplicates``.
    ``commits``: how many OffsetCommits there are, of members and of others. ``static_members``: how many processes have
    an instance id (KIP-345), ``shared_instances``: how many pairs of them share one; not with ``zombie_coordinators``.
    ``zombie_coordinators``: how many of the failovers leave the previous coordinator alive, which goes on answering
    from memory. ``new_members``: a process may leave before it uses the member id of a MEMBER_ID_REQUIRED reply, and
    the first JoinGroup of a member may expire while it is parked. ``heartbeats_during_sync``: how many heartbeats are
    sent while a SyncGroup is in flight. Both go with neither ``failovers`` nor ``static_members``.

    The status protocol reads ``members`` as workers, ``partitions`` as keys (tasks of one connector, whose own status
    is the last key where there are two or more), ``crashes`` as workers restarted with an empty cache. ``writes``
    counts calls of put and putSafe, ``failures`` sends that fail retriably, before or after the append.

    The protocols ``connect-eager`` and ``connect-incremental`` read ``members`` as workers, ``partitions`` as items of
    work (connectors or tasks), ``expiries`` as live workers that the coordinator removes (a session or poll timeout),
    ``losses`` as workers that lose sight of the coordinator and give up their work. ``config_changes`` counts items
    created or deleted; ``rebalance_delay`` says whether ``scheduled.rebalance.max.delay.ms`` is above 0; ``modes`` is
    the number of a path of worker modes (`model.vocabulary.worker_modes.MODE_PATHS`), on which ``rolling_restarts``
    workers are restarted with the next mode.

    The protocol ``connect-config`` reads ``members`` as workers, each of which reads the config topic and writes to it
    while it leads; ``partitions`` as the tasks of the one connector, ``writes`` as calls that write, ``crashes`` as
    workers restarted, which read the topic from its beginning, ``expiries`` as leaders that are replaced while they
    live, and ``compactions`` as runs of the log cleaner.
    ``task_rewrites`` makes a writer publish the task configs after each connector config; ``fencing`` makes a new
    leader fence its predecessor and write in transactions (KIP-618).

    The protocol ``connect-exactly-once`` reads ``members`` as workers, ``partitions`` as the tasks that the one
    connector may have, ``writes`` as commits of task configs, and ``expiries`` as live workers that are removed.

    Raises `RebalanceCheckError` for a number out of range, and for bounds that do not go together.
    """

    protocol: RebalanceProtocol = RebalanceProtocol.EAGER
    members: int = 3  # processes, each with one slot in the model
    partitions: int = 3  # of one topic, which all members subscribe to
    generations: int = 4  # the highest one; a step to the next is cut
    crashes: int = 1  # processes that die without LeaveGroup
    leaves: int = 0  # processes that close and send LeaveGroup
    expiries: int = 0  # sessions of live members that expire
    duplicates: int = 0  # requests delivered a second time
    deletions: int = 0  # removals of the empty group
    initial_delay: bool = True  # group.initial.rebalance.delay.ms > 0
    member_id_required: bool = False  # KIP-394
    timeouts: bool = False  # rebalance and sync timeouts as actions of their own
    upgrade: int = 0  # number of an upgrade path (KIP-429), 0 for none
    rolling_restarts: int = 0  # restarts to the next list of the path, over all members
    static_members: int = 0  # processes with an instance id (KIP-345)
    shared_instances: int = 0  # pairs of them that share one
    writes: int = 3  # status store: calls of put and putSafe
    failures: int = 1  # status store: sends that fail retriably
    losses: int = 0  # requests, replies and connections lost
    failovers: int = 0  # changes of the coordinator
    commits: int = 0  # OffsetCommits
    zombie_coordinators: int = 0  # failovers after which the old coordinator goes on answering
    new_members: bool = False  # a first JoinGroup may expire or be given up
    heartbeats_during_sync: int = 0  # heartbeats sent while a SyncGroup is in flight
    config_changes: int = 1  # worker groups: items created or deleted
    rebalance_delay: bool = True  # worker groups: scheduled.rebalance.max.delay.ms > 0
    modes: int = 0  # worker groups: number of a path of worker modes, 0 for none
    compactions: int = 1  # config topic: runs of the log cleaner
    task_rewrites: bool = False  # config topic: task configs follow each connector config
    fencing: bool = False  # config topic: exactly.once.source.support (KIP-618)

    def __post_init__(self) -> None:
        for name in self._names():
            value, (low, high) = getattr(self, name), self._range(name)
            if not low <= value <= high:
                raise RebalanceCheckError(f"{name} is {value}: choose a number from {low} to {high}")
        self._check_upgrade()
        self._check_static_members()
        self._check_concerns()

    def _check_upgrade(self) -> None:
        """An upgrade path begins with the protocol of its first list."""
        if self.modes:
            self._check_modes()
            return
        if not self.upgrade:
            if self.rolling_restarts:
                raise RebalanceCheckError(
                    f"rolling_restarts is {self.rolling_restarts} without an upgrade path: choose a path, too"
                )
            return
        path = path_numbered(self.upgrade)
        first = RebalanceProtocol.COOPERATIVE if path.cooperative else RebalanceProtocol.EAGER
        if self.protocol is not first:
            raise RebalanceCheckError(
                f"the upgrade path {path.name} begins with {first} members, and the protocol is {self.protocol}: "
                f"choose {first}"
            )

    def _check_modes(self) -> None:
        """A path of worker modes belongs to the protocol of its first mode."""
        path = mode_path_numbered(self.modes)
        eager = path.modes[0] is WorkerMode.EAGER
        first = RebalanceProtocol.CONNECT_EAGER if eager else RebalanceProtocol.CONNECT_INCREMENTAL
        if self.protocol is not first:
            raise RebalanceCheckError(
                f"the path of worker modes {path.name} begins with {path.modes[0].name.lower()} workers, and the "
                f"protocol is {self.protocol}: choose {first}"
            )

    def _check_static_members(self) -> None:
        """Two static processes share an instance id, so there are at least two for each id that is shared."""
        if not 2 * self.shared_instances <= self.static_members <= self.members:
            raise RebalanceCheckError(
                f"static_members is {self.static_members} and shared_instances is {self.shared_instances}: there can "
                f"be no more static processes than members ({self.members}), and each shared instance id needs two"
            )

    def _check_concerns(self) -> None:
        """Concerns that the model does not combine."""
        if self.zombie_coordinators > self.failovers:
            raise RebalanceCheckError(
                f"zombie_coordinators is {self.zombie_coordinators} with failovers {self.failovers}: "
                "choose as many failovers, too"
            )
        for one, other in NOT_TOGETHER:
            if getattr(self, one) and getattr(self, other):
                raise RebalanceCheckError(
                    f"{one} is {getattr(self, one):d} with {other} {getattr(self, other)}: choose 0 for one of them"
                )

    def _range(self, name: str) -> tuple[int, int]:
        """The least and the greatest value of a bound."""
        return SIZES.get(name, BUDGET)

    @classmethod
    def _names(cls) -> list[str]:
        """The names of all bounds but the protocol."""
        return [field.name for field in fields(cls) if field.name != "protocol"]

    def _read_by_protocol(self) -> list[str]:
        """The names of the bounds that the protocol reads."""
        read = READ_BOUNDS.get(self.protocol)
        return [name for name in self._names() if (name not in CONNECT_ONLY if read is None else name in read)]

    def reads(self, name: str) -> bool:
        """Whether the protocol reads the bound of this name."""
        return name in self._read_by_protocol()

    @classmethod
    def concerns(cls) -> frozenset[str]:
        """The names of the concerns off by default."""
        return CONCERNS

    def instance(self, member: int) -> str | None:
        """The instance id of a process, ``i0``; None for a dynamic member. The first processes share one in pairs."""
        if member >= self.static_members:
            return None
        return f"i{member - member % 2 if member < 2 * self.shared_instances else member}"

    def address(self) -> str:
        """The bounds that differ from a default, as text: ``eager?members=2&generations=3&initial_delay=off&timeouts``.

        Bounds that the protocol does not read are left out, too. An upgrade path stands with its name.
        """
        words = [
            word(name, getattr(self, name))
            for name in self._read_by_protocol()
            if getattr(self, name) != DEFAULTS[name]
        ]
        return "?".join([self.protocol.value, *(["&".join(words)] if words else [])])

    @classmethod
    def from_address(cls, text: str) -> Self:
        """The bounds of an `address`.

        Raises `RebalanceCheckError` with the part that cannot be read.
        """
        name, _, rest = text.partition("?")
        names = [protocol.value for protocol in RebalanceProtocol]
        if name not in names:
            raise RebalanceCheckError(
                f"{name!r} in the address {text!r} is no protocol: write one of {', '.join(names)}"
            )
        words = filter(None, rest.split("&"))
        return cls(protocol=RebalanceProtocol(name), **dict(value_of(word, text) for word in words))


@dataclass(frozen=True, slots=True, kw_only=True)
class RunBounds(Bounds):
    """Bounds of a run on a subject: no model explores it, so its groups may be larger."""

    def _range(self, name: str) -> tuple[int, int]:
        """As of `Bounds`, with more members and partitions."""
        return RUN_SIZES.get(name) or Bounds._range(self, name)


DEFAULTS: Final[dict[str, Any]] = {field.name: field.default for field in fields(Bounds)}

SIZES: Final = {
    "members": (1, 6),
    "partitions": (1, 6),
    "generations": (1, 100),
    "upgrade": (0, len(PATHS)),
    "modes": (0, len(MODE_PATHS)),
    **{name: (0, 1) for name, default in DEFAULTS.items() if isinstance(default, bool)},
}
"""The least and the most of bounds that are no budget."""

RUN_SIZES: Final = {"members": (1, 12), "partitions": (1, 24)}
"""Range of each size of a run that no model explores."""

BUDGET: Final = (0, 100)
"""The least and the most of a budget: a state keeps it in one byte."""

CONCERNS: Final = frozenset(
    {
        "timeouts", "static_members", "shared_instances", "losses", "failovers", "commits", "zombie_coordinators",
        "upgrade", "rolling_restarts", "new_members", "heartbeats_during_sync",
    }
)  # fmt: skip
"""The concerns off by default: a bound of 0 takes the concern's fields out of the state (`layout.When`)."""

_WORKER_GROUP: Final = frozenset(
    {
        "members", "partitions", "generations", "crashes", "leaves", "expiries", "losses", "rolling_restarts",
        "config_changes", "rebalance_delay", "modes",
    }
)  # fmt: skip

READ_BOUNDS: Final = {
    RebalanceProtocol.STATUS: frozenset({"members", "partitions", "generations", "crashes", "writes", "failures"}),
    RebalanceProtocol.CONNECT_EAGER: _WORKER_GROUP,
    RebalanceProtocol.CONNECT_INCREMENTAL: _WORKER_GROUP,
    RebalanceProtocol.CONNECT_CONFIG: frozenset(
        {"members", "partitions", "writes", "crashes", "expiries", "compactions", "task_rewrites", "fencing"}
    ),
    RebalanceProtocol.CONNECT_EXACTLY_ONCE: frozenset({"members", "partitions", "writes", "expiries"}),
}
"""The bounds that each protocol of Connect reads; the others read every bound but `CONNECT_ONLY`."""

CONNECT_ONLY: Final = frozenset(
    {"writes", "failures", "config_changes", "rebalance_delay", "modes", "compactions", "task_rewrites", "fencing"}
)
"""The bounds that only protocols of Connect read."""

NOT_TOGETHER: Final = (
    ("failovers", "duplicates"),
    ("zombie_coordinators", "upgrade"),
    ("static_members", "zombie_coordinators"),
    ("new_members", "failovers"),
    ("new_members", "static_members"),
    ("heartbeats_during_sync", "failovers"),
    ("heartbeats_during_sync", "static_members"),
)
"""Concerns that the model does not combine: how a failover or a static member meets the other is not modelled."""


def word(name: str, value: int) -> str:
    """One bound as an address has it."""
    if name == "upgrade":
        return f"upgrade={path_numbered(value).name if value else OFF}"
    if name == "modes":
        return f"modes={mode_path_numbered(value).name if value else OFF}"
    if isinstance(value, bool):
        return name if value else f"{name}={OFF}"
    return f"{name}={value}"


MOST_DIGITS: Final = 9
"""Of a number in an address; Python itself refuses to read one of 4,300."""


def value_of(text: str, address: str) -> tuple[str, Any]:
    """Name and value of one part of an address.

    Raises `RebalanceCheckError` when the name is no bound or the value no number.
    """
    name, _, value = text.partition("=")
    if name not in DEFAULTS or name == "protocol":
        names = ", ".join(name for name in DEFAULTS if name != "protocol")
        raise RebalanceCheckError(f"{name!r} in the address {address!r} is no bound: choose among {names}")
    if name == "upgrade" and value not in {"", OFF} and not value.isdecimal():
        return name, path_number(value)
    if name == "modes" and value not in {"", OFF} and not value.isdecimal():
        return name, mode_path_number(value)
    switches = {"": 1, ON: 1, OFF: 0}
    if value not in switches and not (value.isdecimal() and len(value) <= MOST_DIGITS):
        raise RebalanceCheckError(f"{text!r} in the address {address!r} cannot be read: write {name}=NUMBER")
    number = switches.get(value, 0) if value in switches else int(value)
    if isinstance(DEFAULTS[name], bool) and number in {0, 1}:
        return name, bool(number)
    return name, number
