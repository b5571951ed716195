"""With REBALANCE_CHECK_COMPILE=1 judge and simulator become machine code, by mypyc; all else is in pyproject.toml.

mypyc compiles the Python that is there. The modules are copied first, because the folders of the checkout are symbolic
links, and what users may extend is marked as open in the copy: the marks would need a package at run time.
"""

import os
import re
import shutil
import sys
from multiprocessing.pool import ThreadPool
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).parent
COMPILED = (
    "model/vocabulary/*events.py",
    "model/vocabulary/event_base.py",
    "model/vocabulary/field_types.py",
    "model/vocabulary/status_course.py",
    "properties/judge.py",
    "properties/kinds.py",
    "properties/listening.py",
    "properties/completeness.py",
    "properties/panel.py",
    "properties/engines/*.py",
    "properties/laws/*.py",
    "properties/laws/*/*.py",
    "properties/views/*.py",
)
"""What is compiled in its place: where the time of judging goes."""
COPIED = ("assignors", "client", "connect", "coordinator", "protocol", "runtime", "simulator")
"""Packages of `impl` that are compiled as `impl.compiled`, the copy that simulates. They stay Python, too:
mutants are planted in them, and users extend their classes."""
IN_COMMON = (
    "coordinator/status.py",  # mypyc extends no AssertionError
    "protocol/leader_election.py",  # nor a class of msgspec
    "runtime/choices.py",  # its objects and those of the next are handed from Python to the copy
    "runtime/options.py",
    "simulator/simulation.py",  # chooses between the two
)
"""Modules of these packages that the copy has in common with Python."""
INTERPRETED = ("__init__.py", "catalogue.py", "recent.py")
"""The first two only list what others define; the last is a dictionary of our own, from which mypyc deletes nothing."""
HIDDEN = "-fvisibility=hidden"
"""Functions call each other directly, and not by a table through which another library might replace them."""
MYPY = "mypy>=2.4,<2.5"

is_wanted = os.environ.get("REBALANCE_CHECK_COMPILE") == "1"
is_building = not {"bdist_wheel", "build_ext", "editable_wheel", "install"}.isdisjoint(sys.argv)


def copied(folder: Path) -> Path:
    """The package in ``folder``, with real folders and open classes."""
    package = folder / "rebalance_check"
    shutil.rmtree(package, ignore_errors=True)
    shutil.copytree(ROOT / "rebalance_check", package, ignore=shutil.ignore_patterns("__pycache__", "*.so"))
    (package / "__init__.pyi").unlink()  # it names all modules: with it, each imports all others in a circle
    copy_simulator(package)
    return package


def copy_simulator(package: Path) -> None:
    """Copy the simulator's packages; the copies import each other, and from `impl` what is in common."""
    copy = package / "impl" / "compiled"
    copy.mkdir()
    (copy / "__init__.py").touch()
    for name in COPIED:
        shutil.copytree(package / "impl" / name, copy / name)
    (copy / "simulator" / "__init__.py").write_text("")  # it names what users import
    common = [name.removesuffix(".py").replace("/", ".") for name in IN_COMMON]
    moved = rf"\brebalance_check\.impl\.(?=({'|'.join(COPIED)})\b)(?!({'|'.join(map(re.escape, common))})\b)"
    for name in IN_COMMON:
        (copy / name).unlink()
    for path in copy.rglob("*.py"):
        path.write_text(re.sub(moved, "rebalance_check.impl.compiled.", path.read_text()))


def extensions() -> list[Extension]:
    """The compiled modules.

    Raises: ImportError without mypy, which a build in isolation installs.
    """
    sys.path.insert(0, str(ROOT))
    from mypyc.build import mypycify  # noqa: PLC0415 - needed for this alone

    import setup_enums  # noqa: PLC0415 - likewise
    from setup_dataclasses import Rewriter  # noqa: PLC0415 - likewise

    folder = ROOT.resolve() / "build" / "mypyc"
    package = copied(folder)
    found = sorted(path for pattern in COMPILED for path in package.glob(pattern) if path.name not in INTERPRETED)
    found += sorted((package / "impl" / "compiled").rglob("*.py"))
    setup_enums.rewrite(found, folder)
    Rewriter({".".join(path.relative_to(folder).with_suffix("").parts): path for path in found}).rewrite()
    before = Path.cwd()
    os.chdir(folder)
    try:
        made = mypycify(
            [
                "--config-file=",
                "--ignore-missing-imports",
                "--follow-imports=silent",
                *(str(path.relative_to(folder)) for path in found),
            ],
            opt_level="2",
            multi_file=True,
            target_dir=str(folder / "c"),
        )
    finally:
        os.chdir(before)
    for one in made if os.name == "posix" else ():
        one.extra_compile_args.append(HIDDEN)
    return made


class SideBySide(build_ext):
    """Compiles several C files at a time: nearly all belong to one extension, and setuptools takes them one by one."""

    def build_extensions(self) -> None:
        """All extensions, with a compiler that takes a list of files side by side."""
        one_by_one = self.compiler.compile

        def side_by_side(sources: list[str], *args: object, **settings: object) -> list[str]:
            with ThreadPool(os.cpu_count()) as pool:
                made = pool.map(lambda source: one_by_one([source], *args, **settings), sources, chunksize=1)
            return [path for paths in made for path in paths]

        self.compiler.compile = side_by_side
        super().build_extensions()


setup(
    cmdclass={"build_ext": SideBySide},
    setup_requires=[MYPY] if is_wanted else [],
    ext_modules=extensions() if is_wanted and is_building else [],
    options={"build_ext": {"parallel": os.cpu_count()}},
)
