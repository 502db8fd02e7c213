"""Two models of a test's own, two cards of each, on one node each."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from builders import a_node
from builders.pod import PodBody

from .asking import MERGE, Object, ask
from .own_node import a_node_of
from .team import Team


@dataclass(frozen=True)
class TwoModels:
    """Each card's node has its name, in small letters."""

    team: Team
    near: str
    far: str

    def node_path(self, card: str) -> str:
        return f"/api/v1/nodes/{card.lower()}"

    def usable(self, card: str) -> bool:
        node: Object = ask(self.team.cluster, "GET", self.node_path(card)).body
        ready = [c for c in node["status"].get("conditions", ()) if c["type"] == "Ready"]
        return bool(ready) and ready[0]["status"] == "True" and not node["spec"].get("taints")

    def cordon(self, card: str, *, shut: bool = True) -> None:
        body = {"spec": {"unschedulable": shut}}
        path = self.node_path(card)
        assert (reply := ask(self.team.cluster, "PATCH", path, body, content_type=MERGE)).ok, reply

    def a_pod(self, name: str, cards: int = 1, names: str = "") -> PodBody:
        return self.team.a_pod(name, cards, names or f"{self.near}|{self.far}")


@contextmanager
def two_models(team: Team) -> Iterator[TwoModels]:
    """For the block, once both nodes take pods."""
    found = TwoModels(team, f"{team.prefix}-near", f"{team.prefix}-far")
    with ExitStack() as nodes:
        for card in (found.near, found.far):
            node = a_node(card.lower()).showing(card).offering(2)
            nodes.enter_context(a_node_of(team, node))
        for card in (found.near, found.far):
            team.until(lambda c=card: found.usable(c), f"{card} usable")
        yield found
