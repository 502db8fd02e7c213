"""What the scheduler extender says, by way of kube-scheduler."""

from typing import Final

from cardquota.quota.cards.memory_shape import SharedUnit
from cardquota.quota.messages import binding_messages as b
from cardquota.quota.messages import binding_messages as m

from .entry import Entry, Said, Where, constant, say

FITS_NOT: Final = "No node fits"
NOT_BOUND: Final = "Not bound"


def _no_fit(when: str, says: Said, do: str, rule: str = "B4") -> Entry:
    return Entry(under=FITS_NOT, when=when, says=says, where=(Where.SCHEDULING,), rule=rule, do=do)


def _unbound(when: str, says: Said, do: str = "Nothing: kube-scheduler tries again.") -> Entry:
    return Entry(under=NOT_BOUND, when=when, says=says, where=(Where.BINDING,), rule="B5", do=do)


SCHEDULING: Final = (
    _no_fit(
        "Every card of the node that is large enough is too full. kube-scheduler counts the nodes "
        "with the same words.",
        say(m.no_card_free, 8138, SharedUnit.MIB),
        "Wait for pods that end, or `kubectl cardquota inspect` and make room.",
    ),
    _no_fit(
        "The pod asks for more than the largest healthy card of the node has.",
        say(m.no_card_so_large, 20000, SharedUnit.MIB),
        "Ask for less, or add nodes with larger cards.",
    ),
    _no_fit(
        "A pod by memory, and a node whose cards are given out whole.",
        constant("BY_CARD"),
        "Nothing: whole cards and parts of them are never given out on one node.",
        "B3",
    ),
    _no_fit(
        "A pod that asks for cards, and a node whose cards are shared by memory.",
        constant("BY_MEMORY"),
        "Nothing: whole cards and parts of them are never given out on one node.",
        "B3",
    ),
    _no_fit(
        "Somebody bound a pod to the node past the extender, and now both kinds are there.",
        constant("MIXED"),
        "Delete the pods of one kind.",
        "B3",
    ),
    _no_fit(
        "A pod by memory, and a node that offers no card memory.",
        constant("NO_MEMORY"),
        "Nothing, if other nodes do; else install the device plugin there.",
    ),
    _no_fit(
        "The node offers card memory, and not how many cards it is of, or sizes that cannot be.",
        constant("CARDS_UNREADABLE"),
        "See the event `CardMemoryUnreadable` on the node.",
        "B1",
    ),
    _no_fit(
        "kube-scheduler names a node that no watch has told of.",
        constant("NODE_UNKNOWN"),
        "Nothing: it is known a moment later.",
    ),
    _no_fit(
        "A pod asks for card memory and for cards.",
        constant("BOTH_ASKED"),
        "Take one of the two out of the pod's template.",
    ),
    _no_fit(
        "A pod asks for card memory, and we did not release it: it has no queue, or came past "
        "the webhooks.",
        constant("NO_MEMORY_ROW"),
        "Create it again in a queue whose quota has `<product>/gpu-mem`.",
        "B9",
    ),
    _no_fit(
        "The pod's amounts cannot be read.",
        say(m.request_unreadable, "resource aliyun.com/gpu-mem: <-1> is negative"),
        "Correct the pod's template.",
    ),
    _unbound(
        "Since the filter said yes, another pod took the room.",
        say(b.no_room, "n1", say(m.no_card_free, 8138, SharedUnit.MIB)),
    ),
    _unbound("No replica leads, as while one takes over from another.", constant("NO_LEADER")),
    _unbound("The leader's term ends too soon to send anything.", constant("TOO_LATE")),
    _unbound(
        "The replica that was asked passes the call on, and the leader is not there.",
        say(b.leader_unreachable, "10.1.2.3:9444"),
    ),
    _unbound(
        "The pod was deleted, or made again under its name, or no watch has told of it yet.",
        say(b.pod_unknown, "vision", "train-0"),
    ),
    _unbound("The pod has a node.", say(b.pod_bound_elsewhere, "vision", "train-0", "n2")),
    _unbound(
        "An earlier Binding to another node is not answered yet.",
        say(b.pod_under_way, "vision", "train-0", "n2"),
    ),
    _unbound("The pod's gate is shut.", say(b.pod_gated, "vision", "train-0")),
    _unbound("The pod is being deleted.", say(b.pod_ending, "vision", "train-0")),
    _unbound(
        "The API server, a webhook or a policy refuses the Binding. Nothing is charged.",
        say(b.refused, "n1", 'admission webhook "x.example.com" denied the request: not today'),
        "See whose the refusal is.",
    ),
    _unbound("The API server did not answer in time.", say(b.unknown_outcome, "n1")),
)
