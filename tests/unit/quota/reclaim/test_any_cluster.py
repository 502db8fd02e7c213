"""L3, L4 of any small cluster, against all sets of pods that could end."""

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from builders import H200, a_group, a_ledger, a_namespace, a_node, a_pod, a_queue, see
from builders.pod import PodBody
from cardquota.quota import to_its_end
from cardquota.quota import vocabulary as v
from cardquota.quota.ledger import Ledger
from cardquota.quota.reclaim import (
    Beneficiary,
    NoPlan,
    Obstacle,
    Plan,
    plans,
    preempt_waiters,
    reclaim_waiters,
)

from ..releasing import release
from .plain_plans import PlanCluster, PlanPod, gives, placeable
from .reclaiming import planned_for, unschedulable

QUEUES = ("a", "b", "c")
GROUPS = {"g": "a", "h": "b"}
"""With their queues."""
names = st.sampled_from


@st.composite
def clusters(draw: st.DrawFn) -> PlanCluster:
    """Of up to eight pods that hold something, on nodes that are nearly full. Mostly all quotas are
    as large as the cluster, and the queue c holds little.
    """
    found = PlanCluster({}, {}, {}, {group: draw(st.integers(1, 3)) for group in GROUPS})
    for number in range(draw(st.integers(1, 3))):
        node, used = f"n{number}", 0
        for _ in range(draw(st.integers(1, 4))):
            if len(found.pods) < 8:
                found.pods.append(draw(pods(f"p{len(found.pods)}", node)))
                used += found.pods[-1].cards
        found.nodes[node] = used + draw(names((0, 0, 0, 0, 1)))
    for _ in range(draw(names((0, 0, 0, 1, 2)))):
        found.pods.append(draw(pods(f"p{len(found.pods)}", "")))
    total = sum(found.nodes.values())
    for queue in QUEUES:
        found.quotas[queue] = draw(st.one_of(st.just(total), st.integers(1, total)))
        found.weights[queue] = draw(names((1, 2, 3) if queue != "c" else (1, 5, 9)))
    return found


@st.composite
def pods(draw: st.DrawFn, name: str, node: str) -> PlanPod:
    group = draw(names(("", "", *GROUPS)))
    return PlanPod(
        name,
        GROUPS.get(group) or draw(names(("a", "a", "a", "b", "b", "b", "c"))),
        draw(names((1, 1, 2, 3))),
        node,
        draw(st.integers(0, 2)),
        group,
        draw(st.integers(0, 3)),
        draw(names((False,) * 7 + (True,))) and bool(node),
        draw(names((True,) * 5 + (False,))),
    )


waiting_pods = st.lists(
    st.tuples(names(("c", "c", "c", "c", "b", "a")), names((1, 1, 2, 2, 3, 4))),
    min_size=1,
    max_size=3,
)


def ledger_of(
    cluster: PlanCluster, waiting: Sequence[PodBody] = (), *, lends: bool = False
) -> Ledger:
    ledger = a_ledger(a_namespace("team"), lends_what_is_there=lends)
    for name, amount in cluster.nodes.items():
        see(ledger, a_node(name).with_cards(H200, amount))
    for name, quota in cluster.quotas.items():
        see(ledger, a_queue(name).with_quota({H200: quota}).weighing(cluster.weights[name]))
    for name, least in cluster.minimums.items():
        see(ledger, a_group(name).in_queue(GROUPS[name]).of(least))
    for pod in cluster.pods:
        see(ledger, _body(pod))
    see(ledger, *waiting)
    return ledger


def _body(pod: PlanPod) -> PodBody:
    found = a_pod(pod.name).in_queue(pod.queue).naming(H200).asking_for(pod.cards)
    found = found.with_priority(pod.priority).in_group(pod.group or None)
    found = found.stamped(pod.queue, {H200: pod.cards})
    if pod.node:
        found = found.on_node(pod.node, f"2026-01-01T01:00:{pod.at:02d}Z")
    if pod.leaving:
        found = found.terminating()
    return found if pod.preemptable else found.annotated(v.PREEMPTABLE, "false")


