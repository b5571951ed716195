"""The edits of the mutants that break the contract of a coordinator with the code that uses it."""

from __future__ import annotations

from typing import Final

from rebalance_check.impl.mutants.edit import Edit

_CLIENT: Final = "rebalance_check.impl.client"
_COORDINATOR: Final = f"{_CLIENT}.coordinator:Coordinator"
_JOINING: Final = f"{_CLIENT}.joining:Joining"

_HEARTBEATING: Final = f"{_CLIENT}.heartbeating:Heartbeating"

CONTRACT_EDITS: Final[dict[str, tuple[Edit, ...]]] = {
    "closing-member-leaves-against-its-setting": (
        Edit(f"{_COORDINATOR}.close", "if self.config.leave_on_close:", "if not self.config.leave_on_close:"),
    ),
    "static-member-leaves": (Edit(f"{_HEARTBEATING}._leave", " and self.config.group_instance_id is None", ""),),
}
