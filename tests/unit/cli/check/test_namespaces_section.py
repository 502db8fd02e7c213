"""`check`, section `namespaces`: labels and keys that mean nothing."""

from builders import a_ledger, a_namespace, a_queue
from cardquota.cli.check import CheckedCluster, Finding, wrong_keys
from cardquota.cli.check.checked_cluster import NamespaceKeys
from cardquota.cli.check.cluster_sections import namespaces_section
from cardquota.cli.reading import ClusterError
from cardquota.quota import vocabulary as v
from cardquota.settings import Settings

ODD = a_namespace("odd").in_mode("enforce")
LEDGER = a_ledger(ODD, a_namespace("fine").in_mode("enforced"), a_namespace("plain"))


def test_a_value_that_means_nothing() -> None:
    section = namespaces_section(CheckedCluster(LEDGER))
    (one,) = section.findings
    assert (one.kind, one.name, one.reason) == ("Namespace", "odd", v.MODE_UNKNOWN)
    assert "is <enforce>, an unknown value" in one.why
    assert one.why_and_advice == one.why
    assert section.complete


def test_queues_that_take_none_of_its_pods() -> None:
    ledger = a_ledger(
        a_queue("open"),
        a_queue("shut").closed(),
        a_queue("theirs").open_to("elsewhere", "mine-*"),
        a_namespace("a").with_default_queue("open"),
        a_namespace("b").with_default_queue("nowhere"),
        a_namespace("c").with_default_queue("shut"),
        a_namespace("d").with_default_queue("theirs"),
        a_namespace("mine-1").with_default_queue("theirs"),
        a_namespace("off").with_default_queue("nowhere").in_mode("off"),
    )
    found = namespaces_section(CheckedCluster(ledger)).findings
    reasons = v.Reason.QUEUE_NOT_FOUND, v.Reason.QUEUE_NOT_OPEN, v.Reason.QUEUE_NOT_OPEN
    assert [(one.name, one.reason) for one in found] == [*zip("bcd", reasons, strict=True)]
    assert [one.why for one in found] == [
        "its annotation names Queue <nowhere>, which does not exist",
        "its annotation names Queue <shut>, which is Closed",
        (
            "its annotation names Queue <theirs>, which is not open to it "
            "(volcano.sh/card.namespaces of the queue)"
        ),
    ]
    (one,) = namespaces_section(CheckedCluster(ledger, namespace="c")).findings
    assert one.name == "c"
    unread = CheckedCluster(ledger, unread={"queues": ClusterError("no")})
    assert namespaces_section(unread).findings == []
    assert not namespaces_section(unread).complete


def test_in_a_namespace_only_its_own() -> None:
    assert namespaces_section(CheckedCluster(LEDGER, namespace="fine")).findings == []
    assert len(namespaces_section(CheckedCluster(LEDGER, namespace="odd")).findings) == 1


def of_team(keys: NamespaceKeys) -> list[Finding]:
    read = CheckedCluster(LEDGER, namespace="team", namespace_keys=[keys])
    return namespaces_section(read).findings


def test_keys_that_mean_nothing() -> None:
    """No webhook sees Namespaces: nobody has said it when they were written."""
    keys = wrong_keys(
        "team",
        {"scheduling.volcano.sh/queuename": "red", "volcano.sh/card.limits": "1"},
        {"volcano.sh/card.quota": "enforced", "kubernetes.io/metadata.name": "team"},
    )
    findings = of_team(keys)
    kinds = {(one.kind, one.name, one.reason) for one in findings}
    assert kinds == {("Namespace", "team", "UnknownKey")}
    assert [one.why for one in findings] == [
        f"annotation <scheduling.volcano.sh/queuename> has no effect; did you mean {v.QUEUE_NAME}?",
        "annotation <volcano.sh/card.limits> has no effect",
        f"label <volcano.sh/card.quota> has no effect; did you mean {v.NAMESPACE_MODE}?",
    ]


def test_keys_of_ours_that_stand_in_the_wrong_place() -> None:
    misplaced = wrong_keys("team", {v.NAMESPACE_MODE: "enforced"}, {v.QUEUE_NAME: "red"})
    assert [one.why for one in of_team(misplaced)] == [
        f"<{v.NAMESPACE_MODE}> is a label, and has no effect as an annotation",
        f"<{v.QUEUE_NAME}> is an annotation, and has no effect as a label",
    ]
    other = wrong_keys("team", {v.QUEUE_NAME_VOLCANO_JOB: "red"}, {})
    assert other.annotations == ((v.QUEUE_NAME_VOLCANO_JOB, v.QUEUE_NAME),)


def test_keys_that_mean_what_they_say() -> None:
    both = {v.NAMESPACE_MODE: "enforced", v.QUEUE_NAME: "red", v.QUEUE_NAME_VOLCANO_JOB: "red"}
    assert not wrong_keys("team", both, both)
    assert not wrong_keys("team", {}, {})


def test_an_autoscaler_that_anybody_could_be() -> None:
    accounts = (f"system:serviceaccount:{name}:scaler" for name in ("gone", "fine"))
    users = [*accounts, "system:kube-controller-manager"]
    found = namespaces_section(CheckedCluster(LEDGER), autoscalers=users).findings
    others = [(one.name, one.reason) for one in found if one.name != "odd"]
    assert others == [("gone", "AutoscalerUnknown")]
    fine = CheckedCluster(LEDGER, namespace="fine")
    assert namespaces_section(fine, autoscalers=users).findings == []


def test_the_default_names_no_account_that_a_tenant_could_make() -> None:
    accounts = [user for user in Settings().scale.autoscalers if "serviceaccount" in user]
    assert {user.split(":")[2] for user in accounts} == {"kube-system"}
