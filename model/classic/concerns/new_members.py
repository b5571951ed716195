"""Concern *new members*: ids that are given back unused, and first JoinGroups that wait for too long."""

from typing import Final

from rebalance_check.model.checker.specification import Concern
from rebalance_check.model.classic.parts.new_members import (
    expired_new_member_is_refused,
    new_member_expires_while_parked,
    new_members_are_parked,
    returned_id_is_not_waited_for,
    unused_id_expires,
    unused_id_is_returned,
)

NEW_MEMBERS: Final = Concern(
    invariants=(new_members_are_parked,),
    step_invariants=(
        returned_id_is_not_waited_for,
        expired_new_member_is_refused,
    ),
    reachable_states=(
        unused_id_is_returned,
        unused_id_expires,
        new_member_expires_while_parked,
    ),
)
