"""``rebalance-check judge DIR``: a history table is judged as a whole, by either engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rebalance_check.commands._campaign_results import campaign_results
from rebalance_check.commands._ci_options import CiOptions
from rebalance_check.commands._claim_options import ClaimOptions
from rebalance_check.commands._console import Console
from rebalance_check.commands._fuzz_result import fuzz_document, show_result
from rebalance_check.commands._options import chosen_rows
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.pipeline.fuzz import judge_table
from rebalance_check.pipeline.session import LOCAL_MASTER
from rebalance_check.properties.known import KnownFindings
from rebalance_check.report.documents import counterexample_document
from rebalance_check.report.runs import explained
from rebalance_check.report.terminal import suggested


def judge_folder(
    console: Console,
    paths: tuple[Path, ...],
    claims: ClaimOptions,
    *,
    known: KnownFindings,
    spark: str | None,
    ci: CiOptions,
    html: Path | None,
) -> int:
    """Judge the one history table of ``paths``, show the findings, and return the exit code.

    Raises: RebalanceCheckError when there are other inputs besides the table.
    """
    if len(paths) != 1:
        raise RebalanceCheckError(
            f"{len(paths)} inputs and one of them a folder: judge a history table alone, and files together"
        )
    with console.progress() as advance:
        names = [invariant.name for invariant in claims.invariants()]
        result = judge_table(
            paths[0], engine="spark" if spark else "local", master=spark or LOCAL_MASTER, invariants=names,
            require_tested=claims.require_tested, list_runs=html is not None, known=known, progress=advance,
        )  # fmt: skip
    shown: list[tuple[str, str]] = []
    found: list[dict[str, Any]] = []
    for run in result.first_causes:
        replay = suggested("judge", paths[0], "--invariant", run.counterexample.invariant)
        text, _, _ = explained(run.history, run.counterexample, replay, context=chosen_rows())
        shown.append((text, replay))
        found.append({"seed": run.seed, **(counterexample_document(run.counterexample) or {})})
    ci.write(console, "judge", lambda: campaign_results(str(paths[0]), result, shown), result.exit_code)
    if html is not None:
        from rebalance_check.commands._campaign_pages import page_of_table, write_campaign  # noqa: PLC0415 - needs an extra

        write_campaign(console, html, page_of_table(paths[0], result))
    show_result(console, result, [text for text, _ in shown])
    return console.finish(fuzz_document(result) | {"counterexamples": found}, result.exit_code)
