"""Scenarios of a Connect worker's coordinator: its herder and its group do what the lines say, in virtual time."""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby
from typing import Final

from rebalance_check.impl.protocol.connect_protocol import ConnectAssignment, ConnectMode, read_worker_state
from rebalance_check.impl.protocol.messages import (
    GroupReply,
    HeartbeatRequest,
    JoinGroupReply,
    JoinGroupRequest,
    LeaveGroupReply,
    LeaveGroupRequest,
    MemberRequest,
    SyncGroupRequest,
)
from rebalance_check.impl.scenarios import Language, Options
from rebalance_check.model.vocabulary.errors import Error, RebalanceCheckError
from tests.impl.scripted_worker import Configs, ScriptedWorker, work

LANGUAGE: Final[Language[WorkerScenario]] = Language("worker scenarios")
REQUESTS: Final = {"JoinGroup": JoinGroupRequest, "SyncGroup": SyncGroupRequest, "LeaveGroup": LeaveGroupRequest}
ROUND: Final = "gets gives leader error# delay# mode"


class WorkerScenario:
    """A worker, and what it did since the last line: calls of its herder, and requests."""

    def __init__(self) -> None:
        self.begin(ConnectMode.SESSIONED, {})

    def begin(self, mode: ConnectMode, options: Options) -> None:
        """Start with a new worker."""
        configs = Configs(int(options.get("offset", "1")))
        self.worker = ScriptedWorker(mode, configs, revoke_on_downgrade="mends" in options)
        self.mode = mode
        self._seen: set[int] = set()

    def do(self, act: Callable[[], object]) -> str:
        """Let something happen; what the worker did then, in order."""
        done = []
        try:
            act()
        except (RebalanceCheckError, ValueError) as error:
            done.append(f"raises {error}")
        done = [*map(in_words, self.worker.took()), *done]
        new = [(number, one) for number, one in self.worker.waiting() if number not in self._seen]
        self._seen |= {number for number, _ in new}
        counted = [
            (text, len(list(same))) for text, same in groupby([*done, *(text_of(request) for _, request in new)])
        ]
        return "; ".join(text if count == 1 else f"{text} ({count} times)" for text, count in counted)

    def assignment(self, options: Options) -> ConnectAssignment:
        """The assignment of a line: ``gets=c0,c0-1 gives=c1``."""
        return work(
            options.get("gets", "").replace(",", " "), options.get("gives", "").replace(",", " "),
            leader=options.get("leader", "other"), error=int(options.get("error", "0")),
            delay_ms=int(options.get("delay", "0")),
        )  # fmt: skip

    def mode_of(self, options: Options) -> ConnectMode:
        """The mode of a round: that of the worker, unless the line says another."""
        return ConnectMode.parse(options["mode"]) if "mode" in options else self.mode


def in_words(call: tuple[object, ...]) -> str:
    """A call of the herder."""
    if call[0] == "assigned":
        return f"assigned {listed(call[1])} in g{call[2]}"
    return f"revokes {listed(call[2])} for {call[1]}"


def listed(names: object) -> str:
    """``c0,c0-1``, or ``nothing``."""
    return ",".join(names) if isinstance(names, tuple) and names else "nothing"


def text_of(request: MemberRequest) -> str:
    """A request in words: its API, and what the group needs of it."""
    match request:
        case JoinGroupRequest():
            states = [read_worker_state(offer.metadata) for offer in request.protocols]
            versions = [int.from_bytes(offer.metadata[:2], "big") for offer in request.protocols]
            offers = " ".join(f"{o.name}/v{v}" for o, v in zip(request.protocols, versions, strict=True))
            inner = {f"v{s.allocation.version}" for s in states if s.allocation.names}
            claim = f" claiming {listed(states[0].allocation.names)} ({' '.join(sorted(inner))})" if inner else ""
            reason = f" because {request.reason}" if request.reason else ""
            who, offset = request.member_id or "new member", states[0].config_offset
            return f"{request.protocol_type} JoinGroup as {who} at {offset}: {offers}{claim}{reason}"
        case LeaveGroupRequest():
            return f"LeaveGroup of {request.members[0].member_id} because {request.members[0].reason}"
        case SyncGroupRequest() | HeartbeatRequest():
            return f"{type(request).__name__.removesuffix('Request')} g{request.generation_id}"
        case _:
            return type(request).__name__.removesuffix("Request")


@LANGUAGE.verb("worker", "[eager|compatible|sessioned]", "offset# mends")
def worker(scenario: WorkerScenario, words: list[str], options: Options) -> str:
    """Begin with a worker of this mode that has read its config topic to ``offset=``; with ``mends=yes`` it revokes
    everything on a downgrade.
    """
    scenario.begin(ConnectMode.parse(words[0]) if words else ConnectMode.SESSIONED, options)
    return ""


@LANGUAGE.verb("round", "GENERATION", ROUND)
def round_(scenario: WorkerScenario, words: list[str], options: Options) -> str:
    """A round that another worker leads, from JoinGroup to the assignment: ``gets=c0,c0-1`` and ``gives=c1``."""
    assignment, mode = scenario.assignment(options), scenario.mode_of(options)
    return scenario.do(lambda: scenario.worker.round(int(words[0]), assignment, mode))


