"""Answers in one form, whether the model predicts them or a coordinator gives them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from rebalance_check.impl.comparison.to_model.transport import SIDE_CONNECTION
from rebalance_check.impl.protocol.consumer_protocol import read_assignment, read_subscription
from rebalance_check.impl.protocol.messages import (
    GroupReply,
    HeartbeatReply,
    JoinedMember,
    JoinGroupReply,
    LeaveGroupReply,
    OffsetCommitReply,
    SyncGroupReply,
)
from rebalance_check.model.classic.concerns.offset_commits import commit_during_join_error
from rebalance_check.model.classic.coordinator import fence
from rebalance_check.model.classic.observer.member_ids import holder_of, id_prefix_of, leader_in_reply, leave_error
from rebalance_check.model.classic.observer.protocol_names import replied_protocol
from rebalance_check.model.classic.parts.network import is_error_reply
from rebalance_check.model.classic.parts.protocol_vote import is_compatible_duplicate
from rebalance_check.model.classic.parts.static_members import SKIPS_ASSIGNMENT
from rebalance_check.model.classic.state import (
    REPLY_APIS,
    REQUEST_APIS,
    Config,
    GroupStatus,
    Message,
    MessageKind,
    State,
    has,
)
from rebalance_check.model.vocabulary.actions import Action, ActionKind
from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.bounds import Bounds, RebalanceProtocol
from rebalance_check.model.vocabulary.errors import Error
from rebalance_check.model.vocabulary.ids import NO_GENERATION, partition

TOPIC = "t"

ASSIGNORS: Mapping[RebalanceProtocol, str] = {
    RebalanceProtocol.EAGER: "range",
    RebalanceProtocol.COOPERATIVE: "cooperative-sticky",
}
"""The one that all members offer, where they have no lists of assignors."""


class OwnedPartitions(NamedTuple):
    """The leader's knowledge of a member: the partitions it claims, and in which generation (-1: in none)."""

    member: str
    partitions: tuple[str, ...]
    generation: int


class Answer(NamedTuple):
    """An answer to ``member``: the fields on which model and coordinator must agree, as in `RequestAnswered`.

    ``leader`` and ``claims`` name members by the prefixes of their member ids.
    """

    member: str
    api: str
    error: str
    generation: int = NO_GENERATION
    leader: str = ""
    claims: tuple[OwnedPartitions, ...] = ()
    assignment: tuple[str, ...] = ()
    protocol: str = ""
    skips_assignment: bool = False

    def __str__(self) -> str:
        """``JoinGroup NONE to m0, generation 1, leader m0, range``: the fields that it has, and nothing of the rest."""
        said = {
            "generation": "" if self.generation == NO_GENERATION else self.generation,
            "leader": self.leader,
            "members": " ".join(f"{one.member}=[{' '.join(one.partitions)}]" for one in self.claims),
            "assignment": " ".join(self.assignment),
            "protocol": self.protocol,
            "skips": "the assignment" if self.skips_assignment else "",
        }
        to = f" to {self.member}" if self.member else ""
        return ", ".join(
            [f"{self.api} {self.error}{to}", *(f"{name} {value}" for name, value in said.items() if value)]
        )


# ------------------------------------------------------------------------------------------------ predicted


def predicted_answers(
    action: Action, before: State, after: State, config: Config, bounds: Bounds
) -> tuple[Answer, ...]:
    """The answers that the model gives in one step of the coordinator, sorted."""
    replied = [
        m for m, member in enumerate(after.member) if is_reply(member.net) and not is_reply(before.member[m].net)
    ]
    return tuple(sorted([*aside(action, before, config), *(predicted_answer(after, m, bounds) for m in replied)]))


def aside(action: Action, before: State, config: Config) -> tuple[Answer, ...]:
    """The answers that the model leaves out because no member waits for them, as far as it knows them."""
    m = action.member
    match action.kind:
        case ActionKind.LEAVE_GROUP:
            return (Answer(f"m{m}", Api.LEAVE_GROUP, leave_error(before, m).name),)
        case ActionKind.COMMIT_DURING_JOIN:
            return (Answer(f"m{SIDE_CONNECTION}", Api.OFFSET_COMMIT, Error(commit_during_join_error(before, m)).name),)
        case ActionKind.HEARTBEAT_DURING_SYNC:
            return (
                Answer(f"m{SIDE_CONNECTION}", Api.HEARTBEAT, Error(fence(before, m, before.member[m].generation)).name),
            )
        case ActionKind.COMMIT_WITHOUT_GROUP:
            error = Error.NONE if before.status <= GroupStatus.EMPTY else Error.UNKNOWN_MEMBER_ID
            return (Answer(f"m{SIDE_CONNECTION}", Api.OFFSET_COMMIT, error.name),)
        case ActionKind.DELETE_GROUP:
            return (Answer("", Api.DELETE_GROUPS, Error.NONE.name),)
        case ActionKind.DELIVER_DUPLICATE if before.duplicate.stale:
            return (
                Answer(
                    f"m{SIDE_CONNECTION}",
                    REQUEST_APIS[MessageKind(before.duplicate.kind)],
                    stale_error(before, config).name,
                ),
            )
    return ()


