"""A skip is a failure under --no-skip, so that a suite cannot pass by not running."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SKIPS = {
    "a_test": "import pytest\ndef test_it():\n    pytest.skip('no broker')\n",
    "a_mark": "import pytest\n@pytest.mark.skip(reason='no broker')\ndef test_it(): pass\n",
    "a_module": "import pytest\npytest.skip('no broker', allow_module_level=True)\n",
}


def run_pytest(folder: Path, body: str, *options: str) -> subprocess.CompletedProcess[str]:
    tests = Path(__file__).parents[1]
    (folder / "tests").mkdir()
    shutil.copy(tests / "expectations.py", folder / "tests")  # conftest.py imports it
    shutil.copy(tests / "conftest.py", folder)
    (folder / "test_it.py").write_text(body, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *options, str(folder)]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)


@pytest.mark.parametrize("kind", sorted(SKIPS))
def test_a_skip_fails__under_no_skip(kind: str, tmp_path: Path) -> None:
    result = run_pytest(tmp_path, SKIPS[kind], "--no-skip")
    assert result.returncode != 0
    assert "--no-skip forbids that: no broker" in result.stdout


def test_a_skip_is_no_failure__without_it(tmp_path: Path) -> None:
    assert run_pytest(tmp_path, SKIPS["a_test"]).returncode == 0


def test_an_expected_failure_is_no_skip(tmp_path: Path) -> None:
    body = "import pytest\n@pytest.mark.xfail(strict=True)\ndef test_it(): raise ValueError\n"
    assert run_pytest(tmp_path, body, "--no-skip").returncode == 0
