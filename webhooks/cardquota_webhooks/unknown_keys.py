"""Warnings about annotations of a written object that look like ours and mean nothing.

Nothing is said of an object of more than 256 KiB, which is what Kubernetes allows for annotations.
To read the keys of a smaller one takes some microseconds, and some milliseconds if it has nothing
else. They are read apart from the object: of the others only the known ones are kept.
"""

from collections.abc import Collection
from typing import Final, Generic, TypeVar

import msgspec

from cardquota.quota.limits import JOB_TASKS, KIB
from cardquota.quota.messages.queues import queue_write_messages
from cardquota.quota.names.meaningless_keys import KeysOfKind

from .review import Request

_MOST_TOLD: Final = 3
"""Warnings of one object: Kubernetes cuts off all of them together."""
_LONGEST: Final = 256 * KIB
_NO_KEYS: Final[Collection[str]] = ()


class _AnnotatedMeta(msgspec.Struct):
    annotations: dict[str, msgspec.Raw] | None = None


class _Annotated(msgspec.Struct):
    metadata: _AnnotatedMeta = msgspec.field(default_factory=_AnnotatedMeta)

    @property
    def keys(self) -> Collection[str]:
        return self.metadata.annotations or _NO_KEYS


class _OfJob(msgspec.Struct):
    template: _Annotated = msgspec.field(default_factory=_Annotated)


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
        found = [one for one in map(_TASKS.decode, tasks) if one is not None]
        return dict.fromkeys(key for task in found for key in task.template.keys)


_TASKS: Final = msgspec.json.Decoder(_OfJob | None)
K = TypeVar("K", _Annotated, _Workload, _VolcanoJob)


class _Warnings(Generic[K]):
    def __init__(self, kind: type[K]) -> None:
        self._decoder = msgspec.json.Decoder(kind | None)

    def of(self, request: Request, keys: KeysOfKind) -> tuple[str, ...]:
        written = self._keys(request.object)
        if not written:
            return ()
        found = keys.meaningless(written, self._keys(request.old_object))[:_MOST_TOLD]
        return tuple(
            queue_write_messages.key_means_nothing(key, meant=meant) for key, meant in found
        )

    def _keys(self, encoded: msgspec.Raw) -> Collection[str]:
        if len(encoded) > _LONGEST:
            return _NO_KEYS
        try:
            found = self._decoder.decode(encoded)
            keys = found.keys if found is not None else _NO_KEYS
        except (msgspec.DecodeError, ValueError, RecursionError):
            return _NO_KEYS
        return keys


_OF_OBJECT: Final = _Warnings(_Annotated)
_OF_TEMPLATE: Final = _Warnings(_Workload)
_OF_TASKS: Final = _Warnings(_VolcanoJob)


def key_warnings(request: Request, keys: KeysOfKind) -> tuple[str, ...]:
    """At most three, about annotations of the object that it did not have before. Never raises: of
    an object that cannot be read nothing is said.
    """
    return _OF_OBJECT.of(request, keys)


def template_key_warnings(request: Request, keys: KeysOfKind) -> tuple[str, ...]:
    """The same about the annotations of a workload's pod template."""
    return _OF_TEMPLATE.of(request, keys)


def task_key_warnings(request: Request, keys: KeysOfKind) -> tuple[str, ...]:
    """The same about the annotations in the pod templates of all tasks of a Job of Volcano."""
    return _OF_TASKS.of(request, keys)
