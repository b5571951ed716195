"""The conditions that a run waits for: connectors and tasks run, as the journals say, or have a status."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Final

from rebalance_check.integration.connect.workers.journal import BLOCKED, is_task, read_journal, running
from rebalance_check.integration.connect.workers.rest import ConnectRest
from rebalance_check.integration.waiting import NotYet, await_until

CHECK_S: Final = 0.1


class AwaitedCluster(ABC):
    """Workers by name, whose journals and REST interfaces are looked at until something is so.

    ``folder`` keeps their logs.
    """

    folder: Path

    @abstractmethod
    def journals(self) -> dict[str, Path]:
        """The journals of the workers that have started and not ended."""

    @abstractmethod
    def require_no_crash(self) -> None:
        """Return when no worker has ended by itself.

        Raises:
            WorkerCrashedError: one has.
        """

    @abstractmethod
    def rest(self, name: str = "") -> ConnectRest:
        """The REST interface of a worker, by default of one that runs."""

    def running(self) -> dict[str, list[str]]:
        """The running work by the journals: for each connector and task the workers that run it, once each time."""
        found: dict[str, list[str]] = {}
        for name, journal in self.journals().items():
            for item, times in running(journal).items():
                found.setdefault(item, []).extend([name] * times)
        return found

    def await_running(self, items: Collection[str], *, timeout_s: float = 60.0, quiet_s: float = 1.0) -> None:
        """Return when each of ``items`` runs exactly once, nothing else does, and that for ``quiet_s`` seconds.

        Raises:
            RebalanceCheckError: it is not so in time; with the work that runs instead.
        """
        self.await_that(
            lambda found: found.keys() == set(items) and all(len(who) == 1 for who in found.values()),
            f"the cluster does not run {', '.join(sorted(items)) or 'nothing'}, each once", timeout_s, quiet_s,
        )  # fmt: skip

    def await_that(
        self,
        is_so: Callable[[dict[str, list[str]]], bool],
        otherwise: str,
        timeout_s: float = 60.0,
        quiet_s: float = 0.0,
    ) -> dict[str, list[str]]:
        """The running work, once ``is_so`` says of it that it is as it should be, for ``quiet_s`` seconds.

        Raises:
            RebalanceCheckError: ``otherwise`` is true after ``timeout_s`` seconds.
        """
        since = [0.0]

        def probe() -> dict[str, list[str]] | NotYet:
            self.require_no_crash()
            found = self.running()
            if not is_so(found):
                since[0] = 0.0
                return NotYet(str(found))
            since[0] = since[0] or time.monotonic()
            return found if time.monotonic() - since[0] >= quiet_s else NotYet("not for long enough")

        return await_until(
            probe, timeout_s=timeout_s, pause_s=CHECK_S, otherwise=otherwise, hint=f"see the logs in {self.folder}"
        )

    def await_blocked(self, item: str, *, timeout_s: float = 30.0) -> None:
        """Return when an operation of the connector or task ``item`` has blocked.

        Raises:
            RebalanceCheckError: none does after ``timeout_s`` seconds.
        """

        def probe() -> bool | NotYet:
            self.require_no_crash()
            lines = (line for journal in self.journals().values() for line in read_journal(journal))
            return True if any(line.what == BLOCKED and line.item == item for line in lines) else NotYet()

        await_until(probe, timeout_s=timeout_s, pause_s=CHECK_S, otherwise=f"no operation of {item} blocks")

    def await_state(self, item: str, state: str, *, timeout_s: float = 60.0) -> None:
        """Return when a worker's status of the connector or task ``item`` is ``state``.

        Raises:
            RebalanceCheckError: it is another one after ``timeout_s`` seconds.
        """
        connector = item.rpartition("-")[0] if is_task(item) else item

        def probe() -> bool | NotYet:
            self.require_no_crash()
            status = self.rest().status(connector) or {"connector": {}, "tasks": []}
            states = {f"{connector}-{task['id']}": task for task in status["tasks"]} | {connector: status["connector"]}
            seen = states.get(item, {}).get("state", "without a status")
            return True if seen == state else NotYet(seen)

        await_until(probe, timeout_s=timeout_s, pause_s=CHECK_S, otherwise=f"{item} is not {state}")


def items_of(connector: str, tasks: int) -> set[str]:
    """A connector and its tasks, by their names."""
    assert not is_task(connector), f"{connector!r} looks like the name of a task"
    return {connector, *(f"{connector}-{number}" for number in range(tasks))}
