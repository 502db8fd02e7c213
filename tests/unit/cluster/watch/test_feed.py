"""Which kinds are reflected, and for which of them everybody waits."""

import json

from msgspec import Raw

from builders import a_ledger, a_node
from cardquota.cluster.watch import ChangeNotifier, ledger_settings, watched_kinds
from cardquota.quota.vocabulary import ReclaimMode
from cardquota.settings import Reclaim, Settings


def test_nobody_waits_for_what_no_decision_is_made_of() -> None:
    kinds = watched_kinds(a_ledger(), ChangeNotifier())
    needed = {kind.kind for kind in kinds if kind.needed}
    assert needed == {"pods", "nodes", "queues", "podgroups", "namespaces", "priorityclasses"}
    classes = {"limitranges", "runtimeclasses", "deviceclasses"}
    workloads = {"deployments", "statefulsets", "replicasets", "daemonsets", "jobs"}
    assert {kind.kind for kind in kinds} - needed == classes | workloads


def test_b2_lists_of_broken_cards_are_read_where_the_extender_runs() -> None:
    ledger = a_ledger(a_node("n").sharing_memory(8, 2))
    kinds = watched_kinds(ledger, ChangeNotifier(), broken_cards=True)
    assert [kind.kind for kind in kinds if kind.kind == "configmaps"] == [kinds[-1].kind]
    assert not kinds[-1].needed
    lists = kinds[-1].delivery()

    def broken() -> frozenset[int]:
        node = ledger.card_memory.nodes.get("n")
        assert node is not None
        return node.broken

    def list_(name: str, data: object, revision: int) -> Raw:
        meta = {"name": name, "namespace": "kube-system", "uid": name}
        body = {"metadata": {**meta, "resourceVersion": str(revision)}, "data": data}
        return Raw(json.dumps(body).encode())

    lists.changed(list_("unhealthy-gpu-n", {"gpus": "1", "other": "x"}, 1))
    lists.changed(list_("n", {"gpus": "0"}, 2))
    assert broken() == {1}
    lists.changed(list_("unhealthy-gpu-n", {"gpu": "0"}, 3))
    assert broken() == {1}
    assert "no key gpus" in ledger.card_memory.problems("n")[0]
    lists.deleted(list_("n", None, 4))
    assert broken() == {1}
    lists.deleted(list_("unhealthy-gpu-n", None, 5))
    assert broken() == frozenset()
    assert ledger.card_memory.problems("n") == []


def test_l2_cards_that_come_back_are_lent_as_far_as_they_are_there() -> None:
    lends = [
        ledger_settings(Settings(reclaim=Reclaim(mode=mode))).lends_what_is_there
        for mode in ReclaimMode
    ]
    assert lends == [False, False, True]
