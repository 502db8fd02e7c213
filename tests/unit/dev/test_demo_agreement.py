"""What the demo reads of events, of which a cluster has others' too."""

from cardquota_dev.demo.agreement import told_by


def test_an_event_about_nothing_with_a_name_explains_nobody() -> None:
    """The API server demands neither name nor reason."""
    ours = {"involvedObject": {"kind": "Pod", "name": "a"}, "reason": "Waits"}
    theirs = {"involvedObject": {"kind": "Node"}, "reason": "Waits"}
    bare = {"involvedObject": {"kind": "Pod", "name": "b"}}
    assert ("a", "Waits") in told_by([ours, theirs, bare])
    assert ("b", "Waits") not in told_by([ours, theirs, bare])
