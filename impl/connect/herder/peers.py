"""Requests between workers, over the internal REST interface: those of a worker to the leader of its group."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import ClassVar, Protocol, TypeAlias

TaskConfig: TypeAlias = Mapping[str, str]
"""The configuration of one task."""


class Answer(IntEnum):
    """How a worker answers a request, by HTTP status."""

    OK = 204
    BAD_REQUEST = 400
    FORBIDDEN = 403
    NOT_FOUND = 404
    CONFLICT = 409
    FAILED = 500
    UNAVAILABLE = 503


@dataclass(frozen=True, slots=True)
class PutTaskConfigs:
    """``POST /connectors/{c}/tasks``: the owner of the connector wants these task configurations written."""

    connector: str
    configs: tuple[TaskConfig, ...]
    operation: ClassVar[str] = "write task configs"


@dataclass(frozen=True, slots=True)
class FenceZombies:
    """``PUT /connectors/{c}/fence``: a task is to start, so producers of its predecessors must be fenced (KIP-618)."""

    connector: str
    operation: ClassVar[str] = "fence"


InternalRequest: TypeAlias = PutTaskConfigs | FenceZombies


@dataclass(frozen=True, slots=True)
class Signature:
    """The proof that a request comes from a worker of the cluster (KIP-507): the key that it was made with."""

    key: bytes
    algorithm: str


OnAnswer: TypeAlias = Callable[[Answer], None]


class Peers(Protocol):
    """The way to other workers."""

    def request(self, url: str, request: InternalRequest, signature: Signature | None, on_answer: OnAnswer) -> None:
        """Send a request to the worker at ``url``; ``on_answer`` is called once, at any time, or never."""
        ...
