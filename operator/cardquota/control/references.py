"""References to the objects that our events are about."""

from ..cluster.events.event import ObjectReference
from ..quota import vocabulary as v
from ..quota.accounts.queue_facts import QueueFacts
from ..quota.ledger.groups.group_facts import GroupFacts, NamespaceFacts
from ..quota.nodes.node_facts import NodeFacts
from ..quota.pods.pod_facts import PodFacts


def pod_reference(facts: PodFacts) -> ObjectReference:
    """The pod that an event is about."""
    return ObjectReference("Pod", "v1", facts.namespace, facts.name, facts.uid, str(facts.revision))


def group_reference(facts: GroupFacts) -> ObjectReference:
    """The pod group that an event is about."""
    return ObjectReference(
        "PodGroup", f"{v.API_GROUP}/{v.VERSION}", facts.namespace, facts.name, facts.uid
    )


def queue_reference(facts: QueueFacts) -> ObjectReference:
    """The queue that an event is about."""
    return ObjectReference("Queue", f"{v.API_GROUP}/{v.VERSION}", "", facts.name, facts.uid)


def namespace_reference(facts: NamespaceFacts) -> ObjectReference:
    """The namespace that an event is about."""
    return ObjectReference("Namespace", "v1", "", facts.name, facts.uid)


def node_reference(facts: NodeFacts) -> ObjectReference:
    """The node that an event is about."""
    return ObjectReference("Node", "v1", "", facts.name, facts.uid)
