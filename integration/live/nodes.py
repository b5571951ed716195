"""Faults of the nodes under a live group, drawn and done, and who coordinates it: recorded next to the members."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from types import TracebackType
from typing import Final, Self

from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.impl.runtime.seeds import stream
from rebalance_check.integration.brokers.nodes import Cluster
from rebalance_check.integration.live.recording import RawRecording
from rebalance_check.model.vocabulary.actions import Action, ActionKind
from rebalance_check.model.vocabulary.events import CoordinatorElected, NodeChanged
from rebalance_check.model.vocabulary.schedule import Schedule

LOOK_S: Final = 0.1

OUTAGE_MS: Final = 60_000
"""How long a coordinator stays away, in the time of churn schedules, which live runs shorten: another takes over."""

MOST_MOVES: Final = 2


def with_coordinator_faults(schedule: Schedule) -> Schedule:
    """The schedule with faults of the coordinator at places drawn from its seed.

    It is killed or paused at most once, since a quorum must live, and moved up to twice, but never left alone.
    """
    random = stream(schedule.seed, "coordinator")
    away = Action(ActionKind.ADVANCE_CLOCK, 0, OUTAGE_MS)
    outage = random.choice(
        [
            (),
            (Action(ActionKind.KILL_COORDINATOR), away),
            (Action(ActionKind.PAUSE_COORDINATOR), away, Action(ActionKind.RESUME_COORDINATOR)),
        ]
    )
    move = (Action(ActionKind.MOVE_COORDINATOR),)
    moves = [move] * random.randint(0 if outage else 1, MOST_MOVES)
    # Behind the first member's start, before the last Heal.
    places = [(random.randint(1, len(schedule.actions) - 1), fault) for fault in [outage, *moves] if fault]
    actions: list[Action] = []
    for index, action in enumerate(schedule.actions):
        actions += [one for place, fault in places if place == index for one in fault]
        actions.append(action)
    return replace(schedule, actions=tuple(actions))


class NodeFaults:
    """The actions of `COORDINATOR_FAULTS` on the cluster under one group; ``recorder`` gets the actions done."""

    def __init__(self, cluster: Cluster, group: str, recorder: Recorder) -> None:
        self._cluster = cluster
        self._group = group
        self._recorder = recorder
        self.effects: dict[ActionKind, Callable[[Action], None]] = {
            ActionKind.KILL_COORDINATOR: self._kill,
            ActionKind.PAUSE_COORDINATOR: self._pause,
            ActionKind.RESUME_COORDINATOR: self._resume,
            ActionKind.MOVE_COORDINATOR: self._move,
        }

    def heal(self) -> None:
        """Bring every node back."""
        cluster = self._cluster
        changed = dict.fromkeys(cluster.paused, "resumed") | dict.fromkeys(cluster.killed, "started")
        for number in sorted(changed):
            self._tell(number, changed[number])
        cluster.heal()

    def _kill(self, _action: Action) -> None:
        node = self._cluster.coordinator(self._group).node
        self._cluster.kill(node)
        self._tell(node, "killed")

    def _pause(self, _action: Action) -> None:
        node = self._cluster.coordinator(self._group).node
        self._cluster.pause(node)
        self._tell(node, "paused")

    def _resume(self, _action: Action) -> None:
        for node in sorted(self._cluster.paused):
            self._tell(node, "resumed")
            self._cluster.resume(node)

    def _move(self, _action: Action) -> None:
        self._cluster.move(self._group)

    def _tell(self, node: int, change: str) -> None:
        self._recorder.emit(NodeChanged(node=node, change=change))


class Elections:
    """Watches who coordinates the group, in a thread of its own, and records each election once. A context manager."""

    def __init__(self, cluster: Cluster, group: str, recording: RawRecording) -> None:
        self._cluster = cluster
        self._group = group
        self._recording = recording
        self._recorder = recording.recorder(group, "nodes")
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="elections", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ending.set()
        self._thread.join()
        self._recording.close()

    def _watch(self) -> None:
        newest = -1
        while not self._ending.wait(LOOK_S):
            seen = self._cluster.seen_coordinator(self._group)
            if seen is not None and seen.epoch > newest:
                newest = seen.epoch
                self._recorder.emit(CoordinatorElected(node=seen.node, incarnation=seen.epoch))
