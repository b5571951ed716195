"""Bounds: how large a environment is explored, and how much may go wrong in it.

Every disturbance has a budget; actions that lead back to convergence have none.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, ClassVar, Self

from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.upgrade_paths import PATHS, path_numbered


class RebalanceProtocol(StrEnum):
    """How a member treats its partitions while it rebalances (KIP-429), or the status store's protocol."""

    EAGER = "eager"
    COOPERATIVE = "cooperative"
    STATUS = "status"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """The size of a environment and its budgets of disturbance, all counts; see `address` for the short form.

    ``generations`` is the highest generation explored (for the status protocol: of a worker). ``crashes`` counts
    processes that die, ``leaves`` orderly departures, ``expiries`` sessions of *live* members that expire (zombies),
    ``duplicates`` requests that the network delivers a second time, later, ``deletions`` removals of the empty group.
    ``initial_delay`` says whether the first rebalance of an empty group waits for a timer
    (``group.initial.rebalance.delay.ms`` > 0), ``member_id_required`` whether a new member is first told its id
    (KIP-394, JoinGroup v4 and later).

    Concerns of their own, each off by default; off, the model is as if there were none. ``timeouts``: the rebalance and
    the sync timeout are actions apart from the end of a session, which otherwise stands for them. ``losses``: how many
    requests, replies and connections the network loses. ``upgrade``: the number of an upgrade path
    (`model.vocabulary.upgrade_paths.PATHS`; off, members have one assignor, that of the protocol), on which ``rolling_restarts`` members may be
    stopped and started with the next list of assignors. ``failovers``: how often another
    coordinator takes over; copies of requests do not outlive one, so it goes with no ``duplicates``. ``commits``: how
    many OffsetCommits there are, of members and of others.
    ``static_members``: how many processes have an instance id (KIP-345), ``shared_instances``: how many pairs of them share one; not
    with ``zombie_coordinators``.
    ``zombie_coordinators``: how many of the failovers leave the coordinator of before alive, which goes on answering from memory.
    ``new_members``: a process may leave before it uses the id that it was handed out (KIP-394), and the first JoinGroup
    of a member may expire while it is parked. ``heartbeats_during_sync``: how many heartbeats are sent beside a SyncGroup that is not
    answered yet. Both go with neither ``failovers`` nor ``static_members``.

    The status protocol reads ``members`` as workers, ``partitions`` as keys (tasks of one connector, whose own status
    is the last key where there are two or more), ``crashes`` as workers restarted with an empty cache. ``writes``
    counts calls of put and putSafe, ``failures`` sends that fail retriably, before or after the append.
    """

    protocol: RebalanceProtocol = RebalanceProtocol.EAGER
    members: int = 3
    partitions: int = 3
    generations: int = 4
    crashes: int = 1
    leaves: int = 0
    expiries: int = 0
    duplicates: int = 0
    deletions: int = 0
    initial_delay: bool = True
    member_id_required: bool = False
    timeouts: bool = False
    upgrade: int = 0
    rolling_restarts: int = 0
    static_members: int = 0
    shared_instances: int = 0
    writes: int = 3
    failures: int = 1
    losses: int = 0
    failovers: int = 0
    commits: int = 0
    zombie_coordinators: int = 0
    new_members: bool = False
    heartbeats_during_sync: int = 0

    def __post_init__(self) -> None:
        for name, low, high in (("members", 1, 6), ("partitions", 1, 6), ("generations", 1, 100)):
            value = getattr(self, name)
            if not low <= value <= high:
                raise RebalanceCheckError(f"{name} is {value}: choose a number from {low} to {high}")
        budgets = (
            "crashes",
            "leaves",
            "expiries",
            "duplicates",
            "deletions",
            "writes",
            "failures",
            "losses",
            "rolling_restarts",
            "failovers",
            "commits",
            "static_members",
            "shared_instances",
            "zombie_coordinators",
            "heartbeats_during_sync",
        )
        for name in budgets:
            value = getattr(self, name)
            if not 0 <= value <= 100:
                raise RebalanceCheckError(f"{name} is {value}: choose a number from 0 to 100")
        self._check_upgrade()
        self._check_statics()
        self._check_newcomers()
        if self.zombie_coordinators > self.failovers:
            raise RebalanceCheckError(
                f"zombie_coordinators is {self.zombie_coordinators} with failovers {self.failovers}: choose as many failovers, too"
            )
        if self.failovers and self.duplicates:
            raise RebalanceCheckError(
                f"failovers is {self.failovers} with duplicates {self.duplicates}: choose 0 for one of them"
            )
        if self.zombie_coordinators and self.upgrade:
            raise RebalanceCheckError(
                f"zombie_coordinators is {self.zombie_coordinators} with upgrade {self.upgrade}: choose 0 for one of them"
            )

    def _check_upgrade(self) -> None:
        """A path begins with the protocol of its first list."""
        if not 0 <= self.upgrade <= len(PATHS):
            raise RebalanceCheckError(f"upgrade is {self.upgrade}: choose a number from 0 (none) to {len(PATHS)}")
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

    def _check_statics(self) -> None:
        """Twins are two static processes each; what a zombie coordinator tells static members is left out."""
        if not 2 * self.shared_instances <= self.static_members <= self.members:
            raise RebalanceCheckError(
                f"static_members is {self.static_members} and shared_instances is {self.shared_instances}: there can be no more static processes than "
                f"members ({self.members}), and each pair of twins is two of them"
            )
        if self.static_members and self.zombie_coordinators:
            raise RebalanceCheckError(
                f"static_members is {self.static_members} with zombie_coordinators {self.zombie_coordinators}: choose 0 for one of them"
            )

    def _check_newcomers(self) -> None:
        """What a record or a seat makes of a member that is new, or that waits for a Heartbeat, is not modelled."""
        if (self.new_members or self.heartbeats_during_sync) and (self.failovers or self.static_members):
            raise RebalanceCheckError(
                f"new_members is {int(self.new_members)} and heartbeats_during_sync is {self.heartbeats_during_sync} with failovers {self.failovers} and "
                f"static_members {self.static_members}: choose 0 for the first two, or for the others"
            )

    _LETTERS: ClassVar = (
        ("members", "m"),
        ("partitions", "p"),
        ("generations", "g"),
        ("crashes", "c"),
        ("leaves", "l"),
        ("expiries", "x"),
        ("duplicates", "d"),
        ("deletions", "z"),
        ("initial_delay", "i"),
        ("member_id_required", "r"),
        ("upgrade", "u"),
        ("rolling_restarts", "b"),
        ("writes", "w"),
        ("failures", "f"),
        ("timeouts", "t"),
        ("static_members", "s"),
        ("shared_instances", "y"),
        ("losses", "n"),
        ("failovers", "o"),
        ("commits", "k"),
        ("zombie_coordinators", "q"),
        ("new_members", "e"),
        ("heartbeats_during_sync", "h"),
    )
    _CONCERNS: ClassVar = frozenset(
        {
            "timeouts",
            "static_members",
            "shared_instances",
            "losses",
            "failovers",
            "commits",
            "zombie_coordinators",
            "upgrade",
            "rolling_restarts",
            "new_members",
            "heartbeats_during_sync",
        }
    )
    """Left out of an address when they are off."""
    _FLAGS: ClassVar = ("initial_delay", "member_id_required", "timeouts", "new_members")
    _STATUS: ClassVar = frozenset({"members", "partitions", "generations", "crashes", "writes", "failures"})
    _ONLY_STATUS: ClassVar = frozenset({"writes", "failures"})

    @classmethod
    def concerns(cls) -> frozenset[str]:
        """The names of what is off by default."""
        return cls._CONCERNS

    def instance(self, member: int) -> str | None:
        """The instance id of a process, ``i0``; None for a dynamic member. Twins are the first of all, in pairs."""
        if member >= self.static_members:
            return None
        return f"i{member - member % 2 if member < 2 * self.shared_instances else member}"

    def address(self) -> str:
        """``cooperative/3m3p4g1c0l0x0d0z1i0r``: every bound that the protocol reads, as a number and a letter.

        A concern that is off is left out.
        """
        status = self.protocol is RebalanceProtocol.STATUS
        read = [
            (n, letter) for n, letter in self._LETTERS if (n in self._STATUS if status else n not in self._ONLY_STATUS)
        ]
        shown = [(n, letter) for n, letter in read if n not in self._CONCERNS or getattr(self, n)]
        return f"{self.protocol}/" + "".join(f"{int(getattr(self, name))}{letter}" for name, letter in shown)

    @classmethod
    def from_address(cls, text: str) -> Self:
        """The bounds of an `address`; `RebalanceCheckError` tells which part cannot be read."""
        protocol, _, counts = text.partition("/")
        if protocol not in {p.value for p in RebalanceProtocol}:
            raise RebalanceCheckError(
                f"{protocol!r} in the address {text!r} is no protocol: write eager, cooperative or status"
            )
        names = {letter: name for name, letter in cls._LETTERS}
        if not re.fullmatch(r"(\d+[a-z])*", counts) or any(
            letter not in names for letter in re.findall("[a-z]", counts)
        ):
            raise RebalanceCheckError(
                f"{counts!r} in the address {text!r} is not a list of numbers, each with one of the letters "
                f"{''.join(names)}"
            )
        values: dict[str, Any] = {names[letter]: int(number) for number, letter in re.findall(r"(\d+)([a-z])", counts)}
        flags: dict[str, Any] = {name: bool(values.pop(name)) for name in cls._FLAGS if name in values}
        return replace(cls(protocol=RebalanceProtocol(protocol)), **values, **flags)