def unplaced(name: str, queue: str, cards: int) -> PodBody:
    pod = a_pod(name).in_queue(queue).naming(H200).asking_for(cards)
    return unschedulable(pod.stamped(queue, {H200: cards}))


def who_waits(ledger: Ledger) -> list[Beneficiary]:
    since = dict.fromkeys(ledger.unplaced, 0.0)
    return to_its_end(reclaim_waiters(ledger, since, 60.0, 60.0))


def ended(plan: Plan) -> frozenset[str]:
    return frozenset(victim.name for victim in plan.victims)


def check_units(cluster: PlanCluster, plan: Plan, *, asked: Sequence[int], short: int = 0) -> None:
    """Enough room; a unit less, and there is not enough."""
    victims, queue = ended(plan), plan.beneficiary.queue

    def enough(names: frozenset[str]) -> bool:
        freed = sum(p.cards for p in cluster.pods if p.name in names and p.queue == queue)
        return placeable(cluster.free(names), asked) and (not short or freed >= short)

    assert enough(victims)
    assert cluster.keeps_minimums(victims)
    units = [frozenset(pod.name for pod in unit) for unit in cluster.units()]
    whole = frozenset[str]().union(*(unit for unit in units if len(unit) > 1 and unit <= victims))
    for unit in units:
        if unit <= victims and (len(unit) > 1 or unit.isdisjoint(whole)):
            assert not enough(victims - unit), (plan, unit)


@settings(max_examples=120)
@given(clusters(), waiting_pods)
def test_l4_one_that_waits_gets_a_plan_if_whoever_ends_on_a_node_would_do(
    cluster: PlanCluster, waiting: list[tuple[str, int]]
) -> None:
    queue, cards = waiting[0]
    ledger = ledger_of(cluster, [unplaced("w", queue, cards)])
    deserved = cluster.deserved()
    found = who_waits(ledger)
    owed = cluster.bound(queue) + cards <= deserved[queue]
    assert bool(found) == owed
    if not owed:
        return
    result = planned_for(ledger, found[0])
    if placeable(cluster.free(comes=False), [cards]):
        assert result is None
        return
    if placeable(cluster.free(), [cards]):
        assert isinstance(result, NoPlan)
        assert result.obstacle is Obstacle.LEAVING
        return
    units = cluster.reclaimable()
    if not isinstance(result, Plan):
        assert not any(gives(cluster, units, node, cards) for node in cluster.nodes), result
    else:
        victims = ended(result)
        assert cluster.keeps_deserved(victims)
        assert all(pod.preemptable and not pod.leaving for pod in _pods(cluster, victims))
        check_units(cluster, result, asked=[cards])
        check_size(cluster, victims, cards)
        assert result.freed == sum(pod.cards for pod in _pods(cluster, victims))


def _pods(cluster: PlanCluster, names: frozenset[str]) -> list[PlanPod]:
    return [pod for pod in cluster.pods if pod.name in names]


def check_size(cluster: PlanCluster, victims: frozenset[str], cards: int) -> None:
    """On the node that it gets, what ends is less than what is needed and one unit more."""
    rooms = cluster.free()
    on = {node: sum(p.cards for p in _pods(cluster, victims) if p.node == node) for node in rooms}
    largest = {
        node: max(
            (
                sum(pod.cards for pod in unit if pod.node == node)
                for unit in cluster.units()
                if {pod.name for pod in unit} <= victims
            ),
            default=0,
        )
        for node in rooms
    }
    fit = [node for node, room in rooms.items() if room + on[node] >= cards]
    assert any(on[node] < cards - rooms[node] + largest[node] for node in fit)


