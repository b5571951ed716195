"""Known-unsafe windows of a failover, in which two processes own one partition: a shortest path into each.

The stale owner does not know that it was replaced, and a coordinator that does not know either accepts its requests.
Each address can be replayed (``rebalance-check replay``), also on Kafka's own coordinators.
"""

from __future__ import annotations

from typing import Final

WINDOWS: Final = {
    "loading_coordinator_keeps_a_stale_owner": "v1/eager?members=2&partitions=1&generations=2&crashes=0&expiries=1&initial_delay=off&failovers=1/0.0.0.0.1.1.0.1.1.0.1.1.0.2.0.1",
    "zombie_coordinator_accepts_a_stale_heartbeat": "v1/eager?members=2&partitions=1&generations=2&crashes=0&expiries=1&initial_delay=off&failovers=1&zombie_coordinators=1/0.1.1.1.1.1.1.5.2.2.3",
    "zombie_coordinator_returns_an_old_assignment": "v1/eager?members=2&partitions=1&generations=2&crashes=0&expiries=1&initial_delay=off&failovers=1&zombie_coordinators=1/0.0.0.0.0.0.0.0.0.2.0.0.1.6.2.3.3",
    "zombie_coordinator_keeps_a_stale_owner": "v1/eager?members=2&partitions=1&generations=2&crashes=0&expiries=1&initial_delay=off&failovers=1&zombie_coordinators=1/0.0.0.0.1.1.0.0.5.2.0.1.0.0.0.0.3",
    "zombie_coordinator_has_a_second_owner": "v1/eager?members=2&partitions=1&generations=2&crashes=0&expiries=1&initial_delay=off&failovers=1&zombie_coordinators=1/0.0.0.0.1.1.0.5.2.1.1.0.1.1.0",
}
"""The address of a path by the reachable state or step of the model that it ends in."""

FORGOTTEN: Final = {
    "static_member_is_fenced_by_its_former_id": "v1/eager?members=1&partitions=1&generations=2&initial_delay=off&static_members=1&failovers=1/0.1.0.1.0.0.0.0.2.0.1.0",
    "join_is_refused_for_a_protocol_lost_in_failover": (
        "v1/eager?members=2&partitions=1&generations=3&crashes=0&initial_delay=off&upgrade=legal&rolling_restarts=1&failovers=1/0.1.1.1.1.1.2.1.1.0.1.1.1.2.0.2.1"
    ),
}
"""The losses of a failover, and whom it harms: a shortest path each, in the same form.

A static member restarted in a join phase that was never recorded, and is fenced by the id that it had before. On a
legal upgrade path a member with the old list is refused, because the log has
of the one with both names only the new one.
"""
