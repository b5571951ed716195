"""Each claim about the wire catches a deliberate mistake of our client, which keeps all claims without mistakes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from rebalance_check.integration.exchange.faults import Effect, Fault
from rebalance_check.integration.kits.adapters.ours.slips import SLIPS, slip
from rebalance_check.model.vocabulary.apis import Api
from rebalance_check.model.vocabulary.errors import Error, RebalanceCheckError
from rebalance_check.properties.judge import judge
from rebalance_check.properties.laws.by_kip import BY_KIP, WireClaims
from rebalance_check.properties.verdict import Outcome
from tests.integration.kits.ours_in_threads import HEARTBEAT_MS, SHORT_MS, OurGroup

NEVER_MS = 60_000
Play = Callable[[OurGroup, str], None]


def refused(api: Api, error: Error, times: int = 1) -> Fault:
    return Fault(api, Effect.ANSWER, error=error, times=times)


def alone(group: OurGroup, slip: str, **more: Any) -> None:
    """One client, until it has committed twice."""
    group.start("p0", slip, **more)
    group.sends("p0", Api.OFFSET_COMMIT, 2)


def both(group: OurGroup, slip: str, **more: Any) -> None:
    """A second client with the same arguments joins the first."""
    group.start("p0", slip, **more)
    group.settled("p0")
    group.start("p1", **more)
    group.settled("p0", "p1")


def follows(group: OurGroup, slip: str) -> None:
    """It joins one that leads."""
    group.start("p1")
    group.settled("p1")
    group.start("p0", slip)
    group.settled("p0", "p1")


def does_not_join(group: OurGroup, slip: str) -> None:
    """A second client joins, and the first does not join the rebalance."""
    group.start("p0", slip, rebalance_ms=SHORT_MS)
    group.settled("p0")
    group.start("p1", rebalance_ms=2 * SHORT_MS)
    group.settled("p1")


def syncs_never(group: OurGroup, slip: str) -> None:
    """The second member's rebalance timeout is longer, so the coordinator waits for longer than the claim does."""
    group.start("p1", rebalance_ms=2 * SHORT_MS)
    group.settled("p1")
    group.start("p0", slip, rebalance_ms=SHORT_MS)
    group.until(lambda: "UNKNOWN_MEMBER_ID" in group.view.of("p0").errors)


def is_silent(group: OurGroup, slip: str) -> None:
    """Its session expires, and it notices."""
    group.start("p0", slip, commit_ms=NEVER_MS, session_ms=SHORT_MS)
    group.until(lambda: "UNKNOWN_MEMBER_ID" in group.view.of("p0").errors)


def joins(group: OurGroup, slip: str) -> None:
    group.start("p0", slip)
    group.settled("p0")


def joins_slowly(group: OurGroup, slip: str) -> None:
    """It joins one that learns of the rebalance late, so its JoinGroup is open for a while."""
    group.start("p1", heartbeat_ms=SHORT_MS, commit_ms=NEVER_MS)
    group.settled("p1")
    group.start("p0", slip)
    group.settled("p0", "p1")


def joins_again(group: OurGroup, slip: str) -> None:
    group.start("p0", slip)
    group.sends("p0", Api.JOIN_GROUP, 3)
    group.settled("p0")


def is_removed(group: OurGroup, slip: str, **more: Any) -> None:
    """Its member is removed behind its back, and it joins again."""
    group.start("p0", slip, **more)
    group.settled("p0")
    group.remove("p0")
    group.sends("p0", Api.SYNC_GROUP, 1)
    group.settled("p0")


def coordinator_moves(group: OurGroup, slip: str) -> None:
    group.start("p0", slip)
    group.settled("p0")
    group.proxy.move_coordinator("g", 2)
    group.until(lambda: "NOT_COORDINATOR" in group.view.of("p0").errors)
    group.settled("p0")


def not_coordinator(group: OurGroup, slip: str) -> None:
    """A node refuses its heartbeats for longer than its session."""
    group.start("p0", slip, commit_ms=NEVER_MS, session_ms=SHORT_MS)
    group.settled("p0")
    group.faults.add(refused(Api.HEARTBEAT, Error.NOT_COORDINATOR, times=30))
    group.sends("p0", Api.HEARTBEAT, 30)


def coordinator_loads(group: OurGroup, slip: str) -> None:
    """Its heartbeats are refused for now, so many times."""
    group.start("p0", slip)
    group.settled("p0")
    group.faults.add(refused(Api.HEARTBEAT, Error.COORDINATOR_LOAD_IN_PROGRESS, times=12))
    group.sends("p0", Api.HEARTBEAT, 13)


