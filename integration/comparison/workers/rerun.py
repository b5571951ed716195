"""Steps again, some of them left out: steps that became impossible are passed over."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from rebalance_check.integration.comparison.workers.steps import GroupAction, Seen, Step

ONE: str = "w"
"""The name of a worker without a group."""


class Rerun:
    """A schedule of steps of one worker, or of actions of a group; some may mean nothing where others are left out.

    A worker that does not run does nothing; a herder inside of a poll neither polls nor leaves, and only there it is
    woken up; an answer needs a request.
    """

    def __init__(self, steps: Iterable[Step | GroupAction]) -> None:
        self._steps = steps
        self._running = {ONE}
        self._inside: set[str] = set()
        self._waiting: Counter[str] = Counter()

    def __iter__(self) -> Iterator[Step | GroupAction]:
        return (step for step in self._steps if self._happens(step))

    def observe(self, shown: Any) -> None:
        """Take note of the last step, as a worker, or each worker of a group, showed it."""
        for worker, seen in (shown if "calls" not in shown else {ONE: shown}).items():
            self._note(worker, seen)

    def _note(self, worker: str, seen: Seen) -> None:
        (self._inside.add if seen["inside"] else self._inside.discard)(worker)
        self._waiting.update(request["api"] for request in seen["requests"])

    def _happens(self, step: Step | GroupAction) -> bool:
        if isinstance(step, GroupAction):
            return self._is_possible(step)
        match step["do"]:
            case "answer":
                self._waiting[step["api"]] -= 1
                return self._waiting[step["api"]] >= 0
            case "disconnect":
                self._waiting.clear()
        return self._can_do(ONE, step)

    def _is_possible(self, action: GroupAction) -> bool:
        if action.do == "start":
            self._running.add(action.worker)
            self._inside.discard(action.worker)
        is_running = not action.worker or action.worker in self._running
        if action.do == "kill":
            self._running.discard(action.worker)
        return is_running and (action.do != "perform" or self._can_do(action.worker, action.step))

    def _can_do(self, worker: str, step: Step) -> bool:
        is_inside = worker in self._inside
        return is_inside if step["do"] == "wake" else not (is_inside and step["do"] in {"poll", "leave"})
