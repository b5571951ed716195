"""Concern *new members*: ids that are given back unused, and first JoinGroups that wait for too long."""

from typing import Final

from rebalance_check.model.checker.specification import Concern
from rebalance_check.model.classic.parts.new_members import (
    newcomer_is_forgotten_while_it_waits,
    newcomer_that_expires_is_told,
    newcomers_are_parked,
    unused_id_is_forgotten,
    unused_id_is_given_back,
    who_gave_its_id_back_is_not_waited_for,
)

NEW_MEMBERS: Final = Concern(
    invariants=(newcomers_are_parked,),
    step_invariants=(
        who_gave_its_id_back_is_not_waited_for,
        newcomer_that_expires_is_told,
    ),
    reachable_states=(
        unused_id_is_given_back,
        unused_id_is_forgotten,
        newcomer_is_forgotten_while_it_waits,
    ),
)
