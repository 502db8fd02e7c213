"""What was found against what the table says."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from .case import Case, CaseStage, Expected
from .found import ObservedCase, PodFound, Rows
from .patterns import holds, says, says_each

_GUESS = re.compile(r"; did you mean <[^<>]*>\?$")


def differences(case: Case, found: ObservedCase) -> list[str]:
    """Of the first stage and what is given: how it differs from what the table says, in words."""
    told = differences_in(case.stages[0], found)
    for thing in case.given:
        expect = thing.expect or {}
        if thing.kind in ("queue", "group"):
            told += _sentence(thing.name, expect.get("refused", ""), found.refused)
            warned = found.warned.get(thing.name, ())
            if thing.kind == "group" and not says_each(warned, thing.warnings):
                told.append(f"{thing.name}: the warnings are: {warned}")
        elif thing.kind == "node":
            told += _sentence(thing.name, expect.get("not counted", ""), found.not_counted)
    return told


def differences_in(stage: CaseStage, found: ObservedCase) -> list[str]:
    """The same of the pods, rows and answers of one stage."""
    return [
        *_of_pods(stage.pods, found.pods),
        *_of_rows(stage.rows, found.rows),
        *_of_answers(stage, found.answers),
    ]


def _of_pods(
    expected: Mapping[str, Sequence[Expected]], found: Mapping[str, Sequence[PodFound]]
) -> Iterator[str]:
    for name, ones in expected.items():
        there = list(found.get(name, ()))
        if len(there) != len(ones):
            yield f"{name}: {len(there)} pods, not {len(ones)}: {there}"
        for one in ones:
            fitting = next((pod for pod in there if not one.wrong(pod)), None)
            if fitting is not None:
                there.remove(fitting)
            elif there:
                yield f"{name}: {one.wrong(there[0])}"


def _of_rows(expected: Mapping[str, Any], found: Mapping[str, Rows]) -> Iterator[str]:
    for queue, rows in expected.items():
        there = found.get(queue, {"cards": (), "resources": ()})
        by_name = {row["name"]: row for row in (*there["cards"], *there["resources"])}
        for name, numbers in rows.items():
            row = by_name.get(name, {})
            if wrong := {k: row.get(k) for k, n in numbers.items() if row.get(k) != n}:
                yield f"queue {queue}, {name}: {wrong}, not {numbers}"


def _of_answers(stage: CaseStage, found: Mapping[str, Any]) -> Iterator[str]:
    for kind, answers in stage.answers.items():
        for name, expected in answers.items():
            there = found.get(kind, {}).get(name, {})
            for key, value in expected.items():
                if not holds(there.get(key), value):
                    yield f"asked about {kind} {name}: {key} is {there.get(key)}, not {value}"


def _sentence(name: str, expected: str, found: Mapping[str, str]) -> list[str]:
    text = found.get(name, "")
    return [] if says(text, expected) else [f"{name}: {text or '(nothing said)'}"]


def disagreements(one: ObservedCase, other: ObservedCase) -> list[str]:
    """How two that were asked differ, whatever the table says. `one` is the simulation."""
    told = []
    for name in sorted({*one.pods, *other.pods}):
        pairs = zip(*(_alike(who.pods.get(name, ())) for who in (one, other)), strict=False)
        told += [f"{name}: simulated {a}, on the cluster {b}" for a, b in pairs if not _same(a, b)]
    for what in ("refused", "warned", "not_counted", "rows"):
        a, b = getattr(one, what), getattr(other, what)
        told += [
            f"{what} of {name}: simulated {a.get(name)}, on the cluster {b.get(name)}"
            for name in sorted({*a, *b})
            if _without_guess(a.get(name)) != _without_guess(b.get(name))
        ]
    return told


def _alike(pods: Sequence[PodFound]) -> list[PodFound]:
    return sorted(pod.without_node_name for pod in pods)


def _same(one: PodFound, other: PodFound) -> bool:
    """What a controller was refused has its sentence alone on a cluster."""
    one = replace(one, text=_without_guess(one.text))
    other = replace(other, text=_without_guess(other.text))
    return (one if other.reason else replace(one, reason="")) == other


def _without_guess(said: Any) -> Any:
    """A sentence without the name that was probably meant: on a cluster it may be one of another
    case.
    """
    if isinstance(said, tuple):
        return tuple(map(_without_guess, said))
    return _GUESS.sub("", said) if isinstance(said, str) else said
