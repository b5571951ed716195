"""One scenario on two coordinators at once: Kafka's, and ours, which follows where hash order decides.

Kafka's goes first. `SideBySide.begin` sends it the requests of a step, `SideBySide.finish` compares and judges what
came of them. Between the two, other scenarios may begin their next step, so that many share a round trip.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from rebalance_check.impl.coordinator.hash_order import Choices
from rebalance_check.impl.protocol.messages import (
    DescribedGroup,
    GroupReply,
    GroupRequest,
    JoinGroupReply,
    OffsetFetchReply,
)
from rebalance_check.impl.scenarios import ScenarioRunner, perform
from rebalance_check.impl.scenarios.random_scenarios import AGEING
from rebalance_check.impl.scenarios.recorded import GROUP, RecordedRunner, in_order, pieces
from rebalance_check.impl.scenarios.runner import Observed, settings_of
from rebalance_check.impl.steered.coordinator import Observation
from rebalance_check.impl.steered.in_process import InProcess
from rebalance_check.integration.virtual.codec import decoded
from rebalance_check.integration.virtual.coordinator import VirtualCoordinator, member_ids_of
from rebalance_check.integration.virtual.process import VirtualKafka
from rebalance_check.integration.virtual.release import Release
from rebalance_check.integration.wire.replies import replies_to_wire
from rebalance_check.model.vocabulary.errors import Error, RebalanceCheckError
from rebalance_check.model.vocabulary.events import GroupDescribed, ReplyReceived, RunStarted
from rebalance_check.properties.catalogue import CATALOGUE, select
from rebalance_check.properties.judge import Judge

DIFFERENTIAL: Final = "differential"
JUDGED: Final = tuple(
    invariant.name
    for invariant in CATALOGUE
    if any(way[0] & {GroupDescribed, ReplyReceived} for way in invariant.needs)
)
"""The invariants that the steps of a scenario on Kafka's coordinator put to the test."""

NAMES: Final = (DIFFERENTIAL, *JUDGED)
"""What a scenario can show: a difference from ours, or a violated invariant."""

Shown = tuple[str, tuple[str, ...]]
"""The name of an invariant that a step violates and how, or `DIFFERENTIAL` and what each coordinator answered."""


class Followed(Choices):
    """What hash order decided in Kafka; where Kafka does not show it, the rule of `Choices`."""

    __slots__ = ("leader_id", "protocol_name")

    def __init__(self) -> None:
        self.leader_id = ""
        self.protocol_name = ""

    def leader(self, candidates: Sequence[str]) -> str:
        """Who leads in Kafka."""
        return self.leader_id if self.leader_id in candidates else super().leader(candidates)

    def protocol(self, candidates: Sequence[str]) -> str:
        """What won in Kafka."""
        return self.protocol_name if self.protocol_name in candidates else super().protocol(candidates)

    def follow(self, observation: Observation, observed: Sequence[Observed]) -> None:
        """Kafka goes first: note what it chose in this step."""
        self.leader_id = observation.leader or ""
        for each in observed:
            if isinstance(each.reply, JoinGroupReply) and each.reply.error is Error.NONE:
                self.protocol_name = each.reply.protocol_name or ""


def is_compared(release: Release, setting: str) -> bool:
    """Whether Kafka must do as ours in a scenario.

    The coordinator in Scala never need; the older one in Java only where nothing ages, for it deletes groups with open
    transactions.
    """
    return not release.scala and (not release.version.startswith("3.9.") or AGEING not in setting)


