"""Which namespaces, pods and pod groups we review: conditions that keep all others away from us.

Never exempt namespaces, never those set to `off`; with `namespaces: labelled` only those whose
label says `enforced` or `audit`. The selectors are evaluated before any CEL and any call: whatever
happens to us, the namespaces that they leave out go on.

Two terms, as everywhere in the product:

- *ours*: it names a queue, a pod group or a card, or asks for a resource of the vendor table or for
  card memory. Such pods reach the webhooks.
- *managed*: it has a queue, so it must wait at the gate. The pod's namespace or the settings may
  give it one. Webhook conditions cannot see the namespace, policies can. Neither sees whether some
  quota limits card memory: what asks for nothing else is not managed, as far as policies know.
"""

from collections.abc import Iterable
from typing import Any, Final

from ..quota.cards.vendor_table import VendorTable
from ..quota.objects.pod import Pod
from ..quota.pods.pod_facts import DEVICE_CLASS_PREFIX, PodFacts, memory_of
from ..quota.vocabulary import (
    CARD_NAME,
    CARD_NAME_ALIAS,
    GPU_MEMORY,
    GROUP_NAME,
    MANAGED,
    NAMESPACE_AUDIT,
    NAMESPACE_ENFORCED,
    NAMESPACE_MODE,
    NAMESPACE_OFF,
    QUEUE_NAME,
    QUEUE_NAME_VOLCANO_JOB,
    REQUEST,
    Mode,
)
from ..settings import CoveredNamespaces, Settings
from .cel import all_of, annotation, any_of, carries, carries_text, changed, literal, literals

NAME: Final = "kubernetes.io/metadata.name"
"""The label with a namespace's own name, maintained by the API server."""


def _expression(key: str, operator: str, values: Iterable[str]) -> dict[str, Any]:
    return {"key": key, "operator": operator, "values": list(values)}


_COVERED: Final = (NAMESPACE_ENFORCED, NAMESPACE_AUDIT)
"""Values of the label that cover a namespace."""


def covers_by_label(settings: Settings) -> bool:
    """Whether a namespace is covered only if its label says so."""
    return settings.namespaces is CoveredNamespaces.LABELLED


def watched(settings: Settings, *without: str) -> dict[str, Any]:
    """Selects every covered namespace except the exempt ones, those set to `off` and those whose
    label has a value in `without`.
    """
    by_label = _expression(NAMESPACE_MODE, "NotIn", [NAMESPACE_OFF, *without])
    if covers_by_label(settings):
        by_label = _expression(NAMESPACE_MODE, "In", [m for m in _COVERED if m not in without])
    return {
        "matchExpressions": [_expression(NAME, "NotIn", settings.unwatched_namespaces), by_label]
    }


def unlabelled(settings: Settings) -> dict[str, Any] | None:
    """Selects the watched namespaces whose label says nothing that is known; None if there are
    none.
    """
    return None if covers_by_label(settings) else watched(settings, *_COVERED)


def covered(settings: Settings, *, no: bool = False) -> dict[str, Any] | None:
    """Selects the namespaces that the label covers, exempt ones too, or those that it does not.
    None: all are covered.
    """
    if not covers_by_label(settings):
        return None
    return {"matchExpressions": [_expression(NAMESPACE_MODE, "NotIn" if no else "In", _COVERED)]}


def in_watched(settings: Settings, *without: Mode) -> str:
    """`watched` as CEL, for the validations of a policy."""
    label = f"namespaceObject.metadata.?labels[?{literal(NAMESPACE_MODE)}].orValue('')"
    out = [str(mode) for mode in (Mode.OFF, *without)]
    by_label = f"!({label} in {literals(out)})"
    if covers_by_label(settings):
        by_label = f"{label} in {literals(m for m in _COVERED if m not in out)}"
    return all_of(
        f"!(namespaceObject.metadata.name in {literals(settings.unwatched_namespaces)})", by_label
    )


