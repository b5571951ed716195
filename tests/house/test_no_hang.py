"""A test that hangs fails with the stacks of its threads, so that a suite ends and says which test it was."""

import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
HANGS = "import time\ndef test_it():\n    time.sleep(600)\ndef test_other(): pass\n"


def test_a_hanging_test_is_named_and_the_others_go_on(tmp_path: Path) -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["pytest"]["ini_options"]
    (tmp_path / "test_it.py").write_text(HANGS, encoding="utf-8")
    options = [
        *("-o", f"faulthandler_exit_on_timeout={settings['faulthandler_exit_on_timeout']}"),
        *("-o", f"faulthandler_timeout={settings['faulthandler_timeout'] / 240}"),
        *("-p", "no:cacheprovider", "--numprocesses", "1"),
    ]
    command = [sys.executable, "-m", "pytest", *options, str(tmp_path)]
    result = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False, timeout=120)
    assert result.returncode == 1
    assert "crashed while running" in result.stdout
    assert "test_it.py::test_it" in result.stdout
    assert "1 failed, 1 passed" in result.stdout
    assert "line 3 in test_it" in result.stderr
