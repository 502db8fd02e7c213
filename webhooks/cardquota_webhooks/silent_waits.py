"""Warnings about what makes pods wait, or keeps them out of a queue, without another word."""

from collections.abc import Mapping
from typing import Final

import msgspec

from cardquota.quota import vocabulary as v
from cardquota.quota.limits import KIB
from cardquota.quota.messages import request_messages
from cardquota.quota.objects.pod import PodAnnotations, PodSpec

from .review import Request

_LONGEST: Final = 256 * KIB
"""Bytes of an object that is read for this: what Kubernetes allows for annotations."""


class _Meta(msgspec.Struct):
    annotations: dict[str, msgspec.Raw] | None = None


class _Object(msgspec.Struct):
    metadata: _Meta = msgspec.field(default_factory=_Meta)


_DECODER: Final = msgspec.json.Decoder(_Object | None)


def foreign_gates(spec: PodSpec) -> tuple[str, ...]:
    """That a pod which is let through still waits, and holds its quota meanwhile."""
    others = [gate.name for gate in spec.scheduling_gates or () if gate.name != v.GATE]
    return (request_messages.foreign_gate(others[0]),) if others else ()


def deadline_in_queue(deadline: int | None) -> tuple[str, ...]:
    """That a Job may end before its pods start. `deadline`: its own, in seconds. That of a pod
    begins when a kubelet has it.
    """
    return (request_messages.deadline_in_queue(deadline),) if deadline is not None else ()


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
    written = _annotations(request.object)
    missing = [key for key, text in in_template.items() if key in written and text is None]
    before = _annotations(request.old_object) if missing else {}
    found = [key for key in missing if key not in before]
    return tuple(request_messages.key_beside_template(key) for key in found[:2])


def _annotations(encoded: msgspec.Raw) -> Mapping[str, object]:
    if len(encoded) > _LONGEST:
        return {}
    try:
        found = _DECODER.decode(encoded)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return {}
    return (found.metadata.annotations if found is not None else None) or {}