def labelled(settings: Settings, value: str) -> dict[str, Any]:
    """Selects the watched namespaces whose label has this value."""
    return {
        "matchExpressions": [
            _expression(NAME, "NotIn", settings.unwatched_namespaces),
            _expression(NAMESPACE_MODE, "In", [value]),
        ]
    }


def own(settings: Settings) -> dict[str, Any]:
    """Selects only the operator's own namespace."""
    return {"matchExpressions": [_expression(NAME, "In", [settings.namespace])]}


MIRROR: Final = "kubernetes.io/config.mirror"
"""Annotation that marks a pod as the image of a static pod on a node."""

NODE_USER: Final = "system:node:"
"""The prefix of the user names of nodes; only the kubelet creates true mirror pods."""

NODES: Final = "system:nodes"
"""The group of all nodes."""

MARKED: Final = f"object.metadata.?labels[?{literal(MANAGED)}].hasValue()"
"""The pod `object` has our label: it has been here, or somebody wrote it by hand."""

_QUEUE_KEYS: Final = (QUEUE_NAME, QUEUE_NAME_VOLCANO_JOB, GROUP_NAME)
_GROUP_OF_PODS: Final = "podgroup-"
"""How the names of groups begin that Volcano makes for pods that have none (V5)."""
_VOLCANOS_JOBS: Final = "batch.volcano.sh/"
_CARD_KEYS: Final = (CARD_NAME, CARD_NAME_ALIAS)
_CLAIMED: Final = f"name.startsWith({literal(DEVICE_CLASS_PREFIX)})"
"""The resource `name` is a device of a DeviceClass by its prefix."""
_QUEUE_OF_NAMESPACE: Final = f"{annotation('namespaceObject', QUEUE_NAME)} != ''"
IN_ENFORCED: Final = (
    f"namespaceObject.metadata.?labels[?{literal(NAMESPACE_MODE)}].orValue('')"
    f" == {literal(NAMESPACE_ENFORCED)}"
)
"""The namespace of the object has the label `enforced`."""
MIRROR_POD: Final = (
    f"object.metadata.?annotations[?{literal(MIRROR)}].hasValue()\n"
    f"&& request.userInfo.username.startsWith({literal(NODE_USER)})"
)
"""The pod being created is a static pod's image, which the kubelet runs in any case."""
NO_CONTROLLER: Final = (
    "!object.metadata.?ownerReferences.orValue([]).exists(o, o.?controller.orValue(false))"
)
"""No controller made the object being written."""
ASKS_ANEW: Final = any_of(
    "request.operation == 'CREATE'", "object.?spec != oldObject.?spec", changed((REQUEST,))
)
"""The pod group being written is new, or asks for something else than before: no review is needed
of a write of its status or metadata."""
NO_GROUP_OF_VOLCANOS: Final = any_of(
    "request.operation == 'UPDATE'",
    NO_CONTROLLER,
    carries("object", (REQUEST,)),
    all_of(
        f"!object.metadata.?name.orValue('').startsWith({literal(_GROUP_OF_PODS)})",
        "!object.metadata.?ownerReferences.orValue([])"
        f".exists(o, o.apiVersion.startsWith({literal(_VOLCANOS_JOBS)}))",
    ),
)
"""Not a pod group that Volcano's controllers create without asking for cards: none is refused, and
whoever wrote the Job, or the pods, has been told. There may be one for every Deployment."""


def _in_table(settings: Settings) -> str:
    return f"name.matches({literal(settings.vendor_table.pattern)})"


def _asks(pod: str, of: str) -> str:
    """A container or init container asks for more than zero of a resource for whose `name` the
    expression `of` is true. It is asked of names with a slash alone: others are Kubernetes' own,
    and most pods ask for nothing else.

    `dyn` because the type checker of policies takes the two kinds of containers for two types.
    """
    return (
        f"(dyn({pod}.spec).?containers.orValue([]) + dyn({pod}.spec).?initContainers.orValue([]))"
        ".exists(c,\n"
        "  [c.?resources.?limits.orValue({}), c.?resources.?requests.orValue({})]"
        ".exists(amounts,\n"
        f"    amounts.exists(name, name.contains('/') && ({of})\n"
        "      && string(amounts[name]) != '0')))"
    )


