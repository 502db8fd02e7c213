"""Messages about cards that are taken back: what is told to whoever asks, and what `check` says."""

from typing import Final

from cardquota.quota.messages import reclaim_answer_messages as m

from .entry import Entry, Said, Where, say

_TAKEN: Final = "Cards that are taken back"
_RESEARCH: Final = "research"
_VISION: Final = "vision"
_H200: Final = "NVIDIA-H200"
_SINCE: Final = "2026-01-02T10:00:00Z"
_NOTHING: Final = "Nothing."
_SAYS: Final = "As it says."
_POLICY: Final = "Wait, or ask your administrator (see reclaim.md)."


def _told(when: str, says: Said, do: str = _SAYS) -> Entry:
    return Entry(under=_TAKEN, when=when, says=says, where=(Where.ANSWER,), rule="L7", do=do)


def _checked(when: str, says: Said) -> Entry:
    where = (Where.CHECK_ONLY,)
    return Entry(under=_TAKEN, when=when, says=says, where=where, rule="L7", do=_NOTHING)


_MAY_END: Final = say(
    m.may_end,
    _VISION,
    _H200,
    (6, 4),
    say(m.unit_text, 1, elastic=True),
    [(_RESEARCH, 2)],
)

TAKING_BACK: Final = (
    _told(
        "A pod waits for a node, and its queue deserves what others hold.",
        say(m.could_end, _H200, 2, 1, [_VISION], 40),
        "Wait.",
    ),
    _told(
        "The same, where the setting `reclaim` is `dryRun`.",
        say(m.could_end, _H200, 2, 1, [_VISION], 40, dry_run=True),
        _POLICY,
    ),
    _told(
        "A pod waits for its queue's quota, which pods of lower priority hold.",
        say(m.could_preempt, _H200, 2, 1, _RESEARCH, 0),
        "Wait.",
    ),
    _told(
        "Pods end for it.",
        say(m.ends_for_it, _H200, _SINCE, 3, 2, ["chat-1"]),
        "Wait.",
    ),
    _told(
        "Pods ended for it, and it did not start.",
        say(m.ended_in_vain, _H200, 3, _SINCE),
        "See `kubectl describe pod`.",
    ),
    _told(
        "Pods ended for several others of its queue, and these did not start.",
        say(m.paused, _RESEARCH, _H200, 3, _SINCE),
        "See `kubectl describe pod` of those.",
    ),
    _told("Pods end for another that lacks the same card.", say(m.ends_for_another, _H200)),
    _told("Its queue has the annotation that says so.", say(m.off_in_queue, _RESEARCH)),
    _told("Its priority class says so.", say(m.never_preempts)),
    _told(
        "Its queue would have more than it deserves.",
        say(m.not_owed, _RESEARCH, _H200, 2, 3, 4),
        "Wait, or ask your administrator for `card.deserved` (L1).",
    ),
    _told("All queues hold what they deserve, or less.", say(m.nobody_above, _H200), "Wait."),
    _told("The same of priorities in its queue.", say(m.nobody_lower, _RESEARCH)),
    _told(
        "Other queues hold more than they deserve, but not enough.",
        say(m.little_above, _H200, 3, 4),
        "Wait.",
    ),
    _told("Those that could make room may not end.", say(m.all_protected, [_VISION]), _POLICY),
    _told("An eviction was refused a while ago.", say(m.budget_keeps, [_VISION])),
    _told("No node would have enough.", say(m.no_room_on_nodes, _H200)),
    _told("Very many small pods hold what it asks for.", say(m.too_many, 100)),
    _told("Pods that hold enough are being deleted.", say(m.enough_leaves, _H200), "Wait."),
    _told("It lacks something else than cards.", say(m.room_on_nodes, _H200)),
    _told(
        "Of a pod that runs: its queue holds more than it deserves.",
        say(m.for_higher_priority, _MAY_END, 0),
        'Set `volcano.sh/preemptable: "false"` on a pod that must not end.',
    ),
    _told(
        "The same, where its queue gives nothing back.",
        say(m.for_higher_priority, say(m.queue_gives_nothing, _VISION), 0, dry_run=True),
        _NOTHING,
    ),
    _told(
        "The same, where its queue holds no more than it deserves.",
        say(m.for_higher_priority, say(m.nothing_borrowed, _VISION, _H200, (3, 4)), 0),
        _NOTHING,
    ),
    _told(
        "The same, where its queue would then hold less than it deserves.",
        say(
            m.for_higher_priority,
            say(
                m.more_than_borrowed,
                _VISION,
                _H200,
                (5, 4),
                say(m.unit_text, 2, elastic=False),
                2,
            ),
            0,
        ),
        _NOTHING,
    ),
    _told("The same, of one that was chosen to end.", say(m.ends_for, "a pod", _RESEARCH, _SINCE)),
    _told("The same, of one that says that it must not.", say(m.never_preemptable), _NOTHING),
    _told("The same, of one that came past admission.", say(m.never_past_admission), _NOTHING),
    _told("The same, of a static pod.", say(m.never_static), _NOTHING),
    _told("The same, in a namespace that is not enforced.", say(m.never_unenforced), _NOTHING),
    _told(
        "The same, of one whose gang ends only as a whole, where another of it must not.",
        say(m.never_without, "chat-1", 2, say(m.never_preemptable)),
        _NOTHING,
    ),
    _told("The same, of a gang that is too large.", say(m.never_so_many, 101, 100), _NOTHING),
    _checked(
        "Cards may be taken back: what `check` looks for.",
        say(m.mode_is, "dryRun", 60, 30),
    ),
    _checked(
        "Pods would end for one that waits.",
        say(m.would_end, "pod <team/train>", _RESEARCH, _H200, 2, ["vision/chat-1"]),
    ),
    _checked(
        "None would.",
        say(m.stands, "pod <team/train>", _RESEARCH, say(m.nobody_above, _H200)),
    ),
    _checked("Very many wait.", say(m.more_wait, 12, would_end=True)),
    _checked("Still more wait.", say(m.not_looked_at, 1_200)),
)
