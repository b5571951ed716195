"""The fingerprints of a share on disk: sorted runs find what was added, keep each once, and stay few."""

from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("llvmlite", reason="the extra 'explore' is not installed")

import numpy as np

from rebalance_check.model.checker.safety import sorted_runs
from rebalance_check.model.checker.safety.shard import no_check
from rebalance_check.model.checker.safety.sorted_runs import SortedRuns

fingerprints = st.integers(1, 60) | st.integers(1, (1 << 64) - 1)


def array(values: set[int]) -> Any:
    return np.array(sorted(values), np.uint64)


@given(st.lists(st.sets(fingerprints, min_size=1), max_size=8), st.sets(fingerprints), st.integers(1, 5))
def test_what_was_added_is_found_and_nothing_else(parts: list[set[int]], wanted: set[int], block: int) -> None:
    kept = set[int]()
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(sorted_runs, "BLOCK", block)
        runs = SortedRuns(Path(folder))
        for number, part in enumerate(parts):
            if new := part - kept:
                runs.add(f"run-{number}", array(new))
            kept |= part
        assert set(runs.known(array(wanted), no_check).tolist()) == wanted & kept
        written = [np.fromfile(path, np.uint64) for path in runs.paths]
        assert sorted(value for run in written for value in run.tolist()) == sorted(kept)
        assert all((run[1:] > run[:-1]).all() for run in written)
        sizes = [run.size for run in runs.runs]
        assert all(2 * after < before for before, after in pairwise(sizes))


def test_a_merge_leaves_the_files_that_it_reads(tmp_path: Path) -> None:
    runs = SortedRuns(tmp_path)
    runs.add("one", array({1, 5}))
    before = {path: path.read_bytes() for path in runs.paths}
    runs.add("two", array({2, 3}))
    assert [run.size for run in runs.runs] == [4]
    assert {path: path.read_bytes() for path in before} == before
