"""``rebalance-check fuzz --subject groups``: simulated groups of our members on Kafka's own coordinators."""

from __future__ import annotations

from rebalance_check.impl.runtime.options import SimulationOptions
from rebalance_check.impl.simulator.schedule import STORES
from rebalance_check.integration.virtual.groups import VirtualGroups
from rebalance_check.integration.virtual.release import find_release, is_virtual
from rebalance_check.model.vocabulary.errors import RebalanceCheckError


def groups_on(broker: str | None, options: SimulationOptions) -> VirtualGroups:
    """The subject on the broker that is named.

    Raises: RebalanceCheckError when that is no virtual Kafka that can be had, or the protocol has no group.
    """
    if broker is None or not is_virtual(broker):
        raise RebalanceCheckError(
            f"simulated groups need virtual time, and the broker is {broker or 'not named'}: write --broker virtual, "
            "virtual:3.9.2 or virtual:3.9.2-scala, or use `live` for a real one"
        )
    if options.protocol in STORES:
        raise RebalanceCheckError(
            f"the stores of --protocol {options.protocol} have no group: choose another one with --subject groups"
        )
    find_release(broker)
    return VirtualGroups(broker)
