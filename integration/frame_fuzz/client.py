"""The well-behaved client: a group of one member, served while random frames arrive; it looks around at the end."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from typing import Any, Final

from rebalance_check.integration.wire.apis import VERSIONS
from rebalance_check.integration.wire.kafka_python import ApiMessage, admin, consumer, metadata

GROUP: Final = "well-behaved"
TOPIC: Final = "t"
SESSION_MS: Final = 600_000

Call = Callable[[ApiMessage, int], Awaitable[Any]]
"""Sends a request in a version and returns the decoded response."""


class WellBehavedClient:
    """A member of a group of its own. ``call`` sends its requests."""

    def __init__(self, call: Call) -> None:
        self._call = call
        self._member = ""
        self._generation = -1

    async def join(self) -> str:
        """Form the group; the error in the answers, or nothing."""
        protocol = consumer.JoinGroupRequest.JoinGroupRequestProtocol(name="range", metadata=b"")
        joined = await self._call(
            consumer.JoinGroupRequest(
                group_id=GROUP, session_timeout_ms=SESSION_MS, rebalance_timeout_ms=60_000, member_id="",
                protocol_type="consumer", protocols=[protocol],
            ), 3,
        )  # fmt: skip
        self._member, self._generation = joined.member_id, joined.generation_id
        assignment = consumer.SyncGroupRequest.SyncGroupRequestAssignment(member_id=self._member, assignment=b"all")
        synced = await self._call(
            consumer.SyncGroupRequest(
                group_id=GROUP, generation_id=self._generation, member_id=self._member, assignments=[assignment]
            ), 3,
        )  # fmt: skip
        codes = (joined.error_code, synced.error_code)
        return "" if codes == (0, 0) else f"JoinGroup and SyncGroup of {GROUP} were answered with errors {codes}"

    async def heartbeat(self) -> str:
        """One heartbeat; the error in its answer, or nothing."""
        beat = consumer.HeartbeatRequest(group_id=GROUP, generation_id=self._generation, member_id=self._member)
        code = (await self._call(beat, 3)).error_code
        return "" if code == 0 else f"a heartbeat of {GROUP} was answered with error {code}"

    async def look_around(self) -> list[str]:
        """ListGroups, DescribeGroups of every group and Metadata, in every version: the errors, in sentences."""
        wrong, groups = [], set[str]()
        for version in _versions(admin.ListGroupsRequest):
            listed = await self._call(admin.ListGroupsRequest(states_filter=[], types_filter=[]), version)
            groups |= {group.group_id for group in listed.groups}
            if listed.error_code or GROUP not in groups:
                wrong.append(f"ListGroups v{version} does not list {GROUP} (error {listed.error_code})")
        for version in _versions(admin.DescribeGroupsRequest):
            described = await self._call(admin.DescribeGroupsRequest(groups=sorted(groups)), version)
            states = {group.group_id: (group.error_code, group.group_state) for group in described.groups}
            wrong += [
                f"DescribeGroups v{version} says of {name!r} {state}" for name, state in states.items() if state[0]
            ]
            if states.get(GROUP) != (0, "Stable"):
                wrong.append(f"DescribeGroups v{version} says of {GROUP} {states.get(GROUP)}, and not Stable")
        for version in _versions(metadata.MetadataRequest):
            topics = (await self._call(metadata.MetadataRequest(topics=None if version else []), version)).topics
            if TOPIC not in {topic.name for topic in topics if topic.error_code == 0}:
                wrong.append(f"Metadata v{version} does not name the topic {TOPIC}")
        return wrong


def _versions(request: Any) -> Iterator[int]:
    low, high = VERSIONS[request.API_KEY]
    yield from range(low, high + 1)
