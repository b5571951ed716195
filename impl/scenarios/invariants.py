"""What a coordinator promises to whoever talks to it: claims with a memory, judged after each step of a scenario.

Sources: KIP-345, KIP-394, KIP-62, the documented errors of the protocol's messages, and the timeouts that every
JoinGroup carries. A promise knows requests, replies and what DescribeGroups shows, and nothing of how a coordinator is
made. It says nothing where an observer cannot be sure, so that what it says is a finding.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from rebalance_check.impl.protocol.messages import (
    HeartbeatReply,
    JoinGroupReply,
    JoinGroupRequest,
    LeaveGroupRequest,
    OffsetCommitReply,
    OffsetCommitRequest,
    OffsetFetchReply,
)
from rebalance_check.impl.scenarios.step import PREPARING, STABLE, Step, Watch, members_of
from rebalance_check.impl.scenarios.timing_invariants import completing_ends, nobody_goes_early, nobody_is_waited_for
from rebalance_check.model.vocabulary.errors import Error

MEMBER_ID_REQUIRED_SINCE: Final = 4


@dataclass(frozen=True, slots=True)
class Promise:
    """A promise: its name, its sentence, and who watches one scenario for it."""

    name: str
    says: str
    watch: Callable[[], Watch]


# ------------------------------------------------------------------------------------------------ identities


def fresh_ids() -> Watch:
    """An id that is given to a JoinGroup without one was given to nobody before (KIP-345, KIP-394)."""
    told: set[str] = set()

    def watch(step: Step) -> str:
        for each in step.observed:
            if not isinstance(each.request, JoinGroupRequest) or not isinstance(each.reply, JoinGroupReply):
                continue
            given = each.reply.member_id if each.reply.error in {Error.NONE, Error.MEMBER_ID_REQUIRED} else ""
            if given and not each.request.member_id and given in told:
                return f"{each.name} came without a member id and was given {given}, which somebody has"
            told.add(given)
        return ""

    return watch


def told_before_admitted() -> Watch:
    """From JoinGroup v4 on a dynamic member is told its id before it is a member (KIP-394)."""
    told: set[str] = set()

    def watch(step: Step) -> str:
        joins = [sent.request for sent in step.sent if isinstance(sent.request, JoinGroupRequest)]
        old = any(join.version < MEMBER_ID_REQUIRED_SINCE or join.group_instance_id for join in joins)
        strange = members_of(step.after) - members_of(step.before) - told
        told.update(each.reply.member_id for each in step.observed if isinstance(each.reply, JoinGroupReply))
        told.update(members_of(step.after))
        if joins and strange and not old:
            return f"{min(strange)} is a member, and nobody was told that id before: whoever asks again is another one"
        return ""

    return watch


def documented_errors() -> Watch:
    """A heartbeat is answered with one of the errors that its message documents."""

    def watch(step: Step) -> str:
        for each in step.observed:
            if isinstance(each.reply, HeartbeatReply) and each.reply.error not in HEARTBEAT_ERRORS:
                return f"the heartbeat of {each.name} is answered {each.reply.error.name}, which no client knows there"
        return ""

    return watch


HEARTBEAT_ERRORS: Final = frozenset(
    {
        Error.NONE, Error.UNKNOWN_MEMBER_ID, Error.ILLEGAL_GENERATION, Error.REBALANCE_IN_PROGRESS,
        Error.FENCED_INSTANCE_ID, Error.NOT_COORDINATOR, Error.COORDINATOR_NOT_AVAILABLE,
        Error.COORDINATOR_LOAD_IN_PROGRESS, Error.INVALID_GROUP_ID, Error.GROUP_AUTHORIZATION_FAILED,
        Error.UNKNOWN_SERVER_ERROR, Error.NETWORK_EXCEPTION,
    }
)  # fmt: skip
"""``HeartbeatResponse.json``, and what a failed write may be answered."""


# ------------------------------------------------------------------------------------------------ leaving


def leave_removes_who_is_named() -> Watch:
    """A LeaveGroup removes those that it names, and nobody else."""
    instances: dict[str, str] = {}

    def watch(step: Step) -> str:
        instances.update({m.member_id: m.group_instance_id or "" for m in step.before.members})
        for each in step.observed:
            if not isinstance(each.request, LeaveGroupRequest) or step.command != "leave":
                continue
            named = {identity.member_id for identity in each.request.members}
            by_instance = {identity.group_instance_id for identity in each.request.members}
            gone = members_of(step.before) - members_of(step.after)
            strangers = {one for one in gone if one not in named and instances.get(one) not in by_instance - {"", None}}
            if strangers and step.after.error is Error.NONE and step.after.state != "Dead":
                return f"{min(strangers)} is gone, and the LeaveGroup did not name it"
        return ""

    return watch


# ------------------------------------------------------------------------------------------------ size


def seats_before_refusals() -> Watch:
    """While a group forms anew, a member of it is refused for size only when as many others as fit wait already.

    Who goes may end the join phase, so that those who waited are answered in the same step.
    """

    def watch(step: Step) -> str:
        for each in step.observed:
            if each.reply.error is not Error.GROUP_MAX_SIZE_REACHED or not isinstance(each.request, JoinGroupRequest):
                continue
            answered = [other.request for other in step.observed if other.token < each.token]
            waiting = [one for one in [*step.waiting.values(), *answered] if isinstance(one, JoinGroupRequest)]
            was_member = each.request.member_id in members_of(step.before)
            if was_member and step.before.state == PREPARING and len(waiting) < step.config.max_size:
                return f"{each.name} lost its seat; {len(waiting)} wait, and there is room for {step.config.max_size}"
        return ""

    return watch


# ------------------------------------------------------------------------------------------------ the log


def nothing_committed_is_forgotten() -> Watch:
    """After a failover that lost no record, a group that was Stable has its generation and its members."""
    before: dict[str, tuple[int, set[str]]] = {}

    def watch(step: Step) -> str:
        is_back = step.after.error is Error.NONE
        if is_back and step.command in {"load", "failover"} and STABLE in before and not step.loses_records():
            generation, members = before.pop(STABLE)
            if (step.generation, members_of(step.after)) != (generation, members):
                now = f"generation {step.generation} of {sorted(members_of(step.after))}"
                return f"the log was read, and generation {generation} of {sorted(members)} is {now}"
        if step.loses_records() or (is_back and step.after.state != STABLE) or step.command == "unload":
            before.clear()
        if is_back and step.after.state == STABLE and step.generation is not None:
            before[STABLE] = (step.generation, members_of(step.after))
        return ""

    return watch


def served_after_loading() -> Watch:
    """Once the log was read, nobody is told to wait for that."""
    state = {"loading": False}

    def watch(step: Step) -> str:
        if step.command == "failover":
            state["loading"] = "loading" in step.line.split()
        if step.command in {"load", "unload"}:
            state["loading"] = False
        for each in step.observed:
            if each.reply.error is Error.COORDINATOR_LOAD_IN_PROGRESS and not state["loading"]:
                return f"{each.name} is told COORDINATOR_LOAD_IN_PROGRESS, and nothing is being loaded"
        return ""

    return watch


def committed_is_fetched() -> Watch:
    """What was committed last for a partition of a group is what any member of it fetches.

    Until it is deleted or as old as offsets may become; what transactions commit is not followed.
    """
    last: dict[str, tuple[int, int] | None] = {}

    def watch(step: Step) -> str:
        if step.loses_records() or step.command in LOSES_OFFSETS:
            last.clear()
        finding = ""
        for each in step.observed:
            if isinstance(each.reply, OffsetFetchReply) and each.reply.error is Error.NONE:
                for offset in each.reply.offsets:
                    expected = _expected(last.get(f"{offset.topic}-{offset.partition}"), step)
                    if expected is not None and offset.offset != expected:
                        finding = f"{expected} was committed, and {offset.offset} is fetched"
        _note_commits(last, step)
        return finding

    return watch


LOSES_OFFSETS: Final = frozenset({"unload", "fail", "hold", "offset-delete", "txn-commit", "end-txn"})
"""Lines after which it is not certain what a fetch should tell."""


def _expected(committed: tuple[int, int] | None, step: Step) -> int | None:
    """The offset of a commit, with the time of its answer in ms, that must still be there."""
    retention_ms = step.config.offsets_retention_minutes * 60_000
    return None if committed is None or step.now_ms - committed[1] >= retention_ms else committed[0]


def _note_commits(last: dict[str, tuple[int, int] | None], step: Step) -> None:
    """Which commits were granted; those under way may count already, or not yet."""
    for sent in step.sent:
        if isinstance(sent.request, OffsetCommitRequest):
            last.update({f"{o.topic}-{o.partition}": None for o in sent.request.offsets})
    in_doubt = any(isinstance(one, OffsetCommitRequest) for one in step.waiting.values())
    for each in step.observed:
        if isinstance(each.request, OffsetCommitRequest) and isinstance(each.reply, OffsetCommitReply):
            for (topic, partition, error), offset in zip(each.reply.partitions, each.request.offsets, strict=False):
                granted = error is Error.NONE and not in_doubt
                last[f"{topic}-{partition}"] = (offset.offset, step.now_ms) if granted else None


PROMISES: Final = tuple(
    Promise(watch.__name__, " ".join((watch.__doc__ or "").partition("\n\n")[0].split()), watch)
    for watch in (
        fresh_ids, told_before_admitted, documented_errors, leave_removes_who_is_named, nobody_goes_early,
        completing_ends, nobody_is_waited_for, seats_before_refusals, nothing_committed_is_forgotten,
        served_after_loading, committed_is_fetched,
    )
)  # fmt: skip
"""All promises."""
