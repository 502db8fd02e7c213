"""Section 6: elastic is what a group holds beyond its minimum, whatever comes in which order."""

from dataclasses import dataclass
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from builders import CARDS, H200, H800, a_group, a_ledger, a_pod, a_queue, see
from builders.group import GroupBody
from builders.pod import PodBody
from cardquota.quota import CPU, MEMORY
from cardquota.quota.ledger import Ledger
from cardquota.quota.reports.drift import drift

QUEUE = a_queue("red").with_quota({H200: 99, H800: 99})
GI = 2**30


def elastic(ledger: Ledger) -> dict[str, int]:
    assert drift(ledger) == {}
    account = ledger.account("red")
    assert account is not None
    return {name: row.elastic for name, row in account.rows.items() if row.elastic}


@dataclass(frozen=True)
class Member:
    """One pod that is bound. A second has room for several of them."""

    name: str
    group: str
    second: int
    created: int
    card: str
    cards: int
    cpu: int
    gib: int

    def body(self) -> PodBody:
        pod = a_pod(self.name).in_group(self.group).naming(self.card).asking_for(self.cards)
        pod = pod.with_cpu(f"{self.cpu}").with_memory(f"{self.gib}Gi")
        pod = pod.created(f"2026-01-01T00:00:0{self.created}Z")
        pod = pod.stamped("red", {self.card: self.cards})
        node = "h200-a" if self.card == H200 else "h800-a"
        return pod.on_node(node, f"2026-01-01T01:00:0{self.second}Z")


def recounted(members: list[Member], minimum: dict[str, int]) -> dict[str, int]:
    """Sorted and summed up, as section 6 says it."""
    found: dict[str, int] = {}
    for group, least in minimum.items():
        bound = sorted(
            (one for one in members if one.group == group),
            key=lambda one: (one.second, one.created, f"uid-{one.name}"),
        )
        for one in bound[least:]:
            for name, n in ((one.card, one.cards), (CPU, 1_000 * one.cpu), (MEMORY, one.gib * GI)):
                found[name] = found.get(name, 0) + n
    return {name: n for name, n in found.items() if n}


def group_of(name: str, minimum: int, revision: int = 1) -> GroupBody:
    return a_group(name).in_queue("red").of(minimum).at_revision(revision)


@st.composite
def members_of_groups(draw: st.DrawFn) -> list[Member]:
    few = st.integers(0, 2)
    return [
        Member(
            f"p{number}",
            draw(st.sampled_from(("g1", "g2"))),
            draw(few),
            draw(few),
            draw(st.sampled_from((H200, H800))),
            *(draw(few) for _ in range(3)),
        )
        for number in range(draw(st.integers(1, 9)))
    ]


MINIMA = st.fixed_dictionaries({"g1": st.integers(0, 4), "g2": st.integers(0, 4)})


@given(
    members=members_of_groups(),
    first=MINIMA,
    last=MINIMA,
    gone=st.sets(st.integers(0, 8)),
    random=st.randoms(use_true_random=False),
)
@settings(max_examples=80, deadline=None)
def test_i2_it_is_what_a_plain_recount_gives_and_the_same_after_a_restart(
    members: list[Member],
    first: dict[str, int],
    last: dict[str, int],
    gone: set[int],
    random: Random,
) -> None:
    """Members are bound, succeed, fail and are deleted, and minima are edited, in any order."""
    ledger, left = a_ledger(*CARDS, QUEUE), list[Member]()
    edited, minimum = iter(sorted(last)), dict(first)
    see(ledger, *(group_of(name, least) for name, least in first.items()))
    for place, one in enumerate(random.sample(members, len(members))):
        see(ledger, one.body())
        left.append(one)
        if place in gone:
            ends(ledger, left.pop(random.randrange(len(left))), place)
        if place % 3 == 1 and (name := next(edited, "")):
            minimum[name] = last[name]
            see(ledger, group_of(name, last[name], 2))
        assert elastic(ledger) == recounted(left, minimum)
    things = [
        *(one.body() for one in left),
        *(group_of(name, minimum[name], 2) for name in minimum),
    ]
    random.shuffle(things)
    assert elastic(a_ledger(*CARDS, QUEUE, *things)) == recounted(left, minimum)


def ends(ledger: Ledger, one: Member, how: int) -> None:
    """It is deleted, fails or succeeds."""
    if how % 3 == 0:
        ledger.pod_gone(f"uid-{one.name}")
    else:
        see(ledger, one.body().in_phase("Failed" if how % 3 == 1 else "Succeeded").at_revision(2))


def of(name: str, created: int, cards: int, second: int = 0) -> Member:
    return Member(name, "g1", second, created, H200, cards, cpu=cards, gib=cards)


def test_a_member_in_another_queue_is_elastic_there() -> None:
    """The group was given another queue while it ran: each is charged where it was let through."""
    blue = of("b", 1, 2, second=2).body().stamped("blue", {H200: 2})
    ledger = a_ledger(
        *(*CARDS, QUEUE, a_queue("blue").with_quota({H200: 9})),
        *(group_of("g1", 1), of("a", 0, 1).body(), blue),
    )
    assert elastic(ledger) == {}
    account = ledger.account("blue")
    assert account is not None
    assert account.row(H200).elastic == 2
