"""What runs inside the member processes: consumers, or Connect workers."""

from __future__ import annotations

from functools import partial

from rebalance_check.impl.options import SimulationOptions
from rebalance_check.impl.seeds import stream
from rebalance_check.impl.simulator.consumers import ConsumerApplication
from rebalance_check.impl.simulator.process import MemberProcess
from rebalance_check.impl.simulator.settings import TOPIC, GroupSettings
from rebalance_check.impl.simulator.world import World
from rebalance_check.model.ids import partition


def build_members(world: World, options: SimulationOptions, settings: GroupSettings) -> None:
    """Give the world its member processes, all down, and say what there is to own."""
    world.to_own = tuple(partition(TOPIC, index) for index in range(options.partitions))
    for index in range(options.members):
        name = f"m{index}"
        random, recorder = stream(world.seed, f"process {name}"), world.recorder(name)
        start = partial(
            ConsumerApplication,
            name,
            settings,
            recorder,
            partitions=options.partitions,
            random=random,
            defects=world.defects,
        )
        world.members.append(MemberProcess(name, world.network, random, recorder, start))
