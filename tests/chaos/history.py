"""Everything that was ever stored, read from etcd itself by a thread of its own.

Not through the API server: one that was restarted has forgotten what was before, answers 410, and
what happened in between is lost. etcd remembers until it is compacted, and numbers the changes of
every key, so that a missing one is found.
"""

import asyncio
import base64
import json
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import aiohttp

PREFIXES = {
    "pod": "/registry/pods/{namespace}/",
    "group": "/registry/scheduling.volcano.sh/podgroups/{namespace}/",
    "queue": "/registry/scheduling.volcano.sh/queues/",
    "lease": "/registry/leases/cardquota-system/",
    "node": "/registry/minions/",
    "list": "/registry/configmaps/kube-system/",
    "job": "/registry/batch.volcano.sh/jobs/{namespace}/",
}
"""Where the API server keeps the kinds that count."""
_CONDITIONS = ("PodScheduled", "DisruptionTarget")


class HistoryError(Exception):
    """Something was missed: nothing can be said of this run."""


@dataclass(frozen=True)
class Change:
    """One write, as it was stored."""

    revision: int
    at: float
    """When we were told, on the monotonic clock: a moment after it happened."""
    kind: str
    key: str
    version: int
    """How often the key was written since it was made; 0: it was deleted."""
    object: dict[str, Any] | None
    before: int | None = None
    """Of what was deleted: the version that it had; None in histories that do not say."""


class History:
    """Writes down every change from `start` to `stop`. Its file holds a line for each."""

    def __init__(self, store: str, namespace: str, file: Path) -> None:
        self._store, self._file = store, file
        self._prefixes = {k: p.format(namespace=namespace) for k, p in PREFIXES.items()}
        self._thread = threading.Thread(target=lambda: asyncio.run(self._main()), daemon=True)
        self._begun, self._stopping = threading.Event(), False
        self._keys: dict[str, int] = {}
        self.failure = ""
        """Why the run says nothing."""

    def __enter__(self) -> Self:
        self._thread.start()
        if not self._begun.wait(30):
            raise HistoryError("etcd does not answer")
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping = True
        self._thread.join(30)

    async def _main(self) -> None:
        with self._file.open("w") as self._out:
            timeout = aiohttp.ClientTimeout(total=None, sock_read=None)
            async with aiohttp.ClientSession(timeout=timeout, read_bufsize=2**22) as session:
                # What was there before is told too, as of its last change.
                now = {kind: await self._copy(session, kind) for kind in self._prefixes}
                self._begun.set()
                tasks = [asyncio.create_task(self._follow(session, k, r)) for k, r in now.items()]
                while not self._stopping and not any(task.done() for task in tasks):
                    await asyncio.sleep(0.1)
                for task in tasks:
                    if task.done() and not task.cancelled():
                        self.failure = self.failure or repr(task.exception())
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)

    async def _copy(self, session: aiohttp.ClientSession, kind: str) -> int:
        answer = await self._range(session, kind)
        for kv in answer.get("kvs", ()):
            self._note(kind, kv)
        return int(answer["header"]["revision"])

    async def _range(self, session: aiohttp.ClientSession, kind: str) -> dict[str, Any]:
        async with session.post(f"{self._store}/v3/kv/range", json=self._span(kind)) as answer:
            return dict(await answer.json(content_type=None))

    async def _follow(self, session: aiohttp.ClientSession, kind: str, revision: int) -> None:
        """One prefix, from the revision after this one, through every restart of etcd."""
        while True:
            # Of what is deleted etcd tells only by `prev_kv` how often it had been written.
            span = {**self._span(kind), "start_revision": str(revision + 1), "prev_kv": True}
            try:
                async with session.post(
                    f"{self._store}/v3/watch", json={"create_request": span}
                ) as answer:
                    async for line in answer.content:
                        revision = self._told(kind, json.loads(line), revision)
            except (aiohttp.ClientError, OSError):
                await asyncio.sleep(0.1)

    def _told(self, kind: str, line: dict[str, Any], revision: int) -> int:
        result = line.get("result", {})
        if result.get("canceled"):
            raise HistoryError(f"{kind}: etcd ended the watch: {result}")
        for event in result.get("events", ()):
            kv = event["kv"]
            self._note(kind, kv, event.get("prev_kv"))
            revision = max(revision, int(kv["mod_revision"]))
        return revision

    def _note(
        self, kind: str, kv: Mapping[str, str], before: Mapping[str, str] | None = None
    ) -> None:
        key = base64.b64decode(kv["key"]).decode().removeprefix(self._prefixes[kind])
        version, revision = int(kv.get("version", 0)), int(kv["mod_revision"])
        thing = slim(json.loads(base64.b64decode(kv["value"]))) if version else None
        row = [time.monotonic(), kind, key, version, thing]
        if not version:
            row.append(int((before or {}).get("version", 0)))
        self._out.write(f"{revision:012} {json.dumps(row)}\n")
        whole = f"{kind} {key}"
        if version:
            self._keys[whole] = revision
        else:
            self._keys.pop(whole, None)

    async def complete(self, seconds: float = 20.0) -> bool:
        """Whether all that is stored now was told, within some seconds."""
        deadline = time.monotonic() + seconds
        async with aiohttp.ClientSession() as session:
            while not self.failure:
                stored = {}
                for kind, prefix in self._prefixes.items():
                    if kind == "lease":
                        continue  # written all the time
                    for kv in (await self._range(session, kind)).get("kvs", ()):
                        key = base64.b64decode(kv["key"]).decode().removeprefix(prefix)
                        stored[f"{kind} {key}"] = int(kv["mod_revision"])
                known = {k: r for k, r in self._keys.copy().items() if not k.startswith("lease ")}
                if stored == known:
                    self._out.flush()
                    return True
                if time.monotonic() > deadline:
                    return False
                await asyncio.sleep(0.2)
        return False

    def _span(self, kind: str) -> dict[str, str]:
        prefix = self._prefixes[kind].encode()
        end = prefix[:-1] + bytes([prefix[-1] + 1])
        return {"key": _text(prefix), "range_end": _text(end)}


