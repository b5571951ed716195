"""What runs inside the member processes: consumers, Connect workers, or candidates of an election."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from rebalance_check.impl.client.elector import PRIMARY
from rebalance_check.impl.runtime.options import FaultKind, SimulatedProtocol, SimulationOptions
from rebalance_check.impl.runtime.seeds import stream
from rebalance_check.impl.simulator.consumers import ConsumerApplication
from rebalance_check.impl.simulator.electors import ElectorApplication
from rebalance_check.impl.simulator.group_config import GroupSettings
from rebalance_check.impl.simulator.process import Application, MemberProcess
from rebalance_check.impl.simulator.topics import Topics
from rebalance_check.impl.simulator.workers import ConnectConfigs, WorkerApplication
from rebalance_check.impl.simulator.world import World

Start = Callable[..., Application]
"""Starts the application of a process: takes its name, its recorder, and ``random``."""


def build_members(world: World, options: SimulationOptions, settings: GroupSettings) -> None:
    """Give the world its member processes, all down, and say what there is to own."""
    start = STARTS.get(options.protocol, _consumers)(world, options)
    for index in range(options.members):
        name = f"m{index}"
        random, recorder = stream(world.seed, f"process {name}"), world.recorder(name)
        life = partial(start, name, recorder=recorder, random=random, defects=world.defects)
        world.members.append(MemberProcess(name, world.network, random, recorder, _configured(life, settings)))


def _configured(life: Start, settings: GroupSettings) -> Callable[[int], Application]:
    """Starts a life with the settings at a place of the upgrade path."""
    return lambda step: life(settings=settings.at(step))


def _consumers(world: World, options: SimulationOptions) -> Start:
    by_pattern = world.network.plan.has(FaultKind.PATTERN)
    topics = Topics(world, options.partitions, internal=by_pattern)
    world.change_config = topics.grow
    world.change_topics = topics.let_exist
    return partial(ConsumerApplication, cluster=topics.cluster, by_pattern=by_pattern, plan=lambda: world.network.plan)


def _workers(world: World, options: SimulationOptions) -> Start:
    configs = ConnectConfigs(options.partitions)
    world.to_own = configs.to_own()

    def change(tasks: int) -> None:
        configs.change(tasks)
        world.to_own = configs.to_own()

    world.change_config = change
    return partial(WorkerApplication, log=configs.log, plan=lambda: world.network.plan)


def _candidates(world: World, _options: SimulationOptions) -> Start:
    world.to_own = (PRIMARY,)
    return partial(ElectorApplication, plan=lambda: world.network.plan)


STARTS: Final = {SimulatedProtocol.CONNECT: _workers, SimulatedProtocol.ELECTION: _candidates}
"""What is not a consumer."""
