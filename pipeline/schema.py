"""The contract of the tables: one row per run with its whole history, and one row per run and invariant.

*Runs* hold a subject's histories. ``events`` are the JSON lines of the history (`properties.history`), one list element
per event in order of observation, so that SQL can explode them and a single row gives back the history file.
*Verdicts* are derived from runs and can be made again at any time.

PyArrow is imported here and not at the top of the package: only who keeps tables needs it (extra ``tables``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import pyarrow as pa

from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.pipeline.campaign import RunRow
from rebalance_check.pipeline.judging import VerdictRow

SCHEMA_VERSION: Final = 1
"""Raised when a column changes its name, type or meaning; a table of another version is refused."""

RUNS: Final = pa.schema(
    [
        pa.field("seed", pa.int64(), nullable=False),
        pa.field("subject", pa.string(), nullable=False),
        pa.field("options", pa.string(), nullable=False),
        pa.field("version", pa.string(), nullable=False),
        pa.field("event_count", pa.int64(), nullable=False),
        pa.field("events", pa.list_(pa.field("element", pa.string(), nullable=False)), nullable=False),
    ]
)

VERDICTS: Final = pa.schema(
    [
        pa.field("seed", pa.int64(), nullable=False),
        pa.field("invariant", pa.string(), nullable=False),
        pa.field("outcome", pa.string(), nullable=False),
        pa.field("count", pa.int64(), nullable=False),
        pa.field("event_count", pa.int64(), nullable=False),
        pa.field("detail", pa.string(), nullable=False),
        pa.field("situations", pa.list_(pa.field("element", pa.string(), nullable=False)), nullable=False),
    ]
)
"""``situations`` are the run's (`properties.situations`), in the row of its first claim; others have none."""


def runs_batch(rows: Sequence[RunRow]) -> pa.RecordBatch:
    """The rows as columns of `RUNS`."""
    columns: list[list[Any]] = [
        [row.seed for row in rows],
        [row.subject for row in rows],
        [row.options for row in rows],
        [row.version for row in rows],
        [len(row.events) for row in rows],
        [row.events for row in rows],
    ]
    return _batch(columns, RUNS)


def verdicts_batch(rows: Sequence[VerdictRow], situations: Mapping[int, frozenset[str]]) -> pa.RecordBatch:
    """The rows as columns of `VERDICTS`; ``situations`` has those of each run by its seed."""
    first = {row.seed: place for place, row in reversed(list(enumerate(rows)))}
    columns: list[list[Any]] = [
        [row.seed for row in rows],
        [row.invariant for row in rows],
        [str(row.outcome) for row in rows],
        [row.count for row in rows],
        [row.event_count for row in rows],
        [row.detail for row in rows],
        [sorted(situations[row.seed]) if first[row.seed] == place else [] for place, row in enumerate(rows)],
    ]
    return _batch(columns, VERDICTS)


def _batch(columns: list[list[Any]], schema: pa.Schema) -> pa.RecordBatch:
    arrays = [pa.array(values, field.type) for values, field in zip(columns, schema, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def require_columns(found: pa.Schema, wanted: pa.Schema, where: object) -> None:
    """Check that every wanted column is there with its type.

    Raises: RebalanceCheckError when one is missing or of another type.
    """
    for field in wanted:
        index = found.get_field_index(field.name)
        if index < 0:
            raise RebalanceCheckError(
                f"{where} has no column {field.name!r} (it has {', '.join(found.names) or 'none'}): "
                f"it is no table of this program; name a folder that `fuzz --out` wrote"
            )
        if not _same_type(found.field(index).type, field.type):
            raise RebalanceCheckError(
                f"the column {field.name!r} of {where} holds {found.field(index).type}, expected {field.type}: "
                f"it is no table of this program; name a folder that `fuzz --out` wrote"
            )


def _same_type(found: pa.DataType, wanted: pa.DataType) -> bool:
    """Equal, up to the name that a writer gives to the elements of a list."""
    if pa.types.is_list(found) and pa.types.is_list(wanted):
        return bool(found.value_type == wanted.value_type)
    return bool(found == wanted)
