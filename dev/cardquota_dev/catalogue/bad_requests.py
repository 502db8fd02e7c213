"""Messages about pods whose request itself is wrong, regardless of room."""

from typing import Final

from cardquota.quota import limits
from cardquota.quota import vocabulary as v
from cardquota.quota.messages import gang_messages, group_messages, queue_messages, request_messages
from cardquota.quota.vocabulary import Reason

from .entry import POD, Entry, Where, say

_QUEUE: Final = "research"
_H200: Final = "NVIDIA-H200"
_H800: Final = "NVIDIA-H800"
_GPU: Final = "nvidia.com/gpu"

BAD_REQUESTS: Final = (
    Entry(
        under=Reason.INVALID_CARD,
        when="No node offers the card and no quota names it: often a typing error.",
        says=say(
            request_messages.invalid_request,
            _QUEUE,
            [("NVIDIA-H2000", 1)],
            say(
                request_messages.card_unknown,
                "NVIDIA-H2000",
                product_there=False,
                meant="NVIDIA-H200",
            ),
        ),
        where=POD,
        rule="P4",
        do="Correct the name.",
    ),
    Entry(
        under=Reason.INVALID_CARD,
        when="Nodes have the product only in other forms: whole, or as other slices or shares.",
        says=say(
            request_messages.invalid_request,
            _QUEUE,
            [("NVIDIA-H200/mig-1g.5gb-mixed", 1)],
            say(request_messages.card_unknown, "NVIDIA-H200/mig-1g.5gb-mixed", product_there=True),
        ),
        where=POD,
        rule="P4",
        do="Correct the profile: each product has its own.",
    ),
    Entry(
        under=Reason.INVALID_CARD,
        when="The card has a quota, and no node can ever have one of this name.",
        says=say(
            request_messages.invalid_request,
            _QUEUE,
            [("NVIDIA H200", 1)],
            say(request_messages.card_impossible, "NVIDIA H200"),
        ),
        where=POD,
        rule="P4, D9",
        do="Correct the name, in the queue too.",
    ),
    Entry(
        under=Reason.INVALID_CARD,
        when="`card.name` has an empty alternative, is too long, or is no name at all.",
        says=say(
            request_messages.invalid_request,
            _QUEUE,
            [(f"{_H200}||{_H800}", 1)],
            say(request_messages.card_unreadable, f"<{_H200}||{_H800}> has an empty alternative"),
        ),
        where=POD,
        rule="P2",
        do="Write the annotation as the message says.",
    ),
    Entry(
        under=Reason.INVALID_CARD,
        when="A card is named, and no container asks for one.",
        says=say(
            request_messages.invalid_request, _QUEUE, [], say(request_messages.no_card_asked, _H200)
        ),
        where=POD,
        rule="P4",
        do="Add the resource to the container's limits.",
    ),
    Entry(
        under=Reason.INVALID_CARD,
        when="A negative or fractional number of cards, or one beyond counting.",
        says=say(
            request_messages.invalid_request,
            _QUEUE,
            [],
            say(request_messages.unreadable, f"resource {_GPU}: <-1> is negative"),
        ),
        where=POD,
        rule="P4",
        do="Correct what the message quotes.",
    ),
    Entry(
        under=Reason.INVALID_CARD,
        when="Two annotations that mean the same differ: `card.name` and its alias, or those of a "
        "queue.",
        says=say(
            request_messages.invalid_request,
            _QUEUE,
            [],
            say(
                request_messages.unreadable,
                say(request_messages.disagree, v.CARD_NAME, _H200, v.CARD_NAME_ALIAS, _H800),
            ),
        ),
        where=POD,
        rule="section 2",
        do="Remove one of the two.",
    ),
    Entry(
        under=Reason.INVALID_CARD,
        when="The pod's group is written as one of another namespace.",
        says=say(
            request_messages.invalid_request,
            _QUEUE,
            [],
            say(request_messages.unreadable, say(group_messages.group_elsewhere, "other/train")),
        ),
        where=POD,
        rule="section 2",
        do="Write the group's name alone, and create the group in the pod's namespace.",
    ),
    Entry(
        under=Reason.INVALID_CARD,
        when="One pod asks for two card resources.",
        says=say(
            request_messages.invalid_request,
            _QUEUE,
            [(_GPU, 1), ("nvidia.com/mig-1g.18gb", 2)],
            say(request_messages.several_resources, [_GPU, "nvidia.com/mig-1g.18gb"]),
        ),
        where=POD,
        rule="P2",
        do="Split it into several pods.",
    ),
    Entry(
        under=Reason.INVALID_CARD,
        when="The card is behind another resource name than the one that is asked for.",
        says=say(
            request_messages.invalid_request,
            _QUEUE,
            [("NVIDIA-H200/mig-1g.18gb-mixed", 1)],
            say(
                request_messages.other_resource,
                "NVIDIA-H200/mig-1g.18gb-mixed",
                "nvidia.com/mig-1g.18gb",
                _GPU,
            ),
        ),
        where=POD,
        rule="P2",
        do="Ask for the resource that the message names.",
    ),
    Entry(
        under=Reason.INVALID_CARD,
        when="Cards that are named as alternatives have different resource names.",
        says=say(
            request_messages.invalid_request,
            _QUEUE,
            [("NVIDIA-H200|NVIDIA-H200/mig-1g.18gb-mixed", 1)],
            say(
                request_messages.resources_differ,
                {"NVIDIA-H200": _GPU, "NVIDIA-H200/mig-1g.18gb-mixed": "nvidia.com/mig-1g.18gb"},
            ),
        ),
        where=POD,
        rule="P2",
        do="Name cards of one resource name.",
    ),
    Entry(
        under=Reason.INVALID_CARD,
        when="The containers ask for the memory of a card, and a whole card is named.",
        says=say(
            request_messages.invalid_request,
            _QUEUE,
            [("NVIDIA-A10", 8138)],
            say(request_messages.memory_by_product, ["NVIDIA-A10"]),
        ),
        where=POD,
        rule="B10",
        do="Name the memory of the card, or ask for the card.",
    ),
    Entry(
        under=Reason.INVALID_CARD,
        when="The pods of a gang that start together ask for too many different things to be "
        "judged at once.",
        says=say(gang_messages.gang_too_unlike, "research/train", 1000, limits.GANG_KINDS.most),
        where=(Where.GANG_EVENT,),
        rule="E2, I5",
        do="Give pods of one role the same requests, node selector and tolerations.",
    ),
    Entry(
        under=Reason.INVALID_CARD,
        when="The same, of a card that no node has at present.",
        says=say(
            request_messages.invalid_request,
            _QUEUE,
            [("NVIDIA-B300/mig-1g.34gb-mixed", 1)],
            say(request_messages.other_form, "NVIDIA-B300/mig-1g.34gb-mixed", _GPU),
        ),
        where=POD,
        rule="P4",
        do="Ask for the slice's own resource, `nvidia.com/mig-<profile>`.",
    ),
    Entry(
        under=Reason.INVALID_CARD,
        when="The pod's own node selector excludes all cards that it names.",
        says=say(
            request_messages.invalid_request,
            _QUEUE,
            [(_H200, 1)],
            say(request_messages.selector_excludes, f"nvidia.com/gpu.product {_H800}", [_H200]),
        ),
        where=POD,
        rule="P5",
        do="Drop the selector: the gate opens to nodes with the card anyway.",
    ),
    Entry(
        under=Reason.INVALID_CARD,
        when="The same by an affinity that says which cards it does not want; of several terms "
        "each is said.",
        says=say(
            request_messages.invalid_request,
            _QUEUE,
            [(_H200, 1)],
            say(
                request_messages.selector_excludes,
                f"nvidia.com/gpu.product not in {_H200} or nvidia.com/gpu.product does not exist",
                [_H200],
            ),
        ),
        where=POD,
        rule="P5",
        do="Name other cards, or drop the affinity.",
    ),
    Entry(
        under=Reason.INVALID_CARD,
        when="There is more of a pod than is read: [the limits](rules.md#limits).",
        says=say(
            request_messages.invalid_request,
            _QUEUE,
            [(_H200, 1)],
            say(request_messages.beyond_limit, limits.TERMS, 300),
        ),
        where=POD,
        rule="P8",
        do="Write fewer of what the message counts.",
    ),
    Entry(
        under=Reason.INVALID_CARD,
        when="The same, of a text.",
        says=say(
            request_messages.invalid_request,
            _QUEUE,
            [(_GPU, 1)],
            say(request_messages.beyond_limit, limits.CARD_TEXT, 20_000),
        ),
        where=POD,
        rule="P8",
        do="Write less.",
    ),
    Entry(
        under=Reason.INVALID_CARD,
        when="The pod and its PodGroup name two queues.",
        says=say(queue_messages.queue_disagrees, "research/train", _QUEUE, "vision", [(_H200, 1)]),
        where=POD,
        rule="section 2",
        do="Drop the pod's annotation: the group's queue counts.",
    ),
)

