"""Keys of ours that come with an object: from a backup, or left out of what replaces one (I3).

Nobody need know of them to restore or replace an object, so they are put right instead of refused.
What is forged after our review is refused by the policies.
"""

from collections.abc import Iterable, Mapping

import msgspec

Steps = list[Mapping[str, object]]
"""Of a JSON patch."""
_NOTES = "/metadata/annotations"


class _Notes(msgspec.Struct):
    annotations: dict[str, str] | None = None


class _WithNotes(msgspec.Struct):
    metadata: _Notes


_DECODER = msgspec.json.Decoder(_WithNotes | None)


def annotations_of(encoded: msgspec.Raw) -> dict[str, str]:
    """All annotations of an object; none if there is no object, or it cannot be read."""
    try:
        found = _DECODER.decode(encoded)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return {}
    return (found.metadata.annotations if found is not None else None) or {}


def dropping(keys: Iterable[str]) -> Steps:
    """What takes these annotations off an object that has them."""
    return [{"op": "remove", "path": f"{_NOTES}/{_escaped(key)}"} for key in keys]


def keeping(notes: Mapping[str, str], kept: Mapping[str, str]) -> Steps:
    """What adds annotations to an object that has these `notes`."""
    if kept and not notes:
        return [{"op": "add", "path": _NOTES, "value": kept}]
    return [
        {"op": "add", "path": f"{_NOTES}/{_escaped(key)}", "value": value}
        for key, value in kept.items()
    ]


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")
