"""One claim has one name: the model's predicate and the invariant over events that say the same are called the same.

The report of a counterexample of the model looks the invariant up by that name.
"""

from __future__ import annotations

from typing import Final

from rebalance_check.model.classic.model import MODEL
from rebalance_check.properties.catalogue import CATALOGUE

IN_BOTH: Final = {
    "assignment_is_disjoint",
    "eager_owns_nothing_while_joining",
    "every_partition_gets_an_owner",
    "generation_has_only_joined",
    "generation_monotonicity",
    "leader_is_member",
    "load_restores_the_log",
    "lost_is_not_committed",
    "no_double_ownership",
    "one_assignment_per_generation",
    "one_member_per_instance",
    "owned_equals_assigned",
    "persisted_before_propagated",
    "rebalance_completes",
    "reset_member_loses_everything",
    "selected_protocol_is_listed_by_all",
}
"""The claims that both make. The model's other claims are about its state, which no event shows."""


def test_a_claim_of_model_and_catalogue_has_one_name() -> None:
    predicates = {predicate.__name__ for predicate in (*MODEL.invariants, *MODEL.step_invariants)}
    liveness = {claim.name for claim in MODEL.liveness}
    assert (predicates | liveness) & {invariant.name for invariant in CATALOGUE} == IN_BOTH
