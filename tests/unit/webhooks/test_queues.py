"""Reviews of Queues: what cannot be read is refused at write, what is in use is not deleted."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from builders import GPU, H200, a_group, a_node, a_pod, a_queue
from builders.queue import QueueBody
from cardquota.quota import limits
from cardquota.quota import vocabulary as v
from cardquota.quota.decisions import doubts_about_rows, suggestions
from cardquota.quota.ledger import ledger_reader
from cardquota.quota.messages import queue_write_messages

from ..steps import steps_of
from .endpoint import Endpoint, request_of, review_of

GOOD = a_queue().with_quota({H200: 3})


@pytest.fixture
async def endpoint() -> AsyncIterator[Endpoint]:
    async with Endpoint() as endpoint:
        yield endpoint


async def test_only_the_validating_review_is_for_queues(endpoint: Endpoint) -> None:
    resource = {"group": "scheduling.volcano.sh", "resource": "queues"}
    request: dict[str, Any] = {"uid": "u", "resource": resource}
    said = await endpoint.review("/mutate", {**request, "operation": "CREATE", "object": GOOD.body})
    assert said.code == 400


async def test_q2_card_resources_in_the_specification_are_spoken_of(endpoint: Endpoint) -> None:
    """Whoever comes from Volcano's plugin `capacity` has written his quota there."""
    spec = {"capability": {"cpu": "8", GPU: "4"}, "deserved": {GPU: 4}}
    plain = a_queue().put(spec, "spec")
    (said,) = (await endpoint.validate(plain)).warnings
    assert said == (
        f"spec.capability <{GPU}>, spec.deserved <{GPU}>: not a card quota, and the queue has "
        "none; write volcano.sh/card.quota"
    )
    (said,) = (await endpoint.validate(plain.with_quota({H200: 4}))).warnings
    assert said.endswith("not a card quota, volcano.sh/card.quota is; remove them")
    assert (await endpoint.validate(a_queue().limited_to(cpu="8"))).warnings == []


async def test_rows_that_can_never_be_used_get_a_warning_each(endpoint: Endpoint) -> None:
    odd = ["NVIDIA H200", "nvidia.com/gpu", "A/", "-A", "A" * 64, "é"]
    said = await endpoint.validate(a_queue().with_quota(dict.fromkeys([H200, *odd], 1)))
    assert said.allowed
    assert said.warnings == [
        queue_write_messages.row_impossible(odd[0], H200),
        *(queue_write_messages.row_impossible(name) for name in odd[1:5]),
    ]


async def test_l1_what_is_owed_is_doubted_when_it_is_written(endpoint: Endpoint) -> None:
    queue = GOOD.deserving_cards({H200: 9})
    said = await endpoint.validate(queue)
    assert queue_write_messages.owed_above_quota(H200, 9, 3) in said.warnings
    again = await endpoint.validate(queue, operation="UPDATE", oldObject=queue.body)
    assert again.warnings == []


@pytest.mark.parametrize(
    ("queue", "words"),
    [
        (GOOD.annotated(v.DESERVED, "{"), "card.deserved cannot be read: it is not JSON"),
        (a_queue().with_quota_text("{"), "is not JSON"),
        (a_queue().with_quota({f"c{n}": 1 for n in range(1001)}), "1001 rows, at most 1000"),
        (a_queue().with_quota_text("{}" + " " * 65_536), "longer than 64 KiB"),
        (GOOD.limited_to(memory="lots"), "spec.capability.memory"),
    ],
)
async def test_a_queue_that_cannot_be_used(queue: QueueBody, words: str) -> None:
    """Q4, Q5, Q8; in audit mode the same words are a Warning."""
    for operation in ("CREATE", "UPDATE"):
        async with Endpoint(GOOD) as endpoint:
            said = await endpoint.validate(queue, operation=operation)
            assert (said.allowed, said.code) == (False, 403)
            assert said.text.startswith("Queue <queue>: ")
            assert words in said.text
    async with Endpoint(GOOD, mode="audit") as endpoint:
        said = await endpoint.validate(queue)
        assert said.allowed
        assert said.warnings[0].startswith("audit: would be refused or wait: Queue <queue>: ")


