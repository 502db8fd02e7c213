"""L3: since when pods are without a node, as a replica has seen it."""

from cardquota.quota.reclaim import ReclaimNotes


def test_l3_it_counts_since_a_pod_was_first_seen_and_until_it_has_a_node() -> None:
    notes = ReclaimNotes()
    notes.look(["a"], 10.0)
    notes.look(["a", "b"], 12.0)
    assert dict(notes.since) == {"a": 10.0, "b": 12.0}
    notes.look(["b"], 14.0)
    notes.look(["a", "b"], 16.0)
    assert dict(notes.since) == {"a": 16.0, "b": 12.0}
