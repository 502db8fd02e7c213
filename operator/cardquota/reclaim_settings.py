"""The sections of the settings that say whether cards are taken back, when, and how many (L6)."""

from collections.abc import Mapping
from typing import Annotated, Any, Final

from pydantic import BeforeValidator, Field, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue

from .quota.vocabulary import ReclaimMode
from .section import Seconds, Section

_UPWARDS: Final = tuple(ReclaimMode)
"""The modes, each with all that the one before it does, and more."""
EvictionsAMinute = Annotated[int, Field(ge=1, le=10_000)]


def reclaim_section(value: object) -> object:
    """The mapping that one word means; anything else as it is. To be used before two sources of
    settings are merged: a word over a mapping, or the reverse, would replace it.
    """
    if isinstance(value, Mapping | Section):
        return value
    return {"mode": value}


def _word(value: object) -> object:
    """YAML reads `on` and `off` as booleans."""
    if isinstance(value, bool):
        return ReclaimMode.ON if value else ReclaimMode.OFF
    return value


class _AlsoBoolean:
    """For the schema of the chart's values, which Helm compares after it has read YAML."""

    @staticmethod
    def __get_pydantic_json_schema__(
        core_schema: Any, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return {"anyOf": [handler(core_schema), {"type": "boolean"}]}


class _AlsoWord:
    """The same of the whole section."""

    @staticmethod
    def __get_pydantic_json_schema__(
        core_schema: Any, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        words = {"enum": [*_UPWARDS, True, False]}
        return {"anyOf": [handler(core_schema), words]}


class Reclaim(Section):
    """Whether pods are ended for those who are owed what they hold (L3 to L6). One word, as
    `reclaim: dryRun`, is its `mode`.
    """

    mode: Annotated[ReclaimMode, BeforeValidator(_word), _AlsoBoolean] = ReclaimMode.OFF
    """Whether pods are ended for others, of other queues or of lower priority in the same queue. A
    queue may say less for what waits in it. The component `reclaim` sets it, and gives the operator
    the right to evict."""
    after: Seconds = 60.0
    """Seconds for which kube-scheduler must have found no node for a released pod before pods of
    other queues are ended for it; and of a leader's term before it ends any."""
    evictions_per_minute: EvictionsAMinute = 30
    """Pods that one leader ends in a minute."""
    evictions_per_queue: EvictionsAMinute = 10
    """Pods of one queue that one leader ends in a minute."""
    past_admission: bool = False
    """Whether pods that came past admission (I3) may be ended too."""
    beside_volcano: bool = False
    """Whether pods are ended also where the configuration of Volcano's scheduler names its actions
    `reclaim` or `preempt`, which end pods by rules of their own. Without, the operator does not
    start there."""

    def mode_in(self, queue_mode: ReclaimMode | None) -> ReclaimMode:
        """The mode for what waits in a queue that says this: at most the installation's, which it
        is where the queue says nothing.
        """
        return min(self.mode, queue_mode or self.mode, key=_UPWARDS.index)


ReclaimSection = Annotated[Reclaim, BeforeValidator(reclaim_section), _AlsoWord]


class Preempt(Section):
    """When pods of lower priority in the same queue are ended (L3); whether, `reclaim` says."""

    after: Seconds = 30.0
    """Seconds after its creation for which a pod or gang must have lacked quota."""
