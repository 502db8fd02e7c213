"""Pod groups as large, or as odd, as may be read in a review, against a quota of 1,000 rows."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from builders import a_group
from builders.group import GroupBody
from cardquota.quota import BODY, REQUEST_CARDS

READ: Final = BODY.most - 20_000
"""Characters of the largest that is read."""
_CARDS: Final = tuple(f"CARD-{number}" for number in range(REQUEST_CARDS.most))


def group_bodies(salt: int, queue: str) -> Iterator[tuple[str, GroupBody]]:
    """What each is, and the group. Another `salt` makes other texts: what was read before may be
    remembered. Of each card of the quota there are 3.
    """
    plain = a_group("gang").in_queue(queue).of(2)
    yield "2 cards", plain.requesting({_CARDS[0]: 2})
    yield "16 cards to choose from, exactly all of them", plain.requesting({"|".join(_CARDS): 48})
    yield "16 cards to choose from, one too many", plain.requesting({"|".join(_CARDS): 49})
    yield "16 cards to choose from, 2^53", plain.requesting({"|".join(_CARDS): 2**53 - salt})
    yield "16 rows", plain.requesting(dict.fromkeys(_CARDS, 1 + salt % 3))
    chain = {"|".join(pair): 3 for pair in pairwise(_CARDS[:9])}
    yield "8 rows in a chain, exactly all cards", plain.requesting(chain)
    tight = {_CARDS[8]: 3, **dict(list(chain.items())[:6]), _CARDS[7]: 3, _CARDS[0]: 1}
    yield "a chain that is one card short at one end", plain.requesting(tight)
    fans = {"|".join(_CARDS[n : n + 2]): 6 - n for n in range(0, 6, 2)}
    yield "3 rows of 2 cards", plain.requesting(fans)
    yield "a request of 2 MB", plain.requesting("[" * 1_000_000 + str(salt))
    yield "an invalid request of 5 KiB", plain.requesting("[" * (5 * 1024 - 8) + str(salt))
    many = READ // 30
    yield f"{many:,} tasks", plain.of_tasks({f"t{salt}{n}": 1 for n in range(many)})
    yield f"{many:,} resources", plain.needing({f"a.b/{salt}{n}": 1 for n in range(many)})
    yield (
        f"{many:,} owners",
        plain.put([{"name": f"{salt}"}] * many, "metadata", "ownerReferences"),
    )
    notes = {f"n{salt}{n}": "x" * 40 for n in range(READ // 60)}
    yield "0.5 MB of annotations", plain.put(notes, "metadata", "annotations")
