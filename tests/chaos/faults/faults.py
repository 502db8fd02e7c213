"""What goes wrong, one function each. All of them end with everything put right again.

Each says itself when views are old by it, or answers late: that is what leeway is given for. Some
do neither. A node without labels and a ResourceQuota change what is to be decided; certificates
and a Lease that is deleted, who may. A slow webhook holds up what is decided for 2 s at most, which
is what each write gives the API server: then it is refused.
"""

import asyncio
import re
import signal
from collections.abc import Awaitable, Callable
from random import Random
from urllib.parse import urlsplit

import yaml

from cardquota.quota import vocabulary as v
from cardquota.quota.plan_record import PlanRecord, read_plan
from harness.floods import MIB, Peak, connections, half_a_body

from ..api import Object, Reply
from ..clients import objects
from ..clients.lending import BORROWER, OWNER, SUPERIOR
from ..judging.leeway import BEHIND
from ..lengths import STANDS_STILL, Lengths
from ..scene import LEASE, TERM, NothingDoneError, Scene
from .foreign import Foreign
from .rotation import rotate_certificates

Fault = Callable[[Scene, Lengths], Awaitable[None]]

_BINDINGS = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings"
_WEBHOOK = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/cardquota"
_BODIES, _HALF, _LOOKS = 120, 1_500_000, 15
"""How many, and the bytes of each that are sent: what is read of them all would be 170 MiB."""
_GROWS = 100
"""MiB at most for them, and for all else that is done meanwhile."""
_PLAN = 60.0
"""Seconds within which somebody is to wait for lent cards."""
_SENT = 5.0
"""Seconds within which it then asks for the first one to end."""
_LANDS = 4.0
"""Seconds for what comes late to be done. Within as many no plan of the new leader ends anybody."""
_OWNERS = f"{objects.PODS}?labelSelector=client={OWNER}"
_BORROWERS = f"{objects.PODS}?labelSelector=client={BORROWER}"
_RANKS = f"{objects.PODS}?labelSelector=client={SUPERIOR}"
_EVICTIONS = re.compile(
    r'^apiserver_validating_admission_policy_check_total\{[^}]*enforcement_action="deny"[^}]*'
    r'policy="cardquota-eviction-term"[^}]*\} (\S+)$',
    re.MULTILINE,
)
_QUOTAS = f"/api/v1/namespaces/{objects.NAMESPACE}/resourcequotas"


async def pause_the_leader(scene: Scene, lengths: Lengths) -> None:
    """It stands still, for longer than its term, or not quite; then goes on as if nothing was."""
    leader = await scene.until_deciding()
    if leader is None:
        raise NothingDoneError
    with scene.views_are_old():
        await scene.pause(f"cardquota-{leader}", scene.dice.uniform(*lengths.pause))


async def restart_the_api_server(scene: Scene, lengths: Lengths) -> None:
    """It is killed; the plane starts it again after a second."""
    with scene.views_are_old(BEHIND):
        scene.signal("kube-apiserver", signal.SIGKILL)
        await asyncio.sleep(1.5)
        await scene.until_served()
        await asyncio.sleep(2)


async def restart_etcd(scene: Scene, lengths: Lengths) -> None:
    """In good order: it is told not to wait for the disk, so it may lose nothing else."""
    with scene.views_are_old(BEHIND):
        scene.signal("etcd", signal.SIGTERM)
        await asyncio.sleep(1.5)
        await scene.until_served()
        await asyncio.sleep(2)


async def pause_etcd(scene: Scene, lengths: Lengths) -> None:
    """Nothing is stored or read for longer than a term: what was under way then lands late."""
    with scene.views_are_old(BEHIND):
        await scene.pause("etcd", lengths.etcd_pause)
        await scene.until_served()


async def cut_watches(scene: Scene, lengths: Lengths) -> None:
    """All connections of one replica end at once."""
    with scene.views_are_old():
        replica = scene.dice.randrange(len(scene.ways))
        scene.ways[replica].cut()
        scene.lease_ways[replica].cut()
        await asyncio.sleep(1)


async def stall_watches(scene: Scene, lengths: Lengths) -> None:
    """One or all replicas are told nothing for a while, and do not know that they are not."""
    ways = scene.ways if scene.dice.random() < 0.5 else [scene.dice.choice(scene.ways)]
    with scene.views_are_old():
        events = [way.stall_watches() for way in ways]
        try:
            await asyncio.sleep(lengths.stall)
        finally:
            for event in events:
                event.set()
        await asyncio.sleep(1)


