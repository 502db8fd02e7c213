"""L1, L2 on a real control plane: two queues share four cards, and one of them lends only one."""

from builders import a_node
from builders.queue import QueueBody
from cardquota.quota import vocabulary as v
from integration.asking import ask, metric
from integration.own_node import a_node_of
from integration.team import Team, of_a_job, released
from integration.workload_bodies import change, create, path, refusals

BORROWED = "cardquota_queue_card_borrowed"


def test_l2_what_one_queue_keeps_another_one_gets_when_it_is_lent(team: Team) -> None:
    card = f"{team.prefix}-card"

    def owing(name: str, deserved: int) -> QueueBody:
        return team.a_queue({card: 4}, name).deserving_cards({card: deserved})

    with a_node_of(team, a_node(f"{team.prefix}-n").with_cards(card, 4)):
        counted = "cardquota_cluster_card_allocatable"
        team.until(lambda: metric(team.cluster, counted, card=card) == 4, "the node is seen")
        team.has_queue(owing("owner", 3).lending({card: 1}))
        team.has_queue(owing("guest", 1))
        # Two of the four are kept: the guest's third pod is refused, and says why.
        running = team.a_pod("web", 1, card, "guest").annotated("cardquota.dev/run-seconds", "3600")
        assert create(team, "ReplicaSet", running, replicas=2).ok
        team.until_row(card, "guest", allocated=2, deserved=1, borrowed=1)
        assert change(team, "ReplicaSet", "web", {"replicas": 3}).ok
        why = (
            "requested <1>, total would be <3>, but capability is <2>, since its quota is <4>, it "
            "deserves <1>, and of the <4> in the cluster others hold <0>, <2> are kept for others;"
        )
        team.until(lambda: any(why in told for told in refusals(team)), "the refusal says why")
        # The owner gets one of them at once, and nothing changes for the guest.
        assert team.create(of_a_job(team.a_pod("mine", 1, card, "owner"))).ok
        team.until_bound("mine")
        # It lends one more: the refused workload is woken.
        assert team.annotate(owing("owner", 3), v.LENDABLE, f'{{"{card}": 2}}').ok
        team.until_row(card, "guest", allocated=3, borrowed=2)
        of = {"queue": team.queue_name("guest"), "card": card}
        team.until(lambda: metric(team.cluster, BORROWED, **of) == 2, "the metric shows it")
        # What it is owed it gets at once, though no node has it now.
        assert team.create(of_a_job(team.a_pod("more", 2, card, "owner"))).ok
        team.until_open("more")
        team.until_row(card, "owner", allocated=1, inqueue=2)
        assert team.create(of_a_job(team.a_pod("beyond", 1, card, "owner"))).ok
        assert "others hold <3>" in team.until_told("beyond", v.Reason.INSUFFICIENT_CARD)["message"]
        # When the guest's pods end, the owner's have their node; then it may borrow.
        assert ask(team.cluster, "DELETE", f"{path(team, 'ReplicaSet')}/web").ok
        team.until_bound("more", "beyond")
        assert released(team.pod("beyond"))
        team.until_row(card, "owner", allocated=4, borrowed=1)
