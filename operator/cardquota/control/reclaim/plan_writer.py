"""Writes on a pod, or PodGroup, that waits what ends for it (L5)."""

import logging
from typing import Any, Final

from ...cluster.api.api_error import ApiError, OutcomeUnknown
from ...cluster.writes import FencedWriter, TooLateError, guard, pod_path, precondition
from ...quota import vocabulary as v
from ...quota.ledger.ledger_reader import LedgerReader
from ...quota.plan_record import PlanRecord, plan_text
from ...quota.words import logged
from ..release.group_conditions import group_path

_LOG: Final = logging.getLogger(__name__)


class PlanWriter:
    """Of one term."""

    def __init__(self, ledger: LedgerReader, writer: FencedWriter) -> None:
        """`writer`: for decisions."""
        self._ledger = ledger
        self._writer = writer

    async def write(self, key: str, record: PlanRecord | None) -> bool:
        """Write it on the pod, by uid, or group, by `namespace/name`, as it was last seen; None
        takes it away. Returns whether it may be stored: False if it certainly is not, and cannot be
        any more. What is stored the watch shows.
        """
        found = self._target(key)
        if found is None:
            return False
        path, metadata = found
        text = plan_text(record) if record is not None else None
        body = {"metadata": {**metadata, "annotations": {v.RECLAIM_PLAN: text}}}
        try:
            await self._writer.patch(path, body)
        except TooLateError:
            return False
        except ApiError as error:
            level = logging.DEBUG if error.moved else logging.WARNING
            _LOG.log(level, "what ends for %s cannot be written: %s", logged(key), error)
            return False
        except OutcomeUnknown as error:
            _LOG.warning("what ends for %s: %s", logged(key), error)
        return True

    def _target(self, key: str) -> tuple[str, dict[str, Any]] | None:
        """Its path, and metadata by which it is written as it was seen, or not at all."""
        record, group = self._ledger.pods.get(key), self._ledger.groups.get(key)
        if record is not None:
            return pod_path(record.facts), {**precondition(record.facts), **guard(record.facts)}
        if group is None or group.facts is None:
            return None
        facts = group.facts
        seen = {"uid": facts.uid, "resourceVersion": str(facts.revision)}
        return group_path(facts), seen
