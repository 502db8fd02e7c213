"""Section 9, I4: what people read names the queue, the card and the amounts, and fits a line."""

import inspect
from collections.abc import Callable
from importlib import import_module
from pkgutil import walk_packages

import pytest

from builders import H200, H800, a_ledger
from cardquota.quota import Shortfall, messages
from cardquota.quota import vocabulary as v
from cardquota.quota.accounts import Account
from cardquota.quota.decisions import over_quota
from cardquota.quota.messages import (
    gate_messages,
    queue_messages,
    report_messages,
    request_messages,
    shortfall_messages,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            gate_messages.waits_in_order("red", 2, 14),
            "number <2> of <14> that wait in Queue <red>",
        ),
        (gate_messages.waits_in_order("red", 0, 1_000), "more than <1000> wait in Queue <red>"),
        (
            report_messages.over_quota("red", [("cpu", 4_500, 4_000)]),
            (
                "Queue <red> holds 4.5 of <cpu>, its quota is 4: nothing new that asks for it is "
                "released until it fits; all others are not affected; free some of it, or "
                "raise the quota"
            ),
        ),
        (
            report_messages.over_quota("red", [(H200, 3, 1), ("NVIDIA-H800", 2, 0)]),
            (
                "Queue <red> holds 3 of <NVIDIA-H200>, its quota is 1; 2 of <NVIDIA-H800>, its "
                "quota is 0: nothing new that asks for one of these is released until it fits; "
                "other cards are not affected; free some of it, or raise the quota"
            ),
        ),
        (
            report_messages.over_quota("red", [(H200, 3, 1)], v.QueueState.CLOSED),
            (
                "Queue <red> holds 3 of <NVIDIA-H200>, its quota is 1: nothing new is "
                "released, the queue is Closed; free some of it, or raise the quota"
            ),
        ),
        (
            shortfall_messages.partly_fits("web", 1, 0, waits=True),
            "web: its pod does not fit the quota now, it waits at the gate",
        ),
        (
            shortfall_messages.partly_fits("web", 1, 0, waits=False),
            "web: its pod does not fit the quota now, it is refused until there is room",
        ),
    ],
)
def test_a_sentence(text: str, expected: str) -> None:
    assert text == expected


def test_i4_a_refusal_says_only_the_amounts_that_could_be_read() -> None:
    assert request_messages.invalid_request("red", [(H200, 2)], "no") == (
        "Queue <red>, requested <2> of <NVIDIA-H200>: no"
    )
    assert request_messages.invalid_request("red", [("a", 2), ("b", 1)], "no") == (
        "Queue <red>, requested <2> of <a> and <1> of <b>: no"
    )
    assert request_messages.invalid_request("red", [], "no") == "Queue <red>: no"
    assert request_messages.invalid_request("", [(H200, 2)], "no") == (
        "the pod requests <2> of <NVIDIA-H200>: no"
    )
    assert request_messages.invalid_request("", [], "no") == "no"


SIX_CARDS = [Shortfall(f"card-{n}", 1, 2, 1) for n in range(6)]
NINE_CORES = Shortfall(v.CPU, 9_000, 9_500, 8_000)


def test_section_9_cpu_and_memory_are_told_beside_however_many_cards() -> None:
    text = shortfall_messages.shortfalls("red", [*SIX_CARDS, NINE_CORES])
    assert text.count("insufficient <card-") == 5
    assert "; and 1 more card; Queue <red> has insufficient <cpu> quota: requested <9>" in text


def test_i4_what_to_do_names_the_dimension_where_there_are_several() -> None:
    cards = [Shortfall(H800, 5, 5, 2), Shortfall(H200, 5, 8, 3)]
    assert shortfall_messages.advice_never([*cards, NINE_CORES]) == (
        "ask for at most 3 of <NVIDIA-H200> and 8 of <cpu>, "
        "or ask the queue's owner for a higher quota"
    )
    assert shortfall_messages.advice_never(cards).startswith("ask for at most 3, or")
    assert shortfall_messages.advice_never([NINE_CORES]).startswith("ask for at most 8, or")


def test_i4_nobody_is_told_to_ask_for_none() -> None:
    owner = "ask the queue's owner for a higher quota"
    assert shortfall_messages.advice_never([Shortfall(H200, 1, 1, 0)]) == owner
    assert shortfall_messages.advice_never([Shortfall(H200, 1, 1, 0), NINE_CORES]) == owner


