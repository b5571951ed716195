"""Examples in docstrings are run."""

import doctest
import importlib
import pkgutil

import rebalance_check


def test_examples_in_docstrings_print_what_they_say() -> None:
    failed = []
    for found in pkgutil.walk_packages(rebalance_check.__path__, "rebalance_check."):
        if not found.name.endswith("__main__"):
            result = doctest.testmod(importlib.import_module(found.name), optionflags=doctest.ELLIPSIS)
            failed += [found.name] if result.failed else []
    assert failed == []