class SideBySide:
    """Both coordinators on stages of their own, at the beginning of a scenario; a context manager.

    ``names`` are the invariants to judge, and `DIFFERENTIAL` to compare, where it `is_compared`.
    """

    def __init__(self, kafka: VirtualKafka, setting: str, seed: int, names: Sequence[str]) -> None:
        config = settings_of(setting)
        if config is None:
            raise RebalanceCheckError(f"{setting!r} is no line of settings: a scenario here begins with one")
        self._release = kafka.release
        self._compares = DIFFERENTIAL in names and is_compared(kafka.release, setting)
        self._choices = Followed()
        self._virtual = VirtualCoordinator(kafka, config, seed)
        self._virtual.defers = True
        self._in_process = InProcess(config, new_member_id=member_ids_of(seed), choices=self._choices)
        self._in_process.advance(0)  # its incarnation begins when Kafka's does
        judged = [name for name in names if name != DIFFERENTIAL]
        self._judge = Judge(select(judged) if judged else ())
        self._judge.observe(RunStarted(subject=kafka.release.name))
        self._kafka, self._ours = (
            RecordedRunner(self._virtual, config, self._judge.observe),
            ScenarioRunner(self._in_process),
        )
        self._deadline: int | None = None
        self._begun = ("", "", 0)
        self.steps = 0

    def __enter__(self) -> SideBySide:
        return self

    def __exit__(self, *_: object) -> None:
        self._virtual.close()

    def begin(self, piece: str) -> None:
        """Send Kafka what a piece of a line says."""
        sent = self._kafka.sent
        self._kafka.start_step(piece)
        said = perform(self._kafka, piece)
        self._begun = piece, said, sent
        self._virtual.look(GROUP)

    def finish(self) -> Shown | None:
        """Collect what came of it, do the same to ours, compare and judge: what is wrong, if anything is."""
        piece, said, sent = self._begun
        answers, observation, self._deadline = self._virtual.collect()
        own = self._kafka.sent if self._kafka.sent > sent else None
        said = self._kafka.deliver(answers, own) or said
        self.steps += 1
        self._kafka.end_step(observation, self._virtual.take_thrown())
        if broken := next(iter(self._judge.judgement().counterexamples), None):
            return broken.invariant, (broken.headline,)
        self._choices.follow(observation, self._kafka.observed)
        echoed = perform(self._ours, piece) if self._compares else ""
        differing_replies = self._compared(said, echoed, observation) if self._compares else None
        for runner in (self._kafka, self._ours):
            runner.observed.clear()
        return (
            None
            if differing_replies is None
            else (DIFFERENTIAL, (f"Kafka: {differing_replies[0]}", f"ours:  {differing_replies[1]}"))
        )

    def pieces(self, line: str) -> Iterator[str]:
        """The steps of a line: time passes to the next timer of either coordinator, and both are compared there."""
        return pieces(self._kafka, line, self._deadlines)

    def _deadlines(self) -> tuple[int | None, ...]:
        return self._deadline, self._in_process.next_deadline() if self._compares else None

    def _compared(self, said: str, echoed: str, observation: Observation) -> tuple[str, str] | None:
        """What Kafka said or shows, and ours, where that differs."""
        observed, ours = _by_token(self._kafka.observed), _by_token(self._ours.observed)
        answered = [[each.token for each in all_] for all_ in (observed, ours)]
        if answered[0] != answered[1] or (said != echoed and not answered[0]):
            return said, echoed
        differing = [pair for a, b in zip(observed, ours, strict=True) if (pair := _difference(a, b)) is not None]
        if differing and not all(_is_known(self._release, *pair) for pair in differing):
            return str(differing[0][0]), str(differing[0][1])
        groups = _shown(observation.described, observation), _shown(self._in_process.describe(GROUP), observation)
        if groups[0] != groups[1]:
            return str(groups[0]), str(groups[1])
        view = self._in_process.coordinator.inspect(GROUP)
        if view is None or observation.generation is None:
            return None
        inside = (observation.generation, observation.leader or ""), (view.generation, view.leader)
        return None if inside[0] == inside[1] else (str(inside[0]), str(inside[1]))


def _by_token(observed: Sequence[Observed]) -> list[Observed]:
    return sorted(observed, key=lambda each: each.token)


def _difference(kafka: Observed, ours: Observed) -> tuple[GroupReply, GroupReply] | None:
    """Both replies, where they differ in what their version of the wire carries. What was read from a wire is as the
    wire carries it, so that most often there is nothing to translate."""
    observed, said = _sorted(kafka.reply), _sorted(ours.reply)
    if observed == said:
        return None
    carried = _sorted(_on_the_wire(ours.request, ours.reply))
    return None if observed == carried else (observed, carried)


def _sorted(reply: GroupReply) -> GroupReply:
    """A reply with its members in a fixed order."""
    if isinstance(reply, JoinGroupReply) and reply.members:
        return replace(reply, members=tuple(sorted(reply.members, key=lambda member: member.member_id)))
    return reply


def _on_the_wire(request: GroupRequest, reply: GroupReply) -> GroupReply:
    """A reply as its receiver reads it."""
    message = replies_to_wire([(request, reply)])
    message.with_header(correlation_id=0)
    return decoded(request, bytes(message.encode(header=True)))


def _is_known(release: Release, kafka: GroupReply, ours: GroupReply) -> bool:
    """The one difference of the Java coordinator of Kafka 3.9 (`scenario_differences.IN_JAVA_3_9`)."""
    found = (kafka.error, ours.error) == (Error.REQUEST_TIMED_OUT, Error.NOT_COORDINATOR)
    return release.version.startswith("3.9.") and isinstance(kafka, OffsetFetchReply) and found


def _shown(group: DescribedGroup, observation: Observation) -> DescribedGroup:
    if observation.shows_assignments:
        return in_order(group)
    return in_order(replace(group, members=tuple(replace(member, assignment=b"") for member in group.members)))
