"""Performs the steps of a scenario: a coordinator, the names of its members, and the replies that they receive."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, Final, NamedTuple

from rebalance_check.impl.coordinator import GroupConfig
from rebalance_check.impl.protocol.messages import (
    GroupReply,
    GroupRequest,
    JoinGroupReply,
    JoinGroupRequest,
    LeaveGroupReply,
    OffsetCommitReply,
    OffsetDeleteReply,
    OffsetFetchReply,
    SyncGroupReply,
    TxnOffsetCommitReply,
)
from rebalance_check.impl.scenarios.verbs import Options
from rebalance_check.impl.steered.coordinator import Answers, SteeredCoordinator
from rebalance_check.model.vocabulary.errors import Error, RebalanceCheckError

SETTINGS: Final[dict[str, Any]] = {
    "min_session_timeout_ms": 1_000,
    "initial_rebalance_delay_ms": 100,
    "offsets_retention_check_interval_ms": 1_000_000_000_000,
}
"""The settings of a scenario that names no others: nothing is ever too old."""


def settings_of(line: str) -> GroupConfig | None:
    """The settings in a scenario's first line, ``setting max_size=2``; None for a line that is a step.

    Raises: RebalanceCheckError for a setting that `GroupConfig` does not have, or that is no whole number.
    """
    if not line.startswith("setting "):
        return None
    named = dict(word.partition("=")[::2] for word in line.split()[1:])
    known = [field.name for field in fields(GroupConfig) if field.type == "int"]
    for name, value in named.items():
        if name not in known or not value.isdecimal():
            listed = ", ".join(known)
            raise RebalanceCheckError(f"{name}={value} is no setting: write NAME=NUMBER with one of {listed}")
    return GroupConfig(**SETTINGS | {name: int(value) for name, value in named.items()})


class Observed(NamedTuple):
    """An answer: the number of its request, its sender, the request, and the reply."""

    token: int
    name: str
    request: GroupRequest
    reply: GroupReply


class ScenarioRunner:
    """A coordinator, the names of its members, and the requests that wait for an answer.

    ``observed`` collects every answer with its request and the name of who sent that, until the caller clears it.
    """

    def __init__(self, coordinator: SteeredCoordinator) -> None:
        self.coordinator = coordinator
        self.now = 0
        self.ids: dict[str, str] = {}
        self.generations: dict[str, int] = {}
        self.waiting: dict[int, str] = {}
        self.observed: list[Observed] = []
        self._asked: dict[int, GroupRequest] = {}
        self._sent = 0

    def id_of(self, name: str) -> str:
        """The member id of a name; ``=zz`` is the id ``zz`` itself."""
        return name[1:] if name.startswith("=") else self.ids.get(name, "")

    def name_of(self, member_id: str) -> str:
        """The name of a member id, itself if it is a made-up one, ``?`` for one that its holder never learned."""
        found = next((name for name, known in self.ids.items() if known == member_id), None)
        return found if found is not None else (member_id if len(member_id) <= 12 else "?")

    def generation_of(self, name: str, text: str) -> int:
        """A generation as a number, or ``last``, the one that ``name`` learned last."""
        return self.generations.get(name, 1) if text == "last" else int(text)

    def send(self, name: str, request: GroupRequest) -> str:
        """Send a request; the answers, now and late."""
        self._sent += 1
        self.waiting[self._sent] = name
        self._asked[self._sent] = request
        return self.deliver(self.coordinator.handle(self._sent, request, self.now), own=self._sent)

    @property
    def sent(self) -> int:
        """How many requests were sent; the number of the last one."""
        return self._sent

    def joins_waiting(self) -> dict[int, JoinGroupRequest]:
        """The JoinGroups that wait for an answer, by number."""
        asked = {token: self._asked[token] for token in self.waiting}
        return {token: request for token, request in asked.items() if isinstance(request, JoinGroupRequest)}

    def advance(self, duration_ms: int) -> str:
        """Let time pass; the answers that come meanwhile."""
        self.now += duration_ms
        return self.deliver(self.coordinator.advance(self.now))

    def deliver(self, answers: Answers, own: int | None = None) -> str:
        """All answers as text: the one to ``own`` first (``waits`` if there is none), the others by name.

        The answers to one name count in the order of its requests, in whichever order a coordinator answers.
        """
        numbered = sorted(((token, reply) for token, reply in answers if isinstance(token, int)), key=lambda a: a[0])
        observed = [self._receive(token, reply) for token, reply in numbered]
        mine = [self.text(each.reply) for each in observed if each.token == own]
        others = [each for each in observed if each.token != own]
        if own in self.waiting:
            mine = ["waits"]
        late = sorted(f"{each.name}: {self.text(each.reply)}" for each in others)
        return "; ".join([part for part in (*mine, *late) if part])

    def _receive(self, token: int, reply: GroupReply) -> Observed:
        """Note the answer to a request, and the member id and the generation that it gives."""
        observed = Observed(token, self.waiting.pop(token), self._asked.pop(token), reply)
        if isinstance(reply, JoinGroupReply) and reply.error in {Error.NONE, Error.MEMBER_ID_REQUIRED}:
            self.ids[observed.name] = reply.member_id
        if isinstance(reply, JoinGroupReply) and reply.error is Error.NONE:
            self.generations[observed.name] = reply.generation_id
        self.observed.append(observed)
        return observed

    def text(self, reply: GroupReply) -> str:
        """A reply in one line: its error, or its grants."""
        match reply:
            case JoinGroupReply(error=Error.NONE):
                members = " ".join(sorted(self.name_of(member.member_id) for member in reply.members))
                shown = f"generation {reply.generation_id}, leader {self.name_of(reply.leader)}"
                return shown + (f", members {members}" if members else "") + (", skip" if reply.skip_assignment else "")
            case JoinGroupReply() if reply.member_id:
                return f"{reply.error.name} {self.name_of(reply.member_id)}"
            case SyncGroupReply(error=Error.NONE):
                return f"NONE {reply.assignment.decode()}".strip()
            case LeaveGroupReply() if reply.members:
                return f"{reply.error.name} ({', '.join(member.error.name for member in reply.members)})"
            case OffsetCommitReply() | TxnOffsetCommitReply():
                return reply.partitions[0][2].name
            case OffsetDeleteReply() if reply.partitions:
                return " ".join(error.name for _, _, error in reply.partitions)
            case OffsetFetchReply(error=Error.NONE):
                errors = {(topic, partition): error.name for topic, partition, error in reply.errors}
                return " ".join(
                    f"{offset.topic}-{offset.partition}:{errors.get((offset.topic, offset.partition), offset.offset)}"
                    for offset in sorted(reply.offsets, key=lambda offset: (offset.topic, offset.partition))
                )
            case _:
                return reply.error.name

    def status(self, options: Options) -> str:
        """The status of the group; an error where there is one."""
        described = self.coordinator.describe(options.get("group", "g"))
        return described.state if described.error is Error.NONE else described.error.name

    def members(self, options: Options) -> str:
        """The names of the members."""
        described = self.coordinator.describe(options.get("group", "g"))
        return " ".join(sorted(self.name_of(member.member_id) for member in described.members))
