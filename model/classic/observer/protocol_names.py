"""Names of the lists and votes that a state has as numbers, for members and in replies.

Assignor names occur only on an upgrade path (`model.vocabulary.upgrade_paths`), where each member lists assignors and
the coordinator selects one that all of them list. Elsewhere there is one assignor, and the state has no number for it.
"""

from __future__ import annotations

from rebalance_check.model.classic.state import Message, State
from rebalance_check.model.vocabulary.bounds import Bounds, RebalanceProtocol
from rebalance_check.model.vocabulary.upgrade_paths import NAMES, AssignorList, is_cooperative_list, path_numbered


def list_of(bounds: Bounds, state: State, m: int) -> AssignorList:
    """The assignors that m lists, on an upgrade path."""
    return path_numbered(bounds.upgrade).lists[state.member[m].list_index]


def protocol_of(bounds: Bounds, state: State, m: int) -> str:
    """``eager`` or ``cooperative``: how m treats its partitions.

    On an upgrade path it follows from the member's list, not from the selected assignor: a consumer is COOPERATIVE only
    if every assignor that it lists supports that (KIP-429, ``ConsumerCoordinator``).
    """
    if not bounds.upgrade:
        return bounds.protocol.value
    cooperative = is_cooperative_list(list_of(bounds, state, m))
    return (RebalanceProtocol.COOPERATIVE if cooperative else RebalanceProtocol.EAGER).value


def replied_protocol(message: Message) -> str:
    """The selected protocol that a JoinGroup reply carries; empty where members have no lists, or it carries none."""
    return protocol_name(message.protocol)


def selected_protocol(state: State) -> str:
    """The protocol of the group's generation; empty where members have no lists, or there is none."""
    return protocol_name(state.selected_protocol)


def protocol_name(number: int) -> str:
    """The name of a protocol; empty for 0, "none": states count from 1, because every field of an empty state is 0."""
    return NAMES[number - 1] if number else ""
