"""The Python of the documents passes mypy strict, as a reader who copies it would run it."""

import os
import re
import subprocess
import sys
from pathlib import Path

import rebalance_check

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
PYTHON = re.compile(r"^```python(?![^\n]*untyped-library)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def mypy_strict(folder: Path) -> str:
    """Mypy's errors in each file of the folder; of the package itself only the types count, not its own errors."""
    package = Path(rebalance_check.__file__).parent
    environment = dict(os.environ)
    if "site-packages" not in package.parts:
        environment["MYPYPATH"] = str(package.parent)
    files = sorted(path.name for path in folder.glob("*.py"))
    options = ["--strict", "--config-file=", "--follow-imports=silent", "--scripts-are-modules", "--cache-dir=cache"]
    result = subprocess.run(
        [sys.executable, "-m", "mypy", *options, *files],
        capture_output=True, text=True, cwd=folder, env=environment, check=False,
    )  # fmt: skip
    assert result.returncode in {0, 1}, result.stderr
    return result.stdout


def test_each_example_passes_mypy_strict__and_a_wrong_one_would_not(tmp_path: Path) -> None:
    for page in PAGES:
        for number, code in enumerate(PYTHON.findall(page.read_text(encoding="utf-8")), 1):
            name = f"{page.stem.lower().replace('-', '_')}_{number}.py"
            (tmp_path / name).write_text(code, encoding="utf-8")
    assert (tmp_path / "readme_1.py").exists()
    code = (
        "from rebalance_check import PartitionsAssigned\nPartitionsAssigned(member=1, generation=1, partitions='t-0')\n"
    )
    (tmp_path / "wrong.py").write_text(code, encoding="utf-8")
    errors = [line for line in mypy_strict(tmp_path).splitlines() if ": error:" in line]
    assert [line for line in errors if not line.startswith("wrong.py:")] == []
    assert len(errors) == 2, errors
