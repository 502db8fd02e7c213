"""The annotations of a written object: keys of ours that come with it, and keys that mean nothing.

Keys of ours come from a backup, or are left out of what replaces an object (I3). Nobody need know
of them to restore or replace one, so they are put right instead of refused. What is forged after
our review is refused by the policies.

Keys that mean nothing get a Warning, but in no object of more than 256 KiB, which is what
Kubernetes allows for annotations. To read the keys of a smaller one takes some microseconds,
and some milliseconds if it has nothing else. They are read apart from the object: of the others
only the known ones are kept.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Final

import msgspec

from cardquota.quota import vocabulary as v
from cardquota.quota.limits import JOB_TASKS, KIB
from cardquota.quota.messages import queue_write_messages, request_messages
from cardquota.quota.objects.pod import PodAnnotations
from cardquota.quota.own_keys import KeysOfKind

from .review import UNREADABLE, Request

Steps = list[Mapping[str, object]]
"""Of a JSON patch."""
_NOTES: Final = "/metadata/annotations"
_MOST_TOLD: Final = 3
"""Warnings of one object: Kubernetes cuts off all of them together."""
_LONGEST: Final = 256 * KIB
_NO_KEYS: Final[Collection[str]] = ()


class _Meta(msgspec.Struct):
    annotations: dict[str, str] | None = None


class _Template(msgspec.Struct):
    metadata: _Meta = msgspec.field(default_factory=_Meta)


class _WrittenSpec(msgspec.Struct, rename="camel"):
    template: _Template = msgspec.field(default_factory=_Template)
    job_template: "_Written | None" = None
    tasks: list[msgspec.Raw] | None = None
    """Not decoded: what was stored before may have very many."""


class _Written(_Template):
    spec: _WrittenSpec | None = None


_WRITTEN: Final[msgspec.json.Decoder[_Written | None]] = msgspec.json.Decoder(_Written | None)
_TASK: Final[msgspec.json.Decoder[_WrittenSpec | None]] = msgspec.json.Decoder(_WrittenSpec | None)


def annotations_of(encoded: msgspec.Raw) -> dict[str, str]:
    """All annotations of an object; none if there is no object, or it cannot be read."""
    try:
        found = _WRITTEN.decode(encoded)
    except UNREADABLE:
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


Where = Callable[[_Written], Collection[str]]
"""The keys of one part of an object. Raises as decoding does."""


def own(found: _Written) -> Collection[str]:
    """Those of the object itself."""
    return found.metadata.annotations or _NO_KEYS


def of_template(found: _Written) -> Collection[str]:
    """Those of a workload's pods, also where a CronJob makes Jobs of them."""
    spec = found.spec
    if spec is not None and spec.job_template is not None:
        spec = spec.job_template.spec
    return spec.template.metadata.annotations or _NO_KEYS if spec is not None else _NO_KEYS


def of_tasks(found: _Written) -> Collection[str]:
    """Those of the pods of all tasks of a Job of Volcano; none where these are too many."""
    tasks = (found.spec.tasks if found.spec is not None else None) or ()
    if len(tasks) > JOB_TASKS.most:
        return _NO_KEYS
    each = [one.template.metadata.annotations for one in map(_TASK.decode, tasks) if one]
    return dict.fromkeys(key for keys in each for key in keys or ())


def key_warnings(request: Request, keys: KeysOfKind, where: Where = own) -> tuple[str, ...]:
    """At most three, about annotations that were not there before. Never raises: of an object that
    cannot be read nothing is said.
    """
    written = _keys(where, request.object)
    if not written:
        return ()
    found = keys.meaningless(written, _keys(where, request.old_object))[:_MOST_TOLD]
    return tuple(queue_write_messages.no_effect(key, meant=meant) for key, meant in found)


def keys_beside_template(request: Request, template: PodAnnotations | None) -> tuple[str, ...]:
    """Keys of pods that stand on the workload and not in its template; at most two, which were not
    there before. Never raises.
    """
    said = template or PodAnnotations()
    in_template = {
        v.CARD_NAME: said.card_name or said.card_alias,
        v.QUEUE_NAME: said.queue,
        v.GROUP_NAME: said.group,
    }
    written = _keys(own, request.object)
    missing = [key for key, text in in_template.items() if key in written and text is None]
    before = _keys(own, request.old_object) if missing else _NO_KEYS
    found = [key for key in missing if key not in before]
    return tuple(request_messages.key_beside_template(key) for key in found[:2])


def _keys(where: Where, encoded: msgspec.Raw) -> Collection[str]:
    if len(encoded) > _LONGEST:
        return _NO_KEYS
    try:
        found = _WRITTEN.decode(encoded)
        return where(found) if found is not None else _NO_KEYS
    except UNREADABLE:
        return _NO_KEYS
