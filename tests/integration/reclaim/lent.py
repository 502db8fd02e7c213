"""Cards of a test's own, which a queue has borrowed from another."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from builders import a_node
from builders.pod import PodBody
from cardquota.quota import vocabulary as v
from cardquota.quota.plan_record import PlanRecord, read_plan
from integration.asking import Object, ask
from integration.process.running import QUICK
from integration.team import Team, notes, of_a_job, released

CONFIG: Final[Mapping[str, Any]] = {
    **QUICK,
    "reclaim": {"mode": "on", "after": 2, "evictionsPerMinute": 1_000, "evictionsPerQueue": 500},
    "preempt": {"after": 2},
    "reservationTimeout": 30,
}
CARDS: Final = 4
BORROWER: Final = "borrower"
OWNER: Final = "owner"


@dataclass
class Lent:
    """A node with four cards of a model of its own, and two queues that may each hold all of them:
    so each deserves two.
    """

    team: Team
    card: str

    def prepare(self) -> None:
        amounts = {"cpu": "400", "memory": "400Gi", "pods": "200", "nvidia.com/gpu": str(CARDS)}
        node = a_node(f"{self.team.prefix}-node").showing(self.card)
        body = {
            **self.team.wire(node),
            "status": {"capacity": amounts, "allocatable": amounts},
        }
        assert (reply := ask(self.team.cluster, "POST", "/api/v1/nodes", body)).ok, reply
        for queue in (BORROWER, OWNER):
            self.team.has_queue(self.team.a_queue({self.card: CARDS}, queue).with_policy("Gate"))
        for queue in (BORROWER, OWNER):
            self.team.until_row(self.card, queue, quota=CARDS, deserved=2)

    def remove(self) -> None:
        ask(self.team.cluster, "DELETE", f"/api/v1/nodes/{self.team.prefix}-node")

    def pod(self, name: str, queue: str = BORROWER, cards: int = 1) -> PodBody:
        return of_a_job(self.team.a_pod(name, cards, self.card, queue))

    def runs(self, *names: str, stop: int = 0) -> None:
        """Pods with a card each, one after the other, so that the last is the youngest. `stop`:
        seconds that each takes to end.
        """
        for name in names:
            pod = self.pod(name)
            if stop:
                pod = pod.annotated("cardquota.dev/stop-seconds", str(stop))
            body = self.team.wire(pod)
            body["spec"]["terminationGracePeriodSeconds"] = 30 if stop else 0
            reply = ask(self.team.cluster, "POST", self.team.path(pod), body)
            assert reply.ok, reply
            self.team.until_bound(name)

    def plan_of(self, thing: Object) -> PlanRecord | None:
        text = notes(thing).get(v.RECLAIM_PLAN)
        return read_plan(text) if text is not None else None

    def there(self) -> list[str]:
        """Names of pods that are not being deleted."""
        pods = self.team.pods()
        return sorted(p["metadata"]["name"] for p in pods if not ends(p))

    def gone_of(self, *names: str) -> list[str]:
        left = self.there()
        return sorted(name for name in names if name not in left)


def ends(pod: Object) -> bool:
    return "deletionTimestamp" in pod["metadata"]


def is_open(pod: Object) -> bool:
    return released(pod)
