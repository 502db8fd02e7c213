"""What becomes of pods, in the order of the API server, and when."""

import json
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Self

import urllib3

from cardquota_dev.testing import Cluster, eventually

from .asking import Object, ask, credentials


@dataclass(frozen=True)
class SeenChange:
    """One event of a watch, and when it came (seconds, monotonic)."""

    at: float
    type: str
    object: Object

    @property
    def name(self) -> str:
        return str(self.object["metadata"]["name"])


class PodChanges:
    """Every change of the pods of a collection in the order of the API server."""

    def __init__(self, cluster: Cluster, path: str) -> None:
        self._cluster, self._path = cluster, path
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._stopping = False
        self.seen: list[SeenChange] = []

    def start(self) -> Self:
        found = ask(self._cluster, "GET", f"{self._path}?limit=1")
        self._revision = str(found.body["metadata"]["resourceVersion"])
        self._first = int(self._revision)
        self._open()
        self._thread.start()
        return self

    def stop(self) -> None:
        self._stopping = True
        with suppress(RuntimeError, OSError):  # the stream has just ended by itself
            self._answer.shutdown()
        self._thread.join(10)
        self._answer.close()

    def first(self, condition: Callable[[SeenChange], bool], what: str) -> SeenChange:
        """The first event of that kind, once it has come."""
        found = eventually(lambda: next((s for s in list(self.seen) if condition(s)), None), what)
        assert found is not None
        return found

    def caught_up(self) -> list[SeenChange]:
        """All changes, once those have come that made what is stored now."""
        items = ask(self._cluster, "GET", self._path).body["items"]
        stored = {
            one["metadata"]["uid"]: _revision(one) for one in items if _revision(one) > self._first
        }

        def seen() -> bool:
            latest = {s.object["metadata"]["uid"]: _revision(s.object) for s in list(self.seen)}
            return all(latest.get(uid, 0) >= revision for uid, revision in stored.items())

        eventually(seen, "the watch has brought what is stored")
        return list(self.seen)

    def _open(self) -> None:
        cluster = self._cluster
        self._answer = cluster.admin.rest_client.pool_manager.request(
            "GET",
            f"{cluster.admin.configuration.host}{self._path}"
            f"?watch=true&resourceVersion={self._revision}",
            headers=credentials(cluster),
            preload_content=False,
            timeout=60.0,
        )

    def _read(self) -> None:
        try:
            while not self._stopping:
                self._follow()
                # An API server that has no time for us ends a stream: nothing is lost by that.
                self._open()
        except Exception:
            if not self._stopping:
                raise

    def _read_some(self) -> bytes:
        """Empty at the end of the stream, and after a time in which nothing happened."""
        try:
            return bytes(self._answer.read1())
        except urllib3.exceptions.ReadTimeoutError:
            return b""

    def _follow(self) -> None:
        rest = b""
        while chunk := self._read_some():
            at = time.monotonic()
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                event = json.loads(line)
                self._revision = str(event["object"]["metadata"]["resourceVersion"])
                self.seen.append(SeenChange(at, event["type"], event["object"]))


def _revision(thing: Object) -> int:
    return int(thing["metadata"]["resourceVersion"])
