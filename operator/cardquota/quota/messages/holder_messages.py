"""Who holds what somebody else asks for: added to the sentence of section 9, behind the advice."""

from collections.abc import Sequence
from typing import Final

from ..verdict import HeldBy
from ..words import MOST_LISTED, counted, show

_SHORT: Final = 220
"""Characters of a Warning, without the words of audit mode: Kubernetes cuts it at 256."""


def held_by(holders: Sequence[HeldBy], *, of_several: bool = False) -> str:
    """Who holds each card. Empty if nobody holds any. `of_several`: the sentence speaks of more
    than one card, or of cpu and memory too, so each card is named again.
    """
    texts = []
    for held in holders[:MOST_LISTED]:
        text = _held(held)
        if text:
            texts.append(f"<{show(held.card)}> {text}" if of_several else text)
    return "; ".join(texts)


def _held(held: HeldBy) -> str:
    named = [f"{show(name)} {amount}" for name, amount in held.workloads]
    if held.more:
        what = "more workload" if named else "workload"
        named.append(f"{counted(held.more, what)} {held.by_more}")
    others = [f"{held.elsewhere} in other namespaces"] if held.elsewhere else []
    others += [f"{held.reserved} reserved for pod groups"] if held.reserved else []
    if not named:
        return f"held: {' and '.join(others)}" if others else ""
    if others:
        others[-1] = f"and {others[-1]}"
    return f"held by {', '.join([*named, *others])}"


def with_held(text: str, held: str) -> str:
    """A sentence with who holds what. It comes last: whoever cuts a text cuts that first."""
    return f"{text}; {held}" if held else text


def shortly_with_held(text: str, held: str) -> str:
    """The same for a Warning: without who holds what if that is too long."""
    full = with_held(text, held)
    return full if len(full) <= _SHORT else text
