"""Why a client cannot put the claims of a KIP to the test: a lack of its protocol, or of its command."""

from __future__ import annotations

from typing import Final

from rebalance_check.integration.kits.client.placeholders import INSTANCE, ClientCommand
from rebalance_check.integration.kits.client.view import Spoken

NEEDS: Final = {
    "KIP-62": Spoken(join=1),
    "KIP-345": Spoken(join=5),
    "KIP-394": Spoken(join=4),
    "KIP-429": Spoken(subscription=1),
    "KIP-792": Spoken(subscription=2),
    "KIP-814": Spoken(join=9),
}
"""From which version of JoinGroup, or of the subscription in it, a client can meet the KIP."""

STATIC: Final = "KIP-345"


def lacking(spoken: Spoken, command: ClientCommand) -> dict[str, str]:
    """Why the KIPs cannot be tested with a client of these versions; those that can are left out."""
    found = {kip: why for kip, needed in NEEDS.items() if (why := _too_old(spoken, needed))}
    if not command.has(INSTANCE):
        found.setdefault(STATIC, f"the command has no {INSTANCE}, so no member is static")
    return found


def _too_old(spoken: Spoken, needed: Spoken) -> str:
    if 0 <= spoken.join < needed.join:
        return f"the client's JoinGroup is v{spoken.join} at most, and this needs v{needed.join}"
    if spoken.join >= 0 and spoken.subscription < needed.subscription:
        has = f"v{spoken.subscription} at most" if spoken.subscription >= 0 else "not readable"
        return f"the client's subscription is {has}, and this needs v{needed.subscription}"
    return ""
