"""The condition of a wait."""

from typing import Protocol, TypeVar

Value = TypeVar("Value", covariant=True)


class Predicate(Protocol[Value]):
    """Called again and again, without arguments, until its value is true.

    A protocol and not `Callable[[], Value]`: in a loop a condition is `lambda name=name: ...`, for
    which mypy infers no type where it expects a callable without parameters.
    """

    def __call__(self) -> Value:
        """Returns a true value once the wait is over."""
