"""Whether somebody leads, by what the Lease says, read once or twice."""

from typing import Any

import pytest

from cardquota.cli.check.installation_section import lease_findings
from cardquota.cli.leader import is_renewed
from cardquota.cli.reading import Answer, NotRead
from cardquota.quota import seconds_of

NOON = seconds_of("2026-01-02T12:00:00Z") or 0


def lease(renewed: str = "11:59:55", holder: str = "pod/1", revision: str = "7") -> dict[str, Any]:
    spec = {
        "holderIdentity": holder,
        "leaseDurationSeconds": 12,
        "renewTime": f"2026-01-02T{renewed}.000000Z",
    }
    return {"metadata": {"uid": "u", "resourceVersion": revision}, "spec": spec}


def why(*leases: Answer) -> str:
    (one,) = lease_findings(leases, "cardquota-system", NOON)
    assert (one.kind, one.namespace, one.name) == ("Lease", "cardquota-system", "cardquota")
    return one.why


@pytest.mark.parametrize(
    "leases",
    [
        (lease(),),
        (lease("11:59:48"),),
        (lease("11:00:00"), lease("11:00:03", revision="8")),  # another clock than ours
        (lease(holder=""), lease(revision="8")),  # between two leaders
        (None, lease()),  # the first one starts
        (NotRead("no"),),
    ],
)
def test_somebody_leads_or_it_is_not_known(leases: tuple[Answer, ...]) -> None:
    assert list(lease_findings(leases, "cardquota-system", NOON)) == []
    assert is_renewed(leases, NOON) or isinstance(leases[-1], NotRead)


def test_nobody_has_ever_led() -> None:
    assert why(None).startswith("there is no Lease <cardquota-system/cardquota>")


def test_the_last_leader_has_left() -> None:
    assert "has no holder: no replica leads" in why(lease(holder=""), lease(holder=""))


def test_the_last_leader_has_died() -> None:
    old = lease("11:50:00")
    assert "of pod/1 was renewed 10 min ago, and is valid for 12 s: no replica" in why(old, old)


def test_a_clock_far_behind_the_leaders_makes_nobody_live() -> None:
    ahead = lease("13:00:00")
    assert not is_renewed((ahead,), NOON)
    assert is_renewed((ahead, lease("13:00:03", revision="8")), NOON)


def test_a_lease_of_another_form_has_no_holder() -> None:
    assert "no holder" in why({"spec": 7})
    odd = {"spec": {"holderIdentity": "x", "renewTime": 7, "leaseDurationSeconds": "long"}}
    assert "of x is not renewed" in why(odd, odd)
