"""A namespace."""

from typing import Self

import msgspec

from cardquota.quota import vocabulary as v
from cardquota.quota.ledger.groups import NamespaceFacts, namespace_facts
from cardquota.quota.objects import Namespace

from .body import Body, new_body


class NamespaceBody(Body):
    def in_mode(self, mode: str | None) -> Self:
        return self.labelled(v.NAMESPACE_MODE, mode)

    def with_default_queue(self, queue: str | None) -> Self:
        return self.annotated(v.QUEUE_NAME, queue)

    def wire(self) -> Namespace:
        return msgspec.convert(self.body, Namespace)

    def facts(self, *, labelled: bool = False) -> NamespaceFacts:
        return namespace_facts(self.wire(), labelled=labelled)


def a_namespace(name: str = "team") -> NamespaceBody:
    return NamespaceBody(new_body(name))
