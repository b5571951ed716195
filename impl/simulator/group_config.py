"""The settings of a simulated group: fixed times, shorter than Kafka's defaults where those would only be waited out,
and those that each run draws for itself."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from rebalance_check.impl.client.config import ClientConfig
from rebalance_check.impl.coordinator import GroupConfig
from rebalance_check.impl.protocol.consumer_protocol import HIGHEST_VERSION
from rebalance_check.impl.runtime.options import SimulatedProtocol
from rebalance_check.impl.runtime.seeds import stream
from rebalance_check.model.vocabulary.upgrade_paths import UpgradePath, known_as

GROUP: Final = "g"
TOPIC: Final = "t"

SESSION_TIMEOUT_MS: Final = 10_000
HEARTBEAT_INTERVAL_MS: Final = 3_000
MAX_POLL_INTERVAL_MS: Final = 15_000
"""``max.poll.interval.ms``, which is also the rebalance timeout."""

BROKER: Final = GroupConfig(min_session_timeout_ms=1_000, initial_rebalance_delay_ms=3_000)

SETTLED_MS: Final = 7_000
"""For how long everything must stay settled before a healed run may end: two heartbeats of everybody."""

HEALING_MS: Final = 240_000
"""How long a healed group may take: late requests, request time-outs, sessions and several rebalances in a row."""

HEALING_EVENTS: Final = 10_000
"""How many events a healed group may take.

A group that becomes stable takes some hundred; workers of Connect whose coordinator cannot load the group take a few
thousand, for they look for another every 100 ms.
"""

LONG_POLL_MS: Final = 10_000
"""How long it waits in an application that calls it rarely; with its pauses it stays below max.poll.interval.ms."""

NAMING: Final = 0.3
"""The share of groups whose members name the generation of their ``sticky`` claims, where all are alike."""

AWAITED_MS: Final = 600_000
"""How long the operator of an upgrade waits, at most, until the group has forgotten older processes."""

CHECK_MS: Final = 1_000
"""How often the healed phase looks whether everything is settled."""

ASSIGNORS: Final = {
    SimulatedProtocol.EAGER: (("range",), ("roundrobin",), ("sticky",), ("range", "cooperative-sticky")),
    SimulatedProtocol.COOPERATIVE: (("cooperative-sticky",),),
    SimulatedProtocol.CONNECT: ((),),
    SimulatedProtocol.ELECTION: ((),),
}
"""The assignor lists that members may be configured with; the first is offered first. Others have their own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedGroupConfig:
    """The configuration of all members of one run.

    ``assignors`` are offered in this order (``lists`` has those at each place of an upgrade path), ``static``
    members carry an instance id (KIP-345), ``auto_commit_ms`` is None where the application commits itself,
    ``join_group_version`` 3 is older than KIP-394, ``subscription_version`` 0 than KIP-429;
    ``sticky_writes_generation`` is False for members whose ``sticky`` claims name no generation. ``long_poll_ms`` is
    how long one poll of an application waits that polls rarely, 0 for all others.
    """

    assignors: tuple[str, ...]
    lists: tuple[tuple[str, ...], ...] = ()
    static: bool
    auto_commit_ms: int | None
    join_group_version: int
    subscription_version: int = HIGHEST_VERSION
    sticky_writes_generation: bool = True
    leave_on_close: bool = True
    long_poll_ms: int = 0

    def at(self, step: int) -> SimulatedGroupConfig:
        """The settings at a place of the upgrade path."""
        return replace(self, assignors=self.lists[step]) if self.lists else self

    def __str__(self) -> str:
        """``range, static, auto-commit, JoinGroup v9``."""
        words = [
            *self.assignors,
            *(["static"] if self.static else []),
            *(["auto-commit"] if self.auto_commit_ms else []),
        ]
        return ", ".join([*words, f"JoinGroup v{self.join_group_version}"])

    def client(self, member: str) -> ClientConfig:
        """The configuration of one member."""
        return ClientConfig(
            group_id=GROUP,
            client_id=member,
            group_instance_id=f"{member}-instance" if self.static else None,
            session_timeout_ms=SESSION_TIMEOUT_MS,
            heartbeat_interval_ms=HEARTBEAT_INTERVAL_MS,
            rebalance_timeout_ms=MAX_POLL_INTERVAL_MS,
            join_group_version=self.join_group_version,
            subscription_version=self.subscription_version,
            leave_on_close=self.leave_on_close,
        )


def draw_group_config(seed: int, protocol: SimulatedProtocol, path: UpgradePath | None = None) -> SimulatedGroupConfig:
    """The settings of the run of ``seed``."""
    random = stream(seed, "settings")
    consumes = protocol in {SimulatedProtocol.EAGER, SimulatedProtocol.COOPERATIVE}
    static, auto_commit, old = (random.random() < chance for chance in (0.25, 0.5, 0.25))
    drawn = random.choice(ASSIGNORS[protocol])
    lists = () if path is None else tuple(tuple(map(known_as, each)) for each in path.lists)
    return SimulatedGroupConfig(
        assignors=lists[0] if lists else drawn,
        lists=lists,
        static=static and consumes,
        auto_commit_ms=5_000 if auto_commit and consumes else None,
        join_group_version=3 if old and not static else 9,
        sticky_writes_generation=stream(seed, "sticky claims").random() < NAMING,
    )
