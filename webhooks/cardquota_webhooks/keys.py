"""The annotations of a written object: keys of ours that come with it, and keys that mean nothing.

Keys of ours come from a backup, or are left out of what replaces an object (I3). Nobody need know
of them to restore or replace one, so they are put right instead of refused. What is forged after
our review is refused by the policies.

Keys that mean nothing get a Warning, but in no object of more than 256 KiB, which is what
Kubernetes allows for annotations. To read the keys of a smaller one takes some microseconds,
and some milliseconds if it has nothing else. They are read apart from the object: of the others
only the known ones are kept.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Final

import msgspec

from cardquota.quota import vocabulary as v
from cardquota.quota.limits import JOB_TASKS, KIB
from cardquota.quota.messages import queue_write_messages, request_messages
from cardquota.quota.objects.pod import PodAnnotations
from cardquota.quota.own_keys import KeysOfKind

from .review import Request

Steps = list[Mapping[str, object]]
"""Of a JSON patch."""
_NOTES: Final = "/metadata/annotations"
_MOST_TOLD: Final = 3
"""Warnings of one object: Kubernetes cuts off all of them together."""
_LONGEST: Final = 256 * KIB
_NO_KEYS: Final[Collection[str]] = ()


class _Notes(msgspec.Struct):
    annotations: dict[str, str] | None = None


class _WithNotes(msgspec.Struct):
    metadata: _Notes


_NOTED: Final = msgspec.json.Decoder(_WithNotes | None)


def annotations_of(encoded: msgspec.Raw) -> dict[str, str]:
    """All annotations of an object; none if there is no object, or it cannot be read."""
    try:
        found = _NOTED.decode(encoded)
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


class _Meta(msgspec.Struct):
    annotations: dict[str, msgspec.Raw] | None = None


class _Object(msgspec.Struct):
    metadata: _Meta = msgspec.field(default_factory=_Meta)

    @property
    def keys(self) -> Collection[str]:
        return self.metadata.annotations or _NO_KEYS


class _OfJob(msgspec.Struct):
    template: _Object = msgspec.field(default_factory=_Object)


class _JobTemplate(msgspec.Struct):
    spec: _OfJob = msgspec.field(default_factory=_OfJob)


class _OfWorkload(_OfJob, rename="camel"):
    job_template: _JobTemplate | None = None


class _Workload(msgspec.Struct):
    spec: _OfWorkload = msgspec.field(default_factory=_OfWorkload)

    @property
    def keys(self) -> Collection[str]:
        """Those of its pods, also where a CronJob makes Jobs of them."""
        job = self.spec.job_template
        return (job.spec if job is not None else self.spec).template.keys


class _OfVolcanoJob(msgspec.Struct):
    tasks: list[msgspec.Raw] | None = None
    """Not decoded: what was stored before may have very many."""


class _VolcanoJob(msgspec.Struct):
    spec: _OfVolcanoJob = msgspec.field(default_factory=_OfVolcanoJob)

    @property
    def keys(self) -> Collection[str]:
        """Those of the pods of all its tasks; none where these are too many. Raises as decoding
        does.
        """
        tasks = self.spec.tasks or ()
        if len(tasks) > JOB_TASKS.most:
            return _NO_KEYS
        found = [one for one in map(_TASK.decode, tasks) if one is not None]
        return dict.fromkeys(key for task in found for key in task.template.keys)


_TASK: Final = msgspec.json.Decoder(_OfJob | None)
_Decoder = msgspec.json.Decoder[_Object | _Workload | _VolcanoJob | None]
_OBJECT: Final[_Decoder] = msgspec.json.Decoder(_Object | None)
_WORKLOAD: Final[_Decoder] = msgspec.json.Decoder(_Workload | None)
_VOLCANO_JOB: Final[_Decoder] = msgspec.json.Decoder(_VolcanoJob | None)


def key_warnings(request: Request, keys: KeysOfKind) -> tuple[str, ...]:
    """At most three, about annotations of the object that it did not have before. Never raises: of
    an object that cannot be read nothing is said.
    """
    return _warnings(_OBJECT, request, keys)


def template_key_warnings(request: Request, keys: KeysOfKind) -> tuple[str, ...]:
    """Like `key_warnings`, about the annotations of a workload's pod template."""
    return _warnings(_WORKLOAD, request, keys)


def task_key_warnings(request: Request, keys: KeysOfKind) -> tuple[str, ...]:
    """Like `key_warnings`, about the pod templates of all tasks of a Job of Volcano."""
    return _warnings(_VOLCANO_JOB, request, keys)


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
    written = _keys(_OBJECT, request.object)
    missing = [key for key, text in in_template.items() if key in written and text is None]
    before = _keys(_OBJECT, request.old_object) if missing else _NO_KEYS
    found = [key for key in missing if key not in before]
    return tuple(request_messages.key_beside_template(key) for key in found[:2])


def _warnings(decoder: _Decoder, request: Request, keys: KeysOfKind) -> tuple[str, ...]:
    written = _keys(decoder, request.object)
    if not written:
        return ()
    found = keys.meaningless(written, _keys(decoder, request.old_object))[:_MOST_TOLD]
    return tuple(queue_write_messages.key_means_nothing(key, meant=meant) for key, meant in found)


def _keys(decoder: _Decoder, encoded: msgspec.Raw) -> Collection[str]:
    if len(encoded) > _LONGEST:
        return _NO_KEYS
    try:
        found = decoder.decode(encoded)
        keys = found.keys if found is not None else _NO_KEYS
    except (msgspec.DecodeError, ValueError, RecursionError):
        return _NO_KEYS
    return keys
