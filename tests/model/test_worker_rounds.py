"""A round of the model is a round of the assignor that was held against Kafka's: on random paths, one order agrees."""

from random import Random
from typing import Any, NamedTuple

import pytest

from rebalance_check.impl.connect.assignors.incremental import IncrementalAssignor
from rebalance_check.impl.connect.assignors.memory import Memory
from rebalance_check.impl.connect.assignors.round import ITSELF, Item, Round
from rebalance_check.impl.protocol.connect_protocol import ConnectAssignment, WorkerState
from rebalance_check.model.checker.interpreter import Machine
from rebalance_check.model.connect.workers.model import MODEL
from rebalance_check.model.connect.workers.state import Schedule, contains
from rebalance_check.model.vocabulary.actions import DISTURBANCES, Action, ActionKind
from rebalance_check.model.vocabulary.bounds import Bounds

NOW_MS, LEFT_MS, MAX_DELAY_MS = 1_000_000, 500, 300_000

WALKED = (
    "connect-incremental?members=3&partitions=4&generations=60&crashes=4&leaves=3&expiries=3&losses=3&config_changes=4",
    "connect-incremental?members=3&partitions=5&generations=60&crashes=4&leaves=3&rebalance_delay=off&config_changes=4",
    "connect-incremental?members=2&partitions=3&generations=60&crashes=4&leaves=2&expiries=2&config_changes=3",
)


class Answer(NamedTuple):
    """The answer and the memory of a round, by numbers of workers and of items."""

    given: tuple[frozenset[int], ...]
    taken: tuple[frozenset[int], ...]
    delayed: bool
    previous: frozenset[int]
    revoked: frozenset[int]
    revoking: bool
    candidates: frozenset[int]


def items_of(mask: int) -> frozenset[int]:
    return frozenset(x for x in range(mask.bit_length()) if contains(mask, x))


def connector(x: int) -> str:
    return f"c{x}"


def as_items(mask: int) -> frozenset[Item]:
    return frozenset(Item(connector(x), ITSELF) for x in items_of(mask))


def numbers(names: Any) -> frozenset[int]:
    return frozenset(int(name[1:]) for name in names)


def of_the_model(machine: Machine, state: Any, action: Action) -> Answer:
    """The answer of one step of the model."""
    after = machine.copy(state)
    assert machine.step(after, action)
    memory = after.workers[action.member].memory
    members = [w for w in range(machine.config.members) if contains(after.members, w)]
    return Answer(
        given=tuple(items_of(after.workers[w].given) for w in members),
        taken=tuple(items_of(after.workers[w].taken) for w in members),
        delayed=after.delayed == 1,
        previous=items_of(memory.previous),
        revoked=items_of(memory.revoked),
        revoking=memory.revoking == 1,
        candidates=items_of(memory.candidates),
    )


def memory_of(state: Any, leader: int) -> Memory:
    """The leader's memory in the terms of the assignor."""
    memory = state.workers[leader].memory
    due = {Schedule.NONE: 0, Schedule.RUNNING: NOW_MS + LEFT_MS, Schedule.PASSED: NOW_MS - 1}
    return Memory(
        previous_assignment=as_items(memory.previous),
        previous_revocation=as_items(memory.revoked),
        revoked_in_previous=memory.revoking == 1,
        candidates=tuple(f"m{w}" for w in sorted(items_of(memory.candidates))),
        scheduled_rebalance_ms=due[Schedule(memory.schedule)],
        delay_ms=LEFT_MS if memory.schedule != Schedule.NONE else 0,
        previous_generation=memory.generation or -1,
        previous_members=frozenset(f"m{w}" for w in items_of(memory.members))
        | ({"gone"} if memory.departed else set()),
    )


def of_the_assignor(machine: Machine, state: Any, leader: int) -> Answer:
    """The answer of the assignor to the same round; each item is a connector without tasks."""
    offset = max(state.workers[w].sent for w in items_of(state.members))
    if state.workers[leader].sent < offset:
        offset = state.workers[leader].offset
    assignor = IncrementalAssignor(MAX_DELAY_MS if machine.config.rebalance_delay else 0)
    assignor.memory = memory_of(state, leader)
    members = sorted(items_of(state.members))
    claims = {
        f"m{w}": ConnectAssignment(connectors=tuple(map(connector, sorted(items_of(state.workers[w].claim)))))
        for w in members
    }
    answered = assignor.assign(
        Round(
            leader=f"m{leader}",
            members={name: WorkerState(url=name, config_offset=0, allocation=claim) for name, claim in claims.items()},
            task_counts={connector(x): 0 for x in items_of(state.configs[offset])},
            config_offset=offset,
            generation=state.generation,
            last_completed_generation=state.workers[leader].completed or -1,
            now_ms=NOW_MS,
        )
    ).assignments
    memory = assignor.memory
    return Answer(
        given=tuple(numbers(answered[f"m{w}"].connectors) for w in members),
        taken=tuple(numbers(answered[f"m{w}"].revoked_connectors) for w in members),
        delayed=answered[f"m{leader}"].delay_ms > 0,
        previous=numbers(item.connector for item in memory.previous_assignment),
        revoked=numbers(item.connector for item in memory.previous_revocation),
        revoking=memory.revoked_in_previous,
        candidates=numbers(memory.candidates),
    )


@pytest.mark.parametrize("address", WALKED)
def test_the_assignors_answer_is_one_of_the_models(address: str) -> None:
    machine, rounds, delayed = Machine(MODEL, Bounds.from_address(address)), 0, 0
    for seed in range(25):
        random, state = Random(seed), machine.initial()
        for _ in range(150):
            possible = machine.enabled(state)
            if not possible:
                break
            usual = [action for action in possible if action.kind not in DISTURBANCES]
            action = random.choice(usual if usual and random.random() < 0.85 else possible)
            if action.kind is ActionKind.PERFORM_ASSIGNMENT and assigns(machine, state, action):
                orders = [each for each in possible if each.kind is action.kind and each.member == action.member]
                answers = [of_the_model(machine, state, each) for each in orders]
                expected = of_the_assignor(machine, state, action.member)
                assert expected in answers
                rounds, delayed = rounds + 1, delayed + expected.delayed
            machine.step(state, action)
    assert rounds > 100
    assert (delayed > 0) == bool(machine.config.rebalance_delay)


def assigns(machine: Machine, state: Any, action: Action) -> bool:
    """Whether the step is no CONFIG_MISMATCH."""
    after = machine.copy(state)
    machine.step(after, action)
    return bool(after.error == 0)
