"""The Term: which leader's decisions the API server accepts.

Policies of the API server have it as their parameter. It is not the Lease: an API server stops
following a parameter of a built-in kind when nothing refers to it for a second, and never begins
again (kubernetes/kubernetes#130887).
"""

from typing import Final

from cardquota.quota.vocabulary import REVIEW_GROUP, REVIEW_VERSION, TERMS

from .custom_resource import Column, CustomResource
from .fields import WireModel


class TermSpec(WireModel):
    """Who decides."""

    term: str
    """Name of the term: the holder of the Lease of the same name."""


class TermStatus(WireModel):
    """What the leader found when it last tried."""

    fault: str | None = None
    """Why decisions of this term are refused, or those of another are not; absent: all is right."""


class TermSchema(WireModel):
    """The term in which cardquota opens gates. Its leader writes it; there is one, in the
    operator's namespace.
    """

    spec: TermSpec
    """Who decides."""
    status: TermStatus | None = None
    """What the leader found when it last tried."""


TERM: Final = CustomResource(
    kind="Term",
    model=TermSchema,
    plural=TERMS,
    scope="Namespaced",
    columns=(
        Column("Term", ".spec.term"),
        Column("Fault", ".status.fault", wide=True),
        Column("Age", ".metadata.creationTimestamp", type="date"),
    ),
    group=REVIEW_GROUP,
    version=REVIEW_VERSION,
)
