"""I3: what audit mode admitted is written on the pod, and so known when rules are enforced."""

from builders import GPU
from cardquota.quota import vocabulary as v
from integration.roomy_nodes import T1000
from integration.team import Team, gates, notes


def test_i3_a_pod_of_audit_mode_carries_who_let_it_by(team: Team) -> None:
    """Term and queue; one that comes once rules are enforced is gated, and stamped."""
    team.has_queue({T1000: 2})
    team.set_mode("audit")

    def ungated() -> bool:
        made = team.create(team.a_pod("before", 1, T1000), dry=True)
        return made.ok and gates(made.body) == []

    team.until(ungated, "the webhook has heard of the mode")
    # Nobody leads it to its card in audit mode.
    there = team.a_pod("before", 1, T1000).on_nodes_labelled({f"{GPU}.product": T1000})
    assert team.create(there).ok
    team.until_row(T1000, allocated=1)
    both = {v.TERM, v.CHARGED_QUEUE}
    team.until(lambda: both <= set(notes(team.pod("before"))), "term and queue on the pod")
    assert v.ALLOCATED not in notes(team.pod("before"))
    written = team.pod("before")["metadata"]["resourceVersion"]
    team.set_mode("enforced")

    def gated() -> bool:
        made = team.create(team.a_pod("after", 1, T1000), dry=True)
        return made.ok and gates(made.body) == [v.GATE]

    team.until(gated, "the webhook has heard of the mode")
    assert team.create(team.a_pod("after", 1, T1000)).ok
    team.until_bound("after")
    assert v.ALLOCATED in notes(team.pod("after"))
    # Written once: nothing was added to it since.
    assert not team.changes(team.a_pod("before"), written, 1)
