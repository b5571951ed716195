"""The interpreted model: actions that are refused touch nothing, and every action and every error branch fires."""

from collections import Counter
from random import Random

import pytest

from rebalance_check.model.checker.interpreter import Machine, positional
from rebalance_check.model.checker.layout import leaves
from rebalance_check.model.classic.model import MODEL
from rebalance_check.model.classic.state import MessageKind
from rebalance_check.model.vocabulary.actions import Action, ActionKind
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.errors import Error, RebalanceCheckError

RARE = {ActionKind.JOIN_GROUP_AT_ZOMBIE, ActionKind.SYNC_GROUP_AT_ZOMBIE, ActionKind.HEARTBEAT_AT_ZOMBIE}
"""Actions that random walks seldom meet: `test_zombie_coordinator` holds that exploring does."""

WALKS = 120
"""Walks per bounds; all drawn from one seed."""

EVERYTHING = [
    "eager?partitions=2&generations=6&crashes=2&leaves=1&expiries=2&duplicates=2&deletions=1&member_id_required",
    "cooperative?partitions=2&generations=6&crashes=2&leaves=1&expiries=2&duplicates=2&deletions=1&initial_delay=off",
    "cooperative?members=2&generations=6&crashes=2&leaves=1&expiries=2&duplicates=2&deletions=1&initial_delay=off&member_id_required&timeouts",
    "cooperative?partitions=2&generations=6&crashes=2&leaves=1&expiries=2&duplicates=1&deletions=1&initial_delay=off&member_id_required&timeouts&static_members=3&shared_instances=1",
    "eager?partitions=2&generations=6&crashes=2&leaves=1&expiries=2&duplicates=1&timeouts&static_members=2&losses=2",
    "eager?members=2&partitions=2&generations=6&leaves=1&expiries=1&initial_delay=off&member_id_required&losses=3",
    "eager?members=2&partitions=2&generations=6&leaves=1&expiries=1&initial_delay=off&member_id_required&failovers=2",
    "eager?members=2&partitions=1&generations=6&expiries=2&initial_delay=off&failovers=2&zombie_coordinators=2",
    "cooperative?members=2&partitions=2&generations=6&leaves=1&expiries=1&duplicates=1&initial_delay=off&member_id_required&commits=6",
    "cooperative?partitions=2&generations=6&leaves=2&expiries=2&duplicates=1&deletions=1&member_id_required&timeouts&new_members&heartbeats_during_sync=4",
]


UPGRADES = [
    "eager?partitions=2&generations=6&crashes=2&leaves=1&expiries=1&duplicates=1&deletions=1&member_id_required&upgrade=wrong-order&rolling_restarts=4",
    "cooperative?members=2&partitions=2&generations=6&crashes=2&leaves=1&expiries=1&duplicates=1&deletions=1&upgrade=single-downgrade&rolling_restarts=2",
]
"""Paths that break a claim, so not for walks that must not."""


@pytest.mark.parametrize("address", EVERYTHING + UPGRADES)
def test_an_action_that_is_refused_leaves_the_state_untouched(address: str) -> None:
    machine, rng = Machine(MODEL, Bounds.from_address(address)), Random(1)
    rules = [(rule, positional(rule.step), rule.choices and positional(rule.choices)) for rule in MODEL.rules]
    refused = Counter[ActionKind]()
    for _ in range(10):
        state = machine.initial()
        for _ in range(50):
            before, possible = machine.pack(state), []
            for rule, step, choices in rules:
                for m in range(machine.sizes["members"] if rule.members else 1):
                    for k in range(choices(machine.config, state, m, 0) if choices else 1):
                        tried = machine.unpack(before)
                        if step(machine.config, tried, m, k):
                            possible.append(Action(rule.kind, m, k))
                        else:
                            refused[rule.kind] += 1
                            assert machine.pack(tried) == before, (rule.kind, m, k)
            if not possible:
                break
            machine.step(state, rng.choice(possible))
    assert set(refused) == {rule.kind for rule in MODEL.rules}


def test_every_action_and_every_error_branch_fires() -> None:
    fired, refusals = set[ActionKind](), set[tuple[int, int]]()
    for address in EVERYTHING + UPGRADES:
        machine, rng = Machine(MODEL, Bounds.from_address(address)), Random(2)
        for _ in range(WALKS):
            state = machine.initial()
            for _ in range(90):
                possible = machine.enabled(state)
                if not possible:
                    break
                action = rng.choice(possible)
                fired.add(action.kind)
                machine.step(state, action)
                refusals |= {(member.net.kind, member.net.error) for member in state.member if member.net.error}
    assert {rule.kind for rule in MODEL.rules} - fired <= RARE
    assert refusals >= {
        (MessageKind.JOIN_REPLY, Error.MEMBER_ID_REQUIRED),
        (MessageKind.JOIN_REPLY, Error.UNKNOWN_MEMBER_ID),
        (MessageKind.JOIN_REPLY, Error.INCONSISTENT_GROUP_PROTOCOL),
        (MessageKind.SYNC_REPLY, Error.UNKNOWN_MEMBER_ID),
        (MessageKind.SYNC_REPLY, Error.REBALANCE_IN_PROGRESS),
        (MessageKind.HEARTBEAT_REPLY, Error.UNKNOWN_MEMBER_ID),
        (MessageKind.HEARTBEAT_REPLY, Error.ILLEGAL_GENERATION),
        (MessageKind.HEARTBEAT_REPLY, Error.REBALANCE_IN_PROGRESS),
    }


def test_no_claim_breaks_on_a_long_walk() -> None:
    for address in EVERYTHING:
        machine, rng = Machine(MODEL, Bounds.from_address(address)), Random(3)
        for _ in range(30):
            state = machine.initial()
            while possible := machine.enabled(state):
                before = machine.copy(state)
                machine.step(state, rng.choice(possible))
                assert not machine.violated(state)
                assert not machine.violated_step(before, state)
                if rng.random() < 0.01:
                    break


def test_an_unknown_kind_of_action_names_those_that_are_known() -> None:
    machine = Machine(MODEL, Bounds())
    with pytest.raises(RebalanceCheckError, match="knows no action Put: choose one of SendJoinGroup"):
        machine.step(machine.initial(), Action(ActionKind.PUT))


@pytest.mark.parametrize("protocol", ["eager", "cooperative"])
def test_a_state_without_concerns_is_as_long_as_ever(protocol: str) -> None:
    bounds = Bounds.from_address(f"{protocol}?members=2&partitions=1")
    assert len(list(leaves(MODEL.state, MODEL.sizes(bounds)))) == 53
