"""What a queue lacks, for whoever asks for more than there is; and what to do (section 9)."""

from collections.abc import Sequence
from typing import Final

from .. import vocabulary as v
from ..amounts import is_card
from ..verdict import HeldBy, Shortfall
from ..words import MOST_LISTED, amount_text, amount_texts, counted, show
from .phrases import did_you_mean, quota_cards


def insufficient(queue: str, short: Shortfall, *, soon: bool = False) -> str:
    """The sentence of section 9. `soon`: it also says what pods hold that are being deleted."""
    requested, would_be, capability, leaving = amount_texts(
        short.dimension,
        short.requested,
        short.would_be,
        short.capability,
        short.leaving if soon else short.capability,
    )
    held = f"; pods that are being deleted hold <{leaving}> of it" if soon else ""
    return (
        f"Queue <{show(queue)}> has insufficient <{show(short.dimension)}> quota: "
        f"requested <{requested}>, total would be <{would_be}>, but capability is <{capability}>"
        f"{_lent(short)}{held}"
    )


def _lent(short: Shortfall) -> str:
    """Why it may hold no more than that (L2), and what of it is borrowed (L1)."""
    lent = short.lending
    if lent is None:
        return ""
    why = ""
    if short.lacks_lent:
        kept = f", <{lent.kept_for_others}> are kept for others" if lent.kept_for_others else ""
        why = (
            f", since its quota is <{lent.quota}>, it deserves <{lent.deserved}>, and of the "
            f"<{lent.total}> in the cluster others hold <{lent.held_by_others}>{kept}"
        )
    borrowed = f"; it holds <{lent.held}>, <{lent.borrowed}> of them borrowed"
    return why + (borrowed if lent.borrowed else "")


def shortfalls(queue: str, shorts: Sequence[Shortfall], advice: str = "") -> str:
    """The sentence for each card (at most five, then a count), for cpu and memory; what to do.

    Pods that are being deleted are spoken of if all would fit once these are gone.
    """
    cards, others = _apart(shorts)
    soon = _fit_soon(cards, others)

    def sentence(short: Shortfall) -> str:
        return insufficient(queue, short, soon=soon and short.fits_soon)

    sentences = [sentence(short) for short in cards[:MOST_LISTED]]
    if len(cards) > MOST_LISTED:
        sentences.append(f"and {counted(len(cards) - MOST_LISTED, 'more card')}")
    sentences += [sentence(short) for short in others]
    return "; ".join([*sentences, advice] if advice else sentences)


def advice_never(shorts: Sequence[Shortfall]) -> str:
    """What to do about a request that alone is over the quota: the most that it may ask for.

    Of alternatives, the one with most quota counts. If that is none, only the owner can help.
    """
    cards, others = _apart(shorts)
    most = [max(cards, key=lambda short: short.capability), *others] if cards else others
    if any(short.capability <= 0 for short in most):
        return "ask the queue's owner for a higher quota"
    amounts = [(short.dimension, amount_text(short.dimension, short.capability)) for short in most]
    if len(amounts) == 1:
        asked = amounts[0][1]
    else:
        asked = " and ".join(f"{amount} of <{show(what)}>" for what, amount in amounts)
    return f"ask for at most {asked}, or ask the queue's owner for a higher quota"


def _fit_soon(cards: Sequence[Shortfall], others: Sequence[Shortfall]) -> bool:
    """Whether one of the cards, and all of the others, fit once pods that are being deleted go."""
    one_card = not cards or any(short.fits_soon for short in cards)
    return one_card and all(short.fits_soon for short in others)


def _apart(shorts: Sequence[Shortfall]) -> tuple[list[Shortfall], list[Shortfall]]:
    """Cards, which are alternatives of each other, and cpu and memory, which are not."""
    cards = [short for short in shorts if is_card(short.dimension)]
    return cards, [short for short in shorts if not is_card(short.dimension)]


ADVICE_TOGETHER: Final = (
    "let fewer pods start together, ask for less in each, or ask the queue's owner for a higher "
    "quota"
)

ADVICE_LENT: Final = (
    "wait until others hold less of it or the cluster has more, or ask the queue's owner to have "
    f"more owed to the queue ({v.DESERVED})"
)

