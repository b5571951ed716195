"""Rounds of an assignor under test, in a Hypothesis state machine to be subclassed.

Members come, go, are cut off, return with old claims, want other topics, and claim partitions that do not exist;
topics are made, grow and vanish. Each answer is held to the claims about assignments
(`properties.assignment.claims`). In the end the group is left alone: claims about several rounds judge it then.
"""

from __future__ import annotations

from typing import ClassVar, Final

from hypothesis import event
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from rebalance_check.impl.assignors.assignor import Assignor
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.properties.assignment.claims import CLAIMS, Broken, broken_claims
from rebalance_check.properties.assignment.courses import Course, Round, broken_course_claims
from rebalance_check.properties.assignment.problem import ASSIGNORS, Partition
from rebalance_check.properties.machines.assignor_rounds import AssignorGroup

MEMBERS: Final = st.sampled_from(("m0", "m1", "m2", "m3", "m4"))
TOPICS: Final = st.sampled_from(("a", "b", "c"))
WISHES: Final = st.one_of(st.just(("a", "b", "c")), st.just(("a", "b")), st.lists(TOPICS, max_size=4).map(tuple))
"""Some wish alike, since assignors have a way of their own for that; a topic may be named twice."""

CLAIMED: Final = st.lists(st.tuples(TOPICS, st.integers(-1, 7)), max_size=4).map(tuple)
GARBLED: Final = st.sampled_from((None, b"", b"\x00", b"\xff\xff\xff\xff", b"\x00\x00\x00\x7f no partitions"))
"""User data in no format; the last has a length that is longer than its rest."""

RACKS: Final = st.sampled_from(("r0", "r1", None))
ROUND: Final = st.one_of(st.none(), MEMBERS)
"""Whether a rebalance follows at once, and who leads it."""

QUIET_ROUNDS: Final = 4
"""After the last step a cooperative group needs two rounds; the others show that nothing changes any more."""


class AssignmentClaimBrokenError(AssertionError):
    """An answer of the assignor under test is none that the claims allow."""


