"""Every refusal of a pod, as kubectl shows it to a tenant: a reason for programs, a sentence for
people (E5, I4).
"""

import pytest

from builders import GPU, H200, H200_MIG, H800, R4090, SHARED, a_pod
from cardquota.quota import vocabulary as v
from integration.roomy_nodes import T1000
from integration.team import Team


def sentence(queue: str, card: str, asked: int, total: int, quota: int) -> str:
    """Section 9."""
    return (
        f"Queue <{queue}> has insufficient <{card}> quota: "
        f"requested <{asked}>, total would be <{total}>, but capability is <{quota}>"
    )


def test_more_than_the_quota_has_never_fits(team: Team) -> None:
    """E5: 5 of 3."""
    queue = team.has_queue({H200: 3})
    reason, text = team.refused(team.a_pod("a", 5, H200))
    assert reason == v.Reason.INSUFFICIENT_CARD
    assert text == sentence(queue, H200, 5, 5, 3) + (
        "; ask for at most 3, or ask the queue's owner for a higher quota"
    )


def test_the_whole_quota_and_not_one_more(team: Team) -> None:
    """E2: exactly the quota fits; what is seen at the gate counts for the next."""
    queue = team.has_queue({T1000: 3})
    assert team.create(team.a_pod("a", 3, T1000)).ok
    team.until_open("a")
    reason, text = team.refused(team.a_pod("b", 1, T1000))
    assert reason == v.Reason.INSUFFICIENT_CARD
    assert text.startswith(sentence(queue, T1000, 1, 4, 3) + "; wait until some of it is free")


def test_a_card_that_is_not_in_the_quota(team: Team) -> None:
    """Q1: it has quota 0, and the refusal says which cards have one."""
    queue = team.has_queue({H200: 3})
    reason, text = team.refused(team.a_pod("a", 1, H800))
    assert reason == v.Reason.CARD_NOT_IN_QUOTA
    assert text.startswith(sentence(queue, H800, 1, 1, 0))
    assert f"(its cards: {H200}); use one of those" in text


def test_a_card_that_no_node_has(team: Team) -> None:
    """P4: an unknown name is a wrong annotation, not a quota of zero."""
    queue = team.has_queue({H200: 3})
    reason, text = team.refused(team.a_pod("a", 1, "NVIDIA-H2OO"))
    assert reason == v.Reason.INVALID_CARD
    assert text.startswith(f"Queue <{queue}>, requested <1> of <NVIDIA-H2OO>: card")
    assert "is not known: no node offers it" in text


def test_a_card_of_a_pool_that_is_scaled_to_zero_is_known_by_its_quota(team: Team) -> None:
    """P4: with a Warning."""
    card = f"NVIDIA-{team.prefix}"
    team.has_queue({card: 3})
    reply = team.create(team.a_pod("a", 1, card))
    assert reply.ok
    assert reply.warnings == (f"no node has card <{card}> at present: the pod waits for one",)


def test_a_queue_that_does_not_exist(team: Team) -> None:
    reason, text = team.refused(team.a_pod("a", 1, H200, queue="nowhere"))
    assert reason == v.Reason.QUEUE_NOT_FOUND
    asked = f"(the pod requests <1> of <{H200}>)"
    queue = team.queue_name("nowhere")
    assert text.startswith(f"Queue <{queue}> does not exist {asked}; name one that")


def test_a_queue_closed_by_its_annotation(team: Team) -> None:
    """Q6."""
    queue = team.has_queue(team.a_queue({H200: 3}).closed())
    reason, text = team.refused(team.a_pod("a", 1, H200))
    assert reason == v.Reason.QUEUE_NOT_OPEN
    assert text.startswith(f"Queue <{queue}> is Closed and takes nothing new")


@pytest.mark.parametrize("state", ["Closed", "Closing"])
def test_a_queue_closed_by_volcanos_tools(team: Team, state: str) -> None:
    """Q6: a state that we did not write, in the status, and it is not taken back."""
    queue = team.a_queue({H200: 3})
    team.has_queue(queue)
    team.until_row(H200, quota=3)
    assert team.patch(queue, {"status": {"state": state}}, sub="/status").ok
    pod = team.a_pod("a", 1, H200)
    team.until(lambda: not team.create(pod, dry=True).ok, "closed")
    reason, text = team.refused(pod)
    assert reason == v.Reason.QUEUE_NOT_OPEN
    assert text.startswith(f"Queue <{queue.name}> is {state} and takes nothing new")
    assert team.status()["state"] == state


