"""The pod that a workload would make now, from its pod template."""

from ..objects.meta import Owner
from ..objects.pod import Pod
from ..objects.workload import PodTemplate
from ..pods.pod_defaults import PodDefaults
from ..pods.pod_facts import PodFacts, pod_facts


def pod_of_template(
    template: PodTemplate, namespace: str, controller: str, defaults: PodDefaults | None = None
) -> PodFacts:
    """The pod with what the API server adds to it by `defaults`. Changes the template.

    `controller`: the kind of its controller; empty for none. Raises ValueError for a template that
    cannot be read.
    """
    meta, spec = template.metadata, template.spec
    meta.namespace = namespace
    meta.resource_version = ""  # meaningless in a template, so it may have any value
    meta.owner_references = (Owner(kind=controller, controller=True),) if controller else ()
    return pod_facts(
        Pod(metadata=meta, spec=defaults.applied(spec, namespace) if defaults else spec)
    )
