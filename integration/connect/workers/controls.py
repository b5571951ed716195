"""Files that make operations of the recording connector block or fail, in all workers or in one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path


class Operation(StrEnum):
    """Calls that can block or fail: a connector's ``start``, ``stop`` and ``configure``, a task's all but the last."""

    START = "start"
    STOP = "stop"
    POLL = "poll"
    CONFIGURE = "configure"


class Controls:
    """The folder that the workers of a cluster look into before each operation."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        folder.chmod(0o755)  # a container reads it as another user

    @contextmanager
    def blocked(self, operation: Operation, item: str, worker: str = "") -> Iterator[None]:
        """Inside, ``operation`` of the connector or task ``item`` does not return; ``worker`` "" stands for all."""
        with self._asked("block", operation, item, worker):
            yield

    @contextmanager
    def failing(self, operation: Operation, item: str, worker: str = "") -> Iterator[None]:
        """Inside, ``operation`` of the connector or task ``item`` raises; ``worker`` "" stands for all."""
        with self._asked("fail", operation, item, worker):
            yield

    def clear(self) -> None:
        """Let every operation pass."""
        for path in self.folder.iterdir():
            path.unlink()

    @contextmanager
    def _asked(self, what: str, operation: Operation, item: str, worker: str) -> Iterator[None]:
        path = self.folder / f"{what}.{operation}.{item}{f'@{worker}' if worker else ''}"
        path.touch()
        try:
            yield
        finally:
            path.unlink(missing_ok=True)