@pytest.mark.parametrize(
    ("users", "words"),
    [
        ([a_pod("a").in_queue("queue").gated()], "1 pod and 0 pod groups (team/a)"),
        ([a_group().in_queue("queue").of(2)], "0 pods and 1 pod group (team/gang)"),
    ],
)
async def test_q8_a_queue_is_in_use_also_by_those_of_which_only_the_name_is_kept(
    users: list[QueueBody], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("WAITING_PODS_OF_ONE", "IDLE_GROUPS_OF_ONE"):
        limit: limits.Limit = getattr(ledger_reader, name)
        monkeypatch.setattr(ledger_reader, name, limit._replace(most=0))
    async with Endpoint(GOOD, *users) as endpoint:
        assert not endpoint.ledger.pods
        said = await endpoint.validate(GOOD, operation="DELETE", object=None)
        assert f"Queue <queue> is in use by {words}; close it" in said.text
        assert (await endpoint.validate(a_queue("other"), operation="DELETE", object=None)).allowed
        endpoint.ledger.pod_gone(a_pod("a").uid)
        endpoint.ledger.group_gone("team/gang")
        assert (await endpoint.validate(GOOD, operation="DELETE", object=None)).allowed


async def test_t1_finished_pods_use_no_queue() -> None:
    done = a_pod().in_queue("queue").on_node("h200-a").in_phase("Succeeded")
    async with Endpoint(GOOD, done) as endpoint:
        assert (await endpoint.validate(GOOD, operation="DELETE", object=None)).allowed


async def test_a_text_that_is_no_unicode_is_an_error_of_the_sender(endpoint: Endpoint) -> None:
    """msgspec leaves it to Python to find out, whose error is another one."""
    body = review_of(request_of(GOOD)).replace(b"NVIDIA-H200", b"NVIDIA\xed\xa0\x80")
    status, text = await endpoint.post("/validate", body)
    assert (status, b"bug" in text) == (200, False)
    assert b"is not a queue" in text


async def test_p4_a_pool_at_zero_is_spoken_of_without_a_guess() -> None:
    """Nothing is near, or the card is known: its nodes are gone."""
    gone = a_node("b300").with_cards("NVIDIA-B300", 8)
    async with Endpoint(gone) as endpoint:
        endpoint.ledger.node_gone("b300")
        for card in ("NVIDIA-B300", "AMD-MI300X"):
            said = await endpoint.validate(a_queue().with_quota({card: 3}))
            assert said.warnings == [f"no node has card <{card}>"]
        said = await endpoint.validate(a_queue().with_quota({"B300": 3}))
        assert said.warnings == ["no node has card <B300>; did you mean <NVIDIA-B300>?"]


async def test_of_rows_that_stay_as_they_are_nothing_is_said_again() -> None:
    before = a_queue().with_quota({"NVIDIA-H20O": 3, H200: 300, "NVIDIA-H80O": 1})
    async with Endpoint(before) as endpoint:
        same = before.annotated("example.com/note", "x")
        said = await endpoint.validate(same, operation="UPDATE", oldObject=before.body)
        assert said.warnings == []
        one = a_queue().with_quota({"NVIDIA-H20O": 4, H200: 300, "NVIDIA-H80O": 1})
        said = await endpoint.validate(one, operation="UPDATE", oldObject=before.body)
        assert said.warnings == [f"no node has card <NVIDIA-H20O>; did you mean <{H200}>?"]


@pytest.mark.parametrize("old", [None, 3, {"metadata": {"annotations": {v.QUOTA: "{"}}}])
async def test_q4_where_the_old_one_is_odd_the_one_in_force_is_compared(old: object) -> None:
    before = a_queue().with_quota({H200: 300})
    async with Endpoint(before) as endpoint:
        changed = a_queue().with_quota({H200: 300, "H800": 1})
        said = await endpoint.validate(changed, operation="UPDATE", oldObject=old)
        assert said.allowed
        assert said.warnings[0] == "no node has card <H800>; did you mean <NVIDIA-H800>?"


async def test_before_the_cluster_is_known_no_card_is_taken_for_another(endpoint: Endpoint) -> None:
    impossible = a_queue().with_quota({"NVIDIA H200": 1})
    known = await endpoint.validate(impossible)
    assert known.warnings[0].endswith(f"; did you mean <{H200}>?")
    endpoint.late = True
    said = await endpoint.validate(impossible)
    assert said.warnings
    assert "did you mean" not in " ".join(said.warnings)


async def test_before_the_cluster_is_known_nothing_is_said_of_it(endpoint: Endpoint) -> None:
    endpoint.synced = False
    said = await endpoint.validate(a_queue().with_quota({"NVIDIA-H20O": 3}))
    assert said.warnings == []


async def test_the_warnings_of_the_worst_queue_are_few_and_short(endpoint: Endpoint) -> None:
    """Kubernetes cuts off what is longer than 256 characters, and 4,096 together."""
    long = "N" * 60
    rows = {f"{long}{n}": 2**50 for n in range(40)} | {f"H20{n}": 1 for n in range(40)}
    rows |= {f"x y{n}" + "z" * 90: 1 for n in range(9)}
    worst = a_queue().with_quota(rows)
    for n in range(9):
        worst = worst.annotated(f"volcano.sh/card.{n}{'k' * 40}", "")
    said = (await endpoint.validate(worst)).warnings
    assert len(said) == 5 + 6 + 3
    assert said[10].startswith("75 more rows of volcano.sh/card.quota may be wrong")
    assert max(map(len, said)) <= 256
    assert sum(map(len, said)) <= 4_096


async def test_i5_a_thousand_rows_cost_little_beside_thousands_of_cards() -> None:
    """Five get the nearest name, whatever is written."""
    nodes = [a_node(f"n{n}").with_cards(f"NVIDIA-H{n}00-SXM", 8) for n in range(300)]
    worst = a_queue().with_quota({f"NVIDIA-H{n}0O-SXM": 900 for n in range(1_000)})
    async with Endpoint(*nodes) as endpoint:
        quota = worst.facts().quota or {}
        meant = suggestions(endpoint.ledger)
        steps = steps_of(lambda: doubts_about_rows(endpoint.ledger, "queue", quota, meant=meant))
        assert steps < 60_000


async def test_p8_rows_beyond_what_is_kept_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    limit = limits.QUEUES._replace(most=20_000)
    monkeypatch.setattr(ledger_reader, "QUEUES", limit)
    async with Endpoint(GOOD) as endpoint:
        said = await endpoint.validate(a_queue("many").with_quota({f"C{n}": 1 for n in range(9)}))
        assert not said.allowed
        assert "Queue <many>" in said.text
        assert "the queues would take <25" in said.text
        assert "at most <20000> are kept" in said.text
        assert (await endpoint.validate(GOOD.with_quota({H200: 4}))).allowed
