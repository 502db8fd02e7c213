"""Which kinds are reflected, and for which of them everybody waits."""

from builders import a_ledger
from cardquota.cluster.watch.change_notifier import ChangeNotifier
from cardquota.cluster.watch.feed import watched_kinds


def test_nobody_waits_for_what_no_decision_is_made_of() -> None:
    """An older API server, or rights not applied yet: then it is as if there were none."""
    kinds = watched_kinds(a_ledger(), ChangeNotifier(), lambda _: None)
    needed = {kind.kind for kind in kinds if kind.needed}
    assert needed == {"pods", "nodes", "queues", "podgroups", "namespaces", "priorityclasses"}
    assert {kind.kind for kind in kinds} - needed == {
        "limitranges",
        "runtimeclasses",
        "deviceclasses",
    }
