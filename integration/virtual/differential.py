"""Our coordinator and one of Kafka's live through the same random stories, and are compared after each line.

Kafka's is judged by claims of its own, too (`story_claims`).

Compared are all replies, whole, as their version of the wire carries them, the group as DescribeGroups shows it, its
generation and its leader. Member ids are those of the seed, on both sides. Where hash order decides in Kafka (who
leads, which protocol wins a tied vote), ours follows.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final

from rebalance_check.impl.coordinator.choices import Choices
from rebalance_check.impl.lockstep.transport import Observation
from rebalance_check.impl.messages import DescribedGroup, GroupReply, GroupRequest, JoinGroupReply, OffsetFetchReply
from rebalance_check.impl.stories import InProcess, Stage, perform
from rebalance_check.impl.stories.stage import Heard, settings_of
from rebalance_check.integration.virtual.codec import decoded
from rebalance_check.integration.virtual.coordinator import VirtualCoordinator, member_ids_of
from rebalance_check.integration.virtual.process import VirtualKafka
from rebalance_check.integration.virtual.random_stories import DEFAULT_STEPS, random_story
from rebalance_check.integration.virtual.release import Release
from rebalance_check.integration.virtual.story_claims import CLAIMS, Audience
from rebalance_check.integration.wire.replies import replies_to_wire
from rebalance_check.model.errors import Error, RebalanceCheckError

GROUP: Final = "g"
SHRINK_RUNS: Final = 600

DIFFERENTIAL: Final = "differential"
NAMES: Final = (DIFFERENTIAL, *(claim.name for claim in CLAIMS))
"""What a story can show: a difference from ours, or a broken claim."""

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Finding:
    """A story that ends in a difference (``name`` is `DIFFERENTIAL`) or in a broken claim, and what was told then."""

    name: str
    seed: int
    story: tuple[str, ...]
    told: tuple[str, ...]

    def __str__(self) -> str:
        """The story, as one could write it down, and its end."""
        return "\n".join([f"[{self.name}, seed {self.seed}]", *self.story, *(f"  {line}" for line in self.told)])


@dataclass(frozen=True, slots=True)
class Campaign:
    """What a campaign did; ``found`` has the first finding of each name for each claim, shrunk."""

    coordinator: str
    stories: int
    steps: int
    requests: int
    seconds: float
    found: tuple[Finding, ...]

    def __str__(self) -> str:
        """One line of figures."""
        return (
            f"{self.stories:,} stories on {self.coordinator}: {self.steps:,} steps compared or judged, "
            f"{self.requests:,} requests, {self.seconds:.1f} s ({self.requests / self.seconds:,.0f} requests/s), "
            f"{len(self.found)} findings"
        )


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

    def follow(self, observation: Observation, heard: Sequence[Heard]) -> None:
        """Kafka goes first: note what it chose in this step."""
        self.leader_id = observation.leader or ""
        for each in heard:
            if isinstance(each.reply, JoinGroupReply) and each.reply.error is Error.NONE:
                self.protocol_name = each.reply.protocol_name or ""


class Duet:
    """Both coordinators on stages of their own, at the beginning of a story; a context manager.

    ``names`` are the claims to judge, and `DIFFERENTIAL` to compare. The coordinator in Scala is only judged: what it
    does otherwise than the one in Java is known, and everywhere.
    """

    def __init__(self, kafka: VirtualKafka, setting: str, seed: int, names: Sequence[str]) -> None:
        config = settings_of(setting)
        if config is None:
            raise RebalanceCheckError(f"{setting!r} is no line of settings: a story here begins with one")
        self._release = kafka.release
        self._compares = DIFFERENTIAL in names and not kafka.release.scala
        self._choices = Followed()
        self._virtual = VirtualCoordinator(kafka, config, seed)
        self._in_process = InProcess(config, new_member_id=member_ids_of(seed), choices=self._choices)
        self._kafka, self._ours = Stage(self._virtual), Stage(self._in_process)
        claims = [claim for claim in CLAIMS if claim.name in names]
        self._audience = Audience(claims, config.max_size, self._virtual.observe(GROUP))
        self.steps = 0

    def __enter__(self) -> Duet:
        return self

    def __exit__(self, *_: object) -> None:
        self._virtual.close()

    def perform(self, line: str) -> tuple[str, tuple[str, ...]] | None:
        """Do a line on both; the name of a claim that this broke and how, or what each said if that differs."""
        for piece in self._pieces(line):
            said = perform(self._kafka, piece)
            observation = self._virtual.observe(GROUP)
            self.steps += 1
            broken = self._audience.see(piece, self._kafka, observation)
            if broken is not None:
                return broken[0], (broken[1],)
            self._choices.follow(observation, self._kafka.heard)
            echoed = perform(self._ours, piece) if self._compares else ""
            told = self._compared(said, echoed, observation) if self._compares else None
            if told is not None:
                return DIFFERENTIAL, (f"Kafka: {told[0]}", f"ours:  {told[1]}")
            self._kafka.heard.clear()
            self._ours.heard.clear()
        return None

    def _pieces(self, line: str) -> Iterator[str]:
        """Time passes from deadline to deadline, so that what happens at one of them is compared before the next."""
        command, _, duration = line.partition(" ")
        if command != "advance":
            yield line
            return
        end = self._kafka.now + int(duration)
        while (now := self._kafka.now) < end:
            deadlines = (self._virtual.next_deadline(), self._in_process.next_deadline() if self._compares else None)
            until = min([end, *(max(each, now + 1) for each in deadlines if each is not None)])
            yield f"advance {until - now}"

    def _compared(self, said: str, echoed: str, observation: Observation) -> tuple[str, str] | None:
        """What Kafka said or shows, and ours, where that differs."""
        replies = _replies(self._kafka.heard), _replies(self._ours.heard)
        answered = [[token for token, _ in each] for each in replies]
        if answered[0] != answered[1] or (said != echoed and not answered[0]):
            return said, echoed
        if replies[0] != replies[1] and not _is_known(self._release, *replies):
            return next((str(a), str(b)) for a, b in zip(*replies, strict=True) if a != b)
        groups = _shown(observation.described, observation), _shown(self._in_process.describe(GROUP), observation)
        if groups[0] != groups[1]:
            return str(groups[0]), str(groups[1])
        view = self._in_process.coordinator.inspect(GROUP)
        if view is None or observation.generation is None:
            return None
        inside = (observation.generation, observation.leader or ""), (view.generation, view.leader)
        return None if inside[0] == inside[1] else (str(inside[0]), str(inside[1]))


def _replies(heard: Sequence[Heard]) -> list[tuple[int, Any]]:
    return sorted(((each.token, _on_the_wire(each.request, each.reply)) for each in heard), key=lambda each: each[0])


@lru_cache(1 << 14)
def _on_the_wire(request: GroupRequest, reply: GroupReply) -> GroupReply:
    """A reply as its receiver reads it; members in a fixed order."""
    message = replies_to_wire([(request, reply)])
    message.with_header(correlation_id=0)
    read = decoded(request, bytes(message.encode(header=True)))
    if isinstance(read, JoinGroupReply):
        return replace(read, members=tuple(sorted(read.members, key=lambda member: member.member_id)))
    return read


def _is_known(release: Release, kafka: list[tuple[int, Any]], ours: list[tuple[int, Any]]) -> bool:
    """The one difference of the Java coordinator of Kafka 3.9 (`story_differences.IN_JAVA_3_9`)."""
    if not release.version.startswith("3.9."):
        return False
    differing = [(a[1], b[1]) for a, b in zip(kafka, ours, strict=True) if a != b]
    return all(
        isinstance(a, OffsetFetchReply) and (a.error, b.error) == (Error.REQUEST_TIMED_OUT, Error.NOT_COORDINATOR)
        for a, b in differing
    )


def _shown(group: DescribedGroup, observation: Observation) -> DescribedGroup:
    members = sorted(group.members, key=lambda member: member.member_id)
    if not observation.shows_assignments:
        members = [replace(member, assignment=b"") for member in members]
    return replace(group, members=tuple(members))


def finding_in(
    kafka: VirtualKafka, story: Sequence[str], seed: int, names: Sequence[str] = NAMES
) -> tuple[Finding | None, int]:
    """Tell a story: what is found first, and how many steps were compared or judged."""
    with Duet(kafka, story[0], seed, names) as duet:
        for index, line in enumerate(story[1:], 1):
            told = duet.perform(line)
            if told is not None:
                return Finding(told[0], seed, tuple(story[: index + 1]), told[1]), duet.steps
        return None, duet.steps


def shrunk(kafka: VirtualKafka, found: Finding) -> Finding:
    """The same finding (a difference must end in the same command) with as few lines as leaving out can reach."""
    runs, size = 0, max(1, (len(found.story) - 1) // 2)
    last = found.story[-1].split()[0]
    while size and runs < SHRINK_RUNS:
        start = 1
        while start < len(found.story) and runs < SHRINK_RUNS:
            without = (*found.story[:start], *found.story[start + size :])
            smaller, _ = finding_in(kafka, without, found.seed, (found.name,))
            runs += 1
            if smaller is not None and smaller.story[-1].split()[0] == last:
                found = smaller
            else:
                start += size
        size //= 2
    return found


def campaign(
    kafka: VirtualKafka,
    seeds: Sequence[int],
    *,
    steps: int = DEFAULT_STEPS,
    names: Sequence[str] = NAMES,
    faults: bool | None = None,
    progress: Progress | None = None,
) -> Campaign:
    """Tell the stories of ``seeds``. What is found is shrunk, and not looked for again.

    ``faults`` says whether stories have them; by default those of odd seeds do.
    """
    started, requests_before = time.monotonic(), kafka.requests
    performed, left = 0, list(names)
    found: list[Finding] = []
    for done, seed in enumerate(seeds, 1):
        story = random_story(seed, steps=steps, faults=faults)
        while left:
            finding, count = finding_in(kafka, story, seed, left)
            performed += count
            if finding is None:
                break
            found.append(shrunk(kafka, finding))
            left.remove(finding.name)
        if progress is not None:
            progress(done, len(seeds))
    return Campaign(
        kafka.release.name, len(seeds), performed, kafka.requests - requests_before, time.monotonic() - started,
        tuple(found),
    )  # fmt: skip
