"""With REBALANCE_CHECK_COMPILE=1 the judge is compiled to machine code by mypyc; everything else is in pyproject.toml.

mypyc compiles the Python that is there. The modules are copied first, because the folders of the checkout are symbolic
links, and what users may extend is marked as open in the copy: the marks would need a package at run time.
"""

import os
import re
import shutil
import sys
from pathlib import Path

from setuptools import Extension, setup

ROOT = Path(__file__).parent
COMPILED = (
    "properties/judge.py",
    "properties/kinds.py",
    "properties/listening.py",
    "properties/numbering.py",
    "properties/panel.py",
    "properties/config_store/*.py",
    "properties/connect/*.py",
    "properties/invariants/*.py",
    "properties/status/*.py",
    "properties/views/*.py",
    "properties/wire/*.py",
)
"""What is compiled: where the time goes."""
INTERPRETED = ("__init__.py", "catalogue.py")
"""These only list what others define."""
OPEN = {"properties/judge.py": ["Judge"], "properties/kinds.py": ["Fold", "Memory"]}
"""Classes that Python code may extend."""
MYPY = "mypy>=2.4,<2.5"

is_wanted = os.environ.get("REBALANCE_CHECK_COMPILE") == "1"
is_building = not {"bdist_wheel", "build_ext", "editable_wheel", "install"}.isdisjoint(sys.argv)


def copied(folder: Path) -> Path:
    """The package in ``folder``, with real folders and open classes."""
    package = folder / "rebalance_check"
    shutil.rmtree(package, ignore_errors=True)
    shutil.copytree(ROOT / "rebalance_check", package, ignore=shutil.ignore_patterns("__pycache__", "*.so"))
    (package / "__init__.pyi").unlink()  # it names all modules: with it, each imports all others in a circle
    for name, classes in OPEN.items():
        text = (package / name).read_text()
        for one in classes:
            mark = "@mypyc_attr(allow_interpreted_subclasses=True)"
            text = re.sub(rf"^class {one}\b", rf"{mark}\nclass {one}", text, flags=re.MULTILINE)
        future = "from __future__ import annotations\n"
        (package / name).write_text(text.replace(future, f"{future}from mypy_extensions import mypyc_attr\n", 1))
    return package


def extensions() -> list[Extension]:
    """The compiled modules.

    Raises: ImportError without mypy, which a build in isolation installs.
    """
    from mypyc.build import mypycify  # noqa: PLC0415 - needed for this alone

    folder = ROOT.resolve() / "build" / "mypyc"
    package = copied(folder)
    found = sorted(path for pattern in COMPILED for path in package.glob(pattern) if path.name not in INTERPRETED)
    before = Path.cwd()
    os.chdir(folder)
    try:
        return mypycify(
            [
                "--config-file=",
                "--ignore-missing-imports",
                "--follow-imports=silent",
                *(str(path.relative_to(folder)) for path in found),
            ],
            opt_level="1",
            multi_file=True,
            target_dir=str(folder / "c"),
        )
    finally:
        os.chdir(before)


setup(
    setup_requires=[MYPY] if is_wanted else [],
    ext_modules=extensions() if is_wanted and is_building else [],
    options={"build_ext": {"parallel": os.cpu_count()}},
)
