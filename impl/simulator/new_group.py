"""A settled group next to a new one with the same wishes: what is left over of the past shows as a difference.

Source: the resting state of a group is a function of what its members wish, but for ids and for who has what.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rebalance_check.impl.runtime.choices import QuietChoices, choosing
from rebalance_check.impl.runtime.faults import NO_FAULTS
from rebalance_check.impl.runtime.options import SimulatedProtocol, SimulationOptions
from rebalance_check.impl.simulator.consumers import ConsumerApplication
from rebalance_check.impl.simulator.convergence import settle
from rebalance_check.impl.simulator.environment import Environment
from rebalance_check.impl.simulator.group import build_members
from rebalance_check.impl.simulator.group_config import SimulatedGroupConfig
from rebalance_check.model.vocabulary.events import Event, RestingStateRead

NOT_COMPARED: Final = frozenset({SimulatedProtocol.CONNECT})
"""A new worker would have to read a config topic that was written by the workers of the other run."""


def compare_with_new(environment: Environment, options: SimulationOptions, settings: SimulatedGroupConfig) -> None:
    """Record what a new group remembers when it has settled, then what this one does.

    Of workers their stores are compared instead, with new readers of the same topics. Nothing is recorded where the new
    group does not settle.
    """
    if options.protocol in NOT_COMPARED:
        for read in environment.read_stores():
            environment.harness.emit(read)
        return
    with choosing(QuietChoices()):  # what this run drew, or was given, is no concern of the new group
        founded = _founded_like(environment, options, settings)
        unsettled = settle(founded, look=_unseen)
    if unsettled:
        return
    for is_new, group in ((True, founded), (False, environment)):
        for read in _states(group, is_new=is_new):
            environment.harness.emit(read)


def _founded_like(environment: Environment, options: SimulationOptions, settings: SimulatedGroupConfig) -> Environment:
    """A new group of the members that run, each started as it was, that want the same of the same topics."""
    founded = Environment(environment.seed, environment.plan, _unheard)
    build_members(founded, options, settings)
    founded.network.plan = NO_FAULTS
    environment.repeat_topics(founded)
    for member, like in zip(founded.members, environment.members, strict=True):
        if like.application is not None:
            member.start_with(like.step)
            if isinstance(member.application, ConsumerApplication) and isinstance(
                like.application, ConsumerApplication
            ):
                member.application.share_wish(like.application)
    return founded


def _unheard(_event: Event) -> None:
    """The new group leaves no history."""


def _unseen(_group: Environment) -> None:
    """No look at the new group is recorded, so none is taken."""


def _states(group: Environment, *, is_new: bool) -> Iterator[RestingStateRead]:
    """Each process that runs, by its role, and what the coordinator remembers."""
    kept, now_ms = group.nodes.rested(), group.clock.now_ms
    for member in group.members:
        if member.application is not None and kept is not None:
            role = "leader" if member.application.standing()[1] == kept.leader else "follower"
            state = tuple(member.application.remembered(now_ms).items())
            yield RestingStateRead(subject=member.name, role=role, state=state, is_new=is_new)
    for role, fields in group.nodes.remembered():
        yield RestingStateRead(subject="coordinator", role=role, state=tuple(fields.items()), is_new=is_new)
