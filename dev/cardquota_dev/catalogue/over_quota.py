"""Messages about pods that ask for more than the queue has, or has free."""

from typing import Final

from cardquota.quota.messages import gate_messages, request_messages, shortfall_messages
from cardquota.quota.verdict import HeldBy, LentNumbers, Shortfall
from cardquota.quota.vocabulary import CPU, MEMORY, Reason

from .entry import POD, Entry, Where, constant, say
from .scaling import SCALE_REFUSALS

_QUEUE: Final = "research"
_H200: Final = "NVIDIA-H200"
_H800: Final = "NVIDIA-H800"
_GPU: Final = "nvidia.com/gpu"
_GI: Final = 2**30
_CARDS: Final = [_H200, _H800, "NVIDIA-L40S", "NVIDIA-L20", "NVIDIA-A30", "NVIDIA-A10", "NVIDIA-T4"]
_FIVE_CARDS: Final = [Shortfall(_H200, 5, 8, 3)]
_NINE_CORES: Final = [Shortfall(CPU, 9_000, 9_500, 8_000)]
_LENT: Final = [
    Shortfall(_H200, 1, 6, 5, lending=LentNumbers(8, 3, 5, 2, 10, 3, 2)),
]
_NINE_GI: Final = [Shortfall(MEMORY, 9 * _GI, 15 * _GI, 12 * _GI)]

_IN_USE: Final = say(
    shortfall_messages.shortfalls, _QUEUE, [Shortfall(_H200, 1, 4, 3)], constant("ADVICE_WAIT")
)

