"""A name means one thing: no class of the product or of its tests has the name of another."""

import ast
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("operator", "webhooks", "dev", "tests")


def classes(source: str) -> list[str]:
    return [node.name for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ClassDef)]


def test_no_class_has_the_name_of_another() -> None:
    places = defaultdict[str, set[str]](set)
    files = [file for folder in FOLDERS for file in (ROOT / folder).rglob("*.py")]
    for file in files:
        for name in classes(file.read_text()):
            places[name].add(str(file.relative_to(ROOT)))
    assert len(files) > 500
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_nested_classes_count() -> None:
    assert classes("class A:\n    class B: ...\ndef f():\n    class C: ...") == ["A", "B", "C"]
