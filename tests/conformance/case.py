"""The cases of the table: read, checked for misspelt keys, and given names of their own."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from .found import ADMITTED, ANSWERS, PodFound
from .patterns import says, says_each
from .renaming import renamed
from .short_forms import (
    IN_NAMESPACE,
    KEYS,
    SHARED_NAMESPACE,
    USUAL_NAMESPACE,
    Object,
    Row,
    body,
    kind_of,
    labelled,
)

TABLE = Path(__file__).parent / "table"
ALTERED = ("queue", "group")
"""Kinds whose objects are there: a stage changes them."""
_CASE = frozenset(
    {"rule", "says", "given", "pods", "rows", "conditions", "answers", "then", "settings"}
    | {"simulated only", "needs"}
)
_STAGE = frozenset({"change", "expect", "rows", "conditions", "answers"})
_EXPECTED = frozenset({*ANSWERS, "text", "held", "node", "pending", "warns", "affinity", "times"})


@dataclass(frozen=True)
class Expected:
    """What a row says of one pod. None: the row does not say."""

    answer: str
    reason: str = ""
    text: str = ""
    held: str | None = None
    """Who holds what it lacks, at the end of the sentence."""
    cards: tuple[tuple[str, int], ...] | None = None
    node: str | None = None
    pending: bool = False
    warnings: tuple[str, ...] = ()
    affinity: list[list[Object]] | None = None
    """Expressions of the terms of the stored pod's required node affinity: on a cluster alone."""
    times: int = 1

    def wrong(self, found: PodFound) -> str:
        """How a pod differs from this; empty: it does not."""
        if found.answer != self.answer:
            return f"{found.answer}, not {self.answer}: {found}"
        if found.reason and found.reason != self.reason:
            return f"the reason is {found.reason}"
        if not says(found.text, self.text):
            return f"the sentence is: {found.text}"
        if self.held is not None and not says(found.held, self.held):
            return f"who holds it: {found.held or '(nothing said)'}"
        if self.cards is not None and found.cards != self.cards:
            return f"charged for {dict(found.cards)}"
        if self.node is not None and found.node != self.node:
            return f"on node {found.node or '(none)'}"
        if self.answer == ADMITTED and bool(found.node) == self.pending:
            return f"on node {found.node or '(none)'}"
        if not says_each(found.warnings, self.warnings):
            return f"the warnings are: {found.warnings}"
        return ""


