"""Kafka's WorkerCoordinator in a Java process, driven step by step."""

from __future__ import annotations

import json
from typing import cast

from rebalance_check.integration.jvm import JavaChild, JavaService
from rebalance_check.integration.lockstep.worker.build import command
from rebalance_check.integration.lockstep.worker.steps import Seen, Step
from rebalance_check.integration.virtual.release import Release


class JavaWorker(JavaService):
    """One process, as a context manager; a step ``reset`` begins a new worker in it."""

    def __init__(self, release: Release) -> None:
        self.release = release
        super().__init__(JavaChild("Kafka's WorkerCoordinator", command(release), -1))

    def perform(self, step: Step) -> Seen:
        """Do a step; what was seen since the one before.

        Raises: `RebalanceCheckError` when the process has ended.
        """
        self._child.send(json.dumps(step).encode() + b"\n")
        return cast("Seen", json.loads(self._child.read_line()))
