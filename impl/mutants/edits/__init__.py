"""What each mutant of the implementation changes, by its name: the edits that `rebalance_check.impl.mutants` plants."""

from __future__ import annotations

from typing import Final

from rebalance_check.impl.mutants.edit import Edit
from rebalance_check.impl.mutants.edits.assignors import ASSIGNOR_EDITS
from rebalance_check.impl.mutants.edits.client import CLIENT_EDITS
from rebalance_check.impl.mutants.edits.configs import CONFIG_EDITS
from rebalance_check.impl.mutants.edits.connect import CONNECT_EDITS
from rebalance_check.impl.mutants.edits.connect_assignors import CONNECT_ASSIGNOR_EDITS
from rebalance_check.impl.mutants.edits.consumer import CONSUMER_EDITS
from rebalance_check.impl.mutants.edits.contract import CONTRACT_EDITS
from rebalance_check.impl.mutants.edits.coordinator import COORDINATOR_EDITS
from rebalance_check.impl.mutants.edits.coordinator_answers import ANSWER_EDITS
from rebalance_check.impl.mutants.edits.group_claims import GROUP_CLAIM_EDITS
from rebalance_check.impl.mutants.edits.need import NEED_EDITS
from rebalance_check.impl.mutants.edits.status import STATUS_EDITS
from rebalance_check.impl.mutants.edits.worker_duties import WORKER_DUTY_EDITS

EDITS: Final[dict[str, tuple[Edit, ...]]] = {
    **COORDINATOR_EDITS,
    **ANSWER_EDITS,
    **CLIENT_EDITS,
    **CONSUMER_EDITS,
    **NEED_EDITS,
    **CONTRACT_EDITS,
    **GROUP_CLAIM_EDITS,
    **WORKER_DUTY_EDITS,
    **CONNECT_EDITS,
    **ASSIGNOR_EDITS,
    **CONNECT_ASSIGNOR_EDITS,
    **STATUS_EDITS,
    **CONFIG_EDITS,
}
"""By name of the mutant; `rebalance_check.impl.mutants.registry` joins them with what is known about each."""