def test_a_queue_of_other_namespaces(team: Team) -> None:
    """`card.namespaces` (section 2)."""
    queue = team.has_queue(team.a_queue({H200: 3}).open_to("somebody", "else-*"))
    reason, text = team.refused(team.a_pod("a", 1, H200))
    assert reason == v.Reason.QUEUE_NOT_OPEN
    assert text.startswith(f"Queue <{queue}> is not open to namespace <{team.namespace}>")


def test_a_queue_of_this_namespace_by_a_pattern(team: Team) -> None:
    team.has_queue(team.a_queue({H200: 3}).open_to(f"{team.prefix[:4]}*"))
    assert team.create(team.a_pod("a", 1, H200)).ok


def test_a_pod_that_names_its_node(team: Team) -> None:
    """E9: it cannot be gated."""
    team.has_queue({H200: 3})
    pod = team.a_pod("a", 1, H200).with_spec(nodeName="hopper-1")
    reason, text = team.refused(pod)
    assert reason == v.Reason.NODE_NAMED
    assert "names its node <hopper-1> in spec.nodeName, so it cannot wait for quota" in text


def test_a_pod_and_its_group_that_disagree(team: Team) -> None:
    """Section 2: refused; the namespace's default alone is no disagreement."""
    mine, theirs = team.has_queue({H200: 3}), team.has_queue({H200: 3}, name="other")
    assert team.create(team.a_gang("gang", 2, queue="other")).ok
    pod = team.a_pod("a", 1, H200).in_group("gang")
    team.until(lambda: not team.create(pod, dry=True).ok, "group seen")
    reason, text = team.refused(pod)
    assert reason == v.Reason.INVALID_CARD
    assert f"pod group <{team.namespace}/gang> belongs to queue <{theirs}>" in text
    asked = f"(the pod requests <1> of <{H200}>)"
    assert f"names queue <{mine}> {asked}; make them agree" in text


def test_a_card_without_a_resource(team: Team) -> None:
    """P4."""
    team.has_queue({H200: 3})
    reason, text = team.refused(team.a_pod("a", 0, H200))
    assert reason == v.Reason.INVALID_CARD
    assert "but no container asks for a card resource such as nvidia.com/gpu" in text


def test_two_card_resources(team: Team) -> None:
    """P2."""
    team.has_queue({H200: 3})
    pod = team.a_pod("a", 1).asking_for(1, SHARED)
    reason, text = team.refused(pod)
    assert reason == v.Reason.INVALID_CARD
    assert f"asks for 2 card resources ({GPU} and {SHARED})" in text


def test_alternatives_of_two_resource_names(team: Team) -> None:
    """P2: `resources` cannot say "or" across resource names."""
    team.has_queue({H200: 3, H200_MIG: 3})
    reason, text = team.refused(team.a_pod("a", 1, f"{H200}|{H200_MIG}"))
    assert reason == v.Reason.INVALID_CARD
    assert f"<{H200_MIG}> is counted as nvidia.com/mig-1g.18gb" in text
    assert f"the containers ask for {GPU}" in text


@pytest.mark.parametrize(
    ("named", "words"),
    [
        (f"{H200}||{H800}", "has an empty alternative"),
        (f"|{H200}", "has an empty alternative"),
        (" ", "it is empty"),
        ("x" * 10_000, "has more than 256 characters"),
        (f"{H200}\x07\n", "has control characters"),
        ('{"NVIDIA-H200": 3}', "is not known"),
    ],
)
def test_a_name_that_cannot_be_read(team: Team, named: str, words: str) -> None:
    """P2, P4: and the refusal stays short and printable whatever was written."""
    team.has_queue({H200: 3})
    reply = team.create(team.a_pod("a", 1, named))
    assert (reply.code, reply.reason) == (403, v.Reason.INVALID_CARD)
    assert words in reply.message
    assert len(reply.message) < 1_000
    assert reply.message.isprintable()


