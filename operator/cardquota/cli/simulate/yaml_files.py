"""Reading Kubernetes objects from YAML files, in file order.

Timestamps are read as text, as in the API server's JSON.
"""

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final

import msgspec
import yaml

STDIN: Final = "-"
_SUFFIXES: Final = (".yaml", ".yml")
_LARGEST: Final = 512 << 20
"""Bytes of one file: some 100,000 pods. Larger is hardly meant, as `/dev/zero` is not."""
_DEEPEST: Final = 8
"""Lists in lists: one may contain itself."""
_WRONG_TAG: Final = (LookupError, AttributeError, TypeError)
"""What the library raises for `!!bool maybe` and the like."""


class YamlFileError(Exception):
    """A file that cannot be read. The text names it and says where it is wrong."""


@dataclass(frozen=True, slots=True)
class Document:
    """One object as a file contains it. `where` names the place for messages."""

    where: str
    group: str
    kind: str
    body: dict[str, Any]

    @property
    def title(self) -> str:
        """The object for people: kind and name."""
        meta = self.body.get("metadata")
        name = (meta.get("name") or meta.get("generateName")) if isinstance(meta, dict) else None
        return f"{self.kind} {name}" if isinstance(name, str) else self.kind


class _Loader(yaml.SafeLoader):
    """YAML whose scalars are those of JSON."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def read_files(sources: Iterable[str]) -> list[Document]:
    """All objects of files, of directories of `*.yaml`, and of standard input (`-`).

    Raises YamlFileError.
    """
    found: list[Document] = []
    for source in sources:
        for name, text in _texts(source):
            found.extend(_documents(name, text))
    return found


def _texts(source: str) -> Iterator[tuple[str, str]]:
    """Name and text of each file of a source."""
    if source == STDIN:
        yield "standard input", _decoded("standard input", sys.stdin.buffer)
        return
    path = Path(source)
    try:
        paths = [path]
        if path.is_dir():
            paths = sorted(p for p in path.iterdir() if p.suffix in _SUFFIXES and p.is_file())
    except OSError as error:
        raise YamlFileError(f"{source}: cannot be read: {error.strerror}") from None
    if not paths:
        raise YamlFileError(f"{source}: is a directory without *.yaml files")
    for file in paths:
        yield str(file), _text(file)


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return _decoded(str(path), file)
    except OSError as error:
        raise YamlFileError(f"{path}: cannot be read: {error.strerror}") from None


def _decoded(name: str, file: IO[bytes]) -> str:
    read = file.read(_LARGEST + 1)
    if len(read) > _LARGEST:
        raise YamlFileError(f"{name}: is larger than {_LARGEST >> 20} MiB; give it in parts")
    try:
        return read.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise YamlFileError(f"{name}: cannot be read: it is not UTF-8 text") from None


def _documents(name: str, text: str) -> Iterator[Document]:
    try:
        bodies = _json(text) or list(yaml.load_all(text, Loader=_Loader))
    except (yaml.YAMLError, RecursionError, ValueError, *_WRONG_TAG) as error:
        raise YamlFileError(f"{name}: is not YAML: {_problem(error)}") from None
    for number, body in enumerate(bodies, start=1):
        where = f"{name}, document {number}" if len(bodies) > 1 else name
        if body is not None:
            yield from _objects(where, body)


def _json(text: str) -> list[Any]:
    """The one object of a text that is JSON, which is read a hundred times as fast as YAML; empty
    if it is none.
    """
    if not text.lstrip().startswith("{"):
        return []
    try:
        return [msgspec.json.decode(text)]
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return []


def _problem(error: Exception) -> str:
    """What is wrong and where, on one line."""
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        mark = error.problem_mark
        return f"{error.problem} (line {mark.line + 1}, column {mark.column + 1})"
    if isinstance(error, _WRONG_TAG):
        return "a value is not what its tag says"
    if isinstance(error, RecursionError):
        return "it is nested too deep"
    return " ".join(str(error).split())


def _objects(where: str, body: object, depth: int = 0) -> Iterator[Document]:
    """The object itself, or the items of a List."""
    if not isinstance(body, dict):
        raise YamlFileError(f"{where}: is not a Kubernetes object, but {_named(body)}")
    kind, version = body.get("kind"), body.get("apiVersion")
    if not isinstance(kind, str) or not isinstance(version, str):
        raise YamlFileError(f"{where}: has no kind or no apiVersion: not a Kubernetes object")
    if kind != "List":
        yield Document(where, version.rpartition("/")[0], kind, body)
        return
    items = body.get("items") or []
    if not isinstance(items, list):
        raise YamlFileError(f"{where}: the items of the List are not a list")
    if depth >= _DEEPEST:
        raise YamlFileError(f"{where}: there are more than {_DEEPEST} Lists in each other")
    for number, item in enumerate(items, start=1):
        yield from _objects(f"{where}, item {number}", item, depth + 1)


def _named(body: object) -> str:
    return "a list" if isinstance(body, list) else f"the text <{str(body)[:40]}>"
