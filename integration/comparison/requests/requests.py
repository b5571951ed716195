"""Random requests of the group apis, in all versions that are served: null, repeated, oversized, unknown, non-ASCII."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rebalance_check.integration.frame_fuzz.frames import FrameGenerator
from rebalance_check.integration.frame_fuzz.values import SUBSCRIPTIONS, Values
from rebalance_check.integration.frame_fuzz.values import TOPICS as NAMES
from rebalance_check.integration.wire.apis import APIS, Api
from rebalance_check.integration.wire.frames import read_prefix
from rebalance_check.integration.wire.kafka_python import consumer
from rebalance_check.model.vocabulary.errors import Error

TOPICS: Final = {"t": 4, "u": 2}
"""The topics that exist, with their partitions."""

BENT_SHARE: Final = 0.04
"""How many requests have wrong bytes behind their header."""

OF_GROUPS: Final = frozenset({
    "JoinGroup", "SyncGroup", "Heartbeat", "LeaveGroup", "OffsetCommit", "OffsetFetch", "OffsetDelete",
    "TxnOffsetCommit", "DescribeGroups", "ListGroups", "DeleteGroups",
})  # fmt: skip
LOOK_UP: Final = "FindCoordinator"

HOUR_MS: Final = 3_600_000
JOIN_WEIGHT: Final = 5
"""How much more often a request is a JoinGroup: without members there is little to ask."""
MEMBERS_KEPT: Final = 5
PROTOCOLS: Final = (*("range",) * 40, *("sticky",) * 10, "roundrobin", "\u00e9", "", "x" * 300)
OF_GROUP_IDS: Final = frozenset(
    {"group_id", "groups element", "groups_names element", "coordinator_keys element", "key"}
)
READABLE: Final = (SUBSCRIPTIONS[0], *SUBSCRIPTIONS[2:5])
MEMBER_SHARE: Final = {"JoinGroup": 0.5, "LeaveGroup": 0.15, "DeleteGroups": 0.0}
"""How many requests of an api are those of a member that is known, where it is not the most: members come and stay."""
NOBODY: Final = (-1, -(1 << 63), (1 << 63) - 1, 1 << 40)
"""Producers that a broker on which others were cannot know."""
LONG: Final[Mapping[str, Sequence[int]]] = {
    "session_timeout_ms": (HOUR_MS // 2, HOUR_MS // 4, HOUR_MS // 3, -1, 0, 99),
    "rebalance_timeout_ms": (HOUR_MS // 2, HOUR_MS // 4),
    "producer_id": NOBODY,
}
"""Numbers where no time passes: long times, or ones that are refused."""


@dataclass(frozen=True, slots=True)
class Scope:
    """The subjects of requests: ``topics`` that exist, groups whose names end with ``suffix``.

    ``metadata_units`` is how long the metadata of a commit may be, in units of UTF-16. ``passes_time`` says whether
    sessions and rebalances may end while requests are sent; else they last for long.
    """

    topics: Mapping[str, int]
    metadata_units: int
    suffix: str = ""
    passes_time: bool = True


@dataclass(frozen=True, slots=True)
class KnownMember:
    """A member that a reply named, as its later requests name it."""

    group_id: str
    member_id: str
    generation: int
    instance_id: str | None
    protocol: str | None


class GroupValues(Values):
    """Values for requests about groups: most often those of a member that is known."""

    def __init__(self, seed: int, scope: Scope) -> None:
        super().__init__(seed)
        self._scope = scope
        self._members: list[KnownMember] = []
        self._member: KnownMember | None = None
        # Texts that are as long as they may be, or a little longer; an emoji has two units and four bytes.
        most, emojis = scope.metadata_units, scope.metadata_units // 2
        self._metadata = ("m", "", "x" * most, "x" * (most + 1), "\u00e9" * most, "\U0001f600" * emojis,
                          "\U0001f600" * (emojis + 1))  # fmt: skip
        self._names = (*[*scope.topics] * 4, *(name for name in NAMES if name not in TOPICS))

    def begin(self, api: str) -> None:
        """A new request of this api."""
        super().begin(api)
        is_of_member = self._members and self._chance(MEMBER_SHARE.get(api, 0.85))
        self._member = self.draws.choice(self._members) if is_of_member else None

    def keep(self, member: KnownMember) -> None:
        """A reply named a member; older knowledge of it is outdated, and used now and then all the same."""
        outdated = [each for each in self._members if each.member_id == member.member_id]
        for each in outdated if not self._chance(0.1) else ():
            self._members.remove(each)
        self._members = [*self._members[1 - MEMBERS_KEPT :], member]

    def forget(self, member_id: str) -> None:
        """A reply said that there is no such member; some of them are named all the same."""
        if self._chance(0.8):
            self._members = [each for each in self._members if each.member_id != member_id]

    def _chance(self, share: float) -> bool:
        return self.draws.random() < share

    def text(self, name: str) -> Any:
        """A string for the field of this name, or null."""
        member = self._member
        if member is not None and self._chance(0.95):
            match name:
                case "group_id":
                    return member.group_id
                case "member_id":
                    return member.member_id
                case "group_instance_id":
                    return member.instance_id
                case "protocol_name":
                    return member.protocol
                case "protocol_type":
                    return "consumer"
        if name == "group_instance_id" and self._chance(0.6):
            return None
        return self.draws.choice(self._texts(name))

    def _texts(self, name: str) -> tuple[str, ...]:
        if name == "committed_metadata":
            return self._metadata
        if name == "name":
            return PROTOCOLS if self.api == "JoinGroup" else self._names
        if name == "member_id" and self.api == "JoinGroup" and self._chance(0.8):
            return ("",)
        texts = super()._texts(name)
        if name in OF_GROUP_IDS:
            usual = () if self._chance(0.2) else ("g",) * 3 * len(texts)
            return tuple(text and f"{text}{self._scope.suffix}" for text in (*texts, *usual))
        return texts

    def octets(self, name: str) -> bytes:
        """Bytes for the field of this name: a member's subscription can mostly be read."""
        if name == "metadata" and self._chance(0.8):
            return self.draws.choice(READABLE)
        return super().octets(name)

    def number(self, name: str, bits: int) -> int:
        """A number; one that is a time is long, or one that is refused, where no time passes."""
        if name in ("generation_id", "generation_id_or_member_epoch") and self._member is not None:
            present = self._member.generation
            return self.draws.choice((*(present,) * 9, present + 1, present - 1, -1))
        if name in self._long:
            return self.draws.choice(self._long[name])
        return super().number(name, bits)

    @property
    def _long(self) -> Mapping[str, Sequence[int]]:
        return {} if self._scope.passes_time else LONG


