"""What is wrong with a setting, or with an option of the command line, in plain words: pydantic's
own are made for programmers.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

_WORDS: Final = (
    (re.compile(r"^Value error, "), ""),
    (re.compile(r"^Extra inputs are not permitted$"), "there is no such setting"),
    (re.compile(r"^Field required$"), "is missing"),
    (re.compile(r", unable to (?:parse|interpret).*$"), ""),
    (re.compile(r", got a number with a fractional part$"), ""),
    (re.compile(r"^Input should be a valid (?:dictionary|mapping)\b.*$"), "must be a mapping"),
    (re.compile(r"^Input should be a valid (?:list|tuple|set)$"), "must be a list"),
    (re.compile(r"^Input should be a valid string$"), "must be text (put it in quotes)"),
    (re.compile(r"^Input should be a valid integer$"), "must be a whole number"),
    (re.compile(r"^Input should be a valid number$"), "must be a number"),
    (re.compile(r"^Input should be a valid boolean$"), "must be true or false"),
    (re.compile(r"^String should match pattern "), "must match the pattern "),
    (re.compile(r"^(?:Input|String|Value|List|Tuple|Dictionary) should "), "must "),
)

_LATE_BINDING: Final = (
    "there is no such setting any more: a pod's card is decided when its gate opens; leave the "
    "setting out"
)
_CARD_SECONDS: Final = (
    "there is no such setting any more: card-seconds are sum_over_time of the metric of allocated "
    "cards; leave the setting out"
)
_STUCK: Final = (
    "there is no such setting any more: metrics show for how long pods wait, or should be gone; "
    "leave the setting out, and set the times in your alerts"
)
_UNSEEN_WAIT: Final = (
    "there is no such setting any more: a pod is reviewed once, and waits for no other pods; leave "
    "the setting out"
)
_REPLACEMENT_WAIT: Final = (
    "there is no such setting any more: the replacement of a pod that a running gang has lost goes "
    "first, and no room is kept for it; leave the setting out"
)
_RENEWALS: Final = (
    "there is no such setting any more: an event is written when the reason changes, at most 50 in "
    "a second; leave the setting out"
)
_REFRESHES: Final = (
    "there is no such setting any more: the condition of a PodGroup is written when its reason "
    "changes; leave the setting out"
)
_GONE: Final = {
    "events.renewalspersecond": _RENEWALS,
    "release.grouprefreshespersecond": _REFRESHES,
    "extender.latebinding": _LATE_BINDING,
    "extender.schedulers": _LATE_BINDING,
    "cardsecondsrefresh": _CARD_SECONDS,
    "release.replacementwait": _REPLACEMENT_WAIT,
    "stuck": _STUCK,
    "webhook.unseenwait": _UNSEEN_WAIT,
}
"""Settings of earlier releases, in small letters: what to do about them."""


def plain_problem(text: str) -> str:
    """One of its messages in plain words; any other text as it is."""
    for pattern, words in _WORDS:
        text = pattern.sub(words, text)
    return text


def setting_problem(error: Mapping[str, Any]) -> str:
    """One entry of `ValidationError.errors()`: the key as it is written in the file, and what is
    wrong with it.
    """
    where = ".".join(map(str, error["loc"])) or "settings"
    gone = _GONE.get(where.replace("_", "").lower())
    return f"{where}: {gone or plain_problem(str(error['msg']))}"
