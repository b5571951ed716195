"""Mutants of the protocol vote and of what a member makes of its list of assignors."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.checker.mutant import ModelMutant
from rebalance_check.model.checker.specification import Edit
from rebalance_check.model.vocabulary.bounds import Bounds

_JOIN_PHASE: Final = "rebalance_check.model.classic.parts.join_phase"
_COORDINATOR: Final = "rebalance_check.model.classic.coordinator"
_VOTING: Final = "rebalance_check.model.classic.parts.protocol_vote"

UPGRADE_MUTANTS: Final = (
    ModelMutant(
        name="any-cooperative-assignor-counts",
        what="a member that lists an eager assignor as well keeps its partitions while it rebalances",
        edit=Edit(
            _VOTING,
            "    return c.cooperative_lists[s.member[m].list_index] == 1",
            "    return c.withholding[s.member[m].list_index] != 0",
        ),
        caught_by="no_double_ownership",
        bounds=Bounds.from_address(
            "eager?members=2&partitions=1&generations=5&crashes=0&initial_delay=off&upgrade=legal&rolling_restarts=2"
        ),
        catalogue="cooperative-to-eager-flip-without-revoke",
    ),
    ModelMutant(
        name="join-must-offer-what-is-selected",
        what="a member is refused unless it offers the selected assignor, though all list another one that it offers",
        edit=Edit(
            _VOTING,
            "candidates(c, s) & c.offered[s.member[m].list_index] != 0",
            "(1 << s.selected_protocol) & c.offered[s.member[m].list_index] != 0",
        ),
        caught_by="no_member_is_refused_for_its_protocols",
        bounds=Bounds.from_address(
            "cooperative?members=2&partitions=1&generations=6&crashes=0&initial_delay=off&upgrade=downgrade&rolling_restarts=3"
        ),
    ),
    ModelMutant(
        name="vote-is-not-taken-again",
        what="the protocol of the first generation stays selected, whichever members join later",
        edit=Edit(
            _VOTING,
            "    if c.upgrade != 0:\n        s.selected_protocol = elected",
            "    if c.upgrade != 0 and s.selected_protocol == 0:\n        s.selected_protocol = elected",
        ),
        caught_by="selected_protocol_is_listed_by_all",
        bounds=Bounds.from_address(
            "eager?members=2&partitions=1&generations=8&crashes=0&initial_delay=off&upgrade=legal&rolling_restarts=3"
        ),
    ),
    ModelMutant(
        name="static-restart-does-not-count-votes",
        what="a static member restarts with another list in a stable group, which keeps its protocol without a vote",
        edit=Edit(
            _COORDINATOR,
            "    if s.status != GroupStatus.STABLE or would_change_the_protocol(c, s):\n",
            "    if s.status != GroupStatus.STABLE:\n",
        ),
        caught_by="stable_group_runs_the_voted_protocol",
        bounds=Bounds.from_address(
            "eager?members=2&partitions=1&generations=3&crashes=0&initial_delay=off&upgrade=legal&rolling_restarts=2&static_members=2"
        ),
    ),
    ModelMutant(
        name="load-forgets-the-protocol",
        what="a coordinator that loads a group with members does not restore the selected protocol",
        edit=Edit(
            "rebalance_check.model.classic.concerns.failover",
            "    s.selected_protocol = s.log.protocol\n",
            "    s.selected_protocol = s.log.protocol & 0\n",
        ),
        caught_by="selected_protocol_is_listed_by_all",
        bounds=Bounds.from_address(
            "eager?members=1&partitions=1&generations=1&crashes=0&initial_delay=off&upgrade=legal&failovers=1"
        ),
    ),
    ModelMutant(
        name="vote-is-taken-too-early",
        what="the vote is taken when the join phase begins, and counts only the members that are there then",
        edit=Edit(
            _JOIN_PHASE,
            "    s.status = GroupStatus.PREPARING\n",
            "    s.status = GroupStatus.PREPARING\n    vote(c, s)\n",
        ),
        caught_by="protocol_is_fixed_within_a_generation",
        bounds=Bounds.from_address(
            "eager?members=2&partitions=1&crashes=0&initial_delay=off&upgrade=legal&rolling_restarts=1"
        ),
    ),
    ModelMutant(
        name="join-reply-names-the-preferred-protocol",
        what="a JoinGroup reply names the assignor that the member lists first instead of the selected one",
        edit=Edit(
            _JOIN_PHASE,
            "    if m == s.leader:\n        s.member[m].net.to_leader = 1",
            "    s.member[m].net.protocol = c.lists[s.member[m].list_index] & 3\n"
            "    if m == s.leader:\n        s.member[m].net.to_leader = 1",
        ),
        caught_by="join_reply_carries_the_selected_protocol",
        bounds=Bounds.from_address(
            "eager?members=2&partitions=1&crashes=0&initial_delay=off&upgrade=legal&rolling_restarts=1"
        ),
    ),
)
