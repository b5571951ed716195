"""Our coordinator and one of Kafka's live through the same random stories, and are compared after each line.

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
from rebalance_check.impl.messages import DescribedGroup, GroupReply, GroupRequest, JoinGroupReply
from rebalance_check.impl.stories import InProcess, Stage, perform
from rebalance_check.impl.stories.stage import Heard, settings_of
from rebalance_check.integration.virtual.codec import decoded
from rebalance_check.integration.virtual.coordinator import VirtualCoordinator, member_ids_of
from rebalance_check.integration.virtual.process import VirtualKafka
from rebalance_check.integration.virtual.random_stories import DEFAULT_STEPS, random_story
from rebalance_check.integration.wire.replies import replies_to_wire
from rebalance_check.model.errors import Error, RebalanceCheckError

GROUP: Final = "g"
SHRINK_RUNS: Final = 600

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class StoryDifference:
    """Where the two parted: the story up to there, and what each said in the end."""

    seed: int
    story: tuple[str, ...]
    kafka: str
    ours: str

    def __str__(self) -> str:
        """The story, as one could write it down, and the two ends of it."""
        return "\n".join([f"[seed {self.seed}]", *self.story, f"  Kafka: {self.kafka}", f"  ours:  {self.ours}"])


@dataclass(frozen=True, slots=True)
class Compared:
    """What a campaign did, and the differences it found, shrunk."""

    coordinator: str
    stories: int
    steps: int
    requests: int
    seconds: float
    differences: tuple[StoryDifference, ...]

    def __str__(self) -> str:
        """One line of figures."""
        return (
            f"{self.stories:,} stories on {self.coordinator}: {self.steps:,} comparisons, {self.requests:,} requests, "
            f"{len(self.differences)} differences, {self.seconds:.1f} s ({self.requests / self.seconds:,.0f} requests/s)"
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
    """Both coordinators on stages of their own, at the beginning of a story; a context manager."""

    def __init__(self, kafka: VirtualKafka, setting: str, seed: int) -> None:
        config = settings_of(setting)
        if config is None:
            raise RebalanceCheckError(f"{setting!r} is no line of settings: a story here begins with one")
        self._choices = Followed()
        self._virtual = VirtualCoordinator(kafka, config, seed)
        self._in_process = InProcess(config, new_member_id=member_ids_of(seed), choices=self._choices)
        self._kafka, self._ours = Stage(self._virtual), Stage(self._in_process)
        self.compared = 0

    def __enter__(self) -> Duet:
        return self

    def __exit__(self, *_: object) -> None:
        self._virtual.close()

    def perform(self, line: str) -> tuple[str, str] | None:
        """Do a line on both; what each said if that differs."""
        for piece in self._pieces(line):
            said = perform(self._kafka, piece)
            observation = self._virtual.observe(GROUP)
            self._choices.follow(observation, self._kafka.heard)
            echoed = perform(self._ours, piece)
            self.compared += 1
            if (told := self._compared(said, echoed, observation)) is not None:
                return told
            self._kafka.heard.clear()
            self._ours.heard.clear()
        return None

    def _pieces(self, line: str) -> Iterator[str]:
        """Time passes from deadline to deadline, so that what happens at one of them is compared before the next."""
        command, _, duration = line.partition(" ")
        if command != "advance":
            yield line
            return
        end = self._ours.now + int(duration)
        while self._ours.now < end:
            deadlines = (self._virtual.next_deadline(), self._in_process.next_deadline())
            until = min([end, *(max(each, self._ours.now + 1) for each in deadlines if each is not None)])
            yield f"advance {until - self._ours.now}"

    def _compared(self, said: str, echoed: str, observation: Observation) -> tuple[str, str] | None:
        replies = _replies(self._kafka.heard), _replies(self._ours.heard)
        answered = [[token for token, _ in each] for each in replies]
        if answered[0] != answered[1] or (said != echoed and not answered[0]):
            return said, echoed
        if replies[0] != replies[1]:
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


def _shown(group: DescribedGroup, observation: Observation) -> DescribedGroup:
    members = sorted(group.members, key=lambda member: member.member_id)
    if not observation.shows_assignments:
        members = [replace(member, assignment=b"") for member in members]
    return replace(group, members=tuple(members))


def difference_in(kafka: VirtualKafka, story: Sequence[str], seed: int) -> tuple[StoryDifference | None, int]:
    """Tell a story to both: the first difference, and how many comparisons were made."""
    with Duet(kafka, story[0], seed) as duet:
        for index, line in enumerate(story[1:], 1):
            told = duet.perform(line)
            if told is not None:
                return StoryDifference(seed, tuple(story[: index + 1]), *told), duet.compared
        return None, duet.compared


def shrunk(kafka: VirtualKafka, found: StoryDifference) -> StoryDifference:
    """The same kind of difference (it ends in the same command) with as few lines as leaving out can reach."""
    runs, size = 0, max(1, (len(found.story) - 1) // 2)
    last = found.story[-1].split()[0]
    while size and runs < SHRINK_RUNS:
        start, smaller = 1, None
        while start < len(found.story) and runs < SHRINK_RUNS:
            without = (*found.story[:start], *found.story[start + size :])
            smaller, _ = difference_in(kafka, without, found.seed)
            runs += 1
            if smaller is not None and smaller.story[-1].split()[0] == last:
                found = smaller
            else:
                start += size
        size //= 2
    return found


def compare(
    kafka: VirtualKafka,
    seeds: Sequence[int],
    *,
    steps: int = DEFAULT_STEPS,
    faults: bool | None = None,
    stop_after: int = 5,
    progress: Progress | None = None,
) -> Compared:
    """Tell the stories of ``seeds``, until there are ``stop_after`` differences; these are shrunk."""
    started, requests_before = time.monotonic(), kafka.requests
    stories = compared = 0
    found: list[StoryDifference] = []
    for seed in seeds:
        difference, count = difference_in(kafka, random_story(seed, steps=steps, faults=faults), seed)
        stories, compared = stories + 1, compared + count
        if difference is not None:
            found.append(shrunk(kafka, difference))
        if progress is not None:
            progress(stories, len(seeds))
        if len(found) >= stop_after:
            break
    return Compared(
        kafka.release.name, stories, compared, kafka.requests - requests_before, time.monotonic() - started,
        tuple(found),
    )  # fmt: skip
