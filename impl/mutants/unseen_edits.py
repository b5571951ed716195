"""Edits that change only what an observer sees, or when a member is polled."""

from __future__ import annotations

from typing import Final

from rebalance_check.impl.mutants.edit import Edit
from rebalance_check.impl.mutants.harmless_edit import HarmlessEdit

_CLIENT: Final = "rebalance_check.impl.client"
_CONNECT: Final = "rebalance_check.impl.connect"
_RECORD: Final = (
    "the event alone is missing or says less: what the group does is the same, and who records it is the observer."
)
_BUSY: Final = (
    "the member is polled each millisecond until its look-up is answered, and sends the same as without that."
)

UNSEEN_EDITS: Final[tuple[HarmlessEdit, ...]] = (
    HarmlessEdit(
        Edit(
            "rebalance_check.impl.connect.config.store:ConfigStore.snapshot",
            "if self._recorder.listens:",
            "if not (self._recorder.listens):",
        ),
        "equivalent",
        _RECORD,
    ),
    HarmlessEdit(
        Edit("rebalance_check.impl.connect.herder.instance:Instance.forget", "self._events.stopped(self.key)", "pass"),
        "equivalent",
        _RECORD,
    ),
    HarmlessEdit(
        Edit(
            "rebalance_check.impl.connect.worker.coordinator:WorkerCoordinator._has_coordinator_or_gave_up",
            "self._note_the_wait(self._unknown_since_ms)",
            "pass",
        ),
        "equivalent",
        _RECORD,
    ),
    HarmlessEdit(
        Edit(
            "rebalance_check.impl.connect.worker.membership:WorkerMembership.owner_url",
            "self._report.owner_looked_up(work if isinstance(work, str) else work.name, url, self._generation)",
            "pass",
        ),
        "equivalent",
        _RECORD,
    ),
    HarmlessEdit(
        Edit(
            "rebalance_check.impl.connect.herder.reconfiguring:Reconfiguring._emit_generated",
            "self.recorder.emit(\n        TaskConfigsGenerated(\n            member=self.member,\n          "
            "  generation=self.generation,\n            member_id=at.member_id,\n            "
            "connector=connector,\n            connector_config=config_text(config),\n            "
            'tasks=tuple((f"{connector}-{number}", config_text(one)) for number, one in '
            "enumerate(configs)),\n            published=published,\n            "
            "config_offset=self.config_state.offset,\n        )\n    )",
            "pass",
        ),
        "equivalent",
        _RECORD,
    ),
    HarmlessEdit(
        Edit(
            "rebalance_check.impl.connect.worker.coordinator:WorkerCoordinator._note_the_wait",
            "self._report.coordinator_awaited()",
            "pass",
        ),
        "equivalent",
        _RECORD,
    ),
    HarmlessEdit(
        Edit(
            "rebalance_check.impl.connect.herder.updating:Updating._apply_target_state",
            "self.recorder.emit(TargetStateChanged(member=self.member, connector=connector, state=state.value))",
            "pass",
        ),
        "equivalent",
        _RECORD,
    ),
    HarmlessEdit(
        Edit(
            "rebalance_check.impl.connect.status.queries:StatusQueries._listed",
            "self._recorder.emit(StatusesListed(worker=self.worker, kind=kind, connector=connector, "
            "names=tuple(names)))",
            "pass",
        ),
        "equivalent",
        _RECORD,
    ),
    HarmlessEdit(
        Edit(
            "rebalance_check.impl.client.coordinator:Coordinator.next_poll",
            "return self._lookup.next_ms if self._lookup.next_ms is None else max(self._retry_ms, "
            "self._lookup.next_ms)",
            "pass",
        ),
        "equivalent",
        _BUSY,
    ),
    HarmlessEdit(
        Edit(
            "rebalance_check.impl.connect.status.queries:StatusQueries.connectors",
            'self._listed("connectors", "", names)',
            "pass",
        ),
        "equivalent",
        _RECORD,
    ),
)
"""Each with its reason."""
