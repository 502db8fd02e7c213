"""Docstrings of attributes and constants, and tables of Markdown."""

import ast
import inspect
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from types import ModuleType


def docstrings(module: ModuleType, inside: str = "") -> dict[str, str]:
    """The docstring below each constant of a module, or attribute of its class `inside`, as one
    line.
    """
    body: Sequence[ast.stmt] = ast.parse(inspect.getsource(module)).body
    if inside:
        (found,) = (one for one in body if isinstance(one, ast.ClassDef) and one.name == inside)
        body = found.body
    return dict(_documented(body))


def _documented(body: Sequence[ast.stmt]) -> Iterator[tuple[str, str]]:
    for one, following in pairwise(body):
        if not (isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)):
            continue
        match following:
            case ast.Expr(value=ast.Constant(value=str(text))):
                yield one.target.id, " ".join(text.split())


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table with its head, as Markdown. A bar in a cell is escaped."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(
        "| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines
    )