async def hold_patches(scene: Scene, lengths: Lengths) -> None:
    """Much of what the leader sends comes after its time-out, while it goes on with the rest."""
    leader = await scene.leader()
    if leader is None:
        raise NothingDoneError
    for _ in range(lengths.holds):
        with scene.answers_are_late():
            event = scene.ways[leader].hold(scene.dice)
            try:
                await scene.steady.free(scene.dice, 3)
                await asyncio.sleep(scene.dice.uniform(*lengths.hold))
            finally:
                event.set()
            await asyncio.sleep(1)


async def delete_the_lease(scene: Scene, lengths: Lengths) -> None:
    """The break-glass: first the policy that refuses it, then the Lease, sometimes the Term; the
    policy is put back.
    """
    path = f"{_BINDINGS}/cardquota-lease"
    binding = await scene.api.get(path)
    if not binding.ok:
        raise NothingDoneError
    deleted = False
    if (await scene.api.delete(LEASE)).ok:
        scene.tally["Lease deletions that were not refused"] += 1
    if (await scene.api.delete(path)).ok:
        for _ in range(50):
            deleted = (await scene.api.delete(LEASE)).ok
            if deleted:
                break
            await asyncio.sleep(0.1)
        if scene.dice.random() < 0.5:
            await scene.api.delete(TERM)
        metadata = {"name": "cardquota-lease", "labels": binding.body["metadata"].get("labels")}
        again = {**binding.body, "metadata": metadata}
        while (await scene.api.create(_BINDINGS, again)).code not in (201, 409):
            await asyncio.sleep(0.2)
    if not deleted:
        raise NothingDoneError
    await scene.until_deciding()


async def slow_webhook(scene: Scene, lengths: Lengths) -> None:
    """Somebody else's takes 1 to 9 s for a part of all writes of pods, ours among them."""
    assert scene.cluster.folder is not None
    foreign = Foreign(scene.cluster.folder.private, scene.dice)
    await foreign.start()
    try:
        installed = await foreign.install(scene.api)
        if installed:
            await asyncio.sleep(lengths.webhook)
        while not await foreign.remove(scene.api):
            await asyncio.sleep(0.2)
        if not installed:
            raise NothingDoneError
    finally:
        await foreign.stop()


async def refuse_after_us(scene: Scene, lengths: Lengths) -> None:
    """A ResourceQuota says no to pods that we have admitted: nothing may be counted for them."""
    body = {"metadata": {"name": "chaos"}, "spec": {"hard": {"pods": "1"}}}
    refused = (await scene.api.create(_QUOTAS, body)).ok
    if refused:
        await asyncio.sleep(lengths.refusals)
    while (await scene.api.delete(f"{_QUOTAS}/chaos")).code not in (200, 404):
        await asyncio.sleep(0.2)
    if not refused:
        raise NothingDoneError


async def take_labels(scene: Scene, lengths: Lengths) -> None:
    """All nodes of a card lose the label that names it, as when their plugins start again (D8).

    One alone would do nothing: the others still show the card.
    """
    card = scene.dice.choice(sorted(set(objects.CARD_OF_NODE.values())))
    nodes = [name for name, its in objects.CARD_OF_NODE.items() if its == card]
    taken = [name for name in nodes if (await _label(scene, name, None)).ok]
    await asyncio.sleep(2)
    for name in nodes:
        while not (await _label(scene, name, card)).ok:
            await asyncio.sleep(0.2)
    if taken != nodes:
        raise NothingDoneError


async def _label(scene: Scene, node: str, card: str | None) -> Reply:
    body = {"metadata": {"labels": {"nvidia.com/gpu.product": card}}}
    return await scene.api.patch(f"/api/v1/nodes/{node}", body)


async def flood_with_bodies(scene: Scene, lengths: Lengths) -> None:
    """Whoever reaches a replica's port sends half of very many bodies at once. It neither waits for
    them nor keeps them.
    """
    replica = scene.dice.randrange(len(scene.ways))
    assert scene.cluster.folder is not None
    config = yaml.safe_load((scene.cluster.folder.path / f"config-{replica}.yaml").read_text())
    reply = await scene.api.get(_WEBHOOK)
    if not reply.ok:
        raise NothingDoneError
    path = urlsplit(reply.body["webhooks"][0]["clientConfig"]["url"]).path
    sent, grown = half_a_body(path, _HALF), 0
    try:
        peak = Peak(scene.process(f"cardquota-{replica}").pid)
        async with connections(config["webhook"]["port"], _BODIES, sent) as number:
            scene.tally["bodies at once"] += number
            for _ in range(_LOOKS):  # a busy machine takes them in later than they are sent
                grown = peak.grown // MIB
                if grown > _GROWS:
                    break
                await asyncio.sleep(0.2)
    except ProcessLookupError:
        raise NothingDoneError from None  # it was killed meanwhile
    if grown > _GROWS:
        scene.found.append(f"cardquota-{replica} has grown by {grown} MiB for bodies at once")


class _Always(Random):
    """Has all new connections kept, too."""

    def random(self) -> float:
        return 0.0


