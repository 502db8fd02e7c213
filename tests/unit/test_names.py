"""A name means one thing: no class of the product or of its tests has the name of another."""

import ast
import re
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("operator", "webhooks", "dev", "tests")
A_CLASS = re.compile(r"^\s*class (\w+)", re.MULTILINE)
"""Finds each class, and what only looks like one, in a fraction of the time of a parser."""


def classes(source: str) -> list[str]:
    return [node.name for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ClassDef)]


def test_no_class_has_the_name_of_another() -> None:
    files = [file for folder in FOLDERS for file in (ROOT / folder).rglob("*.py")]
    sources = {str(file.relative_to(ROOT)): file.read_text() for file in files}
    places = defaultdict[str, set[str]](set)
    for place, source in sources.items():
        for name in A_CLASS.findall(source):
            places[name].add(place)
    often = {name: found for name, found in places.items() if len(found) > 1}
    really = {
        name: {place for place in found if name in classes(sources[place])}
        for name, found in often.items()
    }
    assert len(files) > 500
    assert len(places) > 500
    assert {name: found for name, found in really.items() if len(found) > 1} == {}


def test_nested_classes_count() -> None:
    assert classes("class A:\n    class B: ...\ndef f():\n    class C: ...") == ["A", "B", "C"]
