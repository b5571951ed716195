"""Runs a course: every member has an assignor of its own, which sees the same as a client's."""

from __future__ import annotations

from dataclasses import replace

from rebalance_check.impl.protocol.consumer_protocol import Assignment
from rebalance_check.impl.protocol.topic_partition import TopicPartition
from rebalance_check.integration.comparison.assignors.assignors import OUR_ASSIGNORS
from rebalance_check.properties.assignment.courses import MOST_ROUNDS, Course, Round
from rebalance_check.properties.assignment.problem import Answer, Partition, Problem
from rebalance_check.properties.machines.assignor_rounds import answer_of, subscription_of


def run_course(assignor: str, problem: Problem) -> Course:
    """The course of a problem's members and topics; their claims there do not count."""
    make = OUR_ASSIGNORS[assignor]
    clients = {name: make() for name in problem.members}
    group = replace(problem, members={name: replace(one, owned=()) for name, one in problem.members.items()})
    names = sorted(group.members)
    present = _among(group, names[:-1] or names)
    rounds: list[Round] = []
    while len(rounds) < MOST_ROUNDS:
        subscriptions = {name: subscription_of(clients[name], one) for name, one in present.members.items()}
        leader = sorted(present.members)[len(rounds) % len(present.members)]
        answer = answer_of(clients[leader], present, subscriptions)
        rounds.append(Round(present, answer, answer_of(make(), present, subscriptions)))
        if answer.failure:
            break
        present = _next_round(group, answer, generation=len(rounds))
        for name, client in clients.items():
            given = answer.assigned.get(name)
            if given is not None:
                received = Assignment(partitions=tuple(TopicPartition(*partition) for partition in given))
                client.on_assignment(received, len(rounds))
    return Course(assignor, tuple(rounds))


def _among(group: Problem, names: list[str]) -> Problem:
    return replace(group, members={name: group.members[name] for name in names})


def _next_round(group: Problem, answer: Answer, generation: int) -> Problem:
    """All members, each with its assignment; the one that comes now has nothing."""
    given: dict[str, tuple[Partition, ...]] = dict(answer.assigned)
    members = {
        name: replace(one, owned=given.get(name, ()), generation=generation if name in given else None)
        for name, one in group.members.items()
    }
    return replace(group, members=members)
