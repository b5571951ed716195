"""Connect's protocol (type ``connect``): the bytes of workers in JoinGroup and of their leader in SyncGroup.

Protocol names decide the version: ``default`` is v0 (eager), ``compatible`` v1 (KIP-415), ``sessioned`` v2 (KIP-507).
Byte-exact with ``ConnectProtocol`` and ``IncrementalCooperativeConnectProtocol``. Readers accept every version from 0
and parse with their own schema; only v1 readers forgive missing fields at the end.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final, NamedTuple

from rebalance_check.impl.protocol.java_order import hash_set_order
from rebalance_check.impl.protocol.wire import Reader, Writer
from rebalance_check.model.vocabulary.errors import RebalanceCheckError

PROTOCOL_TYPE: Final = "connect"
VERSION_OF: Final = {"default": 0, "compatible": 1, "sessioned": 2}
"""Subprotocol name to version of its bytes."""

NO_ERROR: Final = 0
CONFIG_MISMATCH: Final = 1
"""The leader could not read the config topic as far as some member had: all read on and join again."""

_CONNECTOR_ITSELF: Final = -1
"""The task number that stands for the connector instance."""


class ConnectMode(StrEnum):
    """``connect.protocol``: a worker's configured mode, or the one that its group selected.

    All modes offer their names in one order, so a group selects the highest that every member supports.
    """

    EAGER = "eager"
    COMPATIBLE = "compatible"
    SESSIONED = "sessioned"

    @property
    def protocol(self) -> str:
        """The name of the subprotocol, as JoinGroup has it: ``default``, ``compatible`` or ``sessioned``."""
        return "default" if self is ConnectMode.EAGER else self.value

    @property
    def version(self) -> int:
        """The version of the bytes: 0, 1 or 2."""
        return VERSION_OF[self.protocol]

    @property
    def offered(self) -> tuple[ConnectMode, ...]:
        """The modes that a worker of this mode offers, most preferred first."""
        return tuple(mode for mode in _MOST_RECENT_FIRST if mode.version <= self.version)

    @classmethod
    def parse(cls, setting: str) -> ConnectMode:
        """The mode that ``connect.protocol`` names, in capital or small letters.

        Raises: `RebalanceCheckError` for another name.
        """
        found = next((mode for mode in cls if mode.value == setting.lower()), None)
        if found is None:
            raise RebalanceCheckError(f"connect.protocol is {setting!r}: choose eager, compatible or sessioned")
        return found

    @classmethod
    def of_protocol(cls, name: str) -> ConnectMode:
        """The mode of a subprotocol that the coordinator selected.

        Raises: `RebalanceCheckError` for another name.
        """
        found = next((mode for mode in cls if mode.protocol == name), None)
        if found is None:
            raise RebalanceCheckError(
                f"the group selected the protocol {name!r}, which is none of Connect's ({', '.join(VERSION_OF)}): "
                "look for a member that is no Connect worker"
            )
        return found


_MOST_RECENT_FIRST: Final = (ConnectMode.SESSIONED, ConnectMode.COMPATIBLE, ConnectMode.EAGER)


class ConnectorTask(NamedTuple):
    """Task number ``task`` (from 0) of ``connector``, which Kafka prints as ``connector-0``."""

    connector: str
    task: int

    @property
    def name(self) -> str:
        """``connector-0``, as Kafka prints it and events name it."""
        return f"{self.connector}-{self.task}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectAssignment:
    """A worker's share of the work, or, inside its metadata, the part that it still claims to run.

    ``config_offset`` is the next offset of the config topic to read; ``delay_ms`` and the revocations exist since v1.
    """

    version: int = 1
    error: int = NO_ERROR
    leader: str | None = None
    leader_url: str | None = None
    config_offset: int = -1
    connectors: tuple[str, ...] = ()
    tasks: tuple[ConnectorTask, ...] = ()
    revoked_connectors: tuple[str, ...] = ()
    revoked_tasks: tuple[ConnectorTask, ...] = ()
    delay_ms: int = 0

    @property
    def failed(self) -> bool:
        """The round computed nothing (Kafka's ``Assignment.failed``)."""
        return self.error != NO_ERROR

    @property
    def revokes(self) -> bool:
        """The worker must give something up before it takes this assignment."""
        return bool(self.revoked_connectors or self.revoked_tasks)

    @property
    def names(self) -> tuple[str, ...]:
        """Connectors, then tasks, as events name them."""
        return work_names(self.connectors, self.tasks)

    @property
    def revoked_names(self) -> tuple[str, ...]:
        """The work that is taken away: connectors, then tasks, as events name them."""
        return work_names(self.revoked_connectors, self.revoked_tasks)


def work_names(connectors: Iterable[str], tasks: Iterable[ConnectorTask]) -> tuple[str, ...]:
    """Connectors, then tasks, as events name them."""
    return (*connectors, *(task.name for task in tasks))


EMPTY: Final = ConnectAssignment()
"""No assignment at all. Written as null, and only this very object: an equal one is written out in full."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerState:
    """The metadata of a worker: its REST URL, how far it read the config topic, and (since v1) its work."""

    url: str
    config_offset: int
    allocation: ConnectAssignment = EMPTY


def write_worker_state(state: WorkerState, version: int) -> bytes:
    """The metadata of the protocol entry with this version (0, 1 or 2); the claim gets the same header."""
    writer = Writer()
    writer.int16(_known(version))
    writer.string(state.url)
    writer.int64(state.config_offset)
    if version > 0:
        writer.nullable_bytes(write_connect_assignment(state.allocation, version))
    return writer.done()


def read_worker_state_v0(data: bytes) -> WorkerState:
    """Read metadata as an eager leader does (``ConnectProtocol.deserializeMetadata``): no claim.

    Raises `MalformedBytes`.
    """
    reader = Reader(data, "a worker's metadata")
    _read_version(reader)
    return WorkerState(url=reader.string("url"), config_offset=reader.int64("config-offset"))


def read_worker_state(data: bytes) -> WorkerState:
    """As a leader since v1 reads it (every version); a missing or null claim is `EMPTY`."""
    reader = Reader(data, "a worker's metadata")
    _read_version(reader)
    url, offset = reader.string("url"), reader.int64("config-offset")
    claim = None if reader.exhausted else reader.nullable_bytes("allocation")
    return WorkerState(
        url=url, config_offset=offset, allocation=EMPTY if claim is None else read_connect_assignment(claim)
    )


def write_connect_assignment(assignment: ConnectAssignment | None, version: int) -> bytes | None:
    """The bytes for one worker; None for None and, since v1, for `EMPTY`."""
    if assignment is None or (version > 0 and assignment is EMPTY):
        return None
    writer = Writer()
    writer.int16(_known(version))
    writer.int16(assignment.error)
    writer.string(_required(assignment.leader, "leader"))
    writer.string(_required(assignment.leader_url, "leader_url"))
    writer.int64(assignment.config_offset)
    _write_work(writer, assignment.connectors, assignment.tasks)
    if version > 0:
        _write_work(writer, assignment.revoked_connectors, assignment.revoked_tasks)
        writer.int32(assignment.delay_ms)
    return writer.done()


def read_connect_assignment_v0(data: bytes) -> ConnectAssignment:
    """Read an assignment as an eager-only worker does (``ConnectProtocol.deserializeAssignment``): nothing is null.

    Raises `MalformedBytes`.
    """
    reader = Reader(data, "a worker's assignment")
    head = _read_head(reader)
    connectors, tasks = _read_work(reader, reader.count("assignment"), "assignment")
    return replace(head, connectors=connectors, tasks=tasks)


def read_connect_assignment(data: bytes) -> ConnectAssignment:
    """As a worker since v1 reads it (every version): fields missing at the end are empty."""
    reader = Reader(data, "a worker's assignment")
    head = _read_head(reader)
    connectors, tasks = _read_optional_work(reader, "assignment")
    revoked_connectors, revoked_tasks = _read_optional_work(reader, "revoked")
    delay = 0 if reader.exhausted else reader.int32("delay")
    return replace(
        head,
        connectors=connectors,
        tasks=tasks,
        revoked_connectors=revoked_connectors,
        revoked_tasks=revoked_tasks,
        delay_ms=delay,
    )


def _read_head(reader: Reader) -> ConnectAssignment:
    return ConnectAssignment(
        version=_read_version(reader),
        error=reader.int16("error"),
        leader=reader.string("leader"),
        leader_url=reader.string("leader-url"),
        config_offset=reader.int64("config-offset"),
    )


def _write_work(writer: Writer, connectors: Sequence[str], tasks: Iterable[ConnectorTask]) -> None:
    """Grouped by connector: first every distinct connector itself, in hash order, then each task under its own."""
    grouped = {connector: [_CONNECTOR_ITSELF] for connector in hash_set_order(connectors)}
    for connector, index in tasks:
        grouped.setdefault(connector, []).append(index)
    writer.int32(len(grouped))
    for connector, indexes in grouped.items():
        writer.string(connector)
        writer.int32(len(indexes))
        for index in indexes:
            writer.int32(index)


def _read_optional_work(reader: Reader, field: str) -> tuple[tuple[str, ...], tuple[ConnectorTask, ...]]:
    count = None if reader.exhausted else reader.nullable_count(field)
    return _read_work(reader, count or 0, field)


def _read_work(reader: Reader, count: int, field: str) -> tuple[tuple[str, ...], tuple[ConnectorTask, ...]]:
    connectors: list[str] = []
    tasks: list[ConnectorTask] = []
    for _ in range(count):
        connector = reader.string(f"{field}.connector")
        for _ in range(reader.count(f"{field}.tasks")):
            index = reader.int32(f"{field}.tasks")
            if index == _CONNECTOR_ITSELF:
                connectors.append(connector)
            else:
                tasks.append(ConnectorTask(connector, index))
    return tuple(connectors), tuple(tasks)


def _read_version(reader: Reader) -> int:
    version = reader.int16("version")
    if version < 0:
        raise reader.fail("version", f"is {version}; the lowest is 0")
    return version


def _known(version: int) -> int:
    if version not in VERSION_OF.values():
        raise RebalanceCheckError(f"cannot write version {version} of Connect's protocol: choose 0, 1 or 2")
    return version


def _required(value: str | None, field: str) -> str:
    if value is None:
        raise RebalanceCheckError(f"cannot write a Connect assignment whose {field} is None: set it, or write EMPTY")
    return value
