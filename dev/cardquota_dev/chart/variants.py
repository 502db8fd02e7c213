"""One text for all variants of a document: what differs stands between conditions of Helm.

Guarantee: with the conditions of a variant the text renders to exactly this variant, since it is
made of nothing but its lines. Lines that variants share stand there once, as far as `difflib` finds
them.
"""

from collections.abc import Sequence
from difflib import SequenceMatcher

Lines = Sequence[str]
"""Whole lines, or blocks of them that stay together. None is empty or ends with a space: Helm takes
away what stands before a condition."""


def merged(variants: Sequence[Lines], conditions: Sequence[str]) -> list[str]:
    """One text for `2 ** len(conditions)` variants.

    In the order in which binary numbers count, where the first condition is the highest digit: the
    first variant is that of no condition, the last that of all.
    """
    if not conditions:
        (only,) = variants
        return list(only)
    first, *others = conditions
    half = len(variants) // 2
    return _either(first, merged(variants[half:], others), merged(variants[:half], others))


def _either(condition: str, holds: list[str], else_: list[str]) -> list[str]:
    if holds == else_:
        return holds
    found: list[str] = []
    matcher = SequenceMatcher(None, holds, else_, autojunk=False)
    for what, start, end, else_start, else_end in matcher.get_opcodes():
        if what == "equal":
            found += holds[start:end]
        else:
            found.append(_block(condition, holds[start:end], else_[else_start:else_end]))
    return found


def _block(condition: str, holds: list[str], else_: list[str]) -> str:
    if not holds:
        return "\n".join((f"{{{{- if not ({condition}) }}}}", *else_, "{{- end }}"))
    rest = ("{{- else }}", *else_) if else_ else ()
    return "\n".join((f"{{{{- if {condition} }}}}", *holds, *rest, "{{- end }}"))
