"""E6, `dequeueStrategy: fifo`: who holds up those behind, who does not, and who is told so."""

from builders import H200, H800, a_queue, see
from cardquota.quota import Reason, Stamp
from cardquota.quota.release import release_cycle

from ..releasing import (
    FIVE,
    GANG,
    QUEUE,
    a_cluster,
    later,
    member,
    names,
    release,
    runs,
    two_gangs_alike,
    waiting,
)


def test_fifo_holds_up_those_behind_that_want_the_same_card_and_no_others() -> None:
    ledger = a_cluster(
        QUEUE.fifo(),
        waiting("held", 2).stamped("red", {H200: 2}),
        waiting("a", 2),
        waiting("b"),
        waiting("c", 1, f"{H800}|{H200}"),
        waiting("d", 1, H800),
    )
    assert release(ledger)[0] == [["d"]]


def test_fifo_is_not_held_up_by_what_can_never_fit() -> None:
    ledger = a_cluster(QUEUE.fifo(), waiting("a-never", 5), waiting("b"))
    assert release(ledger)[0] == [["b"]]


def test_fifo_is_not_held_up_by_who_waits_for_a_group_that_never_comes() -> None:
    ledger = a_cluster(QUEUE.fifo(), waiting("a").in_group("typo"), waiting("b"))
    assert release(ledger)[0] == [["b"]]


def test_fifo_is_not_held_up_by_a_gang_that_is_not_complete() -> None:
    ledger = a_cluster(QUEUE.fifo(), GANG, member("a"), waiting("b"))
    assert release(ledger)[0] == [["b"]]


def test_fifo_is_held_up_by_a_gang_that_does_not_fit() -> None:
    held = waiting("held", 2).stamped("red", {H200: 2})
    queue = FIVE.fifo()
    ledger = a_cluster(queue, GANG, held, member("a", 2), member("b", 2), waiting("c"))
    assert release(ledger)[0] == []


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
        "Queue <red> lets pods through strictly in order (fifo), and pod <team/a>, which comes "
        "before this pod, waits for <NVIDIA-H200>; wait, or ask the queue's owner for a higher "
        "quota"
    )
    see(ledger, waiting("c"))
    assert names(release(ledger)[1]) == [["c"]]
    ledger.pod_gone("uid-a")
    assert release(ledger)[0] == [["b"]]


def test_fifo_goes_on_in_order_when_there_is_room() -> None:
    held = waiting("held", 3).stamped("red", {H200: 3})
    pods = [waiting(f"p{n}", 1 + n % 2) for n in range(4)]
    ledger = a_cluster(QUEUE.fifo(), held, *pods)
    assert release(ledger)[0] == []
    ledger.pod_gone("uid-held")
    assert release(ledger)[0] == [["p0"], ["p1"]]
    ledger.pod_gone("uid-p1")
    assert release(ledger)[0] == [["p2"]]


def test_fifo_gangs_alike_go_in_one_pass_when_there_is_room_for_both() -> None:
    queue = QUEUE.with_quota({H200: 4}).fifo()
    ledger = a_cluster(queue, waiting("held", 3).stamped("red", {H200: 3}), *two_gangs_alike())
    assert release(ledger)[0] == []
    ledger.pod_gone("uid-held")
    assert release(ledger)[0] == [["g1-a", "g1-b"], ["g2-a", "g2-b"]]


def test_fifo_those_behind_stay_behind_when_too_little_comes() -> None:
    queue = QUEUE.with_quota({H200: 4}).fifo()
    held = waiting("held", 4).stamped("red", {H200: 4})
    ledger = a_cluster(queue, held, *two_gangs_alike(), waiting("z"))
    assert release(ledger)[0] == []
    see(ledger, waiting("held", 4).stamped("red", {H200: 3}).at_revision(2))
    assert release(ledger) == ([], [])


def test_fifo_names_no_pod_of_another_namespace() -> None:
    held = waiting("held", 3).stamped("red", {H200: 3})
    never = waiting("a-never", 5)
    ledger = a_cluster(QUEUE.fifo(), held, never, waiting("b").in_namespace("theirs"))
    release(ledger)
    see(ledger, waiting("c", 2), waiting("c-theirs", 2).in_namespace("theirs"))
    told = {names([refusal])[0][0]: refusal.verdict.text for refusal in release(ledger)[1]}
    assert "(fifo), and a pod, which comes before this pod, waits for <NVIDIA-H200>" in told["c"]
    assert "(fifo), and pod <theirs/b>, which comes before this pod, waits" in told["c-theirs"]


def test_fifo_who_can_never_go_on_is_held_up_like_others_and_holds_up_nobody() -> None:
    """A member of a gang that runs, and asks for more than there is: another may take its place."""
    held = waiting("held", 2).stamped("red", {H200: 2})
    ledger = a_cluster(QUEUE.fifo(), GANG, runs("r", 1), held, member("m", 5))
    ledger.decisions.lose_place("team/gang")  # it would go first, for it has begun
    assert release(ledger)[0] == []
    see(ledger, waiting("urgent", 3).with_priority(9))
    assert release(ledger)[0] == []
    see(ledger, waiting("held", 2).stamped("red", {H200: 1}).at_revision(2))
    assert release(ledger)[0] == [], "there is room for one, and the first of all needs three"
    see(ledger, waiting("more", 1).stamped("red", {H200: 1}))
    ledger.pod_gone("uid-urgent")
    assert release(ledger)[0] == []
    see(ledger, waiting("young"))
    ledger.pod_gone("uid-more")
    assert release(ledger)[0] == [["young"]]


def test_fifo_a_pass_goes_on_though_the_first_of_a_card_is_gone_meanwhile() -> None:
    held = [waiting("h2", 3).stamped("red", {H200: 3}), waiting("h8", 3).stamped("red", {H800: 3})]
    pods = [waiting("a"), waiting("y", 2, H800), waiting("z", 2, H800)]
    ledger = a_cluster(QUEUE.fifo(), *held, *pods)
    assert release(ledger)[0] == []
    ledger.pod_gone("uid-h2")
    account = ledger.account("red")
    assert account is not None
    opened = []
    for found in release_cycle(ledger, account):
        if found is not None:
            (record, cards) = found.pods[0]
            opened.append(record.facts.name)
            ledger.decisions.assume(record.facts.uid, Stamp("red", cards, "t"))
            ledger.pod_gone("uid-y")
    assert opened == ["a"]
    ledger.pod_gone("uid-h8")
    assert release(ledger)[0] == [["z"]]


def test_p4_fifo_is_not_held_up_any_more_by_who_asks_for_a_card_that_nobody_knows_now() -> None:
    """It waited for room; now it waits to be corrected, and that is nobody else's to wait for."""
    other = a_queue("other").with_quota({"XPU-9": 1})
    ledger = a_cluster(
        QUEUE.fifo(),
        other,
        waiting("held", 3).stamped("red", {H200: 3}),
        waiting("a", 1, f"{H200}|XPU-9"),
        waiting("b", 1, f"{H200}|{H800}"),
    )
    assert release(ledger)[0] == []
    see(ledger, other.with_quota({H200: 1}))
    assert "red" in ledger.dirty.take_pending()
    assert release(ledger)[0] == [["b"]]
