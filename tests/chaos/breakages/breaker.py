"""Puts something else in the place of a function of the product, and counts that it was called.

What is to be replaced has to be there, and to take the arguments that are expected. Otherwise a
breakage of something that was renamed would break nothing, and a run that found nothing would be
taken for one that cannot find it.
"""

import inspect
from collections import Counter
from collections.abc import Callable
from functools import wraps
from types import ModuleType, TracebackType
from typing import Any, Self

Owner = ModuleType | type


class NotThereError(Exception):
    """What a breakage takes out is not there, or is something else by now."""


class Breaker:
    """Replaces functions in this process. As a context, puts them back at its end."""

    def __init__(self, told: Callable[[str], None] = lambda _: None) -> None:
        """`told` is called with the label of a replaced function whenever it broke something."""
        self._told = told
        self._originals: list[tuple[Owner, str, Any]] = []
        self.broke: Counter[str] = Counter()
        """How often each replaced function did something else than the product does, by label."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        for owner, name, original in reversed(self._originals):
            setattr(owner, name, original)
        self._originals.clear()

    @property
    def targets(self) -> list[tuple[Owner, str]]:
        """What was replaced: where, and under which name."""
        return [(owner, name) for owner, name, _ in self._originals]

    @property
    def labels(self) -> list[str]:
        """The same, for people."""
        return [_label(owner, name) for owner, name in self.targets]

    def replace(
        self, owner: Owner, name: str, by: Callable[..., Any], *, always: bool = True
    ) -> None:
        """Replace a function of a module or a method of a class, where it is looked up.

        `always`: every call counts as broken. Otherwise `by` says so itself, by `count`.
        Errors: NotThereError.
        """
        label, original = _label(owner, name), vars(owner).get(name)
        if original is None:
            raise NotThereError(f"{label} is not there")
        if _arguments(original) != _arguments(by):
            raise NotThereError(
                f"{label} takes {_arguments(original)}; what should replace it, {_arguments(by)}"
            )
        if inspect.iscoroutinefunction(original) != inspect.iscoroutinefunction(by):
            raise NotThereError(f"of {label} and what should replace it, one alone is awaited")

        @wraps(by)
        def counted(*args: Any, **more: Any) -> Any:
            self.count(owner, name)
            return by(*args, **more)

        self._originals.append((owner, name, original))
        setattr(owner, name, counted if always else by)

    def count(self, owner: Owner, name: str) -> None:
        """The function that was put in this place has broken something."""
        label = _label(owner, name)
        self.broke[label] += 1
        self._told(label)


def _label(owner: Owner, name: str) -> str:
    return f"{owner.__name__}.{name}"


def _arguments(function: Any) -> list[str]:
    """Names and kinds; an argument that came, went or moved makes it another function."""
    if not inspect.isfunction(function):
        raise NotThereError(f"{function!r} is no plain function")
    parameters = inspect.signature(function).parameters.values()
    return [f"{one.name} ({one.kind.description})" for one in parameters]
