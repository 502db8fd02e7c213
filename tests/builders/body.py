"""What all builders share: an object as JSON, never changed in place."""

from copy import deepcopy
from typing import Any, Self


class Body:
    """One Kubernetes object as it stands in JSON. Each step gives a new builder."""

    def __init__(self, body: dict[str, Any]) -> None:
        self.body = body

    def put(self, value: Any, *path: str) -> Self:
        """A copy with `value` at a path; None takes the path away."""
        copy = deepcopy(self.body)
        inner = copy
        for key in path[:-1]:
            inner = inner.setdefault(key, {})
        if value is None:
            inner.pop(path[-1], None)
        else:
            inner[path[-1]] = value
        return type(self)(copy)

    def annotated(self, key: str, value: str | None) -> Self:
        return self.put(value, "metadata", "annotations", key)

    def labelled(self, key: str, value: str | None) -> Self:
        return self.put(value, "metadata", "labels", key)

    def with_uid(self, uid: str) -> Self:
        return self.put(uid, "metadata", "uid")

    def at_revision(self, revision: int) -> Self:
        return self.put(str(revision), "metadata", "resourceVersion")

    def created(self, when: str) -> Self:
        return self.put(when, "metadata", "creationTimestamp")

    @property
    def name(self) -> str:
        return str(self.body["metadata"]["name"])

    @property
    def uid(self) -> str:
        return str(self.body["metadata"]["uid"])

    @property
    def key(self) -> str:
        return f"{self.body['metadata'].get('namespace', '')}/{self.name}"


def new_body(name: str, **metadata: str) -> dict[str, Any]:
    """The least an object has."""
    return {"metadata": {"name": name, "uid": f"uid-{name}", "resourceVersion": "1", **metadata}}
