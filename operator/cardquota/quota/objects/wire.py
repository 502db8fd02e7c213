"""The base of all structs of Kubernetes objects: how they appear in JSON."""

from msgspec import Struct

from ..quantity import Quantity

ResourceList = dict[str, Quantity]
"""By resource name, as JSON has them."""


class Wire(Struct, rename="camel", kw_only=True, gc=False, omit_defaults=True):
    """Base of all structs: camelCase on the wire, absent fields take their defaults."""
