"""`kubectl cardquota explain KIND NAME`: how a workload stands, and where else it would fit.

In: the operator's answer. Out: lines for people, or data for programs.
"""

from collections.abc import Iterator
from typing import Final

import msgspec
from rich.text import Text

from ...quota.answers.answer_forms import Explanation, Holder
from ...quota.vocabulary import WORKLOAD_REVIEWS
from ...quota.words import counted, first_of, show
from ..arguments import NamedKind
from ..ask import ago, amounts_text, ask
from ..output import ClusterChoice, Output
from ..printing import print_data, print_lines
from ..reading import client_of, done

_LONGEST: Final = 1_000
"""Characters of a sentence. What the operator writes is shorter."""
_STATES: Final = {
    "Fits": "does not wait",
    "Ends": "is being deleted, or over",
    "Released": "is released, and has no node yet",
    "Waits": "waits",
    "Refused": "lacks pods: the next one would be refused",
    "Coming": "lacks pods: the next one would not be refused",
}


def explain(
    kind: NamedKind,
    name: str,
    *,
    namespace: str,
    cluster: ClusterChoice,
    output: Output,
) -> None:
    """`namespace`: empty: that of the context. Errors: typer.Exit, if it could not be explained."""
    spec = {"kind": kind.kind, "name": name}
    if kind.api_version:
        spec["apiVersion"] = kind.api_version
    found = done(_answer(spec, namespace, cluster))
    if output.is_data:
        print_data(msgspec.to_builtins(found), output)
    else:
        print_lines(explain_lines(found))


async def _answer(spec: dict[str, str], namespace: str, cluster: ClusterChoice) -> Explanation:
    async with client_of(cluster) as client:
        within = f"/namespaces/{namespace or client.namespace}"
        return await ask(
            client, Explanation, "WorkloadReview", WORKLOAD_REVIEWS, spec, within=within
        )


def explain_lines(found: Explanation) -> Iterator[Text]:
    """How it stands; its queue, cards and place; who holds them; where else it would fit."""
    what = f"{show(found.kind)} {show(found.namespace)}/{show(found.name)}"
    yield Text(f"{what}: {_STATES.get(found.state, show(found.state))}", style="bold")
    rows = list(_rows(found))
    width = max(len(name) for name, _ in rows)
    for name, text in rows:
        yield Text(f"  {name.ljust(width)}  {text}")


def _rows(found: Explanation) -> Iterator[tuple[str, str]]:
    yield "why", show(found.message, most=_LONGEST)
    yield "queue", show(found.queue) or "none, so no quota holds it"
    if found.asks:
        yield "asks for", amounts_text(found.asks)
    yield "pods", _pods(found)
    if found.place:
        yield "place", f"{found.place} of {found.place_of} that wait in the queue"
    for one in found.holders:
        yield "held by", _holder(one, found.time)
    if found.more_holders:
        yield "held by", f"{found.more_holders} more in this namespace"
    if found.held_elsewhere:
        amounts = amounts_text(found.held_elsewhere)
        yield "held elsewhere", f"{amounts} (other namespaces, and reservations)"
    if found.other_cards:
        cards = [f"{show(one.name)} ({one.amount} left)" for one in found.other_cards]
        yield "would fit", f"with another card of the queue: {first_of(cards, ', ')}"
    if found.other_queues:
        queues = [
            f"{show(one.queue)} ({one.left} of {show(one.card)} left)" for one in found.other_queues
        ]
        yield "would fit", f"in another queue: {first_of(queues, ', ')}"
    if found.reclaim is not None:
        yield "reclaim", show(found.reclaim.message, most=_LONGEST)


def _pods(found: Explanation) -> str:
    numbers = found.pods
    parts = [f"{numbers.running} on nodes"]
    if numbers.released:
        parts.append(f"{numbers.released} released and without a node")
    parts.append(f"{numbers.waiting} at the gate")
    if numbers.lacking:
        parts.append(f"{numbers.lacking} missing")
    return ", ".join(parts)


def _holder(one: Holder, now: str) -> str:
    pods = counted(one.pods, "pod")
    cards = amounts_text(one.cards)
    return f"{show(one.kind)}/{show(one.name)}: {cards} ({pods}, for {ago(one.since, now)})"
