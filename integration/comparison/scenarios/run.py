"""One scenario on two coordinators at once: Kafka's, and ours, which follows where hash order decides.

Kafka's goes first. Every step is compared, and judged by the invariants.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from typing import Any, Final, NamedTuple

from rebalance_check.impl.comparison.difference import Difference, Field, differing
from rebalance_check.impl.comparison.known import known
from rebalance_check.impl.coordinator.hash_order import Choices
from rebalance_check.impl.protocol.messages import DescribedGroup, GroupReply, GroupRequest, JoinGroupReply
from rebalance_check.impl.scenarios import ScenarioRunner, perform
from rebalance_check.impl.scenarios.random_scenarios import AGEING
from rebalance_check.impl.scenarios.recorded import GROUP, RecordedRunner, in_order, pieces
from rebalance_check.impl.scenarios.runner import Observed, settings_of
from rebalance_check.impl.steered.coordinator import Observation
from rebalance_check.impl.steered.in_process import InProcess
from rebalance_check.integration.comparison.scenarios.known import KNOWN
from rebalance_check.integration.jvm.release import Release
from rebalance_check.integration.virtual.codec import decoded
from rebalance_check.integration.virtual.coordinator import VirtualCoordinator, member_ids_of
from rebalance_check.integration.virtual.process import VirtualKafka
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
"""The findings that a scenario can have: a difference from ours, or a violated invariant."""

OURS: Final = "ours"

THE_INVARIANTS: Final = "the invariants"
"""The second side of a difference that is a violation."""


class Followed(Choices):
    """The choices of hash order in Kafka; where Kafka does not show one, the rule of `Choices`."""

    __slots__ = ("leader_id", "protocol_name")

    def __init__(self) -> None:
        self.leader_id = ""
        self.protocol_name = ""

    def leader(self, candidates: Sequence[str]) -> str:
        """The leader in Kafka."""
        return self.leader_id if self.leader_id in candidates else super().leader(candidates)

    def protocol(self, candidates: Sequence[str]) -> str:
        """The protocol that won in Kafka."""
        return self.protocol_name if self.protocol_name in candidates else super().protocol(candidates)

    def follow(self, observation: Observation, observed: Sequence[Observed]) -> None:
        """Kafka goes first: note its choice in this step."""
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


class Origin(NamedTuple):
    """A difference in a scenario: its name, `DIFFERENTIAL` or that of an invariant, and the scenario's seed."""

    name: str
    seed: int