@dataclass(frozen=True)
class Thing:
    """A row: an object, and what is said of it."""

    kind: str
    name: str
    body: Object
    expect: Any
    row: Row
    told: tuple[str, ...] | None = None
    """Warnings at the write of a workload: on a cluster alone. None: the row does not say."""

    @property
    def namespace(self) -> str:
        return str(self.body["metadata"].get("namespace", ""))

    @property
    def pods(self) -> list[Expected]:
        """What is said of its pods, if it is a pod or makes some."""
        return _expected(self.expect)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is said of a queue or pod group that is written: all Warnings, sorted."""
        return tuple(sorted((self.expect or {}).get("warns", ())))


@dataclass(frozen=True)
class CaseStage:
    """A change, and what holds afterwards."""

    things: tuple[Thing, ...]
    deletes: tuple[Mapping[str, Any], ...]
    pods: Mapping[str, list[Expected]]
    rows: Mapping[str, Mapping[str, Mapping[str, Any]]]
    conditions: Mapping[str, Mapping[str, Any]]
    answers: Mapping[str, Mapping[str, Mapping[str, Any]]]
    """What is said to whoever asks, by kind, then by name: the fields that are of interest."""


@dataclass(frozen=True)
class Case:
    """One rule, an example of it, and what becomes of it."""

    id: str
    rule: str
    says: str
    prefix: str
    """Of all its names."""
    given: tuple[Thing, ...]
    stages: tuple[CaseStage, ...]
    """The first is what `simulate` can be asked for; the others are changes on a cluster."""
    settings: Mapping[str, Any]
    """Of the configuration. A cluster has one configuration: such a case is simulated alone."""
    simulated_only: str
    """Why it is simulated alone, if not for its settings."""
    needs: str
    """What an older Kubernetes does not have, for the mark `newer_kubernetes`; mostly nothing."""
    namespace: str

    def objects(self, kind: str) -> list[Thing]:
        """The given ones of a kind."""
        return [thing for thing in self.given if thing.kind == kind]


@lru_cache(maxsize=1)
def cases() -> tuple[Case, ...]:
    """The whole table, in its order."""
    return tuple(case for path in sorted(TABLE.glob("*.yaml")) for case in _of_file(path))


def _of_file(path: Path) -> Iterator[Case]:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    for number, case in enumerate(yaml.load(path.read_text(), loader), start=1):  # noqa: S506 - the safe loader, in C where there is one
        prefix = f"{path.stem}{number}"
        if unknown := set(case) - _CASE:
            raise ValueError(f"{prefix}: unknown keys {unknown}")
        yield _case(prefix, renamed(case, prefix))


def _case(prefix: str, case: Mapping[str, Any]) -> Case:
    own = f"{prefix}-{USUAL_NAMESPACE}"
    namespace = (
        own if any(row.get("namespace") == own for row in case["given"]) else SHARED_NAMESPACE
    )
    first = {"change": case.get("pods", ()), **{k: case[k] for k in _STAGE & case.keys()}}
    return Case(
        id=f"{prefix}-{case['rule'].partition(',')[0]}",
        rule=case["rule"],
        says=case["says"],
        prefix=prefix,
        given=tuple(_thing(row, prefix, namespace) for row in case["given"]),
        stages=tuple(_stage(s, prefix, namespace) for s in (first, *case.get("then", ()))),
        settings=case.get("settings", {}),
        simulated_only=case.get("simulated only", ""),
        needs=case.get("needs", ""),
        namespace=namespace,
    )


def _stage(stage: Mapping[str, Any], prefix: str, namespace: str) -> CaseStage:
    if unknown := set(stage) - _STAGE:
        raise ValueError(f"unknown keys {unknown}")
    rows: Sequence[Row] = stage.get("change", ())
    things = tuple(_thing(row, prefix, namespace) for row in rows if "delete" not in row)
    making_pods = [t for t in things if t.kind not in ALTERED]
    if silent := [t.name for t in making_pods if t.expect is None]:
        raise ValueError(f"nothing is expected of {silent}")
    pods = {t.name: t.pods for t in making_pods}
    pods |= {name: _expected(found) for name, found in stage.get("expect", {}).items()}
    return CaseStage(
        things,
        tuple(row for row in rows if "delete" in row),
        pods,
        stage.get("rows", {}),
        stage.get("conditions", {}),
        stage.get("answers", {}),
    )


def _thing(row: Row, prefix: str, namespace: str) -> Thing:
    expect, told = row.get("expect"), row.get("told")
    row = {key: value for key, value in row.items() if key not in ("expect", "told")}
    kind = kind_of(row)
    if kind in IN_NAMESPACE:
        row.setdefault("namespace", namespace)
    found = body(row)
    if kind == "object":
        kind = str(found["kind"]).lower()
        if kind not in KEYS:
            raise ValueError(f"cannot be an object of the table: {kind}")
        found["metadata"].setdefault("namespace", namespace)
    if kind in IN_NAMESPACE:
        labelled(found, prefix)
    warned = None if told is None else tuple(sorted(told))
    return Thing(kind, found["metadata"]["name"], found, expect, row, warned)


def _expected(rows: Any) -> list[Expected]:
    found = [_one(row) for row in (rows if isinstance(rows, list) else [rows])]
    return [one for one in found for _ in range(one.times)]


def _one(row: Any) -> Expected:
    row = {row: None} if isinstance(row, str) else row
    answer = next(key for key in row if key in ANSWERS)
    if unknown := set(row) - _EXPECTED:
        raise ValueError(f"unknown keys {unknown}")
    told = row[answer]
    cards = tuple(sorted(told.items())) if isinstance(told, dict) else None
    return Expected(
        answer,
        reason="" if cards is not None else told or "",
        text=row.get("text", ""),
        held=row.get("held"),
        cards=cards if answer == ADMITTED else None,
        node=row.get("node"),
        pending=row.get("pending", False),
        warnings=tuple(sorted(row.get("warns", ()))),
        affinity=row.get("affinity"),
        times=row.get("times", 1),
    )
