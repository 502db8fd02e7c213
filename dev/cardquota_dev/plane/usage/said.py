"""What annotations say, and the log of those that cannot be read."""

import logging
from typing import Final

from .annotation import ANNOTATION, StatedUsage, UsageError, read_usage
from .objects import UsageMeta

_LOG: Final = logging.getLogger("usage")
_NOTHING: Final = StatedUsage()
_MOST: Final = 1_000


class SaidUsage:
    """Reads annotations. One that cannot be read counts as absent.

    Guarantees: it is logged when it is first read and whenever its text has changed, not each time
    the autoscaler asks. Not guaranteed: only once, if there are more than a thousand such objects.
    """

    def __init__(self) -> None:
        self._logged: dict[tuple[str, str], str] = {}

    def by(self, metadata: UsageMeta) -> StatedUsage:
        """What the annotation of a pod or a namespace says; nothing if it has none."""
        text = metadata.usage
        if text is None:
            return _NOTHING
        try:
            return read_usage(text)
        except UsageError as error:
            self._log(metadata, text, error)
            return _NOTHING

    def _log(self, metadata: UsageMeta, text: str, error: UsageError) -> None:
        owner = metadata.namespace, metadata.name
        if self._logged.get(owner) == text:
            return
        if len(self._logged) >= _MOST:
            self._logged.clear()
        self._logged[owner] = text
        name = "/".join(filter(None, owner))
        _LOG.warning("%s of %s cannot be read and does not count: %s", ANNOTATION, name, error)
