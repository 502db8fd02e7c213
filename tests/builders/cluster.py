"""A ledger that has seen things."""

from sys import maxsize
from typing import Any

from cardquota.quota.cards import DEFAULT_TABLE
from cardquota.quota.ledger import Ledger, LedgerSettings

from .body import Body
from .group import GroupBody
from .names import H200, H800, R4090, R4090D
from .namespace import NamespaceBody
from .node import NodeBody, a_node
from .pod import PodBody
from .queue import QueueBody

CARDS = (
    a_node("h200-a").with_cards(H200, 8),
    a_node("h800-a").with_cards(H800, 8),
    a_node("4090-a").with_cards(R4090, 8),
    a_node("4090d-a").with_cards(R4090D, 4),
)
"""Nodes with whole cards of four models of one resource name."""


def a_ledger(*things: Body, **settings: Any) -> Ledger:
    """One that has seen these, in this order."""
    at_once = settings.pop("at_once", maxsize)
    bounded = settings.pop("bounded", True)
    ledger = Ledger(DEFAULT_TABLE, LedgerSettings(**settings), bounded=bounded, at_once=at_once)
    see(ledger, *things)
    return ledger


def see(ledger: Ledger, *things: Body) -> None:
    """Added or changed: the event of each."""
    for thing in things:
        match thing:
            case PodBody():
                ledger.pod_seen(thing.facts())
            case NodeBody():
                ledger.node_seen(thing.facts())
            case QueueBody():
                ledger.queue_seen(thing.facts(open_to_all=not ledger.settings.require_namespaces))
            case GroupBody():
                ledger.group_seen(thing.facts())
            case NamespaceBody():
                ledger.namespace_seen(thing.facts(labelled=ledger.settings.labelled))
            case _:
                raise TypeError(thing)
