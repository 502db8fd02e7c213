"""Lets claims of devices by that are no cards (P7).

A claim, or its template, is read where a pod would be refused for it. What is made of that name
later the policy `resource-claims` judges.
"""

from collections.abc import Awaitable, Callable, Collection
from typing import Final

from cardquota.quota.ledger.ledger_reader import LedgerReader
from cardquota.quota.messages import request_messages
from cardquota.quota.objects.pod import PodSpec
from cardquota.quota.pods.claims import named_claims, why_no_quota_counts
from cardquota.quota.verdict import Verdict
from cardquota.quota.vocabulary import NAMESPACE_ENFORCED, Reason
from cardquota.settings import Settings

Classes = Callable[[str, str, str], Awaitable[Collection[str] | None]]
"""The DeviceClasses of a claim or template, by namespace, kind and name. None: it is not there.
Raises LookupError if that is not known."""
_MOST: Final = 8
"""Claims of one pod that are read."""


class CardlessClaims:
    """Tells claims of DeviceClasses without cards from all others."""

    def __init__(self, ledger: LedgerReader, settings: Settings, classes: Classes) -> None:
        self._ledger = ledger
        self._without_cards = frozenset(settings.device_classes_without_cards)
        self._classes = classes

    async def leave_out(self, spec: PodSpec, namespace: str) -> str:
        """Empty the claims of `spec` if none of them is of a card, where claims are refused.
        Otherwise why they stay, for `with_claims`; empty where nobody looked.
        """
        found = self._ledger.namespaces.get(namespace)
        if not spec.resource_claims or (found is not None and found.mode != NAMESPACE_ENFORCED):
            return ""
        claims = named_claims(spec)
        if len(claims) > _MOST:
            return request_messages.claims_not_read(len(claims), _MOST)
        for claim in claims:
            try:
                classes = await self._classes(namespace, claim.kind, claim.name)
            except LookupError as error:
                return request_messages.claim_not_read(*claim, str(error))
            why = why_no_quota_counts(claim, classes, self._without_cards)
            if why:
                return why
        spec.resource_claims = ()
        return ""


def with_claims(verdict: Verdict, why: str) -> Verdict:
    """The verdict, with why a claim is refused."""
    if not why or verdict.reason is not Reason.DEVICE_CLAIMED:
        return verdict
    return verdict._replace(text=request_messages.with_claim(verdict.text, why))
