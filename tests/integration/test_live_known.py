"""Known defects of a client library are excused where they show, for its releases and its members alone."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("kafka", reason="live clients need the extra 'brokers'")

from rebalance_check.cli import run
from rebalance_check.commands._live_runs import LiveRuns
from rebalance_check.integration.live.known_deviations import KNOWN, judge_clients
from rebalance_check.integration.live.settings import ClientName
from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.events import (
    AssignmentCompleted,
    AssignmentComputed,
    Event,
    HealEnded,
    MemberLeft,
    MembershipLost,
    MemberStarted,
    OffsetCommitted,
    PartitionsAssigned,
    PartitionsLost,
    PartitionsRevoked,
    RequestAnswered,
    RequestSent,
    RunEnded,
    TopicsDescribed,
)
from rebalance_check.properties.verdict import Outcome

KAFKA_PYTHON, LIBRDKAFKA, AIOKAFKA, OURS = ClientName
RELEASES = {KAFKA_PYTHON: "3.0.12", LIBRDKAFKA: "2.16.1", AIOKAFKA: "0.14.0"}
"""Those that the known differences were found in."""


def numbered(*events: Event) -> list[Event]:
    """The events as one history: each source counts its own."""
    numbers: dict[str, int] = {}
    history: list[Event] = []
    for event in events:
        source = getattr(event, "member", "") or "harness"
        numbers[source] = numbers.get(source, -1) + 1
        history.append(replace(event, group="g", source=source, seq=numbers[source]))
    return history


def started(member: str, client: str, release: str | None = None) -> MemberStarted:
    known = RELEASES.get(ClientName(client), "") if release is None else release
    return MemberStarted(member=member, protocol="eager", client=client, release=known, group="", source="", seq=0)


def of(kind: Any, member: str, generation: int, **fields: Any) -> Any:
    return kind(member=member, generation=generation, member_id=member, group="", source="", seq=0, **fields)


def end(*pending: str) -> RunEnded:
    return RunEnded(pending=pending, group="", source="", seq=0)


def broken(history: Sequence[Event]) -> list[str]:
    return [found.invariant for found in judge_clients(history).judgement.counterexamples]


def revoked_twice(client: str, release: str | None = None) -> list[Event]:
    owned: dict[str, Any] = {"partitions": ("t-0",)}
    revoked = of(PartitionsRevoked, "m0", 1, **owned)
    return numbered(started("m0", client, release), of(PartitionsAssigned, "m0", 1, **owned), revoked, revoked, end())


def revoked_as_a_zombie(client: str, release: str | None = None) -> list[Event]:
    owned: dict[str, Any] = {"partitions": ("t-0",)}
    return numbered(
        started("m0", client, release),
        of(PartitionsAssigned, "m0", 1, **owned),
        of(MembershipLost, "m0", 1, reason="not notified"),
        of(PartitionsRevoked, "m0", -1, **owned),
        end(),
    )


def test_a_known_difference_excuses_its_client__and_no_other() -> None:
    assert {client: broken(revoked_twice(client)) for client in ClientName} == {
        KAFKA_PYTHON: [],
        LIBRDKAFKA: ["callbacks_alternate"],
        AIOKAFKA: ["callbacks_alternate"],
        OURS: ["callbacks_alternate"],
    }


def test_aiokafka_may_revoke_what_it_has_lost__and_nobody_else() -> None:
    assert {client: broken(revoked_as_a_zombie(client)) for client in ClientName} == {
        KAFKA_PYTHON: ["reset_member_loses_everything"],
        LIBRDKAFKA: ["reset_member_loses_everything"],
        AIOKAFKA: [],
        OURS: ["reset_member_loses_everything"],
    }


def removed_during_a_join(client: str, *later: Event) -> list[Event]:
    """m0 is removed during its join; what it shows ``later``."""
    return numbered(
        started("m0", client),
        of(PartitionsAssigned, "m0", 1, partitions=("t-0",)),
        of(MembershipLost, "m0", 1, reason="not notified"),
        *later,
        end(),
    )


def kept_over_a_join(client: str) -> list[Event]:
    """m0 is removed during its join, and is in a later generation with what it owned before."""
    return removed_during_a_join(client, of(AssignmentCompleted, "m0", 3, owned=("t-0",)))


def test_kafka_python_may_keep_what_it_lost_during_a_join__and_nobody_else() -> None:
    assert {client: broken(kept_over_a_join(client)) for client in ClientName} == {
        KAFKA_PYTHON: [],
        LIBRDKAFKA: ["reset_member_loses_everything"],
        AIOKAFKA: [],
        OURS: ["reset_member_loses_everything"],
    }
    assert broken(numbered(started("m0", KAFKA_PYTHON, "3.0.11"), *kept_over_a_join(KAFKA_PYTHON)[1:])) == [
        "reset_member_loses_everything"
    ]


def left_during_a_join(client: str, *between: Event) -> list[Event]:
    """m0 sends LeaveGroup after JoinGroup, and then SyncGroup."""
    return numbered(
        started("m0", client),
        of(RequestSent, "m0", -1, api=Api.JOIN_GROUP, request=1),
        *between,
        of(RequestSent, "m0", -1, api=Api.LEAVE_GROUP, request=2),
        of(RequestSent, "m0", 5, api=Api.SYNC_GROUP, request=3),
        end(),
    )


def test_kafka_python_may_sync_for_a_join_during_which_it_left__and_nobody_else() -> None:
    replied = RequestAnswered(
        member="m0", api=Api.JOIN_GROUP, request=1, error="NONE", generation=5, group="", source="", seq=0
    )
    assert {client: broken(left_during_a_join(client)) for client in ClientName} == {
        KAFKA_PYTHON: [],
        LIBRDKAFKA: ["wire_lost_membership_is_not_used"],
        AIOKAFKA: ["wire_lost_membership_is_not_used"],
        OURS: ["wire_lost_membership_is_not_used"],
    }
    assert broken(left_during_a_join(KAFKA_PYTHON, replied)) == ["wire_lost_membership_is_not_used"]


def test_a_client_that_notifies_of_the_loss_keeps_nothing() -> None:
    lost = of(PartitionsLost, "m0", -1, partitions=("t-0",))
    rejoined = of(AssignmentCompleted, "m0", 3, owned=())
    assert [broken(removed_during_a_join(client, lost, rejoined)) for client in ClientName] == [[]] * len(ClientName)


@pytest.mark.parametrize("release", ["3.0.11", "3.0.13", ""])
def test_a_release_that_is_not_named_is_judged_strictly(release: str) -> None:
    assert broken(revoked_twice(KAFKA_PYTHON, release)) == ["callbacks_alternate"]
    assert broken(revoked_as_a_zombie(AIOKAFKA, release)) == ["reset_member_loses_everything"]
    assert "rebalance_completes" in broken(stuck_leader(release=release))


def test_a_member_that_was_once_started_with_another_release_is_judged_strictly() -> None:
    history = revoked_twice(KAFKA_PYTHON)
    assert broken(numbered(started("m0", KAFKA_PYTHON, "3.0.11"), *history)) == ["callbacks_alternate"]


def test_what_a_known_deviation_accounts_for__is_kept_apart() -> None:
    found = judge_clients(revoked_twice(KAFKA_PYTHON))
    assert [str(known) for known in found.known] == [
        "known of kafka-python 3.0.12: callbacks_alternate: t-0 was revoked from m0, to which it was not assigned"
    ]
    assert judge_clients(revoked_twice(LIBRDKAFKA)).known == ()


def test_the_command_shows_apart_what_is_known__and_counts_it_for_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = revoked_twice(KAFKA_PYTHON)
    monkeypatch.setattr(LiveRuns, "history", lambda *_arguments: seen)
    assert run(["live", "--json", "--out", str(tmp_path)]) == 0
    said, shown = capsys.readouterr()
    (history,) = json.loads(said)["histories"]
    assert [(known["client"], known["invariant"]) for known in history["known"]] == [
        ("kafka-python", "callbacks_alternate")
    ]
    assert history["verdict"] == "held"
    assert "known of kafka-python 3.0.12: callbacks_alternate" in shown
    assert KNOWN[0].reason in shown
    assert run(["judge", history["file"]]) == 10, "the judge of files excuses nothing"


def test_a_known_difference_leaves_no_hole_in_what_the_others_say() -> None:
    verdicts = judge_clients(revoked_twice(KAFKA_PYTHON)).judgement.verdicts.values()
    assert {verdict.outcome for verdict in verdicts} == {Outcome.HELD, Outcome.UNTESTED}


def test_each_known_difference_says_how_it_is_known() -> None:
    assert [known for known in KNOWN if not known.reason or not known.releases] == []


ABSENT = "at heal 1, m0 runs, and the group does not hold it"
LEFT = (of(PartitionsRevoked, "m0", 2, partitions=("t-0",)), MemberLeft(member="m0", group="", source="", seq=0))


def stuck_leader(
    client: str = KAFKA_PYTHON,
    release: str | None = None,
    *,
    meanwhile: Sequence[Event] = (),
    later: Sequence[Event] = LEFT,
    pending: Sequence[str] = (ABSENT,),
    missing: tuple[str, ...] = ("m0",),
) -> list[Event]:
    """m0 led generation 2, and is found missing: what it showed ``meanwhile``, what was ``pending`` then, what it
    showed ``later``."""
    return numbered(
        started("m0", client, release),
        of(PartitionsAssigned, "m0", 1, partitions=("t-0",)),
        of(PartitionsRevoked, "m0", 1, partitions=("t-0",)),
        of(AssignmentComputed, "m0", 2, assignments=(("m0", ("t-0",)),)),
        of(OffsetCommitted, "m0", 2, partition="t-0", offset=0, error=None),
        *meanwhile,
        HealEnded(pending=tuple(pending), missing=missing, group="", source="", seq=0),
        *later,
        end(*pending),
    )


@pytest.mark.parametrize("later", [(), LEFT, LEFT[1:]], ids=["killed", "closed", "closed without a callback"])
def test_a_leader_of_kafka_python_may_stay_in_its_join(later: Sequence[Event]) -> None:
    assert broken(stuck_leader(later=later)) == []


@pytest.mark.parametrize("client", [LIBRDKAFKA, AIOKAFKA])
def test_no_other_client_may_stay_in_its_join(client: str) -> None:
    assert "rebalance_completes" in broken(stuck_leader(client))


NOT_STUCK = {
    "it was given partitions before": {"meanwhile": [of(PartitionsAssigned, "m0", 2, partitions=("t-0",))]},
    "it was given partitions afterwards": {"later": [of(PartitionsAssigned, "m0", 3, partitions=("t-0",))]},
    "it joined again afterwards": {"later": [of(PartitionsRevoked, "m0", 2, partitions=("t-0",))]},
    "it lost its membership": {"meanwhile": [of(MembershipLost, "m0", 2, reason="not notified")]},
    "it was started again and is missing": {"meanwhile": [started("m0", KAFKA_PYTHON)]},
    "the others did not come to rest": {"pending": [ABSENT, "at heal 1, the group is PreparingRebalance, not Stable"]},
    "another is missing, too": {
        "pending": [ABSENT, "at heal 1, m1 runs, and the group does not hold it"],
        "missing": ("m0", "m1"),
    },
    "nobody is missing": {"pending": ["at heal 1, the group rebalances for ever"], "missing": ()},
}


@pytest.mark.parametrize("but", NOT_STUCK.values(), ids=NOT_STUCK)
def test_a_leader_that_does_not_stay_in_its_join_is_not_excused(but: dict[str, Any]) -> None:
    assert "rebalance_completes" in broken(stuck_leader(**but))


def test_a_stuck_leader_excuses_no_heal_before_it_led() -> None:
    second = ABSENT.replace("heal 1", "heal 2")
    early = HealEnded(pending=(ABSENT,), missing=("m0",), group="", source="", seq=0)
    first, *rest = stuck_leader(pending=(second,))
    assert broken(numbered(first, *rest)) == []
    assert "rebalance_completes" in broken(numbered(first, early, *rest[:-1], end(ABSENT, second)))


UNOWNED = "at heal 1, 1 of 2 partitions are assigned, 1 times in all"


def withheld_partition(
    client: str = KAFKA_PYTHON, *, protocol: str = "cooperative", owned: str = "t-1", reassigned: bool = False
) -> list[Event]:
    """m0 lost t-0, and m1 owns one partition when the heal ends; with ``reassigned`` t-0 was m1's in between."""
    both = [replace(started(name, client), protocol=protocol) for name in ("m0", "m1")]
    later = [of(PartitionsAssigned, "m1", 2, partitions=("t-0",))] if reassigned else []
    return numbered(
        TopicsDescribed(partitions=("t-0", "t-1"), group="", source="", seq=0),
        *both,
        of(PartitionsAssigned, "m0", 1, partitions=("t-0",)),
        of(PartitionsLost, "m0", -1, partitions=("t-0",)),
        *later,
        of(AssignmentCompleted, "m0", 3, owned=()),
        of(AssignmentCompleted, "m1", 3, owned=(owned,)),
        HealEnded(pending=(UNOWNED,), missing=(), group="", source="", seq=0),
        end(UNOWNED),
    )


def test_a_partition_that_kafka_python_lost_may_be_withheld_for_ever() -> None:
    assert {client: "rebalance_completes" in broken(withheld_partition(client)) for client in ClientName} == {
        KAFKA_PYTHON: False,
        LIBRDKAFKA: True,
        AIOKAFKA: True,
        OURS: True,
    }


@pytest.mark.parametrize(
    "history",
    [
        withheld_partition(protocol="eager"),
        withheld_partition(owned="t-0"),
        withheld_partition(reassigned=True),
    ],
    ids=["an eager group withholds nothing", "no member lost what has no owner", "it was handed out since"],
)
def test_a_partition_without_an_owner_is_excused_in_no_other_case(history: list[Event]) -> None:
    assert "rebalance_completes" in broken(history)
