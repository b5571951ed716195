"""The two entry points of the pipeline: `fuzz` runs and judges a campaign, `judge_table` judges its table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from rebalance_check.impl.runtime.options import SimulationOptions
from rebalance_check.impl.simulator import simulate as simulator
from rebalance_check.model.version import __version__
from rebalance_check.model.vocabulary.errors import RebalanceCheckError
from rebalance_check.model.vocabulary.progress import ProgressListener, ignore_progress
from rebalance_check.pipeline.campaign import Campaign, Runner, Simulate, Work, check_seeds
from rebalance_check.pipeline.limits import NO_LIMITS, Limits, OnFinding, Watch, ignore_finding
from rebalance_check.pipeline.results import FuzzResult
from rebalance_check.pipeline.run_in_memory import fuzz_in_memory
from rebalance_check.pipeline.session import LOCAL_MASTER
from rebalance_check.properties.catalogue import select
from rebalance_check.properties.known import NOTHING_KNOWN, KnownFindings

ENGINES: Final = ("local", "spark")


def fuzz(
    seeds: range,
    options: SimulationOptions,
    *,
    engine: str = "local",
    out: Path | None = None,
    invariants: Sequence[str] = (),
    simulate: Simulate = simulator,
    subject: str = "simulator",
    master: str = LOCAL_MASTER,
    workers: int | None = None,
    require_tested: bool = False,
    list_runs: bool = False,
    known: KnownFindings = NOTHING_KNOWN,
    limits: Limits = NO_LIMITS,
    on_finding: OnFinding = ignore_finding,
    progress: ProgressListener = ignore_progress,
) -> FuzzResult:
    """Simulate the seeds, judge every run, and explain one run per broken claim.

    ``engine`` is ``local`` (``workers`` processes, default one per core) or ``spark`` (``master``, default embedded).
    ``out`` is the folder of the history table: started again with the same campaign, only the missing part of the seeds
    is simulated. Without it the local engine keeps nothing, Spark a table that is deleted at the end. ``invariants``
    are names or families (default: all), ``simulate`` and ``subject`` put another subject in the simulator's place.
    With ``require_tested`` the campaign is undecided when no run put one of the claims to the test; with ``list_runs``
    `FuzzResult.listed` has the verdict on each run. Findings in ``known`` count for nothing; ``on_finding``
    takes the first finding that is new, ``limits`` say when the campaign ends.

    Raises `RebalanceCheckError` for seeds, engine, folder or extras that do not serve.
    """
    check_seeds(seeds)
    require_engine(engine, workers)
    campaign = Campaign(subject, options, __version__)
    names = tuple(invariant.name for invariant in select(invariants))
    work = Work(seeds, Runner(simulate, campaign), names, known)
    watch = Watch(limits, known, on_finding)
    if out is None and engine == "local":
        result = fuzz_in_memory(work, workers, progress, watch, list_runs=list_runs)
        return replace(result, require_tested=require_tested)
    require_tables()
    from rebalance_check.pipeline.engines import engine_named  # noqa: PLC0415 - needs the extra `tables`
    from rebalance_check.pipeline.run_on_table import fuzz_on_table  # noqa: PLC0415 - needs the extra `tables`

    chosen = engine_named(engine, master, workers)
    with TemporaryDirectory(prefix="rebalance-check-") as scratch:
        result = fuzz_on_table(work, chosen, out or Path(scratch) / "table", progress, watch, list_runs=list_runs)
    return replace(result, require_tested=require_tested)


def judge_table(
    path: Path,
    *,
    engine: str = "local",
    invariants: Sequence[str] = (),
    master: str = LOCAL_MASTER,
    workers: int | None = None,
    require_tested: bool = False,
    list_runs: bool = False,
    known: KnownFindings = NOTHING_KNOWN,
    progress: ProgressListener = ignore_progress,
) -> FuzzResult:
    """Judge every run of a history table that `fuzz` wrote to ``path``; the table is read only.

    ``require_tested``, ``list_runs`` and ``known`` are as in `fuzz`. A shard or an event that cannot be read
    hides no verdict: `FuzzResult.faults` and undecided verdicts name it.

    Raises `RebalanceCheckError` when it is no table, or nothing in it can be read.
    """
    require_engine(engine, workers)
    require_tables()
    from rebalance_check.pipeline import run_on_table  # noqa: PLC0415 - needs the extra `tables`
    from rebalance_check.pipeline.engines import engine_named  # noqa: PLC0415 - needs the extra `tables`

    chosen = engine_named(engine, master, workers)
    result = run_on_table.judge_stored_runs(path, chosen, invariants, progress, known, list_runs=list_runs)
    return replace(result, require_tested=require_tested)


def require_engine(name: str, workers: int | None) -> None:
    """Check that ``name`` is one of `ENGINES`, and ``workers`` a number of processes or None.

    Raises: RebalanceCheckError when one of them is not.
    """
    if name not in ENGINES:
        raise RebalanceCheckError(f"{name!r} is no engine: choose one of {', '.join(ENGINES)}")
    if workers is not None and workers < 1:
        raise RebalanceCheckError(f"workers is {workers}: choose a number from 1, or none for one per core")


def require_tables() -> None:
    """Check that the extra for tables is installed.

    Raises: RebalanceCheckError when it is not.
    """
    if find_spec("pyarrow") is None:
        raise RebalanceCheckError(
            "history tables need PyArrow, which is not installed: pip install 'rebalance-check[tables]', "
            "or leave out --out and --spark"
        )
