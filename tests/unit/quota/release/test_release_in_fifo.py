"""E6, `dequeueStrategy: fifo`: who holds up those behind, who does not, and who is told so."""

from builders import H200, H800, see
from cardquota.quota import Reason

from ..releasing import GANG, QUEUE, a_cluster, later, member, names, release, runs, waiting


def test_fifo_is_not_held_up_by_a_member_that_its_gang_does_not_wait_for() -> None:
    """One beyond `minMember` goes when the gang has begun: until then it waits for no card."""
    held = waiting("held", 3).stamped("red", {H200: 3})
    gang = [GANG, member("m0"), member("m1"), member("m2-extra", 1, H800)]
    ledger = a_cluster(QUEUE.fifo(), held, *gang, later(waiting("young", 1, H800)))
    assert release(ledger)[0] == [["young"]]
    see(ledger, member("a-first", 1, H800), later(waiting("younger", 1, H800)))
    assert release(ledger)[0] == []


def test_fifo_is_held_up_by_any_member_of_a_gang_that_goes_on_with_any() -> None:
    held = [waiting("held", 2).stamped("red", {H200: 2}), waiting("too", 3, H800)]
    gang = [GANG, runs("r", 1), member("m1"), member("m2", 1, H800)]
    ledger = a_cluster(
        QUEUE.fifo(), held[0], held[1].stamped("red", {H800: 3}), *gang, waiting("z", 1, H800)
    )
    assert release(ledger)[0] == []
    ledger.pod_gone("uid-too")
    assert release(ledger)[0] == [["m2"], ["z"]]


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
