"""Lists of broken cards, as nodes and ConfigMaps have them: `0,2`.

Read strictly: a list that is half understood would take a healthy card out, or leave a broken one
in. Whoever reads one keeps the last good list, and reports the bad one.
"""

import re
from typing import Final

from ..words import show

_LIST: Final = re.compile(r"(0|[1-9][0-9]{0,8})(,(0|[1-9][0-9]{0,8}))*", re.ASCII)
_LONGEST: Final = 4 * 1024
"""Characters: room for every card of a node three times."""


class UnhealthyListError(ValueError):
    """The list cannot be read; the text says why, and what to write."""


def read_unhealthy(text: str, cards: int | None) -> tuple[int, ...]:
    """The indexes of a list, sorted, each once. An empty text is an empty list.

    `cards`: how many the node has; None if that is not known. Raises UnhealthyListError.
    """
    if not text:
        return ()
    if len(text) > _LONGEST or _LIST.fullmatch(text) is None:
        raise UnhealthyListError(
            f"<{show(text)}> is not a list of cards: write their indexes with commas and without "
            "spaces, such as 0,2"
        )
    found = tuple(sorted({int(index) for index in text.split(",")}))
    if cards is not None and found[-1] >= cards:
        raise UnhealthyListError(
            f"<{show(text)}> names card <{found[-1]}>, the node has cards 0 to {cards - 1}"
            if cards
            else f"<{show(text)}> names card <{found[-1]}>, the node has none"
        )
    return found
