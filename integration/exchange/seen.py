"""A request as it passes: which api, who sent it, and for which group, as far as the bytes say so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from rebalance_check.impl.protocol import messages as msg
from rebalance_check.integration.wire.frames import Prefix, read_prefix
from rebalance_check.integration.wire.kafka_python import metadata
from rebalance_check.integration.wire.messages import name_of, read_request
from rebalance_check.integration.wire.requests import GROUP_API_KEYS, requests_from_wire

GROUP_KEY_TYPE: Final = 0
"""A FindCoordinator looks for the coordinator of a group (``CoordinatorType.GROUP``)."""

BATCHED_LOOK_UP_VERSION: Final = 4
"""From this version one FindCoordinator asks for many keys (KIP-699)."""


@dataclass(frozen=True, slots=True)
class Seen:
    """One request. ``request`` is the decoded message, None for bytes that cannot be read.

    ``part`` is a group request as `impl.protocol.messages` has it (of a batched OffsetFetch the first group's).
    ``process`` is the client's process, "" where unknown; ``client_id``, ``member_id`` and ``instance_id`` are what the
    request says of its sender, ``group`` the group that it speaks for; all of them "" for none.
    """

    prefix: Prefix
    request: Any | None = None
    part: msg.GroupRequest | None = None
    process: str = ""
    client_id: str = ""
    group: str = ""

    @property
    def api(self) -> str:
        """Kafka's name (``JoinGroup``), or the api key where the name is unknown."""
        return name_of(self.prefix.api_key)

    @property
    def member_id(self) -> str:
        """The sender's member id."""
        return str(getattr(self.part, "member_id", None) or "")

    @property
    def instance_id(self) -> str:
        """The sender's instance id (KIP-345)."""
        return str(getattr(self.part, "group_instance_id", None) or "")

    @property
    def expects_reply(self) -> bool:
        """Whether there is an answer: a Produce with ``acks=0`` has none."""
        return self.request is None or bool(self.request.expect_response())


def see(frame: bytes, process: str = "") -> Seen:
    """Read the request in a frame as far as it can be read."""
    prefix = read_prefix(frame)
    request = read_request(prefix, frame)
    if request is None:
        return Seen(prefix, process=process)
    part = group_part(request)
    client_id = request.header.client_id or ""
    return Seen(prefix, request, part, process, client_id, group_of(request) if part is None else part.group_id)


def see_name(frame: bytes, process: str = "") -> Seen:
    """Read no more than which api it is."""
    return Seen(read_prefix(frame), process=process)


def group_part(request: Any) -> msg.GroupRequest | None:
    """The group request inside a decoded message, the first of several; None where there is none."""
    if request.API_KEY not in GROUP_API_KEYS:
        return None
    parts = requests_from_wire(request, client_host="")
    return parts[0] if parts else None


def group_of(request: Any) -> str:
    """The group that a request speaks for which the coordinator of groups does not answer; "" for none."""
    if isinstance(request, metadata.FindCoordinatorRequest):
        return looked_up_group(request)
    return str(getattr(request, "group_id", None) or "")


def looked_up_group(request: Any) -> str:
    """The (first) group whose coordinator a FindCoordinator asks for; "" where it asks for another kind of key."""
    if request.key_type != GROUP_KEY_TYPE:
        return ""
    keys = request.coordinator_keys if request.API_VERSION >= BATCHED_LOOK_UP_VERSION else [request.key]
    return str(keys[0] or "") if keys else ""
