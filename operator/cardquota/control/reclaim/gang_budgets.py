"""Whether PodDisruptionBudgets let a gang end that ends as a whole (L5).

The Eviction API asks for each pod by itself: where a budget allows one of four, one would end, and
a part of the gang would be left. So the budgets of its namespace are read before.
"""

import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec

from ...cluster.api.api_error import ApiError, OutcomeUnknown
from ...cluster.writes import FencedWriter, pod_path
from ...quota.pods.pod_facts import PodFacts
from ...quota.words import logged
from .evictions import EvictionAnswer

_LOG = logging.getLogger(__name__)
_MOST: Final = 20
"""Budgets of a namespace. Where there are more, no gang ends as a whole."""


class _Expression(msgspec.Struct):
    key: str
    operator: str
    values: list[str] | None = None


class _Selector(msgspec.Struct, rename="camel"):
    match_labels: dict[str, str] | None = None
    match_expressions: list[_Expression] | None = None


class _BudgetSpec(msgspec.Struct):
    selector: _Selector | None = None
    """None: of no pod. Empty: of all."""


class _BudgetStatus(msgspec.Struct, rename="camel"):
    disruptions_allowed: int = 0


class _Budget(msgspec.Struct):
    spec: _BudgetSpec = msgspec.field(default_factory=_BudgetSpec)
    status: _BudgetStatus = msgspec.field(default_factory=_BudgetStatus)


class _ListMetadata(msgspec.Struct, rename="camel"):
    continue_: str = msgspec.field(default="", name="continue")


class _Budgets(msgspec.Struct):
    items: list[_Budget]
    metadata: _ListMetadata = msgspec.field(default_factory=_ListMetadata)


class _PodMetadata(msgspec.Struct):
    labels: dict[str, str] | None = None


class _GangPod(msgspec.Struct):
    metadata: _PodMetadata


_decode_budgets: Final = msgspec.json.Decoder(_Budgets).decode
_decode_pod: Final = msgspec.json.Decoder(_GangPod).decode


async def gang_may_end(writer: FencedWriter, gang: Sequence[PodFacts]) -> EvictionAnswer:
    """Whether all these pods of one namespace could be evicted, one after the other, as far as
    budgets are concerned: ENDS, REFUSED, or NOT_NOW if that is not known.

    Each budget has to allow as many disruptions as it selects pods of them, by what its status
    says now.
    """
    path = f"/apis/policy/v1/namespaces/{gang[0].namespace}/poddisruptionbudgets?limit={_MOST}"
    try:
        found = _decode_budgets(await writer.get(path))
        if found.metadata.continue_:
            return EvictionAnswer.REFUSED
        tight = [one for one in found.items if one.status.disruptions_allowed < len(gang)]
        labels = [await _labels(writer, one) for one in gang] if tight else []
    except (ApiError, OutcomeUnknown, msgspec.MsgspecError) as error:
        _LOG.warning("budgets of %s cannot be read: %s", logged(gang[0].namespace), error)
        forbidden = isinstance(error, ApiError) and error.status == 403
        return EvictionAnswer.REFUSED if forbidden else EvictionAnswer.NOT_NOW
    kept = any(one.status.disruptions_allowed < _selected(one, labels) for one in tight)
    return EvictionAnswer.REFUSED if kept else EvictionAnswer.ENDS


async def _labels(writer: FencedWriter, pod: PodFacts) -> Mapping[str, str] | None:
    """None: it is gone."""
    try:
        return _decode_pod(await writer.get(pod_path(pod))).metadata.labels or {}
    except ApiError as error:
        if error.status == 404:
            return None
        raise


def _selected(budget: _Budget, labels: Iterable[Mapping[str, str] | None]) -> int:
    selector = budget.spec.selector
    if selector is None:
        return 0
    return sum(one is not None and _selects(selector, one) for one in labels)


def _selects(selector: _Selector, labels: Mapping[str, str]) -> bool:
    wanted, expressions = selector.match_labels or {}, selector.match_expressions or ()
    return all(labels.get(key) == value for key, value in wanted.items()) and all(
        _fits(one, labels) for one in expressions
    )


def _fits(one: _Expression, labels: Mapping[str, str]) -> bool:
    values = one.values or ()
    match one.operator:
        case "In":
            return labels.get(one.key) in values
        case "NotIn":
            return labels.get(one.key) not in values
        case "DoesNotExist":
            return one.key not in labels
        case _:
            return one.key in labels
