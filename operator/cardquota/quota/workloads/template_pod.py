"""The pod that a workload would make now, from its pod template."""

from ..objects.meta import Owner
from ..objects.pod import Pod
from ..objects.workload import PodTemplate
from ..pods.pod_defaults import PodDefaults
from ..pods.pod_facts import PodFacts, pod_facts


def pod_of_template(
    template: PodTemplate,
    namespace: str,
    controller: str,
    defaults: PodDefaults | None = None,
    *,
    maker: str = "",
    api_version: str = "",
) -> PodFacts:
    """The pod with what the API server adds to it by `defaults`. Changes the template.

    `controller`: the kind of its controller; empty for none. `maker`: its name, and `api_version`,
    if known. Raises ValueError for a template that cannot be read.
    """
    meta, spec = template.metadata, template.spec
    meta.namespace = namespace
    meta.resource_version = ""  # meaningless in a template, so it may have any value
    meta.owner_references = (
        (Owner(api_version=api_version, kind=controller, name=maker, controller=True),)
        if controller
        else ()
    )
    return pod_facts(
        Pod(metadata=meta, spec=defaults.applied(spec, namespace) if defaults else spec)
    )
