"""Mutants of the model of the config topic."""

from __future__ import annotations

from typing import Final

from rebalance_check.model.checker.mutant import ModelMutant
from rebalance_check.model.checker.specification import Edit
from rebalance_check.model.vocabulary.bounds import Bounds

_PACKAGE: Final = "rebalance_check.model.connect.config."
_STATE: Final = _PACKAGE + "state"
_TOPIC: Final = _PACKAGE + "topic"
_READER: Final = _PACKAGE + "reader"

_WRITES: Final = Bounds.from_address("connect-config?members=1&partitions=2&crashes=0&compactions=0")
_COMPACTED: Final = Bounds.from_address("connect-config?members=2&partitions=2&crashes=0")
_AGAIN: Final = Bounds.from_address("connect-config?members=1&partitions=1&crashes=0&writes=4&compactions=0")
_REWRITES: Final = Bounds.from_address("connect-config?members=2&partitions=2&crashes=0&writes=4&task_rewrites")
_FENCED: Final = Bounds.from_address("connect-config?members=2&partitions=2&crashes=0&expiries=1&compactions=0&fencing")

CONFIG_MUTANTS: Final = (
    ModelMutant(
        name="commit-of-unknown-connector-is-applied",
        what="a commit that is read before its connector applies the task configs, also those of a deleted connector",
        edit=Edit(
            _READER,
            "    if me.connector == 0:\n        drop_deferred(c, me)\n        return\n",
            "",
        ),
        caught_by="unknown_connector_has_no_tasks",
        bounds=Bounds.from_address("connect-config?members=2&partitions=1&crashes=0&expiries=1&compactions=0"),
    ),
    ModelMutant(
        name="tombstone-is-ignored",
        what="a reader takes no notice of a connector's tombstone",
        edit=Edit(_READER, "            apply_removal(c, me)", "            me.pending = 0"),
        caught_by="recreated_connector_has_new_tasks",
        bounds=_AGAIN,
    ),
    ModelMutant(
        name="incomplete-commit-is-applied",
        what="a commit is applied although task configs are missing",
        edit=Edit(
            _READER,
            "            return False\n    return True\n\n\ndef apply_commit",
            "            return True\n    return True\n\n\ndef apply_commit",
        ),
        caught_by="listed_tasks_have_configs",
        bounds=_COMPACTED,
    ),
    ModelMutant(
        name="incomplete-commit-begins-a-generation",
        what="a commit without all task configs begins a generation of task configs nevertheless",
        edit=Edit(
            _READER, "        me.inconsistent = 1\n", "        me.inconsistent = 1\n        me.generation += 1\n"
        ),
        caught_by="incomplete_commit_changes_no_config",
        bounds=_COMPACTED,
    ),
    ModelMutant(
        name="task-config-needs-no-commit",
        what="a task config is applied when it is read",
        edit=Edit(
            _READER,
            "        me.deferred[record.task] = record.call\n",
            "        me.deferred[record.task] = record.call\n        me.committed[record.task] = record.call\n",
        ),
        caught_by="committed_configs_change_at_commits",
        bounds=_WRITES,
    ),
    ModelMutant(
        name="deferred-configs-outlive-the-commit",
        what="task configs wait on after their commit",
        edit=Edit(_READER, "    drop_deferred(c, me)\n    me.count = count", "    me.count = count"),
        caught_by="commit_ends_deferral",
        bounds=_WRITES,
    ),
    ModelMutant(
        name="applied-config-is-forgotten",
        what="a commit does not apply the connector config",
        edit=Edit(_READER, "        me.applied = me.connector", "        me.applied = 0"),
        caught_by="applied_is_current_at_the_commit",
        bounds=_WRITES,
    ),
    ModelMutant(
        name="generation-stays-at-one",
        what="the second commit does not begin another generation of task configs",
        edit=Edit(_READER, "        me.generation += 1", "        me.generation = 1"),
        caught_by="generation_counts_complete_commits",
        bounds=_WRITES,
    ),
    ModelMutant(
        name="commit-is-read-again",
        what="a reader begins anew after each commit",
        edit=Edit(
            _READER,
            "    me.position += 1\n    if record.kind",
            "    me.position = 0 if record.kind == Kind.COMMIT else me.position + 1\n    if record.kind",
        ),
        caught_by="offsets_never_decrease",
        bounds=_WRITES,
    ),
    ModelMutant(
        name="cleaner-confuses-tasks",
        what="the log cleaner takes the configs of all tasks for records of one key",
        edit=Edit(_STATE, "record.kind == other.kind and record.task == other.task", "record.kind == other.kind"),
        caught_by="snapshots_agree",
        bounds=_REWRITES,
    ),
    ModelMutant(
        name="old-leader-is-not-fenced",
        what="a leader that was replaced goes on with its transaction",
        edit=Edit(_TOPIC, "    if c.fencing == 1:\n        end_call", "    if c.fencing == 2:\n        end_call"),
        caught_by="listed_tasks_are_of_one_write",
        bounds=_FENCED,
    ),
    ModelMutant(
        name="reader-stops-at-inconsistency",
        what="a worker reads nothing more while the connector is inconsistent",
        edit=Edit(
            _READER, "    if me.position >= s.length:", "    if me.position >= s.length or me.inconsistent == 1:"
        ),
        caught_by="topic_is_read_to_the_end",
        bounds=_COMPACTED,
        liveness=True,
    ),
    ModelMutant(
        name="writer-does-not-read-back",
        what="a writer that has read its task configs back does not commit them",
        edit=Edit(_TOPIC, "or not has_read_all(s, m):", "or has_read_all(s, m):"),
        caught_by="writes_end",
        bounds=_WRITES,
        liveness=True,
    ),
)
