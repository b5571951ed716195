"""Bounds that the state machines draw: a failure under them is the coordinator's, not the operator's."""

from hypothesis import given

from rebalance_check.model.vocabulary.bounds import Bounds
from rebalance_check.model.vocabulary.upgrade_paths import PATHS, keeps_names, path_numbered
from rebalance_check.properties.machines.strategies import bounds_of_all_concerns


@given(bounds_of_all_concerns(concerns=("upgrade",)))
def test_no_run_takes_an_upgrade_path_on_which_a_name_changes_its_code(bounds: Bounds) -> None:
    assert keeps_names(path_numbered(bounds.upgrade))


def test_one_path_changes_the_code_of_a_name() -> None:
    assert [path.name for path in PATHS if not keeps_names(path)] == ["reused-name"]
