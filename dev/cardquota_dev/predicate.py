"""What a wait waits for."""

from typing import Protocol, TypeVar

Value = TypeVar("Value", covariant=True)


class Predicate(Protocol[Value]):
    """Asked again and again, without arguments, until its value is true.

    A protocol and no `Callable[[], Value]`: in a loop a condition is `lambda name=name: ...`, for
    which mypy infers no type where it expects a callable without parameters.
    """

    def __call__(self) -> Value:
        """What is true once the wait is over."""
