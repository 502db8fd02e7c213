"""Which devices may be claimed where no quota may be got round (P7).

A review reads the claims of a pod once. Claims and templates can be deleted and made again under
the same name, until the pod has a node. Also the claims made from templates pass here.
"""

from typing import Final

from ...quota.vocabulary import NAMESPACE_ENFORCED, NAMESPACE_MODE
from ...settings import Settings
from ..cel import literals, user_is
from ..namespaces import labelled
from .admission_policy import AdmissionPolicy, Check, Rule

_SCHEDULER: Final = "system:kube-scheduler"
"""It makes claims for what pods ask for as a resource, which is counted or refused as such."""


def resource_claims(settings: Settings) -> AdmissionPolicy:
    """In namespaces labelled `enforced`, only claims of DeviceClasses without cards."""
    listed = settings.device_classes_without_cards
    return AdmissionPolicy(
        "resource-claims",
        Rule("resourceclaims", ("CREATE",), "resource.k8s.io", "*"),
        conditions={"not-for-a-resource": f"!({user_is(_SCHEDULER)})"},
        checks=(
            Check(
                "object.spec.?devices.?requests.orValue([]).all(r,\n"
                "  r.?firstAvailable.orValue([r.?exactly.orValue(r)]).all(d,\n"
                f"    d.?deviceClassName.orValue('') in {literals(listed)}))",
                f"no quota counts claimed devices: in a namespace labelled {NAMESPACE_MODE}: "
                f"{NAMESPACE_ENFORCED} claims may be only of DeviceClasses without cards "
                f"({', '.join(listed) or 'none'}); ask for cards in the container's limits",
            ),
        ),
        namespaces=labelled(settings, NAMESPACE_ENFORCED),
    )
