"""Concern *duplicate requests*: the network delivers a copy of a request later, when the member may have gone on."""

from typing import Final

from rebalance_check.model.checker.specification import Concern, Rule
from rebalance_check.model.classic.coordinator import deliver_choices, deliver_duplicate
from rebalance_check.model.classic.parts.network import duplicate_request
from rebalance_check.model.vocabulary.actions import ActionKind

DUPLICATE_REQUESTS: Final = Concern(
    rules=(
        Rule(ActionKind.DUPLICATE_REQUEST, duplicate_request),
        Rule(ActionKind.DELIVER_DUPLICATE, deliver_duplicate, deliver_choices),
    ),
)