class ScenarioRun:
    """A `rebalance_check.impl.comparison.compare.Run` of a scenario, whose first line is the settings, on both.

    ``names`` are the invariants to judge, and `DIFFERENTIAL` to compare, where Kafka's `is_compared`. Kafka goes first.
    """

    def __init__(self, kafka: VirtualKafka, scenario: Sequence[str], seed: int, names: Sequence[str] = NAMES) -> None:
        config = settings_of(scenario[0])
        if config is None:
            raise RebalanceCheckError(f"{scenario[0]!r} is no line of settings: a scenario here begins with one")
        self.scenario, self.seed, self.names = tuple(scenario), seed, names
        self.compared = 0
        self.known: Counter[str] = Counter()
        self._release = kafka.release
        self._compares = DIFFERENTIAL in names and is_compared(kafka.release, scenario[0])
        self._choices = Followed()
        self._virtual = VirtualCoordinator(kafka, config, seed)
        self._virtual.defers = True
        self._in_process = InProcess(config, new_member_id=member_ids_of(seed), choices=self._choices)
        self._in_process.advance(0)  # its incarnation begins when Kafka's does
        judged = [name for name in names if name != DIFFERENTIAL]
        self._judge = Judge(select(judged) if judged else ())
        self._judge.observe(RunStarted(subject=kafka.release.name))
        self._kafka = RecordedRunner(self._virtual, config, self._judge.observe)
        self._ours = ScenarioRunner(self._in_process)
        self._deadline: int | None = None
        self._begun = ("", "", 0)
        self._at = 0
        self._pieces = self._in_pieces()

    @property
    def steps(self) -> Sequence[str]:
        """The lines so far, with the settings."""
        return self.scenario[: self._at + 1]

    def close(self) -> None:
        """Give Kafka's environment back."""
        self._virtual.close()

    def begin(self) -> bool:
        """Send Kafka the next piece of a line; False at the end of the scenario."""
        piece = next(self._pieces, None)
        if piece is None:
            return False
        sent = self._kafka.sent
        self._kafka.start_step(piece)
        said = perform(self._kafka, piece)
        self._begun = piece, said, sent
        self._virtual.look(GROUP)
        return True

    def finish(self) -> Difference | None:
        """Collect the replies, do the same to ours, compare and judge."""
        piece, said, sent = self._begun
        answers, observation, self._deadline = self._virtual.collect()
        own = self._kafka.sent if self._kafka.sent > sent else None
        said = self._kafka.deliver(answers, own) or said
        self.compared += 1
        self._kafka.end_step(observation, self._virtual.take_thrown())
        if broken := next(iter(self._judge.judgement().counterexamples), None):
            return self._found(broken.invariant, (Field(broken.invariant, broken.headline, "hold"),))
        self._choices.follow(observation, self._kafka.observed)
        found = self._difference(said, perform(self._ours, piece), observation) if self._compares else None
        for runner in (self._kafka, self._ours):
            runner.observed.clear()
        return found

    def _difference(self, said: str, echoed: str, observation: Observation) -> Difference | None:
        """Of the replies first, which explain the rest; where these are alike, or known to differ, of the group."""
        for parts in (self._of_replies(said, echoed), self._of_group(observation)):
            if parts and (found := self._found(DIFFERENTIAL, parts)) is not None:
                return found
        return None

    def _found(self, name: str, parts: tuple[Field, ...]) -> Difference | None:
        """A difference, unless it is a known one, after which the run goes on."""
        other = OURS if name == DIFFERENTIAL else THE_INVARIANTS
        kind = f"{name} {self.steps[-1].split()[0]}"
        origin = Origin(name, self.seed)
        found = Difference(
            (self._release.name, other), tuple(self.steps), parts, f"seed {self.seed}", kind, start=origin
        )
        entry = known(KNOWN, self._release, found)
        if entry is not None:
            self.known[entry.name] += 1
        return found if entry is None else None

    def _in_pieces(self) -> Iterator[str]:
        """The steps of each line: time passes to the next timer of either coordinator, and both are compared there."""
        for at, line in enumerate(self.scenario[1:], 1):
            self._at = at
            yield from pieces(self._kafka, line, self._deadlines)

    def _deadlines(self) -> tuple[int | None, ...]:
        return self._deadline, self._in_process.next_deadline() if self._compares else None

    def _of_replies(self, said: str, echoed: str) -> tuple[Field, ...]:
        observed, ours = _by_token(self._kafka.observed), _by_token(self._ours.observed)
        answered = [[each.token for each in all_] for all_ in (observed, ours)]
        if answered[0] != answered[1] or (said != echoed and not answered[0]):
            return (Field("answers", said, echoed),)
        replies = (_of_reply(a, b) for a, b in zip(observed, ours, strict=True))
        return tuple(each for each in replies if each is not None)

    def _of_group(self, observation: Observation) -> tuple[Field, ...]:
        """The group as DescribeGroups shows it, and an insider's view of it."""
        described = self._in_process.describe(GROUP)
        shown, ours = _shown(observation.described, observation), _shown(described, observation)
        view = self._in_process.coordinator.inspect(GROUP)
        if view is not None and observation.generation is not None:
            shown |= {"generation": observation.generation, "leader": observation.leader or ""}
            ours |= {"generation": view.generation, "leader": view.leader}
        return differing(shown, ours)


def _by_token(observed: Sequence[Observed]) -> list[Observed]:
    return sorted(observed, key=lambda each: each.token)


def _of_reply(kafka: Observed, ours: Observed) -> Field | None:
    """Both replies, where they differ in fields that their version of the wire carries. One read from a wire is as the
    wire carries it, so that most often there is nothing to translate."""
    observed, said = _sorted(kafka.reply), _sorted(ours.reply)
    if observed == said:
        return None
    carried = _sorted(_on_the_wire(ours.request, ours.reply))
    return None if observed == carried else Field(f"the reply to request {ours.token}", observed, carried)


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


def _shown(group: DescribedGroup, observation: Observation) -> dict[str, Any]:
    """The group as DescribeGroups shows it, field by field; assignments only where Kafka shows them."""
    if not observation.shows_assignments:
        group = replace(group, members=tuple(replace(member, assignment=b"") for member in group.members))
    return {field.name: getattr(in_order(group), field.name) for field in fields(group)}
