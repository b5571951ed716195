"""How the members of a live run are set up."""

from __future__ import annotations

import signal
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.upgrade_paths import is_cooperative_list, known_as, path_named, path_number

GAVE_UP: Final = 23
"""The exit code of a member whose client gave up: the error surfaced from ``poll``, and no retry mends it."""

SHOW_STACKS: Final = signal.SIGUSR1
"""The signal upon which a member prints where each of its threads is."""


class LiveProtocol(StrEnum):
    """The rebalance protocol of a live group."""

    EAGER = "eager"
    COOPERATIVE = "cooperative"
    ELECTION = "election"


class ClientName(StrEnum):
    """The client libraries that a member can be, by the name of the package that installs them; or a member of ours."""

    KAFKA_PYTHON = "kafka-python"
    LIBRDKAFKA = "confluent-kafka"
    AIOKAFKA = "aiokafka"
    OURS = "ours"


ASSIGNORS: Final[dict[LiveProtocol, tuple[str, ...]]] = {
    LiveProtocol.EAGER: ("range", "roundrobin"),
    LiveProtocol.COOPERATIVE: ("cooperative-sticky",),
    LiveProtocol.ELECTION: (),
}
"""The default offer of members, most wanted first: the assignors that all clients of a protocol have in common."""

JOINS_PER_ASSIGNOR: Final = frozenset({ClientName.AIOKAFKA})
"""Clients that send a JoinGroup for each assignor that they offer, so that one join makes as many generations
(TRACK_RECORD.md): by default they offer one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveOptions:
    """The common settings of all members of a live group; times in ms.

    A member whose process is stopped for longer than ``session_timeout_ms`` becomes a zombie; one that does not poll
    for ``max_poll_interval_ms``, which is also the rebalance timeout, leaves. ``time_scale`` shortens the pauses of a
    churn schedule, which are drawn for virtual time. The shorter ``poll_timeout_ms``, the more polls end in the middle
    of a join, or before one completes, which kafka-python takes badly (TRACK_RECORD.md).

    ``clients`` are dealt out to the members in turn: of two, the first makes m0 and m2, the second m1 and m3.

    ``forget_claims_on_loss`` mends kafka-python's cooperative-sticky assignor, which goes on claiming partitions that
    its member has lost (a leader may then grant them while their new owner still holds them). Off by default: real
    clients are the subject of a live run.

    ``upgrade`` names an upgrade path (`model.vocabulary.upgrade_paths`) whose lists of assignors members have in turn.
    It needs kafka-python, and there a cooperative-sticky that supports EAGER, too, as Kafka's does: the library's own
    refuses to be listed next to an eager assignor. ``assignors`` is all members' offer, most wanted first; without
    a choice it is the list that the protocol's clients have in common (`JOINS_PER_ASSIGNOR` offer the first alone).
    """

    protocol: LiveProtocol = LiveProtocol.EAGER
    clients: tuple[ClientName, ...] = (ClientName.KAFKA_PYTHON,)
    session_timeout_ms: int = 1_000
    heartbeat_interval_ms: int = 100
    max_poll_interval_ms: int = 3_000
    poll_timeout_ms: int = 500
    commit_interval_ms: int = 200
    settle_timeout_ms: int = 30_000
    time_scale: float = 0.1
    forget_claims_on_loss: bool = False
    upgrade: str = ""
    assignors: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.clients:
            raise RebalanceCheckError(f"no client is named: choose from {', '.join(ClientName)}")
        if self.protocol is LiveProtocol.COOPERATIVE and ClientName.AIOKAFKA in self.clients:
            raise RebalanceCheckError(
                "aiokafka has no cooperative assignor, so it cannot take part in a cooperative group: leave it out of "
                "the clients, or choose the eager protocol"
            )
        if self.protocol is LiveProtocol.ELECTION and set(self.clients) != {ClientName.OURS}:
            raise RebalanceCheckError(
                f"the candidates of an election are {', '.join(self.clients)}: choose {ClientName.OURS} alone, since "
                "the libraries have consumers only"
            )
        unknown = [name for name in self.assignors if name not in ASSIGNORS[self.protocol]]
        if unknown:
            raise RebalanceCheckError(
                f"{unknown[0]!r} is no assignor of {self.protocol} live members: choose from "
                f"{', '.join(ASSIGNORS[self.protocol]) or 'none'}"
            )
        if self.upgrade:
            path_number(self.upgrade)
            if set(self.clients) != {ClientName.KAFKA_PYTHON}:
                raise RebalanceCheckError(
                    f"the clients of an upgrade are {', '.join(self.clients)}: choose {ClientName.KAFKA_PYTHON} alone, "
                    "since the others let no assignor be added that an upgrade needs"
                )
        if self.heartbeat_interval_ms * 2 > self.session_timeout_ms:
            raise RebalanceCheckError(
                f"heartbeat_interval_ms is {self.heartbeat_interval_ms} and session_timeout_ms "
                f"{self.session_timeout_ms}: let a session hold at least two heartbeats"
            )

    def for_cluster(self) -> LiveOptions:
        """The same with the longer times that members need on a cluster.

        A coordinator that was killed is replaced after three seconds, and a member that is silent for so long should
        not be thrown out for that alone.
        """
        return replace(self, session_timeout_ms=3_000, heartbeat_interval_ms=300, max_poll_interval_ms=6_000)

    def choice(self, slot: int, step: int = 0) -> ClientChoice:
        """The choice for the member in ``slot`` when it is started, with the list at ``step`` of an upgrade path."""
        client = self.clients[slot % len(self.clients)]
        if not self.upgrade:
            return ClientChoice(client=client, assignors=self._offered_by(client), protocol=self.protocol)
        listed = path_named(self.upgrade).lists[step]
        protocol = LiveProtocol.COOPERATIVE if is_cooperative_list(listed) else LiveProtocol.EAGER
        return ClientChoice(client=client, assignors=tuple(map(known_as, listed)), protocol=protocol)

    def _offered_by(self, client: ClientName) -> tuple[str, ...]:
        common = ASSIGNORS[self.protocol]
        return self.assignors or (common[:1] if client in JOINS_PER_ASSIGNOR else common)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientChoice:
    """The kind of one member: its client library, the assignors that it offers by Kafka's names, most wanted first, and
    how it treats its partitions with them.

    A restart may start a member of another choice in the same place: that is a rolling restart.
    """

    client: ClientName
    assignors: tuple[str, ...]
    protocol: LiveProtocol


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberOrder:
    """The order for one member process when it starts."""

    bootstrap: str
    group: str
    topic: str
    member: str
    recording: str
    choice: ClientChoice
    settings: LiveOptions
