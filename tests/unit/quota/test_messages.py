"""Section 9, I4: what people read names the queue, the card and the amounts, and fits a line."""

import inspect

import pytest

from builders import H200
from cardquota.quota import messages


def test_amounts_are_in_peoples_units() -> None:
    assert messages.amount_text(H200, 5) == "5"
    assert messages.amount_text("cpu", 4_500) == "4.5"
    assert messages.amount_text("memory", 9 * 2**30) == "9Gi"


def test_i4_no_amount_is_in_powers_of_ten() -> None:
    assert messages.amount_text(H200, 1_000_000) == "1000000"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            messages.queue_in_use("red", 1, 2),
            (
                "Queue <red> is in use by 1 pod and 2 pod groups; close it "
                "(volcano.sh/card.state: Closed) and delete it when they are gone"
            ),
        ),
        (
            messages.over_quota("red", "cpu", 4_500, 4_000),
            (
                "Queue <red> holds 4.5 of <cpu>, its quota is 4: "
                "nothing new is let through until it fits"
            ),
        ),
        (
            messages.oversold(H200, 12, 6),
            "all quotas of <NVIDIA-H200> together are 12, the cluster has 6",
        ),
        (
            messages.quota_unreadable("it is null"),
            (
                "annotation volcano.sh/card.quota cannot be read: it is null; "
                "the last good quota stays in force until it is corrected"
            ),
        ),
        (
            messages.released("red", '{"NVIDIA-H200": 2}'),
            'Queue <red> has room: gate opened, charged {"NVIDIA-H200": 2}',
        ),
        (messages.audited("no room"), "audit: would not be let through: no room"),
        (
            messages.partly_fits("web", 10, 3, waits=True),
            "web: 3 of 10 pods fit the quota now, the rest waits at the gate",
        ),
        (
            messages.partly_fits("web", 10, 3, waits=False),
            "web: 3 of 10 pods fit the quota now, the rest is refused until there is room",
        ),
    ],
)
def test_a_sentence(text: str, expected: str) -> None:
    assert text == expected


def test_a_warning_on_the_alias_names_both_keys() -> None:
    assert "volcano.sh/card.card" in messages.alias_used()
    assert "volcano.sh/card.name" in messages.alias_used()


def test_advice_may_be_left_out() -> None:
    assert messages.shortfalls("red", []) == ""
    assert messages.shortfalls("red", [], "do this") == "do this"


TAKES_A_NAME = [
    function
    for _, function in inspect.getmembers(messages, inspect.isfunction)
    if function.__module__ == messages.__name__
    and not function.__name__.startswith("_")
    and all(p.annotation is str for p in inspect.signature(function).parameters.values())
    and function.__name__ not in ("audited", "released", "quota_unreadable", "queue_not_open")
]


@pytest.mark.parametrize("function", TAKES_A_NAME, ids=lambda f: f.__name__)
def test_whatever_users_name_things_a_message_is_short_and_printable(function) -> None:
    names = ["x" * 10_000 + "\x1b\n"] * len(inspect.signature(function).parameters)
    assert function(*names).isprintable()
    assert len(function(*names)) < 600
