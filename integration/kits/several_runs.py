"""Several runs of one subject as one report: findings of some runs only are shown all the same.

    python -m rebalance_check.integration.kits.several_runs RUN.json... > docs/clients/SUBJECT.json

A run is the output of ``rebalance-check conform client --json``.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Final

import msgspec

from rebalance_check.integration.kits.report import KitReport, KitRow
from rebalance_check.integration.kits.scoreboard import read_reports
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.properties.verdict import Outcome

_WORST_FIRST: Final = (Outcome.VIOLATED, Outcome.UNDECIDED, Outcome.HELD, Outcome.UNTESTED)


def as_one(runs: Sequence[KitReport]) -> KitReport:
    """One report of several runs of a subject: for each claim the row of the worst outcome, without its history.

    It has the seed of the first run, and the median of their times; scenarios that were cut short in any run are named.

    Raises: RebalanceCheckError where the runs are of different subjects, or there are none.
    """
    subjects = sorted({run.subject for run in runs})
    if len(subjects) != 1:
        raise RebalanceCheckError(f"reports of one subject are wanted, not of {', '.join(subjects) or 'none'}")
    return replace(
        runs[0],
        seconds=round(median(run.seconds for run in runs), 1),
        rows=tuple(_as_one(rows) for rows in zip(*(run.rows for run in runs), strict=True)),
        unfinished="; ".join(dict.fromkeys(run.unfinished for run in runs if run.unfinished)),
    )


def _as_one(rows: Sequence[KitRow]) -> KitRow:
    worst = min(rows, key=lambda row: _WORST_FIRST.index(row.outcome))
    return replace(worst, checked=sum(row.checked for row in rows), history="")


def main(arguments: Sequence[str]) -> int:
    """Print the report of the runs whose files are named."""
    report = as_one(read_reports([Path(name) for name in arguments]))
    print(msgspec.json.format(msgspec.json.encode(report), indent=1).decode())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
