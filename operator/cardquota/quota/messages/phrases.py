"""Parts of sentences that several files of this room use."""

from collections.abc import Sequence

from ..amounts import Amount
from ..words import MOST_LISTED, amount_text, listed, show

Asked = Sequence[tuple[str, int]]
"""What a pod asks for and how much, as far as that can be read: cards or their resources."""


def asked_text(asked: Asked) -> str:
    """At most five cards, with their numbers."""
    return " and ".join(f"<{n}> of <{choice_text(what)}>" for what, n in asked[:MOST_LISTED])


def requested_text(asked: Asked, *, of_group: bool = False) -> str:
    """In brackets; empty if no cards are asked for."""
    return f" ({who_asks(of_group=of_group)} requests {asked_text(asked)})" if asked else ""


def who_asks(*, of_group: bool) -> str:
    """The pod, or the group."""
    return "the group" if of_group else "the pod"


def did_you_mean(meant: str) -> str:
    """The end of a sentence about a wrong name: which one was probably meant. Empty if that is not
    known, or is longer than what is shown: a name that is cut is no help.
    """
    return f"; did you mean <{meant}>?" if meant and show(meant) == meant else ""


def quota_cards(offered: Sequence[str], others: Sequence[str]) -> str:
    """The cards of a quota, at most five, then a count. `others`: those that no node has."""
    names = [show(card) for card in offered[:MOST_LISTED]]
    names += [f"{show(card)} (no node has it)" for card in others[: MOST_LISTED - len(names)]]
    more = len(offered) + len(others) - len(names)
    return (", ".join(names) + (f" and {more} more" if more else "")) or "none"


def choice_text(text: str) -> str:
    """A card, or alternatives as written: at most five, then a count."""
    return listed(text.split("|"), "|")


def not_written(answer: str) -> str:
    """`answer`: what the API server, a policy or a webhook said."""
    return f"the PodGroup cannot be written: {show(answer, most=300)}"


def held_text(held: Sequence[Amount]) -> str:
    """All amounts with their units, or "nothing"."""
    return ", ".join(f"<{show(d)}> <{amount_text(d, n)}>" for d, n in held) or "nothing"
