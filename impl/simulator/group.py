"""The applications of the member processes: consumers, Connect workers, or candidates of an election."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Final

from rebalance_check.impl.client.elector import PRIMARY
from rebalance_check.impl.runtime.options import FaultKind, SimulatedProtocol, SimulationOptions
from rebalance_check.impl.runtime.seeds import stream
from rebalance_check.impl.simulator.application import Application
from rebalance_check.impl.simulator.connect.cluster import ConnectCluster
from rebalance_check.impl.simulator.consumers import ConsumerApplication
from rebalance_check.impl.simulator.electors import ElectorApplication
from rebalance_check.impl.simulator.environment import Environment
from rebalance_check.impl.simulator.group_config import SimulatedGroupConfig
from rebalance_check.impl.simulator.habits import OLD_VERSION, polled_rarely, varied
from rebalance_check.impl.simulator.process import MemberProcess
from rebalance_check.impl.simulator.topics import Topics

Start = Callable[..., Application]
"""Starts the application of a process: takes its name, its recorder, and ``random``."""


def build_members(environment: Environment, options: SimulationOptions, settings: SimulatedGroupConfig) -> None:
    """Give the environment its member processes, all down, and name the partitions to own."""
    if environment.plan.has(FaultKind.JOINT_START):
        environment.struck.note(FaultKind.JOINT_START)
    if options.protocol is SimulatedProtocol.CONNECT:
        _build_workers(environment, options, settings)
        return
    start = STARTS.get(options.protocol, _consumers)(environment, options)
    for index in range(options.members):
        name = f"m{index}"
        random, recorder = stream(environment.seed, f"process {name}"), environment.recorder(name)
        jitter = stream(environment.seed, f"backoff {name}")
        begin = partial(start, name, recorder=recorder, random=random, jitter=jitter)
        own = _own_settings(environment, options.protocol, settings, name)
        environment.members.append(
            MemberProcess(
                name,
                environment.network,
                random,
                recorder,
                _configured(begin, own),
                choices=stream(environment.seed, f"nodes {name}"),
                long_poll_ms=own.long_poll_ms,
            )
        )


def _build_workers(environment: Environment, options: SimulationOptions, settings: SimulatedGroupConfig) -> None:
    cluster = ConnectCluster(environment, options)
    for index in range(options.members):
        name = f"m{index}"
        random, recorder = stream(environment.seed, f"process {name}"), environment.recorder(name)
        own = _with_own_polls(environment, settings, name)
        environment.members.append(cluster.build(name, own, random, recorder))


def _own_settings(
    environment: Environment, protocol: SimulatedProtocol, settings: SimulatedGroupConfig, name: str
) -> SimulatedGroupConfig:
    """The settings of one member, which are those of all unless the group is of different ones."""
    own, plan = settings, environment.plan
    if plan.has(FaultKind.MIXED_MEMBERS):
        environment.struck.note(FaultKind.MIXED_MEMBERS)
        own = varied(settings, protocol, environment.seed, name)
    if own.static and plan.has(FaultKind.OLD_STATIC_MEMBERS):
        environment.struck.note(FaultKind.OLD_STATIC_MEMBERS)
        own = replace(own, join_group_version=OLD_VERSION)
    return _with_own_polls(environment, own, name)


def _with_own_polls(environment: Environment, settings: SimulatedGroupConfig, name: str) -> SimulatedGroupConfig:
    """The settings of one member, whose application may poll rarely."""
    if not environment.plan.has(FaultKind.LONG_POLL):
        return settings
    environment.struck.note(FaultKind.LONG_POLL)
    return polled_rarely(settings, environment.seed, name)


def _configured(begin: Start, settings: SimulatedGroupConfig) -> Callable[[int], Application]:
    """Starts a process with the settings at a place of the upgrade path."""
    return lambda step: begin(settings=settings.at(step))


def _consumers(environment: Environment, options: SimulationOptions) -> Start:
    by_pattern = environment.network.plan.has(FaultKind.PATTERN)
    topics = Topics(environment, options.partitions, internal=by_pattern)
    environment.change_config = topics.grow
    environment.change_topics = topics.change
    return partial(
        ConsumerApplication, cluster=topics.cluster, by_pattern=by_pattern,
        plan=lambda: environment.network.plan, on_strike=environment.struck.note,
    )  # fmt: skip


def _candidates(environment: Environment, _options: SimulationOptions) -> Start:
    environment.to_own = lambda: (PRIMARY,)
    sticky = environment.plan.has(FaultKind.STICKY_ELECTION)
    if sticky:
        environment.struck.note(FaultKind.STICKY_ELECTION)
    return partial(
        ElectorApplication, plan=lambda: environment.network.plan, on_strike=environment.struck.note, sticky=sticky
    )


STARTS: Final = {SimulatedProtocol.ELECTION: _candidates}
"""The groups of neither consumers nor Connect workers."""
