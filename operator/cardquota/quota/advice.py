"""What a waiting pod is advised, as far as only people change it: quotas, and what it asks for.

What is in use changes all the time, and is in the sentence too: nobody is told anew because of it.
"""

from collections.abc import Callable
from typing import Final, NamedTuple

from .verdict import Outcome, Verdict
from .words import MOST_LISTED


class Advice(NamedTuple):
    """What the sentence of a verdict says of waiting, and of how much there is (section 9)."""

    never: bool
    """Whether it is told that it can never fit (E5), and so not to wait."""
    capabilities: tuple[tuple[str, int], ...]
    """By dimension that the sentence names, what the queue may hold of it. Cards, milli-cores or
    bytes; the first ones that it lists."""

    def outdates(self, before: "Advice", limit: Callable[[str], int | None] | None = None) -> bool:
        """Whether a sentence with the advice before is wrong now. That another dimension lacks
        room depends on what is in use, and does not make it wrong.

        `limit`: what the queue may hold of a dimension now. Without it only what both sentences
        name is compared.
        """
        if self.never is not before.never:
            return True
        if limit is not None:
            return any(limit(what) != most for what, most in before.capabilities)
        known = dict(before.capabilities)
        return any(known.get(what, most) != most for what, most in self.capabilities)


NO_ADVICE: Final = Advice(never=False, capabilities=())


def advice_of(verdict: Verdict) -> Advice:
    """The advice in a verdict's text."""
    never = verdict.outcome is Outcome.NEVER
    if not never and not verdict.shortfalls:
        return NO_ADVICE
    shorts = verdict.shortfalls[:MOST_LISTED]
    return Advice(never, tuple((short.dimension, short.capability) for short in shorts))