def slim(thing: dict[str, Any]) -> dict[str, Any]:
    """What a recount reads of an object; the rest is most of it."""
    found: dict[str, Any] = {name: thing[name] for name in ("spec", "status") if name in thing}
    kept = ("name", "namespace", "uid", "annotations", "creationTimestamp", "deletionTimestamp")
    found["metadata"] = {key: thing["metadata"].get(key) for key in kept}
    if owners := thing["metadata"].get("ownerReferences"):
        found["metadata"]["ownerReferences"] = owners
    if "data" in thing:
        found["data"] = {key: text for key, text in thing["data"].items() if key == "gpus"}
    if "capacity" in found.get("status", {}):
        found["status"] = {key: thing["status"].get(key) for key in ("capacity", "allocatable")}
    if "containers" in found.get("spec", {}):
        spec = found["spec"]
        found["spec"] = {
            "schedulingGates": spec.get("schedulingGates"),
            "nodeName": spec.get("nodeName"),
            "priority": spec.get("priority"),
            "containers": [{"resources": c.get("resources")} for c in spec["containers"]],
        }
        status = thing.get("status", {})
        conditions = [c for c in status.get("conditions") or () if c.get("type") in _CONDITIONS]
        found["status"] = {"phase": status.get("phase"), "conditions": conditions}
    return found


def changes(file: Path, kind: str = "") -> Iterator[Change]:
    """All changes, or those of a kind, in the order of their revisions.

    Raises HistoryError if one is missing.
    """
    versions: dict[tuple[str, str], int] = {}
    for line in sorted(file.read_text().splitlines()):
        if kind and f', "{kind}", "' not in line[:80]:
            continue
        revision, _, rest = line.partition(" ")
        change = Change(int(revision), *json.loads(rest))
        name = (change.kind, change.key)
        # There was no pod before the first create; of the other kinds there may have been.
        before = versions.get(name, 0 if change.kind == "pod" else None)
        if change.version and before is not None and change.version != before + 1:
            raise HistoryError(f"{name}: version {change.version} follows {before}")
        deleted = change.before if not change.version else None
        if deleted is not None and before is not None and deleted != before:
            raise HistoryError(f"{name}: was deleted in version {deleted}, which follows {before}")
        versions[name] = change.version
        yield change


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()