ADVICE_WAIT: Final = "wait until some of it is free, or ask the queue's owner for a higher quota"


def advice_rollout(lent: int, asked: int) -> str:
    """What to do about a pod that a rolling update starts before an old one ends (R6). `lent`:
    how many cards the queue lends for that; `asked`: how many the pod asks for.
    """
    begun = "the rolling update creates this pod before an old one ends"
    if lent >= asked:
        return (
            f"{begun}: the queue lends {counted(lent, 'card')} for that, but not enough of that is "
            "left now; wait until an old pod is gone"
        )
    lends = f"the queue lends only {lent} for that; " if lent else ""
    return (
        f"{begun}: {lends}write maxSurge 0 and maxUnavailable 1, "
        f"or ask the queue's owner for cards to borrow ({v.SURGE})"
    )


ADVICE_RESIZE: Final = (
    "ask for less, try again when some of it is free, or ask the queue's owner for a higher quota"
)


def advice_not_in_quota(
    offered: Sequence[str], others: Sequence[str] = (), *, meant: str = ""
) -> str:
    """What to do about a card that has no row in the quota. `offered`: the cards of the quota that
    nodes have; `others`: those that none has. `meant`: which of them was probably meant.
    """
    which = "one that nodes have" if others else "one of those"
    instead = f"use {which}, or " if offered else ""
    return (
        f"the card is not in the queue's quota (its cards: {quota_cards(offered, others)}); "
        f"{instead}ask the queue's owner for a quota of this card{did_you_mean(meant)}"
    )


def no_card_left(resource: str, offered: Sequence[str], others: Sequence[str] = ()) -> str:
    """No card is both selected and in the quota, for a pod that names none (P3). `offered` and
    `others`: as for `advice_not_in_quota`.
    """
    instead = "change the node selector or the resource, or " if offered else ""
    return (
        f"no card counted as {show(resource)} is both in the queue's quota (its cards: "
        f"{quota_cards(offered, others)}) and allowed by the pod's node selector and affinity; "
        f"{instead}ask the queue's owner for a quota"
    )


def exceeded_for_now(text: str) -> str:
    """A refusal of what may fit later (E2). Argo Workflows and Airflow create a pod again if its
    refusal has these words, and take any other refusal for a failed run.
    """
    return f"{text}; exceeded quota for now: try again later"


def owner_unknown(text: str, kind: str) -> str:
    """The same, of a pod that might wait if its controller were of a kind that is known to make
    batch (section 2).
    """
    return (
        f"{text}, or wait instead: pods of a {show(kind)} are refused by default; write "
        f"{v.Policy.GATE} into the queue's annotation {v.POLICY}, or into policyByOwner of "
        "cardquota's configuration"
    )


def audited(text: str) -> str:
    """Warning or event in audit mode."""
    return f"audit: would be refused or wait: {text}"


def partly_fits(name: str, asked: int, fits: int, *, waits: bool) -> str:
    """Warning on a workload whose pods do not all fit."""
    if asked == 1:
        rest = "it waits at the gate" if waits else "it is refused until there is room"
        return f"{show(name)}: its pod does not fit the quota now, {rest}"
    if not fits:
        rest = "all wait at the gate" if waits else "all are refused until there is room"
    elif asked - fits == 1:
        rest = "1 waits at the gate" if waits else "1 is refused until there is room"
    else:
        rest = "wait at the gate" if waits else "are refused until there is room"
        rest = f"{asked - fits} {rest}"
    return f"{show(name)}: {fits} of {asked} pods fit the quota now, {rest}"


def partly_audited(name: str, asked: int, fits: int) -> str:
    """The same in audit mode, which refuses and gates nothing. To be passed to `audited`."""
    return f"{show(name)}, {asked - fits} of {counted(asked, 'pod')}: {fits} fit the quota now"


def update_cannot_begin(name: str, unavailable: int) -> str:
    """Warning on a Deployment whose template changes: none of the new pods can start. Short.

    `unavailable`: the least `maxUnavailable`, in pods, with which one could.
    """
    return (
        f"{show(name)}: the update cannot begin, no quota is left for it: "
        f"write maxSurge 0 and maxUnavailable {unavailable}, or ask for more quota"
    )


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
