"""`cardquota pause` and `resume`: no quota for a time, and quotas again (U1-U4).

Only the API server is needed to pause: nobody has to lead, and the operator need not run.
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final

from ...cluster.api.client import Client
from ...install.pause import GUARD, is_paused_with_others, pause_said, paused, resumed
from ...install.policies.gate_policies import BORN_UNGATED
from ...quota.answers.answer_forms import QueueAnswer
from ...quota.vocabulary import QUEUE_REVIEWS
from ...quota.words import counted
from ...settings import Settings
from ..ask import NoAnswerError, ask
from ..installed_settings import read_installed_settings
from ..leader import note_unless_led
from ..output import ClusterChoice
from ..reading import ClusterError, client_of, done, inner
from .changes import Changes
from .gates import gated_pods, may_open_gates, open_gates
from .product_objects import ADMISSION, TAKES_UP, ProductObject, change, products, whoami

_STAGES: Final = (
    ("ValidatingAdmissionPolicy",),
    ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"),
    ("MutatingAdmissionPolicy",),
)
"""In the order in which they are paused. What demands the gate goes first, and what reviews pods
before what sets their gate: so no pod is refused for what another object lacks. Resumed in reverse.
"""
_TRIES: Final = 4
"""Of a question to the operator: it may just be writing the path by which it is called."""
_PATIENCE: Final = 2.0
"""Seconds between two of them."""
_CREATED: Final = (
    "Pods are created without a gate, and none is refused. In a queue they are charged from when "
    "they are seen, as pods that never passed the gate; nothing new is released there until it "
    "fits again."
)
_MEANWHILE: Final = (
    "Nobody but the operator can write its annotations and its label, or open a gate.",
    "What applies the manifests by itself and replaces objects may end the pause: suspend it.",
    "`cardquota resume --yes` ends the pause; `cardquota check` shows it.",
)
_WAIT: Final = "Pods at the gate wait on, and the leader, if there is one, releases those that fit."
_OPENED: Final = "Pods whose gate is opened are charged as those that never passed it."


def pause(
    settings: Settings, *, given: bool, release: bool, cluster: ClusterChoice, changes: Changes
) -> None:
    """`given`: whether `settings` are the operator's; else they are read. `release`: whether the
    gates that are shut are opened. Errors: typer.Exit.
    """
    done(_pause(settings, cluster, changes, given=given, release=release))


def resume(settings: Settings, *, given: bool, cluster: ClusterChoice, changes: Changes) -> None:
    """The inverse of `pause`. It first asks the operator something, by the way on which the API
    server calls it for pods: without an answer nothing is resumed. Errors: typer.Exit.
    """
    done(_resume(settings, cluster, changes, given=given))


async def _pause(
    settings: Settings, cluster: ClusterChoice, changes: Changes, *, given: bool, release: bool
) -> None:
    async with client_of(cluster) as client:
        if not given:
            settings, unknown = await read_installed_settings(client, settings)
            changes.note(*unknown)
        objects = await _objects(client, settings)
        _no_other_version(objects)
        said = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ} by {await whoami(client)}"
        concerned = [one for one in objects if is_paused_with_others(one.body)]
        before = {text: None for one in concerned if (text := pause_said(one.body))}
        await _bring(client, concerned, partial(paused, said=said), changes, ("pause", "paused"))
        if release:
            await _release(client, settings, changes)
        for text in (_CREATED, _OPENED if release else _WAIT, *_MEANWHILE):
            changes.note(text)
    nothing = "Nothing is installed that could be paused."
    changes.end(f"Paused already, since {', '.join(before)}." if before else nothing)


async def _resume(
    settings: Settings, cluster: ClusterChoice, changes: Changes, *, given: bool
) -> None:
    async with client_of(cluster) as client:
        if not given:
            settings, unknown = await read_installed_settings(client, settings)
            changes.note(*unknown)
        objects = await _objects(client, settings)
        if any(resumed(one.body) != one.body for one in objects):
            await _until_answered(client)
            words = "resume", "resumed"
            await _bring(client, objects, resumed, changes, words, _STAGES[::-1])
            if unled := await note_unless_led(client, settings.namespace, published=False):
                changes.note(unled)
    changes.end("Not paused: there is nothing to resume.")


async def _objects(client: Client, settings: Settings) -> list[ProductObject]:
    kinds = [
        await products(client, ADMISSION, kind, settings) for stage in _STAGES for kind in stage
    ]
    return [one for found in kinds for one in found]


def _no_other_version(objects: Iterable[ProductObject]) -> None:
    """A version before had the demand for the gate in GUARD: to pause the rest would have every pod
    refused.
    """
    for one in objects:
        names = [inner(it, "name") for it in inner(one.body, "spec", "variables") or ()]
        if one.name == GUARD and BORN_UNGATED in names:
            raise ClusterError(
                f"{one} is of an earlier version, which cannot be paused: first apply the output "
                "of `cardquota manifests`"
            )


async def _bring(
    client: Client,
    objects: Sequence[ProductObject],
    to: Callable[[dict[str, Any]], dict[str, Any]],
    changes: Changes,
    words: tuple[str, str],
    stages: Sequence[tuple[str, ...]] = _STAGES,
) -> None:
    """One kind after the other, each when API servers have taken up the one before; at the end all
    is in force.
    """
    for kinds in stages:
        due = [one for one in objects if one.kind in kinds and to(one.body) != one.body]
        for one in due:
            if changes.yes:
                await change(client, one.path, to)
            changes.step(*words, str(one))
        if due and changes.yes:
            await asyncio.sleep(TAKES_UP)


async def _until_answered(client: Client) -> None:
    spec = {"queue": "", "limit": 0}
    for left in reversed(range(_TRIES)):
        try:
            await ask(client, QueueAnswer, "QueueReview", QUEUE_REVIEWS, spec)
        except NoAnswerError as error:
            if not left:
                why = f"still paused, since pods would be refused: {error}"
                raise ClusterError(why) from error
        else:
            return
        await asyncio.sleep(_PATIENCE)


async def _release(client: Client, settings: Settings, changes: Changes) -> None:
    waiting = len(await gated_pods(client))
    if waiting and changes.yes:
        async with may_open_gates(client, settings, asyncio.sleep):
            waiting = await open_gates(client)
    if waiting:
        changes.step("open", "opened", f"the gates of {counted(waiting, 'pod')}")
