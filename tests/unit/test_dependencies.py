"""What is installed with the product is what it imports."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
DISTRIBUTIONS = packages_distributions()


def imported(*folders: str) -> set[str]:
    """The distributions that the files of these folders import."""
    names = {name for folder in folders for name in _names(ROOT / folder)}
    foreign = names - sys.stdlib_module_names - _own()
    return {_spelled(dist) for name in foreign for dist in DISTRIBUTIONS[name]}


def _names(folder: Path) -> Iterator[str]:
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                yield from (alias.name.partition(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
                yield node.module.partition(".")[0]


def _own() -> set[str]:
    folders = ("operator", "webhooks", "node", "dev", "tests")
    return {path.stem for folder in folders for path in (ROOT / folder).iterdir()}


def _spelled(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


RUNTIME = set(PROJECT["dependencies"])
NODE = set(PROJECT["optional-dependencies"]["node"])
DEV = {*PROJECT["optional-dependencies"]["dev"], *NODE} - {"cardquota[node]"}


def test_runtime_dependencies_are_what_the_product_imports() -> None:
    assert imported("operator", "webhooks") == RUNTIME


def test_what_the_node_agent_needs_beyond_is_an_extra() -> None:
    assert imported("node") - RUNTIME == NODE


def test_what_tests_and_tools_import_is_asked_for() -> None:
    assert "cardquota[node]" in PROJECT["optional-dependencies"]["dev"]
    assert imported("dev", "tests") <= RUNTIME | DEV


def test_every_dependency_is_pinned() -> None:
    lines = (ROOT / "constraints.txt").read_text().split()
    pinned = {_spelled(line.partition("==")[0]) for line in lines}
    assert pinned >= RUNTIME | DEV
