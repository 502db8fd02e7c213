"""One replica that reads a large cluster, then objects that somebody makes to fill its memory.

Prints a line of JSON when each part is read: what it was, the bytes that count, how many objects
were left out. With each line it waits for a line on its standard input.
"""

import gc
import json
import sys
from collections.abc import Callable, Iterator
from itertools import chain, count
from typing import Any, Final

import msgspec

import cardquota.runtime.run  # noqa: F401 - its imports are a part of what a replica takes
from builders import a_group, a_namespace, a_pod, a_queue
from builders.body import Body
from cardquota.cluster.watch import ChangeNotifier, ObjectIndex, watched_kinds
from cardquota.quota.ledger import Ledger
from cardquota.quota.reports.drift import drift
from cardquota.runtime import spare_what_stays
from cardquota.settings import Settings

from ..bodies import big_cluster

PODS: Final = 100_000
TIMES: Final = 2
"""How often each attack is made, each time with other names."""
_REVISION: Final = count(10**9)


def _pod(n: int) -> Any:
    return a_pod(f"attack-{n:07}-worker-0").in_queue("team-000").asking_for(1).gated()


def _selector(n: int) -> Any:
    terms = [[("k", "In", [f"{n:07}-{t}-{i:02}" + "v" * 15 for i in range(24)])] for t in range(24)]
    return _pod(n).requiring(*terms)


def _tasks(n: int) -> Any:
    tasks = {f"task-{n:07}-{t}": 1 for t in range(64)}
    return a_group(f"attack-{n:07}").in_queue(f"q{n}").of(64).put(tasks, "spec", "minTaskMember")


def _workload(n: int) -> Any:
    pod = a_pod().in_queue("team-000").asking_for(1).on_nodes_labelled({"k": f"{n:07}" * 900})
    template = {"metadata": {"annotations": pod.body["metadata"]["annotations"]}}
    body = a_group(f"attack-{n:07}").body
    return {**body, "spec": {"replicas": 1, "template": {**template, "spec": pod.body["spec"]}}}


ATTACKS: Final[tuple[tuple[str, str, int, Callable[[int], Any]], ...]] = (
    (
        "small pods that all differ",
        "pods",
        30_000,
        lambda n: _pod(n).with_cpu(str(n)),
    ),
    ("pods that wait with 15 KiB of affinity", "pods", 4_000, _selector),
    (
        "pods that wait with 16 long alternatives",
        "pods",
        10_000,
        lambda n: _pod(n).naming("|".join(f"{n:07}-{i}" + "A" * 50 for i in range(16))),
    ),
    (
        "pods that wait in queues that are not there",
        "pods",
        10_000,
        lambda n: _pod(n).in_queue(f"q-{n}").in_group(f"g-{n}"),
    ),
    ("groups of 64 tasks", "podgroups", 10_000, _tasks),
    ("workloads with 7 KiB of template", "deployments", 8_000, _workload),
    (
        "queues of 1,000 rows",
        "queues",
        80,
        lambda n: a_queue(f"attack-{n}").with_quota({f"CARD-{n}-{i}": 1 for i in range(1_000)}),
    ),
    ("namespaces", "namespaces", 10_000, lambda n: a_namespace(f"attack-{n:07}")),
)


def main() -> None:
    """See the module's text."""
    ledger = Ledger(Settings().vendor_table)
    kinds = watched_kinds(ledger, ChangeNotifier())
    deliveries = {one.kind: one.delivery() for one in kinds}
    spare_what_stays()

    def take(kind: str, bodies: Iterator[bytes]) -> None:
        for body in bodies:
            deliveries[kind].changed(msgspec.Raw(body))
            ledger.decisions.rest()

    take("namespaces", big_cluster.namespaces())
    take("nodes", big_cluster.nodes())
    take("queues", big_cluster.queues(PODS))
    take("podgroups", big_cluster.gangs(PODS))
    take("pods", big_cluster.pods(PODS))
    _say("100,000 pods and 5,000 nodes", ledger)
    for what, kind, number, make in ATTACKS:
        for time in range(TIMES):
            names = range(time * number, (time + 1) * number)
            take(kind, (_encoded(make(n), f"{kind}-{n}") for n in names))
            _say(f"{(time + 1) * number:,} {what}", ledger)
        if kind == "pods":
            every = deliveries[kind].objects.missing_from(ObjectIndex())
            for namespace, name, uid in chain.from_iterable([*every]):
                if name.startswith("attack-"):
                    gone = {"namespace": namespace, "name": name, "uid": uid}
                    deliveries[kind].deleted(msgspec.Raw(msgspec.json.encode({"metadata": gone})))
    assert drift(ledger) == {}


def _encoded(found: Body | dict[str, Any], uid: str) -> bytes:
    body = found.body if isinstance(found, Body) else found
    names = {"uid": f"{uid:>036}", "resourceVersion": str(next(_REVISION))}
    namespace = {"namespace": f"team-{int(uid.rpartition('-')[2]) % 3}"}
    meta = {**body["metadata"], **names, **(namespace if "namespace" in body["metadata"] else {})}
    return msgspec.json.encode({**body, "metadata": meta})


def _say(what: str, ledger: Ledger) -> None:
    ledger.reassessment.read_overdue()
    gc.collect()
    kept = sum(one.total for one in ledger.kept.values())
    left_out = sum(one.number_left_out for one in ledger.kept.values())
    print(json.dumps({"what": what, "kept": kept, "left_out": left_out}), flush=True)
    sys.stdin.readline()


if __name__ == "__main__":
    main()
