"""Members of one group have these in common or not: versions, and habits of client libraries."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from rebalance_check.impl.protocol.consumer_protocol import HIGHEST_VERSION
from rebalance_check.impl.runtime.options import SimulatedProtocol
from rebalance_check.impl.runtime.seeds import stream
from rebalance_check.impl.simulator.group_config import ASSIGNORS, LONG_POLL_MS, SimulatedGroupConfig

JOIN_GROUP_VERSIONS: Final = (3, 4, 5, 9)
"""Before KIP-394, with it, with static members (KIP-345), and with KIP-814."""

OF_STATIC_MEMBERS: Final = (9,)
"""Older ones that lead and come back take their own assignment for the group's (KAFKA-13435), and overlook topics
that changed meanwhile."""

OLD_VERSION: Final = 5
"""The first JoinGroup that static members send."""

PATIENT: Final = 0.6
"""The share of members, of a group where any are polled rarely, that are."""

NAMING: Final = 0.3
"""The share of members whose ``sticky`` claims name the generation."""

LEAVING: Final = 0.7
"""The share of members that send a LeaveGroup when they close."""

OF_EAGER_MEMBERS: Final = tuple(sorted({name for names in ASSIGNORS[SimulatedProtocol.EAGER] for name in names}))


def varied(settings: SimulatedGroupConfig, protocol: SimulatedProtocol, seed: int, member: str) -> SimulatedGroupConfig:
    """The settings of one member of a group whose members are of different versions and libraries.

    EAGER members offer the same assignors, each in an order of its own, and some write subscriptions that know of no
    owned partitions, or ``sticky`` claims that name no generation; any may close without a LeaveGroup, as a member of
    Kafka Streams does. One that offered more than the others would not survive: a coordinator that reads its log knows
    one assignor of each member, and refuses who does not have that.
    """
    random = stream(seed, f"habits {member}")
    versions = OF_STATIC_MEMBERS if settings.static else JOIN_GROUP_VERSIONS
    own = replace(settings, join_group_version=random.choice(versions), leave_on_close=random.random() < LEAVING)
    if protocol is not SimulatedProtocol.EAGER or settings.lists:
        return own
    offered = sorted({*settings.assignors, stream(seed, "habits").choice(OF_EAGER_MEMBERS)})
    random.shuffle(offered)
    version, names_generation = random.choice((0, 1, HIGHEST_VERSION)), random.random() < NAMING
    return replace(
        own, assignors=tuple(offered), subscription_version=version, sticky_writes_generation=names_generation
    )


def polled_rarely(settings: SimulatedGroupConfig, seed: int, member: str) -> SimulatedGroupConfig:
    """The settings of one member of a group in which applications wait long in one ``poll``: those of most of them."""
    is_patient = stream(seed, f"polls {member}").random() < PATIENT
    return replace(settings, long_poll_ms=LONG_POLL_MS) if is_patient else settings
