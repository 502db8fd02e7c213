"""`check`, section `namespaces`: labels that mean nothing."""

from builders import a_ledger, a_namespace
from cardquota.cli.check.checked_cluster import CheckedCluster
from cardquota.cli.check.namespaces_section import namespaces_section
from cardquota.quota import vocabulary as v

ODD = a_namespace("odd").in_mode("enforce")
LEDGER = a_ledger(ODD, a_namespace("fine").in_mode("enforced"), a_namespace("plain"))


def test_a_value_that_means_nothing() -> None:
    section = namespaces_section(CheckedCluster(LEDGER))
    (one,) = section.findings
    assert (one.kind, one.name, one.reason) == ("Namespace", "odd", v.MODE_UNKNOWN)
    assert "is <enforce>, an unknown value" in one.why
    assert one.why_and_advice == one.why
    assert section.complete


def test_in_a_namespace_only_its_own() -> None:
    assert namespaces_section(CheckedCluster(LEDGER, "fine")).findings == []
    assert len(namespaces_section(CheckedCluster(LEDGER, "odd")).findings) == 1
