"""What all structs of Kubernetes objects share: how they stand in JSON."""

from msgspec import Struct

from ..quantity import Quantity

Amounts = dict[str, Quantity]
"""By resource name, as it stands in JSON."""


class Wire(Struct, rename="camel", kw_only=True, gc=False):
    """Base of all structs: camelCase on the wire, absent fields take their defaults."""
