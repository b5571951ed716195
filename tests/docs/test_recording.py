"""The recording of a new user's first minutes shows the README's command; the recorder makes such files."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
RECORDER = ROOT / ".ci" / "record.py"
RECORDING = ROOT / "docs" / "first-minutes.cast"
MOST_BYTES = 100_000


def read_recording(path: Path) -> tuple[dict[str, Any], list[tuple[float, str]]]:
    """The header of an asciicast of version 2, and its frames: seconds and text."""
    header, *frames = (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())
    assert header["version"] == 2
    assert all(kind == "o" for _, kind, _ in frames)
    return header, [(at, text) for at, _, text in frames]


def test_the_recording_shows_the_command_of_the_readme_and_its_verdict() -> None:
    header, frames = read_recording(RECORDING)
    assert f"\n{header['title']}\n" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert frames[0] == (0.0, f"$ {header['title']}\r\n")
    assert "verdict: held" in "".join(text for _, text in frames[-3:])
    assert [at for at, _ in frames] == sorted(at for at, _ in frames)
    assert RECORDING.stat().st_size < MOST_BYTES


def test_the_readme_links_the_recording() -> None:
    assert f"(docs/{RECORDING.name})" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_recorder__keeps_the_last_state_of_a_line__and_the_exit_code(tmp_path: Path) -> None:
    script = "import sys; print('10%\\r20%\\r30% -\\b|\\b/'); print(sys.stdout.isatty()); sys.exit(3)"
    file = tmp_path / "short.cast"
    result = subprocess.run(
        [sys.executable, RECORDER, file, "shown", sys.executable, "-c", script],
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    header, frames = read_recording(file)
    assert result.returncode == 3
    assert (header["title"], frames[0][1]) == ("shown", "$ shown\r\n")
    text = "".join(text for _, text in frames[1:])
    assert "30% /" in text
    assert "10%" not in text
    assert "True" in text
