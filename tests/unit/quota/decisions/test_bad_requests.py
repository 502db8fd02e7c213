"""What people write wrongly on pods, and what each is told at create (P1-P4, E5, I4).

Refused in short and printable words with a reason, or waiting with a warning: never a crash, and
never counted as nothing.
"""

from dataclasses import dataclass
from typing import Any

import pytest

from builders import CARDS, GPU, H200, H800, a_group, a_ledger, a_node, a_pod, a_queue
from builders.pod import PodBody
from cardquota.quota import LARGEST, Outcome, Reason
from cardquota.quota.decisions import judge_create

MANY = [f"card-{n}" for n in range(16)]
QUOTA = {H200: 3, H800: 2, "NVIDIA-H200/mig-1g.18gb-mixed": 2, **dict.fromkeys(MANY, 0)}
LEDGER = a_ledger(
    *CARDS,
    a_node("mig").showing(H200).with_slices("1g.18gb", 7),
    a_queue("red").with_quota(QUOTA),
    a_queue("blue").with_quota(QUOTA),
    a_group("gang").in_queue("red"),
)
NEVER, WAITS = Outcome.NEVER, Outcome.UNSEEN
SHORT, WRONG = Reason.INSUFFICIENT_CARD, Reason.INVALID_CARD
POD = a_pod("a").in_queue("red")
ONE = POD.asking_for(1)


def container(amount: Any, what: str = "limits", **more: Any) -> dict[str, Any]:
    return {"name": "c", "resources": {what: {GPU: amount}}, **more}


def sidecars(*amounts: Any, memory: bool = False) -> PodBody:
    """Restartable init containers, beside a container that asks for nothing."""
    always = {"restartPolicy": "Always"}
    found = [container(amount, **always) for amount in amounts]
    if memory:
        found = [{"resources": {"requests": {"memory": n}}, **always} for n in amounts]
    return POD.naming(None if memory else H200).with_spec(
        initContainers=found, containers=[{"name": "main"}]
    )


@dataclass(frozen=True)
class Bad:
    """One row: what is written, and what is said of it."""

    what: str
    pod: PodBody
    outcome: Outcome
    reason: Reason
    says: str

    def __str__(self) -> str:
        return self.what


TABLE = [
    # --- alternatives ---
    Bad("only spaces", ONE.naming("  "), NEVER, WRONG, "it is empty"),
    Bad("a space in a name", ONE.naming("NVIDIA H200"), NEVER, WRONG, "<NVIDIA H200> is not known"),
    Bad("16 of them", ONE.naming("|".join(MANY)), NEVER, SHORT, "and 11 more cards; ask"),
    Bad(
        "16, of which one is unknown",
        ONE.naming("|".join([*MANY[:15], "B"])),
        NEVER,
        WRONG,
        "<card-0|card-1|card-2|card-3|card-4 and 11 more>: card <B> is not known",
    ),
    # --- group and queue ---
    Bad(
        "a group of another namespace",
        ONE.naming(H200).in_group("other-ns/gang"),
        NEVER,
        WRONG,
        "<other-ns/gang> is not the name of a pod group: write the name alone, of a group in the "
        "pod's own namespace",
    ),
    # --- huge sidecars ---
    Bad("just below 2^63", sidecars(LARGEST - 1, 1), NEVER, SHORT, f"requested <{LARGEST}>"),
    Bad("2^63 in all", sidecars(LARGEST, 1), NEVER, SHORT, f"requested <{2**63}>, total would be"),
    Bad("2^64 in all", sidecars(LARGEST, LARGEST, 2), NEVER, SHORT, f"requested <{2**64}>"),
    Bad(
        "2^63 in one", sidecars(2**63), NEVER, WRONG, f"resource {GPU}: <{2**63}> is more than can"
    ),
    Bad("a float of 2^63", sidecars(2.0**63), NEVER, WRONG, "is more than can be counted"),
    Bad(
        "2^63 of memory in one",
        sidecars(2**63, memory=True),
        NEVER,
        WRONG,
        f"resource memory: <{2**63}> is more than can be counted",
    ),
]


@pytest.mark.parametrize("bad", TABLE, ids=str)
def test_what_is_told(bad: Bad) -> None:
    verdict = judge_create(LEDGER, bad.pod.facts())
    assert (verdict.outcome, verdict.reason) == (bad.outcome, bad.reason), verdict.text
    assert bad.says in verdict.text
    assert verdict.text.isprintable()
    assert len(verdict.text) < 1_000
    assert "team/gang" in verdict.text or "<red>" in verdict.text or bad.outcome is WAITS


def test_p1_memory_beyond_64_bits_in_all_is_counted_as_it_is() -> None:
    """The queue does not limit it; Kubernetes alone would count it as less than none."""
    verdict = judge_create(LEDGER, sidecars(LARGEST, LARGEST, memory=True).facts())
    assert verdict.fits
    limited = a_ledger(a_queue("red").limited_to(memory="8Gi"))
    verdict = judge_create(limited, sidecars(LARGEST, LARGEST, memory=True).facts())
    assert verdict.reason is Reason.INSUFFICIENT_MEMORY
    assert "requested <17179869184Gi>" in verdict.text
