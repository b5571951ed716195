"""Kafka's WorkerCoordinator in a Java process, driven step by step."""

from __future__ import annotations

import json
from types import TracebackType
from typing import Self, cast

from rebalance_check.integration.jvm import JavaChild
from rebalance_check.integration.lockstep.worker.build import command
from rebalance_check.integration.lockstep.worker.steps import Seen, Step
from rebalance_check.integration.virtual.release import Release


class JavaWorker:
    """One process, as a context manager; a step ``reset`` begins a new worker in it."""

    def __init__(self, release: Release) -> None:
        self.release = release
        self._child = JavaChild("the lockstep of workers", command(release), -1)

    def perform(self, step: Step) -> Seen:
        """Do a step; what was seen since the one before.

        Raises: `RebalanceCheckError` when the process has ended.
        """
        self._child.input.write(json.dumps(step).encode() + b"\n")
        self._child.input.flush()
        line = self._child.output.readline()
        if not line:
            raise self._child.ended()
        return cast("Seen", json.loads(line))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._child.close()
