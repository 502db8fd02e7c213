"""I2: after any history the ledger's totals equal a recount, by two counts that share no code.

`drift` counts what the ledger holds; the plain cluster of the tests counts what the rules say.
"""

import json
from collections import Counter
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from builders import H200, H800, a_group, a_ledger, a_namespace, a_node, a_pod, a_queue, see
from builders.group import GroupBody
from builders.node import NodeBody
from builders.plain_cluster import (
    PRODUCT_LABEL,
    PlainCluster,
    PlainGroup,
    PlainPod,
    PlainQueue,
    Sums,
)
from builders.pod import PodBody
from builders.queue import QueueBody
from cardquota.quota import REQUEST, Stamp, canonical
from cardquota.quota.decisions import QueueRoom, on_the_way
from cardquota.quota.pods import PodRequest, read
from cardquota.quota.release import Refusal
from cardquota.quota.release.cycle import openings
from cardquota.quota.reports import report
from cardquota.quota.reports.drift import drift

from ..any_cluster import (
    BROKEN,
    CARD_TEXTS,
    GROUPS,
    NAMESPACES,
    NODE_KINDS,
    NODES,
    QUEUES,
    QUOTAS,
    XPU,
    XPU_RESOURCE,
    body_of,
    choices,
    likely_shapes,
    minimums,
    picks,
    policies,
    quota_texts,
    reports,
    requests,
    reservations,
    shapes,
)
from ..brute_force import a_gang_is_on_the_way, on_their_way
from ..events import ledger_totals
from ..plain_totals import left_over, next_opening, sums_of, with_nothing_noted

CARDS_OF_QUOTAS = sorted({card for rows in QUOTAS for card in rows})


