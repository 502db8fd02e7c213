"""One MutatingAdmissionPolicy and its binding, from the few things that differ.

Like a ValidatingAdmissionPolicy it is evaluated inside the API server, without a call, so it works
while we are down. It needs Kubernetes 1.36, where it is v1.
"""

from dataclasses import dataclass
from typing import Any, Final, Literal

from .admission_policy import PREFIX

_API: Final = "admissionregistration.k8s.io/v1"
_LABELS: Final = {"app.kubernetes.io/name": "cardquota"}
_TYPES: Final = {"applyConfiguration": "ApplyConfiguration", "jsonPatch": "JSONPatch"}


@dataclass(frozen=True, slots=True)
class Mutation:
    """A change that the API server makes to pods at create."""

    what: str
    conditions: dict[str, str]
    """CEL by name. The expression is evaluated only if all hold. They see no namespace."""
    how: Literal["applyConfiguration", "jsonPatch"]
    expression: str
    """CEL of the change. It sees `namespaceObject`."""
    namespaces: dict[str, Any]
    """Namespace selector."""
    fail: bool
    """Whether a request is refused if this cannot be evaluated. Else it continues unchanged."""

    @property
    def name(self) -> str:
        """Name of the policy and of its binding."""
        return PREFIX + self.what

    def policy(self) -> dict[str, Any]:
        """The MutatingAdmissionPolicy."""
        rule = {
            "apiGroups": [""],
            "apiVersions": ["v1"],
            "resources": ["pods"],
            "operations": ["CREATE"],
        }
        return {
            "apiVersion": _API,
            "kind": "MutatingAdmissionPolicy",
            "metadata": {"name": self.name, "labels": dict(_LABELS)},
            "spec": {
                "failurePolicy": "Fail" if self.fail else "Ignore",
                # Again if the pod is changed after us: by then it may have a queue.
                "reinvocationPolicy": "IfNeeded",
                "matchConstraints": {"matchPolicy": "Equivalent", "resourceRules": [rule]},
                "matchConditions": [
                    {"name": name, "expression": text} for name, text in self.conditions.items()
                ],
                "mutations": [
                    {
                        "patchType": _TYPES[self.how],
                        self.how: {"expression": self.expression},
                    }
                ],
            },
        }

    def binding(self) -> dict[str, Any]:
        """The MutatingAdmissionPolicyBinding."""
        return {
            "apiVersion": _API,
            "kind": "MutatingAdmissionPolicyBinding",
            "metadata": {"name": self.name, "labels": dict(_LABELS)},
            "spec": {
                "policyName": self.name,
                "matchResources": {"namespaceSelector": self.namespaces},
            },
        }