def claims_devices(pod: str) -> str:
    """The pod at the path `pod` claims devices in its own text (P7)."""
    return any_of(_claims_by_name(pod), _asks(pod, _CLAIMED))


def _claims_by_name(pod: str) -> str:
    return f"{pod}.spec.?resourceClaims.orValue([]).size() > 0"


def ours_or_claims(pod: str, settings: Settings) -> str:
    """`ours`, or it claims devices in its own text (P7)."""
    return any_of(ours(pod, settings), claims_devices(pod))


def ours_or_may_claim(pod: str, settings: Settings) -> str:
    """`ours_or_claims`, or it asks for what may be a device of a DeviceClass (P7), or a card by the
    plain rule (D1).

    An expression cannot know these names: it accepts any that is not Kubernetes' own.
    """
    asks = _asks(pod, any_of("!name.contains('kubernetes.io/')", _CLAIMED, _of_ours(settings)))
    return any_of(carries(pod, _QUEUE_KEYS + _CARD_KEYS), _claims_by_name(pod), asks)


def ours(pod: str, settings: Settings) -> str:
    """The pod or pod template at the path `pod` uses cards or card quotas.

    An annotation counts even if it is empty: the operator has to report what is wrong with it.
    """
    asks = _asks(pod, _of_ours(settings))
    return any_of(carries(pod, _QUEUE_KEYS + _CARD_KEYS), asks)


def _of_ours(settings: Settings) -> str:
    return any_of(_in_table(settings), f"name == {literal(GPU_MEMORY)}")


def is_ours(pod: Pod, facts: PodFacts, vendors: VendorTable) -> bool:
    """The result of `ours` for a pod, computed in Python."""
    return known_to_policies(pod, facts, vendors) or memory_of(facts.devices) > 0


def known_to_policies(pod: Pod, facts: PodFacts, vendors: VendorTable) -> bool:
    """Whether the API server knows without us that the pod uses cards or card quotas, so that it
    can set the gate. Card memory is none of it: it counts only while a quota limits it (B10).
    """
    notes = pod.metadata.annotations
    if notes is not None:
        own = (notes.queue, notes.queue_volcano_job, notes.group, notes.card_name, notes.card_alias)
        if any(text is not None for text in own):
            return True
    return any(vendors.owner(resource) is not None for resource, _ in facts.devices)


def names_a_queue(pod: str) -> str:
    """The pod names its queue itself, or a group that has one."""
    return carries_text(pod, _QUEUE_KEYS)


def may_be_managed(settings: Settings) -> str:
    """The pod `object` has a queue if its namespace or the settings give it one, and it asks for
    cards, or for card memory, which some quota may limit. Or it claims devices. Also for
    conditions: it does not read `namespaceObject`.
    """
    asks = _asks("object", any_of(_of_ours(settings), _CLAIMED))
    uses = any_of(carries("object", _CARD_KEYS), _claims_by_name("object"), asks)
    return any_of(names_a_queue("object"), uses)


def managed(settings: Settings) -> str:
    """The pod `object` has a queue. For validations of policies: it reads `namespaceObject`."""
    uses = any_of(carries("object", _CARD_KEYS), _asks("object", _in_table(settings)))
    given = uses if settings.default_queue else all_of(_QUEUE_OF_NAMESPACE, uses)
    return any_of(names_a_queue("object"), given)


def may_not_pass(settings: Settings) -> str:
    """The pod `object` asks for cards or card memory where it gets a queue, or may have none
    without one. It reads `namespaceObject`.
    """
    asks = _asks("object", _of_ours(settings))
    if settings.require_queue or settings.default_queue:
        return asks
    return all_of(any_of(_QUEUE_OF_NAMESPACE, IN_ENFORCED), asks)
