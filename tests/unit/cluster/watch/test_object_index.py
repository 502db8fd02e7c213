from cardquota.cluster.watch import ObjectIndex


def test_a_name_taken_over_gives_the_uid_before() -> None:
    known = ObjectIndex()
    assert known.put("ns", "a", "1") is None
    assert known.put("ns", "a", "1") is None
    assert known.put("ns", "a", "2") == "1"
    known.drop("ns", "a", "1")
    assert list(known) == [("ns", "a", "2")]
    known.drop("ns", "a", "2")
    assert list(known) == []


def test_what_is_missing_elsewhere() -> None:
    known, listed = ObjectIndex(), ObjectIndex()
    for name, uid in (("kept", "1"), ("vanished", "2"), ("replaced", "3")):
        known.put("ns", name, uid)
    known.put("", "node", "4")
    listed.put("ns", "kept", "1")
    listed.put("ns", "replaced", "5")
    listed.put("other", "vanished", "6")
    assert sorted(entry for some in known.missing_from(listed) for entry in some) == [
        ("", "node", "4"),
        ("ns", "replaced", "3"),
        ("ns", "vanished", "2"),
    ]
    assert len(known) == 4
