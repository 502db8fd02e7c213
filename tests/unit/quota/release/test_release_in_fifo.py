"""E6, `dequeueStrategy: fifo`: who holds up those behind, who does not, and who is told so."""

from builders import H200, see
from cardquota.quota import Reason

from ..releasing import QUEUE, a_cluster, names, release, waiting


def test_fifo_tells_those_behind_whom_they_wait_for() -> None:
    held = waiting("held", 2).stamped("red", {H200: 2})
    ledger = a_cluster(QUEUE.fifo(), held, waiting("a", 2), waiting("b"))
    _, refusals = release(ledger)
    assert names(refusals) == [["a"], ["b"]]
    assert refusals[1].verdict.reason is Reason.BEHIND
    assert refusals[1].verdict.text == (
        "Queue <red> releases pods strictly in order (fifo), and pod <team/a>, which comes "
        "before this pod, waits for <NVIDIA-H200>; wait, or ask the queue's owner for a higher "
        "quota"
    )
    see(ledger, waiting("c"))
    assert names(release(ledger)[1]) == [["c"]]
    ledger.pod_gone("uid-a")
    assert release(ledger)[0] == [["b"]]


def test_fifo_names_no_pod_of_another_namespace() -> None:
    held = waiting("held", 3).stamped("red", {H200: 3})
    never = waiting("a-never", 5)
    ledger = a_cluster(QUEUE.fifo(), held, never, waiting("b").in_namespace("theirs"))
    release(ledger)
    see(ledger, waiting("c", 2), waiting("c-theirs", 2).in_namespace("theirs"))
    told = {names([refusal])[0][0]: refusal.verdict.text for refusal in release(ledger)[1]}
    assert "(fifo), and a pod, which comes before this pod, waits for <NVIDIA-H200>" in told["c"]
    assert "(fifo), and pod <theirs/b>, which comes before this pod, waits" in told["c-theirs"]
