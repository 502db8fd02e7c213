"""The policies that the API server itself enforces, also while no webhook answers.

In: the settings. Out: `policies`, the ValidatingAdmissionPolicies that guard gates, keys,
namespaces and our own objects; and the MutatingAdmissionPolicy that sets the gate, if there is one.
"""

from .all_policies import policies