@LANGUAGE.verb("joined", "GENERATION", "mode")
def joined(scenario: WorkerScenario, words: list[str], options: Options) -> str:
    """The first half of a round: JoinGroup is answered."""
    return scenario.do(lambda: scenario.worker.joined(int(words[0]), scenario.mode_of(options)))


@LANGUAGE.verb("synced", "[no-bytes]", ROUND)
def synced(scenario: WorkerScenario, words: list[str], options: Options) -> str:
    """The second half: SyncGroup is answered with the assignment, or without one."""
    assignment = b"" if words else scenario.assignment(options)
    return scenario.do(lambda: scenario.worker.synced(assignment, scenario.mode_of(options)))


@LANGUAGE.verb("poll", "[MS]")
def poll(scenario: WorkerScenario, words: list[str], _: Options) -> str:
    """The herder polls, so many ms later."""
    return scenario.do(lambda: scenario.worker.poll(int(words[0]) if words else 0))


@LANGUAGE.verb("tick", "MS")
def tick(scenario: WorkerScenario, words: list[str], _: Options) -> str:
    """The heartbeat thread wakes up so many ms later."""
    return scenario.do(lambda: scenario.worker.tick(int(words[0])))


@LANGUAGE.verb("heartbeat", "[ERROR]", "times# polled")
def heartbeat(scenario: WorkerScenario, words: list[str], options: Options) -> str:
    """A heartbeat is sent and answered, ``times=`` times; with ``polled=yes`` the herder polls after each."""

    def beat() -> None:
        for _ in range(int(options.get("times", "1"))):
            scenario.worker.heartbeat(Error[words[0]] if words else Error.NONE)
            if "polled" in options:
                scenario.worker.poll()

    return scenario.do(beat)


@LANGUAGE.verb("reply", "JoinGroup|LeaveGroup ERROR|lost")
def reply(scenario: WorkerScenario, words: list[str], _: Options) -> str:
    """A request is refused, or its connection breaks."""
    api, error = words
    said: GroupReply | None = None
    if error != "lost":
        said = JoinGroupReply(error=Error[error]) if api == "JoinGroup" else LeaveGroupReply(error=Error[error])
    return scenario.do(lambda: scenario.worker.answer(REQUESTS[api], said))


@LANGUAGE.verb("rejoin")
def rejoin(scenario: WorkerScenario, _words: list[str], _: Options) -> str:
    """The herder asks for a rejoin; the next poll joins."""
    return scenario.do(lambda: scenario.worker.coordinator.request_rejoin("something was reconfigured"))


@LANGUAGE.verb("read", "OFFSET")
def read(scenario: WorkerScenario, words: list[str], _: Options) -> str:
    """The config topic is read on."""
    scenario.worker.configs.offset = int(words[0])
    return ""


@LANGUAGE.verb("coordinator", "lost|unreachable|found")
def coordinator(scenario: WorkerScenario, words: list[str], _: Options) -> str:
    """The coordinator is lost and cannot be found; it cannot be found from now on; it can be found again."""
    scenario.worker.reachable = words[0] == "found"

    def lose() -> None:
        while words[0] == "lost" and not scenario.worker.coordinator.coordinator_unknown():
            scenario.worker.lose_coordinator()

    return scenario.do(lose)


@LANGUAGE.verb("herder", "slow|prompt|raises")
def herder(scenario: WorkerScenario, words: list[str], _: Options) -> str:
    """Work takes time to stop, or stops at once; or the next call of the herder raises."""
    scenario.worker.stops_at_once = words[0] != "slow"
    scenario.worker.raises = ValueError("the herder cannot take it") if words[0] == "raises" else None
    return ""


@LANGUAGE.verb("wake-up")
def wake_up(scenario: WorkerScenario, _words: list[str], _: Options) -> str:
    """Another thread wakes the herder up."""
    return scenario.do(scenario.worker.coordinator.wake_up)


@LANGUAGE.verb("leave")
def leave(scenario: WorkerScenario, _words: list[str], _: Options) -> str:
    """The herder leaves the group without closing."""

    def act() -> None:
        scenario.worker.coordinator.maybe_leave_group("reading takes too long", scenario.worker.now_ms)
        scenario.worker.tick()

    return scenario.do(act)


@LANGUAGE.verb("close")
def close(scenario: WorkerScenario, _words: list[str], _: Options) -> str:
    """The worker ends."""

    def act() -> None:
        scenario.worker.coordinator.close(scenario.worker.now_ms)
        scenario.worker.tick()

    return scenario.do(act)


@LANGUAGE.verb("state")
def state(scenario: WorkerScenario, _words: list[str], _: Options) -> str:
    """Show member id, generation and last completed generation; mode; claim; the config offset of the last join."""
    one = scenario.worker.coordinator
    claim = one.assignment
    held = "no claim" if claim is None else f"claims {listed(claim.names)}, gave {listed(claim.revoked_names)}"
    delay = f", delay {claim.delay_ms}" if claim is not None and claim.delay_ms else ""
    joins = ", needs to join" if one.rejoin_needed_or_pending() else ""
    leads = ", leads" if one.is_leader() else ""
    who = f"{one.member_id() or 'no id'} in g{one.generation_id()} after g{one.last_completed_generation()}"
    return f"{who}, {one.mode}{leads}{joins}; {held}{delay}; configs {one.config_state.offset}"
