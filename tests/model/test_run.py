"""Runs of the classic model: replies, and events that tell the whole run."""

from random import Random

import pytest

from rebalance_check.model.registry import machine_for
from rebalance_check.model.vocabulary.actions import Action, ActionKind
from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.events import (
    AssignmentCompleted,
    AssignmentComputed,
    Event,
    GenerationStarted,
    MemberJoined,
    RequestAnswered,
    RequestSent,
    RunStarted,
)
from tests.model.conftest import play, random_path
from tests.model.model_run import ModelRun

RICH = Bounds.from_address(
    "cooperative?partitions=2&generations=6&leaves=1&expiries=2&duplicates=2&deletions=1&initial_delay=off&member_id_required"
)


JOIN = (ActionKind.SEND_JOIN_GROUP, ActionKind.JOIN_GROUP, ActionKind.RECEIVE_JOIN_GROUP)
SYNC = (ActionKind.SYNC_GROUP, ActionKind.RECEIVE_SYNC_GROUP)


def alone(protocol: str) -> ModelRun:
    """m0 is stable in generation 1, alone; m1 is about to join."""
    model_run = ModelRun(
        Bounds.from_address(f"{protocol}?members=2&partitions=2&generations=5&crashes=0&expiries=1&initial_delay=off")
    )
    play(model_run, *((kind, 0) for kind in JOIN + SYNC))
    return model_run


def test_a_reply_tells_the_leader_who_claims_what() -> None:
    model_run = alone("cooperative")
    play(model_run, (ActionKind.SEND_JOIN_GROUP, 1), (ActionKind.JOIN_GROUP, 1))
    assert model_run.replies == []
    assert model_run.is_parked(1)
    play(model_run, (ActionKind.SEND_HEARTBEAT, 0), (ActionKind.HEARTBEAT, 0))
    assert [(reply.api, reply.error) for reply in model_run.replies] == [("Heartbeat", "REBALANCE_IN_PROGRESS")]
    play(model_run, (ActionKind.RECEIVE_ERROR, 0), (ActionKind.SEND_JOIN_GROUP, 0), (ActionKind.JOIN_GROUP, 0))
    leader, follower = model_run.replies
    assert (leader.member, leader.generation, leader.leader) == ("m0", 2, "m0")
    assert leader.members == (("m0", ("t-0", "t-1")), ("m1", ()))
    assert (follower.member, follower.generation, follower.leader, follower.members) == ("m1", 2, "m0", ())


def test_an_action_that_is_not_enabled_is_refused__with_those_that_are() -> None:
    model_run = ModelRun(Bounds.from_address("eager?members=1&partitions=1&generations=2&crashes=0&initial_delay=off"))
    with pytest.raises(RebalanceCheckError, match=r"SyncGroup m0 is not enabled .* enabled are: SendJoinGroup m0"):
        model_run.step(Action(ActionKind.SYNC_GROUP, 0))


def test_a_leader_tells_what_it_computed_from() -> None:
    model_run = alone("cooperative")
    events = play(
        model_run, (ActionKind.SEND_JOIN_GROUP, 1), (ActionKind.JOIN_GROUP, 1), (ActionKind.SEND_HEARTBEAT, 0),
        (ActionKind.HEARTBEAT, 0), (ActionKind.RECEIVE_ERROR, 0), (ActionKind.SEND_JOIN_GROUP, 0),
        (ActionKind.JOIN_GROUP, 0), (ActionKind.RECEIVE_JOIN_GROUP, 0),
    )  # fmt: skip
    computed = next(event for event in events if isinstance(event, AssignmentComputed))
    assert computed.owned_partitions == (("m0-1", ("t-0", "t-1")), ("m1-1", ()))
    assert computed.owned_generations == (("m0-1", 1), ("m1-1", 0))
    assert [len(partitions) for _, partitions in computed.assignments] == [1, 0]


def random_events(seed: int, steps: int) -> list[Event]:
    """The events of a run of random actions."""
    run = ModelRun(RICH)
    path = random_path(Random(seed), machine_for(RICH), steps)
    return [*run.begin(), *(event for action in path for event in run.step(action))]


@pytest.mark.parametrize("seed", range(6))
def test_the_sequence_of_each_source_has_no_gap__and_every_answer_its_request(seed: int) -> None:
    events = random_events(seed, 120)
    assert isinstance(events[0], RunStarted)
    for source in {event.source for event in events}:
        assert [event.seq for event in events if event.source == source] == list(
            range(sum(event.source == source for event in events))
        )
    sent = {(event.member, event.request): event.api for event in events if isinstance(event, RequestSent)}
    for event in events:
        if isinstance(event, RequestAnswered):
            assert sent[event.member, event.request] == event.api


@pytest.mark.parametrize("seed", range(6))
def test_members_speak_for_generations_that_began__under_ids_that_were_members(seed: int) -> None:
    events = random_events(seed, 150)
    began = {
        (event.incarnation, event.generation): event.members for event in events if isinstance(event, GenerationStarted)
    }
    spoken = [event for event in events if isinstance(event, MemberJoined | AssignmentCompleted)]
    assert {type(event) for event in spoken} == {MemberJoined, AssignmentCompleted}
    for event in spoken:
        assert event.member_id in began[event.incarnation, event.generation]