class Histories(RuleBasedStateMachine):
    """Random histories of a small cluster, told to the ledger as watches and the leader would."""

    def __init__(self) -> None:
        super().__init__()
        self.plain = PlainCluster()
        self.ledger = a_ledger()
        self.revision = 100
        self.pod_bodies: dict[str, PodBody] = {}
        self.older: list[PodBody] = []
        self.landed: dict[str, tuple[int, PlainPod]] = {}
        """Gates that our patch has opened, but whose watch event has not come."""
        self.stamps: dict[str, Stamp] = {}
        """By which pods were charged last before their gates opened, by uid."""
        self.queue_bodies: dict[str, QueueBody] = {}
        self.group_bodies: dict[str, GroupBody] = {}
        self.older_groups: list[GroupBody] = []
        self.confirmed_groups: set[str] = set()
        self.node_bodies: dict[str, NodeBody] = {}
        self.finished: list[str] = []
        self.succeeded: dict[str, str | None] = {}
        """Of those that finished: the group, by uid."""
        self.shown: dict[str, Any] = {}
        """By queue: what is shown of its cards, as of the last step."""

    @initialize(default=st.sampled_from(("", "blue")), free=st.booleans())
    def settings_of_the_installation(self, default: str, free: bool) -> None:
        self.plain = PlainCluster(default_queue=default, exempt_cpu_memory=free)
        self.ledger = a_ledger(default_queue=default, exempt_cpu_memory=free)

    # --- telling the ledger -------------------------------------------------------------------

    def next(self) -> int:
        self.revision += 1
        return self.revision

    def one(self, pick: int, **wanted: Any) -> PlainPod | None:
        found = [
            pod
            for _, pod in sorted(self.plain.pods.items())
            if all(getattr(pod, name) == value for name, value in wanted.items())
        ]
        return found[pick % len(found)] if found else None

    def tell(self, pod: PlainPod) -> None:
        """The watch event of a pod as it now is."""
        if pod.uid in self.pod_bodies:
            self.older.append(self.pod_bodies[pod.uid])
        pod.backed_off = False
        self.plain.pods[pod.uid] = pod
        self.pod_bodies[pod.uid] = body_of(pod, self.next())
        see(self.ledger, self.pod_bodies[pod.uid])
        self.plain.decide()

    def forget(self, uid: str) -> None:
        del self.plain.pods[uid], self.pod_bodies[uid]
        self.landed.pop(uid, None)
        self.older = [body for body in self.older if body.uid != uid]

    # --- pods -----------------------------------------------------------------------------

    def new_pod(self, shape: dict[str, Any], state: str, **more: Any) -> PlainPod:
        group = f"{shape['namespace']}/{shape['group']}" if shape["group"] else None
        uid = f"pod-{self.next():05}"
        return PlainPod(uid=uid, state=state, **{**shape, "group": group}, **more)

    @rule(shape=shapes)
    def a_gated_pod_is_created(self, shape: dict[str, Any]) -> None:
        self.tell(self.new_pod(shape, "gated"))

    @rule(shape=likely_shapes)
    def a_pod_waits_that_may_go(self, shape: dict[str, Any]) -> None:
        self.tell(self.new_pod(shape, "gated"))

    @rule(shape=shapes)
    def a_pod_gets_past_admission(self, shape: dict[str, Any]) -> None:
        self.tell(self.new_pod(shape, "open"))

    @rule(shape=shapes, node=st.sampled_from(NODES))
    def a_pod_is_created_on_a_node(self, shape: dict[str, Any], node: str) -> None:
        at = f"2026-01-01T01:{self.revision % 60:02}:00Z"
        self.tell(self.new_pod(shape, "bound", node=node, scheduled=at))

    @rule(pick=picks, cards=st.sampled_from(CARD_TEXTS), queue=st.sampled_from((None, *QUEUES)))
    def a_gated_pod_is_edited(self, pick: int, cards: str | None, queue: str | None) -> None:
        pod = self.one(pick, state="gated")
        if pod and pod.uid not in self.landed:
            pod.cards, pod.own_queue = cards, queue
            self.tell(pod)

    @rule(pick=picks, group=st.sampled_from((None, *GROUPS)))
    def a_gated_pod_changes_its_group(self, pick: int, group: str | None) -> None:
        pod = self.one(pick, state="gated")
        if pod and pod.uid not in self.landed:
            pod.group = f"{pod.namespace}/{group}" if group else None
            self.tell(pod)

    @rule(pick=picks)
    def somebody_else_opens_a_gate(self, pick: int) -> None:
        pod = self.one(pick, state="gated")
        if pod and pod.uid not in self.landed:
            pod.state, pod.assumed = "open", None
            self.tell(pod)

    @rule(pick=picks, node=st.sampled_from(NODES), minute=st.integers(0, 59))
    def a_pod_is_bound(self, pick: int, node: str, minute: int) -> None:
        pod = self.one(pick, state="open")
        if pod:
            pod.state, pod.node, pod.scheduled = "bound", node, f"2026-01-01T02:{minute:02}:00Z"
            self.tell(pod)

    @rule(pick=picks, cpu=st.sampled_from((500, 3_000)), on_node=st.sampled_from((200, 6_000)))
    def a_pod_is_resized(self, pick: int, cpu: int, on_node: int) -> None:
        pod = self.one(pick, state="bound")
        if pod:
            pod.cpu, pod.on_node_cpu = cpu, on_node
            self.tell(pod)

    @rule()
    def everything_was_read(self) -> None:
        """From now on a pod that came past admission stays where it is first seen."""
        self.plain.all_read = True
        self.ledger.fix_queues()
        self.plain.decide()

    @rule(pick=picks)
    def a_pod_is_terminated(self, pick: int) -> None:
        pod = self.one(pick, terminating=False)
        if pod and pod.uid not in self.landed:
            pod.terminating = True
            self.tell(pod)

    @rule(pick=picks, phase=st.sampled_from(("Succeeded", "Failed")))
    def a_pod_finishes(self, pick: int, phase: str) -> None:
        pod = self.one(pick)
        if pod:
            see(self.ledger, body_of(pod, self.next()).in_phase(phase))
            self.forget(pod.uid)
            self.finished.append(pod.uid)  # counts no more, but is still there
            if phase == "Succeeded":
                self.succeeded[pod.uid] = pod.group

    @rule(pick=picks)
    def a_pod_is_deleted(self, pick: int) -> None:
        pod = self.one(pick)
        if pod:
            self.ledger.pod_gone(pod.uid)
            self.forget(pod.uid)

    @precondition(lambda self: self.older)
    @rule(pick=picks)
    def an_old_event_of_a_pod_comes_late(self, pick: int) -> None:
        """Of one that is still watched: no watch goes back to before what it reported gone."""
        body = self.older[pick % len(self.older)]
        if body.uid in self.ledger.pods:
            see(self.ledger, body)

    # --- our own gate: charged, patched, confirmed, seen ------------------------------------

    @rule(pick=picks, queue=st.sampled_from(QUEUES), cards=choices)
    def a_gated_pod_is_charged(self, pick: int, queue: str, cards: dict[str, int]) -> None:
        pod = self.one(pick, state="gated", assumed=None)
        if pod:
            pod.assumed = (queue, cards)
            self.stamps[pod.uid] = Stamp(queue, tuple(cards.items()), "term-1")
            self.ledger.decisions.assume(pod.uid, self.stamps[pod.uid])

    @rule(pick=picks)
    def our_patch_lands(self, pick: int) -> None:
        pod = self.one(pick, state="gated")
        if pod and pod.assumed and pod.uid not in self.landed:
            self.landed[pod.uid] = self.next(), pod

    @precondition(lambda self: self.landed)
    @rule(pick=picks)
    def our_patch_is_confirmed(self, pick: int) -> None:
        uid = sorted(self.landed)[pick % len(self.landed)]
        self.ledger.decisions.confirm(uid, self.stamps[uid], self.landed[uid][0])

    @precondition(lambda self: self.landed)
    @rule(pick=picks, confirmed_after=st.booleans())
    def the_event_of_our_patch_comes(self, pick: int, confirmed_after: bool) -> None:
        uid = sorted(self.landed)[pick % len(self.landed)]
        revision, pod = self.landed.pop(uid)
        pod.state, pod.stamp, pod.assumed, pod.backed_off = "open", pod.assumed, None, False
        self.older.append(self.pod_bodies[uid])
        self.pod_bodies[uid] = body_of(pod, revision)
        see(self.ledger, self.pod_bodies[uid])
        if confirmed_after:
            self.ledger.decisions.confirm(uid, self.stamps[uid], revision)

    @rule(pick=picks, back_off=st.booleans())
    def our_patch_is_refused(self, pick: int, back_off: bool) -> None:
        pod = self.one(pick, state="gated")
        if pod and pod.assumed and pod.uid not in self.landed:
            pod.assumed, pod.backed_off = None, back_off
            self.ledger.decisions.retract(pod.uid, self.stamps[pod.uid], back_off=back_off)

    @rule(pick=picks)
    def a_pod_is_put_back(self, pick: int) -> None:
        pod = self.one(pick)
        if pod:
            pod.backed_off = False
            self.ledger.decisions.put_back(pod.uid)

    @precondition(lambda self: not self.landed)
    @rule()
    def our_term_ends(self) -> None:
        list(self.ledger.decisions.end_term_in_steps())
        for pod in self.plain.pods.values():
            pod.assumed, pod.backed_off = None, False
        for group in self.plain.groups.values():
            group.assumed = None
        self.confirmed_groups.clear()

    # --- nodes ----------------------------------------------------------------------------

    @rule(name=st.sampled_from(NODES), kind=st.sampled_from(sorted(NODE_KINDS)), new=st.booleans())
    def a_node_is_seen(self, name: str, kind: str, new: bool) -> None:
        body, cards = NODE_KINDS[kind]
        known = self.node_bodies.get(name)
        uid = f"{name}-{self.next()}" if new or known is None else known.uid
        self.node_bodies[name] = body.put(name, "metadata", "name").with_uid(uid)
        self.plain.node_shows(name, cards, new=known is not None and new)
        see(self.ledger, self.node_bodies[name])

    @rule(name=st.sampled_from(NODES))
    def a_node_loses_its_allocatable(self, name: str) -> None:
        if name in self.node_bodies:
            self.node_bodies[name] = self.node_bodies[name].without_allocatable()
            self.plain.node_shows(name, [], new=False)
            see(self.ledger, self.node_bodies[name])

    @rule(name=st.sampled_from(NODES))
    def a_node_is_deleted(self, name: str) -> None:
        self.node_bodies.pop(name, None)
        self.plain.node_is_gone(name)
        self.ledger.node_gone(name)

    # --- queues and namespaces ------------------------------------------------------------

    @rule(name=st.sampled_from(QUEUES), text=quota_texts, policy=policies, report=reports)
    def a_queue_is_written(
        self,
        name: str,
        text: str | None,
        policy: str | None,
        report: tuple[str, int, str | None] | None,
    ) -> None:
        body = a_queue(name).with_quota_text(text).with_policy(policy).at_revision(self.next())
        reported: dict[str, str] = {}
        if report is not None:
            card, quota, resource = report
            body = body.having_reported(card, quota, resource)
            reported = {card: resource or ""}
        if text not in BROKEN:
            rows = json.loads(text) if text else {}
        elif name in self.plain.queues:  # Q4: the last good one
            rows = self.plain.queues[name].quota
        else:  # and after a restart the one that the status kept
            rows = {report[0]: report[1]} if report else {}
        self.plain.queue_is_seen(name, PlainQueue(quota=rows, policy=policy, reported=reported))
        self.queue_bodies[name] = body
        see(self.ledger, body)
        self.plain.decide()

    @rule(name=st.sampled_from(QUEUES), to=st.sampled_from((NAMESPACES, NAMESPACES[:1], ())))
    def a_queue_is_open_to_others(self, name: str, to: tuple[str, ...]) -> None:
        if name in self.queue_bodies:
            self.queue_bodies[name] = self.queue_bodies[name].open_to(*to)
            queue = self.plain.queues[name]
            queue.open_to = to
            self.plain.queue_is_seen(name, queue)
            see(self.ledger, self.queue_bodies[name])
            self.plain.decide()

    @rule(name=st.sampled_from(QUEUES), cpu=st.sampled_from((None, "4", "0")))
    def a_queues_capability_changes(self, name: str, cpu: str | None) -> None:
        if name in self.queue_bodies:
            self.queue_bodies[name] = self.queue_bodies[name].limited_to(cpu=cpu)
            queue = self.plain.queues[name]
            queue.limits = {} if cpu is None else {"cpu": int(cpu) * 1_000}
            self.plain.queue_is_seen(name, queue)
            see(self.ledger, self.queue_bodies[name])

    @rule(name=st.sampled_from(QUEUES))
    def a_queue_is_deleted(self, name: str) -> None:
        self.queue_bodies.pop(name, None)
        self.plain.queue_is_gone(name)
        self.ledger.queue_gone(name)
        self.plain.decide()

    @rule(
        name=st.sampled_from(NAMESPACES),
        queue=st.sampled_from((None, *QUEUES)),
        mode=st.sampled_from((None, "off", "audit", "enforced")),
    )
    def a_namespace_is_written(self, name: str, queue: str | None, mode: str | None) -> None:
        self.plain.namespaces[name] = queue or "", mode or ""
        see(self.ledger, a_namespace(name).with_default_queue(queue).in_mode(mode))
        self.plain.decide()

    @rule(name=st.sampled_from(NAMESPACES))
    def a_namespace_is_deleted(self, name: str) -> None:
        self.plain.namespaces.pop(name, None)
        self.ledger.namespace_gone(name)
        self.plain.decide()

    # --- pod groups -----------------------------------------------------------------------

    def tell_group(self, body: GroupBody) -> None:
        key = body.key
        if key in self.group_bodies:
            self.older_groups.append(self.group_bodies[key])
        group = self.plain.groups.setdefault(key, PlainGroup(queue="", minimum=0))
        self.group_bodies[key] = body
        facts = body.facts()
        group.queue, group.minimum = facts.queue, facts.min_member
        written = facts.reservation
        group.reservation = (written.queue, dict(written.amounts)) if written else None
        group.mark = written.request if written else ""
        same = (group.reservation, group.mark) == (group.assumed, group.assumed_mark)
        if key in self.confirmed_groups or same:
            group.assumed = None
            self.confirmed_groups.discard(key)
        see(self.ledger, body)
        self.plain.decide()

    @rule(name=st.sampled_from(GROUPS), queue=st.sampled_from((None, *QUEUES)), of=minimums)
    def a_group_is_written(self, name: str, queue: str | None, of: int) -> None:
        body = self.group_bodies.get(f"team/{name}")
        body = body or a_group(name).with_uid(f"{name}-{self.next()}")
        self.tell_group(body.in_queue(queue).of(of).at_revision(self.next()))

    @rule(name=st.sampled_from(GROUPS), request=requests)
    def a_group_asks_for_something(self, name: str, request: dict[str, int] | None) -> None:
        body = self.group_bodies.get(f"team/{name}")
        if body is not None:
            text = json.dumps(request) if request else None
            self.tell_group(body.annotated(REQUEST, text).at_revision(self.next()))

    @rule(
        name=st.sampled_from(GROUPS),
        request=requests,
        of=minimums,
        quota=st.sampled_from(({H200: 2, H800: 2}, {H200: 1, H800: 1}, {H200: 3})),
    )
    def a_group_asks_where_there_may_be_room(
        self, name: str, request: dict[str, int] | None, of: int, quota: dict[str, int]
    ) -> None:
        """And all that fits in that queue is released."""
        text = json.dumps(quota)
        self.a_queue_is_written(name="red", text=text, policy=None, report=None)
        self.a_group_is_written(name=name, queue="red", of=of)
        self.a_group_asks_for_something(name=name, request=request)
        self.all_that_fits_is_opened(queue="red")

    @rule(name=st.sampled_from(GROUPS), reservation=reservations)
    def a_reservation_is_written(self, name: str, reservation: tuple[str, dict[str, int]]) -> None:
        body = self.group_bodies.get(f"team/{name}")
        if body is not None:
            self.tell_group(body.reserving(*reservation).at_revision(self.next()))

    @rule(name=st.sampled_from(GROUPS))
    def a_reservation_is_removed(self, name: str) -> None:
        body = self.group_bodies.get(f"team/{name}")
        if body is not None:
            removed = body.put(None, "metadata", "annotations").at_revision(self.next())
            self.tell_group(removed)

    @rule(name=st.sampled_from(GROUPS), reservation=reservations)
    def a_gang_is_charged(self, name: str, reservation: tuple[str, dict[str, int]]) -> None:
        key = f"team/{name}"
        group = self.plain.groups.get(key)
        if group is not None and group.assumed is None:
            queue, asked = reservation
            group.assumed = queue, self.plain.reservation_for(key, queue, asked)
            group.assumed_mark, group.unsure = "", True
            self.ledger.decisions.reserve(key, queue, "term-1", canonical(asked))

    @rule(name=st.sampled_from(GROUPS), confirmed=st.sampled_from(("before", "after", "never")))
    def the_reservation_of_a_gang_lands(self, name: str, confirmed: str) -> None:
        key = f"team/{name}"
        group = self.plain.groups.get(key)
        if group is None or group.assumed is None:
            return
        body = self.group_bodies[key].reserving(*group.assumed, mark=group.assumed_mark)
        body = body.at_revision(self.next())
        if confirmed == "before":
            self.confirm(key, self.revision)
            see(self.ledger, self.group_bodies[key])  # older than what was confirmed
        self.tell_group(body)
        if confirmed == "after":
            self.confirm(key, self.revision)

    @rule(name=st.sampled_from(GROUPS))
    def the_reservation_of_a_gang_is_confirmed_and_overwritten(self, name: str) -> None:
        key = f"team/{name}"
        group = self.plain.groups.get(key)
        if group is not None and group.assumed is not None:
            self.confirm(key, self.next())
            self.confirmed_groups.add(key)
            self.tell_group(self.group_bodies[key].at_revision(self.next()))

    @rule(name=st.sampled_from(GROUPS))
    def the_reservation_of_a_gang_is_refused(self, name: str) -> None:
        key = f"team/{name}"
        group, state = self.plain.groups.get(key), self.ledger.groups.get(key)
        if group is not None and state is not None and state.assumed is not None:
            group.assumed = None
            self.ledger.decisions.retract_reservation(key, state.assumed)

    def confirm(self, key: str, revision: int) -> None:
        reservation = self.ledger.groups[key].assumed
        self.plain.groups[key].unsure = False
        if reservation is not None:
            self.ledger.decisions.confirm_reservation(key, reservation, revision)

    @rule(name=st.sampled_from(GROUPS))
    def a_group_is_deleted(self, name: str) -> None:
        key = f"team/{name}"
        self.group_bodies.pop(key, None)
        self.plain.groups.pop(key, None)
        self.older_groups = [body for body in self.older_groups if body.key != key]
        self.ledger.group_gone(key)
        self.plain.decide()

    @precondition(lambda self: self.older_groups)
    @rule(pick=picks)
    def an_old_event_of_a_group_comes_late(self, pick: int) -> None:
        see(self.ledger, self.older_groups[pick % len(self.older_groups)])

    # --- watches that begin anew ------------------------------------------------------------

    @rule(random=st.randoms(use_true_random=False))
    def everything_is_listed_again(self, random: Any) -> None:
        things = [
            *self.pod_bodies.values(),
            *self.queue_bodies.values(),
            *self.group_bodies.values(),
            *self.node_bodies.values(),
        ]
        random.shuffle(things)
        for thing in things:
            if isinstance(thing, QueueBody):
                self.plain.queue_is_seen(thing.name, self.plain.queues[thing.name])
        see(self.ledger, *things)
        for group in self.plain.groups.values():
            if group.assumed == group.reservation:  # what is on its way was there already
                group.assumed = None

    # --- what must hold at every moment -----------------------------------------------------

    def know_who_holds_cards_that_no_node_has_shown(self) -> None:
        """As what: `test_scaled_to_zero` says which resource name counts."""
        held = {card: self.ledger.catalog.held_as(card) for card in CARDS_OF_QUOTAS}
        self.plain.held = {card: name for card, name in held.items() if name is not None}

    @invariant()
    def the_totals_are_what_the_rules_say(self) -> None:
        self.plain.bound_pods_take_their_nodes_card()
        self.know_who_holds_cards_that_no_node_has_shown()
        assert sums_of(self.ledger) == self.plain.totals()

    @invariant()
    def the_ledger_equals_a_recount_of_itself(self) -> None:
        assert drift(self.ledger) == {}

    @invariant()
    def who_holds_the_cards_is_what_a_count_says(self) -> None:
        """Section 6."""
        held = Counter[tuple[str, ...]]()
        totals = Counter[tuple[str, str]]()
        for record in self.ledger.pods.values():
            queue, facts = record.queue, record.facts
            for card, amount in record.charge if queue and record.held else ():
                if card not in ("cpu", "memory"):
                    held[queue, card, facts.namespace, facts.workload] += amount
                    totals[queue, card] += amount
        assert dict(self.ledger.held_cards.all()) == dict(+held)
        for (queue, card), total in totals.items():
            row = self.ledger.accounts_by_queue[queue].row(card)
            assert row.charged - row.reserved == total
        groups = self.ledger.groups.values()
        named = {one.key: one.facts.queue for one in groups if one.facts and one.facts.queue}
        assert dict(self.ledger.queue_groups.all()) == named

    @invariant()
    def which_groups_reserve_something_in_a_queue_is_what_a_search_says(self) -> None:
        """T2."""
        queues = [account.name for account in self.ledger.accounts()]
        reserved = {
            key: queue
            for key, group in self.ledger.groups.items()
            for queue in queues
            if group.rest_in(queue)
        }
        assert dict(self.ledger.reserved_groups.all()) == reserved

    @invariant()
    def cards_that_may_be_meant_are_those_whose_resource_is_known(self) -> None:
        catalog = self.ledger.catalog
        for card in (H200, H800, XPU):
            assert (card in catalog.names) == (catalog.resource(card) is not None)

    @invariant()
    def what_was_read_before_is_what_would_be_read_now(self) -> None:
        """Readings are kept: nothing may change that they follow from without their being lost."""
        for record in self.ledger.pods.values():
            account = self.ledger.account(record.queue)
            if record.request is None or account is None:
                continue
            # Where nothing is enforced a resize counts as its node has carried it out (I3).
            facts = record.facts.as_its_node_has_it() if record.audited else record.facts
            anew = read(
                facts, account.quota, self.ledger, exempt_cpu_memory=self.plain.exempt_cpu_memory
            )
            assert self.ledger.reading_of(facts, account) == anew
            assert record.request == anew.request

    @invariant()
    def there_is_room_for_what_the_quota_leaves(self) -> None:
        """E2, by plain sums."""
        charged = self.plain.charged()
        for account in self.ledger.accounts():
            for card, amount in product(account.quota if account.name else (), (1, 2)):
                one = PodRequest((card,), "", amount, 0, 0)
                left = account.quota[card] - charged.get((account.name, card), 0)
                assert bool(QueueRoom(account).choose(one)[0]) == (amount <= left)

    @invariant()
    def who_is_on_the_way_counts_with_one_card(self) -> None:
        """E2 at create: of those with a choice it is not said which."""
        for account in self.ledger.accounts():
            if not account.name or a_gang_is_on_the_way(self.ledger, account):
                continue
            certain, total = Counter[str](), 0
            for record in on_their_way(self.ledger, account):
                request = record.request
                if request is not None and request.cards and request.amount:
                    total += request.amount
                    if len(request.cards) == 1:
                        certain[request.cards[0]] += request.amount
            way = on_the_way(self.ledger, account)
            found = Counter({d: n for d, n in way.items() if d not in ("cpu", "memory")})
            assert certain <= found
            assert total == found.total()

    @invariant()
    def exactly_the_gated_pods_wait(self) -> None:
        found = {a.name: set(a.pending.uids()) for a in self.ledger.accounts() if len(a.pending)}
        assert found == self.plain.waiting()
        for account in self.ledger.accounts():
            pods = [self.ledger.pods[uid] for uid in account.pending.uids()]
            created = sorted(pod.facts.created for pod in pods)
            oldest = created[0] if created else None
            middle = created[(len(created) - 1) // 2] if created else None
            waits = account.pending.waits
            assert (waits.oldest, waits.median, len(waits)) == (oldest, middle, len(pods))
            assert sum(account.pending.pending_notices.by_reason.values()) == len(pods)

    @invariant()
    def what_was_noted_of_those_who_wait_hides_nobody_who_fits(self) -> None:
        """Whose gate opens next is what it would be if all were tried anew."""
        for account in list(self.ledger.accounts()):
            assert next_opening(self.ledger, account.name) == with_nothing_noted(
                self.ledger, account
            )

    @rule(queue=st.sampled_from(("", *QUEUES)))
    def all_that_fits_is_opened(self, queue: str) -> None:
        for found in openings(self.ledger, queue):
            if isinstance(found, Refusal):
                continue
            if found.gang is not None and not found.pods:
                self.may_be_enqueued(found.gang.key, queue, dict(found.asked))
                group = self.plain.groups[found.gang.key]
                made = self.ledger.decisions.enqueue(found.gang.key, queue, "term-1", found.asked)
                group.assumed, group.assumed_mark = (queue, dict(found.asked)), made.request
                group.unsure = True
                continue
            before = self.plain.charged()
            given = {card for _, cards in found.pods for card, number in cards if number}
            fitted = self.what_is_held_fits(queue, given)
            uids = [record.facts.uid for record, _ in found.pods]
            opened = [self.plain.pods[uid] for uid in uids]
            # Where nothing is enforced a gate is opened whatever the rules say.
            enforced = all(self.plain.enforced(pod) for pod in opened)
            if enforced:
                self.as_many_open_as_must_start_together(opened)
            if found.gang is not None:
                key = found.gang.key
                reserved = self.plain.reservation_for(key, queue, dict(found.asked))
                self.plain.groups[key].assumed = queue, reserved
                self.plain.groups[key].assumed_mark = ""
                self.plain.groups[key].unsure = True
                self.ledger.decisions.reserve(key, queue, "term-1", found.asked)
            for pod, (_, cards) in zip(opened, found.pods, strict=True):
                pod.assumed = found.queue, dict(cards)
                self.stamps[pod.uid] = Stamp(found.queue, cards, "term-1")
                self.ledger.decisions.assume(pod.uid, self.stamps[pod.uid])
            if enforced:
                self.nothing_is_over_its_limit_that_grew(before)
                # What a group has reserved over elastic pods (E1) has no place before, nor after.
                assert self.what_is_held_fits(queue, given) or not fitted, (queue, given)

    def may_be_enqueued(self, key: str, queue: str, asked: dict[str, int]) -> None:
        """E1: nothing of it has begun, and all that it asks for fits beside all that is held and
        reserved, but for what is elastic.
        """
        group = self.plain.groups[key]
        members = [pod for pod in self.plain.pods.values() if pod.group == key]
        assert group.queue == queue
        assert group.assumed is None
        assert group.reservation is None
        assert self.started(key) == 0
        assert len(members) < max(1, group.minimum)
        totals = self.plain.totals()
        for dimension, amount in asked.items():
            sums = totals.get((queue, dimension), Sums())
            limit = self.plain.limit(queue, dimension)
            would_be = sums.allocated + sums.inqueue - sums.elastic + amount
            assert limit is None or would_be <= limit, (dimension, would_be, limit)

    def as_many_open_as_must_start_together(self, opened: list[PlainPod]) -> None:
        """E2: of a gang of which nothing is released, or nothing reserved, all that are missing,
        else one; and of a group that does not exist, nobody.
        """
        key = opened[0].group
        if key is None:
            assert len(opened) == 1
            return
        assert {pod.group for pod in opened} == {key}
        group = self.plain.groups.get(key)
        assert group is not None, f"{key} does not exist"
        reserved, _ = group.assumed or group.reservation or ("", {})
        if group.assumed_mark if group.assumed else group.mark:
            reserved = ""  # for pods that were not there: those that come start together
        missing = group.minimum - self.started(key)
        alone = group.minimum <= 1 or missing <= 0
        begun = reserved != "" and missing < group.minimum
        alone = alone or (begun and group.queue in ("", reserved))
        assert len(opened) == (1 if alone else missing), (key, len(opened), missing)

    def started(self, key: str) -> int:
        """Members that count for a group's minimum."""
        members = [pod for pod in self.plain.pods.values() if pod.group == key]
        held = [pod for pod in members if pod.state != "gated" or pod.assumed]
        return len(held) + sum(group == key for group in self.succeeded.values())

    def what_is_held_fits(self, queue: str, cards: set[str]) -> bool:
        """Q7: whether what is held and reserved of these cards is within the quota."""
        charged = self.plain.charged()
        limits = {card: self.plain.limit(queue, card) for card in cards}
        return all(
            limit is None or charged.get((queue, card), 0) <= limit
            for card, limit in limits.items()
        )

    def nothing_is_over_its_limit_that_grew(self, before: dict[tuple[str, str], int]) -> None:
        """I1, by a count of its own: what was released, reservations included, fits."""
        for (queue, dimension), charged in self.plain.charged().items():
            limit = self.plain.limit(queue, dimension)
            grew = charged > before.get((queue, dimension), 0)
            assert not grew or limit is None or charged <= limit, (queue, dimension, charged)

    @invariant()
    def those_queues_are_known_in_which_somebody_waits(self) -> None:
        accounts = self.ledger.accounts()
        waiting = {one.name: one for one in accounts if one.pending or one.pending.groups}
        assert self.ledger.waiting == waiting

    @invariant()
    def the_cluster_is_counted(self) -> None:
        assert self.ledger.nodes.totals() == self.plain.cluster_totals()
        for card, quotas in self.plain.cluster_quotas().items():
            assert self.ledger.quotas.of(card) == quotas
            assert self.ledger.in_any_quota(card)

    @invariant()
    def of_whoever_is_shown_something_else_it_is_told(self) -> None:
        for _ in self.ledger.shares.refresh():
            pass
        told = self.ledger.dirty.take_changed()
        shown = {}
        for name, queue in self.plain.queues.items():
            shown[name] = found = report(self.ledger, name)
            assert found is not None
            assert {row.name for row in found.cards} >= queue.quota.keys()
            assert name in told or found == self.shown.get(name)
        self.shown = shown
        assert not self.ledger.dirty.take_changed()

    @invariant()
    def accounts_exist_for_a_reason(self) -> None:
        assert not [account.name for account in self.ledger.accounts() if account.unused]
        assert not [key for key, group in self.ledger.groups.items() if group.unused]

    def teardown(self) -> None:
        for uid in [*self.plain.pods, *self.finished]:
            self.ledger.pod_gone(uid)
        for key in list(self.plain.groups):
            self.ledger.group_gone(key)
        for name in (*QUEUES, *NODES, *NAMESPACES):
            self.ledger.queue_gone(name)
            self.ledger.node_gone(name)
            self.ledger.namespace_gone(name)
        assert left_over(self.ledger) == {}


Histories.TestCase.settings = settings(stateful_step_count=40)

TestHistories = pytest.mark.slow(Histories.TestCase)


@settings(max_examples=100)
@given(st.permutations(range(12)), st.booleans())
def test_i2_events_of_different_kinds_give_the_same_totals_in_any_order(
    order: list[int], twice: bool
) -> None:
    """Pods may be seen before their nodes, queues, groups and namespaces."""
    things = [
        a_node("a").with_cards(H200, 8),
        a_node("b").with_cards(H800, 8),
        a_node("c").with_cards(XPU, 8, XPU_RESOURCE),
        a_queue("red").with_quota({H200: 2, H800: 2, XPU: 3}),
        a_group("gang").in_queue("red").of(2).reserving("red", {H200: 4}),
        a_namespace("other").with_default_queue("red"),
        a_pod("bound").in_group("gang").asking_for(1).on_node("a"),
        a_pod("second").in_group("gang").asking_for(1).on_node("b", "2026-01-01T03:00:00Z"),
        a_pod("third").in_group("gang").asking_for(1).on_node("b", "2026-01-01T04:00:00Z"),
        a_pod("derived").in_namespace("other").asking_for(2).with_cpu("1").gated(),
        a_pod("choosy")
        .in_queue("red")
        .asking_for(1)
        .requiring([(PRODUCT_LABEL, "NotIn", ["NVIDIA-A100"])]),
        a_pod("xpu").in_namespace("other").asking_for(1, XPU_RESOURCE),
    ]
    ledger = a_ledger(*(things[i] for i in order), *(things if twice else ()))
    assert ledger_totals(ledger) == ledger_totals(a_ledger(*things))
    assert drift(ledger) == {}
