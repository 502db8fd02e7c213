"""The API server as one service account sees it: requests, events, caches that a watch keeps."""

import asyncio
import base64
import json
import logging
import secrets
import ssl
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, Self

import aiohttp
import yaml

from .api_objects import Json, key, name, namespace, now, uid

_log = logging.getLogger(__name__)

MERGE: Final = "application/merge-patch+json"
NOT_FOUND: Final = 404
CONFLICT: Final = 409
GONE: Final = 410

_TIMEOUT: Final = aiohttp.ClientTimeout(total=30)
_WATCH: Final = aiohttp.ClientTimeout(total=None, sock_read=None)
_AGAIN: Final = 0.5
"""Seconds until a list is tried again."""
_LONGEST_LINE: Final = 64 * 1024 * 1024


class ApiRefusalError(Exception):
    """The API server did not do what was asked, or did not answer: then the status is 0."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class AccountClient:
    """Requests with the token of a kubeconfig that the plane wrote. One event loop."""

    def __init__(self, kubeconfig: Path, program: str) -> None:
        """`program`: by what name the API server notes who has written a field. The real ones are
        `vc-scheduler`, `vc-controller-manager` and `vc-webhook-manager`: the names of the binaries,
        as every Go client has it.
        """
        stored = yaml.safe_load(kubeconfig.read_text())
        self._server = str(stored["clusters"][0]["cluster"]["server"])
        authority = base64.b64decode(stored["clusters"][0]["cluster"]["certificate-authority-data"])
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                ssl=ssl.create_default_context(cadata=authority.decode()), limit=50
            ),
            headers={
                "Authorization": f"Bearer {stored['users'][0]['user']['token']}",
                "User-Agent": f"{program}/stand-in",
            },
            trust_env=False,
            read_bufsize=_LONGEST_LINE,
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._session.close()

    async def ask(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        content_type: str = "application/json",
    ) -> Json:
        """The object in the answer. Raises ApiRefusalError for any status from 400 on."""
        try:
            async with self._session.request(
                method,
                self._server + path,
                data=None if body is None else json.dumps(body),
                headers={"Content-Type": content_type},
                timeout=_TIMEOUT,
            ) as answer:
                if answer.status < 400:
                    return dict(await answer.json(content_type=None))
                raise ApiRefusalError(answer.status, _message(await answer.text()))
        except (aiohttp.ClientError, TimeoutError, ValueError) as error:
            raise ApiRefusalError(0, f"{method} {path}: {error!r}") from error

    def watch(self, path: str, version: str) -> Any:
        """A response whose lines are watch events, for `async with`."""
        query = {"watch": "1", "resourceVersion": version, "allowWatchBookmarks": "true"}
        return self._session.get(self._server + path, params=query, timeout=_WATCH)

    async def tell(self, thing: Json, kind: str, reason: str, message: str, source: str) -> Json:
        """Record a new event about an object, and return it."""
        where = namespace(thing) or "default"
        when = now()
        about = {
            "apiVersion": thing.get("apiVersion", "v1"),
            "kind": kind,
            "namespace": namespace(thing),
            "name": name(thing),
            "uid": uid(thing),
        }
        event = {
            "metadata": {"name": f"{name(thing)}.{secrets.token_hex(8)}", "namespace": where},
            "involvedObject": about,
            "type": "Warning",
            "reason": reason,
            "message": message[:1024],
            "source": {"component": source},
            "firstTimestamp": when,
            "lastTimestamp": when,
            "count": 1,
        }
        return await self.ask("POST", f"/api/v1/namespaces/{where}/events", event)

    async def tell_again(self, event: Json, count: int) -> None:
        """Raise the count of an event that was recorded before."""
        where = f"/api/v1/namespaces/{namespace(event)}/events/{name(event)}"
        change = {"count": count, "lastTimestamp": now()}
        await self.ask("PATCH", where, change, content_type=MERGE)


def _message(text: str) -> str:
    """What a refusal says: of an API group that is not there it says so in plain text."""
    try:
        return str(json.loads(text)["message"])
    except (ValueError, TypeError, KeyError):
        return text.strip()


class ObjectCache:
    """All objects of one collection, a moment late. Kept until its task is cancelled.

    A collection that the API server does not have is empty, and is asked for again.
    """

    def __init__(self, api: AccountClient, path: str, changed: Callable[[], None]) -> None:
        self._api, self._path, self._changed = api, path, changed
        self.objects: dict[str, Json] = {}
        self.listed = asyncio.Event()
        """Set once the first list was answered, be it by 'not found'."""

    def __len__(self) -> int:
        return len(self.objects)

    async def keep(self) -> None:
        """List and watch for ever."""
        while True:
            try:
                await self._follow(await self._list())
            except ApiRefusalError as error:
                if error.status == NOT_FOUND:
                    self.objects = {}
                    self.listed.set()
                elif error.status != GONE:
                    _log.warning("%s: %s", self._path, error)
            except (aiohttp.ClientError, TimeoutError, ValueError) as error:
                _log.warning("watch of %s ended: %r", self._path, error)
            await asyncio.sleep(_AGAIN)

    async def _list(self) -> str:
        found = await self._api.ask("GET", self._path)
        kind = str(found["kind"]).removesuffix("List")
        head = {"apiVersion": found["apiVersion"], "kind": kind}
        self.objects = {key(one): {**head, **one} for one in found["items"]}
        self.listed.set()
        self._changed()
        return str(found["metadata"]["resourceVersion"])

    async def _follow(self, version: str) -> None:
        async with self._api.watch(self._path, version) as answer:
            if answer.status >= 400:
                raise ApiRefusalError(answer.status, f"watch: {answer.status}")
            async for line in answer.content:
                self._take(json.loads(line))

    def _take(self, event: Mapping[str, Any]) -> None:
        thing = event["object"]
        match event["type"]:
            case "ADDED" | "MODIFIED":
                self.objects[key(thing)] = thing
            case "DELETED":
                self.objects.pop(key(thing), None)
            case "ERROR":
                raise ApiRefusalError(int(thing.get("code", 0)), str(thing.get("message")))
            case _:
                return
        self._changed()