def stale_error(before: State, config: Config) -> Error:
    """The answer to a copy under a forgotten id: that of a JoinGroup is looked at after its protocols."""
    if before.duplicate.kind == MessageKind.JOIN_REQUEST and not is_compatible_duplicate(config, before):
        return Error.INCONSISTENT_GROUP_PROTOCOL
    replaced = holder_of(before, before.duplicate.member) is not None
    return Error.FENCED_INSTANCE_ID if replaced else Error.UNKNOWN_MEMBER_ID


def is_reply(net: Message) -> bool:
    """Whether the message in a slot comes from the coordinator."""
    return net.kind in REPLY_APIS


def predicted_answer(state: State, m: int, bounds: Bounds) -> Answer:
    """The reply that lies in the slot of ``m``."""
    net = state.member[m].net
    api, name = REPLY_APIS[MessageKind(net.kind)], f"m{m}"
    if is_error_reply(net):
        return Answer(name, api, Error(net.error).name)
    if net.kind == MessageKind.JOIN_REPLY:
        claims = tuple(sorted(owned_partitions(state, x) for x in range(len(state.member)) if has(net.group, x)))
        return Answer(
            name, api, Error.NONE.name, net.generation, id_prefix_of(state, leader_in_reply(state, net)), claims,
            protocol=replied_protocol(net) or ASSIGNORS[bounds.protocol],
            skips_assignment=net.flag == SKIPS_ASSIGNMENT,
        )  # fmt: skip
    if net.kind == MessageKind.SYNC_REPLY:
        return Answer(name, api, Error.NONE.name, assignment=partitions_of(net.partitions))
    return Answer(name, api, Error.NONE.name)


def owned_partitions(state: State, x: int) -> OwnedPartitions:
    """The coordinator's part of the metadata of ``x``."""
    member = state.member[x]
    return OwnedPartitions(
        id_prefix_of(state, x), partitions_of(member.owned_partitions), member.owned_generation or NO_GENERATION
    )


def partitions_of(mask: int) -> tuple[str, ...]:
    """The names of the partitions in a bit mask."""
    return tuple(str(partition(TOPIC, p)) for p in range(8) if has(mask, p))


# ------------------------------------------------------------------------------------------------ observed


def observed_answer(m: int, reply: GroupReply) -> Answer:
    """A coordinator's reply to ``m``."""
    name, error = f"m{m}", reply.error.name
    match reply:
        case JoinGroupReply(error=Error.NONE):
            claims = tuple(sorted(owned_partitions_in(member) for member in reply.members))
            return Answer(
                name, Api.JOIN_GROUP, error, reply.generation_id, member_of(reply.leader), claims,
                protocol=reply.protocol_name or "", skips_assignment=reply.skip_assignment,
            )  # fmt: skip
        case JoinGroupReply():
            return Answer(name, Api.JOIN_GROUP, error)
        case SyncGroupReply():
            return Answer(name, Api.SYNC_GROUP, error, assignment=assigned(reply.assignment))
        case HeartbeatReply():
            return Answer(name, Api.HEARTBEAT, error)
        case OffsetCommitReply():
            worst = next((error for _, _, error in reply.partitions if error is not Error.NONE), reply.error)
            return Answer(name, Api.OFFSET_COMMIT, worst.name)
        case LeaveGroupReply():
            worst = next((member.error for member in reply.members if member.error is not Error.NONE), reply.error)
            return Answer(name, Api.LEAVE_GROUP, worst.name)
        case _:
            return Answer(name, type(reply).__name__.removesuffix("Reply"), error)


def owned_partitions_in(member: JoinedMember) -> OwnedPartitions:
    """The claims in a member's metadata; an EAGER member's say nothing about partitions."""
    subscription = read_subscription(member.metadata)
    owned = tuple(sorted(str(owned.name) for owned in subscription.owned))
    generation = NO_GENERATION if subscription.generation is None else subscription.generation
    return OwnedPartitions(member_of(member.member_id), owned, generation)


def assigned(assignment: bytes) -> tuple[str, ...]:
    """The partitions in the assignment bytes; none in no bytes, which a member gets that the leader forgot."""
    if not assignment:
        return ()
    return tuple(sorted(str(tp.name) for tp in read_assignment(assignment).partitions))


def member_of(member_id: str) -> str:
    """The beginning of a member id, a client id or an instance id: ``m0`` of ``m0-4711``."""
    return member_id.partition("-")[0]
