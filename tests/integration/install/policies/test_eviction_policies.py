"""Whose evictions the API server accepts where cards are reclaimed (L5, L6)."""

import json
from collections.abc import Iterator

import pytest

from cardquota.quota.vocabulary import TERM, ReclaimMode
from cardquota.reclaim_settings import Reclaim
from cardquota.settings import InstallationMode, Settings
from cardquota_dev.testing import eventually

from ..policy_api import (
    ROOT,
    TENANT,
    THE_TERM,
    US,
    PolicyApi,
    allowed,
    apply_policies,
    pod,
    refused,
)

pytestmark = [pytest.mark.disruptive, pytest.mark.slow]

RECLAIMS = Settings.model_construct(
    scheduler="volcano", reclaim=Reclaim(mode=ReclaimMode.ON), mode=InstallationMode.AUDIT
)
"""In audit mode, which softens all policies about pods that are not the operator's own doing."""
RIGHTS = str(ROOT / "manifests" / "components" / "reclaim" / "rbac.yaml")
POLICY = "eviction-term"


@pytest.fixture(scope="module")
def evicting(api: PolicyApi) -> Iterator[PolicyApi]:
    """The plane where the operator may evict; taken away again."""
    allowed(api.create(pod("unasked")))
    assert not api.evict("unasked", {TERM: "e0"}, US, dry=True).ok, "without the component"
    allowed(api.kubectl("apply", "--server-side", "-f", RIGHTS))
    apply_policies(api, RECLAIMS)
    api.hold_term("e0")
    try:
        eventually(lambda: f"{POLICY}'" in api.evict("unasked", {TERM: "x"}, US, dry=True).said)
        yield api
    finally:
        allowed(api.kubectl("delete", "-f", RIGHTS))
        objects = "validatingadmissionpolicybinding,validatingadmissionpolicy"
        allowed(api.kubectl("delete", objects, f"cardquota-{POLICY}"))
        apply_policies(api)
        eventually(lambda: api.create(pod("x", {TERM: "x"}), dry=True).code == 403)


def running(api: PolicyApi, name: str) -> str:
    allowed(api.create(pod(name, schedulerName="none")))
    return name


def exists(api: PolicyApi, name: str) -> bool:
    return api.kubectl("get", "pod", name, "-n", "team").ok


def test_l5_in_the_current_term_the_operator_evicts(evicting: PolicyApi) -> None:
    evicting.hold_term("e1")
    name = running(evicting, "owed-to-others")
    eventually(lambda: evicting.evict(name, {TERM: "e1"}, US, dry=True).ok)
    assert exists(evicting, name)
    allowed(evicting.evict(name, {TERM: "e1"}, US))
    eventually(lambda: not exists(evicting, name))


@pytest.mark.parametrize("term", ["e1", "e22", ""])
def test_l5_a_leader_of_a_former_term_does_not(evicting: PolicyApi, term: str) -> None:
    evicting.hold_term("e2")
    name = running(evicting, f"kept-from-{term or 'none'}")
    words = f"current term <e2>, not in <{term}>"
    eventually(lambda: words in evicting.evict(name, {TERM: term}, US, dry=True).said)
    refused(evicting.evict(name, {TERM: term}, US), POLICY, f"may evict pod <{name}>", words)
    assert exists(evicting, name)


def test_l5_nor_does_it_without_a_term(evicting: PolicyApi) -> None:
    name = running(evicting, "kept-without")
    refused(evicting.evict(name, {}, US), POLICY)
    assert exists(evicting, name)


@pytest.mark.parametrize("annotations", [{}, {TERM: "stale"}], ids=["plain", "with a term"])
def test_others_evict_whom_they_may(evicting: PolicyApi, annotations: dict[str, str]) -> None:
    name = running(evicting, "moved")
    allowed(evicting.evict(name, annotations, TENANT))
    eventually(lambda: not exists(evicting, name))


def test_a_node_is_drained(evicting: PolicyApi) -> None:
    """By kubectl, which evicts as everybody does."""
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "to-drain"}}
    allowed(evicting.kubectl("apply", "-f", "-", text=json.dumps(node)))
    allowed(evicting.create(pod("drained", nodeName="to-drain")))
    drain = ("drain", "to-drain", "--force", "--dry-run=server")
    done = evicting.plane.kubectl(*drain)
    assert done.returncode == 0, done.stderr
    assert "evicting pod team/drained" in done.stdout + done.stderr
    allowed(evicting.kubectl("delete", "node", "to-drain"))


def test_while_the_term_is_missing_the_fence_is_down(evicting: PolicyApi) -> None:
    """As for the gate: else whoever deletes the Term would stop the operator for good."""
    evicting.hold_term("e3")
    name = running(evicting, "without-fence")
    eventually(lambda: "<e3>" in evicting.evict(name, {TERM: "x"}, US, dry=True).said)
    allowed(evicting.kubectl("delete", "validatingadmissionpolicybinding", "cardquota-lease"))
    try:
        eventually(lambda: evicting.kubectl("delete", *THE_TERM).ok)
        eventually(lambda: evicting.evict(name, {TERM: "x"}, US).ok)
    finally:
        apply_policies(evicting, RECLAIMS)
        evicting.hold_term("e4")
    other = running(evicting, "fenced-again")
    eventually(lambda: "<e4>" in evicting.evict(other, {TERM: "x"}, US, dry=True).said)
