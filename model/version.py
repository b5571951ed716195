"""The version of this package: the one place where it stands; `pyproject.toml` reads it here."""

from typing import Final

__version__: Final = "0.1.0"
"""Follows Semantic Versioning; `CHANGELOG.md` says what changed."""
