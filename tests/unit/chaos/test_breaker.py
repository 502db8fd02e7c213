"""What is to be broken has to be there, and whoever breaks nothing says so."""

import inspect
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import pytest

from chaos.breakages.breaker import Breaker, NotThereError
from chaos.breakages.broken import BREAKAGES
from chaos.faults.schedule import known_faults
from chaos.lengths import SHORT, STANDS_STILL
from chaos.run import labels_of, never_broken


class Door:
    def open(self, name: str, *, wide: bool = False) -> str:
        return f"{name} {wide}"

    async def close(self) -> None:
        pass

    WIDTH = 3


def shut(self: Any, name: str, *, wide: bool = False) -> str:
    return "shut"


def test_what_is_replaced_is_counted_and_put_back() -> None:
    told: list[str] = []
    with Breaker(told.append) as breaker:
        breaker.replace(Door, "open", shut)
        assert (Door().open("a"), Door().open("b", wide=True)) == ("shut", "shut")
        assert breaker.broke == {"Door.open": 2}
        assert breaker.labels == ["Door.open"]
    assert told == ["Door.open", "Door.open"]
    assert Door().open("a") == "a False"


def test_one_that_breaks_something_now_and_then_counts_itself() -> None:
    with Breaker() as breaker:
        breaker.replace(Door, "open", shut, always=False)
        assert Door().open("a") == "shut"
        assert breaker.broke == {}


def without_wide(self: Any, name: str) -> str:
    return name


async def awaited(self: Any, name: str, *, wide: bool = False) -> str:
    return name


@pytest.mark.parametrize(
    ("name", "by", "why"),
    [
        ("shut", shut, "is not there"),
        ("__init_subclass__", shut, "is not there"),
        ("WIDTH", shut, "no plain function"),
        ("open", without_wide, "takes"),
        ("open", awaited, "awaited"),
        ("close", shut, "takes"),
    ],
)
def test_what_is_gone_or_another_one_by_now(name: str, by: Callable[..., Any], why: str) -> None:
    with Breaker() as breaker, pytest.raises(NotThereError, match=why):
        breaker.replace(Door, name, by)


def targets(name: str) -> list[tuple[ModuleType | type, str]]:
    with Breaker() as breaker:
        BREAKAGES[name].apply(breaker)
        return breaker.targets


@pytest.mark.parametrize("name", sorted(BREAKAGES))
def test_everything_that_a_breakage_takes_out_is_there(name: str) -> None:
    found = targets(name)
    assert found
    for owner, attribute in found:
        assert isinstance(vars(owner)[attribute], FunctionType), "not put back"


@pytest.mark.parametrize("name", sorted(BREAKAGES))
def test_it_fails_where_that_is_gone_or_another(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def other(self: Any, something: str, *more: Any) -> None:
        """Takes something that no breakage expects."""

    for owner, attribute in targets(name):
        with monkeypatch.context() as patch, Breaker() as breaker:
            patch.delattr(owner, attribute)
            with pytest.raises((NotThereError, AttributeError)):
                BREAKAGES[name].apply(breaker)
        assert inspect.signature(vars(owner)[attribute]) != inspect.signature(other)
        with monkeypatch.context() as patch, Breaker() as breaker:
            patch.setattr(owner, attribute, other)
            with pytest.raises(NotThereError):
                BREAKAGES[name].apply(breaker)


def test_a_run_in_which_nothing_was_broken_says_nothing(tmp_path: Path) -> None:
    file, tally = tmp_path / "broke", Counter[str]()
    assert never_broken(file, ["a", "b"], tally) == "never broken: a, b"
    file.write_text("a\na\n")
    assert never_broken(file, ["a", "b"], tally) == "never broken: b"
    file.write_text("a\nb\na\n")
    assert never_broken(file, ["a", "b"], tally) == ""
    assert tally == {"broken: a": 2, "broken: b": 1}
    assert never_broken(tmp_path / "none", labels_of(""), tally) == ""


def test_the_faults_that_each_is_found_by_are_there() -> None:
    for breakage in BREAKAGES.values():
        assert set(breakage.faults) <= known_faults(volcano=breakage.of == "volcano").keys()


def test_a_broken_run_goes_on_until_its_faults_have_come() -> None:
    for breakage in BREAKAGES.values():
        lengths = breakage.focus(SHORT)
        assert lengths.faults == breakage.faults
        assert [f"fault: {name}" for name in breakage.faults] == list(lengths.wanted)
        assert bool(lengths.kills) == (STANDS_STILL not in breakage.faults)


def test_beside_volcano_no_fault_waits_for_what_is_never_ended() -> None:
    assert known_faults(volcano=False).keys() - known_faults(volcano=True).keys() == {STANDS_STILL}