NOT_READ: Final = (
    Entry(
        under=Reason.TOO_MUCH_KEPT,
        when="The pods that wait take as much of the operator's memory as they may: "
        "[the sums](rules.md#sums). Here it is those of the pod's own namespace.",
        says=say(
            request_messages.invalid_request,
            _QUEUE,
            [(_GPU, 1)],
            say(request_messages.too_much_kept, limits.WAITING_PODS_OF_ONE, 67_109_120),
        ),
        where=POD,
        rule="P8",
        do="Let fewer pods wait in this namespace at once, or write shorter selectors. If it is "
        "the sum of all namespaces, ask who has so many.",
    ),
    Entry(
        under=Reason.TOO_MUCH_KEPT,
        when="The pod was stored all the same. Only its name is kept.",
        says=say(
            request_messages.not_read,
            "Pod",
            "train-0",
            say(request_messages.too_much_kept, limits.WAITING_PODS_OF_ONE, 67_109_120, of="it"),
        ),
        where=(Where.POD_EVENT,),
        rule="P8",
        do="Wait, or delete pods of this namespace that wait.",
    ),
    Entry(
        under=Reason.TOO_MUCH_KEPT,
        when="The same of the PodGroup that the pod names.",
        says=say(
            request_messages.not_read,
            "PodGroup",
            "research/train",
            say(request_messages.too_much_kept, limits.IDLE_GROUPS_OF_ONE, 25_166_000, of="it"),
        ),
        where=(Where.POD_EVENT,),
        rule="P8",
        do="Wait, or delete PodGroups of this namespace that hold nothing.",
    ),
    Entry(
        under=Reason.TOO_MUCH_KEPT,
        when="The same, at the moment when there is room again.",
        says=say(request_messages.not_read, "Pod", "train-0", say(request_messages.room_to_read)),
        where=(Where.POD_EVENT,),
        rule="P8",
        do="Nothing.",
    ),
)
