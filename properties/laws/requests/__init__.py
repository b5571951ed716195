"""Requests: what clients send, on the wire or in their own record.

`views.clients` is the view of a client that all of them look at.
"""

from __future__ import annotations

from typing import Final

from rebalance_check.properties.laws.requests import (
    claiming,
    coordinating,
    heartbeats,
    identity,
    joining,
    metadata,
    static,
)

LAWS: Final = (
    *joining.LAWS,
    *metadata.LAWS,
    *identity.LAWS,
    *static.LAWS,
    *claiming.LAWS,
    *heartbeats.LAWS,
    *coordinating.LAWS,
)
"""In the order in which reports name them."""