class GroupRequests:
    """The requests of one seed: equal seeds and equal replies give equal requests."""

    def __init__(self, values: GroupValues, seed: int, *, names: Collection[str] = OF_GROUPS) -> None:
        self._apis = {key: api for key, api in sorted(APIS.items()) if api.name in names}
        self.values = values
        apis = [api for api in self._apis.values() for _ in range(JOIN_WEIGHT if api.name == "JoinGroup" else 1)]
        self._generator = FrameGenerator(seed, apis=apis, bent_share=BENT_SHARE, values=values)

    def next(self) -> bytes:
        """The next request, without its length; its api and version are served, even if all else is wrong."""
        while True:
            frame = self._generator.frame()
            prefix = read_prefix(frame)
            api: Api | None = self._apis.get(prefix.api_key)
            if api is not None and api.low <= prefix.api_version <= api.high:
                return frame

    def learn(self, request: Any, reply: Any) -> None:
        """Learn from a reply about a member, if it is about one."""
        code = getattr(reply, "error_code", 0)
        if code in (Error.UNKNOWN_MEMBER_ID, Error.FENCED_INSTANCE_ID):
            self.values.forget(getattr(request, "member_id", ""))
        elif isinstance(request, consumer.JoinGroupRequest) and reply.member_id:
            name = reply.protocol_name or None
            self.values.keep(
                KnownMember(request.group_id, reply.member_id, reply.generation_id, request.group_instance_id, name)
            )
