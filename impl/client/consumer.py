"""A consumer's member of its group: which partitions it owns, and when it gives them up (``ConsumerCoordinator``)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Final, TypedDict

from rebalance_check.impl.assignors.assignor import Assignor
from rebalance_check.impl.client.committing import Commit, CommitOutcome
from rebalance_check.impl.client.config import ClientConfig
from rebalance_check.impl.client.fetching import OffsetFetch
from rebalance_check.impl.client.generation import MemberState
from rebalance_check.impl.client.listener import RebalanceListener
from rebalance_check.impl.client.subscribing import Subscribing
from rebalance_check.impl.client.subscriptions import Subscribed, Wanted
from rebalance_check.impl.protocol.consumer_protocol import (
    PROTOCOL_TYPE,
    Subscription,
    read_assignment,
    write_subscription,
)
from rebalance_check.impl.protocol.topic_partition import TopicPartition
from rebalance_check.impl.runtime.metrics import Metrics, Sensor
from rebalance_check.impl.runtime.recorder import Recorder
from rebalance_check.model.vocabulary.bounds import RebalanceProtocol
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import (
    AssignmentCompleted,
    PartitionsAssigned,
    PartitionsLost,
    PartitionsRevoked,
    RebalanceEnforced,
    SubscriptionChanged,
)
from rebalance_check.model.vocabulary.ids import NO_GENERATION

ENFORCED: Final = "rebalance enforced by user"
"""The reason of a rebalance for which the application gives none."""


class GenerationFields(TypedDict):
    """The fields that all events of a member in a generation share."""

    member: str
    generation: int
    member_id: str


class ConsumerCoordinator(Subscribing):
    """The consumer protocol, EAGER or COOPERATIVE.

    ``topics`` is the subscription, by name or by a pattern (`Subscribed`), ``partitions_per_topic`` what the client
    knows about the cluster (`update_metadata`), ``refresh_metadata`` fetches it anew, which a subscriber by pattern
    does before it joins; ``auto_commit_ms`` is the interval of automatic commits, None for none.
    The rebalance protocol is the highest that *all* ``assignors`` support, no matter which one the group then selects;
    `RebalanceCheckError` when there is none or two assignors share a name.
    """

    def __init__(
        self,
        config: ClientConfig,
        recorder: Recorder,
        *,
        member: str,
        topics: Wanted,
        assignors: Sequence[Assignor],
        partitions_per_topic: Mapping[str, int],
        refresh_metadata: Callable[[], Mapping[str, int]] | None = None,
        exclude_internal_topics: bool = True,
        listener: RebalanceListener | None = None,
        auto_commit_ms: int | None = None,
        rack: str | None = None,
        random: Random | None = None,
    ) -> None:
        super().__init__(config, recorder, member=member, random=random)
        self.protocol = common_protocol(assignors)
        self.assignors = {assignor.name: assignor for assignor in assignors}
        self.listener = listener or RebalanceListener()
        self.partitions_per_topic = dict(partitions_per_topic)
        self.racks = None
        self.rack = rack
        self._refresh_metadata = refresh_metadata
        self._subscribed = Subscribed(topics, partitions_per_topic, exclude_internal_topics=exclude_internal_topics)
        self._owned: tuple[TopicPartition, ...] = ()
        self._positions: dict[TopicPartition, int] = {}
        self._group_topics = frozenset()
        self._pending_revocation: frozenset[TopicPartition] = frozenset()
        self._auto_commit_ms = auto_commit_ms
        self._next_auto_commit_ms = 0
        self._prepare_commit: Commit | None = None
        self._prepare_until_ms: int | None = None
        self._final_commit: Commit | None = None
        self.commit_sensor = Sensor()

    # ------------------------------------------------------------------------------------------------ the application

    @property
    def owned(self) -> tuple[TopicPartition, ...]:
        """The partitions that the member believes to own, sorted."""
        return self._owned

    def register_metrics(self, metrics: Metrics) -> None:
        """As the base class, and how many partitions the member owns."""
        super().register_metrics(metrics)
        self.metric_group(metrics).add(
            "assigned-partitions",
            "The number of partitions currently assigned to this consumer",
            lambda _: float(len(self._owned)),
        )

    def fetchable(self) -> tuple[TopicPartition, ...]:
        """The owned partitions of which records may be delivered: not while they wait for their last commit."""
        return tuple(tp for tp in self._owned if tp not in self._pending_revocation)

    def consumed(self, partition: TopicPartition, offset: int) -> None:
        """The application processed ``partition`` up to, not including, ``offset``; commits take it from here.

        Raises: `RebalanceCheckError` for a partition that the member does not own.
        """
        if partition not in self._owned:
            raise RebalanceCheckError(f"{self.member} does not own {partition.name}: it cannot consume it")
        self._positions[partition] = offset

    def start_from(self, fetch: OffsetFetch) -> None:
        """Go on where the group stopped: takes the offsets of owned partitions that were not consumed yet.

        Kafka's ``initWithCommittedOffsetsIfNeeded``; an application that fetches offsets calls it.
        """
        for partition, offset in fetch.offsets.items():
            if partition in self._owned:
                self._positions.setdefault(partition, offset)

    def positions(self) -> dict[TopicPartition, int]:
        """The next offset to read of each owned partition that was consumed."""
        return dict(self._positions)

    def unsubscribe(self, now_ms: int) -> None:
        """Give everything up, leave the group and subscribe to nothing."""
        self.recorder.emit(SubscriptionChanged(member=self.member, topics=()))
        self.maybe_leave_group("the consumer unsubscribed from all topics", now_ms)
        self._subscribed.clear()

    def enforce_rebalance(self, reason: str = "") -> None:
        """Join again at the next poll (``Consumer.enforceRebalance``, KIP-568), for a reason that JoinGroup carries."""
        self.recorder.emit(RebalanceEnforced(member=self.member))
        self.request_rejoin(reason or ENFORCED)

    # ------------------------------------------------------------------------------------------------ the contract

    def protocol_type(self) -> str:
        """``consumer``."""
        return PROTOCOL_TYPE

    def metadata(self) -> Sequence[tuple[str, bytes]]:
        """One subscription per assignor, with the claims and the generation that the member has now."""
        self.note_joined_subscription()
        version = self.config.subscription_version
        return [
            (name, write_subscription(self._subscription_for(assignor), version))
            for name, assignor in self.assignors.items()
        ]

    def _subscription_for(self, assignor: Assignor) -> Subscription:
        return Subscription(
            topics=self.subscription,
            user_data=assignor.subscription_user_data(self.subscription),
            owned=self._owned,
            generation=self._generation.generation_id,
            rack=self.rack,
        )

    def claims(self) -> tuple[str, ...]:
        """The names of the owned partitions."""
        return tuple(tp.name for tp in self._owned)

    def rejoin_needed_or_pending(self) -> bool:
        """Also when the subscription changed, or (leader) the partitions that the assignment was computed from."""
        if not self._subscribed.exists:
            return False
        if self.assigned_topics_changed():
            self.request_rejoin("cached metadata has changed")
        elif self.wants_other_topics():
            self.request_rejoin("subscription has changed")
        return super().rejoin_needed_or_pending()

    def on_join_prepare(self, generation_id: int, member_id: str) -> bool:
        """Commit, then give up the partitions that the next generation must not find here.

        All is lost when the membership was reset in any way; EAGER revokes all; COOPERATIVE revokes the topics that
        it no longer wants and claims the rest. A subscriber by pattern refreshes its metadata first.
        """
        self.ask_for_topics()
        if not self._committed_before_joining():
            return False
        self.stop_leading()
        if generation_id == NO_GENERATION or member_id == "":
            self._lose()
        elif self.protocol is RebalanceProtocol.COOPERATIVE:
            unwanted = tuple(tp for tp in self._owned if tp.topic not in self.subscription)
            if unwanted:
                self._revoke(unwanted)
        else:
            self._revoke(self._owned)
        return True

    def on_join_complete(
        self,
        generation_id: int,
        member_id: str,  # noqa: ARG002 - part of the contract
        protocol: str,
        assignment: bytes,
    ) -> None:
        """Revoke partitions no longer assigned (COOPERATIVE, and join again for it), then own those assigned.

        An assignment with a topic that the member no longer wants changes nothing: it joins again. A callback that
        raises does not stop the new assignment from taking effect; the first exception surfaces afterwards.
        """
        assignor = self._selected(protocol)
        received = read_assignment(assignment)
        assigned = tuple(sorted(received.partitions))
        if not all(self._subscribed.accepts(tp.topic) for tp in assigned):
            self.request_rejoin("received assignment does not match the current subscription")
            return
        problems: list[Exception] = []
        if self.protocol is RebalanceProtocol.COOPERATIVE:
            gone = tuple(tp for tp in self._owned if tp not in assigned)
            _collect(problems, lambda: self._revoke_and_rejoin(gone))
        self.learn_topics(assigned)
        assignor.on_assignment(replace(received, partitions=assigned), generation_id)
        _collect(problems, lambda: self._own(assigned))
        if problems:
            raise problems[0]

    def on_leave_prepare(self) -> None:
        """Everything goes: lost when the member is not a settled part of a generation, else revoked."""
        if not self._owned:
            return
        if self._generation.reset or self._state is not MemberState.STABLE:
            self._lose()
        else:
            self._revoke(self._owned)

    def on_close(self) -> bool:
        """The last automatic commit must be answered before the member leaves."""
        if self._auto_commit_ms is None:
            return True
        if self._final_commit is None:
            self._final_commit = self._commit(self._positions)
        return self._final_commit.outcome is not CommitOutcome.PENDING

    def on_poll(self) -> None:
        """Commit periodically."""
        due = self._auto_commit_ms is not None and self._now_ms >= self._next_auto_commit_ms
        if due and self._state is MemberState.STABLE:
            self._restart_auto_commit()
            self._commit(self._positions)

    def next_poll(self) -> int | None:
        """As the base class, plus the next automatic commit, minus a join that waits for its commit."""
        if self._prepare_commit is not None and self._prepare_commit.outcome is CommitOutcome.PENDING:
            return self._prepare_until_ms
        due = super().next_poll()
        if due is None and self._auto_commit_ms is not None and self._state is MemberState.STABLE and not self.closed:
            return None if self._commit_waits_for_coordinator() else self._next_auto_commit_ms
        return due

    def _commit_waits_for_coordinator(self) -> bool:
        """Whether a commit is due that no poll can send before the look-up is answered: polls would go round idly."""
        return self.coordinator_unknown() and self._next_auto_commit_ms <= self._now_ms

    # ------------------------------------------------------------------------------------------------ at rest

    # ------------------------------------------------------------------------------------------------ ownership

    def _selected(self, protocol: str) -> Assignor:
        assignor = self.assignors.get(protocol)
        if assignor is None:
            raise RebalanceCheckError(
                f"the group selected the assignor {protocol!r}, which {self.member} does not have "
                f"({', '.join(self.assignors)}): configure it"
            )
        return assignor

    def _revoke(self, partitions: tuple[TopicPartition, ...]) -> None:
        """Call the listener while the partitions are still owned, then release them, also if it raised."""
        read = tuple((tp.name, self._positions[tp]) for tp in partitions if tp in self._positions)
        try:
            self.listener.on_partitions_revoked(partitions)
        finally:
            self._let_go(partitions)
            self.recorder.emit(PartitionsRevoked(**self._about(), partitions=_names(partitions), positions=read))

    def _revoke_and_rejoin(self, partitions: tuple[TopicPartition, ...]) -> None:
        if partitions:
            self.request_rejoin("need to revoke partitions and re-join")
            self._revoke(partitions)

    def _lose(self) -> None:
        partitions = self._owned
        if not partitions:
            return
        try:
            self.listener.on_partitions_lost(partitions)
        finally:
            self._let_go(partitions)
            self.recorder.emit(PartitionsLost(**self._about(), partitions=_names(partitions)))

    def _let_go(self, partitions: tuple[TopicPartition, ...]) -> None:
        self._owned = tuple(tp for tp in self._owned if tp not in partitions)
        self._forget_positions()
        self._pending_revocation = frozenset()

    def _forget_positions(self) -> None:
        """Positions of partitions that are not owned any more are not committed."""
        self._positions = {tp: offset for tp, offset in self._positions.items() if tp in self._owned}

    def _own(self, assigned: tuple[TopicPartition, ...]) -> None:
        added = tuple(tp for tp in assigned if tp not in self._owned)
        self._owned = assigned
        self._forget_positions()
        self._restart_auto_commit()
        self.recorder.emit(PartitionsAssigned(**self._about(), partitions=_names(added)))
        self.recorder.emit(AssignmentCompleted(**self._about(), owned=_names(assigned)))
        self.listener.on_partitions_assigned(added)

    def _about(self) -> GenerationFields:
        return {
            "member": self.member,
            "generation": self._generation.generation_id,
            "member_id": self._generation.member_id,
        }

    # ------------------------------------------------------------------------------------------------ auto-commit

    def _restart_auto_commit(self) -> None:
        self._next_auto_commit_ms = self._now_ms + (self._auto_commit_ms or 0)

    def _committed_before_joining(self) -> bool:
        """Whether the commit that precedes a rebalance is over: done, refused for good, or out of time."""
        if self._auto_commit_ms is None:
            return True
        if self._prepare_until_ms is None:
            self._prepare_until_ms = self._now_ms + self.config.rebalance_timeout_ms
        if self._prepare_commit is None:
            if self.protocol is RebalanceProtocol.EAGER:
                self._pending_revocation = frozenset(self._owned)
            self._prepare_commit = self._commit(self._positions)
        outcome = self._prepare_commit.outcome
        if self._now_ms < self._prepare_until_ms and outcome is CommitOutcome.PENDING:
            return False
        self._prepare_commit = None
        if self._now_ms < self._prepare_until_ms and outcome is CommitOutcome.RETRIABLE:
            self._retry_ms = self._now_ms + self.config.retry_backoff_ms
            return False
        self._prepare_until_ms = None
        return True


def common_protocol(assignors: Sequence[Assignor]) -> RebalanceProtocol:
    """The highest rebalance protocol that all assignors support.

    Raises: `RebalanceCheckError` when there is none, or when two assignors share a name.
    """
    names = [assignor.name for assignor in assignors]
    if not names or len(set(names)) != len(names):
        raise RebalanceCheckError(f"the assignors are {names}: name at least one, and each only once")
    common = frozenset.intersection(*(assignor.protocols for assignor in assignors))
    if RebalanceProtocol.COOPERATIVE in common:
        return RebalanceProtocol.COOPERATIVE
    if RebalanceProtocol.EAGER in common:
        return RebalanceProtocol.EAGER
    raise RebalanceCheckError(f"the assignors {names} have no rebalance protocol in common: choose others")


def _collect(problems: list[Exception], step: Callable[[], None]) -> None:
    try:
        step()
    except Exception as problem:  # the exception of the application's callback is raised again when all steps ran
        problems.append(problem)


def _names(partitions: Sequence[TopicPartition]) -> tuple[str, ...]:
    return tuple(tp.name for tp in partitions)