class AssignorMachine(RuleBasedStateMachine):
    """Holds an assignor to the claims about assignments: a subclass says how one is made.

    ``new_assignor`` is the only method that a subclass defines; each member of a group has an assignor of its own. Its
    ``TestCase`` is a test for pytest and unittest::

        class MyAssignor(AssignorMachine):
            def new_assignor(self) -> Assignor:
                return RangeAssignor()

        TestMyAssignor = MyAssignor.TestCase

    ``strategy`` names the assignor of Kafka whose claims it is held to, ``range`` for one; "" takes those of the
    assignor's own name, or those about every assignor where Kafka has none of that name.
    """

    strategy: ClassVar[str] = ""

    def __init__(self) -> None:
        super().__init__()
        self.group = AssignorGroup(self.new_assignor)
        self.held_to = self.strategy or self.new_assignor().name

    def new_assignor(self) -> Assignor:
        """The assignor of one more client, to be defined by the subclass.

        Raises: RebalanceCheckError here, where no assignor is known.
        """
        raise RebalanceCheckError(f"{type(self).__name__} has no assignor: define new_assignor")

    @initialize(
        counts=st.dictionaries(TOPICS, st.integers(1, 6), min_size=1),
        sizes=st.integers(1, 4),
        wishes=WISHES,
        are_static=st.booleans(),
        are_old=st.booleans(),
        racks=st.one_of(st.none(), st.lists(RACKS, min_size=5, max_size=5)),
    )
    def begin(
        self,
        *,
        counts: dict[str, int],
        sizes: int,
        wishes: tuple[str, ...],
        are_static: bool,
        are_old: bool,
        racks: list[str | None] | None,
    ) -> None:
        """Some members that wish alike, and topics; with racks perhaps, which then all members and replicas have."""
        self.group.are_static, self.group.are_old = are_static, are_old
        self.group.member_racks = tuple(racks) if racks else ()
        for topic, count in sorted(counts.items()):
            self.group.grow(topic, count)
        for number in range(sizes):
            self.group.join(f"m{number}", wishes)
        self._rebalance("m0")

    @rule(member=MEMBERS, wishes=WISHES, leader=ROUND)
    def join(self, member: str, wishes: tuple[str, ...], leader: str | None) -> None:
        """A process starts."""
        self.group.join(member, wishes)
        self._rebalance(leader)

    @rule(member=MEMBERS, leader=ROUND)
    def leave(self, member: str, leader: str | None) -> None:
        """A process ends."""
        self.group.leave(member)
        self._rebalance(leader)

    @rule(member=MEMBERS, leader=MEMBERS)
    def cut_off(self, member: str, leader: str) -> None:
        """A round passes a member by."""
        self.group.miss(member)
        self._rebalance(leader)

    @rule(member=MEMBERS, leader=ROUND)
    def come_back(self, member: str, leader: str | None) -> None:
        """A member that was cut off takes part again."""
        self.group.come_back(member)
        self._rebalance(leader)

    @rule(member=MEMBERS, wishes=WISHES, leader=ROUND)
    def subscribe(self, member: str, wishes: tuple[str, ...], leader: str | None) -> None:
        """A member wants other topics."""
        self.group.subscribe(member, wishes)
        self._rebalance(leader)

    @rule(member=MEMBERS, owned=CLAIMED, age=st.integers(0, 3), leader=ROUND)
    def claim(self, member: str, owned: tuple[Partition, ...], age: int, leader: str | None) -> None:
        """A member claims partitions of others, or such as do not exist."""
        self.group.claim(member, owned, age)
        self._rebalance(leader)

    @rule(member=MEMBERS, user_data=GARBLED, leader=ROUND)
    def garble(self, member: str, user_data: bytes | None, leader: str | None) -> None:
        """A member writes user data that no assignor can read, or its own again."""
        self.group.garble(member, user_data)
        self._rebalance(leader)

    @rule(topic=TOPICS, count=st.integers(1, 8), leader=ROUND)
    def grow(self, topic: str, count: int, leader: str | None) -> None:
        """A topic is made, or gets more partitions."""
        self.group.grow(topic, count)
        self._rebalance(leader)

    @rule(topic=TOPICS, leader=ROUND)
    def vanish(self, topic: str, leader: str | None) -> None:
        """A topic is deleted."""
        self.group.topics.pop(topic, None)
        self._rebalance(leader)

    @rule(leader=MEMBERS, deaf=st.frozensets(MEMBERS, max_size=2))
    def rebalance(self, leader: str, deaf: frozenset[str]) -> None:
        """A rebalance; members that do not hear of it keep their partitions."""
        self._rebalance(leader, deaf)

    def _rebalance(self, leader: str | None, deaf: frozenset[str] = frozenset()) -> None:
        done = self.group.round(leader, deaf) if leader is not None else None
        if done is not None:
            event(f"round of {len(done.problem.members)} members")
            self._judge(done)

    def teardown(self) -> None:
        """The group is left alone, and stabilises.

        Raises: AssignmentClaimBrokenError where a quiet round breaks a claim, or the last one still moves something.
        """
        quiet = [done for number in range(QUIET_ROUNDS) if (done := self.group.round(f"m{number}")) is not None]
        for done in quiet:
            self._judge(done)
        if quiet and self.held_to in ASSIGNORS:
            for broken in broken_course_claims(Course(self.held_to, (quiet[0], *quiet))):
                raise AssignmentClaimBrokenError(_described(self.held_to, broken, quiet[-1]))

    def _judge(self, done: Round) -> None:
        of_answer = broken_claims(self.held_to, done.problem, done.answer)
        for broken in (*of_answer, *broken_course_claims(Course(self.held_to, (done,)))):
            raise AssignmentClaimBrokenError(_described(self.held_to, broken, done))


def _described(assignor: str, broken: Broken, done: Round) -> str:
    """The broken claim, and all that the leader saw."""
    sentence = next((f"{claim.sentence}\n" for claim in CLAIMS if claim.name == broken.claim), "")
    said = "\n".join(f"  {name}: {member}" for name, member in done.problem.members.items())
    given = "\n".join(f"  {name}: {partitions}" for name, partitions in done.answer.assigned.items())
    headline = f"the assignor {assignor} breaks {broken.claim!r}: {broken.finding}"
    return f"{headline}\n{sentence}topics {dict(done.problem.topics)}\nmembers\n{said}\ngiven\n{given}"