OVER_QUOTA: Final = (
    Entry(
        under=Reason.INSUFFICIENT_CARD,
        when="The request alone is more than the quota: it can never fit.",
        says=say(
            shortfall_messages.shortfalls,
            _QUEUE,
            _FIVE_CARDS,
            say(shortfall_messages.advice_never, _FIVE_CARDS),
        ),
        where=(*POD, Where.GROUP_WRITE),
        rule="E5",
        do="Ask for fewer cards, or have the quota raised.",
    ),
    Entry(
        under=Reason.INSUFFICIENT_CARD,
        when="The quota is in use at present.",
        says=_IN_USE,
        where=(*POD, Where.GANG_EVENT),
        rule="E2, T3; of a gang the amounts are those of all members together",
        do="Wait: a pod at the gate starts by itself, and the controller of a refused one tries "
        "again. Or delete pods of the queue that are not needed.",
    ),
    Entry(
        under=Reason.INSUFFICIENT_CARD,
        when="The queue holds what it deserves of the card or more, and the cluster has no more of "
        "it than others hold or is kept for them.",
        says=say(shortfall_messages.shortfalls, _QUEUE, _LENT, constant("ADVICE_LENT")),
        where=(*POD, Where.GANG_EVENT),
        rule="L2",
        do="Wait: it starts by itself when others hold less. If it happens often, have more of the "
        "card owed to the queue (`card.deserved`), or less kept for others (`card.lendable`).",
    ),
    Entry(
        under=Reason.INSUFFICIENT_CARD,
        when="The same in a refusal. Argo Workflows and Airflow create the pod again because of "
        "these last words; any other refusal is a failed run for them.",
        says=say(
            shortfall_messages.exceeded_for_now,
            _IN_USE,
        ),
        where=(Where.REFUSAL, Where.SCALE, Where.RESIZE),
        rule="E2, section 9",
        do="As above.",
    ),
    Entry(
        under=Reason.INSUFFICIENT_CARD,
        when="The same, for a pod whose controller is of a kind that cardquota does not know.",
        says=say(
            shortfall_messages.owner_unknown,
            say(
                shortfall_messages.exceeded_for_now,
                _IN_USE,
            ),
            "TaskRun",
        ),
        where=(Where.REFUSAL,),
        rule="section 2",
        do="As it says, if the controller fails for it instead of trying again.",
    ),
    Entry(
        under=Reason.INSUFFICIENT_CARD,
        when="The same, with who holds the card: workloads of the pod's own namespace, three and "
        "then a count, and others as one number. It is true when the text is written: the event "
        "does not change when others hold the card.",
        says=say(
            shortfall_messages.with_held,
            say(
                shortfall_messages.shortfalls,
                _QUEUE,
                [Shortfall(_H200, 1, 9, 8)],
                constant("ADVICE_WAIT"),
            ),
            say(
                shortfall_messages.held_by,
                [HeldBy(_H200, (("chat", 3), ("tune", 2)), elsewhere=2)],
            ),
        ),
        where=(*POD, Where.SCALE),
        rule="section 9",
        do="See whether these are still needed.",
    ),
    Entry(
        under=Reason.INSUFFICIENT_CARD,
        when="The same in an event with little room, as where it names many cards: workloads are "
        "counted.",
        says=say(
            shortfall_messages.with_held,
            say(
                shortfall_messages.shortfalls,
                _QUEUE,
                [Shortfall(_H200, 1, 9, 8)],
                constant("ADVICE_WAIT"),
            ),
            say(shortfall_messages.held_by, [HeldBy(_H200, (), 3, 6, elsewhere=2)]),
        ),
        where=(Where.POD_EVENT,),
        rule="section 9",
        do="See whether these are still needed: `kubectl cardquota queue` names who holds.",
    ),
    Entry(
        under=Reason.INSUFFICIENT_CARD,
        when="The same on a workload or an autoscaler that gets a part. Left out if it would be "
        "too long for a Warning.",
        says=say(
            shortfall_messages.shortly_with_held,
            say(shortfall_messages.shortfalls, _QUEUE, [Shortfall(_H200, 1, 4, 3)]),
            say(shortfall_messages.held_by, [HeldBy(_H200, (("chat", 3),))]),
        ),
        where=(Where.WORKLOAD, Where.SCALE_WARNING),
        rule="section 9",
        do="See whether these are still needed.",
    ),
    Entry(
        under=Reason.INSUFFICIENT_CARD,
        when="It would fit, but pods that are being deleted still hold cards, cpu or memory.",
        says=say(
            shortfall_messages.shortfalls,
            _QUEUE,
            [Shortfall(_H200, 1, 4, 3, 2)],
            constant("ADVICE_WAIT"),
        ),
        where=(*POD, Where.GANG_EVENT, Where.SCALE),
        rule="T4, R1",
        do="Wait until they are gone, as after a drain or an update. If they stay in "
        "`Terminating`, see what keeps them: their node, or a finalizer.",
    ),
    Entry(
        under=Reason.INSUFFICIENT_CARD,
        when="A rolling update starts a new pod before an old one ends, and the quota is in use.",
        says=say(
            shortfall_messages.shortfalls,
            _QUEUE,
            [Shortfall(_H200, 1, 4, 3)],
            say(shortfall_messages.advice_rollout, 0, 1),
        ),
        where=POD,
        rule="R6",
        do="Let an old pod end first, as the message says, or have `card.surge` set on the queue.",
    ),
    Entry(
        under=Reason.INSUFFICIENT_CARD,
        when="The same where the queue lends cards to rolling updates, and all of them are in use.",
        says=say(
            shortfall_messages.shortfalls,
            _QUEUE,
            [Shortfall(_H200, 1, 5, 3)],
            say(shortfall_messages.advice_rollout, 1, 1),
        ),
        where=POD,
        rule="R6",
        do="Wait: the update goes on when an old pod is gone.",
    ),
    Entry(
        under=Reason.INSUFFICIENT_CARD,
        when="Behind each sentence that says why a PodGroup waits: its place in the order, and "
        "then who holds what it lacks.",
        says=say(
            shortfall_messages.with_held,
            say(gate_messages.waits_in_order, _QUEUE, 2, 14),
            say(shortfall_messages.held_by, [HeldBy(_H200, (("chat", 3),), elsewhere=2)]),
        ),
        where=(Where.GROUP_EVENT, Where.GROUP_CONDITION),
        rule="E6; a group counts once, and so do equal pods that wait without one",
        do="Nothing. What fits may start before what does not, unless the queue is `fifo`.",
    ),
    Entry(
        under=Reason.INSUFFICIENT_CARD,
        when="None of several cards has room. Five are listed, the rest is counted.",
        says=say(
            shortfall_messages.shortfalls,
            _QUEUE,
            [Shortfall(card, 1, 3, 2) for card in _CARDS],
            constant("ADVICE_WAIT"),
        ),
        where=(*POD, Where.GANG_EVENT),
        rule="E7, section 9",
        do="As for one card; one of them is enough.",
    ),
    Entry(
        under=Reason.INSUFFICIENT_CARD,
        when="More cards and more cpu than the quota has.",
        says=say(
            shortfall_messages.shortfalls,
            _QUEUE,
            [*_FIVE_CARDS, *_NINE_CORES],
            say(shortfall_messages.advice_never, [*_FIVE_CARDS, *_NINE_CORES]),
        ),
        where=POD,
        rule="E5, P6",
        do="Both must fit: ask for less of both.",
    ),
    Entry(
        under=Reason.INSUFFICIENT_CARD,
        when="The quota has a row for the card, of 0.",
        says=say(
            shortfall_messages.shortfalls,
            _QUEUE,
            [Shortfall(_H800, 1, 1, 0)],
            say(shortfall_messages.advice_never, [Shortfall(_H800, 1, 1, 0)]),
        ),
        where=POD,
        rule="E5",
        do="Name another card of the queue, or have the quota raised.",
    ),
    Entry(
        under=Reason.INSUFFICIENT_CARD,
        when="Pods that start together, with a choice of cards, are more than all of these allow.",
        says=say(
            shortfall_messages.shortfalls,
            _QUEUE,
            [Shortfall(card, 6, 6, 2) for card in _CARDS[:2]],
            constant("ADVICE_TOGETHER"),
        ),
        where=(Where.GANG_EVENT, Where.GROUP_WRITE),
        rule="T3, E5",
        do="Lower the group's minMember, or have the quota raised.",
    ),
    *SCALE_REFUSALS,
    Entry(
        under=Reason.INSUFFICIENT_CPU,
        when="The cpu of the pod alone is more than the queue's limit. In cores.",
        says=say(
            shortfall_messages.shortfalls,
            _QUEUE,
            _NINE_CORES,
            say(shortfall_messages.advice_never, _NINE_CORES),
        ),
        where=(*POD, Where.RESIZE, Where.GROUP_WRITE),
        rule="P6, E5",
        do="Request less cpu, or have `spec.capability` raised.",
    ),
    Entry(
        under=Reason.INSUFFICIENT_MEMORY,
        when="The memory is in use at present. In Gi.",
        says=say(shortfall_messages.shortfalls, _QUEUE, _NINE_GI, constant("ADVICE_WAIT")),
        where=(*POD, Where.GANG_EVENT),
        rule="P6, E2",
        do="Wait, or delete pods of the queue that are not needed.",
    ),
    Entry(
        under=Reason.INSUFFICIENT_MEMORY,
        when="A running pod asks for more memory (or cpu) than is free.",
        says=say(shortfall_messages.shortfalls, _QUEUE, _NINE_GI, constant("ADVICE_RESIZE")),
        where=(Where.RESIZE,),
        rule="P6",
        do="Try again later: what runs cannot wait at a gate, so it is refused.",
    ),
    Entry(
        under=Reason.CARD_NOT_IN_QUOTA,
        when="The card exists, and the queue's quota has no row for it.",
        says=say(
            shortfall_messages.shortfalls,
            _QUEUE,
            [Shortfall("NVIDIA-L40S", 1, 1, 0)],
            say(shortfall_messages.advice_not_in_quota, [_H200, _H800]),
        ),
        where=(*POD, Where.GROUP_WRITE),
        rule="Q1",
        do="Name a card of the list, or use another queue.",
    ),
    Entry(
        under=Reason.CARD_NOT_IN_QUOTA,
        when="The same of a card that no node has either. Of the queue's cards that no node has "
        "this is said too.",
        says=say(
            shortfall_messages.shortfalls,
            _QUEUE,
            [Shortfall("NVIDIA-H20O", 1, 1, 0)],
            say(shortfall_messages.advice_not_in_quota, [_H200], ["NVIDIA-B300"], meant=_H200),
        ),
        where=(*POD, Where.GROUP_WRITE),
        rule="Q1, P4",
        do="Correct the name, or name a card of the list that nodes have.",
    ),
    Entry(
        under=Reason.CARD_NOT_IN_QUOTA,
        when="The pod names no card, and its node selector and resource allow none of the quota.",
        says=say(
            request_messages.invalid_request,
            _QUEUE,
            [(_GPU, 1)],
            say(shortfall_messages.no_card_left, _GPU, ["NVIDIA-H200", "NVIDIA-H800"]),
        ),
        where=POD,
        rule="P3",
        do="Allow one of the listed cards in the node selector, and request the resource that "
        "counts it.",
    ),
)
