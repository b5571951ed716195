"""What a claim about a coordinator may know of a line in a scenario: who observed what, and the group before and after.

Everything here was told to a client, or is shown by DescribeGroups; nothing is known of how a coordinator is made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from rebalance_check.impl.coordinator import GroupConfig
from rebalance_check.impl.protocol.messages import (
    DescribedGroup,
    GroupReply,
    JoinGroupReply,
    JoinGroupRequest,
    OffsetCommitReply,
    TxnOffsetCommitReply,
    TxnOffsetCommitRequest,
)
from rebalance_check.impl.scenarios.runner import Observed, Stage
from rebalance_check.impl.steered.coordinator import Observation
from rebalance_check.model.vocabulary.errors import Error

PREPARING: Final = "PreparingRebalance"
FORMED: Final = ("CompletingRebalance", "Stable")


@dataclass(frozen=True, slots=True)
class Scene:
    """One line of a scenario.

    ``reply`` is the answer that a request was given at once, ``waiting`` are the JoinGroups without an answer.
    ``known`` are the member ids that somebody was told, ``fenced`` those that were told that they are fenced, and
    ``pending`` those that were handed out (KIP-394) and may still be awaited. ``is_initial``: the join phase began in
    an empty group, so that it may wait for newcomers. ``is_kept``: a commit was told that its offset is kept, and it is
    not too old yet, or it belongs to a transaction that has not ended. ``thrown`` is an exception that no request was
    told of.
    """

    line: str
    observed: Sequence[Observed]
    reply: GroupReply | None
    before: Observation
    after: Observation
    max_size: int
    now_ms: int
    waiting: Sequence[JoinGroupRequest]
    failing: str
    is_initial: bool
    known: frozenset[str]
    fenced: frozenset[str]
    pending: frozenset[str]
    is_kept: bool
    thrown: str


@dataclass(frozen=True, slots=True)
class Claim:
    """What must hold after every line: ``broken`` says how it does not, or is empty."""

    name: str
    says: str
    broken: Callable[[Scene], str]


def members(observation: Observation) -> frozenset[str]:
    """The member ids that DescribeGroups shows."""
    return frozenset(member.member_id for member in observation.described.members)


def in_order(group: DescribedGroup) -> DescribedGroup:
    """The group with its members in the order of their ids."""
    return replace(group, members=tuple(sorted(group.members, key=lambda member: member.member_id)))


class Audience:
    """Sees a scenario line by line, and remembers what was told."""

    def __init__(self, claims: Sequence[Claim], config: GroupConfig, before: Observation) -> None:
        self._claims = claims
        self._max_size = config.max_size
        self._kept = _Kept(config.offsets_retention_minutes * 60_000)
        self._before = before
        self._failing = ""
        self._is_initial = True
        self._known: frozenset[str] = frozenset()
        self._fenced: frozenset[str] = frozenset()
        self._pending: dict[str, int] = {}
        self._joined: dict[str, int] = {}

    @property
    def pending(self) -> frozenset[str]:
        """The member ids that were handed out (KIP-394) and may still be awaited."""
        return frozenset(self._pending)

    def see(
        self, line: str, stage: Stage, after: Observation, *, own: int | None = None, thrown: str = ""
    ) -> tuple[str, str] | None:
        """The first claim that a line broke, with how.

        ``stage`` is where it was performed, ``own`` the number of the request that it sent, ``thrown`` an exception
        that no request was told of.
        """
        observed = stage.observed
        self._note(line, stage, after)
        scene = Scene(
            line=line, observed=observed, reply=next((each.reply for each in observed if each.token == own), None),
            before=self._before, after=after, max_size=self._max_size, now_ms=stage.now,
            waiting=self._waiting(stage), failing=self._failing, is_initial=self._is_initial, known=self._known,
            fenced=self._fenced, pending=self.pending,
            is_kept=self._kept.anything(stage.now), thrown=thrown,
        )  # fmt: skip
        broken = ((claim.name, claim.broken(scene)) for claim in self._claims)
        found = next((each for each in broken if each[1]), None)
        self._fenced |= frozenset(_fenced(observed))
        self._before = after
        return found

    def _waiting(self, stage: Stage) -> tuple[JoinGroupRequest, ...]:
        """Who joins twice under one id is answered once: the JoinGroup before is given up."""
        for each in stage.observed:
            if isinstance(each.request, JoinGroupRequest) and each.request.member_id:
                self._joined[each.request.member_id] = each.token
        waiting = stage.joins_waiting().items()
        return tuple(request for token, request in waiting if token > self._joined.get(request.member_id, 0))

    def _note(self, line: str, stage: Stage, after: Observation) -> None:
        words = line.split()
        if words[0] == "fail":
            self._failing = words[1] if len(words) > 1 else ""
        if after.described.state != PREPARING:
            self._is_initial = after.described.state not in FORMED
        self._kept.hear(words, stage.observed, stage.now)
        self._known |= frozenset(_told(stage.observed))
        self._pending |= _handed_out(stage.observed, stage.now)
        gone = members(after) | {each for each, until in self._pending.items() if until <= stage.now}
        self._pending = {each: until for each, until in self._pending.items() if each not in gone}


class _Kept:
    """The offsets that commits were told are kept: until when, and in which open transactions."""

    def __init__(self, retention_ms: int) -> None:
        self._retention_ms = retention_ms
        self._until = 0
        self._producers: set[str] = set()

    def hear(self, words: Sequence[str], observed: Sequence[Observed], now_ms: int) -> None:
        """Who deletes, or loses a part of the log, loses offsets, too."""
        if words[0] in {"delete", "offset-delete", "failover"}:
            self._until = 0
            self._producers.clear()
        if words[0] == "end-txn":
            self._producers -= {word.partition("=")[2] for word in words}
        for each in observed:
            reply = each.reply
            if isinstance(reply, OffsetCommitReply | TxnOffsetCommitReply) and _all_kept(reply):
                if isinstance(each.request, TxnOffsetCommitRequest):
                    self._producers.add(str(each.request.producer_id))
                else:
                    self._until = now_ms + self._retention_ms

    def anything(self, now_ms: int) -> bool:
        """Whether there is an offset that must not go."""
        return bool(self._producers) or now_ms < self._until


def _all_kept(reply: OffsetCommitReply | TxnOffsetCommitReply) -> bool:
    return all(error is Error.NONE for _, _, error in reply.partitions)


def _told(observed: Sequence[Observed]) -> Iterator[str]:
    """The member ids that somebody now knows: those of answers."""
    return (each.reply.member_id for each in observed if isinstance(each.reply, JoinGroupReply))


def _fenced(observed: Sequence[Observed]) -> Iterator[str]:
    for each in observed:
        if each.reply.error is Error.FENCED_INSTANCE_ID and isinstance(each.reply, JoinGroupReply):
            yield each.reply.member_id


def _handed_out(observed: Sequence[Observed], now_ms: int) -> Mapping[str, int]:
    """Ids to come back with, each with the end of the session that it has for that."""
    return {
        each.reply.member_id: now_ms + each.request.session_timeout_ms
        for each in observed
        if isinstance(each.request, JoinGroupRequest)
        and isinstance(each.reply, JoinGroupReply)
        and each.reply.error is Error.MEMBER_ID_REQUIRED
    }
