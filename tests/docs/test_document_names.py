"""Everything the documents name is there: headings that links lead to, files, mutants, scenarios, paths of tests."""

import re
from collections.abc import Iterator
from pathlib import Path

from rebalance_check.impl.mutants import MUTANTS
from rebalance_check.integration.connect.workers.scenarios import SCENARIOS
from rebalance_check.integration.kits.client.scenarios import SCENARIOS as CLIENT_SCENARIOS

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
FOLDERS = "model|properties|impl|integration|pipeline|rebalance_check|tests|bench|docs"


def texts() -> Iterator[tuple[Path, str]]:
    return ((page, page.read_text(encoding="utf-8")) for page in PAGES)


def anchors(page: Path) -> set[str]:
    """The headings of a page as a link writes them: lower case, without punctuation, hyphens for spaces."""
    headings = re.findall(r"^#+ (.+)$", FENCED.sub("", page.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_links_to_a_heading_lead_to_one() -> None:
    links = [
        (page, target, anchor)
        for page, text in texts()
        for target, anchor in re.findall(r"\]\((?!https?:)([^)#]*)#([^)]+)\)", FENCED.sub("", text))
    ]
    assert len(links) >= 3
    wrong = [
        f"{page.name}: {target}#{anchor}"
        for page, target, anchor in links
        if anchor not in anchors(page.parent / target if target else page)
    ]
    assert wrong == []


def test_files_that_a_page_names_exist() -> None:
    named = {
        (page.name, path)
        for page, text in texts()
        for path in re.findall(rf"(?:`|\s)((?:{FOLDERS})/[\w/]+(?:\.py|\.md|\.json|/))(?=[`\s,.;:)])", text)
    }
    assert len(named) > 30
    assert sorted(f"{page}: {path}" for page, path in named if not (ROOT / path).exists()) == []


def test_mutants_and_scenarios_in_command_lines_exist() -> None:
    scenarios = {scenario.name for scenario in SCENARIOS}
    of_clients = set(CLIENT_SCENARIOS)
    mutants = {name.rpartition("/")[2] for name in MUTANTS}
    lines = [line for _, text in texts() for line in re.findall(r"rebalance-check [^\n`]+", text)]
    named = {name for line in lines for name in re.findall(r"--mutant ([\w/-]+)(?![\w/-]|\.\.\.)", line)}
    asked = {(line, name) for line in lines for name in re.findall(r"--scenario ([\w-]+)", line) if name != "NAME"}
    assert len(named) > 5
    assert {name for name in named if name.rpartition("/")[2] not in mutants} == set()
    assert asked
    assert {name for line, name in asked if " conform client " in line} <= of_clients
    assert {name for line, name in asked if " conform client " not in line} <= scenarios


def test_pytest_lines_name_what_is_there() -> None:
    paths = [path for _, text in texts() for path in re.findall(r"^pytest [^\n]*?(tests/[\w/.]+)", text, re.MULTILINE)]
    assert paths
    assert [path for path in paths if not (ROOT / path).exists()] == []