async def stand_still_before_it_evicts(scene: Scene, lengths: Lengths) -> None:
    """What it sends is kept from when it stands on somebody what ends for him, and comes once
    another one leads: that ends nobody. Meanwhile nobody needs it any more, so no other does.
    """
    until, tried = asyncio.get_running_loop().time() + _PLAN, set[PlanRecord]()
    scene.needs_a_term = True
    try:
        while asyncio.get_running_loop().time() < until:
            for plan in await _plans(scene) - tried:
                tried.add(plan)
                if await _hold_what_ends(scene, plan):
                    return
            await asyncio.sleep(0.05)
    finally:
        scene.needs_a_term = False
    raise NothingDoneError


async def _hold_what_ends(scene: Scene, plan: PlanRecord) -> bool:
    """Whether an Eviction came late, and ended somebody or was refused."""
    leader = int(plan.term.removeprefix("cardquota-")[0])
    # All else is asked later: it takes as long as the first Eviction.
    with scene.views_are_old(), scene.answers_are_late():
        event = scene.ways[leader].hold(_Always())
        try:
            if await _there(scene, plan) != set(plan.victims) or await scene.leader() != leader:
                return False
            before = await _evictions_refused(scene)
            await asyncio.sleep(_SENT)
            scene.signal(f"cardquota-{leader}", signal.SIGSTOP)
            try:
                for pod in (await scene.api.get(_OWNERS)).body.get("items", ()):
                    await scene.api.delete(f"{objects.PODS}/{pod['metadata']['name']}", now=True)
                await scene.until_deciding(but=leader)
                there = await _there(scene, plan)
            finally:
                event.set()
                await asyncio.sleep(_LANDS)
                scene.signal(f"cardquota-{leader}", signal.SIGCONT)
        finally:
            event.set()
        ended = there - await _there(scene, plan)
    refused = await _evictions_refused(scene) - before
    scene.tally["evictions refused since their term was over"] += refused
    if ended:
        scene.found.append(f"{len(ended)} pods were ended by who led no more")
    return bool(ended or refused)


async def _plans(scene: Scene) -> set[PlanRecord]:
    """What ends for pods without a node."""
    found = set[PlanRecord]()
    for pod in (await scene.api.get(_OWNERS)).body.get("items", ()):
        text = pod["metadata"].get("annotations", {}).get(v.RECLAIM_PLAN)
        plan = read_plan(text) if text and not pod["spec"].get("nodeName") else None
        if plan is not None and not plan.gave_up:
            found.add(plan)
    return found


async def until_somebody_ends(scene: Scene, over: asyncio.Event) -> None:
    """For who waits at the gate, in his own queue. Raises NothingDoneError if the run is over."""
    while not over.is_set():
        pods = (await scene.api.get(_RANKS)).body.get("items", ())
        waits = any(pod["spec"].get("schedulingGates") for pod in pods)
        if waits and any(map(_ends, pods)) and not scene.needs_a_term:
            return
        await asyncio.sleep(0.05)
    raise NothingDoneError


async def _there(scene: Scene, plan: PlanRecord) -> set[str]:
    """Uids of those that are to end, and do not: no Eviction of them was accepted."""
    reply = await scene.api.get(_BORROWERS)
    there = {pod["metadata"]["uid"] for pod in reply.body.get("items", ()) if not _ends(pod)}
    return there & set(plan.victims)


def _ends(pod: Object) -> bool:
    conditions = pod.get("status", {}).get("conditions") or ()
    evicted = any(one["type"] == "DisruptionTarget" for one in conditions)
    return evicted or "deletionTimestamp" in pod["metadata"]


async def _evictions_refused(scene: Scene) -> int:
    """By the API server, in this life of it."""
    reply = await scene.api.get("/metrics")
    return sum(int(float(value)) for value in _EVICTIONS.findall(reply.text))


FAULTS: dict[str, Fault] = {
    "leader paused": pause_the_leader,
    STANDS_STILL: stand_still_before_it_evicts,
    "API server killed": restart_the_api_server,
    "etcd restarted": restart_etcd,
    "etcd paused": pause_etcd,
    "connections cut": cut_watches,
    "watches stalled": stall_watches,
    "patches held": hold_patches,
    "Lease deleted": delete_the_lease,
    "slow foreign webhook": slow_webhook,
    "ResourceQuota refuses": refuse_after_us,
    "node labels gone": take_labels,
    "certificates rotate": rotate_certificates,
    "bodies at once": flood_with_bodies,
}
"""By the name that a report gives them. Further kinds are added here."""

ENDS_A_TERM = {
    "leader paused",
    "API server killed",
    "etcd restarted",
    "etcd paused",
    "Lease deleted",
}
"""Those after which mostly another one leads, whenever they come."""
