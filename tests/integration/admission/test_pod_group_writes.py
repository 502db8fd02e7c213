"""Pod groups on a real API server: what could never start is refused, at create as at update."""

import json

from cardquota.quota import vocabulary as v
from integration.roomy_nodes import T1000
from integration.team import Team


def test_p8_what_was_stored_unread_can_be_put_right(team: Team) -> None:
    """As while the webhook was away. Meanwhile it is in nobody's way."""
    team.has_queue({T1000: 3})
    team.set_mode(v.NAMESPACE_OFF)
    gang = team.a_gang("gang", 2).requesting("[")
    team.until(lambda: team.create(gang).ok, "nobody looks at it")
    team.set_mode(None)
    anew = gang.put("anew", "metadata", "name")
    team.until(lambda: not any(team.create(anew, dry=True).ok for _ in range(9)), "reviewed again")

    for name in ("a", "b"):
        assert team.create(team.a_pod(name, 1, T1000).in_group("gang")).ok
    assert team.create(team.a_pod("other", 1, T1000)).ok
    team.until_bound("other")
    assert team.annotate(gang, "example.com/any", "thing").ok
    assert not team.annotate(gang, v.REQUEST, "{").ok
    assert team.annotate(gang, v.REQUEST, json.dumps({T1000: 2})).ok
    team.until_bound("a", "b")
    team.until_row(T1000, allocated=3, inqueue=0)
