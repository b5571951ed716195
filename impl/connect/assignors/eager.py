"""The assignor of the leader of a Connect group under the eager protocol (``EagerAssignor``)."""

from __future__ import annotations

from itertools import chain, cycle

from rebalance_check.impl.connect.assignors.round import (
    KINDS,
    Assigned,
    Item,
    Round,
    connectors_of,
    in_order,
    owners,
    tasks_of,
)
from rebalance_check.impl.protocol.connect_protocol import ConnectAssignment
from rebalance_check.impl.protocol.java_order import utf16_key


class EagerAssignor:
    """Deals all work anew in every round; it remembers nothing, and workers' present work does not matter."""

    def assign(self, current: Round) -> Assigned:
        """Deal all connectors, then all tasks, over the sorted members in one circle that is never restarted."""
        members = sorted(current.members, key=utf16_key)
        circle = cycle(members)
        work: dict[str, list[Item]] = {member: [] for member in members}
        configured = in_order(current.configured)
        for item in chain.from_iterable(filter(of_kind, configured) for of_kind in KINDS):
            work[next(circle)].append(item)
        connector_owners, task_owners = owners(work)
        return Assigned(
            assignments={
                member: ConnectAssignment(
                    version=0,
                    leader=current.leader,
                    leader_url=current.members[current.leader].url,
                    config_offset=current.config_offset,
                    connectors=connectors_of(items),
                    tasks=tasks_of(items),
                )
                for member, items in work.items()
            },
            connector_owners=connector_owners,
            task_owners=task_owners,
        )