def static(group: OurGroup, slip: str) -> None:
    group.start("p0", slip, instance="i0")
    group.settled("p0")


def comes_back(group: OurGroup, slip: str) -> None:
    """A static member ends and is started again within its session."""
    static(group, slip)
    group.stop("p0")
    static(group, slip)


def is_replaced(group: OurGroup, slip: str) -> None:
    """Another process joins with its instance id."""
    static(group, slip)
    group.start("p1", instance="i0")
    group.sends("p0", Api.JOIN_GROUP, 1)


def is_fenced(group: OurGroup, slip: str) -> None:
    """Another process joins with its instance id, and it ends."""
    static(group, slip)
    group.start("p1", instance="i0")
    group.until(lambda: group.view.of("p0").ended)


cooperative = partial(both, assignor="cooperative")


def hands_nothing_over(group: OurGroup, slip: str) -> None:
    """It is assigned less than it claimed, and goes on for longer than its rebalance timeout."""
    group.start("p0", slip, assignor="cooperative", rebalance_ms=SHORT_MS)
    group.settled("p0")
    group.start("p1", assignor="cooperative")
    group.settled("p0", "p1")
    group.sends("p0", Api.HEARTBEAT, 2 * SHORT_MS // HEARTBEAT_MS)


PLAYS: dict[str, Play] = {
    "joins-twice": joins_slowly,
    "ignores-rebalance": does_not_join,
    "never-syncs": syncs_never,
    "joins-again": joins_again,
    "joins-after-move": coordinator_moves,
    "cuts-subscription": joins,
    "forgets-id": partial(both, rebalance_ms=2 * SHORT_MS),
    "ignores-required-id": joins,
    "keeps-lost-id": is_removed,
    "stale-generation": alone,
    "hides-instance": static,
    "new-instance": comes_back,
    "static-leaves": static,
    "fights-back": is_replaced,
    "claims-less": cooperative,
    "claims-lost": partial(is_removed, assignor="cooperative"),
    "eager-claims": both,
    "keeps-revoked": hands_nothing_over,
    "old-claims": cooperative,
    "commits-foreign": alone,
    "follower-assigns": follows,
    "assigns-to-unknown": joins,
    "assigns-twice": both,
    "drops-partition": joins,
    "gives-away-early": cooperative,
    "assigns-anyway": comes_back,
    "early-heartbeat": joins,
    "heartbeats-while-joining": both,
    "skips-heartbeats": is_silent,
    "stays": joins,
    "ignores-not-coordinator": not_coordinator,
    "hot-loop": coordinator_loads,
}
NODES = {"joins-after-move": 2}

CORRECT_PLAYS: tuple[Play, ...] = (
    alone,
    both,
    cooperative,
    follows,
    is_removed,
    coordinator_moves,
    coordinator_loads,
    comes_back,
    is_fenced,
)


def violated(history: Path) -> list[str]:
    return [found.invariant for found in judge(history, WireClaims).counterexamples]


@pytest.mark.parametrize("name", SLIPS)
def test_a_slip_breaks_the_claim_that_must_catch_it__and_no_other(name: str, tmp_path: Path) -> None:
    with OurGroup(tmp_path / "history.jsonl", nodes=NODES.get(name, 0)) as group:
        PLAYS[name](group, name)
    assert violated(group.history) == [SLIPS[name].caught_by]


def test_without_a_slip__no_claim_is_violated__and_each_is_tested(tmp_path: Path) -> None:
    tested: set[str] = set()
    for number, play in enumerate(CORRECT_PLAYS):
        with OurGroup(tmp_path / f"{number}.jsonl", nodes=2 if play is coordinator_moves else 0) as group:
            play(group, "")
        judgement = judge(group.history, WireClaims)
        assert judgement.counterexamples == ()
        tested |= {claim.name for claim in WireClaims if judgement.verdict(claim.name).outcome is Outcome.HELD}
    assert {claim.name for claim in WireClaims} - tested == set()


def test_each_claim_is_caught_by_a_slip__and_each_slip_has_a_play() -> None:
    assert {each.caught_by for each in SLIPS.values()} == {claim.name for claim in WireClaims}
    assert sorted(PLAYS) == sorted(SLIPS)
    assert sorted(claim.name for claims in BY_KIP.values() for claim in claims) == sorted(
        claim.name for claim in WireClaims
    )


def test_an_unknown_slip_is_refused() -> None:
    with pytest.raises(RebalanceCheckError, match="'trips' is no slip: choose joins-twice, "):
        slip("trips")
