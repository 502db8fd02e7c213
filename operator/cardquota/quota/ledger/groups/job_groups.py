"""Pod groups by the Job of Volcano that they were made for, as their names tell."""

import re
from typing import Final

_OF_JOB: Final = re.compile(r"(.+)-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
"""`namespace/name` of the group: its Job's name, and the Job's uid."""


def job_of(key: str) -> str:
    """The name of the Job that a group was made for, as its key tells; empty: for none."""
    found = _OF_JOB.fullmatch(key)
    return found[1].partition("/")[2] if found is not None else ""


class JobGroups:
    """Kept up to date as groups come and go, in a few steps each. A user's own group of such a name
    is the same.
    """

    def __init__(self) -> None:
        self._keys: dict[str, dict[str, None]] = {}
        """By `namespace/name` of the Job."""

    def see(self, key: str, *, exists: bool) -> None:
        """A group was added or changed, or is gone. `key`: `namespace/name`."""
        found = _OF_JOB.fullmatch(key)
        if found is None:
            return
        job = found[1]
        if exists:
            self._keys.setdefault(job, {})[key] = None
        elif key in self._keys.get(job, ()):
            del self._keys[job][key]
            if not self._keys[job]:
                del self._keys[job]

    def of(self, namespace: str, job: str) -> str:
        """The key of a Job's group, of several the first that was seen. Empty: there is none."""
        return next(iter(self._keys.get(f"{namespace}/{job}", ())), "")

    def __len__(self) -> int:
        return len(self._keys)
