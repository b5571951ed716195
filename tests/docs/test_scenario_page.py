"""The page on scenarios lists the verbs there are."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

import pytest

from rebalance_check.impl.scenarios import COORDINATOR_LANGUAGE, Language
from rebalance_check.integration.exchange.fault_file import FAULT_LANGUAGE
from rebalance_check.model.vocabulary.actions import ActionKind
from tests.expectations import Expectations
from tests.impl.client_scenarios import LANGUAGE as CLIENT_LANGUAGE
from tests.impl.test_simulator_scenarios import LANGUAGE as SIMULATOR_LANGUAGE
from tests.impl.worker_scenarios import LANGUAGE as WORKER_LANGUAGE
from tests.model.test_model_scenarios import LANGUAGE as MODEL_LANGUAGE
from tests.status_scenarios import LANGUAGE as STATUS_LANGUAGE

DOCS: Final = Path(__file__).parents[2] / "docs"
PAGE: Final = DOCS / "scenarios.md"
LANGUAGES: Final[tuple[Language[Any], ...]] = (
    COORDINATOR_LANGUAGE,
    CLIENT_LANGUAGE,
    SIMULATOR_LANGUAGE,
    MODEL_LANGUAGE,
    STATUS_LANGUAGE,
    WORKER_LANGUAGE,
)


def table(language: Language[Any]) -> str:
    """The verbs but for the actions, which stand in one row."""
    rows = language.table().splitlines()
    own = [row for row in rows if row.split("`")[1:2] == [] or row.split("`")[1].split()[0] not in set(ActionKind)]
    return "\n".join([*own, *(["| `ACTION [MEMBER] [CHOICE]` | Perform an action. |"] if len(own) < len(rows) else [])])


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.name)
def test_the_page_lists_the_verbs_of_a_language(language: Language[Any], expectations: Expectations) -> None:
    assert_listed(PAGE, language, expectations)


def test_the_page_on_the_broker_lists_the_faults(expectations: Expectations) -> None:
    assert_listed(DOCS / "broker.md", FAULT_LANGUAGE, expectations)


def assert_listed(path: Path, language: Language[Any], expectations: Expectations) -> None:
    page = path.read_text(encoding="utf-8")
    begin, end = f"<!-- verbs of {language.name} -->\n", "<!-- end -->"
    assert page.count(begin) == 1
    head, _, rest = page.partition(begin)
    listed = f"{head}{begin}\n{table(language)}\n\n{end}{rest.partition(end)[2]}"
    expectations.text(path, listed)


def test_the_page_names_every_folder_of_scenarios() -> None:
    page = PAGE.read_text(encoding="utf-8")
    folders = {path.parent.name for path in (PAGE.parents[1] / "tests" / "data").glob("*/*.scenario")}
    assert folders == set(re.findall(r"`tests/data/(\w+)`", page))