def test_e5_of_cards_that_may_fit_later_nobody_is_told_to_ask_for_less() -> None:
    """The cpu never fits; of two alternatives one could."""
    shorts = [Shortfall(H800, 3, 3, 2), Shortfall(H200, 3, 4, 3), NINE_CORES]
    reason = v.Reason.INSUFFICIENT_CARD
    verdict = over_quota(a_ledger(), Account("red"), shorts, never=True, reason=reason)
    assert verdict.text.endswith("; ask for at most 8, or ask the queue's owner for a higher quota")


def test_i4_nobody_is_told_to_use_one_of_no_cards() -> None:
    assert shortfall_messages.advice_not_in_quota([]) == (
        "the card is not in the queue's quota (its cards: none); ask the queue's owner for a quota "
        "of this card"
    )
    assert shortfall_messages.no_card_left("nvidia.com/gpu", []).endswith(
        "(its cards: none) and allowed by the pod's node selector and affinity; ask the queue's "
        "owner for a quota"
    )


def test_section_9_of_alternatives_five_are_listed_wherever_they_stand() -> None:
    """In whole: two names of usual length are longer than what is shown of one."""
    names = [f"NVIDIA-H100-80GB-HBM3-{n}" for n in range(7)]
    card = "|".join(names)
    for text in (
        request_messages.invalid_request("red", [(card, 1)], "no"),
        request_messages.no_card_asked(card),
        request_messages.selector_excludes("zone a", names),
    ):
        assert [name in text for name in names] == [True] * 5 + [False] * 2
        assert " and 2 more" in text


def test_p5_a_name_that_steers_nothing_is_told_shortly_whatever_it_is() -> None:
    """The warning is cut at 256 characters. A node selector of the pod still counts."""
    names = "|".join(f"NVIDIA-H100-80GB-HBM3-{n}" for n in range(7))
    for told in (queue_messages.card_without_queue, queue_messages.card_in_audit):
        assert "any model its node selector allows" in told(H200)
        assert "<NVIDIA-H100-80GB-HBM3-0|NVIDIA-H100-80GB-HBM3-1 and 5 more>" in told(names)
        assert len(told("|".join("x" * 100 for _ in range(100)))) <= 256


def test_i4_of_many_cards_of_a_quota_five_are_listed_safely() -> None:
    rows = [f"card-{i:03}" for i in range(1_000)]
    text = shortfall_messages.no_card_left("nvidia.com/gpu", rows)
    assert "(its cards: card-000, card-001, card-002, card-003, card-004 and 995 more)" in text
    text = shortfall_messages.no_card_left("nvidia.com/gpu", ["x" * 9_000 + "\n"])
    assert text.isprintable()
    assert len(text) < 600


MODULES = [
    import_module(one.name)
    for one in walk_packages(messages.__path__, prefix=f"{messages.__name__}.")
]
TAKES_A_NAME = [
    function
    for module in MODULES
    for _, function in inspect.getmembers(module, inspect.isfunction)
    if function.__module__ == module.__name__
    and not function.__name__.startswith("_")
    and all(p.annotation is str for p in inspect.signature(function).parameters.values())
    and not {"problem", "text", "state", "cards", "field"}
    & {*inspect.signature(function).parameters}
]


@pytest.mark.parametrize("function", TAKES_A_NAME, ids=lambda f: f.__name__)
def test_whatever_users_name_things_a_message_is_short_and_printable(
    function: Callable[..., str],
) -> None:
    parameters = inspect.signature(function).parameters
    text = function(**dict.fromkeys(parameters, "x" * 10_000 + "\x1b\n"))
    assert text.isprintable()
    assert len(text) < 600


def test_amounts_that_look_alike_rounded_are_told_exactly() -> None:
    """Section 9: a sentence does not contradict itself."""
    short = Shortfall("memory", 1, 2**30 + 1, 2**30)
    assert shortfall_messages.insufficient("red", short).endswith(
        "requested <1>, total would be <1073741825>, but capability is <1073741824>"
    )
    assert "holds 1073741824 of <memory>, its quota is 1073741823" in report_messages.over_quota(
        "red", [("memory", 2**30, 2**30 - 1)]
    )


def test_q7_five_cards_over_their_quota_are_named_then_a_count() -> None:
    text = report_messages.over_quota("red", [(f"card-{n}", 2, 1) for n in range(1_000)])
    assert "2 of <card-4>, its quota is 1; and 995 more: nothing new" in text
    assert "card-5" not in text


def test_a_warning_has_who_holds_what_only_if_it_is_short() -> None:
    """Kubernetes cuts a Warning at 256 characters; audit mode adds some of its own."""
    short, long = "full", "full" * 50
    assert shortfall_messages.shortly_with_held(short, "held by a 1") == "full; held by a 1"
    assert shortfall_messages.shortly_with_held(long, "held by " + "a" * 40) == long
    assert len(shortfall_messages.audited("x" * 220)) <= 256
