"""The annotation that names a card, and its alias (section 2).

The alias is read if the annotation is missing, with a warning. If the two disagree the pod is
refused: we cannot tell which of them was meant.
"""

from sys import intern

from .. import vocabulary as v
from ..messages import request_messages
from ..objects.pod import PodAnnotations


def card_text(notes: PodAnnotations) -> str | None:
    """The card text of a pod, under either key."""
    text = notes.card_name if notes.card_name is not None else notes.card_alias
    return None if text is None else intern(text)


def card_problem(notes: PodAnnotations) -> str:
    """The conflict between the two annotations; empty if there is none."""
    if not _disagree(notes):
        return ""
    name, alias = notes.card_name or "", notes.card_alias or ""
    return request_messages.disagree(v.CARD_NAME, name, v.CARD_NAME_ALIAS, alias)


def alias_warning(notes: PodAnnotations | None) -> tuple[str, ...]:
    """A warning if the alias is set and does not conflict with the annotation."""
    if notes is None or notes.card_alias is None or _disagree(notes):
        return ()
    return (request_messages.alias_used(),)


def _disagree(notes: PodAnnotations) -> bool:
    name, alias = notes.card_name, notes.card_alias
    return name is not None and alias is not None and name != alias
