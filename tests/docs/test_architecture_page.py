"""Everything that ARCHITECTURE.md names is there."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("model", "properties", "impl", "integration", "pipeline", "rebalance_check", "tests", "docs")


def test_every_path_of_the_page_exists() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    named = set(re.findall(rf"`((?:{'|'.join(PACKAGES)})/[\w/.]+)`", text))
    assert len(named) > 20
    assert sorted(path for path in named if not (ROOT / path).exists()) == []


def test_every_place_to_begin_exists_in_its_package() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)/` \|.*\| ([^|]*) \|$", text, re.MULTILINE)
    places = [f"{package}/{name}" for package, cell in rows for name in re.findall(r"`([\w/.]+\.py)`", cell)]
    assert len(places) > 10
    assert [place for place in places if not (ROOT / place).exists()] == []
