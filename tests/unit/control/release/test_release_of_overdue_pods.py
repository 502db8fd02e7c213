"""What is let through was read by what is known: also while others are still to be read anew."""

from builders import H200, a_namespace, a_pod, a_queue
from cardquota.quota import vocabulary as v

from ..fakes import until
from ..leader import Leader, leading

TEAM = a_namespace("team").with_default_queue("red")
RED, BLUE = (a_queue(name).with_quota({H200: 3}) for name in ("red", "blue"))
PODS = [a_pod(f"p{n}").naming(H200).asking_for(1).gated() for n in range(4)]


def stamps(leader: Leader) -> list[str]:
    """The queue that each opened pod is charged to."""
    return [call.body["metadata"]["annotations"][v.CHARGED_QUEUE] for call in leader.script.patches]


async def test_a_pod_is_charged_to_the_queue_that_its_namespace_has_now() -> None:
    async with leading(RED, BLUE, TEAM, *PODS) as leader:
        leader.ledger.reassessment.at_once = 0
        leader.see(TEAM.with_default_queue("blue"))
        assert leader.ledger.overdue
        assert {record.queue for record in leader.ledger.pods.values()} == {"red"}
        leader.ledger.reassessment.at_once = 1
        await until(lambda: len(leader.opened) == 3)
        assert stamps(leader) == ["blue"] * 3


async def test_a_queue_that_was_closed_to_the_namespace_takes_nothing() -> None:
    async with leading(RED, TEAM, *PODS) as leader:
        leader.ledger.reassessment.at_once = 0
        leader.see(RED.open_to("other").at_revision(2))
        leader.ledger.reassessment.at_once = 1
        assert leader.ledger.overdue
        await until(lambda: not leader.ledger.dirty.pending)
        leader.ledger.reassessment.read_overdue()
        leader.releaser.wake()
        await until(lambda: leader.tells("p3"))
        assert leader.opened == []
