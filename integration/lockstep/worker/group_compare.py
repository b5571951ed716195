"""The same schedule on groups of Kafka's workers, of ours and of both, each on its own virtual Kafka."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from rebalance_check.impl.protocol.connect_protocol import read_worker_state, write_worker_state
from rebalance_check.integration.lockstep.worker.compare import differing
from rebalance_check.integration.lockstep.worker.group import WorkerGroup
from rebalance_check.integration.lockstep.worker.group_schedule import OUTAGE_TICKS, GroupAction, GroupSchedule
from rebalance_check.integration.lockstep.worker.steps import Seen

Fields: TypeAlias = tuple[tuple[str, Any, Any], ...]
"""What differs: name, the value of the one side, and of the other."""


@dataclass(frozen=True, slots=True)
class GroupDifference:
    """After which actions a worker of ``side`` and ours differ, and in what (name, that side's value, ours)."""

    actions: tuple[GroupAction, ...]
    side: str
    worker: str
    fields: Fields

    def __str__(self) -> str:
        """The last action and the fields, a line each."""
        lines = [f"after action {len(self.actions)} ({self.actions[-1]}) {self.worker} of {self.side}:"]
        lines += [f"  {name}: {self.side} {theirs!r}, ours {mine!r}" for name, theirs, mine in self.fields]
        return "\n".join(lines)


def perform(group: WorkerGroup, action: GroupAction) -> None:
    """Do an action to a group."""
    match action.do:
        case "start":
            group.start(action.worker, action.step)
        case "kill":
            group.kill(action.worker)
        case "perform":
            group.perform(action.worker, action.step)
        case "disconnect":
            group.disconnect(action.worker)
        case "hold" | "release":
            group.hold(action.worker, holds=action.do == "hold")
        case "resign":
            group.resign()
        case "elect":
            group.elect()
        case "wait":
            group.exchange()
            group.pass_time(OUTAGE_TICKS, sends=False)
        case _:
            group.pass_time(action.ticks)


@dataclass(frozen=True, slots=True)
class GroupResult:
    """What one schedule did: ``compared`` observations of one worker after one action, and rounds by who led them.

    ``rounds`` counts assignments that a worker took over: (side, the leader, the worker).
    """

    actions: int
    compared: int
    frames: int
    rounds: Mapping[tuple[str, str, str], int]
    difference: GroupDifference | None


def run_group(schedule: GroupSchedule, groups: Sequence[WorkerGroup]) -> GroupResult:
    """Do a schedule with all groups, the first of which is the one that the others are compared with."""
    done: list[GroupAction] = []
    compared, rounds = 0, Counter[tuple[str, str, str]]()
    first = groups[0]
    for action in schedule:
        done.append(action)
        for group in groups:
            perform(group, action)
        seen = {group.name: group.take_seen() for group in groups}
        schedule.observe(deepcopy(seen[first.name]), first.now_ms)
        for group in groups:
            rounds.update(_rounds(group.name, seen[group.name]))
        for group in groups[1:]:
            compared += len(seen[group.name])
            for worker, fields in differences(deepcopy(seen[first.name]), seen[group.name]):
                difference = GroupDifference(tuple(done), group.name, worker, fields)
                return GroupResult(len(done), compared, _frames(groups), rounds, difference)
    return GroupResult(len(done), compared, _frames(groups), rounds, None)


def _frames(groups: Sequence[WorkerGroup]) -> int:
    return sum(group.frames for group in groups)


def _rounds(side: str, seen: Mapping[str, Seen]) -> Iterator[tuple[str, str, str]]:
    for worker, one in seen.items():
        for call in one["calls"]:
            if call["call"] == "assigned" and call["assignment"]["leader"]:
                yield side, call["assignment"]["leader"][:2], worker


def differences(ours: Mapping[str, Seen], theirs: Mapping[str, Seen]) -> list[tuple[str, Fields]]:
    """By worker, the fields in which what was seen of two sides differs."""
    found: list[tuple[str, Fields]] = []
    for worker in sorted(ours.keys() | theirs.keys()):
        if worker not in ours or worker not in theirs:
            found.append((worker, (("seen", worker in theirs, worker in ours),)))
            continue
        fields = differing(_unordered(theirs[worker]), _unordered(ours[worker]))
        if fields:
            found.append((worker, fields))
    return found


def _unordered(seen: Seen) -> Seen:
    """Without the order of what is taken away, which hash sets of the leader decide and every claim repeats."""
    for request in seen["requests"]:
        request["protocols"] = [[name, _sorted_state(data)] for name, data in request.get("protocols", [])]
    for call in seen["calls"]:
        _sort(call, "connectors", "tasks") if call["call"] == "revoked" else _sort_revoked(call.get("assignment"))
    _sort_revoked(seen["claim"])
    return seen


def _sort_revoked(assignment: Seen | None) -> None:
    if assignment is not None:
        _sort(assignment, "revoked_connectors", "revoked_tasks")


def _sort(fields: Seen, *names: str) -> None:
    for name in names:
        if name in fields:
            fields[name] = sorted(fields[name])


def _sorted_state(data: str) -> str:
    state = read_worker_state(bytes.fromhex(data))
    claim = state.allocation
    if not claim.revokes:
        return data
    gone = replace(
        claim,
        revoked_connectors=tuple(sorted(claim.revoked_connectors)),
        revoked_tasks=tuple(sorted(claim.revoked_tasks)),
    )
    return write_worker_state(replace(state, allocation=gone), claim.version).hex()
