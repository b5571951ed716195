"""The page on the coordinator's specification shows the model's text, and TLA+ that a parser accepts."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Final

import pytest
import tree_sitter_tlaplus
from tree_sitter import Language, Parser

from tests.expectations import Expectations

ROOT: Final = Path(__file__).parents[2]
PAGE: Final = ROOT / "docs" / "coordinator-specification.md"
TLA: Final = ROOT / "docs" / "tla" / "JoinGroup.tla"
BLOCK: Final = re.compile(r"<!-- source of (?P<path>[^:]+?)(?:: (?P<names>.+?))? -->\n.*?<!-- end -->", re.DOTALL)


def text_of(path: str, names: str | None) -> str:
    """A file as a block of code, or the functions of it that are named."""
    text = (ROOT / path).read_text(encoding="utf-8")
    if names is None:
        return f"```tla\n{text.rstrip()}\n```"
    functions = {node.name: node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)}
    sources = [ast.get_source_segment(text, functions[name]) or "" for name in names.split(", ")]
    return "```py\n" + "\n\n\n".join(sources) + "\n```"


def block(found: re.Match[str]) -> str:
    """A marked block of the page with the text that stands in the code."""
    opening = found[0].partition("\n")[0]
    return f"{opening}\n{text_of(found['path'], found['names'])}\n<!-- end -->"


def is_tla(text: str) -> bool:
    """Whether the parser accepts a module of TLA+."""
    tree = Parser(Language(tree_sitter_tlaplus.language())).parse(text.encode())
    return not tree.root_node.has_error and any(child.type == "module" for child in tree.root_node.children)


def test_page_and_code_agree(expectations: Expectations) -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert len(BLOCK.findall(page)) == page.count("<!-- source of") == 2
    expectations.text(PAGE, BLOCK.sub(block, page))


@pytest.mark.filterwarnings("ignore:int argument support is deprecated")
def test_the_tla_text_is_accepted_by_a_parser__and_a_broken_one_is_not() -> None:
    text = TLA.read_text(encoding="utf-8")
    assert is_tla(text)
    assert not is_tla(text.replace("/\\ requests' =", "/\\ requests' = = IF"))
    assert not is_tla(text.replace("MODULE JoinGroup", "JoinGroup"))