@settings(max_examples=120)
@given(clusters(), waiting_pods)
def test_l4_no_room_is_promised_twice_and_nobody_ends_for_two(
    cluster: PlanCluster, waiting: list[tuple[str, int]]
) -> None:
    bodies = [unplaced(f"w{n}", queue, cards) for n, (queue, cards) in enumerate(waiting)]
    ledger = ledger_of(cluster, bodies)
    found = who_waits(ledger)
    results = to_its_end(plans(ledger, found))
    served, victims = [], list[str]()
    promised = dict.fromkeys(QUEUES, 0)
    deserved = cluster.deserved()
    for result in results:
        one = result.beneficiary
        if isinstance(result, Plan):
            victims += ended(result)
        elif result.obstacle is not Obstacle.LEAVING:
            continue
        served.append(one.amount)
        promised[one.queue] += one.amount
    assert len(victims) == len(set(victims))
    assert cluster.keeps_deserved(victims)
    assert cluster.keeps_minimums(victims)
    assert placeable(cluster.free(victims), served)
    for queue, amount in promised.items():
        assert not amount or cluster.bound(queue) + amount <= deserved[queue]


@settings(max_examples=120)
@given(clusters(), names(("c", "c", "b")), st.integers(1, 3), st.integers(2, 3))
def test_l4_a_gang_gets_room_as_a_whole_and_no_unit_too_many(
    cluster: PlanCluster, queue: str, cards: int, members: int
) -> None:
    group = a_group("waits").in_queue(queue).of(members)
    pods = [unplaced(f"w{n}", queue, cards).in_group("waits") for n in range(members)]
    ledger = ledger_of(cluster)
    see(ledger, group, *pods)
    asked = [cards] * members
    for result in to_its_end(plans(ledger, who_waits(ledger))):
        assert result.beneficiary.amount == cards * members
        if isinstance(result, Plan):
            assert cluster.keeps_deserved(ended(result))
            check_units(cluster, result, asked=asked)
        elif result.obstacle is Obstacle.LEAVING:
            assert placeable(cluster.free(), asked)


@settings(max_examples=120)
@given(clusters(), names(("a", "a", "b", "c")), st.integers(1, 4), st.integers(0, 3))
def test_l4_at_the_gate_quota_and_nodes_are_enough_and_only_lower_priority_ends(
    cluster: PlanCluster, queue: str, cards: int, priority: int
) -> None:
    held = sum(pod.cards for pod in cluster.pods if pod.queue == queue)
    cluster.quotas[queue] = max(cards, held)
    waits = a_pod("w").in_queue(queue).naming(H200).asking_for(cards).gated()
    ledger = ledger_of(cluster, [waits.with_priority(priority)])
    release(ledger, queue)
    found = to_its_end(preempt_waiters(ledger, "9999"))
    quota = cluster.quotas[queue]
    assert bool(found) == (cards <= quota < held + cards)
    for one in found:
        result = planned_for(ledger, one)
        short = cluster.charged(queue) + cards - quota

        def fits(names: frozenset[str]) -> bool:
            left = cluster.charged(queue, names) + cards
            return left <= quota and placeable(cluster.free(names), [cards])

        if fits(frozenset()):
            assert isinstance(result, NoPlan)
            assert result.obstacle is Obstacle.LEAVING
            continue
        units = cluster.preemptable(queue, priority)
        assert isinstance(result, Plan) == any(map(fits, cluster.sets(units))), result
        if isinstance(result, Plan):
            victims = ended(result)
            assert all(pod.priority < priority for pod in _pods(cluster, victims))
            assert {pod.queue for pod in _pods(cluster, victims)} == {queue}
            check_units(cluster, result, asked=[cards], short=max(0, short))


@settings(max_examples=120)
@given(clusters(), names(("a", "a", "b", "c")), st.integers(1, 4))
def test_l4_who_others_ended_for_is_released_where_more_is_lent_than_there_is(
    cluster: PlanCluster, queue: str, cards: int
) -> None:
    waits = a_pod("w").in_queue(queue).naming(H200).asking_for(cards).gated().with_priority(3)
    ledger = ledger_of(cluster, [waits], lends=True)
    release(ledger, queue)
    for one in to_its_end(preempt_waiters(ledger, "9999")):
        result = planned_for(ledger, one)
        if isinstance(result, Plan):
            leaving = {pod.name for pod in cluster.pods if pod.leaving}
            for name in {*ended(result), *leaving}:
                ledger.pod_gone(f"uid-{name}")
            released, _ = release(ledger, queue)
            assert released == [["w"]], result