@pytest.mark.parametrize("amount", ["-1", "0.5", "1500m", "1e400", "x"])
def test_amounts_that_are_no_number_of_cards(team: Team, amount: str) -> None:
    """P4: most never pass the API server; none becomes a pod."""
    team.has_queue({H200: 3})
    pod = team.a_pod("a").naming(H200).asking_for(amount)
    assert 400 <= team.create(pod).code < 500


@pytest.mark.parametrize(
    ("amount", "reason"),
    [
        ("1e30", v.Reason.INVALID_CARD),
        ("9223372036854775807", v.Reason.INSUFFICIENT_CARD),
        ("1000Ei", v.Reason.INSUFFICIENT_CARD),
    ],
)
def test_an_amount_beyond_all_counting(team: Team, amount: str, reason: str) -> None:
    """I4: refused in whole cards, and those after it are judged as before."""
    team.has_queue({H200: 3})
    reply = team.create(team.a_pod("a").naming(H200).asking_for(amount))
    assert (reply.code, reply.reason) == (403, reason)
    assert "m>" not in reply.message
    assert team.create(team.a_pod("b", 3, H200)).ok


def test_affinity_that_excludes_every_card_named(team: Team) -> None:
    """P5: refused, naming both."""
    team.has_queue({H200: 3, H800: 3})
    pod = team.a_pod("a", 1, H200).on_nodes_labelled({"nvidia.com/gpu.product": H800})
    reason, text = team.refused(pod)
    assert reason == v.Reason.INVALID_CARD
    assert f"nvidia.com/gpu.product {H800}" in text
    assert f"excludes every card that volcano.sh/card.name names ({H200})" in text


def test_alternatives_are_all_listed(team: Team) -> None:
    """Section 9: one sentence for each."""
    queue = team.has_queue({H200: 1, R4090: 2})
    reason, text = team.refused(team.a_pod("a", 3, f"{H200} | {R4090}|{H200}"))
    assert reason == v.Reason.INSUFFICIENT_CARD
    assert sentence(queue, H200, 3, 3, 1) + "; " + sentence(queue, R4090, 3, 3, 2) in text
    assert "ask for at most 2" in text


@pytest.mark.parametrize(
    ("cpu", "memory", "reason", "words"),
    [
        ("4500m", None, v.Reason.INSUFFICIENT_CPU, "<cpu> quota: requested <4.5>"),
        (None, "9Gi", v.Reason.INSUFFICIENT_MEMORY, "<memory> quota: requested <9Gi>"),
    ],
)
def test_cpu_and_memory_count_too(
    team: Team, cpu: str | None, memory: str | None, reason: str, words: str
) -> None:
    """P6, in cores and Gi (I4)."""
    team.has_queue(team.a_queue({H200: 3}).limited_to(cpu="4", memory="8Gi"))
    pod = team.a_pod("a", 1, H200)
    pod = pod.with_cpu(cpu) if cpu else pod.with_memory(memory or "")
    reply = team.create(pod)
    assert reply.reason == reason
    assert words in reply.message


def test_the_old_name_of_the_annotation_is_read_with_a_warning(team: Team) -> None:
    """Section 2: `card.card`."""
    team.has_queue({H200: 3})
    pod = team.a_pod("a", 1).annotated(v.CARD_NAME_ALIAS, H200)
    reply = team.create(pod)
    assert reply.ok
    assert reply.warnings == (
        f"annotation {v.CARD_NAME_ALIAS} is read as {v.CARD_NAME}; write the latter",
    )
    assert team.create(team.a_pod("b", 4).annotated(v.CARD_NAME_ALIAS, H200)).reason == (
        v.Reason.INSUFFICIENT_CARD
    )


def test_dry_run_answers_and_leaves_nothing(team: Team) -> None:
    """A dry run is judged like any create and counts for nobody."""
    team.has_queue({H200: 3})
    for _ in range(3):
        assert team.create(team.a_pod("a", 3, H200), dry=True).ok
    assert not team.create(team.a_pod("a", 4, H200), dry=True).ok
    assert team.create(a_pod("a").in_queue(team.queue_name()).naming(H200).asking_for(3)).ok
