"""The runner of client scenarios: a consumer whose application and coordinator the scenario plays, in virtual time."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from rebalance_check.impl.assignors.assignor import Assignor
from rebalance_check.impl.assignors.cooperative_sticky import CooperativeStickyAssignor
from rebalance_check.impl.assignors.range import RangeAssignor
from rebalance_check.impl.assignors.roundrobin import RoundRobinAssignor
from rebalance_check.impl.client.committing import Commit
from rebalance_check.impl.client.config import ClientConfig, Contract
from rebalance_check.impl.client.consumer import ConsumerCoordinator
from rebalance_check.impl.client.listener import RebalanceListener
from rebalance_check.impl.protocol.consumer_protocol import (
    Assignment,
    Subscription,
    read_subscription,
    write_assignment,
    write_subscription,
)
from rebalance_check.impl.protocol.messages import (
    FindCoordinatorReply,
    FindCoordinatorRequest,
    HeartbeatReply,
    HeartbeatRequest,
    JoinedMember,
    JoinGroupReply,
    JoinGroupRequest,
    LeaveGroupReply,
    LeaveGroupRequest,
    MemberReply,
    MemberRequest,
    OffsetCommitReply,
    OffsetCommitRequest,
    SyncGroupReply,
    SyncGroupRequest,
)
from rebalance_check.impl.protocol.topic_partition import TopicPartition
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.impl.scenarios import Language, Options
from rebalance_check.model.vocabulary.errors import Error, RebalanceCheckError
from rebalance_check.model.vocabulary.events import Event, MembershipLost
from tests.impl.found_coordinator import FOUND, with_coordinator

ASSIGNORS: Final[dict[str, Callable[[], Assignor]]] = {
    "range": RangeAssignor,
    "roundrobin": RoundRobinAssignor,
    "cooperative-sticky": CooperativeStickyAssignor,
}
DEFAULT_ASSIGNORS: Final = {"eager": "range", "cooperative": "cooperative-sticky"}
MEMBER_ID: Final = "id"
"""The member id that the coordinator of a scenario hands out."""

LANGUAGE: Final[Language[ClientScenario]] = Language("client scenarios")


class ClientScenario(RebalanceListener):
    """A consumer of one group, the requests that have no reply yet, and what happened since the last step."""

    def __init__(self) -> None:
        self.begin("eager", {})

    def begin(self, protocol: str, named: Options) -> None:
        """Start with a new consumer, whose options are those of the verb ``member``."""
        self.now_ms = 0
        self.config = ClientConfig(
            group_id="g", session_timeout_ms=10_000, rebalance_timeout_ms=60_000,
            group_instance_id=named.get("instance"), leave_on_close="stays" not in named,
            contract=Contract(named.get("contract", Contract.JAVA)),
        )  # fmt: skip
        self.assignors = named.get("assignors", DEFAULT_ASSIGNORS[protocol]).split(",")
        self.failing: set[str] = set()
        self.cluster = {"t": 3, "u": 1}
        self.events: list[Event] = []
        self.in_flight: list[tuple[int, MemberRequest]] = []
        self.broken: list[tuple[int, MemberRequest]] = []
        self.commits: list[Commit] = []
        self._done: list[str] = []
        auto_commit = named.get("auto-commit")
        self.member = ConsumerCoordinator(
            self.config, Recorder("g", "m0", lambda: self.now_ms, self._observe), member="m0",
            topics=re.compile(named["pattern"]) if "pattern" in named else ["t", "u"],
            assignors=[ASSIGNORS[name]() for name in self.assignors], partitions_per_topic=self.cluster,
            listener=self, refresh_metadata=(lambda: self.cluster) if "asks" in named else None,
            auto_commit_ms=int(auto_commit) if auto_commit else None,
        )  # fmt: skip
        self._taken: list[tuple[int, MemberRequest]] = []
        self.looks_up = "looks-up" in named
        if not self.looks_up:
            with_coordinator(self.member)
        self.events.clear()

    # ------------------------------------------------------------------------------------------------ what happens

    def on_partitions_assigned(self, partitions: Sequence[TopicPartition]) -> None:
        """Note the callback."""
        self._call("assigned", partitions)

    def on_partitions_revoked(self, partitions: Sequence[TopicPartition]) -> None:
        """Note the callback."""
        self._call("revoked", partitions)

    def on_partitions_lost(self, partitions: Sequence[TopicPartition]) -> None:
        """Note the callback."""
        self._call("lost", partitions)

    def _call(self, callback: str, partitions: Sequence[TopicPartition]) -> None:
        self._done.append(f"{callback} {names(partitions)}")
        if callback in self.failing:
            raise RebalanceCheckError(f"what the callback of {callback} raises")

    def _observe(self, event: Event) -> None:
        self.events.append(event)
        if isinstance(event, MembershipLost):
            self._done.append(f"membership of g{event.generation} lost ({event.reason})")

    def do(self, act: Callable[[], object]) -> str:
        """Let the application or the network do something; what the member did then, in order."""
        self._done.clear()
        try:
            act()
        except RebalanceCheckError as error:
            self._done.append(f"raises {str(error).partition(':')[0]}")
        self._answer_look_up()
        requests, self._taken = self._taken, []
        self.in_flight += requests
        return "; ".join([*self._done, *(text_of(request) for _, request in requests)])

    def poll(self) -> None:
        """The application polls; a look-up that is answered meanwhile does not end the poll."""
        self.member.poll(self.now_ms)
        if self._answer_look_up():
            self.member.poll(self.now_ms)

    def _answer_look_up(self) -> bool:
        """Reply to a look-up, unless the scenario does; whether the coordinator was found."""
        for number, request in self.member.take_requests():
            if not isinstance(request, FindCoordinatorRequest) or self.looks_up:
                self._taken.append((number, request))
                continue
            failed = FindCoordinatorReply(error=Error.COORDINATOR_NOT_AVAILABLE)
            self.member.receive(number, failed if "lookup" in self.failing else FOUND, self.now_ms)
            return not self.member.coordinator_unknown()
        return False

    def advance(self, duration_ms: int) -> None:
        """Let time pass, with the heartbeats that fall due."""
        end_ms = self.now_ms + duration_ms
        before = -1
        while (due := self.member.next_deadline()) is not None and before < due <= end_ms:
            before, self.now_ms = due, max(self.now_ms, due)
            self.member.tick(self.now_ms)
            self._answer_look_up()
        self.now_ms = end_ms
        self.member.tick(self.now_ms)

    def answer(self, api: str, reply: MemberReply | None, which: str = "") -> str:
        """Deliver the reply to a request of this API: the newest, the oldest, or one whose connection broke.

        Raises: RebalanceCheckError when no such request has been sent.
        """
        sent = self.broken if which == "broken" else self.in_flight
        waiting = [each for each in sent if api_of(each[1]) == api]
        if not waiting:
            listed = ", ".join(api_of(request) for _, request in sent) or "none"
            raise RebalanceCheckError(f"no {api} waits for a reply; those that wait: {listed}")
        number, request = waiting[0 if which == "oldest" else -1]
        sent.remove((number, request))
        self.broken += [(number, request)] if reply is None else []
        before = [commit.outcome for commit in self.commits]
        text = self.do(lambda: self.member.receive(number, reply, self.now_ms))
        changed = [commit for commit, was in zip(self.commits, before, strict=True) if commit.outcome != was]
        return "; ".join([part for part in (text, *(f"commit: {commit.outcome}" for commit in changed)) if part])


def names(partitions: Sequence[TopicPartition]) -> str:
    """``t-0,t-1``, or ``nothing``."""
    return ",".join(partition.name for partition in partitions) or "nothing"


def partitions_in(text: str) -> tuple[TopicPartition, ...]:
    """The partitions that ``t-0,u-0`` names."""
    split = [entry.rpartition("-") for entry in text.split(",") if entry]
    return tuple(TopicPartition(topic, int(index)) for topic, _, index in split)


def api_of(request: MemberRequest) -> str:
    """``JoinGroup`` of a `JoinGroupRequest`."""
    return type(request).__name__.removesuffix("Request")


def text_of(request: MemberRequest) -> str:
    """A request in words: its API, and what the coordinator needs of it."""
    match request:
        case JoinGroupRequest():
            said = read_subscription(request.protocols[0].metadata)
            owned = f" owning {names(said.owned)} of g{said.generation}" if said.owned else ""
            offered = [protocol.name for protocol in request.protocols]
            choice = f" offering {','.join(offered)}" if len(offered) > 1 else ""
            topics = "" if said.topics == ("t", "u") else f" for {','.join(said.topics) or 'no topic'}"
            return f"JoinGroup as {request.member_id or 'new member'}{topics}{owned}{choice}"
        case SyncGroupRequest(assignments=()):
            return f"SyncGroup g{request.generation_id}"
        case SyncGroupRequest():
            return (
                f"SyncGroup g{request.generation_id} assigning to {' '.join(a.member_id for a in request.assignments)}"
            )
        case HeartbeatRequest():
            return f"Heartbeat g{request.generation_id}"
        case LeaveGroupRequest():
            return f"LeaveGroup of {request.members[0].member_id or request.members[0].group_instance_id}"
        case OffsetCommitRequest():
            offsets = ",".join(f"{each.topic}-{each.partition}:{each.offset}" for each in request.offsets)
            return f"OffsetCommit g{request.generation_id} {offsets}"
        case _:
            return api_of(request)


# ---------------------------------------------------------------------------------------------------- the application


@LANGUAGE.verb("member", "eager|cooperative", "assignors instance auto-commit# stays looks-up pattern asks contract")
def member(scenario: ClientScenario, words: list[str], options: Options) -> str:
    """Begin with a consumer that subscribes to t (3 partitions) and u (1). ``assignors=`` lists its offers,
    ``instance=i`` makes it a static member, ``auto-commit=`` commits positions every so many ms, ``stays=yes`` keeps it
    a member when it closes. With ``looks-up=yes`` it has yet to find its coordinator, and the scenario replies to its
    look-ups; without, they are answered at once. ``pattern=t.*`` subscribes to a pattern; with ``asks=yes`` the
    consumer asks for the topics of the cluster before it joins. ``contract=kafka-python`` has it follow the rules of
    kafka-python 2.
    """
    scenario.begin(words[0], options)
    return ""


@LANGUAGE.verb("stable", "GENERATION", "assigned leads")
def stable(scenario: ClientScenario, words: list[str], options: Options) -> str:
    """Poll, and reply to JoinGroup and SyncGroup with NONE, until the member is stable in this generation."""
    done = [scenario.do(scenario.poll)]
    done.append(joined(scenario, words[0], options))
    done.append(scenario.do(scenario.poll))
    done.append(reply(scenario, ["SyncGroup", "NONE"], {"assigned": options.get("assigned", "")}))
    done.append(scenario.do(scenario.poll))
    return "; ".join(part for part in done if part)


@LANGUAGE.verb("poll", "[MS]")
def poll(scenario: ClientScenario, words: list[str], _: Options) -> str:
    """The application polls, so many ms later; no heartbeat is sent meanwhile."""
    scenario.now_ms += int(words[0]) if words else 0
    return scenario.do(scenario.poll)


@LANGUAGE.verb("advance", "MS")
def advance(scenario: ClientScenario, words: list[str], _: Options) -> str:
    """Time passes without a poll; the heartbeat thread acts."""
    return scenario.do(lambda: scenario.advance(int(words[0])))


@LANGUAGE.verb("rejoin")
def rejoin(scenario: ClientScenario, _words: list[str], _: Options) -> str:
    """The application enforces a rebalance at its next poll."""
    return scenario.do(lambda: scenario.member.request_rejoin("the application asked for it"))


@LANGUAGE.verb("subscribe", "TOPIC...")
def subscribe(scenario: ClientScenario, words: list[str], _: Options) -> str:
    """The application changes its subscription."""
    return scenario.do(lambda: scenario.member.subscribe(words))


@LANGUAGE.verb("unsubscribe")
def unsubscribe(scenario: ClientScenario, _words: list[str], _: Options) -> str:
    """The application unsubscribes from everything."""
    return scenario.do(lambda: scenario.member.unsubscribe(scenario.now_ms))


@LANGUAGE.verb("partitions", "[unseen]", "t# u# t1# v#")
def partitions(scenario: ClientScenario, words: list[str], options: Options) -> str:
    """The client learns how many partitions topics have: ``partitions t=4``; ``unseen``: the cluster alone knows."""
    scenario.cluster = {topic: int(count) for topic, count in options.items()}
    return "" if words else scenario.do(lambda: scenario.member.update_metadata(scenario.cluster))


@LANGUAGE.verb("topics")
def topics(scenario: ClientScenario, _words: list[str], _: Options) -> str:
    """Show the topics that the consumer is subscribed to."""
    return ",".join(scenario.member.subscription) or "none"


@LANGUAGE.verb("consumed", "TOPIC-PARTITION", "to#")
def consumed(scenario: ClientScenario, words: list[str], options: Options) -> str:
    """The application has processed a partition up to this offset."""
    (partition,) = partitions_in(words[0])
    return scenario.do(lambda: scenario.member.consumed(partition, int(options["to"])))


@LANGUAGE.verb("commit", "TOPIC-PARTITION", "offset#")
def commit(scenario: ClientScenario, words: list[str], options: Options) -> str:
    """The application commits an offset of one partition."""
    (partition,) = partitions_in(words[0])

    def send() -> None:
        scenario.commits.append(scenario.member.commit({partition: int(options.get("offset", "5"))}, scenario.now_ms))

    count = len(scenario.commits)
    text = scenario.do(send)
    refused = [f"commit: {each.outcome}" for each in scenario.commits[count:] if each.outcome != "pending"]
    return "; ".join([part for part in (text, *refused) if part])


@LANGUAGE.verb("close")
def close(scenario: ClientScenario, _words: list[str], _: Options) -> str:
    """The application closes the consumer."""
    return scenario.do(lambda: scenario.member.close(scenario.now_ms))


@LANGUAGE.verb("failing", "[assigned|revoked|lost|lookup]")
def failing(scenario: ClientScenario, words: list[str], _: Options) -> str:
    """From now on this callback raises, or the look-up of the coordinator fails; without a word all succeed."""
    scenario.failing = set(words)
    return ""


@LANGUAGE.verb("state")
def state(scenario: ClientScenario, _words: list[str], _: Options) -> str:
    """Show the member's state, its generation and member id, its partitions (and fetched ones, if fewer), and whether
    it knows its coordinator.
    """
    owned, fetchable = scenario.member.owned, scenario.member.fetchable()
    fetches = "" if owned == fetchable else f", fetches {names(fetchable)}"
    return f"{scenario.member.state}; {membership(scenario)}; owns {names(owned)}{fetches}{missing(scenario)}"


def membership(scenario: ClientScenario) -> str:
    """The membership: generation and member id, its member id alone, or neither."""
    generation = scenario.member.generation()
    if not generation.reset:
        return f"g{generation.generation_id} as {generation.member_id}"
    return f"no generation, {f'member id {generation.member_id}' if generation.member_id else 'no member id'}"


def missing(scenario: ClientScenario) -> str:
    """Says so when the coordinator must be looked up."""
    return "; coordinator unknown" if scenario.member.coordinator_unknown() else ""


# ---------------------------------------------------------------------------------------------------- the coordinator


@LANGUAGE.verb("joined", "GENERATION", "leads skip type name which")
def joined_verb(scenario: ClientScenario, words: list[str], options: Options) -> str:
    """The coordinator replies to a JoinGroup with NONE and this generation. ``leads=yes`` makes the member its leader
    (with ``skip=yes`` it must not assign); ``type=`` is another protocol type; ``which=`` is as in reply.
    """
    return joined(scenario, words[0], options)


def joined(scenario: ClientScenario, generation: str, options: Options) -> str:
    """Reply to a JoinGroup with NONE."""
    leads = "leads" in options
    me = JoinedMember(MEMBER_ID, write_subscription(Subscription(topics=("t", "u"))))
    answer = JoinGroupReply(
        generation_id=int(generation), protocol_name=options.get("name", scenario.assignors[0]), member_id=MEMBER_ID,
        leader=MEMBER_ID if leads else "other", members=(me,) if leads else (), protocol_type=options.get("type"),
        skip_assignment="skip" in options,
    )  # fmt: skip
    return scenario.answer("JoinGroup", answer, options.get("which", ""))


@LANGUAGE.verb("reply", "API ERROR", "assigned type name which id")
def reply(scenario: ClientScenario, words: list[str], options: Options) -> str:
    """The coordinator replies with an error, or with NONE; ``assigned=t-0,t-1`` is the assignment of a SyncGroup reply,
    ``id=`` the member id in a JoinGroup reply. The request is the newest of this API,
    ``which=oldest`` the oldest, ``which=broken`` one whose connection broke.
    """
    api, error = words[0], Error[words[1]]
    return scenario.answer(api, reply_to(api, error, options), options.get("which", ""))


def reply_to(api: str, error: Error, options: Options) -> MemberReply:
    """The reply of the coordinator to a request of this API.

    Raises: RebalanceCheckError for an API that members do not use.
    """
    match api:
        case "FindCoordinator":
            return FOUND if error is Error.NONE else FindCoordinatorReply(error=error)
        case "JoinGroup":
            return JoinGroupReply(error=error, member_id=options.get("id", ""))
        case "SyncGroup":
            work = write_assignment(Assignment(partitions=partitions_in(options.get("assigned", ""))))
            kind, name = options.get("type"), options.get("name")
            return SyncGroupReply(error=error, assignment=work, protocol_type=kind, protocol_name=name)
        case "Heartbeat":
            return HeartbeatReply(error=error)
        case "LeaveGroup":
            return LeaveGroupReply(error=error)
        case "OffsetCommit":
            return OffsetCommitReply(partitions=(("t", 0, error),))
        case _:
            raise RebalanceCheckError(
                f"{api!r} is no API of a member: use FindCoordinator, JoinGroup, SyncGroup, Heartbeat, "
                "LeaveGroup or OffsetCommit"
            )


@LANGUAGE.verb("disconnect", "API", "which")
def disconnect(scenario: ClientScenario, words: list[str], options: Options) -> str:
    """The connection breaks: the outcome of a request stays unknown."""
    return scenario.answer(words[0], None, options.get("which", ""))


# ---------------------------------------------------------------------------------------------------- the tables


@LANGUAGE.verb("table", "API ERROR|disconnect")
def table(scenario: ClientScenario, words: list[str], _: Options) -> str:
    """Reply with this error to a request of a member of its own, and poll. The member is stable in g1 and owns t-0; for
    SyncGroup and FindCoordinator it joins for the first time. The answer: when it sends its next JoinGroup by itself,
    its partitions, whether it knows its coordinator, and its acts.
    """
    api = words[0]
    scenario.begin("eager", {"looks-up": "yes"} if api == "FindCoordinator" else {})
    _until_sent(scenario, api)
    lost = words[1] == "disconnect"
    answer = None if lost else reply_to(api, Error[words[1]], {})
    replied = scenario.answer(api, answer)
    is_unknown = scenario.member.coordinator_unknown()
    polled = scenario.do(scenario.poll)
    unknown = "unknown" if is_unknown or scenario.member.coordinator_unknown() else "known"
    happened = [part for part in f"{replied}; {polled}".split("; ") if part and not part.startswith("JoinGroup")]
    row = [_next_join(scenario, polled), membership(scenario), f"coordinator {unknown}", "; ".join(happened)]
    return " | ".join(row).rstrip(" |")


def _until_sent(scenario: ClientScenario, api: str) -> None:
    """Let the member send a request of this API."""
    if api == "FindCoordinator":
        scenario.do(scenario.poll)
        return
    if api == "SyncGroup":
        scenario.do(scenario.poll)
        joined(scenario, "1", {})
        scenario.do(scenario.poll)
        return
    stable(scenario, ["1"], {"assigned": "t-0"})
    if api == "JoinGroup":
        rejoin(scenario, [], {})
        scenario.do(scenario.poll)
    elif api == "Heartbeat":
        scenario.do(lambda: scenario.advance(scenario.config.heartbeat_interval_ms))
    else:
        commit(scenario, ["t-0"], {})


def _next_join(scenario: ClientScenario, polled: str) -> str:
    """When the member sends its next JoinGroup by itself."""
    if "raises" in polled:
        return "raises"
    if "JoinGroup" in polled:
        return "joins at once"
    due = scenario.member.next_poll()
    if due is None or not scenario.member.rejoin_needed_or_pending():
        return "stays"
    return f"joins after {due - scenario.now_ms} ms"
